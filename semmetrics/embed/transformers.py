"""Plain transformer models (BERT, RoBERTa, XLNet...), pooled as papers did.

Conventions
-----------
Pooling is over the last hidden layer, special tokens added. ``first``: the vector of the first
token (Kubany et al. 2020; of XLNet, whose own summary token is the last one, too). ``mean``: the
mean over all tokens, special ones included. Nothing is normalised. Texts that are longer than the
model reads are cut, and counted; batches are those of `semmetrics.embed.batches`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools
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

__all__ = ["POOLINGS", "TransformerEmbedder"]

POOLINGS = ("first", "mean")
_NO_LIMIT = 1_000_000  # tokenizers without one say 1e30


class TransformerEmbedder:
    """A transformers model with a pooling.

    Parameters
    ----------
    name : str
        The name of a model, or the path of its folder.
    pooling : {"first", "mean"}
    device : str
        "cpu", "cuda", "cuda:1", "mps".
    batch_size : int
        The most texts in a batch.
    revision : str, optional
        Of a model by name: branch, tag or commit.

    Raises
    ------
    MissingDependencyError
        If transformers is not installed.
    InputError
        If the model is not there and cannot be fetched, or the device is not there.
    """

    def __init__(
        self,
        name: str,
        *,
        pooling: str = "first",
        device: str = "cpu",
        batch_size: int = 32,
        revision: str | None = None,
    ) -> None:
        if pooling not in POOLINGS:
            raise InputError(f"pooling={pooling!r}", remedy=f"choose {' or '.join(POOLINGS)}")
        check_batch(batch_size)
        package = needs("transformers", "transformers", "transformer models")
        self._torch = needs("torch", "torch", "transformer models")
        check_device(device, self._torch)
        self.pooling, self.device, self.batch_size = pooling, device, batch_size
        with loading(name):
            self.tokenizer = package.AutoTokenizer.from_pretrained(name, revision=revision)
            model = package.AutoModel.from_pretrained(name, revision=revision)
        check_tokenizer(self.tokenizer, name)
        if getattr(model.config, "is_encoder_decoder", False):
            raise InputError(
                f"a {type(model).__name__} has a decoder, whose states are of no use here",
                where=name,
                remedy="take a model that only encodes, such as BERT, RoBERTa or XLNet",
            )
        self.model = model.to(device).eval()
        self.name = f"{base_name(name)}-{pooling}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.model.config.hidden_size)

    @cached_property
    def identity(self) -> str:
        """What the vectors are, for signatures."""
        digest = weights_digest(self.model, self.tokenizer, [self.pooling, self._limit])
        return identity(self.name, self.dimension, digest)

    @cached_property
    def _limit(self) -> int | None:
        """The most tokens that the model reads."""
        said = int(min(self.tokenizer.model_max_length, _NO_LIMIT))
        places = positions_of(self.model)
        most = said if places is None else min(said, places)
        return most if most < _NO_LIMIT else None

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of texts; the empty text is unknown.

        Raises
        ------
        InputError
            If the model gives numbers that are not finite; names the text.
        """
        tokens, cut = self._tokens(texts)
        # Without special tokens an empty text has none at all, and nothing to run.
        some = [row for row in tokens if row]
        vectors = np.zeros((len(tokens), self.dimension), np.float32)
        vectors[[bool(row) for row in tokens]] = in_batches(
            np.fromiter(map(len, some), np.int64, len(some)),
            lambda numbers: self._run([some[number] for number in numbers]),
            batch_size=self.batch_size,
            dimension=self.dimension,
        )
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            text = texts[int(np.flatnonzero(~finite)[0])]
            raise InputError(
                f"the vector of {text!r:.60} holds a number that is not finite",
                where=self.identity,
                remedy="check the model and the device",
            )
        known = np.array(
            [bool(text.strip() and row) for text, row in zip(texts, tokens, strict=True)], np.bool_
        )
        vectors[~known] = 0
        return Embedded(vectors, known, int(cut.sum()))

    def cut(self, texts: Sequence[str]) -> Bools:
        """Which texts the model reads only the beginning of."""
        return self._tokens(texts)[1]

    def _tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], Bools]:
        """The token numbers of each text, cut where they are too many, and which were."""
        if not len(texts):
            return [], np.zeros(0, np.bool_)
        limit, every = self._limit, readable(texts)
        read = self.tokenizer(every, truncation=False, verbose=False)["input_ids"]
        cut = np.array([limit is not None and len(row) > limit for row in read], np.bool_)
        if cut.any():
            read = self.tokenizer(every, truncation=True, max_length=limit)["input_ids"]
        return [list(row) for row in read], cut

    def _run(self, rows: list[list[int]]) -> Any:
        """The pooled vectors of token rows of one length."""
        torch = self._torch
        with torch.inference_mode():
            tokens = torch.tensor(rows, device=self.device)
            hidden = self.model(input_ids=tokens, attention_mask=torch.ones_like(tokens))[0]
            pooled = hidden[:, 0] if self.pooling == "first" else hidden.mean(dim=1)
            return pooled.float().cpu().numpy()
