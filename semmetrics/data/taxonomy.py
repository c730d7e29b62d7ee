"""Taxonomies: which label is a kind of which, given as links from children to parents.

Conventions
-----------
A name may have several parents, so a taxonomy is a directed graph without cycles. Each name is an
ancestor of itself, at distance 0; the distance of another ancestor is the least number of links
up to it. A name's depth is its distance to the nearest name without parents, its height the
largest number of links down to a name without children.

The root is the one name that all others descend from. If several names have no parents, the
root is implied: it is above them and has no name.

A label is placed at the first of its terms that the taxonomy has. In WordNet a term is looked up
as a lemma, in lower case and with ``_`` for blanks, and means the first of its noun senses;
a name such as ``dog.n.01`` is that synset. WordNet is read from its own files data.noun and
index.noun (their format: wndb(5)): noun synsets under their hypernyms, instances under their
instance hypernyms.

In the functions on graphs, names are numbers from 0; ``child`` and ``parent`` are the ends of each
link, no link given twice. Names come in generations: those without parents, then always those whose
last parent has come.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.hashing import by_value, hash_strings
from semmetrics.core.ragged import Bools, Codes, Ints
from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.input_formats import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.lists import Terms
from semmetrics.data.side_inputs import opened, read_table
from semmetrics.data.source import Source, load
from semmetrics.errors import InputError, at, require
from semmetrics.messages import shown
from semmetrics.schema import LINKS, as_text

# Child, parent (None for a root), and the place of the link for messages.
Links: TypeAlias = "Iterable[tuple[Any, Any, str]]"

MAX_PAIRS = 1 << 25  # (name, ancestor) pairs, 8 bytes each
_CELLS = 1 << 21  # pairs that are gathered at once
# pairs of one name's parents from which on they are looked at parent by parent
_HEAVY = 1 << 14
_CYCLE = 10  # names of a cycle in a message


def _rows_of(keys: Ints, values: Ints, size: int) -> tuple[Ints, Ints]:
    """Group values into ragged rows by key."""
    order = np.argsort(keys, kind="stable")
    return ragged.offsets(np.bincount(keys, minlength=size)), values[order]


def _generations(
    child: Ints, parent: Ints, names: Sequence[str], source: str
) -> list[Ints]:
    """Order names: those without parents, then always those whose last parent has come.

    Raises
    ------
    InputError
        If there is a cycle, or there are more than ``MAX_PAIRS`` pairs of a name and its ancestor.
    """
    below_ptr, below = _rows_of(parent, child, len(names))
    waiting = np.bincount(child, minlength=len(names))
    found, pairs = list[Ints](), 0
    now = np.flatnonzero(waiting == 0)
    while len(now):
        found.append(now)
        pairs += len(now) * len(found)  # each has an ancestor in every generation
        _check_size(pairs, source)
        reached, times = np.unique(
            below[ragged.take_rows(below_ptr, now)[1]], return_counts=True
        )
        waiting[reached] -= times
        now = reached[waiting[reached] == 0]
    if waiting.any():
        inside = (waiting > 0)[child] & (waiting > 0)[parent]
        ends = child[inside][::-1].tolist(), parent[inside][::-1].tolist()
        # every name that is left has a parent that is
        above = dict(zip(*ends, strict=True))
        node, seen = min(above), dict[int, int]()
        while node not in seen:
            seen[node] = len(seen)
            node = above[node]
        cycle = list(seen)[seen[node] :]
        first = cycle.index(min(cycle))
        written = [repr(names[code]) for code in (*cycle[first:], *cycle[:first])]
        if len(written) > _CYCLE:
            written[_CYCLE:] = [f"{len(written) - _CYCLE} more"]
        raise InputError("cycle", source, names=" -> ".join([*written, written[0]]))
    return found


def _check_size(pairs: int, source: str) -> None:
    if pairs > MAX_PAIRS:
        raise InputError("too-many-ancestors", source, limit=MAX_PAIRS)


def _closure(
    ordered: Sequence[Ints], child: Ints, parent: Ints, source: str
) -> tuple[Ints, Codes, Codes]:
    """Find the ancestors of every name, itself included, and the least number of links to each.

    Parameters
    ----------
    ordered : sequence of int arrays
        The generations.

    Returns
    -------
    indptr, ancestors, distances : int arrays
        The ancestors of each name by rising number.

    Raises
    ------
    InputError
        If there are more than ``MAX_PAIRS`` pairs.
    """
    size, bits = sum(map(len, ordered)), len(ordered).bit_length()
    above_ptr, above = _rows_of(child, parent, size)
    # of each name its ancestors, rising: their numbers << bits | distances
    rows, pairs = [np.zeros(0, np.int64)] * size, 0
    width, nearest = np.zeros(size, np.int64), np.full(size, size)
    for generation in ordered:
        indptr, flat = ragged.take_rows(above_ptr, generation)
        cost = ragged.sum_rows(width[above[flat]], indptr)
        light = generation[cost <= _HEAVY]
        runs = ragged.runs_within(ragged.offsets(cost[cost <= _HEAVY]), _CELLS)
        for part in (*(light[run] for run in runs), *generation[cost > _HEAVY, None]):
            indptr, flat = ragged.take_rows(above_ptr, part)
            parents, cost_of_part = above[flat], int(width[above[flat]].sum())
            if len(part) == 1 and cost_of_part > _HEAVY:
                by_width = parents[np.argsort(-width[parents], kind="stable")]
                found = _merged(rows, int(part[0]), by_width, nearest, bits)
                widths = np.array([len(found)])
            else:
                found, widths = _merged_by_sorting(rows, part, indptr, parents, bits)
            pairs += len(found)
            _check_size(pairs, source)
            width[part] = widths
            ends = ragged.offsets(widths).tolist()
            for name, start, stop in zip(part.tolist(), ends, ends[1:], strict=False):
                rows[name] = found[start:stop]
    every = np.concatenate(rows)
    rows.clear()
    distances = every & ((1 << bits) - 1)
    return (
        ragged.offsets(width),
        (every >> bits).astype(np.int32),
        distances.astype(np.int32),
    )


def _merged_by_sorting(
    rows: Sequence[Ints], part: Ints, indptr: Ints, parents: Ints, bits: int
) -> tuple[Ints, Ints]:
    """Merge the ancestors of the parents of some names; return them and how many each has."""
    size, above = len(rows), [rows[one] for one in parents.tolist()]
    widths = np.fromiter(map(len, above), np.int64, len(above))
    owner = np.repeat(ragged.row_numbers(indptr), widths)
    keys = np.concatenate([np.arange(len(part)) * size + part << bits, *above])
    keys[len(part) :] += (owner * size << bits) + 1
    keys.sort()  # of equal pairs the nearest stands first
    pairs = keys >> bits
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    owner = pairs[first] // size
    return keys[first] - (owner * size << bits), np.bincount(owner, minlength=len(part))


def _merged(
    rows: Sequence[Ints], name: int, parents: Ints, nearest: Ints, bits: int
) -> Ints:
    """Do what ``_merged_by_sorting`` does for one name, parent by parent.

    A parent that is an ancestor of another adds no ancestor, and can only lower distances above 2;
    so where names are linked to most of their ancestors, few parents are looked at.

    Parameters
    ----------
    parents : int array
        Those with many ancestors first.
    nearest : int array, shape (names,)
        Room to work in: larger than any distance before and after.
    """
    unknown, within = len(nearest), []
    for parent in parents.tolist():
        if nearest[parent] < unknown:
            within.append(parent)
        else:
            _lower(nearest, rows[parent], bits)
    nearest[parents], nearest[name] = 1, 0
    found = np.flatnonzero(nearest < unknown)
    far = found[nearest[found] > 2]
    for parent in within:
        if not len(far):
            break
        _lower(nearest, rows[parent], bits)
        far = far[nearest[far] > 2]
    merged = found << bits | nearest[found]
    nearest[found] = unknown
    return merged


def _lower(nearest: Ints, row: Ints, bits: int) -> None:
    """Lower distances to those by way of a parent, given its ancestors."""
    ancestors = row >> bits
    nearest[ancestors] = np.minimum(nearest[ancestors], (row & ((1 << bits) - 1)) + 1)


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
        widths = np.bincount(
            ragged.row_numbers(self.indptr)[kept], minlength=len(self.outside)
        )
        nodes, distances = self.nodes[kept], self.distances[kept]
        return replace(
            self, indptr=ragged.offsets(widths), nodes=nodes, distances=distances
        )


@by_value()
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
    notes : sequence
        What is odd in its file, such as columns that are not used.

    Examples
    --------
    >>> kinds = {"cat": ["feline", "pet"], "feline": "animal", "pet": "animal"}
    >>> made = Taxonomy.from_parents(kinds)
    >>> made.names[0], made.ancestors[:4].tolist(), made.distances[:4].tolist()
    ('cat', [0, 1, 2, 3], [0, 1, 1, 2])
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
    notes: Sequence[Any] = ()

    def __len__(self) -> int:
        return len(self.names)

    @staticmethod
    def from_parents(
        parents: Mapping[str, str | Sequence[str] | None], source: str = "taxonomy"
    ) -> Taxonomy:
        """Make a taxonomy of ``{child: parent}``, ``{child: [parents]}`` or ``{root: None}``.

        Raises
        ------
        InputError
            If a name is empty or no text, its own parent, or in a cycle; or if there are more
            than ``MAX_PAIRS`` pairs of a name and its ancestor.
        """
        links = (
            (child, parent, at(source, shown(child)))
            for child, given in parents.items()
            for parent in (given if isinstance(given, (list, tuple)) else [given])
            or [None]
        )
        return Taxonomy.from_links(links, source)

    @staticmethod
    def from_links(links: Links, source: str) -> Taxonomy:
        """Make a taxonomy of (child, parent, place) triples; places are for messages.

        Raises
        ------
        InputError
            As ``from_parents``.
        """
        place: dict[str, int] = {}
        ends: tuple[list[int], list[int]] = [], []
        for child_name, parent_name, where in links:
            for name in (
                (child_name,) if parent_name is None else (child_name, parent_name)
            ):
                as_text(name, "a name", where)
            if child_name == parent_name:
                raise InputError("own-parent", where, value=child_name)
            code = place.setdefault(child_name, len(place))
            if parent_name is not None:
                ends[0].append(code)
                ends[1].append(place.setdefault(parent_name, len(place)))
        if not place:
            remedy = "check how it was written"
            raise InputError("nothing-given", source, what="names", remedy=remedy)
        names = tuple(place)
        keys = np.array(ends[0], np.int64) * len(names) + np.array(ends[1], np.int64)
        child, parent = np.divmod(np.unique(keys), len(names))
        ordered = _generations(child, parent, names, source)
        indptr, ancestors, distances = _closure(ordered, child, parent, source)
        roots = ordered[0]
        texts = [
            f"{names[c]}\n{names[p]}" for c, p in np.stack([child, parent], 1).tolist()
        ]
        texts += [names[code] for code in roots.tolist()]
        at_root, height = np.isin(ancestors, roots), np.zeros(len(names), np.int64)
        above_ptr, above = _rows_of(child, parent, len(names))
        for generation in reversed(ordered[1:]):
            rows, flat = ragged.take_rows(above_ptr, generation)
            np.maximum.at(
                height, above[flat], height[generation][ragged.row_numbers(rows)] + 1
            )
        return Taxonomy(
            names=names,
            lookup=place,
            indptr=indptr,
            ancestors=ancestors,
            distances=distances,
            depth=np.minimum.reduceat(
                np.where(at_root, distances, len(names)), indptr[:-1]
            ),
            height=height,
            roots=roots,
            identity=f"{len(names)}@{int(hash_strings(texts).sum(dtype=np.uint64)):016x}",
        )

    @property
    def root(self) -> int | None:
        """The name that all others descend from; None where it is implied."""
        return int(self.roots[0]) if len(self.roots) == 1 and len(self) > 1 else None

    def find(self, term: str) -> int | None:
        """Find the position of a term; None where the taxonomy does not have it."""
        found = self.lookup.get(term)
        if found is None and self.lemmas:
            found = self.lookup.get(term.lower().replace(" ", "_"))
        return found

    def normalized(self, clean: Callable[[str], Terms]) -> Taxonomy:
        """Look up terms as a label normalisation leaves them.

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
                    both = [self.names[other], self.names[code]]
                    raise InputError("merged-names", names=both, term=term)
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
        found = (
            next((code for term in terms if (code := self.find(term)) is not None), -1)
            for terms in labels
        )
        codes = np.fromiter(found, np.int64, len(labels))
        outside = codes < 0
        row_ptr, flat = ragged.take_rows(self.indptr, codes[~outside])
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
            indptr=ragged.offsets(widths),
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
    r"""Make a taxonomy of what a user may give.

    Parameters
    ----------
    value : Taxonomy, mapping, iterable of pairs, array of shape (links, 2), frame, or path
        ``{child: parent(s)}``, (child, parent) pairs, or a table with such columns. A path is that
        of JSON ``{child: parent}``, ``{child: [parents]}`` or ``[[child, parent]]``, or of CSV or
        TSV with the columns "child" and "parent", a link a row, where a root may have an empty
        parent and blanks are part of a name; or it is "wordnet" for that of nltk, and
        "wordnet:FOLDER" for the folder of its data.noun.
    options : ReadOptions
        Of a path the limits and the delimiter of CSV; the format is that of the extension.

    Raises
    ------
    InputError
        If it is none of these, cannot be read or is no taxonomy; names the line or the name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "taxonomy.csv")
    >>> _ = path.write_text("child,parent\ncat,animal\n")
    >>> as_taxonomy(path).names
    ('cat', 'animal')
    """
    if isinstance(value, Taxonomy):
        return value
    if isinstance(value, str) and value.partition(":")[0] == "wordnet":
        return read_wordnet(
            value.partition(":")[2] or None, max_bytes=options.max_bytes
        )
    options = options.beside() if isinstance(value, (str, os.PathLike)) else options
    with opened(value, options) as data:
        source = "taxonomy"
        if isinstance(data, Source):
            source, kinds = data.name, ("json", "csv", "tsv")
            if format_among(data, options, "a taxonomy is", kinds) == "json":
                data = data.parsed(parse_source)
        if isinstance(data, Mapping):
            return Taxonomy.from_parents(data, source)
        found = read_table(data, LINKS, options, source)
    links = list(
        zip(
            found.columns.get("child", ()), found.columns.get("parent", ()), strict=True
        )
    )
    known: dict[str, str] = {}
    for row, link in enumerate(links if found.names else ()):
        # cells are kept exactly, as those of labels are: "a, b" would part a name from itself
        for end in link:
            if (
                isinstance(end, str)
                and (other := known.setdefault(end.strip(), end)) != end
            ):
                raise InputError(
                    "differ-by-blanks", found.where(row), names=[other, end]
                )
    places = (
        # in a table with a header, the cell of a root is empty
        (
            child,
            None if found.names and parent in ("", None) else parent,
            found.where(row),
        )
        for row, (child, parent) in enumerate(links)
    )
    return replace(Taxonomy.from_links(places, found.source), notes=found.notes)


