"""Scores from Python objects, arrays or paths, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.data.inputs import as_labels
from semmetrics.data.labels import Labels
from semmetrics.data.normalize import normalization
from semmetrics.data.prepare import label_task
from semmetrics.data.readers import ReadOptions, read_class_list, read_matrix, read_numbers
from semmetrics.data.task import LabelTask
from semmetrics.data.taxonomy import Taxonomy, as_taxonomy
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.fits import frozen
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.models import embeddings_by_name, with_models
from semmetrics.scoring.planning import cutoffs_of, plan_measures, plan_protocol
from semmetrics.scoring.protocols import Plan, find_protocol
from semmetrics.scoring.score import Score, score_statistics
from semmetrics.scoring.statistics import evaluate

__all__ = ["score", "score_systems"]

BETWEEN = " | "  # the terms of a class, in its name
Progress = Callable[[int, int], None]
COUNTS = {
    "missing_prediction": "items without a prediction",
    "missing_reference": "items without ground truth",
    "empty_prediction_skipped": "items left out because nothing is predicted",
    "shared_terms": "terms that several classes share",
    "predicted_outside_classes": "predicted labels outside the class list",
    "ignored_predictions": "predicted labels ignored",
    "ignored_references": "reference labels ignored",
    "ignored_labels_not_found": "labels to ignore that do not occur",
}


def score(
    preds: Any,
    gts: Any,
    *,
    system: str | None = None,
    **options: Any,
) -> ScoreTable:
    """Score the predictions of one system against ground truth.

    Parameters
    ----------
    preds, gts : path, mapping, sequence, Series, matrix or Labels
        See ``semmetrics.data.inputs.as_labels``.
    system : str, optional
        What the table calls it; the file's name without its ending, or "preds".
    **options
        As for ``score_systems``.

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        If the input or an option is wrong.

    Examples
    --------
    >>> table = score([["cat", "dog"], ["cat"]], [["cat"], ["cat"]], measures=["F1", "MacroF1"])
    >>> [round(s.value, 4) for s in table]
    [0.8333, 1.0]
    """
    return score_systems({system or system_name(preds): preds}, gts, **options)


def system_name(data: Any) -> str:
    """What a system is called: its file's name without endings.

    Examples
    --------
    >>> system_name("runs/resnet.json.gz")
    'resnet'
    """
    if isinstance(data, (str, os.PathLike)) and os.fspath(data) != "-":
        name = Path(data).name.removesuffix(".gz")
        return name.rpartition(".")[0] or name
    return "preds"


def score_systems(
    systems: Mapping[str, Any],
    gts: Any,
    *,
    measures: Iterable[str | Measure | Definition] | str | None = None,
    protocol: str | None = None,
    top_k: int | Sequence[int] | None = None,
    decode: str | Sequence[str] | None = None,
    min_labels: int = 0,
    cardinality: Any = None,
    task: str = "labels",
    normalize: str | None = None,
    missing: str | None = None,
    unpredicted: str | None = None,
    classes: Any = None,
    ignore: Iterable[str] = (),
    weights: Any = None,
    embedding: Any = None,
    lookup: str | None = None,
    oov: str | None = None,
    taxonomy: Any = None,
    ci: bool | Bootstrap = False,
    seed: int = 12345,
    resamples: int = 1000,
    level: float = 0.95,
    read: ReadOptions | None = None,
    keep_rows: bool = True,
    progress: Progress | None = None,
) -> ScoreTable:
    """Score several systems against the same ground truth.

    Parameters
    ----------
    systems : mapping from name to predictions
        Each as ``preds`` of ``score``.
    gts : path, mapping, sequence, Series, matrix or Labels
    measures : sequence of str, Measure or Definition, optional
        Names as papers write them: "F1(average=macro)@3". Left out: a default set for the kind
        of input.
    protocol : str, optional
        The measures and conventions of a paper: "kubany2020", "pineda2019".
    top_k : int or sequence of int, optional
        Every measure at each of these cutoffs.
    decode : str or sequence of str, optional
        The rules that make sets of scores: "threshold:0.5", "threshold:best", "cumulative:0.5",
        "cardinality", "cardinality+scores".
    min_labels : int
        Labels that decoding always keeps.
    cardinality : path or array of shape (items, sizes), or mapping from system, optional
        Probabilities of each set size.
    task : str
        "labels".
    normalize : {"none", "lower", "kubany2020"}, optional
    missing : {"error", "skip", "empty"}, optional
        For ids that only one side has.
    unpredicted : {"keep", "skip"}, optional
        Whether items with an empty prediction are evaluated.
    classes : path or sequence, optional
        The dictionary of labels; names the columns of a matrix.
    ignore : iterable of str
        Labels left out on both sides.
    weights : path, mapping from id, or array, optional
        Sample weights.
    embedding : str, path, Embedder or callable, or mapping from name to those, optional
        What semantic measures compare labels with; left out, the static model that ships with
        the package. See ``semmetrics.embed.open``.
    lookup : {"auto", "kubany2020", "words", "exact", "text"}, optional
        The rule from a term to a vector.
    oov : {"unknown", "skip", "zero", "error"}, optional
        What stands for a term without a vector; "zero" when left out.
    taxonomy : path, mapping from child to parents, pairs or Taxonomy, optional
        What hierarchical measures count ancestors in; "wordnet" is nltk's.
    ci : bool or Bootstrap
        Confidence intervals, with ``seed``, ``resamples`` and ``level``.
    read : ReadOptions, optional
        How files are read.
    keep_rows : bool
        Keep what item values need; saves memory when off.
    progress : callable, optional
        Called with the number done and the number in all.

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        If the input or an option is wrong; the message has the place and the remedy.
    """
    if task != "labels":
        raise InputError(f"task={task!r} is not known", remedy="choose 'labels'")
    if protocol is not None and measures is not None:
        raise InputError("both measures and a protocol are given", remedy="give one of them")
    listed = _classes(classes, read)
    settings = _settings(
        protocol,
        {
            "normalize": normalize,
            "missing": missing,
            "unpredicted": unpredicted,
            "lookup": lookup,
            "oov": oov,
        },
    )
    rules = {name: settings.pop(name) for name in ("lookup", "oov") if name in settings}
    settings.update(ignore=_names(ignore, read), weights=_weights(weights, read), classes=listed)
    ref = as_labels(gts, source="gts", classes=listed, options=read)
    preds = {
        name: as_labels(data, source=name, classes=listed, options=read)
        for name, data in systems.items()
    }
    tasks = {
        name: label_task(pred, ref, heads=_heads(cardinality, name, read), **settings)
        for name, pred in preds.items()
    }
    if not tasks:
        raise InputError("there is no system to score", remedy="give predictions")
    asked: dict[str, Any] = {
        "top_k": cutoffs_of(top_k),
        "rules": (decode,) if decode is None or isinstance(decode, str) else tuple(decode),
        "min_labels": min_labels,
    }
    if protocol is not None:
        given = next(iter(tasks.values())).given
        plan = plan_protocol(
            protocol, n_classes=given, embeddings=embeddings_by_name(embedding), **asked
        )
    else:
        plan = plan_measures(measures, ranked=any(t.ranked for t in tasks.values()), **asked)
    tasks = with_models(tasks, plan.measures, embedding, **rules)
    tasks = _with_taxonomy(tasks, taxonomy, settings.get("normalize", "none"), read)
    bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap(level, resamples, seed)
    scores = _scores(tasks, plan, bootstrap if ci else None, keep_rows, progress)
    return ScoreTable(scores, plan.not_computed, _notes(tasks, [*preds.values(), ref]), tasks)


def _scores(
    tasks: Mapping[str, LabelTask],
    plan: Plan,
    bootstrap: Bootstrap | None,
    keep_rows: bool,
    progress: Progress | None,
) -> list[Score]:
    chosen = {name: [frozen(m, task) for m in plan.measures] for name, task in tasks.items()}
    statistics = {
        name: evaluate(
            task,
            [m for m, _ in chosen[name]],
            keep_rows=keep_rows or bootstrap is not None,
            progress=progress,
        )
        for name, task in tasks.items()
    }
    return score_statistics(
        statistics, chosen, headings=plan.headings, ci=bootstrap, progress=progress
    )


def _settings(protocol: str | None, asked: Mapping[str, str | None]) -> dict[str, Any]:
    """The conventions of the data: the protocol's, which cannot be changed, or those asked for."""
    fixed = {} if protocol is None else find_protocol(protocol).settings
    for name, value in asked.items():
        if value is not None and fixed.get(name, value) != value:
            raise InputError(
                f"protocol {protocol} has {name}={fixed[name]}, not {value}",
                remedy=f"leave {name} out, or name measures instead of the protocol",
            )
    return {**{name: value for name, value in asked.items() if value is not None}, **fixed}


