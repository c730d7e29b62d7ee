"""Document frequencies of n-grams: how they are held, checked, and kept in files.

Conventions
-----------
A table is written as .npz or JSON. JSON reads ``{"documents": 5000, "frequencies": {"a man": 1200,
…}}``, with blanks between the tokens of an n-gram, and may give "tokenizer" and "stem". Pickles of
released code are read, too: a dict with "document_frequency" (tuples of tokens and their counts)
and "ref_len", or the dict of tuples alone if the number of documents is given. "ref_len" is the
number of documents or its natural logarithm: whole numbers and numbers above 50 are the number
itself.

A pickle is a program that may call whatever it names. This unpickler takes only the steps that
make dicts, lists, tuples, strings and numbers. A few names of containers and number types are
known, and what stands for them is nothing of Python or NumPy itself. Any other step or name is an
error, raised before anything is done for it. Python's own unpickler in C can be given an allowlist
of names, too, but a few bytes make it end the process, or take all memory.

Dict keys are strings or tuples of strings, and the size of the file limits the total length of
those tuples. Hashing a tuple of tuples could overflow the stack or never end. `pickle.Unpickler`
cannot check keys, so `_PlainUnpickler` builds on the same class in Python, whose steps can be
checked one by one.
"""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np

from semmetrics.arguments import check_once
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Codes, Ints, offsets
from semmetrics.data.arrays import read_arrays
from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse_source
from semmetrics.data.source import Source, enough_memory, load, undamaged
from semmetrics.errors import InputError
from semmetrics.store.files import open_output

_FORMAT = "semmetrics.frequencies/1"
_LARGEST = 2**53  # counts are below it: each is a float, too
_WANTED = "a whole number of documents, below 2**53"
_LARGEST_LOG = 50.0  # above every logarithm of a number of documents
_CLOSE = 1e-9  # to which a logarithm is that of a whole number


@by_value()
@dataclass(frozen=True, eq=False)
class FrequencyTable:
    """In how many documents n-grams occur.

    Attributes
    ----------
    documents : int or None
        How many documents there are; None where only a logarithm is known that is of no integer.
    log_documents : float
        The natural logarithm of their number; of 1 where there is none.
    vocabulary : tuple of str
        Tokens.
    grams : tuple of int arrays, shapes (n-grams, order)
        The distinct n-grams of orders 1, 2, …, as places in ``vocabulary``.
    counts : tuple of int arrays, shapes (n-grams,)
        In how many documents each occurs, at least 1.
    tokenizer, stem : str
        How the tokens were made; "" where that is not known.
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
        return {
            tuple([self.vocabulary[code] for code in gram]): count
            for grams, counts in zip(self.grams, self.counts, strict=True)
            for gram, count in zip(grams.tolist(), counts.tolist(), strict=True)
        }


def log_of(documents: int) -> float:
    """Return the natural logarithm of a number of documents; 0 for none."""
    return float(np.log(np.float64(max(1, documents))))


def _is_number(value: Any) -> bool:
    """Return whether it is a number from 0, below 2**53."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value < _LARGEST
    )


def _bad_documents(value: Any, where: str = "") -> InputError:
    role = "the number of documents"
    return InputError("out-of-range", where, role=role, value=value, wanted=_WANTED)


def _is_count(value: object) -> bool:
    """Return whether it is a whole number from 0, below 2**53."""
    return isinstance(value, int) and _is_number(value)