def read_wordnet(
    folder: str | os.PathLike[str] | None = None, max_bytes: int = DEFAULTS.max_bytes
) -> Taxonomy:
    """Read WordNet's noun synsets.

    Parameters
    ----------
    folder : path, optional
        Where WordNet's files data.noun and index.noun are; where nltk keeps them, otherwise.
    max_bytes : int
        The most bytes of a file.

    Raises
    ------
    InputError
        If the files are not there, or cannot be understood.
    MissingDependencyError
        If nltk is needed and not installed.
    """
    index, data = (
        _file(name, folder, max_bytes) for name in ("index.noun", "data.noun")
    )
    senses: dict[str, list[str]] = dict(_lines(index, _index_entry))
    names: dict[str, str] = {}  # by offset
    above: dict[str, list[str]] = {}
    for offset, word, hypernyms in _lines(data, _data_entry):
        known = senses.get(word, [])
        if offset not in known:
            why = f"index.noun lacks {word!r} at {offset}"
            raise InputError("not-wordnet", data.name, why=why)
        names[offset], above[offset] = (
            f"{word}.n.{known.index(offset) + 1:02}",
            hypernyms,
        )
    if (
        lost := {o for every in (*senses.values(), *above.values()) for o in every}
        - names.keys()
    ):
        raise InputError(
            "not-wordnet", data.name, why=f"there is no synset at {min(lost)}"
        )
    links = [
        (names[offset], names[target] if target else None, data.name)
        for offset, hypernyms in above.items()
        for target in hypernyms or [""]
    ]
    made = Taxonomy.from_links(links, data.name)
    lookup = dict(made.lookup)
    for lemma, found in senses.items():
        lookup.setdefault(lemma, made.lookup[names[found[0]]])
    return replace(
        made, lookup=lookup, identity=f"wordnet:{made.identity}", lemmas=True
    )


