"""Pickles of plain values, read without running anything that they name.

Conventions
-----------
A pickle is a program that may call whatever it names. Here it is read by a machine that knows only
the steps that make dicts, lists, tuples, texts and numbers; of names it knows those of containers
and numbers, and what stands for them is nothing of Python or NumPy itself. Every other step or name
is an error before anything is done for it.

Keys are texts or tuples of texts, which can be hashed in a time that the size of the file bounds;
deep or shared tuples cannot. Memory is bounded by the size of the file, too.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from typing import Any

from semmetrics.data.pickle_names import MADE, Name, kind_of
from semmetrics.errors import InputError

__all__ = ["read_plain_pickle"]

_PROTOCOL = 5
_STOP = ord(".")
_OTHER_STEPS = b"012PQio\x81\x82\x83\x84\x8f\x90\x91\x92\x96\x97\x98"
_BROKEN = (LookupError, ValueError, TypeError, AttributeError, EOFError, struct.error)
_PLAIN = "give a pickle of dicts, tuples, texts and numbers alone, or write JSON"


def read_plain_pickle(data: bytes, where: str) -> Any:
    """The value in a pickle of dicts, lists, tuples, texts and numbers.

    Texts of Python 2 are read as UTF-8. ``defaultdict``, ``OrderedDict`` and ``Counter`` become
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
        If it names anything else, which is not loaded; has keys that are neither texts nor tuples
        of texts; or is no pickle.

    Examples
    --------
    >>> import pickle
    >>> read_plain_pickle(pickle.dumps({("a", "man"): 2}), "df.p")
    {('a', 'man'): 2}
    >>> read_plain_pickle(pickle.dumps(print), "df.p")
    Traceback (most recent call last):
    semmetrics.errors.InputError: df.p: the pickle names builtins.print, which is not loaded; give
    a pickle of dicts, tuples, texts and numbers alone, or write JSON
    """
    try:
        return _Machine(data).run()
    except InputError as error:
        raise InputError(error.problem, where=where, remedy=error.remedy) from None
    # Bytes that are no pickle break a step in any way: nothing to take, no such place, no number.
    except _BROKEN as error:
        raise InputError(
            f"it is no pickle that can be read: {type(error).__name__}",
            where=where,
            remedy="give document frequencies as .npz, JSON or a pickle of a dict",
        ) from None


class _Machine:
    """Goes through the steps of a pickle; what they make lies on a stack."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # what lies below each mark
        self.memo: dict[int, Any] = {}
        self.hashable = len(data)  # texts in keys: a pickler writes at least a byte for each

    def run(self) -> Any:
        """The value on top when the pickle says stop."""
        while (code := self.data[self.place]) != _STOP:
            self.place += 1
            read = _READ.get(code)
            if read is not None:
                made = read(self)  # which may change what the stack is
                self.stack.append(made)
            elif code in _STEPS:
                _STEPS[code](self)
            elif code in _OTHER_STEPS:
                raise InputError("the pickle holds more than plain values", remedy=_PLAIN)
            else:
                raise ValueError
        return self.stack.pop()

    def take(self, width: int) -> bytes:
        """That many bytes."""
        start, self.place = self.place, self.place + width
        if self.place > len(self.data):
            raise EOFError
        return self.data[start : self.place]

    def whole(self, width: int) -> int:
        """An integer of so many bytes, not negative."""
        return int.from_bytes(self.take(width), "little")

    def sized(self, width: int) -> bytes:
        """Bytes after their number, itself of so many bytes."""
        return self.take(self.whole(width))

    def line(self) -> bytes:
        """Bytes to the end of the line."""
        start = self.place
        end = self.data.index(b"\n", start)
        self.place = end + 1
        return self.data[start:end]

    def popped(self) -> list[Any]:
        """What lies above the last mark, which is taken off."""
        above, self.stack = self.stack, self.below.pop()
        return above

    def mark(self) -> None:
        """Begin a new part of the stack."""
        self.below.append(self.stack)
        self.stack = []

    def tuple_of(self, number: int) -> None:
        """Join the values on top."""
        if len(self.stack) < number:
            raise IndexError
        self.stack[-number:] = [tuple(self.stack[-number:])]

    def extend(self, values: list[Any]) -> None:
        """Add values to the list on top."""
        if type(self.stack[-1]) is not list:
            raise TypeError
        self.stack[-1].extend(values)

    def fill(self, pairs: list[Any]) -> None:
        """Put keys and values, in turn, into the dict on top."""
        held = self.stack[-1]
        if type(held) is not dict or len(pairs) % 2:
            raise TypeError
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            self.check_key(key)
            held[key] = value

    def check_key(self, key: Any) -> None:
        """Refuse what cannot be hashed, or not in a time that the size of the file bounds."""
        if type(key) is str:
            return
        if type(key) is tuple:
            self.hashable -= len(key)
            if self.hashable >= 0 and {*map(type, key)} <= {str}:
                return
        raise InputError(
            f"a key in the pickle ({type(key).__name__}) is no text and no tuple of texts",
            remedy=_PLAIN,
        )

    def name(self, module: Any, name: Any) -> Name:
        """What stands for a name that is allowed."""
        if not (type(module) is str and type(name) is str):
            raise TypeError
        kind = kind_of(module, name)
        if not kind:
            raise InputError(
                f"the pickle names {module[:60]}.{name[:60]}, which is not loaded", remedy=_PLAIN
            )
        return Name(kind)

    def call(self) -> None:
        """What a name makes of a tuple of values."""
        given, named = self.stack.pop(), self.stack.pop()
        if type(given) is not tuple:
            raise TypeError
        self.stack.append(MADE[named.kind](*given[:9]))

    def build(self) -> None:
        """Tell a NumPy type its byte order."""
        state = self.stack.pop()
        self.stack[-1].order = ">" if state[1] == ">" else "<"


