"""A measure of all captions for all images: the matrix phi(image, caption).

Conventions
-----------
Rows are images, each with its references; columns are captions. An entry is the value that the
measure gives the caption as a candidate for the image, with document frequencies counted over the
images of the matrix, each once, unless others are given; or each reference is a row of its own.
Blocks have fixed boundaries.

Functions
---------
``caption_matrix`` gives the matrix, in memory or in a file; ``caption_blocks`` its rows, some at a
time; ``caption_top_k`` the largest entries without the matrix.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import UNVERSIONED, hash_strings
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.ranks import top_k
from semmetrics.data.form import takes_options
from semmetrics.data.tasks import CaptionTask, caption_task
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import common
from semmetrics.kinds.captions.kind import KIND
from semmetrics.kinds.captions.notes import idle_tuples
from semmetrics.kinds.captions.prepare import prepare_captions
from semmetrics.kinds.options import ResolvedOptions, resolve_options
from semmetrics.messages import report_progress
from semmetrics.metrics.caption_steps import check_captions, check_references
from semmetrics.metrics.cider import task_frequencies
from semmetrics.metrics.definition import Measure, model_key
from semmetrics.metrics.measure_options import is_cutoff
from semmetrics.metrics.parsing import parse_all
from semmetrics.options import TAKEN
from semmetrics.store.files import write_matrix

Progress = Callable[[int, int], None]
PAIR_MEASURES = ("CIDEr-D", "CIDEr", "METEOR", "SPICE", "BagSim")
"""The measures that a matrix is computed of."""
_MEMORY = 1 << 28
_ACTS_BY = {n: one.acts_by for n, one in TAKEN["caption_matrix"].items() if one.acts_by}
_DECIMALS = 12  # to which entries are compared, so that equal captions are equal


@takes_options()
def caption_matrix(
    references: Sequence[Sequence[str]],
    captions: Sequence[str],
    *,
    measure: str | Measure = "CIDEr-D",
    rows: Literal["images", "references"] = "images",
    out: str | os.PathLike[str] | None = None,
    memory: int = _MEMORY,
    dtype: Literal["float64", "float32"] = "float64",
    resume: bool = True,
    progress: Progress | None = None,
    notes: list[Fact] | None = None,
    **options: Any,
) -> NDArray[np.floating[Any]]:
    """Return the matrix of a measure: every caption for every image.

    Parameters
    ----------
    references : sequence of sequences of str
        The references of each image, at least one. They stand first, unlike in ``score``: a row
        of the matrix is an image.
    captions : sequence of str
    measure : str or Measure
        CIDEr-D, CIDEr, METEOR, SPICE or BagSim, with its options.
    rows : {"images", "references"}
        Whether a row is an image, with all its references, or one reference alone.
    out : path, optional
        A .npy file to write the matrix to, which appears when it is complete. A run that was killed
        is continued, with the digits of a run that was not: until the end, the numbers are in
        ``out`` with ``.part`` behind it, and what is finished is noted in ``out`` with ``.blocks``.
    memory : int
        Bytes of a block and the work on it, not counting the matrix.
    dtype : {"float64", "float32"}
        Of the result; everything is computed in float64.
    resume : bool
        Continue a run that was killed, and refuse to replace an ``out`` that is there; otherwise
        all is computed, and replaces it.
        A run with a function without a version - tokenizer, embedding or parser - is not
        continued, as nothing tells whether it is the same one.
    progress : callable, optional
        Called with rows done and rows in all.
    notes : list, optional
        What is odd is added there, such as kept parses that are damaged.
    **options

    Returns
    -------
    array, shape (rows, captions)
        Within the bounds of the measure; a read-only memory map of ``out`` where that is given.

    Raises
    ------
    InputError
        If an image has no reference, the measure is another one, or ``out`` is there already, was
        begun with other inputs, cannot be written, or is being written by another run.

    Examples
    --------
    >>> references = [["a cat sits on a mat"], ["two dogs run on a beach"], ["a man rides a bike"]]
    >>> captions = ["a cat sits on a mat", "dogs run"]
    >>> caption_matrix(references, captions, tokenizer="whitespace").round(3).tolist()
    [[10.0, 0.0], [0.177, 2.376], [0.0, 0.0]]
    """
    job = PairJob.of(references, captions, measure, options, rows, memory, dtype, notes)
    return job.matrix(out, resume=resume, progress=progress)


@takes_options()
def caption_blocks(
    references: Sequence[Sequence[str]],
    captions: Sequence[str],
    *,
    measure: str | Measure = "CIDEr-D",
    rows: Literal["images", "references"] = "images",
    memory: int = _MEMORY,
    dtype: Literal["float64", "float32"] = "float64",
    **options: Any,
) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
    """Yield the rows of ``caption_matrix``, some at a time.

    Parameters
    ----------
    references, captions, measure, rows, memory, dtype
        As for ``caption_matrix``.
    **options

    Yields
    ------
    start : int
        The first row of the block.
    block : array, shape (some rows, captions)
    """
    job = PairJob.of(references, captions, measure, options, rows, memory, dtype)
    for start, stop in job.bounds:
        yield start, job.block(start, stop)


@takes_options()
def caption_top_k(
    references: Sequence[Sequence[str]],
    captions: Sequence[str],
    k: int,
    *,
    axis: Literal["captions", "images"] = "captions",
    measure: str | Measure = "CIDEr-D",
    rows: Literal["images", "references"] = "images",
    memory: int = _MEMORY,
    notes: list[Fact] | None = None,
    **options: Any,
) -> tuple[Floats, Ints]:
    """Return the k largest entries of each row or column of ``caption_matrix``, without the matrix.

    Parameters
    ----------
    references, captions, measure, rows, memory
        As for ``caption_matrix``.
    k : int
    axis : {"captions", "images"}
        The k best captions of each row, or the k best rows of each caption.
    notes : list, optional
        What is odd is added there, as by ``caption_matrix``.
    **options

    Returns
    -------
    values, positions : arrays, shape (rows, k) or (captions, k)
        Falling; values that are equal to 12 decimals by rising position.

    Raises
    ------
    InputError
        If k is not between 1 and the number of captions or images.

    Examples
    --------
    >>> references = [["a cat sits on a mat"], ["two dogs run on a beach"], ["a man rides a bike"]]
    >>> caption_top_k(references, ["dogs run", "a cat sits"], 1, tokenizer="whitespace")[1].tolist()
    [[1], [0], [0]]
    """
    job = PairJob.of(references, captions, measure, options, rows, memory, notes=notes)
    return job.top_k(k, axis)


def check_k(k: int, axis: str, n_rows: int, n_columns: int) -> None:
    """Refuse more best entries than there are.

    Raises
    ------
    InputError
        If k is not between 1 and the number of captions or images.
    """
    most = n_rows if axis == "images" else n_columns
    if not is_cutoff(k) or k > most:
        raise InputError(
            "bad-option", name="k", value=k, wanted=f"from 1 to {most} {axis}"
        )


@dataclass(frozen=True, repr=False)
class PairJob:
    """All pairs, prepared: computes any rows."""

    task: CaptionTask
    measure: Measure
    pairs: Any
    step: int
    dtype: str

    @classmethod
    def of(
        cls,
        references: Sequence[Sequence[str]],
        captions: Sequence[str],
        measure: str | Measure,
        given: Mapping[str, Any],
        rows: str = "images",
        memory: int = _MEMORY,
        dtype: str = "float64",
        notes: list[Fact] | None = None,
    ) -> PairJob:
        """Check and prepare the inputs; those given are options of ``score``."""
        check_choice("rows", rows, ("images", "references"))
        check_choice("dtype", dtype, ("float64", "float32"))
        options = KIND.read_side_inputs(resolve_options(given, "captions"))
        chosen, graphs = _pair_measure(measure, options), options.tuples
        task = _pair_task(references, captions, options.tokenizer, rows)
        (task,) = prepare_captions({"": {"": task}}, [chosen], options)[""].values()
        pairs = chosen.definition.extra["pairs"](task, chosen)
        task.tokenizer.forget()  # what is prepared has no use of tokens
        if notes is not None:
            notes += [*graphs.troubles, *idle_tuples([chosen], graphs)]
            models = [model.embedder for model in task.models.values()]
            notes += common.cache_facts(models, options.cache)
        step = max(1, min(memory // (16 * max(1, len(captions))), pairs.n_rows))
        return cls(task, chosen, pairs, step, dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of captions."""
        return self.pairs.n_rows, self.pairs.n_columns

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """Where the rows of each block start and stop."""
        rows = self.pairs.n_rows
        return [
            (start, min(start + self.step, rows)) for start in range(0, rows, self.step)
        ]

    def block(self, start: int, stop: int) -> NDArray[np.floating[Any]]:
        """Return the rows start to stop, shape (stop - start, captions)."""
        found: NDArray[np.floating[Any]] = self.pairs.block(start, stop)
        return found.astype(self.dtype, copy=False)

    def matrix(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        resume: bool = True,
        progress: Progress | None = None,
        beside: Callable[[], None] | None = None,
    ) -> NDArray[np.floating[Any]]:
        """Return all rows, in memory or in a file, as ``caption_matrix`` does.

        ``beside`` writes the files that belong to that file, before it appears.
        """
        if out is not None:
            # only this run knows what a function without a version was
            run = f", a function without a version, of run {token_hex(4)}"
            facts = {
                key: value + run * (UNVERSIONED in value)
                for key, value in self.facts.items()
            }
            of = (self.shape, self.dtype, self.step, facts, self.block)
            return write_matrix(
                out, *of, resume=resume, progress=progress, beside=beside
            )
        matrix = np.empty(self.shape, self.dtype)
        for start, stop in self.bounds:
            if self.dtype == "float64":  # without a copy
                self.pairs.block(start, stop, matrix[start:stop])
            else:
                matrix[start:stop] = self.pairs.block(start, stop)
            report_progress(progress, stop, self.pairs.n_rows, "scoring pairs", "row")
        return matrix

    def top_k(self, k: int, axis: str) -> tuple[Floats, Ints]:
        """Return the k largest entries of each row or column, as ``caption_top_k`` does."""
        check_choice("axis", axis, ("captions", "images"))
        check_k(k, axis, *self.shape)
        rounded = (
            np.round(self.block(start, stop), _DECIMALS) for start, stop in self.bounds
        )
        if axis == "captions":
            values, places = zip(*(top_k(block, k) for block in rounded), strict=True)
            return np.concatenate(values), np.concatenate(places)
        best = np.zeros((self.pairs.n_columns, 0))
        where = np.zeros(best.shape, np.int64)
        for (start, _), block in zip(self.bounds, rounded, strict=True):
            found = top_k(block, min(k, len(block)), columns=True)
            best, where = (
                np.hstack([best, found[0]]),
                np.hstack([where, found[1] + start]),
            )
            best, order = top_k(best, min(k, best.shape[1]))
            where = np.take_along_axis(where, order, axis=1)
        return best, where

    @property
    def identity(self) -> str:
        """What the numbers are, in one line: the measure, the tokenizer, and what was fitted."""
        fitted = [f"{key}@{value}" for key, value in self._fitted.items()]
        return ";".join([str(self.measure), f"tok:{self.task.tokenizer.name}", *fitted])

    @property
    def facts(self) -> dict[str, str]:
        """What the matrix is of, for the notes beside a file."""
        task = self.task
        names = hash_strings(task.texts)
        hashed = hashlib.blake2b(digest_size=16)
        for part in (names[task.candidates], names[task.references], task.indptr):
            hashed.update(
                len(part).to_bytes(8, "little") + part.astype("<u8").tobytes()
            )
        return {
            "measure": "|".join(
                [self.measure.definition.name, *self.measure.signature()]
            ),
            "tokenizer": str(task.tokenizer.name),
            **self._fitted,
            "inputs": hashed.hexdigest(),
        }

    @property
    def _fitted(self) -> dict[str, str]:
        """What the measure takes from the references, a parser or an embedding."""
        measure, task = self.measure, self.task
        found = {}
        if measure["parser"] is not None:
            found["parser"] = task.fits[f"parser/{measure['parser']}"].parser.identity
        if measure["embedding"] is not None:
            found["embedding"] = task.identities[model_key(measure)]
        if measure["df"] is not None:
            stem = str(measure["stem"])
            found["df"] = task_frequencies(task, str(measure["df"]), stem).hash
        return found


