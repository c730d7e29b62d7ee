"""The parser of SPICE's own program, run in Java: captions to raw tuples.

Conventions
-----------
The parser is the class of the official program, in the package pycocoevalcap, on CoreNLP 3.6.0,
which `set_up` fetches. It is called by a class of ours (``java_program/SpiceTuples.java``), which
answers each caption with a line of JSON. Named entities, which the official program computes and
never reads, are left out. A caption on which the parser fails or takes too long is an error of that
caption alone; the program is started again for the others.

Java itself writes its warnings among the answers: lines without ``{"`` are read over. A line that
is half an answer ends the run, as those after it could be of other captions.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer
from typing import IO, Any

from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import brief
from semmetrics.store import cache_folder, file_digest
from semmetrics.store.outputs import naming
from semmetrics.text.java import ENGLISH
from semmetrics.text.scene_graphs import check_tuples
from semmetrics.text.synonyms import SPICE_FILES
from semmetrics.text.tokens import check_captions, one_line
from semmetrics.text.tuple_files import Parsed

__all__ = ["JARS", "OfficialParser", "jar_folder", "set_up", "wrong_jars"]

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
    "SPICE(parser=offline), another measure, which needs no Java and is in no protocol"
)
_CLASSES = Path(__file__).with_name("java_program")
_JAVA = "it needs Java 8 or later and 4 GB of memory: try java -version"
_BY_HAND = "give the folder of the two jars of CoreNLP 3.6.0 (--jars)"
_NOT_ITS_OWN = "it is not CoreNLP's own, or damaged"
_LIMITS = {  # by what the program says
    "OutOfMemoryError": "semmetrics spice parse --memory 16G",
    "more memory": "semmetrics spice parse --memory 16G",
    "takes longer": "semmetrics spice parse --seconds 600",
}
_SIZE = re.compile(r"[1-9]\d*[kmgt]?", re.IGNORECASE)
_TOO_LONG = 75  # the program's status after a caption that took too long
_START = 120  # seconds that the program may take to start, beyond those of a caption,
_LATE = 30  # and those in which it should have said itself that a caption takes too long
_LONGEST = 1 << 26  # bytes of an answer
_OTHER_LINES = 1000  # most lines that are no answers
_SHOWN = 300  # letters of what the program says
_NO_REASON = ("Picked up ", "Error: Could not create the Java", "Error: A fatal exception has",
              "Error occurred during initialization of VM")  # fmt: skip


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
    with naming(str(target), "make room, or name another folder in SEMMETRICS_HOME"):
        target.mkdir(parents=True, exist_ok=True)
        _set_up(target, folder)
    return target


def _set_up(target: Path, folder: str | os.PathLike[str] | None) -> None:
    """Put the files that are not there into a folder."""
    for name in wrong_jars():
        coordinates, digest = JARS[name]
        with tempfile.TemporaryDirectory(dir=target) as place:
            found = (
                _fetch(coordinates, Path(place)) if folder is None else _find(name, Path(folder))
            )
            if file_digest(found) != digest:
                raise InputError(_NOT_ITS_OWN, where=str(found), remedy="remove and fetch it again")
            copy = Path(place, "copy")
            shutil.copyfile(found, copy)
            copy.replace(target / name)


def wrong_jars() -> list[str]:
    """Return the names of the files of CoreNLP that are not there, or not what they should be."""
    paths = {name: jar_folder() / name for name in JARS}
    return [name for name, path in paths.items()
            if not _is_file(path) or file_digest(path) != JARS[name][1]]  # fmt: skip


def _find(name: str, folder: Path) -> Path:
    """Find a file of CoreNLP in the folder that was given."""
    if (folder / name).is_file():
        return folder / name
    if folder.is_file():
        problem, places = "it is a file", [folder.parent]
    else:
        problem = f"there is no {name}" if folder.is_dir() else "there is no such folder"
        places = [*sorted(folder.glob("*/")), folder.parent]
    near = next((place for place in places if (place / name).is_file()), None)
    raise InputError(
        problem,
        where=str(folder),
        remedy="give the folder that holds both files"
        + (f": did you mean {near}?" if near else ", or leave folder= (--jars) out to fetch them"),
    )


def _fetch(coordinates: str, place: Path) -> Path:
    """Let the Maven client copy an artifact into a folder."""
    maven = shutil.which("mvn")
    if maven is None:
        raise InputError(
            "there is no program mvn, the Maven client",
            remedy=f"install Maven, or {_BY_HAND}",
        )
    command = [maven, "-B", "-q", "dependency:copy", f"-Dartifact={coordinates}",
               f"-DoutputDirectory={place}"]  # fmt: skip
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True,
                              encoding="utf-8", errors="replace", cwd=place)  # fmt: skip
    except OSError as error:
        raise InputError(f"Maven cannot be run: {error}", where=maven, remedy=_BY_HAND) from error
    found = next(place.glob("*.jar"), None)
    if done.returncode or found is None:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise InputError(
            f"Maven stopped with status {done.returncode}: {lines[0] if lines else 'no message'}",
            remedy=f"try again, or {_BY_HAND}",
        )
    return found


@dataclass(frozen=True)
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
            raise InputError(
                f"memory={self.memory!r} (--memory) is no size",
                remedy="give one such as 8G or 800M",
            )

    def missing(self) -> str:
        """Return why the parser cannot be run here, with the remedy; "" if it can."""
        try:
            self._command()
        except InputError as error:
            return str(error)
        return ""

    def _command(self) -> list[str]:
        SPICE_FILES.folder_of_files()  # without them no parser helps
        java, folder = replace(SPICE_FILES, alternative=self.otherwise).locate()
        jars = [jar_folder() / name for name in JARS]
        if not all(map(_is_file, jars)):
            raise InputError(
                "SPICE's parser needs CoreNLP 3.6.0, which is not here",
                remedy=f"run: semmetrics spice setup, or {self.otherwise}",
            )
        threads = self.processors or os.cpu_count() or 1
        places = list(map(str, [_CLASSES, folder / "*", folder / "lib" / "*", *jars]))
        for place in places:
            if os.pathsep in place:
                raise InputError(
                    f"Java finds nothing in a folder that has {os.pathsep!r} in its name",
                    where=place,
                    remedy="name another folder in SEMMETRICS_HOME",
                )
        return [java, *ENGLISH, f"-Xmx{self.memory}", "-XX:+IgnoreUnrecognizedVMOptions",
                f"-XX:ActiveProcessorCount={threads}", "-cp", os.pathsep.join(places),
                "SpiceTuples", str(threads), str(self.seconds)]  # fmt: skip

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
            If the parser cannot be run at all, does not answer, or answers with what is no answer.
        """
        check_captions(captions)
        command, start = self._command(), 0
        while start < len(captions):
            answered, error = start, _silent()
            try:
                for answer in _run(command, captions[start:], self.seconds):
                    yield answer
                    answered += 1
            except InputError as found:
                error = found
            if answered == start:
                if not _runs(command, self.seconds):  # it is not this caption
                    raise _damaged_jar() or error
                yield error
                answered += 1
            start = answered