def _int_line(line: bytes) -> int | bool:
    return line == b"01" if line in (b"00", b"01") else int(line)


def _old_text(line: bytes) -> str:
    """A text of Python 2 in quotes."""
    quote = line[:1]
    if quote not in (b"'", b'"') or len(line) < 2 or line[-1:] != quote:
        raise ValueError
    return _utf8(codecs.escape_decode(line[1:-1])[0])


def _utf8(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _signed(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _line_name(machine: _Machine) -> Name:
    return machine.name(_text(machine.line()), _text(machine.line()))


def _stack_name(machine: _Machine) -> Name:
    name, module = machine.stack.pop(), machine.stack.pop()
    return machine.name(module, name)


def _coded(table: dict[bytes, Any]) -> dict[int, Any]:
    return {code[0]: step for code, step in table.items()}


# Steps that put one value on the stack.
_READ: dict[int, Callable[[_Machine], Any]] = _coded(
    {
        b"N": lambda m: None,
        b"\x88": lambda m: True,
        b"\x89": lambda m: False,
        b"I": lambda m: _int_line(m.line()),
        b"L": lambda m: int(m.line().rstrip(b"L")),
        b"J": lambda m: _signed(m.take(4)),
        b"K": lambda m: m.whole(1),
        b"M": lambda m: m.whole(2),
        b"\x8a": lambda m: _signed(m.sized(1)),
        b"\x8b": lambda m: _signed(m.sized(4)),
        b"F": lambda m: float(m.line()),
        b"G": lambda m: struct.unpack(">d", m.take(8))[0],
        b"S": lambda m: _old_text(m.line()),
        b"U": lambda m: _utf8(m.sized(1)),
        b"T": lambda m: _utf8(m.sized(4)),
        b"V": lambda m: m.line().decode("raw-unicode-escape"),
        b"\x8c": lambda m: _text(m.sized(1)),
        b"X": lambda m: _text(m.sized(4)),
        b"\x8d": lambda m: _text(m.sized(8)),
        b"C": lambda m: m.sized(1),
        b"B": lambda m: m.sized(4),
        b"\x8e": lambda m: m.sized(8),
        b"}": lambda m: {},
        b"]": lambda m: [],
        b")": lambda m: (),
        b"t": lambda m: tuple(m.popped()),
        b"l": lambda m: m.popped(),
        b"g": lambda m: m.memo[int(m.line())],
        b"h": lambda m: m.memo[m.whole(1)],
        b"j": lambda m: m.memo[m.whole(4)],
        b"c": _line_name,
        b"\x93": _stack_name,
    }
)


def _memoize(machine: _Machine) -> None:
    machine.memo[len(machine.memo)] = machine.stack[-1]


def _put_at(place: Callable[[_Machine], int]) -> Callable[[_Machine], None]:
    """A step that notes what is on top under a number."""

    def step(machine: _Machine) -> None:
        machine.memo[place(machine)] = machine.stack[-1]

    return step


def _join(number: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.tuple_of(number)


def _set_one(machine: _Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.fill([key, value])


def _new_dict(machine: _Machine) -> None:
    pairs = machine.popped()
    machine.stack.append({})
    machine.fill(pairs)


def _protocol(machine: _Machine) -> None:
    if (protocol := machine.whole(1)) > _PROTOCOL:
        raise InputError(f"the pickle has protocol {protocol}", remedy="write protocol 5")


def _frame(machine: _Machine) -> None:
    machine.take(8)  # the length of a frame: all of the file is there already


# Steps that do anything else.
_STEPS: dict[int, Callable[[_Machine], None]] = _coded(
    {
        b"(": _Machine.mark,
        b"R": _Machine.call,
        b"b": _Machine.build,
        b"s": _set_one,
        b"u": lambda m: m.fill(m.popped()),
        b"d": _new_dict,
        b"a": lambda m: m.extend([m.stack.pop()]),
        b"e": lambda m: m.extend(m.popped()),
        b"\x85": _join(1),
        b"\x86": _join(2),
        b"\x87": _join(3),
        b"p": _put_at(lambda m: int(m.line())),
        b"q": _put_at(lambda m: m.whole(1)),
        b"r": _put_at(lambda m: m.whole(4)),
        b"\x94": _memoize,
        b"\x80": _protocol,
        b"\x95": _frame,
    }
)
