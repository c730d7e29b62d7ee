"""Stand-ins for torch and the packages of models: they note what reaches them."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

_HELD = 4
_RAISED = {
    "interrupted": KeyboardInterrupt(),
    "faulty": RuntimeError("a fault of the stub"),
}


class _Tensor:
    """A tensor of which nothing is computed."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, np.float32)
        self.dtype, self.shape = "float32", self.values.shape

    def detach(self) -> _Tensor:
        return self

    cpu = float = detach

    def numpy(self) -> Any:
        return self.values

    def __getitem__(self, place: Any) -> _Tensor:
        return _Tensor(self.values[place])

    def mean(self, dim: int) -> _Tensor:
        return _Tensor(self.values.mean(axis=dim))


class _Tokenizer:
    """A token a word; its number is the length of the word."""

    all_special_tokens = ("[PAD]",)
    model_max_length = 4

    def get_vocab(self) -> dict[str, int]:
        return {"[PAD]": 0, "cat": 1, "dog": 2}

    def __call__(
        self,
        texts: Any,
        truncation: bool = False,
        max_length: int | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        every = [texts] if isinstance(texts, str) else texts
        rows = [[len(word) for word in text.split()][:max_length] for text in every]
        return {"input_ids": rows[0] if isinstance(texts, str) else rows}


class _Model:
    """What both kinds of models have."""

    config = types.SimpleNamespace(hidden_size=_HELD, is_encoder_decoder=False)

    def eval(self) -> Any:
        return self

    def modules(self) -> list[Any]:
        return [self]

    def state_dict(self) -> dict[str, Any]:
        return {"weight": _Tensor([1, 2, 3])}


def _vector(numbers: Any) -> list[float]:
    """A vector with one 1: where, the lengths of the words say."""
    return [float(sum(numbers) % _HELD == place) for place in range(_HELD)]


@contextlib.contextmanager
def stub_models(gpus: int = 0) -> Iterator[list[Any]]:
    """Put stand-ins in place of the packages; gives the list of what reaches them."""
    seen: list[Any] = []

    class SentenceTransformer(_Model):
        tokenizer, max_seq_length = _Tokenizer(), 4

        def __init__(
            self, name: str, device: Any = None, revision: Any = None, **_: Any
        ) -> None:
            seen.append(["SentenceTransformer", name, str(device), revision])
            self.name = name

        def __iter__(self) -> Iterator[Any]:
            return iter([self])

        def __getitem__(self, place: int) -> Any:
            return self

        def get_sentence_embedding_dimension(self) -> int:
            return _HELD

        def encode(self, texts: list[str], **_: Any) -> Any:
            if self.name in _RAISED:
                raise _RAISED[self.name]
            seen.append(["encode", len(texts), *dict.fromkeys(texts)])
            return np.array(
                [_vector([len(word) for word in text.split()]) for text in texts],
                np.float32,
            )

    class AutoModel(_Model):
        @classmethod
        def from_pretrained(cls, name: str, revision: Any = None, **_: Any) -> Any:
            seen.append(["AutoModel", name, revision])
            return cls()

        def to(self, device: Any) -> Any:
            seen.append(["to", str(device)])
            return self

        def __call__(self, input_ids: Any, attention_mask: Any) -> Any:
            rows = input_ids.values.astype(int).tolist()
            return [_Tensor([[_vector([one]) for one in row] for row in rows])]

    class AutoTokenizer:
        @classmethod
        def from_pretrained(cls, name: str, revision: Any = None, **_: Any) -> Any:
            return _Tokenizer()

    def device(name: Any) -> Any:
        kind, _, number = str(name).partition(":")
        if kind not in ("cpu", "cuda", "mps", "meta"):
            raise RuntimeError("no device")
        return types.SimpleNamespace(type=kind, index=int(number) if number else None)

    def tensor(rows: Any, device: Any = None) -> Any:
        # of a measure, which computes with it as numpy does
        if isinstance(rows, np.ndarray):
            return rows
        seen.append(["tensor", str(device), len(rows)])
        return _Tensor(rows)

    torch = types.SimpleNamespace(
        device=device,
        Tensor=type("Tensor", (), {}),
        tensor=tensor,
        float64="float64",
        zeros=lambda *_, **__: None,
        ones_like=lambda one: one,
        inference_mode=contextlib.nullcontext,
        cuda=types.SimpleNamespace(
            is_available=lambda: gpus > 0, device_count=lambda: gpus
        ),
        backends=types.SimpleNamespace(
            mps=types.SimpleNamespace(is_available=lambda: False)
        ),
    )
    logging = types.SimpleNamespace(
        is_progress_bar_enabled=lambda: False,
        disable_progress_bar=lambda: None,
        enable_progress_bar=lambda: None,
    )
    packages = {
        "torch": torch,
        "transformers": types.SimpleNamespace(
            AutoModel=AutoModel, AutoTokenizer=AutoTokenizer
        ),
        "transformers.utils": types.SimpleNamespace(logging=logging),
        "transformers.utils.logging": logging,
        "sentence_transformers": types.SimpleNamespace(
            SentenceTransformer=SentenceTransformer
        ),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, package in packages.items():
            patch.setitem(sys.modules, name, package)
        yield seen
