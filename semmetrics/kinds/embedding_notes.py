"""Notes on embeddings: unknown and truncated strings, and options without effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from semmetrics.core.hashing import UNVERSIONED
from semmetrics.errors import Fact
from semmetrics.kinds.base import Measures, Options
from semmetrics.kinds.embeddings import by_name, used_embeddings
from semmetrics.kinds.note_builders import counted, no_effect
from semmetrics.options import OPTIONS

_MAX_SHOWN_TEXTS = 3
"""How many strings a note shows as examples."""
_MAX_SHOWN_CHARACTERS = 60
"""How many characters of each example are shown."""
_PROBLEMS = ("unknown", "composed", "untuned", "zero_vectors", "truncated")
"""Problems of strings: "composed" from pieces of words, or "untuned", which is outside the
vocabulary of the tuning."""


def model_facts(
    where: str,
    model: Any,
    counts: Mapping[str, int],
    noun: str,
    texts_of_problem: Mapping[str, Sequence[str]] = MappingProxyType({}),
    oov: str = "",
) -> list[Fact]:
    """Return notes on strings that a model does not know or does not read completely.

    Parameters
    ----------
    where : str
        The name of the task.
    model : LabelVectors or TextModel
    counts : mapping from problem to int
        How many strings have the problem: "unknown", "composed", "untuned", "zero_vectors" or
        "truncated".
    noun : str
        The word for a string in messages: "phrase".
    texts_of_problem : mapping from problem to sequence of str, optional
        The strings with each problem. The first ones are shown.
    oov : str
        The policy for unknown strings. Default: the policy of the model.
    """
    values = {"noun": noun, "model": model.embedder.identity, "oov": oov or model.oov}
    notes: list[Fact] = []
    for problem in _PROBLEMS:
        texts = texts_of_problem.get(problem, ())[:_MAX_SHOWN_TEXTS]
        examples = [text[:_MAX_SHOWN_CHARACTERS] for text in texts]
        code = f"{problem.replace('_', '-')}-texts"
        notes += counted(code, counts.get(problem, 0), examples, where, **values)
    return notes


def unused_rules(
    measures: Measures, options: Options, example_measure: str
) -> list[Fact]:
    """Return notes on the user's options of embeddings, if no measure compares meanings.

    Parameters
    ----------
    measures : sequence of Measure
    options : ResolvedOptions
    example_measure : str
        The name of a measure that would use the options, for the notes.
    """
    if used_embeddings(measures):
        return []
    # `unused_embeddings` and `cache_facts` return the notes on these.
    noted_elsewhere = {"embedding", "cache"}
    if options.protocol is not None:
        noted_elsewhere |= {"lookup", "oov"}
    notes = []
    for name, option in OPTIONS.items():
        if name in noted_elsewhere or name not in options.set_by_user:
            continue
        if option.measure_option == "embedding":
            why = f"none of the measures compares meanings ({example_measure} does)"
            notes.append(no_effect(name, why))
    return notes


def unused_embeddings(measures: Measures, embedding: Any) -> list[Fact]:
    """Return a note on the embeddings of the user that no measure uses.

    Parameters
    ----------
    measures : sequence of Measure
    embedding : specification, Embedder, mapping from name to either, or None
        The embedding of the user.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> embeddings = {"default": "static", "bert": "sbert:bert"}
    >>> print(*unused_embeddings(parse_all(["F1", "SemF1"]), embeddings))
    1 embedding not used by these measures: 'bert'
    """
    used = used_embeddings(measures)
    unused = tuple(name for name in by_name(embedding) if name not in used)
    if not unused:
        return []
    return [Fact("unused-embeddings", len(unused), unused)]


def cache_facts(models: Iterable[Any], cache: object) -> list[Fact]:
    """Return notes on models that cannot be cached, and on errors of the cache.

    Parameters
    ----------
    models : iterable of Embedder
        The embeddings in use.
    cache : bool, path or None
        The option of the user.
    """
    if cache is None or cache is False:
        return []
    from semmetrics.embed.embedder import CachedEmbedder

    embedders = list(models)
    identities = {embedder.identity for embedder in embedders}
    unversioned = [identity for identity in identities if UNVERSIONED in identity]
    if unversioned:
        names = sorted(unversioned)
        return [Fact("not-cached", values={"model": name}) for name in names]
    cached = [
        embedder for embedder in embedders if isinstance(embedder, CachedEmbedder)
    ]
    if not cached:  # an embedder is cached only if it is slower than the cache
        return [no_effect("cache", "no embedding in use is slower")]
    troubles = [embedder.trouble for embedder in cached if embedder.trouble]
    return list(dict.fromkeys(troubles))
