"""Batches of texts of one length, so that a text's vector does not depend on its company.

Conventions
-----------
A batch holds texts of exactly the same number of tokens, so nothing is padded, and always the same
number of rows for that length; the last one is filled up by repeating a text. The matrices that a
text goes through then have the same shapes whatever stands beside it. Equal batch sizes therefore
give equal vectors, on one machine; others agree to about 1e-6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.embed.base import Vectors
from semmetrics.errors import InputError

__all__ = [
    "check_batch",
    "check_device",
    "check_tokenizer",
    "in_batches",
    "positions_of",
    "readable",
    "weights_digest",
]

_PROBE = "Naïve Café: 3.50 T-shirts, traffic_light"  # case, accents, digits, punctuation
_CONFIGURED = (
    "num_attention_heads", "num_key_value_heads", "hidden_act", "hidden_activation",
    "activation_function", "ff_activation", "layer_norm_eps", "layer_norm_epsilon",
)  # fmt: skip
_HALVES = re.compile("[\ud800-\udfff]")

TOKENS = 8  # tokens that a batch may hold for each text of the batch size


def check_batch(batch_size: int) -> None:
    """Refuse batch sizes below 1.

    Raises
    ------
    InputError
        If so.
    """
    if batch_size < 1:
        raise InputError(f"batch_size={batch_size}", remedy="give a number of texts, at least 1")


def check_device(device: str, torch: Any) -> None:
    """Refuse devices that are not there.

    Raises
    ------
    InputError
        If so; names them.
    """
    try:
        kind = torch.device(device).type
    except (RuntimeError, TypeError):
        raise InputError(
            f"device={device!r} is no device", remedy="use 'cpu', 'cuda', 'cuda:1' or 'mps'"
        ) from None
    number = torch.device(device).index or 0
    there = {
        "cuda": torch.cuda.is_available() and number < torch.cuda.device_count(),
        "mps": torch.backends.mps.is_available(),
    }
    if not there.get(kind, True):
        raise InputError(
            f"device={device!r}: PyTorch finds no such GPU here",
            remedy="use device='cpu', or install the driver and a PyTorch build for it",
        )


def in_batches(
    widths: Ints,
    run: Callable[[list[int]], Any],
    *,
    batch_size: int,
    dimension: int,
) -> Vectors:
    """Run a model over texts in batches of one width.

    Parameters
    ----------
    widths : int array, shape (texts,)
        Tokens of each text.
    run : callable
        From the numbers of a batch's texts to its vectors.
    batch_size : int
        The most texts in a batch; long texts come in smaller ones.
    dimension : int

    Returns
    -------
    float32 array, shape (texts, dimension)

    Examples
    --------
    >>> seen = []
    >>> def run(numbers):
    ...     seen.append(numbers)
    ...     return np.array(numbers)[:, None]
    >>> in_batches(np.array([3, 1, 3]), run, batch_size=2, dimension=1).ravel().tolist(), seen
    ([0.0, 1.0, 2.0], [[1, 1], [0, 2]])
    """
    vectors = np.zeros((len(widths), dimension), np.float32)
    for width in np.unique(widths).tolist():
        numbers = np.flatnonzero(widths == width).tolist()
        size = max(1, min(batch_size, TOKENS * batch_size // max(1, width)))
        for start in range(0, len(numbers), size):
            batch = numbers[start : start + size]
            filled = batch + [batch[0]] * (size - len(batch))
            vectors[batch] = np.asarray(run(filled), np.float32)[: len(batch)]
    return vectors


def weights_digest(model: Any, tokenizer: Any, settings: Sequence[object]) -> str:
    """SHA-256 of what decides a model's vectors: weights by name, vocabulary, settings.

    Weights do not tell how many heads they are cut into, nor a vocabulary whether texts are
    lower-cased: so the numbers of the configuration and the tokens of a text are in it, too. It is
    the same for the same weights whatever file format and place they are loaded from.
    """
    import hashlib
    import json

    configured = next((m.config for m in model.modules() if hasattr(m, "config")), None)
    settings = [*settings, *(getattr(configured, key, None) for key in _CONFIGURED)]
    state = hashlib.sha256(json.dumps([str(setting) for setting in settings]).encode())
    if hasattr(tokenizer, "get_vocab"):
        vocabulary = tokenizer.get_vocab()
        words = sorted(vocabulary.items()) if isinstance(vocabulary, dict) else list(vocabulary)
        state.update(json.dumps([words, _probed(tokenizer)]).encode())
    for name, tensor in sorted(model.state_dict().items()):
        array = tensor.detach().cpu().float().numpy()
        state.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()


def _probed(tokenizer: Any) -> list[int]:
    """The tokens of one text: those of a bag of words are its vocabulary's business."""
    if callable(tokenizer):
        return list(tokenizer(_PROBE)["input_ids"])
    read = tokenizer.encode(_PROBE) if hasattr(tokenizer, "encode") else ()
    return list(getattr(read, "ids", ()))


def check_tokenizer(tokenizer: Any, name: str) -> None:
    """Refuse a tokenizer that knows no word: it was made up where its files are missing.

    Raises
    ------
    InputError
        If so.
    """
    special = set(getattr(tokenizer, "all_special_tokens", ()))
    if hasattr(tokenizer, "get_vocab") and not set(tokenizer.get_vocab()) - special:
        raise InputError(
            "its tokenizer knows no word",
            where=name,
            remedy="check that the files of the tokenizer (tokenizer.json, vocab.txt) are there",
        )


def positions_of(model: Any) -> int | None:
    """The most tokens for which a transformer has positions; None where it has no table of them."""
    positions = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        return None
    # RoBERTa counts positions from after that of padding.
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return positions if padding is None else positions - padding - 1


def readable(texts: Sequence[str]) -> list[str]:
    """Texts with what no tokenizer reads, halves of surrogate pairs, replaced by U+FFFD."""
    return [text if text.isascii() else _HALVES.sub("\ufffd", text) for text in texts]
