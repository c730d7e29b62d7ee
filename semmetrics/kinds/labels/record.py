"""The record of label sets: how they are read, joined, prepared and scored."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.data.form import ReadOptions, is_iterable
from semmetrics.data.lists import Lists
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
from semmetrics.kinds.labels import as_labels, facts
from semmetrics.kinds.labels.normalization import normalization
from semmetrics.kinds.labels.task import label_task
from semmetrics.messages import listing
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.registry import parse
from semmetrics.options import OPTIONS

_EXACT = ("F1", "Precision", "Recall", "Jaccard", "SubsetAccuracy", "MicroF1", "MacroF1")
_SEMANTIC = ("SemF1", "SemPrecision", "SemRecall")
_WORDS, _TEXTS = "embedding", "text_embedding"  # what measures need: vectors of terms, of lists
_GIVE_CLASSES = f"give the class list, {OPTIONS['classes'].both}"
_NUMBERS = f"the labels are numbers; give names, or the class list, {OPTIONS['classes'].both}"
_RANKING = ("mAP", "LRAP", "RankingLoss", "CoverageError")
_IN_TASK = ("normalize", "missing", "empty_predictions", "classes", "ignore", "weights",
            "first_set_size")  # fmt: skip


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


def _read_names(names: Any, files: ReadOptions, option: str) -> list[Any]:
    """Return a list of names, read if it is a path."""
    if isinstance(names, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_class_list

        return list(read_class_list(names, files))
    if not is_iterable(names) or isinstance(names, (bytes, bytearray)):
        raise InputError("wrong-type", option, value=names, wanted="a list of labels, or a path")
    return list(names)


def read(data: Any, source: str, options: Options) -> Lists:
    """Read one side; the class list names the columns of a matrix."""
    return as_labels(data, source=source, classes=options["classes"], options=options["read"])


def make_tasks(preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
    """Make the task of each system."""
    given, tasks = options["set_size_probs"], {}
    probs = dict(given) if isinstance(given, Mapping) else dict.fromkeys(preds, given)
    for name in probs:
        if name not in preds:
            remedy = f"the systems are {listing(preds)}"
            raise InputError("unknown-name", "set_size_probs", what="system", value=name,
                             remedy=remedy)  # fmt: skip
    for name, pred in preds.items():
        heads = read_set_size_probs(probs.get(name), options["read"])
        conventions = {option: options[option] for option in _IN_TASK}
        tasks[name] = {"": label_task(pred, ref, heads=heads, **conventions)}
    return tasks


def defaults(tasks: Tasks, options: Options) -> Defaults:
    """Return ranking measures for scores without a rule, otherwise set measures.

    Lists that are all numbers have no meaning to compare.
    """
    every = [task for _, task in each_task(tasks)]
    decided = options["top_k"] is not None or options["decode"] is not None
    if any(task.ranked for task in every) and not decided:
        return Defaults(_RANKING)
    if all(task.numbered for task in every):
        return Defaults(_EXACT, dict.fromkeys(_SEMANTIC, _NUMBERS))
    return Defaults((*_EXACT, *_SEMANTIC))


def prepare(tasks: Tasks, measures: Sequence[Measure], options: Options) -> Tasks:
    """Add the label vectors that measures need, and the taxonomy.

    A measure names its embedding, "default" unless another is named. Only embeddings that some
    measure names are opened, and every distinct term of a task is looked up once in each.

    Raises
    ------
    InputError
        If a measure names an embedding that is not given, or one cannot be opened; if there is no
        such device, or it has no double precision; or if ``max_words`` applies to none of them.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    needs: dict[str, set[str]] = {}
    for measure in measures:
        kinds = measure.definition.needs & {_WORDS, _TEXTS}
        if kinds:
            needs.setdefault(str(measure["embedding"]), set()).update(kinds)
    taxonomy = options["taxonomy"]
    if not needs and taxonomy is None:
        return tasks
    models, device = {}, None
    if needs:
        from semmetrics.core.backend import find_device
        from semmetrics.embed.lookup import label_vectors, rules_for

        device, models = find_device(options["device"]), open_models(needs, options)

    def prepared(task: Any) -> Any:
        plain = task.synonyms is None
        terms = [(name,) for name in task.classes] if plain else task.synonyms.terms
        found = {
            name: label_vectors(
                terms,
                model,
                whole=needs[name] == {_TEXTS},
                device=device,
                **rules_for(model, options["lookup"], options["oov"]),
            )
            for name, model in models.items()
        }
        return replace(task, models=found, taxonomy=taxonomy)

    return {name: {part: prepared(t) for part, t in parts.items()} for name, parts in tasks.items()}


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Fill the size of the class list into a protocol's measure, or name what is lacking."""
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
        give = f"embedding={{{name!r}: 'sbert:{name}'}} (--embedding {name}=sbert:{name})"
        return text, f"needs the sentence model {name}: {give}"
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
    facts=facts.label_facts,
    describer=facts,
    name_counts={
        "shared_terms": "same",
        "predicted_outside_classes": "distinct",
        "ignored_labels_not_found": "distinct",
    },
)
