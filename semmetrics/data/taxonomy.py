"""Taxonomies: which label is a kind of which, given as links from children to parents.

Conventions
-----------
A name may have several parents, so a taxonomy is a directed graph without cycles. Each name is an
ancestor of itself, at distance 0; the distance of another ancestor is the least number of links
up to it. A name's depth is its distance to the nearest name without parents, its height the
largest number of links down to a name without children.

The root is the one name that all others descend from. Where several names have no parents, the
root is implied: it stands above them and is no name.

A label is placed at the first of its terms that the taxonomy has. In WordNet a term is looked up
as a lemma, in lower case and with ``_`` for blanks, and stands for the first of its noun senses;
a name such as ``dog.n.01`` is that synset.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.hashing import hash_strings
from semmetrics.core.ragged import Bools, Codes, Ints, offsets, row_numbers, take_rows
from semmetrics.data.labels import Terms
from semmetrics.data.readers.formats import format_of
from semmetrics.data.readers.options import DEFAULTS, ReadOptions
from semmetrics.data.readers.source import Source, at, load, shown
from semmetrics.data.readers.strict_json import parse
from semmetrics.data.readers.table import Rows, field_limit
from semmetrics.errors import InputError, MissingDependencyError, brief

__all__ = ["MAX_PAIRS", "Placed", "Taxonomy", "as_taxonomy", "read_taxonomy"]

MAX_PAIRS = 1 << 25  # (name, ancestor) pairs, 8 bytes each
_CELLS = 1 << 21  # pairs that are gathered at once
_SHOWN = 10  # names of a cycle in a message

Links: TypeAlias = "Iterable[tuple[str, str | None]]"


@dataclass(frozen=True, eq=False)
class Placed:
    """Where the labels of a class list stand: rows of ancestors, in numbers of their own.

    Attributes
    ----------
    indptr : int array, shape (classes + 1,)
    nodes, distances : int32 arrays, shape (pairs,)
        The ancestors of each class, itself included, and their distances.
    depth : int array, shape (classes,)
    height : int array, shape (nodes,)
    outside : bool array, shape (classes,)
        Labels that the taxonomy does not have: each stands alone, as a root of its own.
    root : int
        The node of the root; -1 where it is implied, or is no ancestor of any class.
    top, span : int
        The height of an implied root; the longest way down from the root, implied or not.
    """

    indptr: Ints
    nodes: Codes
    distances: Codes
    depth: Ints
    height: Ints
    outside: Bools
    root: int
    top: int
    span: int

    @property
    def without_root(self) -> Placed:
        """The same without the root among the ancestors."""
        if self.root < 0:
            return self
        kept = self.nodes != self.root
        widths = np.bincount(row_numbers(self.indptr)[kept], minlength=len(self.outside))
        return replace(
            self, indptr=offsets(widths), nodes=self.nodes[kept], distances=self.distances[kept]
        )


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Names and their ancestors, computed once.

    Attributes
    ----------
    names : tuple of str
        In the order of the input.
    lookup : mapping from term to position in ``names``
    indptr : int array, shape (names + 1,)
    ancestors, distances : int32 arrays, shape (pairs,)
        The ancestors of each name, itself included, and the least number of links up to them.
    depth, height : int arrays, shape (names,)
    roots : int array
        The names without parents.
    identity : str
        For signatures: the number of names, and a hash of the links in any order.
    lemmas : bool
        Whether terms are looked up as WordNet's lemmas.

    Examples
    --------
    >>> kinds = {"cat": ["feline", "pet"], "feline": "animal", "pet": "animal"}
    >>> Taxonomy.from_parents(kinds).ancestors_of("cat")
    {'cat': 0, 'feline': 1, 'pet': 1, 'animal': 2}
    >>> Taxonomy.from_parents({"cat": "dog", "dog": "cat"})
    Traceback (most recent call last):
    semmetrics.errors.InputError: taxonomy: there is a cycle: 'cat' -> 'dog' -> 'cat'; remove one of
    its links
    """

    names: tuple[str, ...]
    lookup: Mapping[str, int]
    indptr: Ints
    ancestors: Codes
    distances: Codes
    depth: Ints
    height: Ints
    roots: Ints
    identity: str
    lemmas: bool = False

    def __len__(self) -> int:
        return len(self.names)

    @staticmethod
    def from_parents(
        parents: Mapping[str, str | Sequence[str] | None],
        *,
        source: str = "taxonomy",
        max_pairs: int = MAX_PAIRS,
    ) -> Taxonomy:
        """The taxonomy of ``{child: parent}``, ``{child: [parents]}`` or ``{root: None}``.

        Raises
        ------
        InputError
            If a name is empty or no text, its own parent, or in a cycle; or if there are more
            than ``max_pairs`` pairs of a name and its ancestor.
        """
        return _taxonomy(_checked(_listed(parents, source)), source, max_pairs)

    @staticmethod
    def from_edges(
        edges: Iterable[Sequence[str | None]],
        *,
        source: str = "taxonomy",
        max_pairs: int = MAX_PAIRS,
    ) -> Taxonomy:
        """The taxonomy of (child, parent) pairs; the parent of a root may be given as None.

        Raises
        ------
        InputError
            As ``from_parents``.
        """
        return _taxonomy(_checked(_paired(edges, source)), source, max_pairs)

    @staticmethod
    def from_wordnet(
        folder: str | os.PathLike[str] | None = None, *, max_pairs: int = MAX_PAIRS
    ) -> Taxonomy:
        """WordNet's noun synsets under their hypernyms (of instances, the instance hypernyms).

        Parameters
        ----------
        folder : path, optional
            Where WordNet's files data.noun and index.noun are; where nltk keeps them, otherwise.
        max_pairs : int

        Raises
        ------
        InputError
            If the files are not there, or cannot be understood.
        MissingDependencyError
            If nltk is needed and not installed.
        """
        index, data = (_wordnet_file(name, folder) for name in ("index.noun", "data.noun"))
        senses: dict[str, list[str]] = dict(_lines(index, _index_entry))
        links, names = _synsets(data, senses)
        made = _taxonomy(links, data.name, max_pairs)
        lookup = dict(made.lookup)
        for lemma, found in senses.items():
            lookup.setdefault(lemma, made.lookup[names[found[0]]])
        return replace(made, lookup=lookup, identity=f"wordnet:{made.identity}", lemmas=True)

    @property
    def root(self) -> int | None:
        """The name that all others descend from; None where it is implied."""
        return int(self.roots[0]) if len(self.roots) == 1 and len(self) > 1 else None

    def find(self, term: str) -> int | None:
        """The position of a term; None where the taxonomy does not have it."""
        found = self.lookup.get(term)
        if found is None and self.lemmas:
            found = self.lookup.get(term.lower().replace(" ", "_"))
        return found

    def _first(self, terms: Terms) -> int:
        return next((code for term in terms if (code := self.find(term)) is not None), -1)

    def ancestors_of(self, term: str) -> dict[str, int]:
        """The ancestors of a term and their distances, the nearest first.

        Raises
        ------
        InputError
            If the taxonomy does not have the term.
        """
        code = self.find(term)
        if code is None:
            raise InputError(f"{term!r} is not in the taxonomy", remedy="check how it is written")
        row = slice(self.indptr[code], self.indptr[code + 1])
        pairs = zip(self.distances[row].tolist(), self.ancestors[row].tolist(), strict=True)
        return {self.names[ancestor]: distance for distance, ancestor in sorted(pairs)}

    def normalized(self, clean: Callable[[str], Terms]) -> Taxonomy:
        """The same taxonomy, with terms looked up as a label normalisation leaves them.

        Raises
        ------
        InputError
            If names become equal (in WordNet, the first of them has the term).
        """
        lookup: dict[str, int] = {}
        for written, code in self.lookup.items():
            for term in filter(None, clean(written)):
                other = lookup.setdefault(term, code)
                if other != code and not self.lemmas:
                    raise InputError(
                        f"{self.names[other]!r} and {self.names[code]!r} of the taxonomy are both "
                        f"{term!r} after normalisation",
                        remedy="rename one of them, or choose another normalisation",
                    )
        return replace(self, lookup=lookup)

    def place(self, labels: Sequence[Terms]) -> Placed:
        """Place labels, each at its first term that the taxonomy has.

        Examples
        --------
        >>> flat = Taxonomy.from_parents({"cat": "animal", "dog": "animal"})
        >>> placed = flat.place([("kitty", "cat"), ("car",)])
        >>> placed.indptr.tolist(), placed.distances.tolist(), placed.outside.tolist()
        ([0, 2, 3], [0, 1, 0], [False, True])
        """
        found = (self._first(terms) for terms in labels)
        codes = np.fromiter(found, np.int64, len(labels))
        outside = codes < 0
        row_ptr, flat = take_rows(self.indptr, codes[~outside])
        reached, local = np.unique(self.ancestors[flat], return_inverse=True)
        widths = np.ones(len(codes), np.int64)
        widths[~outside] = np.diff(row_ptr)
        inside = np.repeat(~outside, widths)
        alone = int(outside.sum())
        nodes, distances = np.empty((2, len(inside)), np.int32)
        nodes[inside], distances[inside] = local, self.distances[flat]
        nodes[~inside], distances[~inside] = len(reached) + np.arange(alone), 0
        depth = np.zeros(len(codes), np.int64)
        depth[~outside] = self.depth[codes[~outside]]
        at_root = np.flatnonzero(reached == (-1 if self.root is None else self.root))
        longest = int(self.height[self.roots].max(initial=0))
        return Placed(
            indptr=offsets(widths),
            nodes=nodes,
            distances=distances,
            depth=depth,
            height=np.concatenate([self.height[reached], np.zeros(alone, np.int64)]),
            outside=outside,
            root=int(at_root[0]) if len(at_root) else -1,
            top=longest + 1,
            span=longest + (len(self.roots) > 1),
        )


