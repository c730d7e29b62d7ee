"""Read pickles of plain values without running anything that they name.

Conventions
-----------
A pickle is a program that may call whatever it names. This unpickler takes only the steps that
make dicts, lists, tuples, strings and numbers. A few names of containers and number types are
known, and what stands for them is nothing of Python or NumPy itself. Any other step or name is an
error, raised before anything is done for it. Python's own unpickler in C can be given an allowlist
of names, too, but not limits: a few bytes make it end the process, or take all memory.

Dict keys are strings or tuples of strings, and the size of the file limits the total length of
those tuples. Hashing a tuple of tuples could overflow the stack or never end. `pickle.Unpickler`
cannot check keys, so this module builds on the same class in Python, whose steps can be checked
one by one. A step of one byte may make a dict of 88: what steps make is counted, too.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from semmetrics.data.source import Room
from semmetrics.errors import InputError

_STEP, _OBJECT = 16, 112  # bytes that a byte of the file may make, at most, and that some steps do
_WIDEST = 16  # bytes of a number
_MOST_ARGUMENTS = 9
_FORMATS = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
_FORMATS |= {"u8": "Q", "u4": "I", "u2": "H", "u1": "B"}
# Bytes that are no pickle break a step in any way: nothing to take, no such place, no number.
_BROKEN = (
    *(LookupError, ValueError, TypeError, AttributeError, EOFError),
    *(struct.error, pickle.UnpicklingError),
)


def read_plain_pickle(data: bytes, where: str, room: Room | None = None) -> Any:
    """Return the value in a pickle of dicts, lists, tuples, strings and numbers.

    Strings of Python 2 are read as UTF-8. ``defaultdict``, ``OrderedDict`` and ``Counter`` become
    dicts; NumPy's numbers become Python's.

    Parameters
    ----------
    data : bytes
        Of protocol 0 to 5.
    where : str
        The file, for messages.
    room : Room, optional
        What the value may take; None is 1 GiB.

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
        return _PlainUnpickler(data, Room(where, 0) if room is None else room).load()
    except InputError as error:
        raise error.placed(where) from None
    except _BROKEN as error:
        raise InputError("not-a-pickle", where, why=error) from None


class _StandIn:
    """What is loaded for a name; ``make`` says what a call of it makes."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make


class _NumberType:
    """What a NumPy type becomes: how the bytes of a number are read."""

    __slots__ = ("letter", "order")

    def __init__(self, name: Any, *_: Any) -> None:
        if type(name) is not str:
            raise TypeError
        self.letter, self.order = _FORMATS[name], "<"


def _only_named(*_: Any) -> NoReturn:
    """Refuse to make a value: a defaultdict names the type of its values, and that is all."""
    raise TypeError


def _mapping(*given: Any) -> dict[Any, Any]:
    """Return a new dict, or the one that is given: not a copy, as many may be made of one."""
    if len(given) > 1 or not all(type(one) in (dict, _StandIn) or one is None for one in given):
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
    (module, name): _StandIn(_only_named)
    for module in ("builtins", "__builtin__")
    for name in ("float", "int", "long", "str", "unicode", "bytes", "list", "dict", "tuple")
}
_NAMES |= {("collections", name): _StandIn(_mapping) for name in ("defaultdict", "OrderedDict")}
_NAMES |= {("collections", "Counter"): _StandIn(_mapping), ("_codecs", "encode"): _StandIn(_encode)}
_NAMES |= {(f"numpy.{core}.multiarray", "scalar"): _StandIn(_scalar) for core in ("core", "_core")}
_NAMES[("numpy", "dtype")] = _StandIn(_NumberType)

# The steps that are taken, by the byte that stands for each.
_STEPS = (
    b"N\x88\x89IJKML\x8a\x8bFG"  # None, truth values, numbers
    b"SUTVX\x8c\x8dCB\x8e"  # strings and bytes
    b"}dsu]lae)t\x85\x86\x87"  # dicts, lists and tuples
    b"(.pqrghj\x94\x80\x95"  # marks, the end, what is used again, protocol, frames
    b"c\x93Rb"  # names, and what is made of them
)
_MADE = b"}])(Nqrp\x94t\x85\x86\x87\x88\x89"  # those that make much of few bytes
_TAKEN: dict[int, Any] = pickle._Unpickler.dispatch


def _counted(step: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a step that counts what it makes."""

    def run(reader: Any) -> None:
        reader._take(_OBJECT)
        step(reader)

    return run


class _PlainUnpickler(pickle._Unpickler):
    """Reads plain values: refuses other steps and names, and checks what steps are given."""

    stack: list[Any]

    def __init__(self, data: bytes, room: Room) -> None:
        room.take(_STEP * len(data))
        self._take = room.take
        super().__init__(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")
        self._room = len(data)  # strings in keys: a pickler writes at least a byte for each

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for an allowed name."""
        if (module, name) not in _NAMES:
            raise InputError("pickled-name", name=f"{module[:60]}.{name[:60]}")
        return _NAMES[module, name]

    def persistent_load(self, pid: Any) -> NoReturn:
        """Refuse what lies outside of the pickle."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InputError("pickled-name", name="more than plain values")

    def _set_item(self) -> None:
        self._check_key(self.stack[-2])
        _TAKEN[pickle.SETITEM[0]](self)

    def _set_items(self) -> None:
        for key in self.stack[::2]:
            self._check_key(key)
        _TAKEN[pickle.SETITEMS[0]](self)

    def _make_dict(self) -> None:
        for key in self.stack[::2]:
            self._check_key(key)
        _TAKEN[pickle.DICT[0]](self)

    def _check_key(self, key: Any) -> None:
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
        if type(self.stack[-1]) is not _StandIn or type(given) is not tuple:
            raise TypeError
        self.stack[-1] = self.stack[-1].make(*given[:_MOST_ARGUMENTS])

    def _build(self) -> None:
        """Tell a NumPy type its byte order."""
        state = self.stack.pop()
        if type(self.stack[-1]) is not _NumberType:
            raise TypeError
        self.stack[-1].order = ">" if state[1] == ">" else "<"

    dispatch: ClassVar[dict[int, Any]] = {
        **dict.fromkeys(_TAKEN, _refuse),
        **{code: _TAKEN[code] for code in _STEPS},
        **{code: _counted(_TAKEN[code]) for code in _MADE},
        pickle.SETITEM[0]: _set_item,
        pickle.SETITEMS[0]: _set_items,
        pickle.DICT[0]: _make_dict,
        pickle.REDUCE[0]: _call,
        pickle.BUILD[0]: _build,
    }
