"""Let the official parser parse captions, and keep the grammar beside the tuples.

    python -m embeddings.parsing.dump captions.txt --out parsed.jsonl

Needs Java 11 or later with its compiler, pycocoevalcap and, once, `semmetrics spice setup`. A run
that was stopped goes on where it ended.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from semmetrics.errors import InputError
from semmetrics.text.java import ENGLISH, JARS, SPICE_FILES, jar_folder

__all__ = ["dump", "main"]

_PROGRAM = Path(__file__).with_name("java") / "Dependencies.java"


def dump(captions: Path, out: Path) -> None:
    """Parse the captions of a file, one a line, and append to a file of parsed captions.

    Raises
    ------
    InputError
        If Java or the parser is missing, or it fails.
    """
    java, folder = SPICE_FILES.locate()
    if shutil.which("javac") is None:
        raise InputError(
            "there is no Java compiler", remedy="install a JDK, 11 or later"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    done = _whole_lines(out)
    path = os.pathsep.join(
        map(
            str,
            [folder / "*", folder / "lib" / "*", *(jar_folder() / jar for jar in JARS)],
        )
    )
    command = [
        java,
        *ENGLISH,
        "-Xmx3g",
        "-XX:ActiveProcessorCount=1",
        "-cp",
        path,
        str(_PROGRAM),
    ]
    with captions.open("rb") as lines, out.open("ab") as file:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file)
        assert process.stdin is not None
        with process.stdin as pipe:
            for line in islice(lines, done, None):
                pipe.write(line)
        if process.wait():
            raise InputError(f"the parser stopped with status {process.returncode}")


def _whole_lines(out: Path) -> int:
    """Return how many captions a file has already, and cut a last line that is not whole."""
    content = out.read_bytes() if out.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(out, len(whole))
    return whole.count(b"\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.dump", description=__doc__)
    command.add_argument("captions", type=Path)
    command.add_argument("--out", type=Path, required=True)
    given = command.parse_args(arguments)
    dump(given.captions, given.out)


if __name__ == "__main__":
    main()
