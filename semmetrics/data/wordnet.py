"""WordNet's noun synsets and their hypernyms, from its files (their format: wndb(5))."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from semmetrics.data.form import DEFAULTS
from semmetrics.data.places import at
from semmetrics.data.source import Source, load
from semmetrics.errors import InputError, MissingDependencyError

__all__ = ["WordNet", "read_wordnet"]


class WordNet(NamedTuple):
    """Noun synsets by name: links to hypernyms, the first sense of each lemma, where from."""

    links: list[tuple[str, str | None]]
    first: dict[str, str]
    source: str


def read_wordnet(folder: str | os.PathLike[str] | None) -> WordNet:
    """Read index.noun and data.noun from a folder, or from where nltk keeps them.

    Raises
    ------
    InputError
        If the files are not there, or cannot be understood.
    MissingDependencyError
        If nltk is needed and not installed.
    """
    index, data = (_file(name, folder) for name in ("index.noun", "data.noun"))
    senses: dict[str, list[str]] = dict(_lines(index, _index_entry))
    links, names = _synsets(data, senses)
    first = {lemma: names[found[0]] for lemma, found in senses.items()}
    return WordNet(links, first, data.name)


def _file(name: str, folder: str | os.PathLike[str] | None) -> Source:
    if folder is not None:
        return load(Path(folder) / name, DEFAULTS.max_bytes)
    try:
        nltk: Any = importlib.import_module("nltk.data")
    except ImportError:
        raise MissingDependencyError("nltk", "finding WordNet", extra="wordnet") from None
    try:
        pointer = nltk.find(f"corpora/wordnet/{name}")
    except LookupError:
        raise InputError(
            "nltk has no WordNet data",
            remedy="run: python -m nltk.downloader wordnet, or write wordnet:FOLDER with the "
            "folder of WordNet's data.noun",
        ) from None
    try:
        with pointer.open() as stream:
            return Source(f"nltk's {name}", stream.read(), None)
    except OSError as error:
        raise InputError(
            f"nltk cannot read WordNet: {error}",
            remedy="check its data, or write wordnet:FOLDER with the folder of data.noun",
        ) from None


def _lines(source: Source, read: Callable[[str], Any]) -> Iterator[Any]:
    for number, line in enumerate(source.text.splitlines(), 1):
        if line and not line.startswith("  "):  # the licence is indented
            try:
                yield read(line)
            except (ValueError, IndexError):
                raise InputError(
                    "it is no line of WordNet's noun files",
                    where=at(source.name, f"line {number}"),
                    remedy="give the folder of WordNet 3's data.noun and index.noun",
                ) from None


def _index_entry(line: str) -> tuple[str, list[str]]:
    """A lemma, and the offsets of its synsets by rank."""
    parts = line.split()
    senses = int(parts[2])
    found = parts[-senses:]
    if senses < 1 or not all(map(str.isdecimal, found)):
        raise ValueError(line)
    return parts[0], found


def _data_entry(line: str) -> tuple[str, str, list[str]]:
    """The offset of a synset, its first word, and the offsets of its hypernyms."""
    parts = line.partition(" | ")[0].split()
    end = 4 + 2 * int(parts[3], 16)
    pointers = parts[end + 1 : end + 1 + 4 * int(parts[end])]
    above = [
        target
        for symbol, target, kind in zip(pointers[::4], pointers[1::4], pointers[2::4], strict=True)
        if symbol in ("@", "@i") and kind == "n"
    ]
    return parts[0], parts[4].lower(), above


def _synsets(
    data: Source, senses: Mapping[str, list[str]]
) -> tuple[list[tuple[str, str | None]], dict[str, str]]:
    """Links of synsets by name, and the name of each offset."""
    names: dict[str, str] = {}
    above: dict[str, list[str]] = {}
    for offset, word, hypernyms in _lines(data, _data_entry):
        try:
            names[offset] = f"{word}.n.{senses[word].index(offset) + 1:02}"
        except (KeyError, ValueError):
            raise _apart(data, f"{word!r} at {offset}") from None
        above[offset] = hypernyms
    known = {*names}
    lost = {o for every in (*senses.values(), *above.values()) for o in every} - known
    if lost:
        raise _apart(data, f"no synset at {min(lost)}")
    links: list[tuple[str, str | None]] = []
    for offset, every in above.items():
        links += [(names[offset], names[target]) for target in every] or [(names[offset], None)]
    return links, names


def _apart(data: Source, what: str) -> InputError:
    return InputError(
        f"index.noun and data.noun do not belong together: {what}",
        where=data.name,
        remedy="take both from one version of WordNet",
    )
