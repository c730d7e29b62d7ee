"""The record of label sets: how they are read, joined, prepared and scored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.arguments import foreign_errors
from semmetrics.data.form import ReadOptions, is_iterable
from semmetrics.data.lists import Lists
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError
from semmetrics.kinds import (
    Defaults,
    Kind,
    Options,
    Tasks,
    each_task,
    read_set_size_probs,
    read_weights,
)
from semmetrics.kinds.embeddings import embeddings_by_name, open_models, read_embedding
from semmetrics.kinds.labels.classes import normalization
from semmetrics.kinds.labels.notes import BY_NAME, label_notes
from semmetrics.kinds.labels.reading import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.messages import a_kind, listing
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.registry import parse
from semmetrics.options import OPTIONS

__all__ = ["KIND", "prepare"]

_EXACT = ("F1", "Precision", "Recall", "Jaccard", "SubsetAccuracy", "MicroF1", "MacroF1")
_SEMANTIC = ("SemF1", "SemPrecision", "SemRecall")
_WORDS, _TEXTS = "embedding", "text_embedding"  # what measures need: vectors of terms, of lists
_GIVE_CLASSES = f"give the class list, {OPTIONS['classes'].both}"
_RANKING = ("mAP", "LRAP", "RankingLoss", "CoverageError")


def read_beside(options: Options) -> Options:
    """Read the class list, the labels to ignore, the weights, the taxonomy and vectors of words."""
    files = (options["read"] or ReadOptions()).beside()
    taxonomy = options["taxonomy"]
    if taxonomy is not None:
        from semmetrics.data.taxonomy import as_taxonomy

        taxonomy = as_taxonomy(taxonomy, options=files)
        taxonomy = taxonomy.normalized(normalization(options["normalize"]))
    classes = options["classes"]
    return options.replace(
        embedding=read_embedding(options["embedding"]),
        classes=None if classes is None else _read_names(classes, files, "classes"),
        ignore=_read_names(options["ignore"], files, "ignore"),
        weights=read_weights(options["weights"], files),
        taxonomy=taxonomy,
    )


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _read_names(names: Any, files: ReadOptions, option: str) -> list[Any]:
    """Return a list of names, read where it is a path."""
    if not _is_path(names):
        if not is_iterable(names) or isinstance(names, (bytes, bytearray)):
            raise InputError(
                f"{option}= is {a_kind(names)}", remedy="give a list of labels, or a path"
            )
        return list(names)
    from semmetrics.data.side_inputs import read_class_list

    return list(read_class_list(names, files))


def read(data: Any, source: str, options: Options) -> Lists:
    """Read one side; the class list names the columns of a matrix."""
    return as_labels(data, source=source, classes=options["classes"], options=options["read"])


def make_tasks(preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
    """Make the task of each system."""
    given = options["set_size_probs"]
    with foreign_errors("set_size_probs"):
        some = given if isinstance(given, Mapping) else ()
        strange = [name for name in some if name not in preds]
    if strange:
        raise InputError(
            f"set_size_probs names {listing(strange)}, which is no system",
            remedy=f"the systems are {listing(preds)}",
        )
    names = ("normalize", "missing", "empty_predictions", "classes", "ignore", "weights")
    conventions = {name: options[name] for name in (*names, "first_set_size")}
    return {
        name: {
            "": label_task(
                pred,
                ref,
                heads=_set_size_probs_of(name, options),
                **conventions,
            )
        }
        for name, pred in preds.items()
    }


def _set_size_probs_of(system: str, options: Options) -> Any:
    """Return the probabilities of set sizes of one system."""
    given = options["set_size_probs"]
    if isinstance(given, Mapping):
        with foreign_errors("set_size_probs"):
            given = given.get(system)
    return read_set_size_probs(given, options["read"])


def defaults(tasks: Tasks, options: Options) -> Defaults:
    """Return ranking measures for scores without a rule, otherwise set measures.

    Lists that are all numbers have no meaning to compare.
    """
    every = [task for _, task in each_task(tasks)]
    decided = options["top_k"] is not None or options["decode"] is not None
    if any(task.ranked for task in every) and not decided:
        return Defaults(_RANKING)
    if all(task.numbered for task in every):
        why = f"the labels are numbers; {BY_NAME}"
        return Defaults(_EXACT, dict.fromkeys(_SEMANTIC, why))
    return Defaults((*_EXACT, *_SEMANTIC))


def prepare(tasks: Tasks, measures: Sequence[Measure], options: Options) -> Tasks:
    """Add the label vectors that measures need, and the taxonomy.

    A measure names its embedding, "default" where nothing else is said. Those are opened that some
    measure names, and every distinct term of a task is looked up once in each.

    Raises
    ------
    InputError
        If a measure names an embedding that is not given, or one cannot be opened; if there is no
        such device, or it has no double precision; or if ``max_words`` applies to none of them.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    needs, taxonomy = _needs(measures), options["taxonomy"]
    if not needs and taxonomy is None:
        return tasks
    look_up = _open_lookup(needs, options) if needs else lambda task: {}
    return {
        system: {
            part: replace(task, models=look_up(task), taxonomy=taxonomy)
            for part, task in parts.items()
        }
        for system, parts in tasks.items()
    }


