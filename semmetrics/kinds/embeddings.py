"""Find and open the embeddings that measures use.

The user gives one embedding, which is then the default, or several by name. A measure names the
embedding that it uses, and otherwise uses the default. If the user gives no default, the measure
uses the model of its definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semmetrics.errors import InputError
from semmetrics.kinds.base import Measures, Options
from semmetrics.messages import listing
from semmetrics.metrics.definition import DEFAULT_EMBEDDING, Measure, model_key


def read_embedding(embedding: Any) -> Any:
    """Return the embedding of the user. Mappings from words to vectors become embeddings.

    Raises
    ------
    InputError
        If a mapping contains neither vectors nor embeddings, or a name starts with "#", which is
        reserved for names of the package.
    """
    if not isinstance(embedding, Mapping):
        return embedding
    from semmetrics.embed.open import resolve_mapping

    specs = resolve_mapping(embedding)
    for name in by_name(specs):
        if str(name).startswith("#"):
            wanted = "names that do not start with '#'"
            raise InputError("bad-option", name="embedding", value=name, wanted=wanted)
    return specs


def by_name(value: Any) -> dict[str, Any]:
    """Return the values of an option by name. A single value is the default.

    Examples
    --------
    >>> by_name("static"), by_name({"bert": "sbert:bert"}), by_name(None)
    ({'default': 'static'}, {'bert': 'sbert:bert'}, {})
    """
    if isinstance(value, Mapping):
        return dict(value)
    if value is None:
        return {}
    return {DEFAULT_EMBEDDING: value}


def used_embeddings(measures: Measures) -> list[str]:
    """Return the names of the embeddings that measures use, each once."""
    names = [measure["embedding"] for measure in measures]
    return list(dict.fromkeys(str(name) for name in names if name is not None))


def embedding_name(measure: Measure, embedding: Any) -> str:
    """Return the name under which the embedding of a measure is opened.

    It is the name that the user gives to the embedding. A measure that uses the model of its
    definition has the name of that model after a "#", which no name of a user has.

    Parameters
    ----------
    measure : Measure
    embedding : specification, Embedder, mapping from name to either, or None
        The embedding of the user.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> sem, soft = parse_all(["SemF1", "SoftF1"])
    >>> embedding_name(sem, None), embedding_name(soft, None), embedding_name(sem, "static")
    ('#same', '#static', 'default')
    """
    name = str(measure["embedding"])
    if name == DEFAULT_EMBEDDING and name not in by_name(embedding):
        return f"#{measure.definition.own_embedding}"
    return name


def embeddings_of(measures: Measures, embedding: Any) -> dict[str, Any]:
    """Return the specification of each embedding that measures use, by `embedding_name`.

    Parameters
    ----------
    measures : sequence of Measure
    embedding : specification, Embedder, mapping from name to either, or None
        The embedding of the user.

    Raises
    ------
    InputError
        If a measure names an embedding that is neither from the user nor part of the package.
    """
    from semmetrics.embed.open import SHIPPED

    specs_of_user = by_name(embedding)
    specs: dict[str, Any] = {}
    for measure in measures:
        if measure["embedding"] is None:
            continue
        name = embedding_name(measure, embedding)
        if name in specs_of_user:
            specs[name] = specs_of_user[name]
        elif measure["embedding"] == DEFAULT_EMBEDDING:
            specs[name] = measure.definition.own_embedding
        elif name in SHIPPED:
            specs[name] = name
        else:
            names = dict.fromkeys([DEFAULT_EMBEDDING, *specs_of_user])
            remedy = f"choose one of {listing(names)}"
            values = {"what": "embedding", "value": name, "remedy": remedy}
            raise InputError("unknown-name", **values)
    return specs


def open_models(measures: Measures, options: Options) -> dict[str, Any]:
    """Open the embeddings of measures, by `embedding_name`.

    The models are stored in the options, and opened again only if other embeddings are needed.

    Raises
    ------
    InputError
        If an embedding is unknown or cannot be opened, or ``max_words`` applies to none of them.
    """
    from semmetrics.embed.open import open_embeddings

    specs = embeddings_of(measures, options.embedding)
    if options.opened.get("specs") != specs:
        device = options.device
        if device is not None:
            device = str(device).removeprefix("torch:")
        models = open_embeddings(
            specs,
            cache=options.cache,
            device=device,
            max_words=options.max_words,
            max_bytes=options.read.max_bytes,
        )
        options.opened["models"] = models
        options.opened["specs"] = specs
        for name, model in models.items():
            # An embedder that the user made reports as the user set it up.
            if isinstance(specs[name], str):
                _report_progress(model, options)
    opened_models: dict[str, Any] = options.opened["models"]
    return opened_models


def _report_progress(model: Any, options: Options) -> None:
    """Let a model report its progress, if it can."""
    embedder = getattr(model, "embedder", model)
    if hasattr(embedder, "progress"):
        embedder.progress = options.progress


def open_text_models(measures: Measures, options: Options) -> dict[str, Any]:
    """Open the embeddings of measures of captions, by ``model_key``.

    A model embeds each distinct text once, and remembers the vectors.

    Raises
    ------
    InputError
        As `open_models`, and if the device does not exist or has no double precision.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    semantic_measures = [m for m in measures if m["embedding"] is not None]
    if not semantic_measures:
        return {}
    from semmetrics.core.backend import find_device
    from semmetrics.embed.embedder import RememberingEmbedder, looks_up_words
    from semmetrics.embed.label_vectors import TextModel
    from semmetrics.embed.lookup import check_rules, lookup_rule, rules_for

    device = find_device(options.device)
    check_rules(options.lookup, options.oov)
    model_of_name = {}
    for name, model in open_models(semantic_measures, options).items():
        rules = rules_for(model, options.lookup, options.oov)
        rule = lookup_rule(model, rules["lookup"])
        embedder = model
        if not looks_up_words(model):
            embedder = RememberingEmbedder(model)
        model_of_name[name] = TextModel(embedder, rule, rules["oov"], device)
    models = {}
    for measure in semantic_measures:
        name = embedding_name(measure, options.embedding)
        models[model_key(measure)] = model_of_name[name]
    return models
