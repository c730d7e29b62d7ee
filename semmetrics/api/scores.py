"""Scores from Python objects, arrays or paths, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from semmetrics.api.label_scores import score_labels
from semmetrics.data.form import ReadOptions
from semmetrics.data.inputs import open_input
from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.parse import parse_all
from semmetrics.scoring.protocols import find_protocol

__all__ = ["TASKS", "first_opened", "said_kind", "score", "score_systems", "system_name"]

TASKS = ("labels", "captions")

Progress = Callable[[int, int], None]


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
    preds, gts : path, mapping, sequence, Series, matrix, Lists or Matrix
        See ``semmetrics.kinds.labels.reading.as_labels``.
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
    task: str | None = None,
    normalize: str | None = None,
    missing: str | None = None,
    unpredicted: str | None = None,
    classes: Any = None,
    ignore: Iterable[str] = (),
    weights: Any = None,
    embedding: Any = None,
    lookup: str | None = None,
    oov: str | None = None,
    device: str | None = None,
    limit: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
    calibration: Any = None,
    taxonomy: Any = None,
    tokenizer: Any = None,
    df: Any = None,
    human: bool = False,
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
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
    measures : sequence of str, Measure or Definition, optional
        Names as papers write them: "F1(average=macro)@3". Left out: a default set for the kind
        of input.
    protocol : str, optional
        The measures and conventions of a paper: "kubany2020", "pineda2019", "coco-caption".
    top_k : int or sequence of int, optional
        Every measure at each of these cutoffs.
    decode : str or sequence of str, optional
        The rules that make sets of scores: "threshold:0.5", "threshold:best", "cumulative:0.5",
        "cardinality", "cardinality+scores".
    min_labels : int
        Labels that decoding always keeps.
    cardinality : path or array of shape (items, sizes), or mapping from system, optional
        Probabilities of each set size.
    task : {"labels", "captions"}, optional
        What is evaluated; left out, the shape of the data tells.
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
    device : str, optional
        Where sentence and transformer models run: "cpu" (when left out), "cuda", "cuda:1", "mps".
    limit : int, optional
        The first words only, of files of word vectors. An option that says nothing about any
        embedding in use is an error.
    cache : bool or path
        Keep the vectors of models that read text in an SQLite file, and take them from there.
    calibration : path or Calibration, or sequence of those, optional
        The threshold of measures with ``threshold=auto``, as `calibrate_threshold` found it; one
        for each embedding in use.
    taxonomy : path, mapping from child to parents, pairs or Taxonomy, optional
        What hierarchical measures count ancestors in; "wordnet" is nltk's.
    tokenizer : {"ptb", "ptb-java", "13a", "whitespace"}, callable or Tokenizer, optional
        Captions: what makes tokens of them; "ptb" when left out.
    df : path or DocumentFrequencies, optional
        Captions: document frequencies for CIDEr and CIDEr-D in place of the references'.
    human : bool
        Captions: score the references as well, each against the others of its image, as the
        system "human".
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
    if protocol is not None and measures is not None:
        raise InputError("both measures and a protocol are given", remedy="give one of them")
    if not systems:
        raise InputError("there is no system to score", remedy="give predictions")
    if measures is not None and not isinstance(measures, (str, Measure, Definition)):
        measures = list(measures)  # they are looked at twice
    kind = said_kind(task, protocol, measures)
    if kind is None:
        from semmetrics.kinds.resolve import kind_of

        systems, gts = first_opened(systems, gts, read)
        kind = kind_of(next(iter(systems.values())), gts, options=read or ReadOptions()).task
    shared: dict[str, Any] = {
        "measures": measures,
        "protocol": protocol,
        "missing": missing,
        "weights": weights,
        "ci": _bootstrap(ci, level, resamples, seed),
        "read": read,
        "keep_rows": keep_rows,
        "progress": progress,
    }
    of_labels = {
        "top_k": top_k,
        "decode": decode,
        "min_labels": min_labels,
        "cardinality": cardinality,
        "normalize": normalize,
        "unpredicted": unpredicted,
        "classes": classes,
        "ignore": ignore,
        "embedding": embedding,
        "lookup": lookup,
        "oov": oov,
        "device": device,
        "limit": limit,
        "cache": cache,
        "calibration": calibration,
        "taxonomy": taxonomy,
    }
    of_captions = {"tokenizer": tokenizer, "df": df, "human": human}
    if kind == "captions":
        from semmetrics.api.caption_scores import score_captions  # labels need none of it

        _refuse(of_labels, kind)
        return score_captions(systems, gts, **shared, **of_captions)
    _refuse(of_captions, kind)
    return score_labels(systems, gts, **shared, **of_labels)


def said_kind(task: str | None, protocol: str | None, measures: Any) -> str | None:
    """What is evaluated, as far as it is said: by itself, by the protocol, or by the measures.

    Raises
    ------
    InputError
        If the task is not known, or the protocol is for another.

    Examples
    --------
    >>> said_kind(None, "coco-caption", None), said_kind(None, None, ["F1"])
    ('captions', 'labels')
    """
    if task not in (None, *TASKS):
        raise InputError(f"task={task!r} is not known", remedy=f"choose one of {listing(TASKS)}")
    meant = None if protocol is None else find_protocol(protocol).task
    if task is not None and meant not in (None, task):
        raise InputError(
            f"protocol {protocol} is for {meant}, not for {task}", remedy="leave task= (--task) out"
        )
    if task or meant or measures is None:
        return task or meant
    named = [measures] if isinstance(measures, (str, Measure, Definition)) else measures
    kinds = {measure.definition.task for measure in parse_all(named)}
    return kinds.pop() if len(kinds) == 1 else None


def first_opened(
    systems: Mapping[str, Any], gts: Any, read: ReadOptions | None
) -> tuple[dict[str, Any], Any]:
    """The first system and the ground truth read into memory, where they are paths."""
    first = next(iter(systems))
    return {**systems, first: open_input(systems[first], read)}, open_input(gts, read)


def _refuse(options: Mapping[str, Any], kind: str) -> None:
    """An error for options that say nothing about what is evaluated."""
    given = [name for name, value in options.items() if _is_given(value)]
    if given:
        flags = [f"--{name.replace('_', '-')}" for name in given]
        flags += ["--threshold"] if "decode" in given else []
        raise InputError(
            f"{', '.join(given)} ({', '.join(flags)}) mean{'s' if len(given) == 1 else ''} nothing "
            f"for {kind}",
            remedy="leave that out, or say task= (--task)",
        )


def _is_given(value: Any) -> bool:
    plain = value is None or isinstance(value, (bool, int, tuple, list, str))
    return bool(value) if plain else True


def _bootstrap(ci: bool | Bootstrap, level: float, resamples: int, seed: int) -> Bootstrap | None:
    made = ci if isinstance(ci, Bootstrap) else Bootstrap(level, resamples, seed)
    return made if ci else None
