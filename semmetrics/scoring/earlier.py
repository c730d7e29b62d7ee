"""Selections that earlier versions wrote, translated to the keys of this version.

Conventions
-----------
Earlier, all measures used the model "static" if no embedding was given, and a model had the name of
its embedding as key. Now each definition has a model of its own, and `model_key` gives the key. An
earlier selection is translated once, when it is loaded:

- Each model gets the keys that its measures have now.
- If a measure has another model now, and no embedding was given, the options get
  ``embedding="static"``. New items are then compared by the model of the selection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from semmetrics.kinds.embeddings import by_name, read_embedding
from semmetrics.metrics.definition import (
    DEFAULT_EMBEDDING,
    USUAL_EMBEDDING,
    Measure,
    model_key,
    shared_model_key,
)


def name_static(
    options: Mapping[str, Any], measures: Iterable[Measure]
) -> dict[str, Any]:
    """Return options that name the embedding which measures used if none was given.

    The options do not change if every measure still uses the same model.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
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
    >>> from semmetrics.metrics.parsing import parse_all
    >>> translate_models({"default": "words-2@58ce4cf87e89"}, parse_all(["SemF1", "SoftF1"]))
    {'#default, own same': 'words-2@58ce4cf87e89', 'default': 'words-2@58ce4cf87e89'}
    """
    keys = _keys_by_earlier_key(measures)
    translated = {}
    for earlier, model in models.items():
        for key in keys.get(earlier, [earlier]):
            translated[key] = model
    return translated


def _keys_by_earlier_key(measures: Iterable[Measure]) -> dict[str, list[str]]:
    """Return the keys that the models of measures have now, by their earlier key."""
    keys: dict[str, list[str]] = {}
    for measure in measures:
        if measure["embedding"] is None:
            continue
        of_earlier = keys.setdefault(shared_model_key(measure), [])
        if model_key(measure) not in of_earlier:
            of_earlier.append(model_key(measure))
    return keys
