"""Embeddings of a score: by the names that measures use, opened, and what is noted of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from semmetrics.core.hashing import UNVERSIONED
from semmetrics.data.form import ReadOptions
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import Facts, Options, no_effect
from semmetrics.messages import listing
from semmetrics.metrics.definition import Measure

_SHOWN = 3
_OF_MEANING = ("lookup", "oov", "device", "max_words")
_NOTED = ("unknown", "composed", "zero_vectors", "truncated")


def read_embedding(embedding: Any) -> Any:
    """Return what a user gives as embedding, with mappings from words to vectors made vectors."""
    if not isinstance(embedding, Mapping):
        return embedding
    from semmetrics.embed.open import named_or_words

    return named_or_words(embedding)


def embeddings_by_name(embedding: Any) -> dict[str, Any]:
    """Return what a user gives as embeddings, by name.

    Parameters
    ----------
    embedding : None, specification, Embedder, or mapping from name to those
        None is the static model that ships with the package.

    Examples
    --------
    >>> embeddings_by_name(None), embeddings_by_name({"bert": "sbert:models/bert"})
    ({'default': 'static'}, {'default': 'static', 'bert': 'sbert:models/bert'})
    """
    if isinstance(embedding, Mapping):
        return {"default": "static", **embedding}
    return {"default": "static" if embedding is None else embedding}


def open_models(needed: Iterable[str], options: Options) -> dict[str, Any]:
    """Open the embeddings of those names, once for the same options.

    Raises
    ------
    InputError
        If one is not given or cannot be opened, or ``max_words`` applies to none of them.
    """
    from semmetrics.embed.open import open_embeddings

    given, specs = embeddings_by_name(options["embedding"]), {}
    for name in needed:
        if name not in given:
            remedy = f"those given are {listing(given)}"
            raise InputError("unknown-name", what="embedding", value=name, remedy=remedy)
        specs[name] = given[name]
    device = options["device"]
    if options.opened.get("specs") != specs:
        options.opened["models"] = open_embeddings(
            specs,
            cache=options["cache"],
            device=None if device is None else str(device).removeprefix("torch:"),
            max_words=options["max_words"],
            max_bytes=(options["read"] or ReadOptions()).max_bytes,
        )
        options.opened["specs"] = specs
    models: dict[str, Any] = options.opened["models"]
    return models


def open_text_models(measures: Iterable[Measure], options: Options) -> dict[str, Any]:
    """Open the embeddings that measures name, for texts of which each is embedded once.

    Raises
    ------
    InputError
        As `open_models`; or if there is no such device, or it has no double precision.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    names = dict.fromkeys(str(m["embedding"]) for m in measures if m["embedding"] is not None)
    if not names:
        return {}
    from semmetrics.core.backend import find_device
    from semmetrics.embed.embedder import RememberingEmbedder, looks_up_words
    from semmetrics.embed.lookup import TextModel, check_rules, lookup_rule, rules_for

    device, found = find_device(options["device"]), {}
    check_rules(options["lookup"], options["oov"])
    for name, model in open_models(names, options).items():
        rules = rules_for(model, options["lookup"], options["oov"])
        kept = model if looks_up_words(model) else RememberingEmbedder(model)
        rule = lookup_rule(model, rules["lookup"])
        found[name] = TextModel(kept, rule, rules["oov"], device)
    return found


def model_facts(
    where: str,
    model: Any,
    counts: Mapping[str, int],
    noun: str,
    which: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Facts:
    """Note what a model did not know or read.

    Parameters
    ----------
    where : str
        The name of the task.
    model : LabelVectors or TextModel
    counts : mapping from "unknown", "composed", "zero_vectors" or "truncated" to a number
    noun : str
        What is counted.
    which : mapping from the same to texts, which are named
    """
    return [
        Fact(
            f"{key.replace('_', '-')}-texts", counts[key],
            tuple(text[:60] for text in which.get(key, ())[:_SHOWN]), where,
            {"noun": noun, "model": model.embedder.identity, "oov": model.oov},
        )
        for key in _NOTED
        if counts.get(key)
    ]  # fmt: skip


def unused_rules(measures: Iterable[Measure], options: Options, such: str) -> Facts:
    """Note options about meaning that no measure takes up; ``such`` is a measure that does."""
    if any(m["embedding"] is not None for m in measures):
        return []
    fixed = () if options["protocol"] is None else ("lookup", "oov")
    names = [name for name in _OF_MEANING if name in options.given and name not in fixed]
    return [no_effect(name, f"no measure here compares meanings ({such} does)") for name in names]


def unused_embeddings(measures: Iterable[Measure], embedding: Any) -> Facts:
    """Note the embeddings that no measure uses.

    Parameters
    ----------
    measures : iterable of Measure
    embedding : None, specification, Embedder, or mapping from name to those
        As a user gives it; the one that ships with the package is not given.

    Examples
    --------
    >>> from semmetrics.metrics.registry import parse_all
    >>> given = {"default": "static", "bert": "sbert:bert"}
    >>> print(*unused_embeddings(parse_all(["F1", "SemF1"]), given))
    1 embedding not used by any measure here: 'bert'
    """
    used = {str(m["embedding"]) for m in measures if m["embedding"] is not None}
    given = embedding if isinstance(embedding, Mapping) else ["default"] * (embedding is not None)
    unused = tuple(name for name in given if name not in used)
    return [Fact("unused-embeddings", len(unused), unused)] if unused else []


def cache_facts(models: Sequence[Any], cache: object) -> Facts:
    """Note what is wrong with a cache, or that no embedding in use needs the one asked for."""
    if cache is None or cache is False:
        return []
    from semmetrics.embed.embedder import CachedEmbedder

    unversioned = {model.identity for model in models if UNVERSIONED in model.identity}
    if unversioned:
        return [Fact("not-cached", values={"model": name}) for name in sorted(unversioned)]
    cached = [model for model in models if isinstance(model, CachedEmbedder)]
    if cached:
        return list(dict.fromkeys(model.trouble for model in cached if model.trouble))
    return [no_effect("cache", "no embedding in use is slower than it")]
