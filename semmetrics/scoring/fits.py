"""Fits of measures on the whole data, which are made before anything is evaluated.

Conventions
-----------
Some values of options require a fit, such as ``decode=threshold:best``. It is done once on
the whole data, and resamples are not fitted again. The fitted measure and its signature
contain the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.metrics.definition import Measure, model_key
from semmetrics.metrics.families import terms_of
from semmetrics.options import COLUMNS
from semmetrics.scoring.measures import choose_measures
from semmetrics.scoring.result import BEST_FIT
from semmetrics.scoring.signature import escape
from semmetrics.scoring.statistics import Statistics

if TYPE_CHECKING:
    from semmetrics.data.lists import Lists
    from semmetrics.metrics.cider import DocumentFrequencies
    from semmetrics.scoring.calibration import Calibration
    from semmetrics.scoring.evaluation import Evaluation

BEST = "threshold:best"


class FittedMeasure(NamedTuple):
    """A measure after one or all of the fits that its options require.

    Attributes
    ----------
    measure : Measure
    note : str
        What was fitted, for the signature.
    """

    measure: Measure
    note: str


class EvaluatedPart(NamedTuple):
    """The fitted measures and the statistics of one part of a system.

    Attributes
    ----------
    measures : sequence of FittedMeasure
    statistics : Statistics
    """

    measures: Sequence[FittedMeasure]
    statistics: Statistics


def fit(
    measure: Measure, task: Any, calibrations: Sequence[Calibration] = ()
) -> FittedMeasure:
    """Fit a measure on the task of a system.

    Parameters
    ----------
    measure : Measure
    task : Task
        Prepared, with the models and fits that the measure needs.
    calibrations : sequence of Calibration
        The thresholds for ``threshold=auto``. If there are none, the threshold of the
        embedding is used.

    Raises
    ------
    InputError
        If no calibration is for the measure's embedding, the predictions have no scores,
        or the measure has no best score threshold.
    """
    notes = []
    for option, fit_option in _FITS.items():
        if measure[option] is not None:
            measure, note = fit_option(measure, task, calibrations)
            if note:
                notes.append(note)
    return FittedMeasure(measure, "|".join(notes))


@contextmanager
def naming_system(system: str) -> Iterator[None]:
    """Add the name of a system to an error without a place.

    With an empty name, errors do not change.
    """
    try:
        yield
    except InputError as error:
        # A missing package is not the fault of a system.
        is_missing_package = isinstance(error, MissingDependencyError)
        if not system or error.where or is_missing_package:
            raise
        raise error.placed(system)  # noqa: B904


# ---- thresholds -----------------------------------------------------------------------


def _fit_similarity_threshold(
    measure: Measure, task: Any, calibrations: Sequence[Calibration]
) -> FittedMeasure:
    """Replace ``threshold=auto`` by the threshold of a calibration or of the embedding."""
    if measure["threshold"] != "auto":
        return FittedMeasure(measure, "")
    from semmetrics.metrics.label_similarity import label_vectors_of

    vectors = label_vectors_of(task, model_key(measure))
    if not calibrations:
        with_threshold = measure.with_options(threshold=repr(vectors.threshold))
        return FittedMeasure(with_threshold, "")
    identity = vectors.embedder.identity
    for calibration in calibrations:
        if calibration.embedding == identity:
            threshold = repr(calibration.threshold)
            calibrated = measure.with_options(threshold=threshold)
            return FittedMeasure(calibrated, calibration.note)
    raise InputError(
        "other-embedding",
        measure=measure,
        name=measure.definition.name,
        embedding=identity,
        known=[calibration.embedding for calibration in calibrations],
    )


def _fit_score_threshold(
    measure: Measure, task: Any, calibrations: Sequence[Calibration]
) -> FittedMeasure:
    """Replace ``decode=threshold:best`` by the score threshold with the best F1."""
    if measure["decode"] != BEST:
        return FittedMeasure(measure, "")
    from semmetrics.scoring.best_score_threshold import (
        find_best_threshold,
        searched_measure,
    )

    best = find_best_threshold(measure, task)
    name_of_f1 = searched_measure(measure)
    note = f"{BEST_FIT}{name_of_f1}-{measure['average']}"
    fitted = measure.with_options(decode=f"threshold:{best!r}")
    return FittedMeasure(fitted, note)


# ---- document frequencies and parsers -------------------------------------------------


def _fit_frequencies(
    measure: Measure, task: Any, calibrations: Sequence[Calibration]
) -> FittedMeasure:
    """Name the document frequencies in the signature.

    Frequencies that the user gives replace the frequencies of the references, and the measure
    gets ``df=given``.
    """
    from semmetrics.metrics.cider import frequency_hash

    if measure["df"] == "references" and "df" in task.fits:
        measure = measure.with_options(df="given")
    digest = frequency_hash(task, str(measure["df"]), str(measure["stem"]))
    return FittedMeasure(measure, f"fit:df@{digest}")


def _name_parser(
    measure: Measure, task: Any, calibrations: Sequence[Calibration]
) -> FittedMeasure:
    """Name the parser in the signature."""
    scene_graphs = task.fits[f"parser/{measure['parser']}"]
    note = f"fit:parser-{escape(scene_graphs.parser.identity)}"
    return FittedMeasure(measure, note)


_FITS = {
    "threshold": _fit_similarity_threshold,
    "decode": _fit_score_threshold,
    "df": _fit_frequencies,
    "parser": _name_parser,
}
"""The fit for each option of a measure that may require one."""


def stems_to_count(evaluation: Evaluation, weights: object = None) -> list[str]:
    """Return the stems for which measures count document frequencies on all references.

    There are none if the user gives frequencies. There are also none if items may be left
    out, because the user must give frequencies in this case.
    """
    options = evaluation.options
    is_of_captions = evaluation.kind.name in COLUMNS["caption"]
    if not is_of_captions or options.doc_freq is not None:
        return []
    if weights is not None or options.missing in ("skip", "common"):
        return []
    stems = set()
    chosen = choose_measures(evaluation.kind, tasks={}, options=options)
    for measure in chosen.measures:
        # Captions are data without parts, whose terms have the key "".
        terms = terms_of(measure).get("", (measure,))
        for term in terms:
            if term["df"] == "references":
                stems.add(str(term["stem"]))
    return sorted(stems)


def count_frequencies(
    references: Lists, evaluation: Evaluation, stems: Sequence[str]
) -> dict[str, DocumentFrequencies]:
    """Count the document frequencies of references.

    Parameters
    ----------
    references : Lists
    evaluation : Evaluation
        Of captions.
    stems : sequence of str

    Returns
    -------
    dict from key of a fit to DocumentFrequencies
    """
    from semmetrics.metrics.cider import fit_document_frequencies

    texts = references.to_list()
    tokenizer = evaluation.options.tokenizer
    frequencies = {}
    for stem in stems:
        key = f"references/{stem}"
        frequencies[key] = fit_document_frequencies(texts, tokenizer, stem)
    evaluation.forget_items()  # the tokens that the tokenizer has stored
    return frequencies


def add_up_frequencies(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add the document frequencies of parts that have no image in common.

    Tables of similar size are added first, so that large tables are rarely copied.
    """
    # Partial sums, each more than twice as large as the next one.
    sums: list[dict[str, Any]] = []
    for part in parts:
        added = dict(part)
        while sums and _count_entries(sums[-1]) <= 2 * _count_entries(added):
            added = _add(sums.pop(), added)
        sums.append(added)
    if not sums:
        return {}
    total = sums.pop()
    while sums:
        total = _add(sums.pop(), total)
    return total


def _add(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Add the document frequencies of two parts by key. Both parts have the same keys."""
    return {key: first[key] + frequencies for key, frequencies in second.items()}


def _count_entries(tables: Mapping[str, Any]) -> int:
    """Return the number of entries in all tables."""
    return sum(len(table) for table in tables.values())
