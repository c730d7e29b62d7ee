"""Java programs of the package pycocoevalcap, and files of CoreNLP for SPICE's parser."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.store.files import cache_folder, file_digest, translating_write_errors

ENGLISH = (
    "-Duser.language=en",
    "-Duser.country=US",
    "-Duser.variant=",
    "-Dfile.encoding=UTF-8",
)
"""Options of Java, without which words depend on the user's language.

In Turkish, for example, "I" is lowered to "ı".
"""
_PACKAGE = "pycocoevalcap"


# ---- programs ------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class JavaProgram:
    """A Java program in the package pycocoevalcap.

    Attributes
    ----------
    purpose : str
        The measure or tokenizer that needs it, for messages.
    folder : str
        Its folder in the package.
    files : tuple of str
        The files that it needs, as paths in the folder.
    alternative : str
        The alternative that messages suggest if it cannot be used.
    """

    purpose: str
    folder: str
    files: tuple[str, ...]
    alternative: str = ""

    def locate(self) -> tuple[str, Path]:
        """Return the path of Java, and the folder of the files.

        Raises
        ------
        MissingDependencyError
            If the package is not installed.
        InputError
            If a file is missing in the package, or Java is not installed.
        """
        folder = self.folder_of_files()
        java = shutil.which("java")
        if java is None:
            raise InputError("needs-java", purpose=self.purpose, instead=self.instead)
        return java, folder

    def folder_of_files(self) -> Path:
        """Return the folder of the files. Reading them does not need Java.

        Raises
        ------
        MissingDependencyError
            If the package is not installed.
        InputError
            If a file is missing in the package.
        """
        spec = _find_package()
        if spec is None or not spec.submodule_search_locations:
            raise MissingDependencyError(_PACKAGE, self.purpose, extra="captions")
        for location in spec.submodule_search_locations:
            folder = Path(location, self.folder)
            if all((folder / name).is_file() for name in self.files):
                return folder
        raise InputError(
            "incomplete-package",
            purpose=self.purpose,
            instead=self.instead,
            files=" and ".join(self.files),
        )

    @property
    def instead(self) -> str:
        """The alternative as the end of a remedy, or an empty string."""
        if not self.alternative:
            return ""
        return f", or {self.alternative}"

    def not_started(self, error: OSError) -> InputError:
        """Return the error for a program that could not be started or read its input."""
        return InputError(
            "java-not-started", purpose=self.purpose, why=error, instead=self.instead
        )


def _find_package() -> ModuleSpec | None:
    """Return the specification of the package, or None if it is not installed."""
    try:
        return find_spec(_PACKAGE)
    except (ImportError, ValueError):  # it has no specification, or an importer fails
        return None


METEOR_LISTS = JavaProgram("METEOR", "meteor", ("meteor-1.5.jar",))
"""The files of METEOR without paraphrases."""
METEOR_FILES = replace(
    METEOR_LISTS, files=(*METEOR_LISTS.files, "data/paraphrase-en.gz")
)
"""The files of METEOR with paraphrases."""
SPICE_FILES = JavaProgram("SPICE", "spice", ("spice-1.0.jar", "lib/Meteor-1.5.jar"))
"""The files that scoring SPICE needs, with any parser."""


# ---- CoreNLP -------------------------------------------------------------------------

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


def jar_folder() -> Path:
    """Return the folder for the files of CoreNLP."""
    return cache_folder() / "corenlp-3.6.0"


def set_up(folder: str | os.PathLike[str] | None = None) -> Path:
    """Get the files of CoreNLP that SPICE's parser needs, and check them.

    Parameters
    ----------
    folder : path, optional
        The folder to copy them from. By default the Maven client, ``mvn``, downloads
        them (385 MB).

    Returns
    -------
    Path
        The folder with the files.

    Raises
    ------
    InputError
        If the Maven client is missing or fails, a file is not the original one, or it
        cannot be written.
    """
    target = jar_folder().absolute()
    with translating_write_errors(str(target)):
        target.mkdir(parents=True, exist_ok=True)
        for name in wrong_jars():
            _get_jar(name, target, folder)
    return target


def _get_jar(
    name: str, target: Path, source_folder: str | os.PathLike[str] | None
) -> None:
    """Put one file of CoreNLP into the target folder, after a check."""
    coordinates, digest = JARS[name]
    with tempfile.TemporaryDirectory(dir=target) as temporary:
        temporary_folder = Path(temporary)
        if source_folder is None:
            jar = _download_jar(coordinates, temporary_folder)
        else:
            jar = _find_jar(name, Path(source_folder))
        if file_digest(jar) != digest:
            raise InputError("wrong-jar", jar)
        copy = temporary_folder / "copy"
        shutil.copyfile(jar, copy)
        copy.replace(target / name)


def _find_jar(name: str, folder: Path) -> Path:
    """Return the path of a file of CoreNLP in a folder.

    Raises
    ------
    InputError
        If it is not there. The message suggests a folder nearby that has it.
    """
    if (folder / name).is_file():
        return folder / name
    folders_nearby = [folder.parent]
    if not folder.is_file():
        subfolders = sorted(folder.glob("*/"))
        folders_nearby = [*subfolders, folder.parent]
    hint = ", or leave it out to download them with Maven"
    for nearby in folders_nearby:
        if (nearby / name).is_file():
            hint = f". Did you mean {nearby}?"
            break
    raise InputError("missing-jar", folder, name=name, hint=hint)


def _download_jar(coordinates: str, folder: Path) -> Path:
    """Download an artifact into a folder with the Maven client."""
    maven = shutil.which("mvn")
    if maven is None:
        raise InputError("maven-failed", why="the program mvn is not installed")
    command = [
        maven,
        "-B",
        "-q",
        "dependency:copy",
        f"-Dartifact={coordinates}",
        f"-DoutputDirectory={folder}",
    ]
    try:
        finished = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            cwd=folder,
        )
    except OSError as error:
        raise InputError("maven-failed", maven, why=error) from error
    jars = list(folder.glob("*.jar"))
    if finished.returncode or not jars:
        lines = [line for line in finished.stdout.splitlines() if line.strip()]
        message = lines[0] if lines else "no message"
        why = f"status {finished.returncode}: {message}"
        raise InputError("maven-failed", maven, why=why)
    return jars[0]


def jar_paths() -> list[Path]:
    """Return the paths of the files of CoreNLP, which need not exist."""
    folder = jar_folder()
    return [folder / name for name in JARS]


def wrong_jars() -> list[str]:
    """Return the names of the files of CoreNLP that are missing or not original."""
    wrong = []
    for path in jar_paths():
        _, digest = JARS[path.name]
        if not is_file(path) or file_digest(path) != digest:
            wrong.append(path.name)
    return wrong


def damaged_jar_error() -> InputError | None:
    """Return the error for the first altered or unreadable file of CoreNLP, or None."""
    try:
        for name in wrong_jars():
            path = jar_folder() / name
            if is_file(path):
                return InputError("wrong-jar", path)
    except OSError as error:
        return InputError("unreadable", error.filename, why=error.strerror or error)
    return None


def is_file(path: Path) -> bool:
    """Return whether a file exists; False also if its folder may not be entered."""
    # Path.is_file raises an error for such a folder.
    return os.path.isfile(path)  # noqa: PTH113
