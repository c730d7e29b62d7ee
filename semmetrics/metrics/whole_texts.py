"""Vectors of captions and of label lists, each embedded as one string."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools
from semmetrics.embed.embedder import Embedded, embed_unique
from semmetrics.embed.label_vectors import LabelVectors, TextModel
from semmetrics.errors import InputError


class EmbeddedTexts(NamedTuple):
    """Vectors of captions or label lists, and how many of them are unknown."""

    embedded: Embedded
    n_unknown: int


def embed_texts(
    model: TextModel | LabelVectors,
    texts: Sequence[str],
    is_present: Bools | None = None,
    noun: str = "captions",
) -> EmbeddedTexts:
    """Embed captions or label lists under the out-of-vocabulary policy.

    Parameters
    ----------
    model : TextModel or LabelVectors
    texts : sequence of str
    is_present : bool array, optional
        Texts that exist. Others are neither embedded nor counted. By default, texts exist
        if they contain more than white space.
    noun : str
        What messages call the texts: "captions" or "label lists".

    Raises
    ------
    InputError
        If the model only has vectors of words, or does not know a text under the policy
        "error".
    """
    _check_reads_texts(model, noun)
    if is_present is None:
        is_present = np.array([bool(text.strip()) for text in texts], np.bool_)
    embedded = embed_unique(model.embedder, _select_texts(texts, is_present))
    vectors = np.zeros((len(texts), embedded.vectors.shape[1]), np.float32)
    vectors[is_present] = embedded.vectors
    is_known = is_present.copy()
    is_known[is_present] = embedded.known
    is_unknown = is_present & ~is_known
    if is_unknown.any() and model.oov not in ("skip", "zero"):
        replacement = _embed_replacement(model)
        if replacement is None:
            unknown_texts = _select_texts(texts, is_unknown)
            raise InputError(
                "unknown-text",
                what=noun,
                embedding=model.embedder.identity,
                names=list(dict.fromkeys(unknown_texts)),
            )
        vectors[is_unknown] = replacement
        is_known = is_present
    n_unknown = int(is_unknown.sum())
    return EmbeddedTexts(Embedded(vectors, is_known, embedded.truncated), n_unknown)


def _check_reads_texts(model: TextModel | LabelVectors, noun: str) -> None:
    """Raise an error if a model only has vectors of words."""
    # Embedders that read text, such as sentence models, have no lookup rule.
    if getattr(model.embedder, "lookup", "text") != "words":
        return
    identity = model.embedder.identity
    remedy = ""
    if noun == "label lists":
        remedy = ", or MeanSim"
    raise InputError("word-vectors", what=noun, embedding=identity, remedy=remedy)


def _select_texts(texts: Sequence[str], is_selected: Bools) -> list[str]:
    """Return the selected texts."""
    return [texts[row] for row in np.flatnonzero(is_selected).tolist()]


def _embed_replacement(model: TextModel | LabelVectors) -> NDArray[np.float32] | None:
    """Return the vector of the word "unknown", which replaces unknown vectors.

    Returns None if the policy is "error", or if the model does not know that word.
    """
    if model.oov == "error":
        return None
    embedded = embed_unique(model.embedder, ["unknown"])
    if not embedded.known[0]:
        return None
    return embedded.vectors