def table_of_counts(
    counts: Mapping[tuple[Any, ...], Any],
    documents: Any,
    tokenizer: str = "",
    stem: str = "",
    where: str = "",
    *,
    log_documents: float | None = None,
) -> FrequencyTable:
    """Return the table of a mapping from n-grams to counts; counts of 0 are left out.

    Parameters
    ----------
    counts : mapping from tuple of str to int
    documents : int
    tokenizer, stem : str
        How the tokens were made.
    where : str
        The file, for messages.
    log_documents : float, optional
        The logarithm, where only that is known and ``documents`` is None.

    Raises
    ------
    InputError
        If a count is no whole number from 0 to the number of documents, below 2**53.
    """
    if log_documents is None:
        if not _is_count(documents):
            raise _bad_documents(documents, where)
        log_documents = log_of(documents)
    for gram, count in counts.items():
        if not (
            isinstance(gram, tuple)
            and gram
            and all(isinstance(one, str) for one in gram)
        ):
            wanted = "an n-gram (a tuple of tokens)"
            raise InputError("wrong-type", where, value=gram, wanted=wanted)
        if not _is_number(count) or count != int(count):
            role = f"the frequency of {' '.join(gram)!r}"
            raise InputError(
                "out-of-range", where, role=role, value=count, wanted=_WANTED
            )
    counts = {gram: count for gram, count in counts.items() if count > 0}
    vocabulary = tuple(dict.fromkeys(chain.from_iterable(counts)))
    places = {token: code for code, token in enumerate(vocabulary)}
    grams, numbers = [], []
    for order in range(1, max(map(len, counts), default=0) + 1):
        some = [gram for gram in counts if len(gram) == order]
        codes = np.fromiter(
            (places[token] for gram in some for token in gram), np.int32
        )
        grams.append(codes.reshape(-1, order))
        numbers.append(
            np.fromiter((counts[gram] for gram in some), np.int64, len(some))
        )
    columns = vocabulary, tuple(grams), tuple(numbers)
    table = FrequencyTable(documents, log_documents, *columns, tokenizer, stem)
    _check_counts(table, where)
    return table


def _check_counts(table: FrequencyTable, where: str) -> None:
    """Refuse n-grams that are in more documents than there are: their weight would be negative."""
    most = math.exp(table.log_documents + _CLOSE)
    most = most if table.documents is None else table.documents
    for grams, counts in zip(table.grams, table.counts, strict=True):
        if counts.max(initial=0) > most:
            place = int(np.argmax(counts))
            gram = " ".join(table.vocabulary[code] for code in grams[place].tolist())
            raise InputError(
                "too-frequent",
                where,
                gram=gram,
                n=int(counts[place]),
                documents=table.documents or round(most, 1),
            )


