"""States and selections that earlier versions wrote, translated to the keys of this version.

Conventions
-----------
Earlier, all measures used the model "static" if no embedding was given, and a model had the name of
its embedding as key. Now each definition has a model of its own, and `model_key` gives the key. An
earlier state is translated once, when it is loaded:

- Each model gets the keys that its measures have now.
- If a measure has another model now, and no embedding was given, the options get
  ``embedding="static"``. New items are then compared by the model that the state was computed with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from semmetrics.kinds.common import by_name, read_embedding
from semmetrics.kinds.labels.oddities import TERMS
from semmetrics.metrics.definition import (
    DEFAULT_EMBEDDING,
    USUAL_EMBEDDING,
    Measure,
    model_key,
    shared_model_key,
)
from semmetrics.metrics.registry import parse_all


def translate_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an earlier version wrote for a Scorer as this version writes it."""
    options = state["options"]
    measures = list(parse_all(options.get("measures", ()), first=state["kind"]))
    systems = {}
    for system, record in state["systems"].items():
        if record["_plan"] is not None:
            measures += record["_plan"].measures
        systems[system] = _translate_record(record)
    return {**state, "options": name_static(options, measures), "systems": systems}


def name_static(
    options: Mapping[str, Any], measures: Iterable[Measure]
) -> dict[str, Any]:
    """Return options that name the embedding which measures used if none was given.

    The options do not change if every measure still uses the same model.

    Examples
    --------
    >>> from semmetrics.metrics.registry import parse_all
    >>> name_static({}, parse_all(["SemF1"])), name_static({}, parse_all(["SoftF1"]))
    ({'embedding': 'static'}, {})
    """
    given = options.get("embedding")
    if not any(_uses_other_model(measure) for measure in measures):
        return dict(options)
    if given is None:
        return {**options, "embedding": USUAL_EMBEDDING}
    if not isinstance(given, Mapping) or DEFAULT_EMBEDDING in by_name(
        read_embedding(given)
    ):
        return dict(options)
    return {**options, "embedding": {DEFAULT_EMBEDDING: USUAL_EMBEDDING, **given}}


def _uses_other_model(measure: Measure) -> bool:
    """Return whether a measure without an embedding used another model in earlier versions."""
    own_embedding = measure.definition.own_embedding
    return (
        measure["embedding"] == DEFAULT_EMBEDDING and own_embedding != USUAL_EMBEDDING
    )


def translate_models(
    models: Mapping[str, str], measures: Iterable[Measure]
) -> dict[str, str]:
    """Return what each model is, by the keys that measures have now.

    Examples
    --------
    >>> from semmetrics.metrics.registry import parse_all
    >>> translate_models({"default": "words-2@58ce4cf87e89"}, parse_all(["SemF1", "SoftF1"]))
    {'#default, own same': 'words-2@58ce4cf87e89', 'default': 'words-2@58ce4cf87e89'}
    """
    return _Keys.of(measures).translate(models)


def _translate_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a system: what was computed, and what was noted of it."""
    measures = [] if record["_plan"] is None else list(record["_plan"].measures)
    keys = _Keys.of(measures)
    statistics = {}
    for part, sums in record["_statistics"].items():
        models = keys.translate(sums.models)
        statistics[part] = replace(
            sums, models=models, noted=keys.translate_notes(sums.noted)
        )
    fallen = {
        part: keys.translate_notes(noted) for part, noted in record["_fallen"].items()
    }
    return {**record, "_statistics": statistics, "_fallen": fallen}


@dataclass(frozen=True)
class _Keys:
    """The keys that models have now, by their earlier key.

    Attributes
    ----------
    of_measures : mapping from earlier key to keys
        Those of all measures, in their order.
    of_own : mapping from earlier key to key
        Those of measures that have another model of their own now.
    """

    of_measures: Mapping[str, list[str]]
    of_own: Mapping[str, str]

    @classmethod
    def of(cls, measures: Iterable[Measure]) -> _Keys:
        """Return the keys of measures."""
        of_measures: dict[str, list[str]] = {}
        of_own = {}
        for measure in measures:
            if measure["embedding"] is None:
                continue
            earlier, key = shared_model_key(measure), model_key(measure)
            keys = of_measures.setdefault(earlier, [])
            if key not in keys:
                keys.append(key)
            if key != earlier:
                of_own[earlier] = key
        return cls(of_measures, of_own)

    def translate(self, models: Mapping[str, str]) -> dict[str, str]:
        """Return what each model is, by its keys."""
        translated = {}
        for earlier, model in models.items():
            for key in self.of_measures.get(earlier, [earlier]):
                translated[key] = model
        return translated

    def translate_notes(self, noted: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return notes on the terms of models, and on steps that match labels, by their keys."""
        translated = {}
        for key, value in noted.items():
            for new in self._translate_note(key):
                translated[new] = value
        return translated

    def _translate_note(self, key: Any) -> list[Any]:
        if not isinstance(key, tuple) or len(key) < 2:
            return [key]
        what, step = key[:2]
        if what == TERMS and len(key) == 3:
            return [(*key[:2], name) for name in self.of_measures.get(key[2], [key[2]])]
        from semmetrics.metrics.semantic import SemanticMatches

        if isinstance(step, SemanticMatches) and step.model in self.of_own:
            return [(what, replace(step, model=self.of_own[step.model]), *key[2:])]
        return [key]
