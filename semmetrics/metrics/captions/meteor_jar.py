"""METEOR 1.5's program: where it is, and the statistics of segments that it gives.

Conventions
-----------
The program, its tables and the way to call it are those of the package pycocoevalcap 1.2: English,
with the program's own normalisation. It reads one line a segment, references before the candidate,
and answers with one line of counts (``COUNTS``). "|||" separates the parts of a line and is taken
out of captions; pycocoevalcap takes it out of candidates, and cuts a reference in two there.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints
from semmetrics.errors import InputError
from semmetrics.text.tokens import one_line
from semmetrics.text.java import java_program, packaged

__all__ = ["COUNTS", "STAGES", "meteor_missing", "segment_counts"]

STAGES = ("exact", "stem", "synonym", "paraphrase")
COUNTS = (
    "n_pred",
    "n_ref",
    "function_pred",
    "function_ref",
    *(
        f"{stage}_{kind}_{side}"
        for stage in STAGES
        for kind in ("content", "function")
        for side in ("pred", "ref")
    ),
    "chunks",
    "matched_pred",
    "matched_ref",
)

_JAR = "meteor-1.5.jar"
_FILES = (_JAR, "data/paraphrase-en.gz")
_COMMAND = ("-Xmx2G", "-jar", _JAR, "-", "-", "-stdio", "-l", "en", "-norm")
_PURPOSE = "METEOR"


def meteor_missing() -> str:
    """Why METEOR cannot be computed here, with the remedy; "" where it can.

    Examples
    --------
    >>> reason = meteor_missing()
    >>> reason == "" or reason.startswith("METEOR")
    True
    """
    try:
        _folder()
        _java()
    except InputError as error:
        return str(error)
    return ""


def segment_counts(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> NDArray[np.int64]:
    """The counts of each segment, against the reference that gives it the highest score.

    Parameters
    ----------
    candidates : sequence of str
        Tokens with blanks between them.
    references : sequence of sequences of str
        Those of each candidate, at least one.

    Returns
    -------
    int64 array, shape (segments, 23)
        Columns are ``COUNTS``.

    Raises
    ------
    InputError
        If there is no Java, or the program fails; names the candidate that it did not accept.
    MissingDependencyError
        If pycocoevalcap is not installed.
    """
    lines: dict[str, int] = {}
    places: Ints = np.fromiter(
        (lines.setdefault(line, len(lines)) for line in _lines(candidates, references)),
        np.int64,
        len(candidates),
    )
    if not lines:
        return np.zeros((0, len(COUNTS)), np.int64)
    answers = _answers(list(lines))
    return np.array([_numbers(*pair) for pair in zip(lines, answers, strict=True)])[places]


def _lines(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Iterator[str]:
    for candidate, several in zip(candidates, references, strict=True):
        if not several:
            raise InputError(f"the candidate {candidate!r} has no reference")
        yield " ||| ".join(("SCORE", *map(_cleaned, several), _cleaned(candidate)))


def _cleaned(text: str) -> str:
    return one_line(text).replace("|||", "").replace("  ", " ")


def _numbers(line: str, answer: str) -> list[int]:
    try:
        numbers = [int(float(part)) for part in answer.split()]
    except ValueError:
        numbers = []
    if len(numbers) != len(COUNTS):
        raise InputError(f"METEOR's program answers {answer!r} to {line!r}")
    return numbers


def _answers(lines: Sequence[str]) -> list[str]:
    """One run for all segments, as the program takes seconds to read its tables."""
    folder, java = _folder(), _java()
    with tempfile.TemporaryFile() as given:  # a pipe could block while answers wait to be read
        _write(given, lines)
        done = subprocess.run(
            [java, *_COMMAND], stdin=given, capture_output=True, cwd=folder, check=False
        )
    answers = done.stdout.decode("utf-8", "replace").splitlines()
    if done.returncode or len(answers) != len(lines):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(
            f"METEOR's program stopped with code {done.returncode} after {len(answers)} of "
            f"{len(lines)} segments" + (f": {said[0]}" if said else ""),
            remedy="it needs Java 8 or later and 2 GB of memory: try java -version",
        )
    return answers


def _write(file: IO[bytes], lines: Sequence[str]) -> None:
    for line in lines:
        file.write(line.encode("utf-8", "replace") + b"\n")
    file.seek(0)


def _folder() -> Path:
    """The folder of the program and its tables."""
    return packaged("meteor", _FILES, _PURPOSE)


def _java() -> str:
    return java_program(_PURPOSE)
