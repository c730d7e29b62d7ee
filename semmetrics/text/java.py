"""The Java programs of pycocoevalcap: its tokenizer, and SPICE's own parser of captions.

Conventions
-----------
The tokenizer is the same program, options, input file and removal of punctuation as pycocoevalcap's
``PTBTokenizer`` class, run once for all captions. So the tokens at the end of a caption may depend
on the next caption (the module ``semmetrics.text.ptb`` lists when). Two things differ: every line
separator in a caption is a blank, where pycocoevalcap replaces the line feed only and gives wrong
captions after any other; and a lone surrogate, which it cannot write, is U+FFFD, which is dropped.

The parser is the class of SPICE's program, on CoreNLP 3.6.0, which `set_up` fetches. It is called
by a class of ours (``java_program/SpiceTuples.java``), which answers each caption with a line of
JSON. Named entities, which the official program computes and never reads, are left out. A caption
on which the parser fails or takes too long is an error of that caption alone; the program is
started again for the others. Java itself writes its warnings among the answers: lines without
``{"`` are skipped. A line that is half an answer ends the run, as those after it could be of other
captions.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Timer
from typing import IO, Any

from semmetrics.errors import InputError, MissingDependencyError, why_not
from semmetrics.messages import brief
from semmetrics.store.files import cache_folder, file_digest, naming
from semmetrics.text import tokenizers
from semmetrics.text.tokenizers import Parsed, check_captions, one_line

ENGLISH = (
    "-Duser.language=en",
    "-Duser.country=US",
    "-Duser.variant=",
    "-Dfile.encoding=UTF-8",
)
"""Options of Java without which words depend on the user's language: in Turkish "I" is lowered to
"ı"."""
_PACKAGE = "pycocoevalcap"


@dataclass(frozen=True, repr=False)
class JavaProgram:
    """A Java program in the package pycocoevalcap.

    Attributes
    ----------
    purpose : str
        What needs it, for messages.
    folder : str
        Where it lies in the package.
    files : tuple of str
        What must be there, as paths in the folder.
    alternative : str
        What to do without it, for remedies.
    """

    purpose: str
    folder: str
    files: tuple[str, ...]
    alternative: str = ""

    def locate(self) -> tuple[str, Path]:
        """Return the program java, and the folder that holds the files.

        Raises
        ------
        MissingDependencyError
            If the package is not installed.
        InputError
            If the package lacks a file, or there is no Java.
        """
        folder = self.folder_of_files()
        java = shutil.which("java")
        if java is None:
            raise InputError("needs-java", purpose=self.purpose, instead=self.instead)
        return java, folder

    def folder_of_files(self) -> Path:
        """Return the folder that holds the files, which need no Java to be read.

        Raises
        ------
        MissingDependencyError
            If the package is not installed.
        InputError
            If the package lacks a file.
        """
        try:
            found = find_spec(_PACKAGE)
        except (
            ImportError,
            ValueError,
        ):
            # of a module that has no specification, or is refused
            found = None
        if found is None or not found.submodule_search_locations:
            raise MissingDependencyError(_PACKAGE, self.purpose, extra="captions")
        for place in found.submodule_search_locations:
            if all(Path(place, self.folder, name).is_file() for name in self.files):
                return Path(place, self.folder)
        raise InputError(
            "incomplete-package",
            purpose=self.purpose,
            instead=self.instead,
            files=" and ".join(self.files),
        )

    @property
    def instead(self) -> str:
        """The end of remedies: what to do without the program."""
        return f", or {self.alternative}" if self.alternative else ""

    def not_started(self, error: OSError) -> InputError:
        """Return the error of a program that could not be started, or given its captions."""
        return InputError(
            "java-not-started", purpose=self.purpose, why=error, instead=self.instead
        )


METEOR_LISTS = JavaProgram("METEOR", "meteor", ("meteor-1.5.jar",))
"""What METEOR needs without paraphrases,"""
METEOR_FILES = replace(
    METEOR_LISTS, files=(*METEOR_LISTS.files, "data/paraphrase-en.gz")
)
"""and with them."""
SPICE_FILES = JavaProgram("SPICE", "spice", ("spice-1.0.jar", "lib/Meteor-1.5.jar"))
"""What scoring SPICE needs, with any parser."""

_JAR = "stanford-corenlp-3.4.1.jar"
_TOKENIZER = JavaProgram(
    "the tokenizer ptb-java",
    "tokenizer",
    (_JAR,),
    "use the tokenizer ptb, which needs none",
)
_ARGUMENTS = ("edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class PtbJavaTokenizer:
    """Captions to the tokens of the Java program.

    Attributes
    ----------
    name : str
        "ptb-java".

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap, which brings the program, is not installed.
    InputError
        If the program or Java is not there.
    """

    name = "ptb-java"

    def __init__(self) -> None:
        self._java, folder = _TOKENIZER.locate()
        self._jar = folder / _JAR

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption.

        Raises
        ------
        InputError
            If a caption is not a string (names its index), or the program fails.
        """
        check_captions(captions)
        if not len(captions):
            return []
        text = _LONE_SURROGATE.sub("\ufffd", "\n".join(map(one_line, captions)))
        try:
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder, "captions.txt")
                source.write_bytes(text.encode())
                command = [
                    self._java,
                    *ENGLISH,
                    "-cp",
                    str(self._jar),
                    *_ARGUMENTS,
                    str(source),
                ]
                done = subprocess.run(command, check=False, capture_output=True)
        except OSError as error:
            raise _TOKENIZER.not_started(error) from error
        if done.returncode:
            why = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            values = {
                "purpose": _TOKENIZER.purpose,
                "instead": _TOKENIZER.instead,
                "why": why,
            }
            raise InputError("java-failed", self._jar, status=done.returncode, **values)
        lines = done.stdout.decode(errors="replace").split("\n")[: len(captions)]
        tokenizers.check_count(self.name, lines, captions)
        unwanted = {"", *tokenizers.PUNCTUATION}
        return [
            [one for one in line.rstrip().split(" ") if one not in unwanted]
            for line in lines
        ]


