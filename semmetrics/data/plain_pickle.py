"""A reader of pickles of plain values, which does not run anything that a pickle names.

Conventions
-----------
A pickle is a program that may call whatever it names. This unpickler only follows the steps that
make dicts, lists, tuples, strings and numbers. A few names of containers and number types are
allowed, and each is replaced by an object of this module, not by anything of Python or NumPy. Any
other step or name raises an error before it has an effect. Python's own unpickler in C also accepts
an allowlist of names, but a few bytes can make it end the process or use all memory.

Dict keys are strings or tuples of strings, and the size of the file limits the total length of
those tuples. Hashing a tuple of tuples could overflow the stack or never end. `pickle.Unpickler`
cannot check keys, so `_PlainUnpickler` builds on the same class in Python, whose steps can be
checked one by one.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from semmetrics.errors import InputError

_MAX_BYTES_OF_NUMBER = 16
_MAX_ARGUMENTS = 9
_MAX_SHOWN_NAME = 60
_STRUCT_FORMATS = {
    "f8": "d",
    "f4": "f",
    "f2": "e",
    "i8": "q",
    "i4": "i",
    "i2": "h",
    "i1": "b",
    "u8": "Q",
    "u4": "I",
    "u2": "H",
    "u1": "B",
}
"""The format character of the module struct, by the name of a NumPy type."""
_INVALID_PICKLE_ERRORS = (
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    struct.error,
    pickle.UnpicklingError,
)
"""Errors of steps on bytes that are not a pickle."""


def read_plain_pickle(data: bytes, where: str) -> Any:
    """Return the value in a pickle of dicts, lists, tuples, strings and numbers.

    Strings of Python 2 are read as UTF-8. ``defaultdict``, ``OrderedDict`` and ``Counter`` become
    dicts, and NumPy's numbers become Python's.

    Parameters
    ----------
    data : bytes
        Of protocol 0 to 5.
    where : str
        The file, for messages.

    Raises
    ------
    InputError
        If the pickle names anything else, which is not loaded, has keys that are neither strings
        nor tuples of strings, or is not a pickle.

    Examples
    --------
    >>> read_plain_pickle(pickle.dumps({("a", "man"): 2}), "df.p")
    {('a', 'man'): 2}
    >>> read_plain_pickle(pickle.dumps(print), "df.p")
    Traceback (most recent call last):
    semmetrics.errors.InputError: df.p: the pickle contains builtins.print, which semmetrics does
    not load. Write JSON, or plain dicts.
    """
    try:
        return _PlainUnpickler(data).load()
    except InputError as error:
        raise error.placed(where) from None
    except _INVALID_PICKLE_ERRORS as error:
        raise InputError("not-a-pickle", where, why=error) from None


# ---- allowed names ------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _StandIn:
    """The replacement of an allowed name.

    Attributes
    ----------
    make : callable or None
        Returns the result of a call. None if the name must not be called, such as the type of the
        values of a defaultdict.
    """

    make: Callable[..., Any] | None = None


class _NumberType:
    """The replacement of a NumPy type, which tells how to read the bytes of a number.

    Attributes
    ----------
    letter : str
        The format character of the module struct.
    order : str
        The byte order, "<" or ">".
    """

    __slots__ = ("letter", "order")

    def __init__(self, name: Any, *_: Any) -> None:
        # The other arguments of numpy.dtype have no effect on numbers.
        if type(name) is not str:
            raise TypeError
        self.letter = _STRUCT_FORMATS[name]
        self.order = "<"


def _make_mapping(*arguments: Any) -> dict[Any, Any]:
    """Return a new dict, or the argument if it is a dict.

    The dict is not copied, because a pickle could ask for many copies of a large one.
    """
    if len(arguments) > 1:
        raise TypeError
    if not arguments:
        return {}
    (argument,) = arguments
    if type(argument) is dict:
        return argument
    if argument is None or type(argument) is _StandIn:
        return {}
    raise TypeError


def _make_number(number_type: Any, raw: Any) -> Any:
    """Return the number in some bytes, which Python 2 wrote as a string."""
    if type(number_type) is not _NumberType or len(raw) > _MAX_BYTES_OF_NUMBER:
        raise ValueError
    if type(raw) is str:
        raw = raw.encode("utf-8", "surrogateescape")
    (number,) = struct.unpack(number_type.order + number_type.letter, raw)
    return number


def _make_bytes(text: Any, *_: Any) -> bytes:
    """Return the bytes of a number, as protocols 0 to 2 of Python 3 write them."""
    if len(text) > _MAX_BYTES_OF_NUMBER:
        raise ValueError
    return bytes(text.encode("latin-1"))


_PLAIN_TYPES = (
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


def _list_stand_ins() -> dict[tuple[str, str], _StandIn]:
    """Return the replacements of the allowed names by module and name."""
    stand_ins = {
        ("collections", "defaultdict"): _StandIn(_make_mapping),
        ("collections", "OrderedDict"): _StandIn(_make_mapping),
        ("collections", "Counter"): _StandIn(_make_mapping),
        ("_codecs", "encode"): _StandIn(_make_bytes),
        ("numpy.core.multiarray", "scalar"): _StandIn(_make_number),
        ("numpy._core.multiarray", "scalar"): _StandIn(_make_number),
        ("numpy", "dtype"): _StandIn(_NumberType),
    }
    for name in _PLAIN_TYPES:
        stand_ins["builtins", name] = _StandIn()
        stand_ins["__builtin__", name] = _StandIn()
    return stand_ins


_STAND_INS = _list_stand_ins()


# ---- steps --------------------------------------------------------------------------------------

_ALLOWED_STEPS = (
    b"N\x88\x89IJKML\x8a\x8bFG"  # None, booleans, numbers
    b"SUTVX\x8c\x8dCB\x8e"  # Strings and bytes
    b"}dsu]lae)t\x85\x86\x87"  # Dicts, lists and tuples
    b"(.pqrghj\x94\x80\x95"  # Marks, the end, the memo, protocol, frames
    b"c\x93Rb"  # Names, and calls of them
)
"""The opcodes that are followed."""
_STEP_OF_OPCODE: dict[int, Any] = pickle._Unpickler.dispatch


class _PlainUnpickler(pickle._Unpickler):
    """Reads plain values. It refuses other steps and names, and checks the arguments of steps."""

    stack: list[Any]

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")
        # How many more strings the keys may contain. A pickler writes at least one byte for each.
        self._n_strings_left = len(data)

    def find_class(self, module: str, name: str) -> Any:
        """Return the replacement of an allowed name."""
        if (module, name) not in _STAND_INS:
            shown_name = f"{module[:_MAX_SHOWN_NAME]}.{name[:_MAX_SHOWN_NAME]}"
            raise InputError("pickled-name", name=shown_name)
        return _STAND_INS[module, name]

    def _refuse(self) -> NoReturn:
        """Raise the error for a step that is not allowed."""
        raise InputError("pickled-name", name="more than plain values")

    def _check_keys(self, keys: list[Any]) -> None:
        """Raise an error if hashing a key could take longer than the size of the file allows."""
        for key in keys:
            if type(key) is str:
                continue
            if type(key) is tuple:
                self._n_strings_left -= len(key)
                if self._n_strings_left >= 0 and set(map(type, key)) <= {str}:
                    continue
            raise InputError("pickled-name", name=f"a key of type {type(key).__name__}")

    def _set_item(self) -> None:
        """Set an entry of a dict from the key and the value on the stack."""
        self._check_keys(self.stack[-2:-1])
        _STEP_OF_OPCODE[pickle.SETITEM[0]](self)

    def _set_items(self) -> None:
        """Set several entries of a dict from alternating keys and values on the stack."""
        self._check_keys(self.stack[::2])
        _STEP_OF_OPCODE[pickle.SETITEMS[0]](self)

    def _make_dict(self) -> None:
        """Make a dict from alternating keys and values on the stack."""
        self._check_keys(self.stack[::2])
        _STEP_OF_OPCODE[pickle.DICT[0]](self)

    def _call(self) -> None:
        """Call a replacement, with no more arguments than any of them needs."""
        arguments = self.stack.pop()
        function = self.stack[-1]
        if type(function) is not _StandIn or function.make is None:
            raise TypeError
        if type(arguments) is not tuple:
            raise TypeError
        self.stack[-1] = function.make(*arguments[:_MAX_ARGUMENTS])

    def _build(self) -> None:
        """Set the byte order of a NumPy type."""
        state = self.stack.pop()
        number_type = self.stack[-1]
        if type(number_type) is not _NumberType:
            raise TypeError
        number_type.order = ">" if state[1] == ">" else "<"

    dispatch: ClassVar[dict[int, Any]] = {
        **dict.fromkeys(_STEP_OF_OPCODE, _refuse),
        **{opcode: _STEP_OF_OPCODE[opcode] for opcode in _ALLOWED_STEPS},
        pickle.SETITEM[0]: _set_item,
        pickle.SETITEMS[0]: _set_items,
        pickle.DICT[0]: _make_dict,
        pickle.REDUCE[0]: _call,
        pickle.BUILD[0]: _build,
    }
