"""Retrieval: queries that rank a gallery, and the positives of each query.

This module reads and recognises them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from semmetrics.core.ragged import row_numbers
from semmetrics.data.coco_files import is_coco_captions, read_coco_captions
from semmetrics.data.form import Form
from semmetrics.data.inputs import as_data, open_input
from semmetrics.data.lists import InputContent, Lists, Side
from semmetrics.data.matrix import Matrix
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.data.samples import Sample
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.recognition import Certainty, Verdict
from semmetrics.messages import pluralize
from semmetrics.options import FORMATS

_NAMES = (
    "candidate",
    "candidates",
    "document",
    "documents",
    "doc",
    "docs",
    "doc_id",
    "docid",
    "docno",
    "corpus_id",
    "corpus-id",
    "gallery_id",
    "caption_id",
    "sentid",
    "sentids",
    "positive",
    "positives",
    "target",
    "targets",
    "retrieved",
    "ranking",
    "document_id",
    "pid",
    "passage",
    "passages",
    "passage_id",
)
_QUERIES = ("query", "query_id", "query-id", "queryid", "q_id", "topic", "topic_id")
_SCORES = ("similarity", "sim")
_GRADES = (
    "grade",
    "grades",
    "relevance",
    "rel",
    "label",
    "labels",
    "gain",
    "gains",
    "rating",
    "ratings",
    "relevant",
    "judgment",
    "judgments",
    "judgement",
    "judgements",
)
_VERDICTS = {
    "relevant",
    "irrelevant",
    "not relevant",
    "not_relevant",
    "not-relevant",
    "non-relevant",
    "nonrelevant",
    "non_relevant",
    "partially relevant",
    "highly relevant",
    "yes",
    "no",
    "y",
    "n",
    "positive",
    "negative",
    "correct",
    "incorrect",
    "match",
    "no match",
}
_RANK = "rank"
_OTHER_COLUMNS_OF_TREC = ("iteration", "iter", "q0")
_ID_SUFFIXES = ("id", "ids")
"""The last letters in the names of columns of ids."""

_BASE_FORM = Form(
    noun="candidate",
    columns=_NAMES,
    keys=_NAMES,
    formats=tuple(name for name, kinds in FORMATS.items() if "retrieval" in kinds),
    coco=partial(read_coco_captions, only_ids=True),
    is_coco=is_coco_captions,
    scored=True,
    ids=_QUERIES,
    first_id="qid",
    first_column="docno",
    integers_as_names=True,
)
FORM = replace(_BASE_FORM, scores=(*_SCORES, *_GRADES))
_FORMS = {
    "": FORM,
    "pred": replace(_BASE_FORM, scores=_SCORES, last_scores=_GRADES),
    "gt": replace(_BASE_FORM, scores=_SCORES, first_scores=_GRADES, allows_grades=True),
}
"""The forms of runs and judgements, by side. Runs have scores and judgements have grades."""


def as_candidates(
    data: Any, *, source: str = "input", options: ReadOptions | None = None
) -> Lists | Matrix:
    """Read a run, or the positives of queries, from a file or an object.

    Parameters
    ----------
    data : path, mapping, sequence, frame, array, tensor, sparse matrix, Arrow stream or Lists
        A path (str or PathLike) is read by its format. An array, or a list of rows of numbers, is
        a matrix of queries x gallery. A mapping from query has a list of candidates with the
        nearest first, or ``{candidate: number}``. COCO captions have the ids of the captions of
        each image. Integers are names.
    source : str
        The name of an object in messages. A path is called by its own name.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Lists or Matrix

    Raises
    ------
    InputError
        If the input is of another kind, or its content is wrong.

    Examples
    --------
    >>> as_candidates({"q1": [7, 12], "q2": [3]}).to_list()
    [['7', '12'], ['3']]
    >>> as_candidates([[0.5, 0.25], [0.0, 1.0]]).values.shape
    (2, 2)
    """
    options = options or DEFAULTS
    data = open_input(data, options)
    run = as_data(data, _FORMS[options.side], source=source, options=options)
    if isinstance(run, Lists):
        run = _Table(data, source, options).use_other_columns(run)
    if isinstance(run, Matrix):
        return _describe_matrix(run)
    _check_entries(run)
    return run


def _describe_matrix(matrix: Matrix) -> Matrix:
    """Return a matrix with a description of queries and candidates, not of items and classes."""
    n_rows, n_columns = matrix.values.shape
    shape = f"{pluralize(n_rows, 'query')} x {pluralize(n_columns, FORM.noun)}"
    title = matrix.title or f"{matrix.understood}, matrix"
    understood = f"{title}, {shape}, {matrix.values.dtype}"
    return replace(matrix, noun=FORM.noun, understood=understood, title=title)


def _check_entries(run: Lists) -> None:
    """Raise an error if an entry is several terms and not one candidate."""
    if not run.has_synonyms:
        return
    for code, entry in enumerate(run.vocabulary):
        if type(entry) is tuple:
            where = run.where(run.first_item(code))
            wanted = "the id of a candidate, or a pair of id and number"
            raise InputError("wrong-type", where, value=list(entry), wanted=wanted)


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Return how certain it is that data are retrieval. Only runs and judgements are recognised."""
    for sample in samples:
        if sample.noun == FORM.noun or sample.shape == "run":
            return Verdict(Certainty.CERTAIN)
    return Verdict(Certainty.NO)


# ---- ranks and grades in other columns ----------------------------------------------------------


