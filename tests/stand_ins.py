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
from semmetrics.text.parses import CachingParser, FunctionParser
from semmetrics.text.synonyms import SynonymTable


class Sliced:
    """An array that returns only slices of rows, as in HDF5 and zarr."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        return self.values[rows]


def without_pycocoevalcap(monkeypatch):
    """Hide the package."""
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)


def fake_pycocoevalcap(monkeypatch, folder, *files):
    """Put a package with these files on the path; return its folder."""
    for name in ("__init__.py", *files):
        path = folder / "pycocoevalcap" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    monkeypatch.syspath_prepend(str(folder))
    return folder / "pycocoevalcap"


def fake_java(monkeypatch, folder, script):
    """Put a script called java in front of the path; return its path."""
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
    """Write small word lists and paraphrases of METEOR into a folder, in the format of the package."""
    (folder / "data").mkdir(parents=True)
    with zipfile.ZipFile(folder / "meteor-1.5.jar", "w") as jar:
        for name, lines in METEOR_LISTS.items():
            jar.writestr(name, "".join(f"{line}\n" for line in lines))
    lines = [f"0.5\n{first}\n{second}\n" for first, second in PARAPHRASES]
    text = "".join(lines)
    (folder / "data" / "paraphrase-en.gz").write_bytes(gzip.compress(text.encode()))
    return folder


@contextlib.contextmanager
def small_meteor(folder):
    """Replace the word lists and paraphrases of METEOR by those in a folder."""
    package = JavaProgram.folder_of_files

    def folder_of_files(self):
        return folder if self.folder == "meteor" else package(self)

    with zipfile.ZipFile(folder / "meteor-1.5.jar") as jar:
        checksums = {entry.filename: entry.CRC for entry in jar.infolist()}
    paraphrases = (folder / "data" / "paraphrase-en.gz").read_bytes()
    crc_and_length = np.frombuffer(paraphrases[-8:], "<u4").tolist()
    text = "semmetrics.text"
    with (
        mock.patch.object(JavaProgram, "folder_of_files", folder_of_files),
        mock.patch(f"{text}.meteor_words.CHECKSUMS", checksums),
        mock.patch(f"{text}.paraphrase_table.CRC_AND_LENGTH", tuple(crc_and_length)),
        mock.patch(f"{text}.paraphrases.opened_tables", {}),
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

    def count_shared_words(references, hypothesis, *, alpha, beta, gamma):
        scores = []
        for reference in references:
            n_shared = len({*reference} & {*hypothesis})
            scores.append(alpha * n_shared**gamma / (beta + len(reference)))
        return max(scores)

    with (
        small_meteor(Path(_meteor_folder().name, "meteor")),
        mock.patch(
            "semmetrics.metrics.meteor.import_nltk_score",
            return_value=count_shared_words,
        ),
    ):
        yield


@contextlib.contextmanager
def spice_programs(words):
    """Replace the parser of SPICE by one that finds only objects, its synonyms and its words."""

    def parse_objects(captions):
        graphs = []
        for caption in captions:
            graphs.append([(word,) for word in caption.split()])
        return graphs

    parse_objects.version = "1"
    parser = CachingParser(FunctionParser(parse_objects))
    text = "semmetrics.text"
    with (
        mock.patch(f"{text}.parses.open_parser", return_value=parser),
        mock.patch(f"{text}.graphs.open_synonyms", return_value=SynonymTable({}, {})),
        mock.patch(
            "semmetrics.metrics.tuple_matching.category_words", return_value=words
        ),
        mock.patch(f"{text}.synonyms.category_words", return_value=words),
    ):
        yield
