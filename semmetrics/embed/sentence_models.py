"""Models that read text: sentence-transformers, and transformers (BERT, RoBERTa, XLNet...).

Conventions
-----------
Vectors are as the model returns them. Many sentence models normalise them. Strings that the model
reads only in part are counted. The identity contains a SHA-256 of weights, vocabulary, pooling,
maximum length and everything else that decides the vectors. So it identifies the revision of the
model, wherever the model was loaded from.

The vectors of a transformer are pooled from the last hidden layer, with special tokens. ``first``
is the vector of the first token, as in Kubany et al. 2020, also for XLNet, whose own summary token
is the last one. ``mean`` is the mean over all tokens, including special ones. Nothing is
normalised.

The vector of a string does not depend on the other strings. All strings of a batch have the same
number of tokens, so that nothing is padded. All batches with this number of tokens have the same
number of rows: the last one is filled up by repeating a string. So the matrices in the model always
have the same shapes. Equal batch sizes therefore give equal vectors on one machine. Other batch
sizes agree to about 1e-6.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.core.backend import check_device
from semmetrics.core.ragged import Bools, Ints
from semmetrics.embed.embedder import Embedded, Vectors, check_finite, format_identity
from semmetrics.errors import InputError, require
from semmetrics.messages import report_progress

_POOLINGS = ("first", "mean")
_DEFAULT_OWNER = "sentence-transformers"
"""The owner of models that are named without one."""
_MAX_TOKENS_IN_FULL_BATCH = 8
"""Strings with more tokens than this are in smaller batches, with about as many tokens in all."""
_HUB_TIMEOUT = 5  # seconds
_NO_LIMIT = 1_000_000
"""A limit of at least so many tokens means that there is none. Tokenizers report 1e30 then."""
_SURROGATES = re.compile("[\ud800-\udfff]")

_PROBE = "Naïve Café: 3.50 T-shirts, traffic_light"
"""A string whose tokens show how case, accents, digits and punctuation are treated."""
_IDENTITY_SETTINGS = (
    "num_attention_heads",
    "num_key_value_heads",
    "hidden_act",
    "hidden_activation",
    "activation_function",
    "ff_activation",
    "layer_norm_eps",
    "layer_norm_epsilon",
)
"""The settings of a model's configuration that decide vectors and cannot be seen in the weights."""


# ---- models -----------------------------------------------------------------------------


