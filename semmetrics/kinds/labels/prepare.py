"""Add the label vectors and the taxonomy that measures need to the tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from semmetrics.data.lists import Terms
from semmetrics.errors import InputError
from semmetrics.kinds import embeddings
from semmetrics.kinds.base import (
    Measures,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.labels import oddities
from semmetrics.metrics.definition import (
    Measure,
    model_key,
)

# what measures need: vectors of terms, of lists
_WORDS, _TEXTS = (
    "embedding",
    "text_embedding",
)


def prepare_labels(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Add the label vectors that measures need, and the taxonomy.

    A measure names its embedding, "default" unless another is named. Without such an embedding the
    measure uses the model of its definition. Only embeddings that some measure uses are opened, and
    every distinct term of a task is looked up once in each.

    Raises
    ------
    InputError
        If a measure names an embedding that is not given, or one cannot be opened; if there is no
        such device, or it has no double precision; or if ``max_words`` applies to none of them.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    _check_unverified(tasks, measures)
    needs: dict[str, set[str]] = {}
    by_key: dict[str, Measure] = {}
    for measure in measures:
        if kinds := measure.definition.needs & {_WORDS, _TEXTS}:
            name = embeddings.embedding_name(measure, options.embedding)
            needs.setdefault(name, set()).update(kinds)
            by_key.setdefault(model_key(measure), measure)
    taxonomy = options.taxonomy
    if not needs and taxonomy is None:
        return tasks
    is_placed = any("taxonomy" in measure.definition.needs for measure in measures)
    models, device = {}, None
    if needs:
        from semmetrics.core.backend import find_device
        from semmetrics.embed.lookup import label_vectors, rules_for

        device = find_device(options.device)
        models = embeddings.open_models(list(by_key.values()), options)

    def prepared(task: Any) -> Any:
        plain = task.synonyms is None
        terms = [(name,) for name in task.classes] if plain else task.synonyms.terms
        looked_up = {}
        for name, model in models.items():
            rules = rules_for(model, options.lookup, options.oov)
            whole = needs[name] == {_TEXTS}
            looked_up[name] = label_vectors(
                terms, model, whole=whole, device=device, **rules
            )
        found = {key: _with_policy(looked_up, m, options) for key, m in by_key.items()}
        by_word = {
            name: one for name, one in looked_up.items() if _WORDS in needs[name]
        }
        observations = task.observations.copy()
        oddities.observe_terms(observations, found)
        oddities.count_known_terms(observations, by_word)
        if taxonomy is not None and is_placed:
            placed = [_place_in(taxonomy, some) for some in task.terms or terms]
            codes = [code for code in placed if code is not None]
            n_with_parents = int((taxonomy.depth[codes] > 0).sum())
            observations.count(oddities.PLACED, len(codes))
            observations.count(oddities.WITH_PARENTS, n_with_parents)
        return replace(task, models=found, taxonomy=taxonomy, observations=observations)

    return {
        name: {part: prepared(t) for part, t in parts.items()}
        for name, parts in tasks.items()
    }


def _with_policy(
    looked_up: Mapping[str, Any], measure: Measure, options: Options
) -> Any:
    """Return the label vectors of a measure's embedding, with its policy for unknown labels."""
    from semmetrics.embed.lookup import rules_for

    vectors = looked_up[embeddings.embedding_name(measure, options.embedding)]
    default = measure.definition.oov
    rules = rules_for(vectors.embedder, options.lookup, options.oov, default)
    if rules["oov"] == "skip" and vectors.oov != "skip":
        return vectors.skip_unknown()
    return vectors


def _place_in(taxonomy: Any, terms: Terms) -> int | None:
    """Return the place of a label in a taxonomy; None if it has none of its terms."""
    places = (taxonomy.find(term) for term in terms)
    return next((place for place in places if place is not None), None)


def _check_unverified(tasks: Tasks, measures: Measures) -> None:
    """Raise an error for a measure that cannot leave unverified cells out."""
    every = [
        task.unverified for _, task in each_task(tasks) if task.unverified is not None
    ]
    names = [str(measure) for measure in measures if measure["q"] is not None]
    if not every or not names:
        return
    if every[0].categories is not None:
        raise InputError("counts-unverified", measure=names[0])
    raise InputError("not-applicable", name="unknown_value", what=names[0])
