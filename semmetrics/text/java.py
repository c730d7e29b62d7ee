"""The Java programs of pycocoevalcap, and its tokenizer among them.

Conventions
-----------
The tokenizer is the same program, options, input file and removal of punctuation as pycocoevalcap's
``PTBTokenizer`` class, run once for all captions. So the tokens at the end of a caption may depend
on the next caption (the module ``semmetrics.text.ptb`` lists when). Two things differ: every line
separator in a caption is a blank, where pycocoevalcap replaces the line feed only and gives wrong
captions after any other; and a lone surrogate, which it cannot write, is U+FFFD, which is dropped.
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
from semmetrics.frozen import dataclass
from semmetrics.messages import pluralize
from semmetrics.text.tokens import PUNCTUATION, check_captions, one_line

__all__ = ["ENGLISH", "JavaProgram", "PtbJavaTokenizer"]

ENGLISH = ("-Duser.language=en", "-Duser.country=US", "-Duser.variant=", "-Dfile.encoding=UTF-8")
"""Options of Java without which words depend on the user's language: in Turkish "I" is lowered to
"ı"."""
_PACKAGE = "pycocoevalcap"


@dataclass(frozen=True)
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

    def missing(self) -> str:
        """Return why the program cannot be run here, with the remedy; "" if it can."""
        try:
            self.locate()
        except InputError as error:
            return str(error)
        return ""

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
            raise InputError(
                f"{self.purpose} needs Java, and there is no program java",
                remedy=self._or_alternative(
                    "install a Java runtime, 8 or later (Debian's package is default-jre-headless)"
                ),
            )
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
        except (ImportError, ValueError):  # of a module that has no specification, or is refused
            found = None
        if found is None or not found.submodule_search_locations:
            raise MissingDependencyError(_PACKAGE, self.purpose, extra="captions")
        for place in found.submodule_search_locations:
            if all(Path(place, self.folder, name).is_file() for name in self.files):
                return Path(place, self.folder)
        raise InputError(
            f"{self.purpose} needs {' and '.join(self.files)}, which {_PACKAGE} has not here",
            remedy=self._or_alternative(f"run: pip install --force-reinstall {_PACKAGE}"),
        )

    def not_started(self, error: OSError) -> InputError:
        """Return the error of a program that could not be started, or given its captions."""
        return InputError(
            f"{self.purpose} cannot be run: {error}",
            remedy=self._or_alternative(
                "check the free space of the folder for temporary files, and java -version"
            ),
        )

    def _or_alternative(self, remedy: str) -> str:
        return f"{remedy}, or {self.alternative}" if self.alternative else remedy


_JAR = "stanford-corenlp-3.4.1.jar"
_TOKENIZER = JavaProgram(
    "the tokenizer ptb-java", "tokenizer", (_JAR,), "use the tokenizer ptb, which needs none"
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
        text = "\n".join(map(one_line, captions))
        lines = self._run(_LONE_SURROGATE.sub("\ufffd", text)).split("\n")
        if len(lines) < len(captions):
            raise InputError(
                f"Java gave {pluralize(len(lines), 'line')} for "
                f"{pluralize(len(captions), 'caption')}",
                remedy="use the tokenizer ptb",
            )
        return [
            [token for token in line.rstrip().split(" ") if token and token not in PUNCTUATION]
            for line in lines[: len(captions)]
        ]

    def _run(self, text: str) -> str:
        try:
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder, "captions.txt")
                source.write_bytes(text.encode())
                command = [self._java, *ENGLISH, "-cp", str(self._jar), *_ARGUMENTS, str(source)]
                done = subprocess.run(command, check=False, capture_output=True)
        except OSError as error:
            raise _TOKENIZER.not_started(error) from error
        if done.returncode:
            last_line = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise InputError(
                f"Java stopped with status {done.returncode}: {last_line}",
                where=str(self._jar),
                remedy="check that java -version works, or use the tokenizer ptb",
            )
        return done.stdout.decode(errors="replace")