class SentenceEmbedder:
    """A sentence-transformers model.

    Parameters
    ----------
    model : str, or SentenceTransformer
        A name, the path of a folder, or a loaded model.
    device : str
        "cpu", "cuda", "cuda:1" or "mps". A loaded model stays on its device.
    batch_size : int
        The maximum number of strings in a batch.

    Attributes
    ----------
    name : str
    dimension : int
    progress : callable or None
        Called with the number of strings embedded so far, and the number of all strings.

    Raises
    ------
    MissingDependencyError
        If sentence-transformers is not installed.
    InputError
        If the model does not exist and cannot be downloaded, or the device does not exist.
    """

    progress: Callable[[int, int], None] | None = None

    def __init__(
        self, model: Any, *, device: str = "cpu", batch_size: int = 32
    ) -> None:
        self.batch_size = batch_size
        package = require("sentence_transformers", "a sentence model", extra="sbert")
        if isinstance(model, str):
            check_device(device, require("torch", "a sentence model", extra="sbert"))
            self.model = _load_sentence_model(package, model, device)
            self.name = _base_name(model)
            shown_name = model
        else:
            self.model = model
            self.name = _base_name(_configured_name(model))
            shown_name = self.name
        self.tokenizer = self.model.tokenizer
        _check_tokenizer(self.tokenizer, shown_name)
        self.dimension = _sentence_dimension(self.model)
        self.model.eval()

    @cached_property
    def identity(self) -> str:
        """The name of the vectors in signatures, with a SHA-256 of everything that decides them.

        These are the weights, the vocabulary and the settings. The weights do not show the number
        of attention heads, and the vocabulary does not show whether strings are lower-cased. So the
        SHA-256 also covers settings of the configuration and the tokens of a test string. It does
        not depend on the file format and the location of the model.
        """
        digest = hashlib.sha256()
        settings = self._settings()
        config = _find_config(self.model)
        for key in _IDENTITY_SETTINGS:
            settings.append(getattr(config, key, None))
        digest.update(json.dumps([str(setting) for setting in settings]).encode())
        if hasattr(self.tokenizer, "get_vocab"):
            words = _list_vocabulary(self.tokenizer)
            tokens = _probe_tokenizer(self.tokenizer)
            digest.update(json.dumps([words, tokens]).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            weights = tensor.detach().cpu().float().numpy()
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(np.ascontiguousarray(weights).data)
        return format_identity(self.name, self.dimension, digest.hexdigest())

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of strings. The empty string is unknown.

        Raises
        ------
        InputError
            If the model returns numbers that are not finite. The message names the string.
        """
        texts = _replace_surrogates(texts)
        n_tokens, truncated = self._count_tokens(texts)
        vectors = run_in_batches(
            n_tokens,
            _BatchEncoder(self, texts),
            batch_size=self.batch_size,
            dimension=self.dimension,
        )
        if not np.isfinite(vectors).all():
            remedy = "check the model and the device"
            check_finite(vectors, texts, self.identity, remedy)
        has_text = np.array([bool(text.strip()) for text in texts], np.bool_)
        known = has_text & (n_tokens > 0)
        vectors[~known] = 0
        return Embedded(vectors, known, int(truncated.sum()))

    def is_truncated(self, texts: Sequence[str]) -> Bools:
        """Return which strings the model reads only in part."""
        _, truncated = self._count_tokens(_replace_surrogates(texts))
        return truncated

    def _count_tokens(self, texts: list[str]) -> tuple[Ints, Bools]:
        """Return how many tokens of each string are read, and which strings have more."""
        truncated = np.zeros(len(texts), np.bool_)
        if not texts or not callable(self.tokenizer):
            # The tokenizer of a bag of words, for which the number of tokens does not matter,
            # cannot be called.
            return np.ones(len(texts), np.int64), truncated
        prompted = [self._prompt + text for text in texts]
        tokens = self.tokenizer(prompted, truncation=False, verbose=False)
        n_tokens = np.fromiter(map(len, tokens["input_ids"]), np.int64, len(texts))
        if self.limit is None:
            return n_tokens, truncated
        return np.minimum(n_tokens, self.limit), n_tokens > self.limit

    @property
    def limit(self) -> int | None:
        """The maximum number of tokens that the model reads, or None."""
        limit: int | None = self.model.max_seq_length
        return limit

    @property
    def _prompt(self) -> str:
        """The string that the model puts before every string."""
        name = getattr(self.model, "default_prompt_name", None)
        prompts = getattr(self.model, "prompts", None) or {}
        return str(prompts.get(name) or "")

    def _settings(self) -> list[object]:
        """Return the settings that decide the vectors, apart from weights and vocabulary."""
        settings: list[object] = [self.limit, self._prompt]
        for module in self.model:
            mode = getattr(module, "pooling_mode", "")
            # Versions of the library name the pooling differently.
            describe_pooling = getattr(module, "get_pooling_mode_str", None)
            if describe_pooling is not None:
                mode = describe_pooling()
            settings.append(f"{type(module).__name__} {mode}")
        return settings

    def encode_batch(self, texts: list[str]) -> Any:
        """Return the vectors of strings with the same number of tokens."""
        return self.model.encode(texts, batch_size=len(texts), show_progress_bar=False)


class TransformerEmbedder(SentenceEmbedder):
    """A transformers model with a pooling, used as a sentence model.

    Parameters
    ----------
    name : str
        The name of a model, or the path of its folder.
    pooling : {"first", "mean"}
    device, batch_size
        As in `SentenceEmbedder`.

    Raises
    ------
    MissingDependencyError
        If transformers is not installed.
    InputError
        If the model does not exist and cannot be downloaded, or the device does not exist.
    """

    def __init__(
        self, name: str, *, pooling: str, device: str = "cpu", batch_size: int = 32
    ) -> None:
        # Not the constructor of the base class, which opens a sentence-transformers model.
        self.batch_size = batch_size
        self.pooling = pooling
        self.device = device
        package = require("transformers", "a transformer model", extra="sbert")
        self._torch = require("torch", "a transformer model", extra="sbert")
        check_device(device, self._torch)
        with _loading_errors(name) as is_local:
            self.tokenizer = package.AutoTokenizer.from_pretrained(
                name, local_files_only=is_local
            )
            model = package.AutoModel.from_pretrained(name, local_files_only=is_local)
        _check_tokenizer(self.tokenizer, name)
        if getattr(model.config, "is_encoder_decoder", False):
            raise InputError("has-decoder", name, kind=type(model).__name__)
        self.model = model.to(device).eval()
        self.name = f"{_base_name(name)}-{pooling}"
        self.dimension = int(model.config.hidden_size)

    @property
    def limit(self) -> int | None:
        """The maximum number of tokens that the model reads, or None."""
        limits = [self.tokenizer.model_max_length, _max_positions(self.model)]
        known_limits = [limit for limit in limits if limit is not None]
        smallest = min(known_limits, default=_NO_LIMIT)
        if smallest >= _NO_LIMIT:
            return None
        return int(smallest)

    def _settings(self) -> list[object]:
        return [self.pooling, self.limit]

    def encode_batch(self, texts: list[str]) -> Any:
        """Return the vectors of strings with the same number of tokens."""
        has_limit = self.limit is not None
        tokens = self.tokenizer(texts, truncation=has_limit, max_length=self.limit)
        torch = self._torch
        with torch.inference_mode():
            input_ids = torch.tensor(tokens["input_ids"], device=self.device)
            attention_mask = torch.ones_like(input_ids)
            outputs = self.model(input_ids=input_ids, attention_mask=attention_mask)
            last_hidden_layer = outputs[0]
            if self.pooling == "first":
                pooled = last_hidden_layer[:, 0]
            else:
                pooled = last_hidden_layer.mean(dim=1)
            return pooled.float().cpu().numpy()


def open_transformer(spec: str, **options: Any) -> TransformerEmbedder:
    """Open a transformer by its name, optionally after a pooling: ``mean:bert-base-uncased``."""
    pooling, colon, name = spec.partition(":")
    if not colon or pooling not in _POOLINGS:
        pooling = "first"
        name = spec
    return TransformerEmbedder(name, pooling=pooling, **options)


# ---- batches ----------------------------------------------------------------------------


class _BatchEncoder:
    """Embed the strings of a batch and report the progress."""

    def __init__(self, embedder: SentenceEmbedder, texts: list[str]) -> None:
        self._embedder = embedder
        self._texts = texts
        self._done: set[int] = set()  # a batch that is filled up repeats a number

    def __call__(self, numbers: list[int]) -> Any:
        """Return the vectors of the strings with these numbers."""
        progress = self._embedder.progress
        n_done = len(self._done)
        report_progress(progress, n_done, len(self._texts), "embedding texts", "text")
        self._done.update(numbers)
        return self._embedder.encode_batch([self._texts[number] for number in numbers])


def run_in_batches(
    widths: Ints, run: Callable[[list[int]], Any], *, batch_size: int, dimension: int
) -> Vectors:
    """Run a model on strings, in batches with the same number of tokens per string.

    Parameters
    ----------
    widths : int array, shape (n_texts,)
        The number of tokens of each string. Strings without tokens have a row of zeros.
    run : callable
        Returns the vectors of a batch, given the numbers of its strings.
    batch_size : int
        The maximum number of strings in a batch. Batches of long strings are smaller.
    dimension : int

    Returns
    -------
    float32 array, shape (n_texts, dimension)

    Examples
    --------
    >>> batches = []
    >>> def run(numbers):
    ...     batches.append(numbers)
    ...     return np.array(numbers)[:, None]
    >>> vectors = run_in_batches(np.array([3, 1, 3]), run, batch_size=2, dimension=1)
    >>> vectors.ravel().tolist(), batches
    ([0.0, 1.0, 2.0], [[1, 1], [0, 2]])
    """
    vectors = np.zeros((len(widths), dimension), np.float32)
    for width in np.unique(widths[widths > 0]).tolist():
        numbers = np.flatnonzero(widths == width).tolist()
        max_tokens = _MAX_TOKENS_IN_FULL_BATCH * batch_size
        size = max(1, min(batch_size, max_tokens // width))
        for start in range(0, len(numbers), size):
            batch = numbers[start : start + size]
            n_missing = size - len(batch)
            filled = batch + [batch[0]] * n_missing
            rows = np.asarray(run(filled), np.float32)
            vectors[batch] = rows[: len(batch)]
    return vectors


def _replace_surrogates(texts: Sequence[str]) -> list[str]:
    """Replace halves of surrogate pairs, which no tokenizer reads, by U+FFFD."""
    replaced = []
    for text in texts:
        if not text.isascii():
            text = _SURROGATES.sub("\ufffd", text)
        replaced.append(text)
    return replaced


# ---- loading ----------------------------------------------------------------------------


def _load_sentence_model(package: Any, name: str, device: str) -> Any:
    """Load a sentence model, and limit its input to the positions that it has."""
    with _loading_errors(name, _DEFAULT_OWNER) as is_local:
        model = package.SentenceTransformer(
            name, device=device, local_files_only=is_local
        )
    limit = model.max_seq_length
    n_positions = _max_positions(getattr(model[0], "auto_model", None))
    if isinstance(limit, int) and n_positions is not None and limit > n_positions:
        model.max_seq_length = n_positions
    return model


def _configured_name(model: Any) -> str:
    """Return the name in the configuration of a loaded sentence model."""
    transformer = getattr(model[0], "auto_model", None)
    config = getattr(transformer, "config", None)
    return str(getattr(config, "_name_or_path", "") or "sentence-model")


def _sentence_dimension(model: Any) -> int:
    """Return the length of the vectors of a sentence model, in all versions of the library."""
    get_dimension = getattr(model, "get_embedding_dimension", None)
    if get_dimension is None:
        get_dimension = model.get_sentence_embedding_dimension
    return int(get_dimension())


@contextmanager
def _loading_errors(name: str, owner: str = "") -> Iterator[bool]:
    """Yield whether to load a model without the hub, and turn failures into errors with a fix.

    Parameters
    ----------
    name : str
        A folder, or the name of a model that is downloaded if the machine is online.
    owner : str
        The owner of models that are named without one.

    Yields
    ------
    bool
        Whether only files on this machine can be loaded.
    """
    is_folder = Path(name).exists()
    if not is_folder and _looks_like_path(name):
        raise InputError("missing-folder", name)
    logging = require("transformers.utils.logging", "loading a model", extra="sbert")
    shows_progress = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield is_folder or not _is_hub_reachable()
    except (InputError, MemoryError, import_module("torch").cuda.OutOfMemoryError):
        raise
    except Exception as error:
        # Damaged weights and tokenizers raise errors of any package.
        raise _model_error(error, name, owner) from error
    finally:
        if shows_progress:
            logging.enable_progress_bar()


def _looks_like_path(name: str) -> bool:
    """Return whether a name cannot be the name of a model on the hub, such as "owner/model"."""
    return name.count("/") > 1 or name.startswith((".", "/", "~")) or "\\" in name


def _model_error(error: Exception, name: str, owner: str) -> InputError:
    """Return the error about a model that cannot be loaded."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    why = lines[0]
    if Path(name).exists():
        return InputError("damaged", name, why=why)
    full_name = name
    if owner and "/" not in name:
        full_name = f"{owner}/{name}"
    return InputError("model-not-here", value=name, why=why, full=full_name)


def _is_hub_reachable() -> bool:
    """Return whether the model hub answers. The library itself retries for 90 seconds."""
    try:
        hub = import_module("huggingface_hub")
        hub.utils.get_session().head(hub.constants.ENDPOINT, timeout=_HUB_TIMEOUT)
    except Exception:
        # An error of any library that makes the request, or because of offline mode.
        return False
    return True


def _check_tokenizer(tokenizer: Any, name: str) -> None:
    """Raise if a tokenizer has no words, as the library returns it if its files are missing."""
    if not hasattr(tokenizer, "get_vocab"):
        return
    special_tokens = getattr(tokenizer, "all_special_tokens", ())
    words = set(tokenizer.get_vocab()).difference(special_tokens)
    if not words:
        raise InputError("empty-tokenizer", name)


def _max_positions(model: Any) -> int | None:
    """Return the number of tokens for which a transformer has positions, or None if unlimited."""
    config = getattr(model, "config", None)
    n_positions = getattr(config, "max_position_embeddings", None)
    if not isinstance(n_positions, int) or n_positions <= 0:
        return None
    # RoBERTa's positions start after the position of padding.
    embeddings = getattr(model, "embeddings", None)
    table = getattr(embeddings, "position_embeddings", None)
    padding_position = getattr(table, "padding_idx", None)
    if padding_position is None:
        return n_positions
    n_tokens: int = n_positions - padding_position - 1
    return n_tokens


# ---- identities -------------------------------------------------------------------------


def _base_name(name: str) -> str:
    """Return the name of a model in signatures.

    Examples
    --------
    >>> _base_name("sentence-transformers/all-MiniLM-L6-v2"), _base_name("models/mine/")
    ('all-MiniLM-L6-v2', 'mine')
    """
    return Path(name).name or name


def _find_config(model: Any) -> Any:
    """Return the configuration of the first module that has one, or None."""
    for module in model.modules():
        if hasattr(module, "config"):
            return module.config
    return None


def _list_vocabulary(tokenizer: Any) -> list[Any]:
    """Return the words of a tokenizer, with their numbers if it has numbers."""
    vocabulary = tokenizer.get_vocab()
    if isinstance(vocabulary, dict):
        return sorted(vocabulary.items())
    return list(vocabulary)


def _probe_tokenizer(tokenizer: Any) -> list[int]:
    """Return the tokens of a test string, or an empty list for a bag of words."""
    if callable(tokenizer):
        return list(tokenizer(_PROBE)["input_ids"])
    encode = getattr(tokenizer, "encode", None)
    if encode is None:
        return []
    encoding = encode(_PROBE)
    return list(getattr(encoding, "ids", ()))
