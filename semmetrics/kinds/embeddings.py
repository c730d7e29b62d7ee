"""Embeddings of a score: by the names that measures use, opened, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from semmetrics.core.hashing import UNVERSIONED
from semmetrics.data.form import ReadOptions
from semmetrics.errors import InputError
from semmetrics.kinds import Options
from semmetrics.messages import listing
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS

__all__ = [
    "cache_notes",
    "embeddings_by_name",
    "model_notes",
    "open_models",
    "open_text_models",
    "read_embedding",
    "unused_embeddings",
    "unused_rules",
]

_MANY = 3
_OF_MEANING = ("lookup", "oov", "device", "max_words")
_OF_MODELS = {  # {model} is its identity, {oov} the policy
    "unknown": "unknown to {model}: {oov}",
    "composed": "composed by {model} from pieces of words that it does not list",
    "zero_vectors": "with a vector of zeros in {model}: similar to none but themselves",
    "truncated": "longer than {model} reads: cut to their beginning",
}


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

    specs = _specifications(needed, embeddings_by_name(options["embedding"]))
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


def _specifications(names: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in names if name not in given]
    if unknown:
        raise InputError(
            f"there is no embedding {unknown[0]!r}",
            remedy=f"those given are {listing(given)}: embedding={{{unknown[0]!r}: …}} "
            f"(--embedding {unknown[0]}=NAME|PATH)",
        )
    return {name: given[name] for name in names}


def model_notes(
    model: Any,
    found: Mapping[str, str],
    which: Mapping[str, Sequence[str]] = MappingProxyType({}),
    remedy: str = "",
) -> list[str]:
    """Say what a model did not know or read, from how much of it was found, and which texts.

    Parameters
    ----------
    model : LabelVectors or TextModel
    found : mapping from "unknown", "composed", "zero_vectors" or "truncated" to how much
    which : mapping from the same to the texts, which are named
    remedy : str
        What is said behind named texts.
    """
    words = {"model": model.embedder.identity, "oov": model.oov}
    lines = []
    for key, text in _OF_MODELS.items():
        named = ""
        if key in found and key in which:
            named = f": {listing([text[:60] for text in which[key]], most=_MANY)}{remedy}"
        if key in found:
            lines.append(f"{found[key]} {text.format(**words)}{named}")
    return lines


def unused_rules(measures: Iterable[Measure], options: Options, such: str) -> list[str]:
    """Say which options about meaning no measure takes up; ``such`` is a measure that does."""
    if any(m["embedding"] is not None for m in measures):
        return []
    fixed = () if options["protocol"] is None else ("lookup", "oov")
    names = [name for name in _OF_MEANING if name in options.given and name not in fixed]
    why = f"no measure here compares meanings ({such} does)"
    return [f"{OPTIONS[name].both} has no effect: {why}" for name in names]


def unused_embeddings(
    measures: Iterable[Measure], embedding: Any, such: str = "SemF1"
) -> list[str]:
    """Say which embeddings no measure takes up.

    Parameters
    ----------
    measures : iterable of Measure
    embedding : None, specification, Embedder, or mapping from name to those
        As a user gives it; the one that ships with the package is not given.
    such : str
        A measure that takes one up.

    Examples
    --------
    >>> from semmetrics.metrics.registry import parse_all
    >>> unused_embeddings(parse_all(["F1", "SemF1"]), {"default": "static", "bert": "sbert:bert"})
    ["the embedding 'bert' has no effect: no measure here uses it"]
    """
    used = {str(m["embedding"]) for m in measures if m["embedding"] is not None}
    given = embedding if isinstance(embedding, Mapping) else ["default"] * (embedding is not None)
    why = "no measure here uses it" if used else f"no measure here compares meanings ({such} does)"
    unused = [name for name in given if name not in used]
    if len(unused) > 1:
        why = why.replace("uses it", "uses them")
        return [f"the embeddings {listing(unused, most=_MANY)} have no effect: {why}"]
    return [
        f"the embedding{'' if name == 'default' else f' {name!r}'} has no effect: {why}"
        for name in unused
    ]


def cache_notes(models: Sequence[Any], cache: object) -> list[str]:
    """Say what is wrong with a cache, or that no embedding in use needs the one asked for."""
    if cache is None or cache is False:
        return []
    from semmetrics.embed.embedder import CachedEmbedder

    unversioned = {model.identity for model in models if UNVERSIONED in model.identity}
    if unversioned:
        return [
            f"{name} is not kept in the cache: a function needs a version for that "
            "(CallableEmbedder(function, version='1'))"
            for name in sorted(unversioned)
        ]
    cached = [model for model in models if isinstance(model, CachedEmbedder)]
    if cached:
        return list(dict.fromkeys(str(model.trouble) for model in cached if model.trouble))
    return ["the cache has no effect: no embedding in use is slower than it (cache=, --cache)"]
