"""Embeddings by the names that measures use: opened and looked up only where a measure asks.

Conventions
-----------
A measure names its embedding, "default" where nothing else is said. Every distinct term of a task
is looked up once for each embedding.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from semmetrics.data.label_task import LabelTask
from semmetrics.embed.base import Embedder
from semmetrics.embed.labels import label_vectors
from semmetrics.embed.lookup import lookup_rule
from semmetrics.embed.open import open_embedding, options_of
from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import Measure

__all__ = ["embeddings_by_name", "with_models"]


def embeddings_by_name(embedding: Any) -> dict[str, Any]:
    """What a user gives as embeddings, by name.

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
    tasks: Mapping[str, LabelTask],
    measures: Iterable[Measure],
    embedding: Any,
    *,
    device: str | None = None,
    limit: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
    lookup: str = "auto",
    oov: str = "zero",
) -> dict[str, LabelTask]:
    """The tasks with the label vectors that the measures need.

    Parameters
    ----------
    tasks : mapping from system to LabelTask
    measures : iterable of Measure
    embedding
        As for ``embeddings_by_name``.
    device : str, optional
        Where sentence and transformer models run.
    limit : int, optional
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
        such device, or an option says nothing about any of them.
    """
    needed: dict[str, bool] = {}  # whether it is used for whole lists alone
    for measure in measures:
        if measure["embedding"] is not None:
            name = str(measure["embedding"])
            needed[name] = needed.get(name, True) and measure.definition.name == "BagSim"
    if not needed:
        return dict(tasks)
    given = embeddings_by_name(embedding)

    def rules(model: Any) -> dict[str, str]:
        # a model that reads text has no rule for words
        text = lookup_rule(model, "auto") == "text" and lookup == "kubany2020"
        return {"lookup": "auto" if text else lookup, "oov": "zero" if text else oov}

    unknown = [name for name in needed if name not in given]
    if unknown:
        raise InputError(
            f"there is no embedding {unknown[0]!r}",
            remedy=f"those given are {listing(given)}: embedding={{{unknown[0]!r}: …}} "
            f"(--embedding {unknown[0]}=NAME|PATH)",
        )
    models = _opened({n: given[n] for n in needed}, cache, device=device, limit=limit)
    return {
        system: replace(
            task,
            models={
                name: label_vectors(_terms(task), model, whole=needed[name], **rules(model))
                for name, model in models.items()
            },
        )
        for system, task in tasks.items()
    }


def _opened(specs: Mapping[str, Any], cache: Any, **options: Any) -> dict[str, Embedder]:
    """The embeddings, each with those options that say something about it.

    An option that says nothing about any of them is given to all, and the first refuses it.
    """
    asked = {option: value for option, value in options.items() if value is not None}
    taken = {name: options_of(spec) if asked else () for name, spec in specs.items()}
    takers = {option: [name for name in specs if option in taken[name]] for option in asked}
    return {
        name: open_embedding(
            spec,
            cache=cache,
            **{o: value for o, value in asked.items() if name in (takers[o] or specs)},
        )
        for name, spec in specs.items()
    }


def _terms(task: LabelTask) -> Any:
    """The terms of each label as it was written."""
    if task.synonyms is not None:
        return task.synonyms.terms
    return [(name,) for name in task.classes]