def read_frequencies(
    path: str | os.PathLike[str],
    *,
    documents: int | None = None,
    max_bytes: int = DEFAULTS.max_bytes,
) -> FrequencyTable:
    """Read document frequencies; the format is detected by the content.

    Parameters
    ----------
    path : path
        .npz, JSON or a pickle, perhaps with gzip.
    documents : int, optional
        How many documents there are, where the file does not say it.
    max_bytes : int
        The most bytes to read, after decompression.

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
        raise _bad_documents(documents)
    source = load(path, max_bytes)
    with enough_memory(source.name):
        if source.data.startswith(b"PK\x03\x04"):
            table = _of_arrays(source)
        elif source.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
            table = _of_json(parse_source(source), source.name, documents)
        else:
            table = _of_pickle(
                read_plain_pickle(source.data, source.name), source.name, documents
            )
    if documents not in (None, table.documents):
        known = table.documents or f"exp({table.log_documents})"
        raise InputError("other-documents", source.name, known=known, given=documents)
    return table


def write_frequencies(table: FrequencyTable, path: str | os.PathLike[str]) -> None:
    """Write document frequencies, as JSON where the path ends in .json, otherwise as .npz.

    Raises
    ------
    InputError
        If JSON is asked for and a token holds a blank, or the number of documents is not known; or
        the file cannot be written.
    """
    names = {"tokenizer": table.tokenizer, "stem": table.stem}
    if Path(path).suffix.lower() == ".json":
        odd = next((t for t in table.vocabulary if t.split() != [t]), None)
        if odd is not None or table.documents is None:
            blank = f"the token {odd!r} holds a blank"
            why = blank if odd is not None else "only a logarithm is known"
            raise InputError("not-as-json", str(path), why=why)
        frequencies = {" ".join(gram): count for gram, count in table.as_dict().items()}
        whole = {"documents": table.documents, **names, "frequencies": frequencies}
        text = json.dumps(whole, ensure_ascii=False)
        with open_output(path) as out:
            out.write(text + "\n")
        return
    coded = [token.encode("utf-8", "surrogatepass") for token in table.vocabulary]
    number = {"documents": table.documents, "log_documents": table.log_documents}
    header = {"format": _FORMAT, **number, **names}
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "tokens": np.frombuffer(b"".join(coded), np.uint8),
        "token_indptr": offsets(np.fromiter(map(len, coded), np.int64, len(coded))),
    }
    for order, (grams, counts) in enumerate(
        zip(table.grams, table.counts, strict=True), 1
    ):
        arrays[f"grams_{order}"], arrays[f"counts_{order}"] = grams, counts
    with open_output(
        path, binary=True
    ) as out:  # so that the name stays as it was given
        np.savez_compressed(out, **arrays)


def _of_json(
    value: Mapping[str, Any], where: str, documents: int | None
) -> FrequencyTable:
    frequencies, number = value.get("frequencies"), value.get("documents", documents)
    if not isinstance(frequencies, dict) or not _is_count(number):
        raise InputError("not-frequencies", where)
    _check_keys(value, ("documents", "frequencies", "tokenizer", "stem"), where)
    names = [value.get(key, "") for key in ("tokenizer", "stem")]
    if not all(isinstance(name, str) for name in names):
        raise InputError(
            "wrong-type", where, value=names, wanted='"tokenizer" and "stem" as texts'
        )
    counts = {tuple(gram.split()): count for gram, count in frequencies.items()}
    if len(counts) < len(frequencies):
        grams = [" ".join(gram.split()) for gram in frequencies]
        check_once(grams, "duplicate", where, role="the n-gram (whatever its blanks)")
    return table_of_counts(counts, number, names[0], names[1], where)


def _check_keys(value: Mapping[Any, Any], known: tuple[str, ...], where: str) -> None:
    """Refuse keys that mean nothing: one that is misspelt would change numbers in silence."""
    if extra := [key for key in value if key not in known]:
        raise InputError(
            "unknown-name",
            where,
            what="key",
            value=extra[0],
            remedy=f"remove it; the keys are {', '.join(known)}",
        )


def _of_pickle(value: Any, where: str, documents: int | None) -> FrequencyTable:
    if isinstance(value, dict) and "document_frequency" in value:
        _check_keys(value, ("document_frequency", "ref_len"), where)
        counts, length = value["document_frequency"], value.get("ref_len", documents)
    else:
        counts, length = value, documents
    if not isinstance(counts, dict) or not all(
        isinstance(gram, tuple) for gram in counts
    ):
        raise InputError("not-frequencies", where)
    if length is None:
        raise InputError("no-documents", where)
    number, log = _number_of_documents(length, where)
    return table_of_counts(counts, number, where=where, log_documents=log)


def _number_of_documents(length: Any, where: str) -> tuple[int | None, float]:
    """Return the number of documents and its logarithm, from either of them."""
    whole = isinstance(length, int) or (_is_number(length) and length > _LARGEST_LOG)
    if not _is_number(length) or (whole and length != int(length)):
        raise _bad_documents(length, where)
    if whole:
        return int(length), log_of(int(length))
    number = round(math.exp(length)) if length < math.log(2**53) else 0
    if number and abs(math.log(number) - length) < _CLOSE:
        return number, log_of(number)
    return None, length


def _of_arrays(source: Source) -> FrequencyTable:
    arrays = read_arrays(source, source.max_bytes)
    with undamaged(
        source.name, KeyError, ValueError, TypeError, OverflowError, RecursionError
    ):
        header = json.loads(arrays["header"].tobytes())
        documents, *names = (header[key] for key in ("documents", "tokenizer", "stem"))
        if header["format"] != _FORMAT or not all(
            isinstance(name, str) for name in names
        ):
            raise ValueError("its header")
        if documents is None and header["log_documents"] + 0.0 <= _LARGEST_LOG:
            documents = header["log_documents"] + 0.0
        elif not _is_count(documents):
            raise ValueError("the number of documents")
        data, ends = arrays["tokens"].tobytes(), arrays["token_indptr"]
        _check_integers("tokens", ends, (len(ends),), 0, len(data))
        spans = pairwise(ends.tolist())
        vocabulary = tuple(data[a:b].decode("utf-8", "surrogatepass") for a, b in spans)
        if len(set(vocabulary)) < len(vocabulary) or (np.diff(ends) < 0).any():
            raise ValueError("a token is there twice, or ends before it begins")
        grams, counts = [], []
        for n in range(1, 1 + sum(name.startswith("grams_") for name in arrays)):
            codes, some = arrays[f"grams_{n}"], arrays[f"counts_{n}"]
            _check_integers(
                f"grams_{n}", codes, (len(codes), n), 0, len(vocabulary) - 1
            )
            _check_integers(f"counts_{n}", some, (len(codes),), 1, _LARGEST - 1)
            grams.append(np.asarray(codes, np.int32))
            counts.append(np.asarray(some, np.int64))
    known = _number_of_documents(documents, source.name)
    table = FrequencyTable(*known, vocabulary, tuple(grams), tuple(counts), *names)
    _check_counts(table, source.name)
    return table


def _check_integers(
    name: str, array: Any, shape: tuple[int, ...], low: int, high: int
) -> None:
    """Refuse an array of another shape, or of anything but integers from low to high."""
    fits = array.shape == shape and array.dtype.kind in "iu"
    if not fits or (array.size and not low <= array.min() <= array.max() <= high):
        raise ValueError(name)


# ---- pickles ------------------------------------------------------------------------------------

_WIDEST = 16  # bytes of a number
_MOST_ARGUMENTS = 9
_FORMATS = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
_FORMATS |= {"u8": "Q", "u4": "I", "u2": "H", "u1": "B"}
# Bytes that are no pickle break a step in any way: nothing to take, no such place, no number.
_BROKEN = (
    *(LookupError, ValueError, TypeError, AttributeError, EOFError),
    *(struct.error, pickle.UnpicklingError),
)


def read_plain_pickle(data: bytes, where: str) -> Any:
    """Return the value in a pickle of dicts, lists, tuples, strings and numbers.

    Strings of Python 2 are read as UTF-8. ``defaultdict``, ``OrderedDict`` and ``Counter`` become
    dicts; NumPy's numbers become Python's.

    Parameters
    ----------
    data : bytes
        Of protocol 0 to 5.
    where : str
        The file, for messages.

    Raises
    ------
    InputError
        If it names anything else, which is not loaded; has keys that are neither strings nor
        tuples of strings; or is no pickle.

    Examples
    --------
    >>> read_plain_pickle(pickle.dumps({("a", "man"): 2}), "df.p")
    {('a', 'man'): 2}
    >>> read_plain_pickle(pickle.dumps(print), "df.p")
    Traceback (most recent call last):
    semmetrics.errors.InputError: df.p: the pickle names builtins.print, which is not loaded; give
    a pickle of dicts, tuples, texts and numbers alone, or write JSON
    """
    try:
        return _PlainUnpickler(data).load()
    except InputError as error:
        raise error.placed(where) from None
    except _BROKEN as error:
        raise InputError("not-a-pickle", where, why=error) from None


@dataclass(slots=True, eq=False)
class _StandIn:
    """What is loaded for a name; ``make`` says what a call of it makes, if it may be called.

    A defaultdict names the type of its values, and that is all.
    """

    make: Callable[..., Any] | None = None


class _NumberType:
    """What a NumPy type becomes: how the bytes of a number are read."""

    __slots__ = ("letter", "order")

    def __init__(self, name: Any, *_: Any) -> None:
        if type(name) is not str:
            raise TypeError
        self.letter, self.order = _FORMATS[name], "<"


def _mapping(*given: Any) -> dict[Any, Any]:
    """Return a new dict, or the one that is given: not a copy, as many may be made of one."""
    if len(given) > 1 or not all(
        type(one) in (dict, _StandIn) or one is None for one in given
    ):
        raise TypeError
    return given[0] if given and type(given[0]) is dict else {}


def _scalar(kind: Any, raw: Any) -> Any:
    """Return the number in those bytes, which Python 2 wrote as a string."""
    if type(kind) is not _NumberType or len(raw) > _WIDEST:
        raise ValueError
    raw = raw.encode("utf-8", "surrogateescape") if type(raw) is str else raw
    return struct.unpack(kind.order + kind.letter, raw)[0]


def _encode(text: Any, *_: Any) -> bytes:
    """Return the bytes of a number, as protocols 0 to 2 of Python 3 write them."""
    if len(text) > _WIDEST:
        raise ValueError
    return bytes(text.encode("latin-1"))


_NAMES = {
    (module, name): _StandIn()
    for module in ("builtins", "__builtin__")
    for name in (
        "float",
        "int",
        "long",
        "str",
        "unicode",
        "bytes",
        "list",
        "dict",
        "tuple",
    )
}
_NAMES |= {
    ("collections", name): _StandIn(_mapping) for name in ("defaultdict", "OrderedDict")
}
_NAMES |= {
    ("collections", "Counter"): _StandIn(_mapping),
    ("_codecs", "encode"): _StandIn(_encode),
}
_NAMES |= {
    (f"numpy.{core}.multiarray", "scalar"): _StandIn(_scalar)
    for core in ("core", "_core")
}
_NAMES[("numpy", "dtype")] = _StandIn(_NumberType)

# The steps that are taken, by the byte that stands for each.
_STEPS = (
    b"N\x88\x89IJKML\x8a\x8bFG"  # None, truth values, numbers
    b"SUTVX\x8c\x8dCB\x8e"  # strings and bytes
    b"}dsu]lae)t\x85\x86\x87"  # dicts, lists and tuples
    b"(.pqrghj\x94\x80\x95"  # marks, the end, what is used again, protocol, frames
    b"c\x93Rb"  # names, and what is made of them
)
_TAKEN: dict[int, Any] = pickle._Unpickler.dispatch


def _checking_keys(code: int, keys: slice) -> Callable[[Any], None]:
    """Return a step that makes entries of a dict of what is on the stack, once keys are checked."""

    def run(reader: Any) -> None:
        for key in reader.stack[keys]:
            reader.check_key(key)
        _TAKEN[code](reader)

    return run


class _PlainUnpickler(pickle._Unpickler):
    """Reads plain values: refuses other steps and names, and checks what steps are given."""

    stack: list[Any]

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")
        # strings in keys: a pickler writes at least a byte for each
        self._room = len(data)

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for an allowed name."""
        if (module, name) not in _NAMES:
            raise InputError("pickled-name", name=f"{module[:60]}.{name[:60]}")
        return _NAMES[module, name]

    def _refuse(self) -> NoReturn:
        raise InputError("pickled-name", name="more than plain values")

    def check_key(self, key: Any) -> None:
        """Refuse a key that cannot be hashed, or not in a time that the size of the file bounds."""
        if type(key) is str:
            return
        if type(key) is tuple:
            self._room -= len(key)
            if self._room >= 0 and {*map(type, key)} <= {str}:
                return
        raise InputError("pickled-name", name=f"a key of type {type(key).__name__}")

    def _call(self) -> None:
        """Call a stand-in, with as many arguments as any of them can need."""
        given = self.stack.pop()
        called = self.stack[-1]
        if (
            type(called) is not _StandIn
            or called.make is None
            or type(given) is not tuple
        ):
            raise TypeError
        self.stack[-1] = called.make(*given[:_MOST_ARGUMENTS])

    def _build(self) -> None:
        """Tell a NumPy type its byte order."""
        state = self.stack.pop()
        if type(self.stack[-1]) is not _NumberType:
            raise TypeError
        self.stack[-1].order = ">" if state[1] == ">" else "<"

    dispatch: ClassVar[dict[int, Any]] = {
        **dict.fromkeys(_TAKEN, _refuse),
        **{code: _TAKEN[code] for code in _STEPS},
        pickle.SETITEM[0]: _checking_keys(pickle.SETITEM[0], slice(-2, -1)),
        pickle.SETITEMS[0]: _checking_keys(pickle.SETITEMS[0], slice(None, None, 2)),
        pickle.DICT[0]: _checking_keys(pickle.DICT[0], slice(None, None, 2)),
        pickle.REDUCE[0]: _call,
        pickle.BUILD[0]: _build,
    }
