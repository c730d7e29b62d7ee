"""Models that read texts: sentence-transformers, and plain transformers (BERT, RoBERTa, XLNet...).

Conventions
-----------
Vectors are as the model gives them (many sentence models normalise). A text of which the model
reads only the beginning is counted. The identity carries a SHA-256 of weights, vocabulary, pooling,
longest text and what else decides the vectors: it is the model's revision, wherever the model was
loaded from.

Plain transformers are pooled over the last hidden layer, special tokens added. ``first``: the
vector of the first token (Kubany et al. 2020; of XLNet, whose own summary token is the last one,
too). ``mean``: the mean over all tokens, special ones included. Nothing is normalised.

A text's vector does not depend on its company. A batch holds texts of exactly the same number of
tokens, so nothing is padded, and always the same number of rows for that length; the last one is
filled up by repeating a text. The matrices that a text goes through then have the same shapes
whatever stands beside it. Equal batch sizes therefore give equal vectors, on one machine; others
agree to about 1e-6.
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
_OWNER = "sentence-transformers"  # of the models that are named without an owner
_TOKENS = 8  # tokens that a batch may hold for each text of the batch size
_PATIENCE = 5  # seconds that the model hub has to answer
_NO_LIMIT = 1_000_000  # tokenizers without one say 1e30
_PROBE = (
    "Naïve Café: 3.50 T-shirts, traffic_light"  # case, accents, digits, punctuation
)
_CONFIGURED = (
    "num_attention_heads",
    "num_key_value_heads",
    "hidden_act",
    "hidden_activation",
    "activation_function",
    "ff_activation",
    "layer_norm_eps",
    "layer_norm_epsilon",
)
_SURROGATES = re.compile("[\ud800-\udfff]")


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

    Raises
    ------
    MissingDependencyError
        If sentence-transformers is not installed.
    InputError
        If the model is not there and cannot be fetched, or the device is not there.
    """

    progress: Callable[[int, int], None] | None = None

    def __init__(
        self, model: Any, *, device: str = "cpu", batch_size: int = 32
    ) -> None:
        self.batch_size = batch_size
        package = require("sentence_transformers", "a sentence model", extra="sbert")
        if isinstance(model, str):
            check_device(device, require("torch", "a sentence model", extra="sbert"))
            with _loading_errors(model, _OWNER) as own:
                self.model = package.SentenceTransformer(
                    model, device=device, local_files_only=own
                )
            limit = self.model.max_seq_length
            positions = _max_positions(getattr(self.model[0], "auto_model", None))
            if isinstance(limit, int) and positions is not None and limit > positions:
                self.model.max_seq_length = positions
            self.name = _base_name(model)
        else:
            config = getattr(getattr(model[0], "auto_model", None), "config", None)
            name = str(getattr(config, "_name_or_path", "") or "sentence-model")
            self.model, self.name = model, _base_name(name)
        self.tokenizer = self.model.tokenizer
        _check_tokenizer(
            self.tokenizer, str(model) if isinstance(model, str) else self.name
        )
        old = "get_sentence_embedding_dimension"
        size = getattr(self.model, "get_embedding_dimension", None) or getattr(
            self.model, old
        )
        self.dimension = int(size())
        self.model.eval()

    @cached_property
    def identity(self) -> str:
        """What the vectors are, for signatures: a SHA-256 of weights, vocabulary and settings.

        Weights do not tell how many heads they are cut into, nor a vocabulary whether texts are
        lower-cased: so the numbers of the configuration and the tokens of a text are in it, too. It
        is the same for the same weights, whatever the file format and place.
        """
        model, tokenizer = self.model, self.tokenizer
        configured = next(
            (m.config for m in model.modules() if hasattr(m, "config")), None
        )
        settings = [
            *self._settings(),
            *(getattr(configured, key, None) for key in _CONFIGURED),
        ]
        state = hashlib.sha256(
            json.dumps([str(setting) for setting in settings]).encode()
        )
        if hasattr(tokenizer, "get_vocab"):
            vocabulary = tokenizer.get_vocab()
            words = (
                sorted(vocabulary.items())
                if isinstance(vocabulary, dict)
                else list(vocabulary)
            )
            # none for a bag of words, which its vocabulary decides
            probe = None if callable(tokenizer) else getattr(tokenizer, "encode", None)
            probed = getattr(probe(_PROBE) if probe else None, "ids", ())
            if callable(tokenizer):
                probed = tokenizer(_PROBE)["input_ids"]
            state.update(json.dumps([words, list(probed)]).encode())
        for name, tensor in sorted(model.state_dict().items()):
            array = tensor.detach().cpu().float().numpy()
            state.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            state.update(np.ascontiguousarray(array).data)
        return format_identity(self.name, self.dimension, state.hexdigest())

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of texts; the empty text is unknown.

        Raises
        ------
        InputError
            If the model gives numbers that are not finite; names the text.
        """
        texts = _replace_surrogates(texts)
        widths, truncated = self._count_tokens(texts)

        done = set[int]()

        def encode(numbers: list[int]) -> Any:
            report_progress(
                self.progress, len(done), len(texts), "embedding texts", "text"
            )
            done.update(numbers)
            return self._encode([texts[number] for number in numbers])

        sizes = {"batch_size": self.batch_size, "dimension": self.dimension}
        vectors = run_in_batches(widths, encode, **sizes)
        if not np.isfinite(vectors).all():
            check_finite(
                vectors, texts, self.identity, "check the model and the device"
            )
        known = np.array([bool(text.strip()) for text in texts], np.bool_) & (
            widths > 0
        )
        vectors[~known] = 0
        return Embedded(vectors, known, int(truncated.sum()))

    def is_truncated(self, texts: Sequence[str]) -> Bools:
        """Return which texts the model reads only the beginning of."""
        return self._count_tokens(_replace_surrogates(texts))[1]

    def _count_tokens(self, texts: list[str]) -> tuple[Ints, Bools]:
        """Return how many tokens are read of each text, and which texts have more."""
        # a bag of words: length plays no part
        if not callable(self.tokenizer) or not texts:
            return np.ones(len(texts), np.int64), np.zeros(len(texts), np.bool_)
        prompted = [self._prompt + text for text in texts]
        read = self.tokenizer(prompted, truncation=False, verbose=False)
        widths = np.fromiter(map(len, read["input_ids"]), np.int64, len(texts))
        if self.limit is None:
            return widths, np.zeros(len(texts), np.bool_)
        return np.minimum(widths, self.limit), widths > self.limit

    @property
    def limit(self) -> int | None:
        """The most tokens that the model reads."""
        return self.model.max_seq_length  # type: ignore[no-any-return]

    @property
    def _prompt(self) -> str:
        """What the model puts before every text."""
        name = getattr(self.model, "default_prompt_name", None)
        return str((getattr(self.model, "prompts", None) or {}).get(name) or "")

    def _settings(self) -> list[object]:
        """Return what decides the vectors, besides weights and vocabulary."""
        settings: list[object] = [self.limit, self._prompt]
        for module in self.model:  # the pooling, which versions write differently
            pooling = getattr(module, "get_pooling_mode_str", None)
            mode = pooling() if pooling else getattr(module, "pooling_mode", "")
            settings.append(f"{type(module).__name__} {mode}")
        return settings

    def _encode(self, texts: list[str]) -> Any:
        """Return the vectors of texts of one width."""
        return self.model.encode(texts, batch_size=len(texts), show_progress_bar=False)


class TransformerEmbedder(SentenceEmbedder):
    """A transformers model with a pooling, used as a sentence model.

    Parameters
    ----------
    name : str
        The name of a model, or the path of its folder.
    pooling : {"first", "mean"}
    device, batch_size
        See `SentenceEmbedder`.

    Raises
    ------
    MissingDependencyError
        If transformers is not installed.
    InputError
        If the model is not there and cannot be fetched, or the device is not there.
    """

    def __init__(
        self, name: str, *, pooling: str, device: str = "cpu", batch_size: int = 32
    ) -> None:
        self.batch_size = batch_size
        package = require("transformers", "a transformer model", extra="sbert")
        self._torch = require("torch", "a transformer model", extra="sbert")
        check_device(device, self._torch)
        self.pooling, self.device = pooling, device
        with _loading_errors(name) as own:
            self.tokenizer = package.AutoTokenizer.from_pretrained(
                name, local_files_only=own
            )
            model = package.AutoModel.from_pretrained(name, local_files_only=own)
        _check_tokenizer(self.tokenizer, name)
        if getattr(model.config, "is_encoder_decoder", False):
            raise InputError("has-decoder", name, kind=type(model).__name__)
        self.model = model.to(device).eval()
        self.name, self.dimension = (
            f"{_base_name(name)}-{pooling}",
            int(model.config.hidden_size),
        )

    @property
    def limit(self) -> int | None:
        """The most tokens that the model reads."""
        limits = self.tokenizer.model_max_length, _max_positions(self.model), _NO_LIMIT
        most = int(min(limit for limit in limits if limit is not None))
        return most if most < _NO_LIMIT else None

    def _settings(self) -> list[object]:
        return [self.pooling, self.limit]

    def _encode(self, texts: list[str]) -> Any:
        read = self.tokenizer(
            texts, truncation=self.limit is not None, max_length=self.limit
        )
        torch = self._torch
        with torch.inference_mode():
            tokens = torch.tensor(read["input_ids"], device=self.device)
            hidden = self.model(
                input_ids=tokens, attention_mask=torch.ones_like(tokens)
            )[0]
            pooled = hidden[:, 0] if self.pooling == "first" else hidden.mean(dim=1)
            return pooled.float().cpu().numpy()


def open_transformer(spec: str, **options: Any) -> TransformerEmbedder:
    """Open a plain transformer by its name, perhaps after a pooling: ``mean:bert-base-uncased``."""
    first, colon, rest = spec.partition(":")
    pooling, name = (first, rest) if colon and first in _POOLINGS else ("first", spec)
    return TransformerEmbedder(name, pooling=pooling, **options)


def run_in_batches(
    widths: Ints, run: Callable[[list[int]], Any], *, batch_size: int, dimension: int
) -> Vectors:
    """Run a model over texts in batches of one width.

    Parameters
    ----------
    widths : int array, shape (texts,)
        Tokens of each text; without any a text is not run, and its row is zeros.
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
    >>> run_in_batches(np.array([3, 1, 3]), run, batch_size=2, dimension=1).ravel().tolist(), seen
    ([0.0, 1.0, 2.0], [[1, 1], [0, 2]])
    """
    vectors = np.zeros((len(widths), dimension), np.float32)
    for width in np.unique(widths[widths > 0]).tolist():
        numbers = np.flatnonzero(widths == width).tolist()
        size = max(1, min(batch_size, _TOKENS * batch_size // width))
        for start in range(0, len(numbers), size):
            batch = numbers[start : start + size]
            filled = batch + [batch[0]] * (size - len(batch))
            vectors[batch] = np.asarray(run(filled), np.float32)[: len(batch)]
    return vectors


@contextmanager
def _loading_errors(name: str, owner: str = "") -> Iterator[bool]:
    """Turn the failures of loading a model into one error that says what to do.

    Gives whether only files of this machine can be loaded.

    Parameters
    ----------
    name : str
        A folder, or the name of a model that is fetched where the machine is online.
    owner : str
        Under whose name the model is looked for where it has none.
    """
    if not Path(name).exists() and (
        name.count("/") > 1 or name.startswith((".", "/", "~")) or "\\" in name
    ):
        raise InputError("missing-folder", name)
    logging = require("transformers.utils.logging", "loading a model", extra="sbert")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield Path(name).exists() or not _hub_answers()
    except (InputError, MemoryError, import_module("torch").cuda.OutOfMemoryError):
        raise
    # What damaged weights and tokenizers raise is not bounded, nor of one package.
    except Exception as error:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if Path(name).exists():
            raise InputError("damaged", name, why=line) from error
        full = name if "/" in name or not owner else f"{owner}/{name}"
        raise InputError("model-not-here", value=name, why=line, full=full) from error
    finally:
        if shown:
            logging.enable_progress_bar()


def _hub_answers() -> bool:
    """Return whether the model hub can be reached: its own retries take a minute and a half."""
    try:
        hub = import_module("huggingface_hub")
        hub.utils.get_session().head(hub.constants.ENDPOINT, timeout=_PATIENCE)
    except Exception:  # of whichever library makes the request, or offline mode
        return False
    return True


def _check_tokenizer(tokenizer: Any, name: str) -> None:
    """Refuse a tokenizer without words: it was made up because its files are missing."""
    special = set(getattr(tokenizer, "all_special_tokens", ()))
    if hasattr(tokenizer, "get_vocab") and not set(tokenizer.get_vocab()) - special:
        raise InputError("empty-tokenizer", name)


def _max_positions(model: Any) -> int | None:
    """Return for how many tokens a transformer has positions; None if there is no limit."""
    positions = getattr(getattr(model, "config", None), "max_position_embeddings", None)
    if not isinstance(positions, int) or positions <= 0:
        return None
    # RoBERTa counts positions from after that of padding.
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return positions if padding is None else positions - padding - 1


def _base_name(name: str) -> str:
    """Return what a model is called in signatures.

    Examples
    --------
    >>> _base_name("sentence-transformers/all-MiniLM-L6-v2"), _base_name("models/mine/")
    ('all-MiniLM-L6-v2', 'mine')
    """
    return Path(name).name or name


def _replace_surrogates(texts: Sequence[str]) -> list[str]:
    """Replace halves of surrogate pairs, which no tokenizer reads, by U+FFFD."""
    return [
        text if text.isascii() else _SURROGATES.sub("\ufffd", text) for text in texts
    ]
