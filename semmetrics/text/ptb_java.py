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
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from semmetrics.errors import InputError
from semmetrics.text.captions import check_captions, one_line
from semmetrics.text.java import java_program, packaged
from semmetrics.text.ptb import PUNCTUATION

__all__ = ["PtbJavaTokenizer"]

_JAR = "stanford-corenlp-3.4.1.jar"
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
        purpose, instead = "the tokenizer ptb-java", "use the tokenizer ptb, which needs none"
        self._jar = packaged("tokenizer", (_JAR,), purpose, instead=instead) / _JAR
        self._java = java_program(purpose, instead=instead)

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
            command = [self._java, "-cp", str(self._jar), *_PROGRAM, str(source)]
            done = subprocess.run(command, check=False, capture_output=True)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise InputError(
                f"Java stopped with status {done.returncode}: {said}",
                where=str(self._jar),
                remedy="check that java -version works, or use the tokenizer ptb",
            )
        return done.stdout.decode(errors="replace")
