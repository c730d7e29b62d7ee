"""What an embedding is, in plain values: for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from semmetrics.embed.compact import is_converted, meta_of, verify
from semmetrics.embed.folders import vectors_folder
from semmetrics.embed.lookup import lookup_rule
from semmetrics.embed.open import open_embedding
from semmetrics.embed.vectors import WordVectors
from semmetrics.errors import InputError

__all__ = ["describe"]


def describe(spec: str, *, check: bool = False) -> dict[str, Any]:
    """Say what an embedding is.

    Parameters
    ----------
    spec : str
        As for `semmetrics.embed.open.open_embedding`.
    check : bool
        Compare converted vectors with the SHA-256 of their parts first.

    Returns
    -------
    dict
        ``identity``, ``dimension``, ``words`` (None for models that read text), ``lookup``,
        ``threshold`` (None where the model names none); of converted vectors also ``source``,
        ``sha256``, ``licence``, ``zero_vectors``, ``folder`` and ``verified``.

    Raises
    ------
    InputError
        If it cannot be opened, or differs from its SHA-256.
    """
    folder = _folder(spec)
    if check and folder is None:
        raise InputError(
            "only converted vectors have a SHA-256 of their parts",
            where=spec,
            remedy="leave --verify out, or convert them",
        )
    if check and folder is not None:
        verify(folder)
    model = open_embedding(spec)
    facts: dict[str, Any] = {
        "identity": model.identity,
        "dimension": model.dimension,
        "words": len(model) if isinstance(model, WordVectors) else None,
        "lookup": lookup_rule(model),
        "threshold": getattr(model, "threshold", None),
    }
    if folder is not None:
        meta = meta_of(folder)
        facts |= {key: meta.get(key) for key in ("source", "sha256", "licence", "zero_vectors")}
        facts |= {"folder": str(folder), "verified": check}
    return facts


def _folder(spec: str) -> Path | None:
    """The folder of converted vectors that is meant, if one is."""
    places = (Path(spec.removeprefix("converted:")), vectors_folder() / spec)
    return next((place for place in places if is_converted(place)), None)
