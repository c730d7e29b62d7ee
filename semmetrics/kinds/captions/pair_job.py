"""A measure that is prepared for all pairs of images and captions.

A row is an image, or one reference, and a column is a caption. The public functions are in
`semmetrics.kinds.captions.matrix`, which describes the entries.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from secrets import token_hex
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import UNVERSIONED, hash_strings
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.top_k import top_k
from semmetrics.data.tasks.captions import CaptionTask, caption_task
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import embedding_notes
from semmetrics.kinds.captions.kind import KIND
from semmetrics.kinds.captions.notes import unused_tuples_notes
from semmetrics.kinds.captions.prepare import prepare_captions
from semmetrics.kinds.options import ResolvedOptions, resolve_options
from semmetrics.messages import report_progress
from semmetrics.metrics.caption_steps import check_captions, check_references
from semmetrics.metrics.cider import task_frequencies
from semmetrics.metrics.definition import Measure, model_key
from semmetrics.metrics.measure_options import is_cutoff
from semmetrics.metrics.parsing import parse_all
from semmetrics.options import OPTIONS_OF_FUNCTION
from semmetrics.store.matrix_files import write_matrix

Progress = Callable[[int, int], None]
PAIR_MEASURES = ("CIDEr-D", "CIDEr", "METEOR", "SPICE", "BagSim")
"""The measures for which there is a matrix."""
MAX_BYTES_PER_BLOCK = 1 << 28
"""The default limit of the memory for a block, with its temporary arrays."""
_BYTES_PER_ENTRY = 16
"""The memory for an entry of a block, with its temporary arrays."""
_MEASURE_OPTIONS = {
    name: option.measure_option
    for name, option in OPTIONS_OF_FUNCTION["caption_matrix"].items()
    if option.measure_option
}
"""The options that only some measures use, each with an option of measures.

A measure uses ``doc_freq``, for example, if its option "df" is not None.
"""
_DECIMALS = 12
"""The decimals to which entries are compared, so that equal captions have equal entries."""


def check_k(k: int, axis: str, n_rows: int, n_columns: int) -> None:
    """Raise an error if there are fewer than k entries to choose from.

    Raises
    ------
    InputError
        If k is not between 1 and the number of captions or images.
    """
    max_k = n_rows if axis == "images" else n_columns
    if not is_cutoff(k) or k > max_k:
        wanted = f"from 1 to {max_k} {axis}"
        raise InputError("bad-option", name="k", value=k, wanted=wanted)


def options_taken(measure: str | Measure) -> list[str]:
    """Return the options of a score that the matrix of a measure uses.

    Examples
    --------
    >>> options_taken("CIDEr")
    ['tokenizer', 'doc_freq']
    """
    (measure,) = parse_all([measure], prefer="captions")
    options = ["tokenizer"]
    for name, measure_option in _MEASURE_OPTIONS.items():
        if measure[measure_option] is not None:
            options.append(name)
    return options


# ---- all pairs, prepared ------------------------------------------------------------------------


class _PairValues(Protocol):
    """The values of a measure for all pairs of rows and captions.

    Attributes
    ----------
    n_rows, n_columns : int
    """

    n_rows: int
    n_columns: int

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return rows ``start`` to ``stop``, computed in ``out`` if that is given."""
        ...