class _Table:
    """A table that may have ranks or grades in columns that were not used when it was first read.

    Parameters
    ----------
    data : object
        An opened input, which can be read several times.
    source : str
        Its name in messages.
    options : ReadOptions
    """

    def __init__(self, data: Any, source: str, options: ReadOptions) -> None:
        self._data = data
        self._source = source
        self._options = options

    def use_other_columns(self, lists: Lists) -> Lists:
        """Order candidates by ranks, and recognise from the columns whether a table is a run.

        Parameters
        ----------
        lists : Lists
            The table as it was read first. Its notes name the columns that were not used.

        Raises
        ------
        InputError
            If there are neither scores nor ranks, and another column contains numbers or verdicts.
        """
        names: list[str] = []
        for note in lists.notes:
            names += _unused_columns(note)
        for name in names:
            if name.strip().casefold() == _RANK and self._options.side != "gt":
                lists = self._order_by_rank(lists, name)
                break
        if lists.side.scores is None:
            for name in names:
                if _may_have_numbers(name):
                    self._check_unused(lists, name)
        if not lists.content and self._options.column("score") is None:
            lists = replace(lists, content=_recognise_side(lists, names))
        return lists

    def _check_unused(self, lists: Lists, name: str) -> None:
        """Raise an error if a column that is not used contains numbers or verdicts."""
        side = self._options.side
        if self._read_numbers(name) is not None:
            flag = f"{side}_score_column" if side else "score_column"
            what = "their grades" if side == "gt" else "their scores"
            raise InputError(
                "unknown-numbers", lists.source, name=name, what=what, flag=flag
            )
        if side == "gt" and self._has_verdicts(name):
            raise InputError("verdicts", lists.source, name=name)

    def _read_numbers(self, name: str) -> Lists | None:
        """Read the table with the scores in a column, or None if it does not contain numbers."""
        form = _FORMS[self._options.side]
        options = replace(self._options, score_column=name)
        try:
            lists = as_data(self._data, form, source=self._source, options=options)
        except InputError:
            return None
        if not isinstance(lists, Lists) or lists.side.scores is None:
            return None
        return lists

    def _has_verdicts(self, name: str) -> bool:
        """Return whether a column has words for whether a candidate is relevant."""
        options = replace(self._options, candidate_column=name)
        try:
            lists = as_data(self._data, FORM, source=self._source, options=options)
        except InputError:
            return False
        if not isinstance(lists, Lists) or not lists.vocabulary:
            return False
        words = {str(word).strip().casefold() for word in lists.vocabulary}
        return words <= _VERDICTS

    def _order_by_rank(self, lists: Lists, name: str) -> Lists:
        """Order the candidates of a run by their ranks, with 1 first.

        If candidates have scores, these determine the order. A note then reports queries whose
        ranks contradict their scores.
        """
        ranked = self._read_numbers(name)
        if ranked is None or ranked.side.scores is None:
            return lists
        ranks = ranked.side.scores
        side = lists.side
        rows = row_numbers(side.indptr)
        order = np.lexsort((ranks, rows))
        if side.scores is not None:
            increases = np.diff(side.scores[order]) > 0
            n_contradicting = _count_rows_with_step(rows, increases)
            if not n_contradicting:
                return lists
            note = Fact("other-ranks", n_contradicting, values={"name": name})
            return replace(lists, notes=[*lists.notes, note])

        n_unsorted = _count_rows_with_step(rows, np.diff(ranks) < 0)
        notes = _without_column(lists.notes, name)
        column_names = {**lists.column_names, _RANK: name}
        if n_unsorted:
            notes.append(Fact("sorted-by-rank", n_unsorted, values={"name": name}))
            side = Side(side.indptr, side.codes[order])
        return replace(lists, side=side, notes=notes, column_names=column_names)


def _count_rows_with_step(rows: Any, is_step: Any) -> int:
    """Count the rows with a step between neighbours.

    Parameters
    ----------
    rows : int array, shape (n,)
        The row of each entry, ascending.
    is_step : bool array, shape (n - 1,)
        Whether there is a step from an entry to the next one. Steps between rows do not count.
    """
    is_same_row = rows[1:] == rows[:-1]
    return len(np.unique(rows[1:][is_same_row & is_step]))


def _unused_columns(note: Any) -> Sequence[str]:
    """Return the names of columns that a note reports as not used."""
    if getattr(note, "code", "") != "unused-columns":
        return ()
    return tuple(note.examples)


def _without_column(notes: Sequence[Any], name: str) -> list[Any]:
    """Return the notes without the report that a column is not used."""
    others = []
    for note in notes:
        names = _unused_columns(note)
        if name not in names:
            others.append(note)
            continue
        other_names = tuple(other for other in names if other != name)
        if other_names:
            others.append(replace(note, n=len(other_names), examples=other_names))
    return others


def _may_have_numbers(name: str) -> bool:
    """Return whether a column may have grades or scores, by its name."""
    folded = name.strip().casefold()
    if folded == _RANK or folded in _OTHER_COLUMNS_OF_TREC:
        return False
    return not folded.endswith(_ID_SUFFIXES)


def _recognise_side(lists: Lists, unused_names: Sequence[str]) -> InputContent:
    """Return whether a table is a run or judgements, by the names of its columns."""
    folded = set()
    for name in (*unused_names, *lists.column_names.values()):
        folded.add(name.strip().casefold())
    if _RANK in folded:
        return "run"
    score_column = lists.column_names.get("score", "").strip().casefold()
    scores = lists.side.scores
    if score_column not in _GRADES or scores is None:
        return ""
    has_only_integers = bool((scores == np.floor(scores)).all())
    return "judgements" if has_only_integers else ""
