"""Reader of WordNet's noun synsets as a taxonomy.

WordNet is read from its own files data.noun and index.noun. wndb(5) describes their format. Noun
synsets are placed under their hypernyms, and instances under their instance hypernyms.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from semmetrics.data.read_options import DEFAULTS
from semmetrics.data.source import Source, load
from semmetrics.data.taxonomy import Taxonomy
from semmetrics.errors import InputError, format_place, require

_HYPERNYM_SYMBOLS = ("@", "@i")
_T = TypeVar("_T")


class _Synset(NamedTuple):
    """A line of data.noun.

    Attributes
    ----------
    offset : str
        Identifies the synset.
    word : str
        The first word, in lower case.
    hypernyms : list of str
        The offsets of the synsets above.
    """

    offset: str
    word: str
    hypernyms: list[str]


def read_wordnet(
    folder: str | os.PathLike[str] | None = None, max_bytes: int = DEFAULTS.max_bytes
) -> Taxonomy:
    """Read WordNet's noun synsets.

    Parameters
    ----------
    folder : path, optional
        The folder of WordNet's files data.noun and index.noun. Default: the folder of nltk.
    max_bytes : int
        The largest size of a file.

    Raises
    ------
    InputError
        If the files are missing, or have another format.
    MissingDependencyError
        If nltk is needed and not installed.
    """
    index = _load_file("index.noun", folder, max_bytes)
    data = _load_file("data.noun", folder, max_bytes)
    senses: dict[str, list[str]] = dict(_read_lines(index, _read_index_entry))
    name_of_offset: dict[str, str] = {}
    hypernyms: dict[str, list[str]] = {}
    for synset in _read_lines(data, _read_synset):
        offsets = senses.get(synset.word, [])
        if synset.offset not in offsets:
            why = f"index.noun has no {synset.word!r} at {synset.offset}"
            raise InputError("not-wordnet", data.name, why=why)
        rank = offsets.index(synset.offset) + 1
        name_of_offset[synset.offset] = f"{synset.word}.n.{rank:02}"
        hypernyms[synset.offset] = synset.hypernyms
    _check_offsets(senses, hypernyms, name_of_offset, data.name)

    links = _link_synsets(hypernyms, name_of_offset, data.name)
    taxonomy = Taxonomy.from_links(links, data.name)
    # A lemma is found as the synset of its first sense.
    lookup = dict(taxonomy.lookup)
    for lemma, offsets in senses.items():
        first_sense = name_of_offset[offsets[0]]
        lookup.setdefault(lemma, taxonomy.lookup[first_sense])
    identity = f"wordnet:{taxonomy.identity}"
    return replace(taxonomy, lookup=lookup, identity=identity, lemmas=True)


def _check_offsets(
    senses: Mapping[str, list[str]],
    hypernyms: Mapping[str, list[str]],
    name_of_offset: Mapping[str, str],
    source: str,
) -> None:
    """Raise an error if a sense or a hypernym is not among the synsets."""
    mentioned: set[str] = set()
    for offsets in senses.values():
        mentioned.update(offsets)
    for offsets in hypernyms.values():
        mentioned.update(offsets)
    unknown = mentioned - name_of_offset.keys()
    if unknown:
        why = f"no synset at {min(unknown)}"
        raise InputError("not-wordnet", source, why=why)


def _link_synsets(
    hypernyms: Mapping[str, list[str]], name_of_offset: Mapping[str, str], source: str
) -> list[tuple[str, str | None, str]]:
    """Return the links from synsets to their hypernyms. Roots have a link to None."""
    links: list[tuple[str, str | None, str]] = []
    for offset, parents in hypernyms.items():
        name = name_of_offset[offset]
        if not parents:
            links.append((name, None, source))
        for parent in parents:
            links.append((name, name_of_offset[parent], source))
    return links


def _load_file(
    name: str, folder: str | os.PathLike[str] | None, max_bytes: int
) -> Source:
    """Load a file of WordNet from a folder, or from where nltk has it."""
    if folder is not None:
        return load(Path(folder) / name, max_bytes)
    nltk = require("nltk.data", "finding WordNet", extra="wordnet")
    try:
        pointer = nltk.find(f"corpora/wordnet/{name}")
    except LookupError:
        instead = ", or write wordnet:FOLDER with the folder of WordNet's data.noun"
        raise InputError("no-wordnet", instead=instead) from None
    shown_name = f"nltk's {name}"
    try:
        with pointer.open() as stream:
            content = stream.read(max_bytes + 1)
    except OSError as error:
        raise InputError("unreadable", shown_name, why=error) from None
    if len(content) > max_bytes:
        raise InputError("too-large", shown_name, limit=max_bytes)
    return Source(shown_name, content, suffix=None)


def _read_lines(source: Source, read: Callable[[str], _T]) -> Iterator[_T]:
    """Yield the entry in each line, except for the lines of the licence, which are indented."""
    for number, line in enumerate(source.text.splitlines(), 1):
        if not line or line.startswith("  "):
            continue
        try:
            yield read(line)
        except (ValueError, IndexError):
            where = format_place(source.name, f"line {number}")
            why = "the line has an unexpected format"
            raise InputError("not-wordnet", where, why=why) from None


def _read_index_entry(line: str) -> tuple[str, list[str]]:
    """Return a lemma, and the offsets of its synsets by rank."""
    parts = line.split()
    n_senses = int(parts[2])
    if n_senses < 1:
        raise ValueError(line)
    offsets = parts[-n_senses:]
    if not all(map(str.isdecimal, offsets)):
        raise ValueError(line)
    return parts[0], offsets


def _read_synset(line: str) -> _Synset:
    """Return the synset in a line, without its gloss.

    The parts of a line are the offset, two other parts, the number of words (hexadecimal), two
    parts for each word, the number of pointers, and four parts for each pointer.
    """
    definition, _, _ = line.partition(" | ")
    parts = definition.split()
    n_words = int(parts[3], 16)
    end_of_words = 4 + 2 * n_words
    n_pointers = int(parts[end_of_words])
    start = end_of_words + 1
    pointers = parts[start : start + 4 * n_pointers]
    symbols = pointers[::4]
    targets = pointers[1::4]
    parts_of_speech = pointers[2::4]
    hypernyms = []
    for symbol, target, part_of_speech in zip(
        symbols, targets, parts_of_speech, strict=True
    ):
        if symbol in _HYPERNYM_SYMBOLS and part_of_speech == "n":
            hypernyms.append(target)
    return _Synset(parts[0], parts[4].lower(), hypernyms)
