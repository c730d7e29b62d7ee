"""How runs and positives are written, and both from whatever holds them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from semmetrics.arguments import checked
from semmetrics.core.backend import find_device, is_torch, to_device
from semmetrics.core.ragged import Bools, Floats, cell_keys
from semmetrics.data.coco import is_coco_captions, read_coco_caption_ids
from semmetrics.data.form import DEFAULTS, Form, ReadOptions
from semmetrics.data.inputs import Sample, as_data
from semmetrics.data.lists import Lists, Side
from semmetrics.data.matrix import Matrix, check_finite, is_membership, members
from semmetrics.data.rankings import Products
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.kinds.resolve import Certainty, Verdict
from semmetrics.messages import a_kind, pluralize, shown
from semmetrics.options import FORMATS

__all__ = ["FORM", "Embeddings", "as_candidates", "as_positives", "read_embeddings", "recognise"]

_NAMES = (
    "candidate", "candidates", "document", "documents", "doc", "docs", "doc_id", "docid", "docno",
    "corpus_id", "corpus-id", "gallery_id", "caption_id", "sentid", "sentids", "positive",
    "positives", "target", "targets", "retrieved", "ranking",
)  # fmt: skip
FORM = Form(
    noun="candidate",
    columns=_NAMES,
    keys=_NAMES,
    formats=tuple(name for name, kinds in FORMATS.items() if "retrieval" in kinds),
    coco=read_coco_caption_ids,
    is_coco=is_coco_captions,
    scored=True,
    ids=("query", "query_id", "query-id", "qid", "topic"),
    scores=("similarity", "sim", "grade", "relevance", "rel"),
    numbered=True,
)
_BLOCK = 1 << 18  # numbers looked at together: they stay in a cache


@checked
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
        raise InputError(
            f"{shown(list(found.terms[code]))} is no candidate",
            where=found.where(found.first_item(code)),
            remedy="write the id of a candidate, or a pair of id and number",
        )
    return found


def as_positives(found: Lists | Matrix, gallery: int | None = None) -> tuple[Lists, int]:
    """Return the positives of each query, each once, and how many entries of grade 0 were left out.

    Parameters
    ----------
    found : Lists or Matrix
        A matrix holds 0/1 for each candidate, or in each row the columns of its positives.
    gallery : int, optional
        The number of candidates, where a matrix of scores or vectors tell it.

    Raises
    ------
    InputError
        If the matrix holds anything else, or 0/1 for a part of the candidates.

    Examples
    --------
    >>> positives, n = as_positives(as_candidates({"q": {"a": 2, "b": 0}}))
    >>> positives.to_list(), n
    ([['a']], 1)
    """
    if isinstance(found, Matrix):
        found = _relation(found, gallery)
    side, vocabulary = found.side, len(found.vocabulary)
    keep = np.ones(len(side.codes), np.bool_) if side.scores is None else side.scores > 0
    graded = int((~keep).sum())
    keys = cell_keys(side.indptr, side.codes, max(1, vocabulary))
    keys[~keep] = -1 - np.arange(graded)
    first: Bools = np.zeros(len(keys), np.bool_)
    first[np.unique(keys, return_index=True)[1]] = True
    repeated = int((keep & ~first).sum())
    notes = [*found.notes]
    if repeated:
        notes.append(f"{pluralize(repeated, 'positive')} repeated in a list, counted once")
    lists = replace(found, side=replace(side.keep(keep & first), scores=None), notes=notes)
    return lists, graded


def _relation(matrix: Matrix, gallery: int | None) -> Lists:
    """Return the positives that a matrix of 0/1 marks, or whose columns its rows list."""
    if not matrix.sparse and matrix.values.dtype.kind in "iu" and (matrix.values > 1).any():
        columns, codes = np.unique(matrix.values, return_inverse=True)
        indptr = np.arange(len(matrix) + 1) * matrix.values.shape[1]
        side = Side(indptr, codes.ravel().astype(np.int32))
        lists = replace(matrix, vocabulary=list(map(str, columns.tolist()))).lists(side)
        return replace(lists, understood=f"{matrix.understood}, columns by row")
    if not is_membership(matrix):
        raise InputError(
            "the ground truth is a matrix of scores",
            where=matrix.source,
            remedy="give 0/1, or the positives of each query; similarities stand first",
        )
    width = matrix.values.shape[1]
    if not (matrix.named or matrix.sparse) and gallery is not None and width < gallery:
        problem = f"the ground truth is 0/1 in {pluralize(width, 'column')}"
        raise InputError(
            f"{problem}, and the gallery has {pluralize(gallery, FORM.noun)}",
            where=matrix.source,
            remedy="give 0/1 for each candidate, or lists of the positives: truth.tolist()",
        )
    return replace(members(matrix), understood=f"{matrix.understood}, 0/1")


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Vectors of queries and of a gallery, in place of a matrix of similarities.

    Attributes
    ----------
    scores : Products
    source, understood : str
    notes : list of str
    ids : range
    """

    scores: Products
    source: str
    understood: str
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return self.scores.shape[0]

    @property
    def ids(self) -> range:
        """The rows: vectors have no names."""
        return range(len(self))

    @property
    def held(self) -> tuple[int, str]:
        """How many of what it holds."""
        return sum(self.scores.shape), "vector"


