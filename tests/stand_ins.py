"""Stand-ins for files, the package pycocoevalcap, Java and the programs behind measures."""

from __future__ import annotations

import contextlib
import gzip
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np

from semmetrics.text import meteor_words, synonyms
from semmetrics.text.java import JavaProgram
from semmetrics.text.parses import FunctionParser, KeptParser
from semmetrics.text.synonyms import SynonymTable


class Sliced:
    """Gives rows by slices, as HDF5 and zarr do, and nothing else."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        return self.values[rows]


def without_pycocoevalcap(monkeypatch):
    """Hide the package."""
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)


def fake_pycocoevalcap(monkeypatch, folder, *files):
    """Put a package with those files in front of any other."""
    for name in ("__init__.py", *files):
        path = folder / "pycocoevalcap" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    monkeypatch.syspath_prepend(str(folder))
    return folder / "pycocoevalcap"


def fake_java(monkeypatch, folder, script):
    """Make a script the only program called java."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "java"
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return program


METEOR_LISTS = {
    "synonym/english.synsets": [
        "dog",
        "1 2",
        "puppy",
        "2",
        "run",
        "3",
        "jog",
        "3 4",
        "big",
        "5",
        "large",
        "5",
        "man",
        "6",
    ],
    "synonym/english.exceptions": ["man", "men", "run", "ran"],
    "function/english.words": ["a", "the", "on", "is", "."],
    "nonbreaking/english.prefixes": ["# titles", "Mr", "", "No #NUMERIC_ONLY# "],
}
PARAPHRASES = [
    ("a man", "the guy"),
    ("rides", "is riding"),
    ("is riding", "rides"),
    ("on the", "upon"),
    ("big dog", "large animal"),
    ("horse", "pony"),
    ("pony", "horse"),
    ("a", "one"),
    ("the", "a"),
    ("man rides", "one on a"),
    ("two small", "a"),
]


def write_meteor(folder):
    """Write small word lists and paraphrases of METEOR into a folder, in the package's form."""
    (folder / "data").mkdir(parents=True)
    with zipfile.ZipFile(folder / "meteor-1.5.jar", "w") as jar:
        for name, lines in METEOR_LISTS.items():
            jar.writestr(name, "".join(f"{line}\n" for line in lines))
    text = "".join(f"0.5\n{one}\n{other}\n" for one, other in PARAPHRASES)
    (folder / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(text.encode()))
    return folder


@contextlib.contextmanager
def small_meteor(folder):
    """Let the word lists and paraphrases of METEOR be those of a folder, which are small."""
    package = JavaProgram.folder_of_files

    def folder_of_files(self):
        return folder if self.folder == "meteor" else package(self)

    with zipfile.ZipFile(folder / "meteor-1.5.jar") as jar:
        checksums = {one.filename: one.CRC for one in jar.infolist()}
    table = np.frombuffer(
        (folder / "data" / "paraphrase-en.gz").read_bytes()[-8:], "<u4"
    )
    text = "semmetrics.text"
    with (
        mock.patch.object(JavaProgram, "folder_of_files", folder_of_files),
        mock.patch(f"{text}.meteor_words._CHECKSUMS", checksums),
        mock.patch(f"{text}.paraphrase_table._CRC_AND_LENGTH", tuple(table.tolist())),
        mock.patch(f"{text}.paraphrases._opened", {}),
        mock.patch(
            f"{text}.paraphrase_table.cache_folder", return_value=folder / "kept"
        ),
        contextlib.ExitStack() as stack,
    ):
        for cached in (meteor_words.read_list, synonyms.open_synonyms):
            cached.cache_clear()
            stack.callback(cached.cache_clear)
        yield


@cache
def _meteor_folder():
    folder = tempfile.TemporaryDirectory()
    write_meteor(Path(folder.name, "meteor"))
    return folder


@contextlib.contextmanager
def meteor_programs():
    """Replace the word lists of METEOR by small ones, and the function behind METEOR-nltk."""

    def shared(references, hypothesis, *, alpha, beta, gamma):
        return max(
            alpha * len({*one} & {*hypothesis}) ** gamma / (beta + len(one))
            for one in references
        )

    with (
        small_meteor(Path(_meteor_folder().name, "meteor")),
        mock.patch("semmetrics.metrics.meteor._import_nltk_score", return_value=shared),
    ):
        yield


@contextlib.contextmanager
def spice_programs(words):
    """Replace SPICE's parser, by objects alone, its synonyms, and its lists of words."""

    def objects(captions):
        return [[(word,) for word in caption.split()] for caption in captions]

    objects.version = "1"
    text, parser = "semmetrics.text", KeptParser(FunctionParser(objects))
    with (
        mock.patch(f"{text}.parses.open_parser", return_value=parser),
        mock.patch(f"{text}.graphs.open_synonyms", return_value=SynonymTable({}, {})),
        mock.patch(
            "semmetrics.metrics.tuple_matching.category_words", return_value=words
        ),
        mock.patch(f"{text}.synonyms.category_words", return_value=words),
    ):
        yield
