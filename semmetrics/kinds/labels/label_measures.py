"""Choose the measures of label sets, and complete the measures of protocols."""

from __future__ import annotations

from typing import Any

from semmetrics.kinds.base import CompletedMeasure, Defaults, Options, Tasks, each_task
from semmetrics.kinds.embeddings import by_name
from semmetrics.metrics.definition import DEFAULT_EMBEDDING
from semmetrics.metrics.parsing import parse
from semmetrics.options import OPTIONS

_EXACT = (
    "F1",
    "Precision",
    "Recall",
    "Jaccard",
    "SubsetAccuracy",
    "MicroF1",
    "MacroF1",
)
_SEMANTIC = ("SemF1", "SemPrecision", "SemRecall")
_RANKING = ("mAP", "LRAP", "RankingLoss", "CoverageError")
_GIVE_CLASSES = f"give the class list, {OPTIONS['classes'].keyword_and_flag}"
_NUMBERS = f"the labels are numbers. Give names, or the class list, {OPTIONS['classes'].keyword_and_flag}"


def default_measures(tasks: Tasks, options: Options) -> Defaults:
    """Return the measures that are computed if the user names none.

    Scores without a decoding rule have measures of rankings, and sets have measures of sets. Labels
    that are numbers have no meaning, and no measures that compare meanings.
    """
    all_tasks = [task for _, task in each_task(tasks)]
    has_rule = options.top_k is not None or options.decode is not None
    if any(task.ranked for task in all_tasks) and not has_rule:
        return Defaults(_RANKING)
    if all(task.labels_are_numbers for task in all_tasks):
        return Defaults(_EXACT, dict.fromkeys(_SEMANTIC, _NUMBERS))
    return Defaults((*_EXACT, *_SEMANTIC))


def complete_measure(text: str, tasks: Tasks, options: Options) -> CompletedMeasure:
    """Replace the placeholders in a measure of a protocol, or report a missing input.

    Parameters
    ----------
    text : str
        The measure. The placeholder "{q}" is the number of labels, and "{logits}" is the decoding
        rule for logits.
    tasks : mapping from system and part to LabelTask
    options : ResolvedOptions
    """
    n_classes = _largest_class_list(tasks)
    missing = _missing_from_data(text, tasks, n_classes)
    if missing:
        return CompletedMeasure(text, missing)
    text = text.replace("{logits}", "at-least:0")
    text = text.replace("{q}", str(n_classes))
    return CompletedMeasure(text, _missing_embedding(text, options))


def _largest_class_list(tasks: Tasks) -> int | None:
    """Return the largest number of labels of the tasks that have a fixed number, or None."""
    known_numbers = []
    for _, task in each_task(tasks):
        if task.universe_size is not None:
            known_numbers.append(task.universe_size)
    return max(known_numbers, default=None)


def _missing_from_data(text: str, tasks: Tasks, n_classes: int | None) -> str:
    """Return a text on a missing part of the data that the measure needs, or an empty string."""
    if "{q}" in text and n_classes is None:
        return f"needs the number of labels in the dataset: {_GIVE_CLASSES}"
    if "labels=given" in text and n_classes is None:
        return f"is a mean over the whole dictionary: {_GIVE_CLASSES}"
    if "{logits}" in text and any(_has_no_logits(task) for _, task in each_task(tasks)):
        return "needs logits, or threshold=0.5 (--threshold 0.5): no score is below 0"
    return ""


def _has_no_logits(task: Any) -> bool:
    """Return whether a task has scores, and none of them is below 0."""
    scores = task.pred.scores
    return scores is not None and not (scores < 0).any()


def _missing_embedding(text: str, options: Options) -> str:
    """Return a text on a missing embedding that the measure needs, or an empty string."""
    (measure,) = parse(text)
    name = measure["embedding"]
    if name is None:
        return ""
    specs = by_name(options.embedding)
    if name == DEFAULT_EMBEDDING:
        if name in specs and not _is_shipped(specs[name]):
            return ""
        needs = "needs word vectors (the paper uses GoogleNews word2vec)"
        return f"{needs}: embedding= (--embedding FILE)"
    if name in specs:
        return ""
    give = f"embedding={{{name!r}: 'sbert:{name}'}} (--embedding {name}=sbert:{name})"
    return f"needs the sentence model {name}: {give}"


def _is_shipped(spec: Any) -> bool:
    """Return whether an embedding is specified as a model of the package."""
    from semmetrics.embed.open import SHIPPED

    return isinstance(spec, str) and spec in SHIPPED