def _file(name: str, folder: str | os.PathLike[str] | None, max_bytes: int) -> Source:
    if folder is not None:
        return load(Path(folder) / name, max_bytes)
    nltk = require("nltk.data", "finding WordNet", extra="wordnet")
    try:
        pointer = nltk.find(f"corpora/wordnet/{name}")
    except LookupError:
        instead = ", or write wordnet:FOLDER with the folder of WordNet's data.noun"
        raise InputError("no-wordnet", instead=instead) from None
    try:
        with pointer.open() as stream:
            return Source(f"nltk's {name}", stream.read(), None)
    except OSError as error:
        raise InputError("unreadable", f"nltk's {name}", why=error) from None


def _lines(source: Source, read: Callable[[str], Any]) -> Iterator[Any]:
    for number, line in enumerate(source.text.splitlines(), 1):
        if line and not line.startswith("  "):  # the licence is indented
            try:
                yield read(line)
            except (ValueError, IndexError):
                where = at(source.name, f"line {number}")
                raise InputError(
                    "not-wordnet", where, why="the line has another form"
                ) from None


def _index_entry(line: str) -> tuple[str, list[str]]:
    """Read a lemma, and the offsets of its synsets by rank."""
    parts = line.split()
    senses = int(parts[2])
    found = parts[-senses:]
    if senses < 1 or not all(map(str.isdecimal, found)):
        raise ValueError(line)
    return parts[0], found


def _data_entry(line: str) -> tuple[str, str, list[str]]:
    """Read the offset of a synset, its first word, and the offsets of its hypernyms."""
    parts = line.partition(" | ")[0].split()
    end = 4 + 2 * int(parts[3], 16)
    pointers = parts[end + 1 : end + 1 + 4 * int(parts[end])]
    above = [
        target
        for symbol, target, kind in zip(
            pointers[::4], pointers[1::4], pointers[2::4], strict=True
        )
        if symbol in ("@", "@i") and kind == "n"
    ]
    return parts[0], parts[4].lower(), above