@dataclass(frozen=True, repr=False)
class PairJob:
    """A measure that is prepared for all pairs of rows and captions.

    Attributes
    ----------
    task : CaptionTask
        Its images are the rows. All captions are candidates of its first image, because a pair may
        have any of the images.
    measure : Measure
    pairs : object
        Computes the values of rows.
    step : int
        The number of rows of a block.
    dtype : {"float64", "float32"}
        The type of the result.
    """

    task: CaptionTask
    measure: Measure
    pairs: _PairValues
    step: int
    dtype: str

    @classmethod
    def of(
        cls,
        references: Sequence[Sequence[str]],
        captions: Sequence[str],
        measure: str | Measure,
        score_options: Mapping[str, Any],
        rows: str = "images",
        memory: int = MAX_BYTES_PER_BLOCK,
        dtype: str = "float64",
        notes: list[Fact] | None = None,
    ) -> PairJob:
        """Check and prepare the inputs.

        Parameters
        ----------
        references, captions, measure, rows, memory, dtype, notes
            As for `caption_matrix`.
        score_options : mapping from name to value
            The options of ``score`` that the user set.
        """
        check_choice("rows", rows, ("images", "references"))
        check_choice("dtype", dtype, ("float64", "float32"))
        options = resolve_options(score_options, "captions")
        options = KIND.read_side_inputs(options)
        measure = _pair_measure(measure, options)
        task = _pair_task(references, captions, options.tokenizer, rows)
        # The task of one system and of one part of the data, both without a name.
        tasks = prepare_captions({"": {"": task}}, [measure], options)
        task = tasks[""][""]
        make_pairs = measure.definition.extra["pairs"]
        pairs: _PairValues = make_pairs(task, measure)
        # The prepared measure does not use tokens any more.
        task.tokenizer.forget()
        if notes is not None:
            notes += _collect_notes(task, measure, options)
        bytes_per_row = _BYTES_PER_ENTRY * max(1, len(captions))
        step = max(1, min(memory // bytes_per_row, pairs.n_rows))
        return cls(task, measure, pairs, step, dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and the number of captions."""
        return self.pairs.n_rows, self.pairs.n_columns

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """The first row of each block, and the row after its last."""
        n_rows = self.pairs.n_rows
        starts = range(0, n_rows, self.step)
        return [(start, min(start + self.step, n_rows)) for start in starts]

    def block(self, start: int, stop: int) -> NDArray[np.floating[Any]]:
        """Return the rows start to stop, shape (stop - start, captions)."""
        values: NDArray[np.floating[Any]] = self.pairs.block(start, stop)
        return values.astype(self.dtype, copy=False)

    def matrix(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        resume: bool = True,
        progress: Progress | None = None,
        write_companions: Callable[[], None] | None = None,
    ) -> NDArray[np.floating[Any]]:
        """Return all rows, in memory or in a file.

        Parameters
        ----------
        out, resume, progress
            As for `caption_matrix`.
        write_companions : callable, optional
            Writes the files that belong to ``out``. It is called when the matrix is complete,
            before ``out`` appears under its name.
        """
        if out is not None:
            return write_matrix(
                out,
                self.shape,
                self.dtype,
                self.step,
                self._settings_of_run(),
                self.block,
                resume=resume,
                progress=progress,
                write_companions=write_companions,
            )
        matrix = np.empty(self.shape, self.dtype)
        for start, stop in self.bounds:
            if self.dtype == "float64":
                # Values have this type, so they are computed in place.
                self.pairs.block(start, stop, matrix[start:stop])
            else:
                matrix[start:stop] = self.pairs.block(start, stop)
            report_progress(progress, stop, self.pairs.n_rows, "scoring pairs", "row")
        return matrix

    def top_k(self, k: int, axis: str) -> tuple[Floats, Ints]:
        """Return the k largest entries of each row or column, as ``caption_top_k`` does."""
        check_choice("axis", axis, ("captions", "images"))
        check_k(k, axis, *self.shape)
        if axis == "captions":
            return self._best_captions(k)
        return self._best_rows(k)

    def _best_captions(self, k: int) -> tuple[Floats, Ints]:
        """Return the k largest entries of each row, and their columns."""
        values = []
        columns = []
        for _, block in self._rounded_blocks():
            block_values, block_columns = top_k(block, k)
            values.append(block_values)
            columns.append(block_columns)
        return np.concatenate(values), np.concatenate(columns)

    def _best_rows(self, k: int) -> tuple[Floats, Ints]:
        """Return the k largest entries of each column, and their rows.

        The best entries so far are merged with the best entries of each block. Both arrays have a
        row for each column of the matrix.
        """
        values = np.zeros((self.pairs.n_columns, 0))
        rows = np.zeros(values.shape, np.int64)
        for start, block in self._rounded_blocks():
            block_values, block_rows = top_k(block, min(k, len(block)), columns=True)
            values = np.hstack([values, block_values])
            rows = np.hstack([rows, block_rows + start])
            values, order = top_k(values, min(k, values.shape[1]))
            rows = np.take_along_axis(rows, order, axis=1)
        return values, rows

    def _rounded_blocks(self) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
        """Yield the first row of each block and its values, rounded to be compared."""
        for start, stop in self.bounds:
            yield start, np.round(self.block(start, stop), _DECIMALS)

    @property
    def identity(self) -> str:
        """How the numbers are computed, in one line: the measure, the tokenizer and the fits."""
        fits = [f"{key}@{value}" for key, value in self._fits.items()]
        return ";".join([str(self.measure), f"tok:{self.task.tokenizer.name}", *fits])

    @property
    def settings(self) -> dict[str, str]:
        """The inputs and settings of the matrix, for the file that records a run's progress."""
        measure = self.measure
        return {
            "measure": "|".join([measure.definition.name, *measure.signature()]),
            "tokenizer": str(self.task.tokenizer.name),
            **self._fits,
            "inputs": self._hash_inputs(),
        }

    def _settings_of_run(self) -> dict[str, str]:
        """Return the settings, with a random number for functions without a version.

        Such a function may have changed since another run, so no two runs may have equal settings.
        """
        settings = {}
        suffix = f", a function without a version, of run {token_hex(4)}"
        for key, value in self.settings.items():
            if UNVERSIONED in value:
                value += suffix
            settings[key] = value
        return settings

    def _hash_inputs(self) -> str:
        """Return a hash of the captions and of the references of each row."""
        task = self.task
        hash_of_text = hash_strings(task.texts)
        candidates = hash_of_text[task.candidates]
        references = hash_of_text[task.references]
        digest = hashlib.blake2b(digest_size=16)
        for numbers in (candidates, references, task.indptr):
            digest.update(len(numbers).to_bytes(8, "little"))
            digest.update(numbers.astype("<u8").tobytes())
        return digest.hexdigest()

    @property
    def _fits(self) -> dict[str, str]:
        """The identities of the parser, embedding and document frequencies of the measure."""
        measure = self.measure
        task = self.task
        fits = {}
        if measure["parser"] is not None:
            graphs = task.fits[f"parser/{measure['parser']}"]
            fits["parser"] = graphs.parser.identity
        if measure["embedding"] is not None:
            fits["embedding"] = task.identities[model_key(measure)]
        if measure["df"] is not None:
            stem = str(measure["stem"])
            fits["df"] = task_frequencies(task, str(measure["df"]), stem).hash
        return fits


def _collect_notes(
    task: CaptionTask, measure: Measure, options: ResolvedOptions
) -> list[Fact]:
    """Return the notes on the tuples and the embeddings of a prepared task."""
    models = [model.embedder for model in task.models.values()]
    return [
        *options.tuples.troubles,
        *unused_tuples_notes([measure], options.tuples),
        *embedding_notes.cache_facts(models, options.cache),
    ]


def _pair_measure(measure: str | Measure, options: ResolvedOptions) -> Measure:
    """Return the measure, with ``df=given`` if document frequencies are given.

    Raises
    ------
    InputError
        If there is no matrix of the measure, or an option does not apply to it.
    """
    chosen, *others = parse_all([measure], prefer="captions")
    if others or "pairs" not in chosen.definition.extra:
        remedy = f"choose {', '.join(PAIR_MEASURES)}, with options"
        raise InputError("no-matrix", measure=measure, remedy=remedy)
    if chosen["df"] == "rows" or chosen["category"] not in (None, "all"):
        remedy = "choose df=references and category=all"
        raise InputError("no-matrix", measure=chosen, remedy=remedy)
    for name, measure_option in _MEASURE_OPTIONS.items():
        if name in options.set_by_user and chosen[measure_option] is None:
            raise InputError("not-applicable", name=name, what=chosen)
    if embedding_notes.unused_embeddings([chosen], options.embedding):
        raise InputError("not-applicable", name="embedding", what=chosen)
    if options.doc_freq is None:
        return chosen
    return chosen.with_options(df="given")


def _pair_task(
    references: Sequence[Sequence[str]],
    captions: Sequence[str],
    tokenizer: Any,
    rows: str,
) -> CaptionTask:
    """Return a task with an image for each row, and with all captions as candidates.

    Raises
    ------
    InputError
        If an image has no reference, or an entry is not a string.
    """
    check_references(references)
    check_captions(captions, "captions")
    for name, side in (("references", references), ("captions", captions)):
        if not len(side):
            raise InputError("empty", name, role=name, remedy="give at least one entry")
    for image, texts in enumerate(references):
        if not len(texts):
            where = f"references[{image}]"
            remedy = "leave out images without references"
            raise InputError("nothing-given", where, what="captions", remedy=remedy)
    if rows == "references":
        references = [[text] for text in chain.from_iterable(references)]
    # All captions are candidates of the first image, because a pair may have any of the images.
    candidates: list[Sequence[str]] = [captions]
    candidates += [()] * (len(references) - 1)
    ids = [str(number) for number in range(len(references))]
    return caption_task(candidates, references, ids, tokenizer)