def as_taxonomy(value: Any, *, options: ReadOptions = DEFAULTS) -> Taxonomy:
    """A taxonomy from what a user may give.

    Parameters
    ----------
    value : Taxonomy, mapping, iterable of pairs, or path
        ``{child: parent(s)}``, (child, parent) pairs, or as for ``read_taxonomy``.
    options : ReadOptions

    Raises
    ------
    InputError
        If it is none of these, or is no taxonomy.
    """
    if isinstance(value, Taxonomy):
        return value
    if isinstance(value, (str, os.PathLike)):
        return read_taxonomy(value, options)
    if isinstance(value, Mapping):
        return Taxonomy.from_parents(value)
    if isinstance(value, Iterable):
        return Taxonomy.from_edges(value)
    raise InputError(
        f"a {type(value).__name__} is no taxonomy", remedy='give {"cat": "animal"}, or a file'
    )


def read_taxonomy(path: str | os.PathLike[str], options: ReadOptions = DEFAULTS) -> Taxonomy:
    r"""Read a taxonomy from a file, or WordNet.

    Parameters
    ----------
    path : str or path
        JSON ``{child: parent}``, ``{child: [parents]}`` or ``[[child, parent]]``; CSV or TSV with
        the columns "child" and "parent", a link a row, where a root may have an empty parent;
        "wordnet" for that of nltk; "wordnet:FOLDER" for the folder of its data.noun.
    options : ReadOptions
        The limits are used; the format is that of the extension.

    Raises
    ------
    InputError
        If it cannot be read; names the line or the name.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "taxonomy.csv")
    >>> _ = path.write_text("child,parent\ncat,animal\n")
    >>> read_taxonomy(path).names
    ('cat', 'animal')
    """
    if isinstance(path, str) and path.partition(":")[0] == "wordnet":
        return Taxonomy.from_wordnet(path.partition(":")[2] or None)
    source = load(path, options.max_bytes)
    limits = ReadOptions(max_bytes=options.max_bytes, max_line_bytes=options.max_line_bytes)
    kind = format_of(source, limits)
    if kind == "json":
        value = parse(source.text, source.name)
        if isinstance(value, dict):
            return Taxonomy.from_parents(value, source=source.name)
        if isinstance(value, list):
            return Taxonomy.from_edges(value, source=source.name)
        raise InputError(
            f"{shown(value)} is no taxonomy", where=source.name, remedy='write {"cat": "animal"}'
        )
    if kind in ("csv", "tsv"):
        with field_limit(limits.max_line_bytes):
            links = list(_checked(_rows(source, limits, tabs=kind == "tsv")))
        return _taxonomy(links, source.name, MAX_PAIRS)
    raise InputError(
        f"a taxonomy is not read from {kind}", where=source.name, remedy="use JSON or CSV"
    )


