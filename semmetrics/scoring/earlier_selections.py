"""Selections of items that earlier versions saved, translated to the keys of this version.

Conventions
-----------
In earlier versions, all measures used the model "static" if no embedding was given, and the key of
a model was the name of its embedding. Now each definition has its own default model, and
`model_key` returns the key. A selection of an earlier version is translated when it is loaded:

- Each model gets the keys that its measures have now.
- If a measure has another default model now, and no embedding was given, the options get
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
    """Return options that name the embedding that measures used by default.

    The options do not change if every measure still uses the same model.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> name_static({}, parse_all(["SemF1"])), name_static({}, parse_all(["SoftF1"]))
    ({'embedding': 'static'}, {})
    """
    embedding = options.get("embedding")
    if not any(_uses_other_model(measure) for measure in measures):
        return dict(options)
    if embedding is None:
        return {**options, "embedding": USUAL_EMBEDDING}
    if not isinstance(embedding, Mapping):
        return dict(options)
    embeddings = by_name(read_embedding(embedding))
    if DEFAULT_EMBEDDING in embeddings:
        return dict(options)
    return {**options, "embedding": {DEFAULT_EMBEDDING: USUAL_EMBEDDING, **embedding}}


def _uses_other_model(measure: Measure) -> bool:
    """Return whether a measure without an embedding used another model in earlier versions."""
    own_embedding = measure.definition.own_embedding
    is_default = measure["embedding"] == DEFAULT_EMBEDDING
    return is_default and own_embedding != USUAL_EMBEDDING


def translate_models(
    models: Mapping[str, str], measures: Iterable[Measure]
) -> dict[str, str]:
    """Return the identity of each model, by the keys that measures have now.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> translate_models({"default": "words-2@58ce4cf87e89"}, parse_all(["SemF1", "SoftF1"]))
    {'#default, own same': 'words-2@58ce4cf87e89', 'default': 'words-2@58ce4cf87e89'}
    """
    new_keys = _keys_by_earlier_key(measures)
    translated = {}
    for earlier_key, identity in models.items():
        for key in new_keys.get(earlier_key, [earlier_key]):
            translated[key] = identity
    return translated


def _keys_by_earlier_key(measures: Iterable[Measure]) -> dict[str, list[str]]:
    """Return the keys that the models of measures have now, by their earlier key."""
    keys: dict[str, list[str]] = {}
    for measure in measures:
        if measure["embedding"] is None:
            continue
        key = model_key(measure)
        keys_now = keys.setdefault(shared_model_key(measure), [])
        if key not in keys_now:
            keys_now.append(key)
    return keys
