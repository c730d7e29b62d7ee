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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.hashing import hash_strings
from semmetrics.core.ragged import Bools, Codes, Ints, offsets, row_numbers, take_rows
from semmetrics.data.lists import Terms
from semmetrics.data.taxonomy_graph import closure, generations, heights
from semmetrics.errors import InputError, at
from semmetrics.frozen import by_value, dataclass
from semmetrics.messages import brief, misfit, shown

__all__ = ["MAX_PAIRS", "Links", "Placed", "Taxonomy"]

# Child, parent (None for a root), and the place of the link for messages.
Links: TypeAlias = "Iterable[tuple[Any, Any, str]]"

MAX_PAIRS = 1 << 25  # (name, ancestor) pairs, 8 bytes each


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
    notes : sequence of str
        What there is to say of its file, such as columns that are not used.

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
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.names)

    @staticmethod
    def from_parents(
        parents: Mapping[str, str | Sequence[str] | None],
        *,
        source: str = "taxonomy",
        max_pairs: int = MAX_PAIRS,
    ) -> Taxonomy:
        """Make a taxonomy of ``{child: parent}``, ``{child: [parents]}`` or ``{root: None}``.

        Raises
        ------
        InputError
            If a name is empty or no text, its own parent, or in a cycle; or if there are more
            than ``max_pairs`` pairs of a name and its ancestor.
        """
        return Taxonomy.from_links(
            _links_of_parents(parents, source), source=source, max_pairs=max_pairs
        )

    @staticmethod
    def from_edges(
        edges: Iterable[Sequence[str | None]],
        *,
        source: str = "taxonomy",
        max_pairs: int = MAX_PAIRS,
    ) -> Taxonomy:
        """Make a taxonomy of (child, parent) pairs; the parent of a root may be given as None.

        Raises
        ------
        InputError
            As ``from_parents``.
        """
        return Taxonomy.from_links(
            _links_of_pairs(edges, source), source=source, max_pairs=max_pairs
        )

    @staticmethod
    def from_links(links: Links, *, source: str, max_pairs: int = MAX_PAIRS) -> Taxonomy:
        """Make a taxonomy of (child, parent, place) triples; places are for messages.

        Raises
        ------
        InputError
            As ``from_parents``.
        """
        place: dict[str, int] = {}
        ends: tuple[list[int], list[int]] = [], []
        for child_name, parent_name in _checked(links):
            code = place.setdefault(child_name, len(place))
            if parent_name is not None:
                ends[0].append(code)
                ends[1].append(place.setdefault(parent_name, len(place)))
        if not place:
            raise InputError("there are no names", where=source, remedy="check how it was written")
        names = tuple(place)
        keys = np.array(ends[0], np.int64) * len(names) + np.array(ends[1], np.int64)
        child, parent = np.divmod(np.unique(keys), len(names))
        ordered = generations(child, parent, names, source, max_pairs)
        indptr, ancestors, distances = closure(ordered, child, parent, source, max_pairs)
        roots = ordered[0]
        at_root = np.isin(ancestors, roots)
        return Taxonomy(
            names=names,
            lookup=place,
            indptr=indptr,
            ancestors=ancestors,
            distances=distances,
            depth=np.minimum.reduceat(np.where(at_root, distances, len(names)), indptr[:-1]),
            height=heights(ordered, child, parent, len(names)),
            roots=roots,
            identity=_identity(names, child, parent, roots),
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

    def _first(self, terms: Terms) -> int:
        return next((code for term in terms if (code := self.find(term)) is not None), -1)

    def ancestors_of(self, term: str) -> dict[str, int]:
        """Return the ancestors of a term and their distances, the nearest first.

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


def _identity(names: tuple[str, ...], child: Ints, parent: Ints, roots: Ints) -> str:
    texts = [
        f"{names[c]}\n{names[p]}" for c, p in zip(child.tolist(), parent.tolist(), strict=True)
    ]
    texts += [names[code] for code in roots.tolist()]
    return f"{len(names)}@{int(hash_strings(texts).sum(dtype=np.uint64)):016x}"


def _links_of_parents(parents: Mapping[str, Any], source: str) -> Links:
    """Links of ``{child: parent}``, ``{child: [parents]}`` or ``{root: None}``."""
    for child, given in parents.items():
        where = at(source, shown(child))
        several = given if isinstance(given, (list, tuple)) else [given]
        for parent in several or [None]:
            if parent is None and given is not None and several:
                raise InputError("a parent is null", where=where, remedy="leave it out")
            yield child, parent, where


def _links_of_pairs(edges: Iterable[Any], source: str) -> Links:
    """Links of (child, parent) pairs."""
    for number, edge in enumerate(edges):
        where = at(source, f"link {number} (from 0)")
        if not isinstance(edge, (list, tuple)) or len(edge) != 2:
            raise InputError(
                f"{brief(edge)} is no link", where=where, remedy='write ["cat", "animal"]'
            )
        yield edge[0], edge[1], where


def _checked(links: Links) -> Iterator[tuple[str, str | None]]:
    """Links whose ends are names, and not the same one."""
    for child, parent, where in links:
        for name in (child,) if parent is None else (child, parent):
            if not isinstance(name, str):
                raise InputError(
                    misfit(name, "a name"),
                    where=where,
                    remedy="write names as text",
                )
            if not name.strip():
                raise InputError("a name is empty", where=where, remedy="name it, or remove it")
        if child == parent:
            raise InputError(f"{child!r} is its own parent", where=where, remedy="remove the link")
        yield child, parent