def _pair_measure(measure: str | Measure, options: ResolvedOptions) -> Measure:
    """Return the measure, with ``df=given`` if document frequencies are given.

    Raises
    ------
    InputError
        If there is no matrix of it, or an option does not apply to it.
    """
    chosen, *more = parse_all([measure], first="captions")
    if more or "pairs" not in chosen.definition.extra:
        remedy = f"choose {', '.join(PAIR_MEASURES)}, with options"
        raise InputError("no-matrix", measure=measure, remedy=remedy)
    if chosen["df"] == "rows" or chosen["category"] not in (None, "all"):
        remedy = "choose df=references and category=all"
        raise InputError("no-matrix", measure=chosen, remedy=remedy)
    idle = [
        name
        for name in _ACTS_BY
        if name in options.set_by_user and chosen[_ACTS_BY[name]] is None
    ]
    if idle or common.unused_embeddings([chosen], options.embedding):
        raise InputError("not-applicable", name=[*idle, "embedding"][0], what=chosen)
    return chosen if options.doc_freq is None else chosen.with_options(df="given")


def options_taken(measure: str | Measure) -> list[str]:
    """Return the options of a score that a matrix of a measure takes.

    Examples
    --------
    >>> options_taken("CIDEr")
    ['tokenizer', 'doc_freq']
    """
    (chosen,) = parse_all([measure], first="captions")
    return [
        "tokenizer",
        *(name for name, by in _ACTS_BY.items() if chosen[by] is not None),
    ]


def _pair_task(
    references: Sequence[Sequence[str]],
    captions: Sequence[str],
    tokenizer: Any,
    rows: str,
) -> CaptionTask:
    """Return a task of the references of the rows, and all captions as candidates.

    Raises
    ------
    InputError
        If an image has no reference, or anything is not a string.
    """
    check_references(references)
    check_captions(captions, "captions")
    for name, side in (("references", references), ("captions", captions)):
        if not len(side):
            raise InputError("empty", name, role=name, remedy="give at least one entry")
    for image, texts in enumerate(references):
        if not len(texts):
            leave = "leave images without references out"
            raise InputError(
                "nothing-given", f"references[{image}]", what="captions", remedy=leave
            )
    if rows == "references":
        references = [[text] for texts in references for text in texts]
    # the captions as candidates of the first image: which image they stand at does not matter
    candidates = [captions, *[()] * (len(references) - 1)]
    return caption_task(
        candidates, references, list(map(str, range(len(references)))), tokenizer
    )
