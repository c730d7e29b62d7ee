"""Pickles of document frequencies, sound and malformed, step by step: nothing in them is run."""

from __future__ import annotations

import collections
import os
import pickle
import pickletools
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from golden.harness import Case, with_files

import semmetrics

_COUNTS = {("a",): 3, ("a", "man"): 2, ("café",): 1}
_FILE = "frequencies.p"


def _loaded(data: bytes, documents: int | None = None) -> Any:
    """What is read of a pickle, or that it is refused in the way that is promised."""
    path = Path(_FILE)
    path.write_bytes(data)
    try:
        found = semmetrics.DocumentFrequencies.load(path, documents=documents)
    except semmetrics.InputError as error:
        return (
            "refused" if _FILE in str(error) else f"refused without the file: {error}"
        )
    finally:
        path.unlink()
    counts = ", ".join(
        f"{' '.join(gram)}: {count}" for gram, count in found.as_dict().items()
    )
    return f"{counts}; {found.documents} documents, {found.log_documents!r}"


# ---- sound --------------------------------------------------------------------------------------


def _sound(protocol: int) -> dict[str, Any]:
    counts = {gram: float(count) for gram, count in _COUNTS.items()}
    held = {
        "dict": counts,
        "whole numbers": _COUNTS,
        "defaultdict": collections.defaultdict(float, counts),
        "Counter": collections.Counter(_COUNTS),
        "OrderedDict": collections.OrderedDict(counts),
    }
    return {
        name: [
            _loaded(
                pickle.dumps({"document_frequency": one, "ref_len": 9.0}, protocol)
            ),
            _loaded(pickle.dumps(one, protocol), 7),
            _loaded(pickle.dumps(one, protocol)),
        ]
        for name, one in held.items()
    }


_LENGTHS = {
    "a logarithm": float(np.log(16250.0)),
    "a logarithm of no whole number": 2.5,
    "a number": 16250,
    "a number as a float": 16250.0,
    "half a document": 16250.5,
    "none": None,
    "text": "9",
    "true": True,
    "negative": -1,
    "nan": float("nan"),
    "too many": 2**53,
    "fewer than a count": 2,
}
_OLD = {
    "Python 2, protocol 0": b"(dp0\nS'document_frequency'\np1\nccollections\ndefaultdict\np2\n"
    b"(c__builtin__\nfloat\np3\ntp4\nRp5\n(S'a'\np6\nS'caf\\xc3\\xa9'\np7\ntp8\nF2.0\ns(V\xe9\np9\n"
    b"tp10\nF1.0\nssS'ref_len'\np11\nF10.609157\ns.",
    "Python 2, numbers of NumPy": b"\x80\x02}(U\x12document_frequency}U\x01a\x85cnumpy.core."
    b"multiarray\nscalar\nq\x01cnumpy\ndtype\nq\x02U\x02i2K\x00K\x01\x87R(K\x03U\x01>NNNJ\xff\xff"
    b"\xff\xffJ\xff\xff\xff\xffK\x00tbU\x02\x00\x0c\x86RsU\x07ref_lenh\x01h\x02U\x02f8K\x00K\x01"
    b"\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tbU\x08"
    + struct.pack("<d", 9.25)
    + b"\x86Ru.",
    "Python 3, a number of NumPy": b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}\x8c\x01a\x85\x8c"
    b"\x16numpy._core.multiarray\x8c\x06scalar\x93\x8c\x05numpy\x8c\x05dtype\x93\x8c\x02i8\x89\x88"
    b"\x87R(K\x03\x8c\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tbC\x08\x03\0\0\0\0\0\0\0\x86R"
    b"s.",
}

# ---- malformed, by step -------------------------------------------------------------------------