JARS = {
    "stanford-corenlp-3.6.0.jar": (
        "edu.stanford.nlp:stanford-corenlp:3.6.0",
        "d341d5863276f55782c5ef73212222d6b3b48e02ae1951ab6de7618d28b12742",
    ),
    "stanford-corenlp-3.6.0-models.jar": (
        "edu.stanford.nlp:stanford-corenlp:3.6.0:jar:models",
        "d285157bd7887ee3018094b5dbae092e49088b023361ccdb550ee1daf9b2c9bd",
    ),
}
"""The files of CoreNLP: their Maven coordinates and SHA-256."""

_OTHERWISE = (
    "give tuples that were parsed elsewhere, tuples= (--tuples FILE), or score "
    "SPICE(parser=offline), a measure of its own that needs no Java"
)
_CLASSES = Path(__file__).with_name("java_program")
_LIMITS = {  # by what the program says
    "OutOfMemoryError": "semmetrics spice parse --memory 16G",
    "more memory": "semmetrics spice parse --memory 16G",
    "takes longer": "semmetrics spice parse --seconds 600",
}
_SIZE = re.compile(r"[1-9]\d*[kmgt]?", re.IGNORECASE)
_TOO_LONG = 75  # the program's status after a caption that took too long
_START = 120  # seconds that the program may take to start, beyond those of a caption,
_LATE = (
    30  # and those in which it should have said itself that a caption takes too long
)
_LONGEST = 1 << 26  # bytes of an answer
_OTHER_LINES = 1000  # most lines that are no answers
_SHOWN = 300  # letters of what the program says
_NO_REASON = (
    "Picked up ",
    "Error: Could not create the Java",
    "Error: A fatal exception has",
    "Error occurred during initialization of VM",
)


def jar_folder() -> Path:
    """Return where the files of CoreNLP are kept."""
    return cache_folder() / "corenlp-3.6.0"


