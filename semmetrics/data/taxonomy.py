"""Taxonomies: which label is a kind of which other, as links from children to parents.

Conventions
-----------
A name may have several parents, so a taxonomy is a directed graph without cycles. Each name is an
ancestor of itself, at distance 0. The distance of another ancestor is the smallest number of links
up to it. The depth of a name is its distance to the nearest name without parents. Its height is the
largest number of links down to a name without children.

The root is the only name without parents. If several names have no parents, an implied root
without a name is above them.

A label is placed at the first of its terms that is in the taxonomy. In WordNet a term is looked up
as a lemma, in lower case and with ``_`` for spaces, and stands for the first of its noun senses. A
name such as ``dog.n.01`` is looked up as that synset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.hashing import by_value, hash_strings
from semmetrics.core.ragged import Bools, Codes, Ints
from semmetrics.data.ancestors import (
    find_ancestors,
    find_depths,
    find_generations,
    find_heights,
)
from semmetrics.data.lists import Terms
from semmetrics.errors import InputError, format_place
from semmetrics.messages import shown
from semmetrics.schema import as_text

Links: TypeAlias = "Iterable[tuple[Any, Any, str]]"
"""The child, the parent (None for a root), and the place of each link for messages."""


@dataclass(frozen=True, eq=False)
class PlacedLabels:
    """The nodes of a class list in a taxonomy, and their ancestors.

    Nodes are numbered from 0. Only ancestors of a class have a number.

    Attributes
    ----------
    indptr : int array, shape (classes + 1,)
    nodes, distances : int32 arrays, shape (pairs,)
        The ancestors of each class, itself included, and their distances.
    depth : int array, shape (classes,)
    height : int array, shape (nodes,)
    outside : bool array, shape (classes,)
        Whether each class is missing from the taxonomy. Each of these classes is a root of its own.
    root : int
        The node of the root. -1 if it is implied, or is not an ancestor of any class.
    height_of_implied_root : int
        The height that an implied root has or would have.
    height_of_root : int
        The largest number of links down from the root, implied or not.
    """

    indptr: Ints
    nodes: Codes
    distances: Codes
    depth: Ints
    height: Ints
    outside: Bools
    root: int
    height_of_implied_root: int
    height_of_root: int

    @property
    def without_root(self) -> PlacedLabels:
        """The same nodes without the root among the ancestors."""
        if self.root < 0:
            return self
        is_below = self.nodes != self.root
        owners = ragged.row_numbers(self.indptr)[is_below]
        widths = np.bincount(owners, minlength=len(self.outside))
        return replace(
            self,
            indptr=ragged.offsets(widths),
            nodes=self.nodes[is_below],
            distances=self.distances[is_below],
        )


@by_value()
@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Names and their ancestors.

    Attributes
    ----------
    names : tuple of str
        In the order of the input.
    lookup : mapping from term to position in ``names``
    indptr : int array, shape (names + 1,)
    ancestors, distances : int32 arrays, shape (pairs,)
        The ancestors of each name, itself included, and the smallest number of links up to them.
    depth, height : int arrays, shape (names,)
    roots : int array
        The names without parents.
    identity : str
        For signatures: the number of names, and a hash of the links that ignores their order.
    lemmas : bool
        Whether terms are looked up as WordNet's lemmas.
    notes : sequence
        Notes on the file, such as columns that are not used.

    Examples
    --------
    >>> kinds = {"cat": ["feline", "pet"], "feline": "animal", "pet": "animal"}
    >>> taxonomy = Taxonomy.from_parents(kinds)
    >>> taxonomy.names[0], taxonomy.ancestors[:4].tolist(), taxonomy.distances[:4].tolist()
    ('cat', [0, 1, 2, 3], [0, 1, 1, 2])
    >>> Taxonomy.from_parents({"cat": "dog", "dog": "cat"})
    Traceback (most recent call last):
    semmetrics.errors.InputError: taxonomy: the links form a cycle: 'cat' -> 'dog' ->
    'cat'. Remove one of its links.
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
        """Return the taxonomy of ``{child: parent}``, ``{child: [parents]}`` or ``{root: None}``.

        Raises
        ------
        InputError
            If a name is empty or not a string, is its own parent, or is in a cycle, or if there
            are more than ``MAX_PAIRS`` pairs of a name and its ancestor.
        """
        return Taxonomy.from_links(_links_of_parents(parents, source), source)

    @staticmethod
    def from_links(links: Links, source: str) -> Taxonomy:
        """Return the taxonomy of (child, parent, place) triples. Places are for messages.

        Raises
        ------
        InputError
            As ``from_parents``.
        """
        lookup, child, parent = _number_links(links)
        if not lookup:
            remedy = "check the program that wrote it"
            raise InputError("nothing-given", source, what="names", remedy=remedy)
        names = tuple(lookup)
        generations = find_generations(child, parent, names, source)
        closure = find_ancestors(generations, child, parent, source)
        roots = generations[0]
        return Taxonomy(
            names=names,
            lookup=lookup,
            indptr=closure.indptr,
            ancestors=closure.ancestors,
            distances=closure.distances,
            depth=find_depths(closure, roots),
            height=find_heights(generations, child, parent, len(names)),
            roots=roots,
            identity=_identify(names, child, parent, roots),
        )

    @property
    def root(self) -> int | None:
        """The name from which all others descend, or None if it is implied."""
        if len(self.roots) == 1 and len(self) > 1:
            return int(self.roots[0])
        return None

    def find(self, term: str) -> int | None:
        """Return the position of a term, or None if it is not in the taxonomy."""
        position = self.lookup.get(term)
        if position is None and self.lemmas:
            lemma = term.lower().replace(" ", "_")
            position = self.lookup.get(lemma)
        return position

    def normalized(self, clean: Callable[[str], Terms]) -> Taxonomy:
        """Return a taxonomy that looks up normalised terms.

        Parameters
        ----------
        clean : callable
            Returns the terms of a label after its normalisation.

        Raises
        ------
        InputError
            If two names become equal. In WordNet, the first of them gets the term.
        """
        lookup: dict[str, int] = {}
        for name, position in self.lookup.items():
            for term in filter(None, clean(name)):
                first = lookup.setdefault(term, position)
                if first != position and not self.lemmas:
                    names = [self.names[first], self.names[position]]
                    raise InputError("merged-names", names=names, term=term)
        return replace(self, lookup=lookup)

    def place(self, labels: Sequence[Terms]) -> PlacedLabels:
        """Place labels, each at its first term that is in the taxonomy.

        Examples
        --------
        >>> flat = Taxonomy.from_parents({"cat": "animal", "dog": "animal"})
        >>> placed = flat.place([("kitty", "cat"), ("car",)])
        >>> placed.indptr.tolist(), placed.distances.tolist(), placed.outside.tolist()
        ([0, 2, 3], [0, 1, 0], [False, True])
        """
        positions = np.fromiter(map(self._find_first, labels), np.int64, len(labels))
        is_inside = positions >= 0
        n_outside = int((~is_inside).sum())
        inside_positions = positions[is_inside]
        inside_indptr, pairs = ragged.take_rows(self.indptr, inside_positions)
        # Number the ancestors that occur. Labels outside the taxonomy get the next numbers.
        ancestors, inside_nodes = np.unique(self.ancestors[pairs], return_inverse=True)

        # A label outside the taxonomy has one pair: itself, at distance 0.
        widths = np.ones(len(positions), np.int64)
        widths[is_inside] = np.diff(inside_indptr)
        is_inside_pair = np.repeat(is_inside, widths)
        nodes = np.empty(len(is_inside_pair), np.int32)
        nodes[is_inside_pair] = inside_nodes
        nodes[~is_inside_pair] = len(ancestors) + np.arange(n_outside)
        distances = np.zeros(len(is_inside_pair), np.int32)
        distances[is_inside_pair] = self.distances[pairs]

        depth = np.zeros(len(positions), np.int64)
        depth[is_inside] = self.depth[inside_positions]
        height_outside = np.zeros(n_outside, np.int64)
        height_below_root = int(self.height[self.roots].max(initial=0))
        has_implied_root = len(self.roots) > 1
        return PlacedLabels(
            indptr=ragged.offsets(widths),
            nodes=nodes,
            distances=distances,
            depth=depth,
            height=np.concatenate([self.height[ancestors], height_outside]),
            outside=~is_inside,
            root=self._find_root_among(ancestors),
            height_of_implied_root=height_below_root + 1,
            height_of_root=height_below_root + int(has_implied_root),
        )

    def _find_first(self, terms: Terms) -> int:
        """Return the position of the first term that is in the taxonomy, or -1."""
        for term in terms:
            position = self.find(term)
            if position is not None:
                return position
        return -1

    def _find_root_among(self, positions: Codes) -> int:
        """Return the index of the root in an array of positions, or -1 if it is not in it."""
        if self.root is None:
            return -1
        indices = np.flatnonzero(positions == self.root)
        return int(indices[0]) if len(indices) else -1


def _links_of_parents(
    parents: Mapping[str, str | Sequence[str] | None], source: str
) -> Iterator[tuple[Any, Any, str]]:
    """Yield the links of a mapping from each child to its parent or parents."""
    for child, value in parents.items():
        child_parents: Sequence[Any] = [value]
        if isinstance(value, (list, tuple)):
            child_parents = value or [None]  # an empty list makes a root
        for parent in child_parents:
            yield child, parent, format_place(source, shown(child))


def _number_links(links: Links) -> tuple[dict[str, int], Ints, Ints]:
    """Number the names in order of first appearance.

    Returns
    -------
    numbers : dict from name to number
    child, parent : int arrays
        The ends of each link. Repeated links are left out.
    """
    numbers: dict[str, int] = {}
    children: list[int] = []
    parents: list[int] = []
    for child_name, parent_name, where in links:
        as_text(child_name, "a name", where)
        if parent_name is not None:
            as_text(parent_name, "a name", where)
        if child_name == parent_name:
            raise InputError("own-parent", where, value=child_name)
        child_number = numbers.setdefault(child_name, len(numbers))
        if parent_name is not None:
            children.append(child_number)
            parents.append(numbers.setdefault(parent_name, len(numbers)))
    n_names = max(len(numbers), 1)
    keys = np.array(children, np.int64) * n_names + np.array(parents, np.int64)
    child, parent = np.divmod(np.unique(keys), n_names)
    return numbers, child, parent


def _identify(names: Sequence[str], child: Ints, parent: Ints, roots: Ints) -> str:
    """Return the number of names, and a hash of the links that ignores their order."""
    texts = []
    for child_number, parent_number in zip(
        child.tolist(), parent.tolist(), strict=True
    ):
        texts.append(f"{names[child_number]}\n{names[parent_number]}")
    texts.extend(names[number] for number in roots.tolist())
    digest = int(hash_strings(texts).sum(dtype=np.uint64))
    return f"{len(names)}@{digest:016x}"
