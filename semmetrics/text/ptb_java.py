"""The Java program of pycocoevalcap, run once for all captions.

Conventions
-----------
The same program, options, input file and removal of punctuation as pycocoevalcap's ``PTBTokenizer``
class; so the tokens at the end of a caption may depend on the next caption (the module
``semmetrics.text.ptb`` lists when). Two things differ: every line separator in a caption
is a blank, where pycocoevalcap replaces the line feed only and gives wrong captions after any
other; and a lone surrogate, which it cannot write, is U+FFFD, which is dropped.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.text.captions import check_captions, one_line
from semmetrics.text.ptb import PUNCTUATION

__all__ = ["PtbJavaTokenizer"]

_JAR = Path("tokenizer", "stanford-corenlp-3.4.1.jar")
_PROGRAM = ("edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase")
_LONE = re.compile("[\ud800-\udfff]")


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
        self._jar = _find_jar()
        self._java = shutil.which("java")
        if self._java is None:
            raise InputError(
                "the tokenizer ptb-java needs Java, and there is no program java",
                remedy="install a Java runtime, or use the tokenizer ptb, which needs none",
            )

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """The tokens of each caption.

        Raises
        ------
        InputError
            If a caption is not a string (names its index), or the program fails.
        """
        check_captions(captions)
        if not len(captions):
            return []
        text = "\n".join(map(one_line, captions))
        lines = self._run(_LONE.sub("\ufffd", text)).split("\n")
        if len(lines) < len(captions):
            raise InputError(
                f"Java gave {len(lines)} lines for {len(captions)} captions",
                remedy="use the tokenizer ptb",
            )
        return [
            [token for token in line.rstrip().split(" ") if token and token not in PUNCTUATION]
            for line in lines[: len(captions)]
        ]

    def _run(self, text: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "captions.txt")
            source.write_bytes(text.encode())
            command = [str(self._java), "-cp", str(self._jar), *_PROGRAM, str(source)]
            done = subprocess.run(command, check=False, capture_output=True)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise InputError(
                f"Java stopped with status {done.returncode}: {said}",
                where=str(self._jar),
                remedy="check that java -version works, or use the tokenizer ptb",
            )
        return done.stdout.decode(errors="replace")


def _find_jar() -> Path:
    found = find_spec("pycocoevalcap")
    if found is None or not found.submodule_search_locations:
        raise MissingDependencyError("pycocoevalcap", "the tokenizer ptb-java", extra="captions")
    jar = Path(next(iter(found.submodule_search_locations)), _JAR)
    if not jar.is_file():
        raise InputError(
            "the Java tokenizer is not in pycocoevalcap",
            where=str(jar),
            remedy="install pycocoevalcap again, or use the tokenizer ptb",
        )
    return jar
