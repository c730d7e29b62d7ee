"""The tokenizer ``ptb-java``: the Java program of pycocoevalcap.

Conventions
-----------
It is the same program as in pycocoevalcap's class ``PTBTokenizer``, with the same
options, input file and removal of punctuation, and runs once for all captions. So the
tokens at the end of a caption may depend on the next caption (see the differences in
`semmetrics.text.ptb`). Two things differ. Every line separator in a caption becomes a space,
whereas pycocoevalcap replaces only the line feed and returns wrong captions after any
other separator. A lone surrogate, which pycocoevalcap cannot write, becomes U+FFFD,
which the program drops.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from semmetrics.errors import InputError
from semmetrics.text.captions import check_captions, check_count, one_line
from semmetrics.text.java import ENGLISH, JavaProgram
from semmetrics.text.ptb_rules import PUNCTUATION

_JAR = "stanford-corenlp-3.4.1.jar"
_PROGRAM = JavaProgram(
    purpose="the tokenizer ptb-java",
    folder="tokenizer",
    files=(_JAR,),
    alternative="use the tokenizer ptb, which does not need it",
)
_ARGUMENTS = ("edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_UNWANTED = PUNCTUATION | {""}


class PtbJavaTokenizer:
    """The tokenizer of the Java program.

    Attributes
    ----------
    name : str
        "ptb-java".

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap is not installed.
    InputError
        If the program or Java is missing.
    """

    name = "ptb-java"

    def __init__(self) -> None:
        self._java, folder = _PROGRAM.locate()
        self._jar = folder / _JAR

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption.

        Raises
        ------
        InputError
            If a caption is not a string (the message has its index), or the program
            fails.
        """
        check_captions(captions)
        if not len(captions):
            return []
        text = "\n".join(map(one_line, captions))
        text = _LONE_SURROGATE.sub("\ufffd", text)
        finished = self._run(text)
        if finished.returncode:
            message = finished.stderr.decode(errors="replace").strip()
            raise InputError(
                "java-failed",
                self._jar,
                status=finished.returncode,
                purpose=_PROGRAM.purpose,
                instead=_PROGRAM.instead,
                why=message.rpartition("\n")[2],
            )
        lines = finished.stdout.decode(errors="replace").split("\n")
        lines = lines[: len(captions)]
        check_count(self.name, lines, captions)
        return list(map(_split_line, lines))

    def _run(self, text: str) -> subprocess.CompletedProcess[bytes]:
        """Run the program on a file with one caption per line."""
        try:
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder, "captions.txt")
                source.write_bytes(text.encode())
                classes = ("-cp", str(self._jar))
                command = [self._java, *ENGLISH, *classes, *_ARGUMENTS, str(source)]
                return subprocess.run(command, check=False, capture_output=True)
        except OSError as error:
            raise _PROGRAM.not_started(error) from error


def _split_line(line: str) -> list[str]:
    """Return the tokens of an output line, without punctuation."""
    return [token for token in line.rstrip().split(" ") if token not in _UNWANTED]