def read_embeddings(options: Mapping[str, Any]) -> Embeddings:
    """Read the vectors of both sides, as the options name them.

    Raises
    ------
    InputError
        If one side is lacking, they have different dimensions, or a number is not finite.
    """
    names = ("queries_embeddings", "gallery_embeddings")
    lacking = [name for name in names if options[name] is None]
    if lacking:
        flag = lacking[0].replace("_", "-")
        raise InputError(
            f"{lacking[0]} is not given", remedy=f"give both sides: {lacking[0]}= (--{flag})"
        )
    files = options["read"] or DEFAULTS
    tables = [_read_vectors(options[name], name, files) for name in names]
    widths = [table.shape[1] for table in tables]
    if widths[0] != widths[1]:
        raise InputError(
            f"the queries have {widths[0]} dimensions and the gallery {widths[1]}",
            remedy="embed both with one model",
        )
    kind: Any = np.result_type(*(table.dtype for table in tables))
    notes = []
    if options["similarity"] == "cosine":
        made = [_unit(table, kind) for table in tables]
        tables, zeros = [table for table, _ in made], sum(number for _, number in made)
        if zeros:
            notes.append(f"{pluralize(zeros, 'vector')} of length 0, with cosine 0 to all")
    device = find_device(options["device"] or _device_of(options[names[0]]))
    both = [to_device(np.ascontiguousarray(table, kind), device) for table in tables]
    shape = f"{len(both[0]):,} x {len(both[1]):,} of {widths[0]:,} dimensions, {kind}"
    sources = [str(v) for v in (options[name] for name in names) if isinstance(v, str)]
    return Embeddings(
        Products(*both),
        " and ".join(sources) or "embeddings",
        f"embeddings, {shape}, compared by {options['similarity']}",
        notes,
    )


def _device_of(given: Any) -> str | None:
    """Return the device that a tensor lies on; None for the processor, where numpy computes."""
    name = str(given.device) if is_torch(given) else "cpu"
    return None if name == "cpu" else name


def _read_vectors(given: Any, name: str, files: ReadOptions) -> Any:
    """Return one side's vectors as a float array."""
    from semmetrics.data.objects import is_frame, plain_matrix

    if isinstance(given, (str, os.PathLike)):
        values, where = _read_vector_file(given, files)
    elif is_frame(given):
        ids = name.partition("_")[0]
        remedy = f"{name}=frame.to_numpy(), and {ids}=list(frame.index) where these are ids"
        raise InputError(f"{name} is {a_kind(given)}", remedy=f"give {remedy}")
    else:
        values, where = plain_matrix(given, name), name
        if values.dtype.kind == "f":
            check_finite(values, where)
    if not values.size:
        raise InputError(f"its shape is {values.shape}", where=where, remedy="give vectors")
    single = values.dtype.kind != "f" or values.dtype == np.float16
    return values.astype(np.float32) if single else values


def _read_vector_file(path: Any, files: ReadOptions) -> tuple[Any, str]:
    from semmetrics.data.inputs import format_among
    from semmetrics.data.numpy_files import plain_array
    from semmetrics.data.source import enough_memory, load

    source = load(path, files.max_bytes)
    with enough_memory(source.name, files.max_bytes):
        format_among(source, files.beside(), "vectors are", ("npy", "npz", "hdf5"))
        return plain_array(source, files, 2), source.name


def _unit(table: Any, kind: Any) -> tuple[Floats, int]:
    """Return vectors of length 1, those of length 0 as they are, and the number of the latter."""
    made, zeros = np.empty(table.shape, kind), 0
    step = max(1, _BLOCK // table.shape[1])
    for start in range(0, len(table), step):
        part = np.asarray(table[start : start + step], np.float64)
        largest = np.abs(part).max(axis=1)
        zeros += int((largest == 0).sum())
        part = part / np.where(largest > 0, largest, 1.0)[:, None]  # squares stay finite
        lengths = np.sqrt(np.einsum("ij,ij->i", part, part))
        made[start : start + step] = part / np.where(lengths > 0, lengths, 1.0)[:, None]
    return made, zeros


def check_size(names: Sequence[Any], size: int, option: str, what: str, other: int) -> None:
    """Refuse names that are not as many as rows, or columns.

    Parameters
    ----------
    names : sequence of str
    size : int
        Of what they name.
    option : str
        What gave them: "queries".
    what : str
        What they name: "row".
    other : int
        The size of the other side, with which a transposed matrix is told.
    """
    if len(names) == size:
        return
    remedy = f"give one id for each {what}, in their order"
    if len(names) == other:
        both = "queries= (--queries) and gallery= (--gallery)"
        remedy = f"the matrix seems to be transposed: give its transpose, or exchange {both}"
    raise InputError(
        f"{option}= has {pluralize(len(names), 'id')} for {pluralize(size, what)}", remedy=remedy
    )


def recognise(samples: Sequence[Sample], options: ReadOptions) -> Verdict:
    """Tell how certain it is that the data are retrieval: runs and qrels alone say it."""
    if any(one.noun == FORM.noun or one.shape == "run" for one in samples):
        return Verdict(Certainty.CERTAIN)
    return Verdict(Certainty.NO)