# --- links, each with its place ---

Placing: TypeAlias = "Iterator[tuple[Any, Any, str]]"


def _listed(parents: Mapping[str, Any], source: str) -> Placing:
    for child, given in parents.items():
        where = at(source, shown(child))
        several = given if isinstance(given, (list, tuple)) else [given]
        for parent in several or [None]:
            if parent is None and given is not None and several:
                raise InputError("a parent is null", where=where, remedy="leave it out")
            yield child, parent, where


def _paired(edges: Iterable[Any], source: str) -> Placing:
    for number, edge in enumerate(edges):
        where = at(source, f"link {number} (from 0)")
        if not isinstance(edge, (list, tuple)) or len(edge) != 2:
            raise InputError(
                f"{brief(edge)} is no link", where=where, remedy='write ["cat", "animal"]'
            )
        yield edge[0], edge[1], where


def _rows(source: Source, options: ReadOptions, *, tabs: bool) -> Placing:
    rows = Rows(source, options, tabs=tabs)
    header = [column.strip().casefold() for column in rows.header]
    if header.count("child") != 1 or header.count("parent") != 1:
        raise InputError(
            f"the columns are {', '.join(map(shown, rows.header))}",
            where=at(source.name, "line 1"),
            remedy="call one of them child and one parent",
        )
    child, parent = header.index("child"), header.index("parent")
    for lines, batch in rows.batches():
        for line, row in zip(lines, batch, strict=True):
            yield row[child], row[parent] or None, at(source.name, f"line {line}")


