"""Stand-ins for files, the package pycocoevalcap, Java and the programs behind measures."""

from __future__ import annotations

import contextlib
import sys
from unittest import mock

import numpy as np
from oracles.meteor import exact_line

from semmetrics.text.graphs import SynonymTable
from semmetrics.text.parses import FunctionParser, KeptParser


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


@contextlib.contextmanager
def meteor_programs():
    """Replace the programs behind METEOR and METEOR-nltk."""

    def counts(candidates, references):
        pairs = zip(candidates, references, strict=True)
        return np.array([exact_line(*pair) for pair in pairs], np.int64).reshape(-1, 23)

    def shared(references, hypothesis, *, alpha, beta, gamma):
        return max(alpha * len({*one} & {*hypothesis}) ** gamma / (beta + len(one))
                   for one in references)  # fmt: skip

    module = "semmetrics.metrics.meteor"
    with (
        mock.patch(f"{module}.segment_counts", counts),
        mock.patch("semmetrics.text.java.JavaProgram.missing", return_value=""),
        mock.patch(f"{module}._nltk_score", return_value=shared),
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
        mock.patch("semmetrics.metrics.spice.category_words", return_value=words),
        mock.patch(f"{text}.graphs.category_words", return_value=words),
    ):
        yield