def _with_taxonomy(
    tasks: Mapping[str, LabelTask], taxonomy: Any, normalize: str, read: ReadOptions | None
) -> dict[str, LabelTask]:
    """The tasks with the taxonomy, whose terms are cleaned as the labels are."""
    if taxonomy is None:
        return dict(tasks)
    kinds = as_taxonomy(taxonomy, options=read or ReadOptions()).normalized(
        normalization(normalize)
    )
    return {
        name: replace(task, taxonomy=_with_synonyms(kinds, task)) for name, task in tasks.items()
    }


def _with_synonyms(kinds: Taxonomy, task: LabelTask) -> Taxonomy:
    """A class of several terms stands where the first of them that the taxonomy has does."""
    if task.synonyms is None:
        return kinds
    placed = {
        name: next(
            (code for term in name.split(BETWEEN) if (code := kinds.find(term)) is not None), -1
        )
        for name in task.classes
        if kinds.find(name) is None
    }
    found = {name: code for name, code in placed.items() if code >= 0}
    return replace(kinds, lookup={**kinds.lookup, **found})


def _notes(tasks: Mapping[str, LabelTask], inputs: Iterable[Labels]) -> list[str]:
    notes = [f"{one.source}: {note}" for one in inputs for note in one.notes]
    for name, task in tasks.items():
        notes += [f"{name}: {COUNTS.get(key, key)}: {n:,}" for key, n in task.counts.items() if n]
        for model in task.models.values():
            unknown = model.counts.get("unknown", 0)
            if unknown:
                of = f"{unknown:,} of {len(model.terms):,} terms"
                notes.append(f"{name}: {of} unknown to {model.embedder.identity}: {model.oov}")
    sizes = {len(task) for task in tasks.values()}
    if len(sizes) > 1:
        notes.append("systems are scored on different items: compare with care")
    return notes


def _classes(classes: Any, read: ReadOptions | None) -> list[Any] | None:
    if classes is None or not isinstance(classes, (str, os.PathLike)):
        return None if classes is None else list(classes)
    return list(read_class_list(classes, read or ReadOptions()))


def _names(ignore: Iterable[str], read: ReadOptions | None) -> list[str]:
    if isinstance(ignore, (str, os.PathLike)):
        return read_class_list(ignore, read or ReadOptions())
    return list(ignore)


def _weights(weights: Any, read: ReadOptions | None) -> Any:
    if isinstance(weights, (str, os.PathLike)):
        return read_numbers(weights, read or ReadOptions())
    if hasattr(weights, "to_dict"):  # a Series has its ids in the index
        return {str(name): value for name, value in weights.to_dict().items()}
    return weights


def _heads(cardinality: Any, name: str, read: ReadOptions | None) -> Any:
    if isinstance(cardinality, Mapping):
        cardinality = cardinality.get(name)
    if isinstance(cardinality, (str, os.PathLike)):
        return read_matrix(cardinality, read or ReadOptions())
    try:
        return None if cardinality is None else np.asarray(cardinality, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "cardinality is no matrix of numbers", remedy="give items x sizes of probabilities"
        ) from None