def _checked(links: Placing) -> Links:
    for child, parent, where in links:
        for name in (child,) if parent is None else (child, parent):
            if not isinstance(name, str):
                raise InputError(
                    f"{brief(name)} is a {type(name).__name__}, not a name",
                    where=where,
                    remedy="write names as text",
                )
            if not name.strip():
                raise InputError("a name is empty", where=where, remedy="name it, or remove it")
        if child == parent:
            raise InputError(f"{child!r} is its own parent", where=where, remedy="remove the link")
        yield child, parent


# --- WordNet's files (their format is described in wndb(5)) ---


def _wordnet_file(name: str, folder: str | os.PathLike[str] | None) -> Source:
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
        raise InputError(f"nltk cannot read WordNet: {error}", remedy="check its data") from None


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


# --- the graph ---


def _taxonomy(links: Links, source: str, max_pairs: int) -> Taxonomy:
    place: dict[str, int] = {}
    ends: tuple[list[int], list[int]] = [], []
    for child_name, parent_name in links:
        code = place.setdefault(child_name, len(place))
        if parent_name is not None:
            ends[0].append(code)
            ends[1].append(place.setdefault(parent_name, len(place)))
    if not place:
        raise InputError("there are no names", where=source, remedy="check how it was written")
    names = tuple(place)
    keys = np.array(ends[0], np.int64) * len(names) + np.array(ends[1], np.int64)
    child, parent = np.divmod(np.unique(keys), len(names))
    generations = _generations(child, parent, names, source, max_pairs)
    indptr, ancestors, distances = _closure(generations, child, parent, source, max_pairs)
    roots = generations[0]
    at_root = np.isin(ancestors, roots)
    return Taxonomy(
        names=names,
        lookup=place,
        indptr=indptr,
        ancestors=ancestors,
        distances=distances,
        depth=np.minimum.reduceat(np.where(at_root, distances, len(names)), indptr[:-1]),
        height=_heights(generations, child, parent, len(names)),
        roots=roots,
        identity=_identity(names, child, parent, roots),
    )


def _identity(names: tuple[str, ...], child: Ints, parent: Ints, roots: Ints) -> str:
    texts = [
        f"{names[c]}\n{names[p]}" for c, p in zip(child.tolist(), parent.tolist(), strict=True)
    ]
    texts += [names[code] for code in roots.tolist()]
    return f"{len(names)}@{int(hash_strings(texts).sum(dtype=np.uint64)):016x}"


def _rows_of(keys: Ints, values: Ints, size: int) -> tuple[Ints, Ints]:
    """Values as ragged rows by key."""
    order = np.argsort(keys, kind="stable")
    return offsets(np.bincount(keys, minlength=size)), values[order]


def _generations(
    child: Ints, parent: Ints, names: tuple[str, ...], source: str, max_pairs: int
) -> list[Ints]:
    """The names without parents, then always those whose last parent has come."""
    below_ptr, below = _rows_of(parent, child, len(names))
    waiting = np.bincount(child, minlength=len(names))
    generations, pairs = list[Ints](), 0
    now = np.flatnonzero(waiting == 0)
    while len(now):
        generations.append(now)
        pairs += len(now) * len(generations)  # each has an ancestor in every generation
        _check_size(pairs, max_pairs, source)
        reached, times = np.unique(below[take_rows(below_ptr, now)[1]], return_counts=True)
        waiting[reached] -= times
        now = reached[waiting[reached] == 0]
    if waiting.any():
        left = waiting > 0
        cycle = _cycle(child[left[child] & left[parent]], parent[left[child] & left[parent]])
        written = [repr(names[code]) for code in cycle]
        if len(written) > _SHOWN:
            written[_SHOWN:] = [f"{len(written) - _SHOWN} more"]
        raise InputError(
            f"there is a cycle: {' -> '.join([*written, written[0]])}",
            where=source,
            remedy="remove one of its links",
        )
    return generations


