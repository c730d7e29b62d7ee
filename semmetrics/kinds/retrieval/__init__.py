"""Retrieval: queries that rank a gallery, beside the positives of each; how both are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from semmetrics.data.form import Form, ReadOptions
from semmetrics.data.inputs import Sample, as_data
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.public import is_coco_captions, read_coco_captions
from semmetrics.errors import InputError
from semmetrics.kinds import Certainty, Verdict
from semmetrics.messages import pluralize
from semmetrics.options import FORMATS

_NAMES = (
    "candidate", "candidates", "document", "documents", "doc", "docs", "doc_id", "docid", "docno",
    "corpus_id", "corpus-id", "gallery_id", "caption_id", "sentid", "sentids", "positive",
    "positives", "target", "targets", "retrieved", "ranking",
)  # fmt: skip
FORM = Form(noun="candidate", columns=_NAMES, keys=_NAMES,
            formats=tuple(name for name, kinds in FORMATS.items() if "retrieval" in kinds),
            coco=partial(read_coco_captions, only_ids=True), is_coco=is_coco_captions, scored=True,
            ids=("query", "query_id", "query-id", "qid", "topic"),
            scores=("similarity", "sim", "grade", "relevance", "rel"), numbered=True)  # fmt: skip


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
    found = as_data(data, FORM, source=source, options=options)
    if isinstance(found, Matrix):
        rows, columns = found.values.shape
        shape = f"{pluralize(rows, 'query')} x {pluralize(columns, FORM.noun)}"
        how = found.understood.partition(" matrix")[0].removeprefix("matrix of items x classes")
        how = f"{how} matrix".strip() if "matrix" in found.understood else f"{how}, matrix"
        understood = f"{how}, {shape}, {found.values.dtype}"
        return replace(found, noun=FORM.noun, understood=understood)
    if found.synonyms:
        code = next(code for code, entry in enumerate(found.vocabulary) if type(entry) is tuple)
        where, value = found.where(found.first_item(code)), list(found.terms[code])
        wanted = "the id of a candidate, or a pair of id and number"
        raise InputError("wrong-type", where, value=value, wanted=wanted)
    return found


def recognise(samples: Sequence[Sample], options: ReadOptions) -> Verdict:
    """Tell how certain it is that the data are retrieval: only runs and qrels are."""
    if any(one.noun == FORM.noun or one.shape == "run" for one in samples):
        return Verdict(Certainty.CERTAIN)
    return Verdict(Certainty.NO)