def _open_lookup(
    needs: Mapping[str, set[str]], options: Options
) -> Callable[[LabelTask], dict[str, Any]]:
    """Open the embeddings of those names, and return what looks up the labels of a task."""
    from semmetrics.core.backend import find_device
    from semmetrics.embed.lookup import label_vectors, rules_for

    computing = find_device(options["device"])
    models = open_models(needs, options)

    def look_up(task: LabelTask) -> dict[str, Any]:
        terms = [(name,) for name in task.classes]
        return {
            name: label_vectors(
                terms if task.synonyms is None else task.synonyms.terms,
                model,
                whole=needs[name] == {_TEXTS},
                device=computing,
                **rules_for(model, options["lookup"], options["oov"]),
            )
            for name, model in models.items()
        }

    return look_up


def _needs(measures: Iterable[Measure]) -> dict[str, set[str]]:
    """Return the names of the embeddings that measures need, and of what each gives vectors."""
    needs: dict[str, set[str]] = {}
    for measure in measures:
        kinds = measure.definition.needs & {_WORDS, _TEXTS}
        if kinds:
            needs.setdefault(str(measure["embedding"]), set()).update(kinds)
    return needs


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Fill the size of the class list into a protocol's measure, or say what is lacking."""
    n_classes = next(task for _, task in each_task(tasks)).given
    if "{q}" in text and n_classes is None:
        return text, f"needs the number of labels of the data set: {_GIVE_CLASSES}"
    if "labels=given" in text and n_classes is None:
        return text, f"is a mean over the whole dictionary: {_GIVE_CLASSES}"
    given = embeddings_by_name(options["embedding"])
    text = text.replace("{q}", str(n_classes))
    (measure,) = parse(text)
    name = measure["embedding"]
    if name not in (None, *given):
        model = f"sbert:{name}"
        return text, (
            f"needs the sentence model {name}: embedding={{{name!r}: {model!r}}} "
            f"(--embedding {name}={model})"
        )
    if name == "default" and given["default"] == "static":
        needs = "needs word vectors (the paper's are GoogleNews word2vec)"
        return text, f"{needs}: embedding= (--embedding FILE)"
    return text, ""


KIND = Kind(
    name="labels",
    read_beside=read_beside,
    read=read,
    make_tasks=make_tasks,
    defaults=defaults,
    fill_entry=fill_entry,
    prepare=prepare,
    notes=label_notes,
    name_counts={
        "shared_terms": "same",
        "predicted_outside_classes": "distinct",
        "ignored_labels_not_found": "distinct",
    },
)
