"""Document frequencies of n-grams, and the files that contain them.

Conventions
-----------
A table is written as .npz or JSON. JSON is ``{"documents": 5000, "frequencies": {"a man": 1200,
…}}``, with spaces between the tokens of an n-gram, and may have "tokenizer" and "stem". Pickles of
published code can also be read: a dict with "document_frequency" (tuples of tokens and their
counts) and "ref_len", or only the dict of tuples if the user gives the number of documents.
"ref_len" is the number of documents or its natural logarithm. An integer or a number above 50 is
read as the number of documents, any other number as the logarithm.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.arguments import check_once
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Codes, Ints, offsets
from semmetrics.data.arrays import read_arrays
from semmetrics.data.json_files import parse_source
from semmetrics.data.plain_pickle import read_plain_pickle
from semmetrics.data.read_options import DEFAULTS
from semmetrics.data.source import Source, enough_memory, load, reporting_damage
from semmetrics.errors import InputError
from semmetrics.store.files import open_output

_FORMAT = "semmetrics.frequencies/1"
_COUNT_LIMIT = 2**53
"""Counts must be smaller, so that they are exact as floats."""
_WANTED_COUNT = "an integer number of documents below 2**53"
_MAX_LOG = 50.0
"""A larger number is a number of documents, not a logarithm."""
_LOG_TOLERANCE = 1e-9
"""A number counts as the logarithm of an integer if the two differ by less."""
_ZIP_START = b"PK\x03\x04"
_JSON_KEYS = ("documents", "frequencies", "tokenizer", "stem")
_PICKLE_KEYS = ("document_frequency", "ref_len")


# ---- tables -------------------------------------------------------------------------------------


@by_value()
@dataclass(frozen=True, eq=False)
class FrequencyTable:
    """The number of documents in which each n-gram occurs.

    Attributes
    ----------
    documents : int or None
        The number of documents. None if only its logarithm is known, and it is not the logarithm
        of an integer.
    log_documents : float
        The natural logarithm of the number of documents. 0 if there are no documents.
    vocabulary : tuple of str
        Tokens.
    grams : tuple of int arrays, shapes (n-grams, order)
        The distinct n-grams of orders 1, 2, …, as positions in ``vocabulary``.
    counts : tuple of int arrays, shapes (n-grams,)
        The number of documents in which each n-gram occurs, at least 1.
    tokenizer, stem : str
        How the tokens were made. Empty if unknown.
    """

    documents: int | None
    log_documents: float
    vocabulary: tuple[str, ...]
    grams: tuple[Codes, ...]
    counts: tuple[Ints, ...]
    tokenizer: str = ""
    stem: str = ""

    def as_dict(self) -> dict[tuple[str, ...], int]:
        """Return the frequency of each n-gram."""
        frequencies: dict[tuple[str, ...], int] = {}
        vocabulary = self.vocabulary
        for grams, counts in zip(self.grams, self.counts, strict=True):
            for gram, count in zip(grams.tolist(), counts.tolist(), strict=True):
                tokens = [vocabulary[code] for code in gram]
                frequencies[tuple(tokens)] = count
        return frequencies


def log_of(documents: int) -> float:
    """Return the natural logarithm of a number of documents, and 0 if it is 0."""
    return float(np.log(np.float64(max(1, documents))))


def table_of_counts(
    counts: Mapping[tuple[Any, ...], Any],
    documents: Any,
    tokenizer: str = "",
    stem: str = "",
    where: str = "",
    *,
    log_documents: float | None = None,
) -> FrequencyTable:
    """Return the table of a mapping from n-grams to counts. Counts of 0 are left out.

    Parameters
    ----------
    counts : mapping from tuple of str to int
    documents : int
    tokenizer, stem : str
        How the tokens were made.
    where : str
        The file, for messages.
    log_documents : float, optional
        The logarithm of the number of documents, if ``documents`` is None.

    Raises
    ------
    InputError
        If a count is not an integer from 0 to the number of documents, below 2**53.

    Examples
    --------
    >>> table = table_of_counts({("a", "man"): 2, ("a",): 3, ("b",): 0}, 5)
    >>> table.vocabulary, [grams.tolist() for grams in table.grams]
    (('a', 'man'), [[[0]], [[0, 1]]])
    """
    if log_documents is None:
        if not _is_count(documents):
            raise _documents_error(documents, where)
        log_documents = log_of(documents)
    for gram, count in counts.items():
        _check_entry(gram, count, where)
    counts = {gram: count for gram, count in counts.items() if count > 0}
    vocabulary = tuple(dict.fromkeys(chain.from_iterable(counts)))
    codes = {token: code for code, token in enumerate(vocabulary)}
    grams_by_order: list[Codes] = []
    counts_by_order: list[Ints] = []
    max_order = max(map(len, counts), default=0)
    for order in range(1, max_order + 1):
        grams = [gram for gram in counts if len(gram) == order]
        tokens = chain.from_iterable(grams)
        gram_codes = np.fromiter(map(codes.__getitem__, tokens), np.int32)
        own_counts = np.fromiter(map(counts.__getitem__, grams), np.int64, len(grams))
        grams_by_order.append(gram_codes.reshape(-1, order))
        counts_by_order.append(own_counts)
    table = FrequencyTable(
        documents,
        log_documents,
        vocabulary,
        tuple(grams_by_order),
        tuple(counts_by_order),
        tokenizer,
        stem,
    )
    _check_counts(table, where)
    return table


def _check_entry(gram: Any, count: Any, where: str) -> None:
    """Raise an error if a key is not an n-gram, or a value is not a count."""
    is_tuple = isinstance(gram, tuple) and len(gram) > 0
    if not is_tuple or not all(isinstance(token, str) for token in gram):
        wanted = "an n-gram (a tuple of tokens)"
        raise InputError("wrong-type", where, value=gram, wanted=wanted)
    if not _is_number(count) or count != int(count):
        role = f"the frequency of {' '.join(gram)!r}"
        raise InputError(
            "out-of-range", where, role=role, value=count, wanted=_WANTED_COUNT
        )


def _is_number(value: Any) -> bool:
    """Return whether a value is a number from 0, below 2**53."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value < _COUNT_LIMIT


