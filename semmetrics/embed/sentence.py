"""Sentence models: sentence-transformers by name or path.

Conventions
-----------
Vectors are as the model gives them (many models normalise). Texts that are longer than the model
reads are cut by it, and counted. Batches hold texts of one length and are filled up, so a text's
vector does not depend on what stands beside it (`semmetrics.embed.batches`). The identity carries a
SHA-256 of weights, vocabulary, pooling, longest text and what else decides the vectors
(`semmetrics.embed.batches.weights_digest`): it is the model's revision, wherever the model was
loaded from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Ints
from semmetrics.embed.base import Embedded
from semmetrics.embed.batches import (
    check_batch,
    check_device,
    check_tokenizer,
    in_batches,
    positions_of,
    readable,
    weights_digest,
)
from semmetrics.embed.hub import base_name, loading, needs
from semmetrics.embed.vectors import identity
from semmetrics.errors import InputError

__all__ = ["SentenceEmbedder"]

OWNER = "sentence-transformers"


class SentenceEmbedder:
    """A sentence-transformers model.

    Parameters
    ----------
    model : str, or SentenceTransformer
        A name, the path of a folder, or a model that is loaded already.
    device : str
        "cpu", "cuda", "cuda:1", "mps"; of a model that is loaded already, where it is.
    batch_size : int
        The most texts in a batch.
    revision : str, optional
        Of a model by name: branch, tag or commit.

    Raises
    ------
    MissingDependencyError
        If sentence-transformers is not installed.
    InputError
        If the model is not there and cannot be fetched, or the device is not there.
    """

    def __init__(
        self,
        model: Any,
        *,
        device: str = "cpu",
        batch_size: int = 32,
        revision: str | None = None,
    ) -> None:
        check_batch(batch_size)
        package = needs("sentence_transformers", OWNER, "sentence models")
        self.batch_size = batch_size
        if isinstance(model, str):
            check_device(device, needs("torch", "torch", "sentence models"))
            with loading(model, OWNER):
                self.model = package.SentenceTransformer(model, device=device, revision=revision)
            _shorten(self.model)
            self.name = base_name(model)
        else:
            self.model, self.name = model, base_name(_name_of(model))
        check_tokenizer(self.model.tokenizer, str(model) if isinstance(model, str) else self.name)
        self.model.eval()

    @cached_property
    def dimension(self) -> int:
        """Numbers in a vector."""
        old = "get_sentence_embedding_dimension"
        size = getattr(self.model, "get_embedding_dimension", None) or getattr(self.model, old)
        return int(size())

    @cached_property
    def identity(self) -> str:
        """What the vectors are, for signatures."""
        settings: list[object] = [self.model.max_seq_length, self._prompt]
        settings += [_described(module) for module in self.model]
        digest = weights_digest(self.model, self.model.tokenizer, settings)
        return identity(self.name, self.dimension, digest)

    @property
    def _prompt(self) -> str:
        """What the model puts before every text."""
        name = getattr(self.model, "default_prompt_name", None)
        return str((getattr(self.model, "prompts", None) or {}).get(name) or "")

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of texts; the empty text is unknown.

        Raises
        ------
        InputError
            If the model gives numbers that are not finite; names the text.
        """
        texts = readable(texts)
        widths, cut = self._measured(texts)

        def run(numbers: list[int]) -> Any:
            batch = [texts[number] for number in numbers]
            return self.model.encode(batch, batch_size=len(batch), show_progress_bar=False)

        vectors = in_batches(widths, run, batch_size=self.batch_size, dimension=self.dimension)
        known = np.array([bool(text.strip()) for text in texts], np.bool_)
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            text = texts[int(np.flatnonzero(~finite)[0])]
            raise InputError(
                f"the vector of {text!r:.60} holds a number that is not finite",
                where=self.identity,
                remedy="check the model and the device",
            )
        vectors[~known] = 0
        return Embedded(vectors, known, int(cut.sum()))

    def cut(self, texts: Sequence[str]) -> Bools:
        """Which texts the model reads only the beginning of."""
        return self._measured(readable(texts))[1]

    def _measured(self, texts: list[str]) -> tuple[Ints, Bools]:
        """The tokens that the model reads of each text, and which texts have more."""
        tokenizer, limit = self.model.tokenizer, self.model.max_seq_length
        if not callable(tokenizer) or not texts:  # a bag of words: length plays no part
            return np.zeros(len(texts), np.int64), np.zeros(len(texts), np.bool_)
        read = tokenizer([self._prompt + text for text in texts], truncation=False, verbose=False)
        widths = np.fromiter(map(len, read["input_ids"]), np.int64, len(texts))
        if limit is None:
            return widths, np.zeros(len(texts), np.bool_)
        return np.minimum(widths, limit), widths > limit


def _shorten(model: Any) -> None:
    """Let a model read no more tokens than it has positions for."""
    said = model.max_seq_length
    places = positions_of(getattr(model[0], "auto_model", None))
    if isinstance(said, int) and places is not None and said > places:
        model.max_seq_length = places


def _name_of(model: Any) -> str:
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return str(getattr(config, "_name_or_path", "") or "sentence-model")


def _described(module: Any) -> str:
    """A module and what of it is no weight: the pooling, which versions write differently."""
    pooling = getattr(module, "get_pooling_mode_str", None)
    mode = pooling() if pooling else getattr(module, "pooling_mode", "")
    return f"{type(module).__name__} {mode}"
