"""The parser of SPICE's own program, run in Java: captions to raw tuples.

Conventions
-----------
The parser is the class of the official program, in the package pycocoevalcap, on CoreNLP 3.6.0,
which `set_up` fetches. It is called by a class of ours (``java_program/SpiceTuples.java``), which
answers each caption with a line of JSON. Named entities, which the official program computes and
never reads, are left out. A caption on which the parser fails or takes too long is an error of that
caption alone; the program is started again for the others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from semmetrics.errors import InputError, brief
from semmetrics.frozen import dataclass
from semmetrics.store import cache_folder, file_digest
from semmetrics.text.synonyms import SPICE_FILES
from semmetrics.text.tokens import check_captions, one_line

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
    "give tuples that were parsed elsewhere, tuples= (--tuples FILE), or give the measure "
    "parser=offline, as in SPICE(parser=offline), which is in no protocol"
)
_CLASSES = Path(__file__).with_name("java_program")
_JAVA = "it needs Java 8 or later and 4 GB of memory: try java -version"
_NO_MACHINE = "Error: Could not create the Java Virtual Machine"
_SILENT = InputError("SPICE's parser ended without an answer", remedy=_JAVA)
_NOT_ITS_OWN = "it is not CoreNLP's own, or damaged"
_LIMITS = {  # by what the program says
    "OutOfMemoryError": "semmetrics spice parse --memory 16G",
    "more memory": "semmetrics spice parse --memory 16G",
    "takes longer": "semmetrics spice parse --seconds 600",
}
_SIZE = re.compile(r"[1-9]\d*[kmgt]?", re.IGNORECASE)
_TOO_LONG = 75  # the program's status after a caption that took too long

Parsed = list[list[str]]


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
        If there is no Maven client, it fails, or a file is not the one that it should be.
    """
    target = jar_folder()
    target.mkdir(parents=True, exist_ok=True)
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
    return target


def wrong_jars() -> list[str]:
    """Return the names of the files of CoreNLP that are not there, or not what they should be."""
    paths = {name: jar_folder() / name for name in JARS}
    return [name for name, path in paths.items()
            if not path.is_file() or file_digest(path) != JARS[name][1]]  # fmt: skip


def _find(name: str, folder: Path) -> Path:
    """Find a file of CoreNLP in the folder that was given."""
    if (folder / name).is_file():
        return folder / name
    problem = f"there is no {name}" if folder.is_dir() else "there is no such folder"
    places = [folder.parent] if folder.is_file() else [*sorted(folder.glob("*/")), folder.parent]
    near = next((place for place in places if (place / name).is_file()), None)
    raise InputError(
        "it is a file" if folder.is_file() else problem,
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
            remedy="install Maven, or give the folder of the two jars of CoreNLP 3.6.0 (--jars)",
        )
    command = [maven, "-B", "-q", "dependency:copy", f"-Dartifact={coordinates}",
               f"-DoutputDirectory={place}"]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=place)
    found = next(place.glob("*.jar"), None)
    if done.returncode or found is None:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise InputError(
            f"Maven stopped with status {done.returncode}: {lines[0] if lines else 'no message'}",
            remedy="try again, or give the folder of the two jars of CoreNLP 3.6.0 (--jars)",
        )
    return found


@dataclass(frozen=True)
class OfficialParser:
    """SPICE's own parser.

    Attributes
    ----------
    seconds : int
        That a caption may take.
    processors : int
        Threads; what the machine has where it is 0.
    memory : str
        The most that Java may take, as its option -Xmx has it.
    otherwise : str
        What to do where it cannot be run.
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
        if not all(jar.is_file() for jar in jars):
            raise InputError(
                "SPICE's parser needs CoreNLP 3.6.0, which is not here",
                remedy=f"run: semmetrics spice setup, or {self.otherwise}",
            )
        threads = self.processors or os.cpu_count() or 1
        path = os.pathsep.join(map(str, [_CLASSES, folder / "*", folder / "lib" / "*", *jars]))
        return [java, f"-Xmx{self.memory}", f"-XX:ActiveProcessorCount={threads}", "-cp", path,
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
            If the parser cannot be run at all, or answers with what is no answer.
        """
        check_captions(captions)
        command, start = self._command(), 0
        while start < len(captions):
            answered, error = start, _SILENT
            try:
                for answer in _run(command, captions[start:]):
                    yield _read_answer(answer, captions[answered])
                    answered += 1
            except InputError as found:
                error = found
            if answered == start:
                if not _runs(command):  # it is not this caption
                    raise _damaged_jar() or error
                yield error
                answered += 1
            start = answered


def _damaged_jar() -> InputError | None:
    """Return the error of a file of CoreNLP that is not what it should be, if one is not."""
    for name, (_, digest) in JARS.items():
        path = jar_folder() / name
        if path.is_file() and file_digest(path) != digest:
            return InputError(_NOT_ITS_OWN, where=str(path), remedy="run: semmetrics spice setup")
    return None


def _runs(command: Sequence[str]) -> bool:
    """Return whether the program answers at all."""
    try:
        return bool([_read_answer(line, "a dog") for line in _run(command, ["a dog"])])
    except InputError:
        return False


def _run(command: Sequence[str], captions: Sequence[str]) -> Iterator[str]:
    """Run the program once, and give its answers until it ends."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as problems:
        try:
            for caption in captions:  # a pipe could block while answers wait to be read
                given.write(one_line(caption).encode("utf-8", "replace") + b"\n")
            given.seek(0)
            process = subprocess.Popen(
                command, stdin=given, stdout=subprocess.PIPE, stderr=problems
            )
        except OSError as error:
            raise SPICE_FILES.not_started(error) from error
        assert process.stdout is not None
        try:
            answered = 0
            for line in process.stdout:
                if not line.endswith(b"\n"):  # it was killed while it wrote
                    break
                yield line.decode("utf-8")
                answered += 1
            if process.wait() not in (0, _TOO_LONG) and not answered:
                raise _stopped(process.returncode, problems)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def _stopped(status: int, problems: IO[bytes]) -> InputError:
    problems.seek(0)
    lines = problems.read().decode("utf-8", "replace").strip().splitlines()
    causes = [line for line in lines if line.startswith("Caused by: ")][-1:]
    told = [line for line in lines if "rror" in line or "xception" in line]
    if told and told[0].startswith(_NO_MACHINE):  # the reason stands before it
        told = [line for line in lines[: lines.index(told[0])] if line.strip()] or told
    return InputError(
        f"SPICE's parser stopped with status {status}: {[*causes, *told, 'no message'][0]}",
        remedy=_JAVA,
    )


def _read_answer(line: str, caption: str) -> Parsed | InputError:
    try:
        answer: Any = json.loads(line)
    except ValueError:
        raise InputError(
            f"SPICE's parser answers {brief(line.strip())}, which is no JSON",
            where=f"caption {brief(caption)}",
            remedy=_JAVA,
        ) from None
    if "error" in answer:
        problem = str(answer["error"])
        limit = next((flag for cause, flag in _LIMITS.items() if cause in problem), "")
        remedy = f"leave such captions out, or raise the limit: {limit}" if limit else ""
        return InputError(f"SPICE's parser fails: {problem}", remedy=remedy)
    tuples: Parsed = answer["tuples"]
    return tuples