def _damaged_jar() -> InputError | None:
    """Return the error of a file of CoreNLP that is not what it should be, or cannot be read."""
    for name, (_, digest) in JARS.items():
        path = jar_folder() / name
        if not _is_file(path):
            continue
        try:
            problem = _NOT_ITS_OWN if file_digest(path) != digest else ""
        except OSError as error:
            problem = f"it cannot be read: {error.strerror or error}"
        if problem:
            return InputError(problem, where=str(path), remedy="run: semmetrics spice setup")
    return None


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113, no error where a folder may not be entered


def _silent(why: str = "ended without an answer") -> InputError:
    return InputError(f"SPICE's parser {why}", remedy=_JAVA)


def _runs(command: Sequence[str], seconds: int) -> bool:
    """Return whether the program answers at all."""
    try:
        return bool(list(_run(command, ["a dog"], seconds)))
    except InputError:
        return False


def _run(
    command: Sequence[str], captions: Sequence[str], seconds: int
) -> Iterator[Parsed | InputError]:
    """Run the program once, and yield its answers until it ends."""
    with _started(command, captions) as (process, problems):
        answered, others = 0, list[str]()
        for line in _lines(process, seconds):
            if '{"' in line:
                yield _read_answer(line)
                answered += 1
                if answered == len(captions):
                    return
            elif len(others) < _OTHER_LINES:
                others.append(line)
            else:
                raise _no_answer(line)
        if not answered:
            with suppress(subprocess.TimeoutExpired):  # it wrote nothing more, and goes on
                if process.wait(_LATE) not in (0, _TOO_LONG):
                    raise _stopped(process.returncode, problems, others)
            if others:
                raise _no_answer(others[0])


@contextmanager
def _started(
    command: Sequence[str], captions: Sequence[str]
) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Start the program, and end it; give it with the file of its error messages."""
    with ExitStack() as stack:
        try:
            given, problems = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            for caption in captions:  # a pipe could block while answers wait to be read
                given.write(one_line(caption).encode("utf-8", "replace") + b"\n")
            given.seek(0)
            process = subprocess.Popen(
                command, stdin=given, stdout=subprocess.PIPE, stderr=problems
            )
        except OSError as error:
            raise SPICE_FILES.not_started(error) from error
        stack.callback(_end, process)
        yield process, problems


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


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
            raise _silent(f"has not answered for {wait} seconds")
        if len(line) == _LONGEST:
            raise _no_answer(line.decode("utf-8", "replace"))
        if not line.endswith(b"\n"):
            return
        yield line.decode("utf-8", "replace").strip()
        wait = seconds + _LATE


def _stopped(status: int, problems: IO[bytes], others: Sequence[str]) -> InputError:
    problems.seek(0)
    written = [*others, *problems.read().decode("utf-8", "replace").strip().splitlines()]
    lines = [line for line in written if line and not line.startswith(_NO_REASON)]
    causes = [line for line in lines if line.startswith("Caused by: ")][-1:]
    errors = [line for line in lines if "rror" in line or "xception" in line]
    reason = [*causes, *errors, *lines, "no message"][0]
    return _silent(f"stopped with status {status}: {reason[:_SHOWN]}")


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
            problem = str(answer["error"])[:_SHOWN]
            limit = next((flag for cause, flag in _LIMITS.items() if cause in problem), "")
            remedy = f"leave such captions out, or raise the limit: {limit}" if limit else ""
            return InputError(f"SPICE's parser fails: {problem}", remedy=remedy)
        tuples: Parsed = answer["tuples"]
        check_tuples(tuples, "")
    except (ValueError, LookupError, TypeError, RecursionError):
        raise _no_answer(line) from None
    return tuples


def _no_answer(line: str) -> InputError:
    return _silent(f"answers {brief(line)}, which is no answer")
