"""What is ranked by name: the rows and columns of a run, and their relation to positives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints, offsets, row_numbers
from semmetrics.data.join import join_rows
from semmetrics.data.lists import Ids, Lists, take_ids
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import RankedLists, Similarities, check_repeats
from semmetrics.errors import FROM_0, InputError
from semmetrics.frozen import dataclass
from semmetrics.kinds.retrieval.reading import Embeddings, check_size
from semmetrics.messages import listing, pluralize

__all__ = ["Relation", "Run", "Sides", "by_name", "check_transposed", "name_sides"]

Run = Lists | Matrix | Embeddings


@dataclass(frozen=True, eq=False)
class Sides:
    """What is ranked: the scores, and the names of rows and columns; ranges have none.

    ``listed`` says that nothing but lists names the gallery.
    """

    scores: Any
    rows: Ids
    columns: Ids
    source: str
    listed: bool = False

    def turned(self) -> Sides:
        """Return the columns as queries."""
        if isinstance(self.scores, RankedLists):
            raise InputError(
                "ranked lists hold one direction",
                where=self.source,
                remedy="leave direction= (--direction) out, or give a matrix of similarities, or "
                "embeddings",
            )
        return Sides(self.scores.turned(), self.columns, self.rows, self.source)


def name_sides(run: Run, positives: Lists, options: Mapping[str, Any]) -> Sides:
    """Name the rows and columns of a run."""
    given = {name: options[name] for name in ("queries", "gallery")}
    if isinstance(run, Lists):
        return _named_lists(run, positives, given)
    own: dict[str, Any] = {"queries": None, "gallery": None}
    if isinstance(run, Matrix):
        size = run.values.shape[1]
        scores: Any = Similarities(run.values)
        if run.sparse:
            scores = RankedLists.of(run.ranked().side, size)
        own["queries"] = None if isinstance(run.ids, range) else list(map(str, run.ids))
        own["gallery"] = list(map(str, run.vocabulary)) if run.named else None
    else:
        scores = run.scores
    shape, names = scores.shape, []
    for place, (option, what) in enumerate((("queries", "row"), ("gallery", "column"))):
        if given[option] is not None and own[option] not in (None, given[option]):
            raise InputError(
                f"the {what}s have other names than {option}= gives",
                where=run.source,
                remedy=f"leave {option}= (--{option}) out, or the names in the file",
            )
        names.append(given[option] or own[option] or range(shape[place]))
        check_size(names[place], shape[place], option, what, shape[1 - place])
    return Sides(scores, names[0], names[1], run.source)


def _named_lists(run: Lists, positives: Lists, given: Mapping[str, Any]) -> Sides:
    """Name what ranked lists hold; the gallery is what they and the positives name, or given."""
    check_repeats(run)
    rows: Ids = run.ids
    if given["queries"] is not None:
        rows = _listed_queries(run, given["queries"])
    names = [str(name) for name in run.vocabulary]
    listed = given["gallery"] is None
    columns = sorted({*names, *map(str, positives.vocabulary)}) if listed else given["gallery"]
    place = {name: code for code, name in enumerate(columns)}
    lost = [name for name in names if name not in place]
    if lost:
        raise InputError(
            f"{pluralize(len(lost), 'candidate', 'are')} not in the gallery: {listing(lost)}",
            where=run.source,
            remedy="add them to gallery= (--gallery), or leave that out",
        )
    codes = np.fromiter((place[name] for name in names), np.int32, len(names))
    side = replace(run.side, codes=codes[run.side.codes])
    return Sides(RankedLists.of(side, len(columns)), rows, columns, run.source, listed)


def _listed_queries(run: Lists, queries: Sequence[str]) -> Ids:
    """Return the ids of lists: the queries in their order, where lists have none."""
    if isinstance(run.ids, range):
        check_size(queries, len(run), "queries", "list", -1)
        return queries
    known = set(queries)
    lost = [str(name) for name in run.ids if str(name) not in known]
    if lost:
        raise InputError(
            f"{pluralize(len(lost), 'list')} of no query: {listing(lost)}",
            where=run.source,
            remedy="add them to queries= (--queries), or leave that out",
        )
    return run.ids


def by_name(positives: Lists, sides: Sides, what: str) -> Lists:
    """Return positives whose ids are those of the rows, where one side alone has names.

    Raises
    ------
    InputError
        If ids are no positions of rows that have no names.
    """
    if isinstance(positives.ids, range) == isinstance(sides.rows, range):
        return positives
    if isinstance(positives.ids, range):  # the first list is that of the first row
        if len(positives) != len(sides.rows):
            raise InputError(
                f"{pluralize(len(positives), 'list')} of positives for "
                f"{pluralize(len(sides.rows), what)}",
                where=positives.source,
                remedy="give one list a query, in their order, or lists by id",
            )
        return replace(positives, ids=list(map(str, sides.rows)))
    numbers = [_position(name) for name in positives.ids]
    if None in numbers or isinstance(sides.scores, RankedLists):
        name = positives.ids[numbers.index(None)] if None in numbers else positives.ids[0]
        option = "queries= (--queries)" if what == "row" else "gallery= (--gallery)"
        raise InputError(
            f"the positives are of {str(name)!r} and others, and the {what}s have no names",
            where=positives.source,
            remedy=f"name them: {option}",
        )
    return positives


def _position(name: Any) -> int | None:
    text = str(name)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else None


@dataclass(frozen=True, eq=False)
class Relation:
    """Queries with the place of each in the rows (-1 if it has none), and their positives.

    ``indptr`` and ``codes`` have the positives, by column; beyond the columns those of the names
    ``outside``, which are not in the gallery. ``counts`` says what was left out.
    """

    ids: Ids
    rows: Ints
    indptr: Ints
    codes: Ints
    counts: Mapping[str, int]
    outside: Sequence[str] = ()

    @staticmethod
    def of(positives: Lists, sides: Sides, missing: str) -> Relation:
        """Join positives with the rows."""
        ids = sides.rows
        if isinstance(ids, range) and not isinstance(positives.ids, range):
            ids = list(map(str, ids))
        if isinstance(positives.ids, range) and len(positives) != len(ids):
            _refuse_length(positives, sides)
        place, outside = _columns_of(positives, sides, missing)  # tells more of a turned matrix
        joined, rows = join_rows(ids, positives, source=sides.source, missing=missing)
        codes = place[joined.ref.codes]
        lost = int((codes >= len(sides.columns)).sum())
        counts = {**joined.counts, "positives_outside": lost}
        return Relation(joined.ids, rows, joined.ref.indptr, codes, counts, outside)

    def turned(self, sides: Sides, missing: str) -> Relation:
        """Return the columns as queries, with the rows that have them as positives.

        Positives that have no row are outside the gallery.
        """
        lost = np.flatnonzero(self.rows < 0)
        gallery = self.rows.copy()
        gallery[lost] = len(sides.columns) + np.arange(len(lost))
        rows = gallery[row_numbers(self.indptr)]
        there = self.codes < len(sides.rows)  # others are no queries
        columns, rows = self.codes[there], rows[there]
        order = np.lexsort((rows, columns))
        number = np.bincount(columns, minlength=len(sides.rows))
        every = np.arange(len(sides.rows))
        counts: dict[str, int] = {}
        if missing == "skip":
            every = np.flatnonzero(number)
            counts = {"missing_reference": len(number) - len(every)}
        codes = rows[order]
        counts["positives_outside"] = int((codes >= len(sides.columns)).sum())
        outside = [str(self.ids[place]) for place in lost.tolist()]
        ids = sides.rows if len(every) == len(number) else take_ids(sides.rows, every)
        return Relation(ids, every, offsets(number[every]), codes, counts, outside)


def _refuse_length(positives: Lists, sides: Sides) -> None:
    turned = len(positives) == len(sides.columns)
    remedy = "give one list a query, in the order of the rows"
    if turned:
        remedy = "the matrix seems to be transposed: give its transpose, or the positives of rows"
    raise InputError(
        f"{pluralize(len(positives), 'list')} of positives for {pluralize(len(sides.rows), 'row')}",
        where=positives.source,
        remedy=remedy,
    )


def _columns_of(positives: Lists, sides: Sides, missing: str) -> tuple[Ints, list[str]]:
    """Return the column of each name of positives, and the names outside the gallery.

    These have numbers behind the columns.

    Raises
    ------
    InputError
        If there are such names, and what is missing is an error.
    """
    names = [str(name) for name in positives.vocabulary]
    size = len(sides.columns)
    if isinstance(sides.columns, range):
        found = [_position(name) for name in names]
        place = [-1 if code is None or code >= size else code for code in found]
    else:
        known = {str(name): code for code, name in enumerate(sides.columns)}
        place = [known.get(name, -1) for name in names]
    codes = np.fromiter(place, np.int64, len(names))
    occurring = np.unique(positives.side.codes)
    lost = [names[code] for code in occurring.tolist() if codes[code] < 0]
    if not lost:
        return codes, []
    if missing != "error":
        codes[occurring[codes[occurring] < 0]] = size + np.arange(len(lost))
        return codes, lost
    remedy = "correct them, or say missing='skip' (--missing skip): they are then never found"
    if isinstance(sides.columns, range):
        remedy = f"name the gallery with gallery= (--gallery), or {remedy}"
        others = [_position(name) for name in names]
        fits = all(one is not None and one < len(sides.rows) for one in others)
        if fits and len(positives) <= size:
            remedy = f"is the matrix transposed? {remedy}"
    base = FROM_0 if isinstance(sides.columns, range) else ""
    raise InputError(
        f"{pluralize(len(lost), 'positive', 'are')} not in the gallery of {size:,}: "
        f"{listing(lost)}{base}",
        where=positives.source,
        remedy=remedy,
    )


def check_transposed(sides: Sides, positives: Lists) -> None:
    """Refuse a matrix whose rows have the ids of candidates, and its columns those of queries."""
    if isinstance(sides.rows, range) or isinstance(sides.columns, range):
        return
    if isinstance(sides.scores, RankedLists) or isinstance(positives.ids, range):
        return
    rows, columns = set(map(str, sides.rows)), set(map(str, sides.columns))
    mine, theirs = set(map(str, positives.ids)), set(map(str, positives.vocabulary))
    straight = mine & rows or theirs & columns
    if not straight and mine <= columns and theirs <= rows:
        raise InputError(
            "the positives are those of the columns, by rows",
            where=positives.source,
            remedy="exchange queries= (--queries) and gallery= (--gallery) and give the transpose, "
            "or give the positives of each row",
        )