def set_up(folder: str | os.PathLike[str] | None = None) -> Path:
    """Get the files of CoreNLP that the parser needs, and check them.

    Parameters
    ----------
    folder : path, optional
        Takes them from there; without it the Maven client, ``mvn``, fetches them (385 MB).

    Returns
    -------
    Path
        The folder that holds them.

    Raises
    ------
    InputError
        If there is no Maven client or it fails, or a file is not CoreNLP's own or cannot be
        written.
    """
    target = jar_folder().absolute()
    with naming(str(target)):
        target.mkdir(parents=True, exist_ok=True)
        for name in wrong_jars():
            with tempfile.TemporaryDirectory(dir=target) as place:
                coordinates, digest = JARS[name]
                to = Path(place)
                found = (
                    _fetch(coordinates, to)
                    if folder is None
                    else _find(name, Path(folder))
                )
                if file_digest(found) != digest:
                    raise InputError("wrong-jar", found)
                Path(shutil.copyfile(found, to / "copy")).replace(target / name)
    return target


def wrong_jars() -> list[str]:
    """Return the names of the files of CoreNLP that are not there, or not what they should be."""
    paths = {name: jar_folder() / name for name in JARS}
    return [
        name
        for name, path in paths.items()
        if not _is_file(path) or file_digest(path) != JARS[name][1]
    ]


def _find(name: str, folder: Path) -> Path:
    """Find a file of CoreNLP in the folder that was given."""
    if (folder / name).is_file():
        return folder / name
    places = (
        [folder.parent]
        if folder.is_file()
        else [*sorted(folder.glob("*/")), folder.parent]
    )
    near = next((place for place in places if (place / name).is_file()), None)
    hint = f": did you mean {near}?" if near else ", or none to fetch them with Maven"
    raise InputError("missing-jar", folder, name=name, hint=hint)


def _fetch(coordinates: str, place: Path) -> Path:
    """Let the Maven client copy an artifact into a folder."""
    maven = shutil.which("mvn")
    if maven is None:
        raise InputError("maven-failed", why="there is no program mvn")
    command = [
        maven,
        "-B",
        "-q",
        "dependency:copy",
        f"-Dartifact={coordinates}",
        f"-DoutputDirectory={place}",
    ]
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=place,
        )
    except OSError as error:
        raise InputError("maven-failed", maven, why=error) from error
    found = next(place.glob("*.jar"), None)
    if done.returncode or found is None:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        why = f"status {done.returncode}: {lines[0] if lines else 'no message'}"
        raise InputError("maven-failed", maven, why=why)
    return found


@dataclass(frozen=True, repr=False)
class OfficialParser:
    """SPICE's own parser.

    Attributes
    ----------
    seconds : int
        The longest that a caption may take.
    processors : int
        Threads; 0 for as many as the machine has processors.
    memory : str
        The most that Java may take, written as for its option -Xmx: 4G.
    otherwise : str
        What errors advise where the program cannot be run.
    """

    seconds: int = 60
    processors: int = 0
    memory: str = "4G"
    otherwise: str = _OTHERWISE

    identity = "official@spice-1.0,corenlp-3.6.0"

    def __post_init__(self) -> None:
        if not _SIZE.fullmatch(self.memory):
            wanted = "a size such as 8G or 800M"
            raise InputError(
                "bad-option", name="memory", value=self.memory, wanted=wanted
            )

    def missing(self) -> str:
        """Return why the parser cannot be run here, with the remedy; "" if it can."""
        return why_not(self._command)

    def _command(self) -> list[str]:
        SPICE_FILES.folder_of_files()  # without them no parser helps
        java, folder = replace(SPICE_FILES, alternative=self.otherwise).locate()
        jars = [jar_folder() / name for name in JARS]
        if not all(map(_is_file, jars)):
            raise InputError("needs-corenlp", instead=f", or {self.otherwise}")
        threads = self.processors or os.cpu_count() or 1
        places = list(map(str, [_CLASSES, folder / "*", folder / "lib" / "*", *jars]))
        for place in places:
            if os.pathsep in place:
                raise InputError("java-path", place, separator=os.pathsep)
        return [
            java,
            *ENGLISH,
            f"-Xmx{self.memory}",
            "-XX:+IgnoreUnrecognizedVMOptions",
            f"-XX:ActiveProcessorCount={threads}",
            "-cp",
            os.pathsep.join(places),
            "SpiceTuples",
            str(threads),
            str(self.seconds),
        ]

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed | InputError]:
        """Parse captions, each on its own.

        Parameters
        ----------
        captions : sequence of str

        Yields
        ------
        list of raw tuples, or InputError
            For each caption in order; an error where the parser failed on it.

        Raises
        ------
        InputError
            If the parser cannot be run at all, or does not answer as it should.
        """
        check_captions(captions)
        command, start = self._command(), 0
        while start < len(captions):
            answered, error = start, InputError("no-answer", why="it ended")
            try:
                for answer in _run(command, captions[start:], self.seconds):
                    yield answer
                    answered += 1
            except InputError as found:
                error = found
            if answered == start:
                try:
                    runs = bool(list(_run(command, ["a dog"], self.seconds)))
                except InputError:
                    runs = False
                if not runs:  # it is not this caption
                    raise _damaged_jar() or error
                yield error
                answered += 1
            start = answered