def _is_count(value: object) -> bool:
    """Return whether a value is an integer from 0, below 2**53."""
    return isinstance(value, int) and _is_number(value)


def _documents_error(value: Any, where: str = "") -> InputError:
    role = "the number of documents"
    return InputError(
        "out-of-range", where, role=role, value=value, wanted=_WANTED_COUNT
    )


def _check_counts(table: FrequencyTable, where: str) -> None:
    """Raise an error if an n-gram is in more documents than there are.

    Its weight would be negative.
    """
    max_count: float = math.exp(table.log_documents + _LOG_TOLERANCE)
    if table.documents is not None:
        max_count = table.documents
    for grams, counts in zip(table.grams, table.counts, strict=True):
        if counts.max(initial=0) <= max_count:
            continue
        row = int(np.argmax(counts))
        tokens = [table.vocabulary[code] for code in grams[row].tolist()]
        raise InputError(
            "too-frequent",
            where,
            gram=" ".join(tokens),
            n=int(counts[row]),
            documents=table.documents or round(max_count, 1),
        )


def _read_document_count(count_or_log: Any, where: str) -> tuple[int | None, float]:
    """Return the number of documents and its logarithm, given either of them.

    The number is None if it would not be an integer.
    """
    if not _is_number(count_or_log):
        raise _documents_error(count_or_log, where)
    if isinstance(count_or_log, int) or count_or_log > _MAX_LOG:
        number = int(count_or_log)
        if number != count_or_log:
            raise _documents_error(count_or_log, where)
        return number, log_of(number)
    number = 0
    if count_or_log < math.log(_COUNT_LIMIT):
        number = round(math.exp(count_or_log))
    if number and abs(math.log(number) - count_or_log) < _LOG_TOLERANCE:
        return number, log_of(number)
    return None, count_or_log


# ---- files --------------------------------------------------------------------------------------


