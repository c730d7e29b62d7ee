"""The sentence model that is distilled, on the CPU, with what it computed kept in a folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings import sources

__all__ = ["SentenceModel"]

_BATCH = 128


class SentenceModel:
    """all-MiniLM-L6-v2: texts or single pieces of its vocabulary to vectors of length 1.

    Parameters
    ----------
    cache : Path, optional
        A folder for results, by a hash of the model and the texts.
    """

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache

    @cached_property
    def _model(self) -> Any:
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["TOKENIZERS_PARALLELISM"] = "false"
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(
            str(sources.SENTENCE_MODEL.locate().parent), device="cpu"
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts."""
        return self._kept("texts", texts, self.compute)

    def compute(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts, whatever has been kept."""
        return np.asarray(
            self._model.encode(list(texts), batch_size=_BATCH, show_progress_bar=False),
            np.float32,
        )

    def embed_pieces(self, pieces: Sequence[tuple[int, str]]) -> NDArray[np.float32]:
        """Vectors of single pieces, between the marks of beginning and end."""
        return self._kept(
            "pieces", [piece for _, piece in pieces], lambda _: self._encode(pieces)
        )

    def _encode(self, pieces: Sequence[tuple[int, str]]) -> NDArray[np.float32]:
        import torch

        begin, end = (
            self._model.tokenizer.cls_token_id,
            self._model.tokenizer.sep_token_id,
        )
        ids = torch.tensor([[begin, number, end] for number, _ in pieces])
        with torch.no_grad():
            blocks = [
                self._model(
                    {"input_ids": block, "attention_mask": torch.ones_like(block)}
                )
                for block in ids.split(_BATCH)
            ]
        return np.concatenate([block["sentence_embedding"].numpy() for block in blocks])

    def _kept(
        self, kind: str, texts: Sequence[str], compute: Any
    ) -> NDArray[np.float32]:
        if self._cache is None:
            return np.asarray(compute(texts), np.float32)
        key = "\n".join([sources.SENTENCE_MODEL.sha256, kind, *texts])
        path = (
            self._cache / f"{kind}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.npy"
        )
        if not path.exists():
            self._cache.mkdir(parents=True, exist_ok=True)
            np.save(path, compute(texts))
        return np.asarray(np.load(path), np.float32)
