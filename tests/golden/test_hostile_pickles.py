"""Reading document frequencies from a pickle never runs code, whatever the pickle contains."""

from __future__ import annotations

import collections
import os
import pickle
import pickletools
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from semmetrics import DocumentFrequencies, InputError

FILE_NAME = "frequencies.p"
WRITE_FILE = "open('executed', 'w').close()"


class Call:
    """An object whose pickle calls a function."""

    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


ATTACKS = {
    "system": Call(os.system, "echo > executed"),
    "eval": Call(eval, WRITE_FILE),
    "exec": Call(exec, WRITE_FILE),
    "open": Call(open, "executed", "w"),
    "Popen": Call(subprocess.Popen, ["/bin/sh", "-c", "echo > executed"]),
    "getattr": Call(getattr, "", "join"),
    "import": Call(__import__, "os"),
    "dict": Call(dict, [[("a",), 1]]),
    "a function": print,
    "a class": Path,
    "an array": np.arange(3),
    "an array of objects": np.array([None], object),
    "a set": {("a",)},
    "a path": Path("executed"),
}
BY_HAND = {
    "INST": b"(S'echo > executed'\nios\nsystem\n.",
    "OBJ": b"(cos\nsystem\nS'echo > executed'\no.",
    "REDUCE": b"cos\nsystem\n(S'echo > executed'\ntR.",
    "an extension": b"\x80\x02\x82\x01.",
    "a persistent id": b"Pos.system\n.",
    "a dotted name": b"\x80\x04\x8c\x0bcollections\x8c\x0eCounter.update\x93.",
    "a call of defaultdict": b"ccollections\ndefaultdict\n(cos\nsystem\ntR.",
    "defaultdict with two arguments": b"ccollections\ndefaultdict\n(}}tR.",
    "Counter of a number": b"ccollections\nCounter\n(K\x01tR.",
    "arguments that are not a tuple": b"ccollections\nCounter\n]R.",
    "a dict in itself": b"\x80\x02}q\x00X\x12\0\0\0document_frequencyh\x00s.",
    "no pickle": b"hello",
    "an empty pickle": b".",
}
"""Pickles that ``pickle.dumps`` does not write."""


def is_rejected(data):
    """Load a pickle, and return whether it is an error that names the file."""
    path = Path(FILE_NAME)
    path.write_bytes(data)
    try:
        DocumentFrequencies.load(path, documents=9)
    except InputError as error:
        message = str(error)
    else:
        return False
    assert FILE_NAME in message
    return True


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ATTACKS)
def test_objects_and_calls_are_rejected_and_not_executed(name):
    value = ATTACKS[name]

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert is_rejected(pickle.dumps(value, protocol))
        assert is_rejected(pickle.dumps({("a",): value}, protocol))

    assert not Path("executed").exists()


@pytest.mark.parametrize("name", BY_HAND)
def test_pickles_written_by_hand_are_rejected_and_not_executed(name):
    assert is_rejected(BY_HAND[name])
    assert not Path("executed").exists()


def test_subclasses_of_dict_are_read():
    counts = {("a",): 3, ("a", "man"): 2}

    for value in (collections.Counter(counts), collections.OrderedDict(counts)):
        assert not is_rejected(pickle.dumps(value))


PYTHON_2 = (
    b"(dp0\nS'document_frequency'\np1\nccollections\ndefaultdict\np2\n"
    b"(c__builtin__\nfloat\np3\ntp4\nRp5\n(S'a'\np6\nS'caf\\xc3\\xa9'\np7\ntp8\nF2.0\n"
    b"s(V\xe9\np9\ntp10\nF1.0\nssS'ref_len'\np11\nF10.609157\ns."
)
PYTHON_2_WITH_NUMPY = (
    b"\x80\x02}(U\x12document_frequency}U\x01a\x85cnumpy.core.multiarray\nscalar\nq\x01"
    b"cnumpy\ndtype\nq\x02U\x02i2K\x00K\x01\x87R(K\x03U\x01>NNNJ\xff\xff\xff\xff"
    b"J\xff\xff\xff\xffK\x00tbU\x02\x00\x0c\x86RsU\x07ref_lenK\x63u."
)


@pytest.mark.parametrize(
    ("data", "counts"),
    [
        (PYTHON_2, {("é",): 1, ("a", "café"): 2}),
        (PYTHON_2_WITH_NUMPY, {("a",): 12}),
    ],
)
def test_pickles_of_python_2_are_read(data, counts):
    Path(FILE_NAME).write_bytes(data)

    assert DocumentFrequencies.load(FILE_NAME).as_dict() == counts


ARGUMENTS = {
    "uint1": b"\x05",
    "uint2": b"\x05\0",
    "int4": b"\x05\0\0\0",
    "uint4": b"\x05\0\0\0",
    "uint8": b"\x05" + bytes(7),
    "decimalnl_short": b"5\n",
    "decimalnl_long": b"5L\n",
    "stringnl": b"'a'\n",
    "stringnl_noescape": b"a\n",
    "floatnl": b"1.5\n",
    "stringnl_noescape_pair": b"os\nsystem\n",
    "float8": struct.pack(">d", 1.5),
    "string1": b"\x01a",
    "string4": b"\x01\0\0\0a",
    "bytes1": b"\x01a",
    "bytes4": b"\x01\0\0\0a",
    "bytes8": b"\x01" + bytes(7) + b"a",
    "bytearray8": b"\x01" + bytes(7) + b"a",
    "unicodestringnl": b"a\n",
    "unicodestring1": b"\x01a",
    "unicodestring4": b"\x01\0\0\0a",
    "unicodestring8": b"\x01" + bytes(7) + b"a",
    "long1": b"\x01\x05",
    "long4": b"\x01\0\0\0\x05",
}


@pytest.mark.parametrize("opcode", pickletools.opcodes, ids=lambda opcode: opcode.name)
def test_an_opcode_in_any_place_is_read_or_rejected(opcode):
    code = opcode.code.encode("latin-1")
    argument = ARGUMENTS[opcode.arg.name] if opcode.arg else b""
    step = code + argument

    for data in (
        step + b".",
        code,
        b"\x80\x02}" + step[:-1],
        code + b"\xff\xff\xff\xff\xff\xff\xff\x7f\n.",
        code + b"\x02\xff\xfe\n.",
        b"}" + step + b".",
        b"]" + step + b".",
        b"K\x01" + step + b".",
        b"U\x01aU\x01b" + step + b".",
        b"(" + step + b".",
        b"}(U\x01a\x85" + step + b"u.",
        b"}U\x01a\x85" + step + b"s.",
        b"}" + step + b"\x85K\x01s.",
        b"ccollections\nCounter\n)" + step + b".",
    ):
        is_rejected(data)