def read_frequencies(
    path: str | os.PathLike[str],
    *,
    documents: int | None = None,
    max_bytes: int = DEFAULTS.max_bytes,
) -> FrequencyTable:
    """Read document frequencies. The format is detected from the content.

    Parameters
    ----------
    path : path
        .npz, JSON or a pickle, optionally compressed with gzip.
    documents : int, optional
        The number of documents, if it is not in the file.
    max_bytes : int
        The largest number of bytes to read, after decompression.

    Returns
    -------
    FrequencyTable

    Raises
    ------
    InputError
        If the file is not as described, a count is impossible, or a pickle names anything but
        plain values.
    """
    if documents is not None and not _is_count(documents):
        raise _documents_error(documents)
    source = load(path, max_bytes)
    with enough_memory(source.name):
        if source.data.startswith(_ZIP_START):
            table = _read_arrays(source)
        elif source.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            table = _from_json(parse_source(source), source.name, documents)
        else:
            value = read_plain_pickle(source.data, source.name)
            table = _from_pickle(value, source.name, documents)
    if documents not in (None, table.documents):
        known = table.documents or f"exp({table.log_documents})"
        raise InputError("other-documents", source.name, known=known, given=documents)
    return table


def write_frequencies(table: FrequencyTable, path: str | os.PathLike[str]) -> None:
    """Write document frequencies, as JSON if the extension is .json, otherwise as .npz.

    Raises
    ------
    InputError
        If JSON is requested and a token contains white space or the number of documents is
        unknown, or the file cannot be written.
    """
    if Path(path).suffix.lower() == ".json":
        _write_json(table, path)
    else:
        _write_arrays(table, path)


def _write_json(table: FrequencyTable, path: str | os.PathLike[str]) -> None:
    for token in table.vocabulary:
        if token.split() != [token]:
            why = f"the token {token!r} contains a space"
            raise InputError("not-as-json", str(path), why=why)
    if table.documents is None:
        raise InputError(
            "not-as-json",
            str(path),
            why="only the logarithm of the number of documents is stored",
        )
    frequencies = {" ".join(gram): count for gram, count in table.as_dict().items()}
    content = {
        "documents": table.documents,
        "tokenizer": table.tokenizer,
        "stem": table.stem,
        "frequencies": frequencies,
    }
    text = json.dumps(content, ensure_ascii=False)
    with open_output(path) as out:
        out.write(text + "\n")


def _write_arrays(table: FrequencyTable, path: str | os.PathLike[str]) -> None:
    tokens = [token.encode("utf-8", "surrogatepass") for token in table.vocabulary]
    token_lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    header = {
        "format": _FORMAT,
        "documents": table.documents,
        "log_documents": table.log_documents,
        "tokenizer": table.tokenizer,
        "stem": table.stem,
    }
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "tokens": np.frombuffer(b"".join(tokens), np.uint8),
        "token_indptr": offsets(token_lengths),
    }
    for order, grams in enumerate(table.grams, 1):
        arrays[f"grams_{order}"] = grams
        arrays[f"counts_{order}"] = table.counts[order - 1]
    # NumPy would add an extension to a path.
    with open_output(path, binary=True) as out:
        np.savez_compressed(out, **arrays)


def _from_json(
    value: Mapping[str, Any], where: str, documents: int | None
) -> FrequencyTable:
    """Return the table in a JSON object."""
    frequencies = value.get("frequencies")
    number = value.get("documents", documents)
    if not isinstance(frequencies, dict) or not _is_count(number):
        raise InputError("not-frequencies", where)
    _check_keys(value, _JSON_KEYS, where)
    tokenizer = value.get("tokenizer", "")
    stem = value.get("stem", "")
    if not isinstance(tokenizer, str) or not isinstance(stem, str):
        names = [tokenizer, stem]
        wanted = '"tokenizer" and "stem" as strings'
        raise InputError("wrong-type", where, value=names, wanted=wanted)
    counts = {tuple(gram.split()): count for gram, count in frequencies.items()}
    if len(counts) < len(frequencies):
        grams = [" ".join(gram.split()) for gram in frequencies]
        check_once(grams, "duplicate", where, role="the n-gram (ignoring spaces)")
    return table_of_counts(counts, number, tokenizer, stem, where)


