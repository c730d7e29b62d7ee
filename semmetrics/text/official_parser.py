r"""SPICE's own parser of captions, which runs on Java.

Conventions
-----------
The parser is the class of SPICE's program, on CoreNLP 3.6.0, which
`semmetrics.text.java.set_up` downloads. A class of ours
(``java_program/SpiceTuples.java``) calls it and writes one line of JSON per caption. It
leaves out named entities, which the official program computes but never reads.

If the parser fails on a caption or takes too long, that is an error of this caption
only, and the program is started again for the remaining captions. Java itself writes
its warnings among the answers, so lines without ``{"`` are skipped. After half an
answer the run ends, because later lines could belong to other captions.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Timer
from typing import IO, Any

from semmetrics.errors import InputError, message_of_error
from semmetrics.messages import brief
from semmetrics.text.captions import check_captions, one_line
from semmetrics.text.java import (
    ENGLISH,
    SPICE_FILES,
    damaged_jar_error,
    is_file,
    jar_paths,
)
from semmetrics.text.raw_tuples import Parsed, check_tuples

_ALTERNATIVE = (
    "give tuples that were parsed elsewhere, tuples= (--tuples FILE), or score "
    "SPICE(parser=offline), a separate measure that does not need Java"
)
_CLASS_FOLDER = Path(__file__).with_name("java_program")
_MEMORY_SIZE = re.compile(r"[1-9]\d*[kmgt]?", re.IGNORECASE)
_ANSWER_START = '{"'
_STATUS_AFTER_TIMEOUT = 75  # of the program, after a caption that took too long
# Commands that raise a limit, by a part of the program's message.
_COMMANDS_FOR_LIMITS = {
    "OutOfMemoryError": "semmetrics spice parse --memory 16G",
    "more memory": "semmetrics spice parse --memory 16G",
    "takes longer": "semmetrics spice parse --seconds 600",
}
# Beginnings of lines that do not explain why Java stopped.
_NOT_A_REASON = (
    "Picked up ",
    "Error: Could not create the Java",
    "Error: A fatal exception has",
    "Error occurred during initialization of VM",
)

# Seconds in addition to the time limit of a caption: for the start of the program, and
# for the program to report by itself that a caption takes too long.
MAX_START_SECONDS = 120
GRACE_SECONDS = 30
_MAX_ANSWER_BYTES = 1 << 26
_MAX_OTHER_LINES = 1000
_MAX_SHOWN_CHARACTERS = 300


@dataclass(frozen=True, repr=False)
class OfficialParser:
    """SPICE's own parser.

    Attributes
    ----------
    seconds : int
        Time limit per caption.
    processors : int
        Number of threads. 0 is the number of processors.
    memory : str
        Memory limit of Java, as in its option -Xmx: 4G.
    otherwise : str
        What error messages suggest if the program cannot be run.
    """

    seconds: int = 60
    processors: int = 0
    memory: str = "4G"
    otherwise: str = _ALTERNATIVE

    identity = "official@spice-1.0,corenlp-3.6.0"

    def __post_init__(self) -> None:
        if not _MEMORY_SIZE.fullmatch(self.memory):
            wanted = "a size such as 8G or 800M"
            raise InputError(
                "bad-option", name="memory", value=self.memory, wanted=wanted
            )

    def missing(self) -> str:
        """Return why the parser cannot be run here, or an empty string."""
        return message_of_error(self.command)

    def command(self) -> list[str]:
        """Return the command that starts the program.

        Raises
        ------
        MissingDependencyError, InputError
            If something that it needs is missing.
        """
        SPICE_FILES.folder_of_files()  # first: without them no other parser helps
        java, folder = replace(SPICE_FILES, alternative=self.otherwise).locate()
        jars = jar_paths()
        if not all(map(is_file, jars)):
            raise InputError("needs-corenlp", instead=f", or {self.otherwise}")
        class_path = [_CLASS_FOLDER, folder / "*", folder / "lib" / "*", *jars]
        for path in class_path:
            if os.pathsep in str(path):
                raise InputError("java-path", path, separator=os.pathsep)
        n_threads = self.processors or os.cpu_count() or 1
        return [
            java,
            *ENGLISH,
            f"-Xmx{self.memory}",
            "-XX:+IgnoreUnrecognizedVMOptions",
            f"-XX:ActiveProcessorCount={n_threads}",
            "-cp",
            os.pathsep.join(map(str, class_path)),
            "SpiceTuples",
            str(n_threads),
            str(self.seconds),
        ]

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed | InputError]:
        """Parse captions independently of each other.

        Parameters
        ----------
        captions : sequence of str

        Yields
        ------
        list of raw tuples, or InputError
            One per caption, in order. An error if the parser failed on this caption.

        Raises
        ------
        InputError
            If the parser cannot be run at all, or its output is not as expected.
        """
        check_captions(captions)
        command = self.command()
        start = 0
        while start < len(captions):
            n_answered = 0
            error = InputError("no-answer", why="it exited")
            try:
                for answer in _run(command, captions[start:], self.seconds):
                    yield answer
                    n_answered += 1
            except InputError as error_of_run:
                error = error_of_run
            if n_answered == 0:  # the program fails on the first caption, or on any
                if not self._can_parse_anything(command):
                    raise damaged_jar_error() or error
                yield error
                n_answered = 1
            start += n_answered

    def _can_parse_anything(self, command: Sequence[str]) -> bool:
        """Return whether the program answers to a simple caption."""
        try:
            answers = list(_run(command, ["a dog"], self.seconds))
        except InputError:
            return False
        return bool(answers)


# ---- a run of the program ------------------------------------------------------------


def _run(
    command: Sequence[str], captions: Sequence[str], seconds: int
) -> Iterator[Parsed | InputError]:
    """Run the program once, and yield its answers until it ends."""
    n_answers = 0
    other_lines: list[str] = []
    with ExitStack() as stack:
        try:
            stdin = stack.enter_context(tempfile.TemporaryFile())
            stderr = stack.enter_context(tempfile.TemporaryFile())
            process = stack.enter_context(_start(command, captions, stdin, stderr))
        except OSError as error:
            raise SPICE_FILES.not_started(error) from error
        stack.callback(process.kill)  # before the stack waits for its end
        for line in _LineReader(process, seconds).read_lines():
            if _ANSWER_START in line:
                yield _read_answer(line)
                n_answers += 1
                if n_answers == len(captions):
                    return
            elif len(other_lines) < _MAX_OTHER_LINES:
                other_lines.append(line)
            else:
                raise InputError("no-answer", why=brief(line))
        if n_answers == 0:
            _check_end(process, stderr, other_lines)


def _start(
    command: Sequence[str],
    captions: Sequence[str],
    stdin: IO[bytes],
    stderr: IO[bytes],
) -> subprocess.Popen[bytes]:
    """Write the captions to a file, and start the program on it.

    A pipe could block while answers wait to be read.
    """
    for caption in captions:
        line = f"{one_line(caption)}\n"
        stdin.write(line.encode("utf-8", "replace"))
    stdin.seek(0)
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr)


class _LineReader:
    """Reads the output of a program, which is killed if it is silent for too long.

    Parameters
    ----------
    process : Popen
    seconds : int
        Time limit per caption.
    """

    def __init__(self, process: subprocess.Popen[bytes], seconds: int) -> None:
        assert process.stdout is not None
        self._process = process
        self._stdout = process.stdout
        self._seconds = seconds
        self._was_late = Event()

    def read_lines(self) -> Iterator[str]:
        """Yield complete lines until the program ends.

        Raises
        ------
        InputError
            If the program writes nothing for too long, or a line is too long.
        """
        wait = self._seconds + MAX_START_SECONDS
        while True:
            line = self._read_line(wait)
            if self._was_late.is_set():
                raise InputError("no-answer", why=f"timeout after {wait} seconds")
            text = line.decode("utf-8", "replace")
            if len(line) == _MAX_ANSWER_BYTES:
                raise InputError("no-answer", why=brief(text))
            if not text.endswith("\n"):
                return
            yield text.strip()
            wait = self._seconds + GRACE_SECONDS

    def _read_line(self, wait: float) -> bytes:
        """Return the next line, or less if the program ends or is killed."""
        timer = Timer(wait, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            return self._stdout.readline(_MAX_ANSWER_BYTES)
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        self._was_late.set()
        self._process.kill()


def _check_end(
    process: subprocess.Popen[bytes], stderr: IO[bytes], other_lines: Sequence[str]
) -> None:
    """Check how a program ended that did not answer.

    Raises
    ------
    InputError
        If it failed, or wrote something else.
    """
    # A program that goes on without more output is ended by the caller.
    with suppress(subprocess.TimeoutExpired):
        status = process.wait(GRACE_SECONDS)
        if status not in (0, _STATUS_AFTER_TIMEOUT):
            stderr.seek(0)
            messages = stderr.read().decode("utf-8", "replace").strip()
            reason = _find_reason([*other_lines, *messages.splitlines()])
            shown_reason = reason[:_MAX_SHOWN_CHARACTERS]
            raise InputError("no-answer", why=f"status {status}: {shown_reason}")
    if other_lines:
        raise InputError("no-answer", why=brief(other_lines[0]))


def _find_reason(lines: Sequence[str]) -> str:
    """Return the line that best explains why Java stopped."""
    candidates = []
    for line in lines:
        if line and not line.startswith(_NOT_A_REASON):
            candidates.append(line)
    for line in reversed(candidates):
        if line.startswith("Caused by: "):
            return line
    for line in candidates:
        if "rror" in line or "xception" in line:
            return line
    if candidates:
        return candidates[0]
    return "no message"


def _read_answer(line: str) -> Parsed | InputError:
    """Return the raw tuples of an answer, or the error of its caption.

    Raises
    ------
    InputError
        If it is neither.
    """
    try:
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            return _error_of_caption(str(answer["error"]))
        tuples: Parsed = answer["tuples"]
        check_tuples(tuples, "")
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InputError("no-answer", why=brief(line)) from None
    return tuples


def _error_of_caption(message: str) -> InputError:
    """Return the error for a caption on which the parser failed."""
    why = message[:_MAX_SHOWN_CHARACTERS]
    limit = ""
    for cause, command in _COMMANDS_FOR_LIMITS.items():
        if cause in why:
            limit = f", or raise the limit with `{command}`"
            break
    return InputError("parser-fails", why=why, limit=limit)
