"""Observations on the data, from which the notes to the user are made.

Most notes depend on a share of all items, such as how many queries rank their positives last.
Therefore blocks and batches only collect observations, which add up. `Kind.notes` turns the
observations of all items into notes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field


@dataclass(repr=False)
class Observations:
    """What was observed in some items.

    An observation has a code and details, such as the side or the measure that it is about. It is
    a count or a set of names. The observations of disjoint items are merged by adding their counts
    and uniting their sets.

    Attributes
    ----------
    counts : dict from (code, *details) to int
    names : dict from (code, *details) to frozenset of str
    requirements : dict from name to frozenset of str
        The identities of data that values depend on, such as document frequencies. All parts of
        the items must have the same identity.
    of_whole_data : set of str
        The codes of observations that are true only for all items together. They are dropped if
        the items come in parts.

    Examples
    --------
    >>> first = Observations()
    >>> first.count("near-threshold", 2, "SemF1")
    >>> second = Observations()
    >>> second.count("near-threshold", 3, "SemF1")
    >>> first.merge(second)
    >>> first.number("near-threshold", "SemF1"), first.number("undecided")
    (5, 0)
    """

    counts: dict[tuple[Hashable, ...], int] = field(default_factory=dict)
    names: dict[tuple[Hashable, ...], frozenset[str]] = field(default_factory=dict)
    requirements: dict[str, frozenset[str]] = field(default_factory=dict)
    of_whole_data: set[str] = field(default_factory=set)

    def __repr__(self) -> str:
        n_counts = len(self.counts)
        n_names = len(self.names)
        return f"Observations({n_counts} counts, {n_names} sets of names)"

    @property
    def is_empty(self) -> bool:
        """Whether nothing was observed."""
        return not self.counts and not self.names and not self.requirements

    def count(self, code: str, n: int, *details: Hashable) -> None:
        """Add a count to those with the same code and details. A count of 0 is also stored."""
        key = (code, *details)
        self.counts[key] = self.counts.get(key, 0) + n

    def add_names(self, code: str, names: Iterable[str], *details: Hashable) -> None:
        """Add names to those with the same code and details."""
        key = (code, *details)
        self.names[key] = self.names.get(key, frozenset()) | frozenset(names)

    def require(self, name: str, identity: str) -> None:
        """Record the identity of data that values depend on."""
        identities = self.requirements.get(name, frozenset())
        self.requirements[name] = identities | {identity}

    def has(self, code: str, *details: Hashable) -> bool:
        """Return whether something was counted with this code and these details."""
        return (code, *details) in self.counts

    def number(self, code: str, *details: Hashable) -> int:
        """Return the count with this code and these details, or 0."""
        return self.counts.get((code, *details), 0)

    def names_of(self, code: str, *details: Hashable) -> frozenset[str]:
        """Return the names with this code and these details."""
        return self.names.get((code, *details), frozenset())

    def counts_of(self, code: str) -> dict[tuple[Hashable, ...], int]:
        """Return all counts with this code, by their details."""
        return {key[1:]: n for key, n in self.counts.items() if key[0] == code}

    def merge(self, other: Observations) -> None:
        """Add the observations of other items."""
        for key, n in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + n
        for key, names in other.names.items():
            self.names[key] = self.names.get(key, frozenset()) | names
        for name, identities in other.requirements.items():
            own_identities = self.requirements.get(name, frozenset())
            self.requirements[name] = own_identities | identities
        self.of_whole_data |= other.of_whole_data

    def copy(self) -> Observations:
        """Return the same observations, to which others can be added."""
        return Observations(
            dict(self.counts),
            dict(self.names),
            dict(self.requirements),
            set(self.of_whole_data),
        )

    def of_parts(self) -> Observations:
        """Return the observations that remain true if the items come in parts."""
        parts = self.copy()
        for key in self.counts:
            if key[0] in self.of_whole_data:
                del parts.counts[key]
        for key in self.names:
            if key[0] in self.of_whole_data:
                del parts.names[key]
        parts.of_whole_data.clear()
        return parts