def _cycle(child: Ints, parent: Ints) -> list[int]:
    """The names of a cycle from child to parent, where every name has a parent that is left."""
    above = dict(zip(child[::-1].tolist(), parent[::-1].tolist(), strict=True))
    node, seen = min(above), dict[int, int]()
    while node not in seen:
        seen[node] = len(seen)
        node = above[node]
    cycle = list(seen)[seen[node] :]
    start = cycle.index(min(cycle))
    return cycle[start:] + cycle[:start]


def _check_size(pairs: int, max_pairs: int, source: str) -> None:
    if pairs > max_pairs:
        raise InputError(
            f"it has more than {max_pairs} pairs of a name and its ancestor",
            where=source,
            remedy="leave out names that no label needs, or raise max_pairs",
        )


class _Growing:
    """Ancestors of names that come one after the other, with room for more."""

    def __init__(self, size: int) -> None:
        self.start, self.width = np.zeros((2, size), np.int64)
        self.used = 0
        self._flat = np.empty((2, 1 << 10), np.int32)

    def add(self, owners: Ints, widths: Ints, nodes: Ints, distances: Ints) -> None:
        stop = self.used + len(nodes)
        if stop > self._flat.shape[1]:
            flat = np.empty((2, max(stop, 2 * self._flat.shape[1])), np.int32)
            flat[:, : self.used] = self._flat[:, : self.used]
            self._flat = flat
        self._flat[0, self.used : stop], self._flat[1, self.used : stop] = nodes, distances
        self.start[owners], self.width[owners] = self.used + offsets(widths)[:-1], widths
        self.used = stop

    def take(self, owners: Ints) -> tuple[Ints, Codes, Codes]:
        """Offsets, ancestors and distances of some names."""
        indptr = offsets(self.width[owners])
        flat = np.arange(indptr[-1]) + np.repeat(self.start[owners] - indptr[:-1], np.diff(indptr))
        return indptr, self._flat[0].take(flat), self._flat[1].take(flat)


def _closure(
    generations: Sequence[Ints], child: Ints, parent: Ints, source: str, max_pairs: int
) -> tuple[Ints, Codes, Codes]:
    """The ancestors of every name, each by its code, with the least distances."""
    size = sum(map(len, generations))
    above_ptr, above = _rows_of(child, parent, size)
    rows, bits = _Growing(size), len(generations).bit_length()
    for generation in generations:
        for part in _parts(generation, above_ptr, above, rows.width):
            above_part, flat = take_rows(above_ptr, part)
            indptr, nodes, distances = rows.take(above[flat])
            owner = np.repeat(row_numbers(above_part), np.diff(indptr))
            keys = (owner * size + nodes << bits) + distances + 1
            keys = np.append(keys, np.arange(len(part)) * size + part << bits)
            keys.sort()  # of equal pairs the nearest stands first
            pairs = keys >> bits
            first = np.flatnonzero(np.diff(pairs, prepend=-1))
            _check_size(rows.used + len(first), max_pairs, source)
            owner, kept = np.divmod(pairs[first], size)
            nearest = keys[first] - (pairs[first] << bits)
            rows.add(part, np.bincount(owner, minlength=len(part)), kept, nearest)
    return rows.take(np.arange(size))


def _parts(names: Ints, above_ptr: Ints, above: Ints, width: Ints) -> Iterator[Ints]:
    """The names in parts for which few pairs are gathered at once."""
    indptr, flat = take_rows(above_ptr, names)
    cost = offsets(width[above[flat]])[indptr]
    start = 0
    while start < len(names):
        stop = max(start + 1, int(np.searchsorted(cost, cost[start] + _CELLS, "right")) - 1)
        yield names[start:stop]
        start = stop


def _heights(generations: Sequence[Ints], child: Ints, parent: Ints, size: int) -> Ints:
    above_ptr, above = _rows_of(child, parent, size)
    height = np.zeros(size, np.int64)
    for generation in reversed(generations[1:]):
        indptr, flat = take_rows(above_ptr, generation)
        np.maximum.at(height, above[flat], height[generation][row_numbers(indptr)] + 1)
    return height
