"""Embeddings by the names that measures use: opened and looked up only where a measure asks.

Conventions
-----------
A measure names its embedding, "default" where nothing else is said. Every distinct term of a task
is looked up once for each embedding.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import Measure

K = TypeVar("K", bound=Hashable)

__all__ = ["embeddings_by_name", "with_models"]

_WORDS, _TEXTS = "embedding", "text_embedding"  # what measures need: vectors of terms, of lists


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


def with_models(
    tasks: Mapping[K, LabelTask],
    measures: Iterable[Measure],
    embedding: Any,
    *,
    device: str | None = None,
    max_words: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
    lookup: str = "auto",
    oov: str = "zero",
) -> dict[K, LabelTask]:
    """Return the tasks with the label vectors that the measures need.

    Parameters
    ----------
    tasks : mapping from system to LabelTask
    measures : iterable of Measure
    embedding
        As for `embeddings_by_name`.
    device : str, optional
        Where sentence and transformer models run and measures compute: "cuda", "cuda:1". On "cpu"
        numpy computes, as without one; "torch:cpu" is the processor by torch.
    max_words : int, optional
        The first words only, of files of word vectors.
    cache : bool or path
        Keep the vectors of models that read text on disk.
    lookup, oov : str
        The rule from a term to a vector, and what stands for an unknown term.

    Returns
    -------
    dict of LabelTask

    Raises
    ------
    InputError
        If a measure names an embedding that is not given, or one cannot be opened; if there is no
        such device, or it has no double precision; or if ``max_words`` applies to none of them.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    needs = _needs(measures)
    if not needs:
        return dict(tasks)
    from semmetrics.core.backend import find_device
    from semmetrics.embed.label_vectors import label_vectors
    from semmetrics.embed.lookup import rules_for
    from semmetrics.embed.open import open_embeddings, opening_options

    specs = _specifications(needs, embeddings_by_name(embedding))
    computing = find_device(device)
    runs = device is not None and any("device" in opening_options(s) for s in specs.values())
    models = open_embeddings(
        specs,
        cache=cache,
        device=str(device).removeprefix("torch:") if runs else None,
        max_words=max_words,
    )
    return {
        system: replace(
            task,
            models={
                name: label_vectors(
                    _terms(task),
                    model,
                    whole=needs[name] == {_TEXTS},
                    device=computing,
                    **rules_for(model, lookup, oov),
                )
                for name, model in models.items()
            },
        )
        for system, task in tasks.items()
    }


def _needs(measures: Iterable[Measure]) -> dict[str, set[str]]:
    """Return the names of the embeddings that measures need, and of what each gives vectors."""
    needs: dict[str, set[str]] = {}
    for measure in measures:
        kinds = measure.definition.needs & {_WORDS, _TEXTS}
        if kinds:
            needs.setdefault(str(measure["embedding"]), set()).update(kinds)
    return needs


def _specifications(names: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in names if name not in given]
    if unknown:
        raise InputError(
            f"there is no embedding {unknown[0]!r}",
            remedy=f"those given are {listing(given)}: embedding={{{unknown[0]!r}: …}} "
            f"(--embedding {unknown[0]}=NAME|PATH)",
        )
    return {name: given[name] for name in names}


def _terms(task: LabelTask) -> Any:
    """Return the terms of each label as it was written."""
    if task.synonyms is not None:
        return task.synonyms.terms
    return [(name,) for name in task.classes]