def _damaged_jar() -> InputError | None:
    """Return the error of a file of CoreNLP that is not what it should be, or cannot be read."""
    try:
        paths = (jar_folder() / name for name in wrong_jars())
        return next(
            (InputError("wrong-jar", path) for path in paths if _is_file(path)), None
        )
    except OSError as error:
        return InputError("unreadable", error.filename, why=error.strerror or error)


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113, no error where a folder may not be entered


def _run(
    command: Sequence[str], captions: Sequence[str], seconds: int
) -> Iterator[Parsed | InputError]:
    """Run the program once, and yield its answers until it ends."""
    answered, others = 0, list[str]()
    with ExitStack() as stack:
        try:
            given, problems = (
                stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)
            )
            for caption in captions:  # a pipe could block while answers wait to be read
                given.write(one_line(caption).encode("utf-8", "replace") + b"\n")
            given.seek(0)
            streams: Any = {
                "stdin": given,
                "stdout": subprocess.PIPE,
                "stderr": problems,
            }
            process = stack.enter_context(subprocess.Popen(command, **streams))
        except OSError as error:
            raise SPICE_FILES.not_started(error) from error
        stack.callback(process.kill)  # before it is waited for
        for line in _lines(process, seconds):
            if '{"' in line:
                yield _read_answer(line)
                answered += 1
                if answered == len(captions):
                    return
            elif len(others) < _OTHER_LINES:
                others.append(line)
            else:
                raise InputError("no-answer", why=brief(line))
        if not answered:
            # it wrote nothing more, and goes on
            with suppress(subprocess.TimeoutExpired):
                if process.wait(_LATE) not in (0, _TOO_LONG):
                    raise _stopped(process.returncode, problems, others)
            if others:
                raise InputError("no-answer", why=brief(others[0]))


def _lines(process: subprocess.Popen[bytes], seconds: int) -> Iterator[str]:
    """Yield the lines of a program until it ends, is killed within a line, or writes nothing."""
    assert process.stdout is not None
    wait, late = seconds + _START, Event()

    def give_up() -> None:
        late.set()
        process.kill()

    while True:
        timer = Timer(wait, give_up)
        timer.daemon = True
        timer.start()
        try:
            line = process.stdout.readline(_LONGEST)
        finally:
            timer.cancel()
        if late.is_set():
            raise InputError("no-answer", why=f"nothing in {wait} seconds")
        if len(line) == _LONGEST:
            raise InputError("no-answer", why=brief(line.decode("utf-8", "replace")))
        if not line.endswith(b"\n"):
            return
        yield line.decode("utf-8", "replace").strip()
        wait = seconds + _LATE


def _stopped(status: int, problems: IO[bytes], others: Sequence[str]) -> InputError:
    problems.seek(0)
    written = [
        *others,
        *problems.read().decode("utf-8", "replace").strip().splitlines(),
    ]
    lines = [line for line in written if line and not line.startswith(_NO_REASON)]
    causes = [line for line in lines if line.startswith("Caused by: ")][-1:]
    errors = [line for line in lines if "rror" in line or "xception" in line]
    reason = [*causes, *errors, *lines, "no message"][0]
    return InputError("no-answer", why=f"status {status}: {reason[:_SHOWN]}")


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
            why = str(answer["error"])[:_SHOWN]
            limit = next((flag for cause, flag in _LIMITS.items() if cause in why), "")
            limit = f", or raise the limit: {limit}" if limit else ""
            return InputError("parser-fails", why=why, limit=limit)
        tuples: Parsed = answer["tuples"]
        tokenizers.check_tuples(tuples, "")
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InputError("no-answer", why=brief(line)) from None
    return tuples