_ARGUMENTS = {
    "uint1": b"\x05",
    "uint2": b"\x05\x00",
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


def _malformed(step: pickletools.OpcodeInfo) -> dict[str, Any]:
    """Pickles in which a step stands where it may not, or may."""
    code = step.code.encode("latin-1")
    given = b"" if step.arg is None else _ARGUMENTS[step.arg.name]
    whole = code + given
    pickles = {
        "alone": whole + b".",
        "after a protocol": b"\x80\x04" + whole + b".",
        "without its argument": code,
        "cut": b"\x80\x02}" + whole[:-1],
        "without an end": b"\x80\x02}" + whole,
        "with another argument": code + b"\xff\xff\xff\xff\xff\xff\xff\x7f\n.",
        "with a text for an argument": code + b"x\nx\n.",
        "with bytes that are no text": code + b"\x02\xff\xfe\n" + b".",
        "on a dict": b"}" + whole + b".",
        "on a list": b"]" + whole + b".",
        "on a tuple": b")" + whole + b".",
        "on a number": b"K\x01" + whole + b".",
        "on two texts": b"U\x01aU\x01b" + whole + b".",
        "on a mark": b"(" + whole + b".",
        "on a dict, a mark and a key": b"}(U\x01a\x85" + whole + b"u.",
        "as a value": b"}U\x01a\x85" + whole + b"s.",
        "as a key": b"}" + whole + b"K\x01s.",
        "in a key": b"}" + whole + b"\x85K\x01s.",
        "of three": b"}(U\x01a\x85K\x01U\x01b\x85" + whole + b"u.",
        "after a name and a tuple": b"ccollections\nCounter\n)" + whole + b".",
        "after a name and a dict": b"ccollections\nCounter\n}" + whole + b".",
        "twice": b"}" + whole + whole + b".",
    }
    return {name: _loaded(data, 9) for name, data in pickles.items()}


# ---- hostile ------------------------------------------------------------------------------------


class _Runs:
    """What pickle turns into a call."""

    def __init__(self, function: Any, *arguments: Any, state: Any = None) -> None:
        self.made = (
            (function, arguments) if state is None else (function, arguments, state)
        )

    def __reduce__(self) -> Any:
        return self.made


_CODE = "open('ran', 'w').close()"
_ATTACKS = {
    "system": _Runs(os.system, "echo > ran"),
    "eval": _Runs(eval, _CODE),
    "exec": _Runs(exec, _CODE),
    "open": _Runs(open, "ran", "w"),
    "Popen": _Runs(subprocess.Popen, ["/bin/sh", "-c", "echo > ran"]),
    "getattr": _Runs(getattr, "", "join"),
    "import": _Runs(__import__, "os"),
    "dict": _Runs(dict, [[("a",), 1]]),
    "bytearray": _Runs(bytearray, 5),
    "state": _Runs(collections.Counter, state={"x": 1}),
    "load": _Runs(np.load, "ran"),
    "a function": print,
    "a class": Path,
    "an array": np.arange(3),
    "an array of objects": np.array([None], object),
    "a set": {("a",)},
    "a path": Path("ran"),
    "a complex number": 1j,
}


def _hostile(name: str) -> dict[str, Any]:
    """An attack in each protocol, alone, as a value and as a number of documents."""
    made = {}
    for protocol in range(6):
        attack = _ATTACKS[name]
        held = [attack, {("a",): attack}, {"document_frequency": {}, "ref_len": attack}]
        made[f"protocol {protocol}"] = [
            _loaded(pickle.dumps(one, protocol), 9) for one in held
        ]
    return made


_BY_HAND = {
    "INST": b"(S'echo > ran'\nios\nsystem\n.",
    "OBJ": b"(cos\nsystem\nS'echo > ran'\no.",
    "NEWOBJ": b"\x80\x02cos\nsystem\nU\x0aecho > ran\x85\x81.",
    "NEWOBJ_EX": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x0aecho > ran\x85}\x92.",
    "REDUCE": b"cos\nsystem\n(S'echo > ran'\ntR.",
    "BUILD": b"}}S'__setstate__'\ncos\nsystem\nsbS'echo > ran'\nb.",
    "EXT1": b"\x80\x02\x82\x01.",
    "EXT2": b"\x80\x02\x83\x01\x00.",
    "EXT4": b"\x80\x02\x84\x01\x00\x00\x00.",
    "PERSID": b"Pran\n.",
    "BINPERSID": b"U\x03ranQ.",
    "a name with points": b"\x80\x04\x8c\x08builtins\x8c\x0ceval.__call_\x93.",
    "a name in a module with points": b"cos.path\nos.system\n.",
    "defaultdict of a call": b"ccollections\ndefaultdict\n(cos\nsystem\ntR.",
    "defaultdict of too much": b"ccollections\ndefaultdict\n(}}tR.",
    "codecs": b"c_codecs\nencode\n(V" + b"a" * 40 + b"\nV\nlatin1\ntR.",
    "codecs of another text": b"c_codecs\nencode\n(V\\u20ac\nVlatin1\ntR.",
    "a dtype of another kind": b"cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR.",
    "a scalar too wide": b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'f8'\nI0\nI1\ntRS'"
    + b"a" * 20
    + b"'\ntR.",
    "a scalar of too few bytes": b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(S'f8'\nI0\nI1\n"
    b"tRS'a'\ntR.",
    "protocol 6": b"\x80\x06}.",
    "a frame that ends too late": b"\x80\x04\x95\xff\0\0\0\0\0\0\0}.",
    "a dict in itself": b"\x80\x02}q\x00X\x12\0\0\0document_frequencyh\x00s.",
    "a list in itself": b"\x80\x02]q\x00h\x00a.",
    "a deep tuple": b"\x80\x02}(U\x12document_frequency})"
    + b"\x85" * 5000
    + b"K\x01sU\x07ref_len"
    b"K\x09u.",
    "shared tuples": b"\x80\x02}(U\x12document_frequency})"
    + b"q\x00h\x00\x86" * 60
    + b"K\x01s"
    b"U\x07ref_lenK\x09u.",
    "shared values": b"\x80\x02}U\x01a\x85)" + b"q\x00h\x00\x86" * 60 + b"s.",
    "a long memo": b"\x80\x02Nr\xff\xff\xff\x0f.",
    "a long text": b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f.",
    "many marks": b"(" * 5000 + b".",
    "many digits": b"I" + b"9" * 5000 + b"\n.",
    "a number of many bytes": b"\x80\x02}U\x01a\x85\x8a\xff" + b"\x7f" * 255 + b"s.",
    "keys of bytes": b"\x80\x03}C\x01a\x85K\x01s.",
    "keys of numbers": b"}K\x01K\x01s.",
    "a key twice": b"}(U\x01a\x85K\x01U\x01a\x85K\x02u.",
    "an empty key": b"}()K\x01u.",
    "an empty token": b"}(U\x00\x85K\x01u.",
    "a long key": b"}(U\x01aU\x01aU\x01aU\x01aU\x01atK\x01s.",
    "counts that are texts": b"}U\x01a\x85U\x011s.",
    "counts below 0": b"}U\x01a\x85J\xff\xff\xff\xffs.",
    "counts that are true": b"}U\x01a\x85\x88s.",
    "counts of halves": b"}U\x01a\x85F1.5\ns.",
    "counts that are nan": b"}U\x01a\x85Fnan\ns.",
    "half a surrogate": b"\x80\x02}X\x03\0\0\0\xed\xa0\x80\x85K\x01s.",
    "nothing": b".",
    "no pickle": b"hello",
    "an end alone": b"\x80\x04.",
    "more after the end": b"}U\x01a\x85K\x01s.more",
    "texts alone": b"U\x01a.",
    "a list": b"]U\x01aa.",
    "no dict of frequencies": b"}(U\x12document_frequency]U\x07ref_lenK\x09u.",
    "other keys": b"}(U\x01aK\x01u.",
}


def _case(name: str, run: Any) -> Case:
    return Case(name, lambda: with_files(lambda: {"read": run()}))


GROUPS = {
    "pickles": [
        *(_case(f"protocol {n}", lambda n=n: _sound(n)) for n in range(6)),
        _case(
            "numbers of documents",
            lambda: {
                name: _loaded(
                    pickle.dumps({"document_frequency": _COUNTS, "ref_len": length}, 2)
                )
                for name, length in _LENGTHS.items()
            },
        ),
        *(
            _case(name, lambda d=data: [_loaded(d), _loaded(d, 9)])
            for name, data in _OLD.items()
        ),
        *(
            _case(f"step {step.name}", lambda s=step: _malformed(s))
            for step in pickletools.opcodes
        ),
        *(_case(f"hostile: {name}", lambda n=name: _hostile(n)) for name in _ATTACKS),
        *(
            _case(f"by hand: {name}", lambda d=data: _loaded(d, 9))
            for name, data in _BY_HAND.items()
        ),
    ],
}