def _check_keys(value: Mapping[Any, Any], known: tuple[str, ...], where: str) -> None:
    """Raise an error for unknown keys. A misspelt key would silently change the results."""
    for key in value:
        if key not in known:
            remedy = f"remove it. The keys are {', '.join(known)}"
            values = {"what": "key", "value": key, "remedy": remedy}
            raise InputError("unknown-name", where, **values)


def _from_pickle(value: Any, where: str, documents: int | None) -> FrequencyTable:
    """Return the table in the value of a pickle."""
    counts = value
    count_or_log = documents
    if isinstance(value, dict) and "document_frequency" in value:
        _check_keys(value, _PICKLE_KEYS, where)
        counts = value["document_frequency"]
        count_or_log = value.get("ref_len", documents)
    if not isinstance(counts, dict):
        raise InputError("not-frequencies", where)
    if not all(isinstance(gram, tuple) for gram in counts):
        raise InputError("not-frequencies", where)
    if count_or_log is None:
        raise InputError("no-documents", where)
    number, log_documents = _read_document_count(count_or_log, where)
    return table_of_counts(counts, number, where=where, log_documents=log_documents)


def _read_arrays(source: Source) -> FrequencyTable:
    """Read the table in an .npz file."""
    arrays = read_arrays(source, source.max_bytes)
    with reporting_damage(
        source.name, KeyError, ValueError, TypeError, OverflowError, RecursionError
    ):
        header = json.loads(arrays["header"].tobytes())
        documents = header["documents"]
        tokenizer = header["tokenizer"]
        stem = header["stem"]
        are_strings = isinstance(tokenizer, str) and isinstance(stem, str)
        if header["format"] != _FORMAT or not are_strings:
            raise ValueError("its header")
        count_or_log = _count_or_log(documents, header)
        vocabulary = _decode_tokens(arrays["tokens"], arrays["token_indptr"])
        max_order = sum(name.startswith("grams_") for name in arrays)
        grams_by_order: list[Codes] = []
        counts_by_order: list[Ints] = []
        for order in range(1, max_order + 1):
            grams = arrays[f"grams_{order}"]
            counts = arrays[f"counts_{order}"]
            n_grams = len(grams)
            shape = (n_grams, order)
            _check_integers(f"grams_{order}", grams, shape, 0, len(vocabulary) - 1)
            _check_integers(f"counts_{order}", counts, (n_grams,), 1, _COUNT_LIMIT - 1)
            grams_by_order.append(np.asarray(grams, np.int32))
            counts_by_order.append(np.asarray(counts, np.int64))
    number, log_documents = _read_document_count(count_or_log, source.name)
    table = FrequencyTable(
        number,
        log_documents,
        vocabulary,
        tuple(grams_by_order),
        tuple(counts_by_order),
        tokenizer,
        stem,
    )
    _check_counts(table, source.name)
    return table


def _count_or_log(documents: Any, header: Mapping[str, Any]) -> Any:
    """Return the number of documents in a header, or its logarithm if the number is null."""
    if documents is None:
        log_documents = header["log_documents"] + 0.0
        if log_documents <= _MAX_LOG:
            return log_documents
    if not _is_count(documents):
        raise ValueError("the number of documents")
    return documents


def _decode_tokens(tokens: Any, indptr: Any) -> tuple[str, ...]:
    """Return distinct tokens from their concatenated bytes and offsets."""
    data = tokens.tobytes()
    _check_integers("tokens", indptr, (len(indptr),), 0, len(data))
    spans = pairwise(indptr.tolist())
    vocabulary = tuple(data[a:b].decode("utf-8", "surrogatepass") for a, b in spans)
    if len(set(vocabulary)) < len(vocabulary) or (np.diff(indptr) < 0).any():
        raise ValueError("a token occurs twice, or ends before it starts")
    return vocabulary


def _check_integers(
    name: str, array: Any, shape: tuple[int, ...], low: int, high: int
) -> None:
    """Raise ValueError unless an array has this shape and integers from low to high."""
    if array.shape != shape or array.dtype.kind not in "iu":
        raise ValueError(name)
    if array.size and not low <= array.min() <= array.max() <= high:
        raise ValueError(name)
