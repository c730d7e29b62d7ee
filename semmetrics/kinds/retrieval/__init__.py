"""Retrieval: queries that rank a gallery, beside the positives of each; how both are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.core.ragged import row_numbers
from semmetrics.data.form import DEFAULTS, Form, ReadOptions
from semmetrics.data.inputs import Sample, as_data, open_input
from semmetrics.data.lists import Holds, Lists, Side
from semmetrics.data.matrix import Matrix
from semmetrics.data.public import is_coco_captions, read_coco_captions
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
_NO_NUMBERS = ("iteration", "iter", "q0")  # of TREC's lines
_IDS = ("id", "ids")  # ends of the names of columns of ids


_form = partial(
    Form,
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
    numbered=True,
)
FORM = _form(scores=(*_SCORES, *_GRADES))
_FORMS = {
    "": FORM,
    "pred": _form(scores=_SCORES, last_scores=_GRADES),
    "gt": _form(scores=_SCORES, first_scores=_GRADES, truths=True),
}
"""How a run and judgements are written: the one has scores, the others grades."""


def as_candidates(
    data: Any, *, source: str = "input", options: ReadOptions | None = None
) -> Lists | Matrix:
    """Read a run, or the positives of queries, from whatever holds them.

    Parameters
    ----------
    data : path, mapping, sequence, frame, array, tensor, sparse matrix, Arrow stream or Lists
        A path (str or PathLike) is read by its format. An array, or a list of rows of numbers,
        is a matrix of queries x gallery. A mapping from query has a list of candidates for each,
        the nearest first, or ``{candidate: number}``; COCO captions have the ids of the captions
        of each image. Whole numbers are names.
    source : str
        What messages call it; of a path that is the path.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Lists or Matrix

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.

    Examples
    --------
    >>> as_candidates({"q1": [7, 12], "q2": [3]}).to_list()
    [['7', '12'], ['3']]
    >>> as_candidates([[0.5, 0.25], [0.0, 1.0]]).values.shape
    (2, 2)
    """
    options = options or DEFAULTS
    data = open_input(data, options)
    found = as_data(data, _FORMS[options.side], source=source, options=options)
    if isinstance(found, Lists):
        found = _with_numbers(data, found, source, options)
    if isinstance(found, Matrix):
        rows, columns = found.values.shape
        shape = f"{pluralize(rows, 'query')} x {pluralize(columns, FORM.noun)}"
        how = found.understood.partition(" matrix")[0].removeprefix(
            "matrix of items x classes"
        )
        how = (
            f"{how} matrix".strip()
            if "matrix" in found.understood
            else f"{how}, matrix"
        )
        understood = f"{how}, {shape}, {found.values.dtype}"
        return replace(found, noun=FORM.noun, understood=understood)
    if found.synonyms:
        code = next(
            code for code, entry in enumerate(found.vocabulary) if type(entry) is tuple
        )
        where, value = found.where(found.first_item(code)), list(found.terms[code])
        wanted = "the id of a candidate, or a pair of id and number"
        raise InputError("wrong-type", where, value=value, wanted=wanted)
    return found


def _with_numbers(data: Any, found: Lists, source: str, options: ReadOptions) -> Lists:
    """Order a table or records without scores by rank, and recognise their side by columns.

    Raises
    ------
    InputError
        If there are neither scores nor ranks, and another column holds numbers.
    """
    names = list(chain.from_iterable(map(_unused_names, found.notes)))
    ranks = [name for name in names if name.strip().casefold() == _RANK]
    if ranks and options.side != "gt":
        found = _by_rank(data, found, ranks[0], source, options)
    if found.side.scores is None:
        for name in filter(_may_be_number, names):
            if _read_numbers(data, name, source, options) is not None:
                raise _unknown_numbers(found.source, name, options.side)
            if options.side == "gt" and _holds_verdicts(data, name, source, options):
                raise InputError("verdicts", found.source, name=name)
    if not found.holds and options.column("score") is None:
        found = replace(found, holds=_side_of(found, names))
    return found


def _unknown_numbers(where: str, name: str, side: str) -> InputError:
    """Return the error for a column that contains numbers and is not used."""
    flag = f"{side}_score_column" if side else "score_column"
    what = "their grades" if side == "gt" else "their scores"
    return InputError("unknown-numbers", where, name=name, what=what, flag=flag)


def _unused_names(fact: Any) -> Sequence[str]:
    """Return the names of columns that a note says are not used."""
    return tuple(fact.examples) if getattr(fact, "code", "") == "unused-columns" else ()


def _may_be_number(name: str) -> bool:
    """Return whether a column may hold a grade or a score, by its name."""
    folded = name.strip().casefold()
    return folded not in (*_NO_NUMBERS, _RANK) and not folded.endswith(_IDS)


def _read_numbers(
    data: Any, name: str, source: str, options: ReadOptions
) -> Lists | None:
    """Read a table with a column for scores; None if it does not hold numbers."""
    form, named = _FORMS[options.side], replace(options, score_column=name)
    try:
        found = as_data(data, form, source=source, options=named)
    except InputError:
        return None
    return found if isinstance(found, Lists) and found.side.scores is not None else None


def _holds_verdicts(data: Any, name: str, source: str, options: ReadOptions) -> bool:
    """Tell whether a column has words that say whether a candidate is relevant."""
    named = replace(options, candidate_column=name)
    try:
        found = as_data(data, _FORMS[""], source=source, options=named)
    except InputError:
        return False
    if not isinstance(found, Lists):
        return False
    words = {str(word).strip().casefold() for word in found.vocabulary}
    return bool(words) and words <= _VERDICTS


def _by_rank(
    data: Any, found: Lists, name: str, source: str, options: ReadOptions
) -> Lists:
    """Order the candidates of a run by their ranks, 1 first; or compare these with its scores."""
    ranked = _read_numbers(data, name, source, options)
    if ranked is None or ranked.side.scores is None:
        return found
    side, ranks = found.side, ranked.side.scores
    rows = row_numbers(side.indptr)
    same_row = rows[1:] == rows[:-1]
    if side.scores is not None:
        order = np.lexsort((ranks, rows))
        is_other = same_row & (np.diff(side.scores[order]) > 0)
        number = len(np.unique(rows[1:][is_other]))
        facts = [Fact("other-ranks", number, values={"name": name})] if number else []
        return replace(found, notes=[*found.notes, *facts])
    names_of_columns = {**found.column_names, _RANK: name}
    is_other = same_row & (np.diff(ranks) < 0)
    number = len(np.unique(rows[1:][is_other]))
    notes = [_without_name(fact, name) for fact in found.notes]
    notes = [fact for fact in notes if fact is not None]
    if not number:
        return replace(found, notes=notes, column_names=names_of_columns)
    order = np.lexsort((ranks, rows))
    notes.append(Fact("sorted-by-rank", number, values={"name": name}))
    side = Side(side.indptr, side.codes[order])
    return replace(found, side=side, notes=notes, column_names=names_of_columns)


def _without_name(fact: Any, name: str) -> Any:
    """Return a note on columns that are not used without one of them; None if no other is left."""
    if name not in _unused_names(fact):
        return fact
    others = tuple(other for other in fact.examples if other != name)
    return replace(fact, n=len(others), examples=others) if others else None


def _side_of(found: Lists, unused_names: Sequence[str]) -> Holds:
    """Recognise a run or judgements by the names of columns."""
    folded = {
        name.strip().casefold()
        for name in (*unused_names, *found.column_names.values())
    }
    if _RANK in folded:
        return "run"
    score = found.column_names.get("score", "").strip().casefold()
    return "judgements" if score in _GRADES and _are_whole(found) else ""


def _are_whole(found: Lists) -> bool:
    scores = found.side.scores
    return scores is not None and bool((scores == np.floor(scores)).all())


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Tell how certain it is that the data are retrieval: only runs and qrels are."""
    if any(one.noun == FORM.noun or one.shape == "run" for one in samples):
        return Verdict(Certainty.CERTAIN)
    return Verdict(Certainty.NO)
