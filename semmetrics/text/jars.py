"""Files and constants from jars of the package pycocoevalcap, read without Java."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from semmetrics.errors import InputError
from semmetrics.text.java import JavaProgram

_ERRORS_OF_DAMAGE = (
    OSError,
    LookupError,
    ValueError,
    EOFError,
    RuntimeError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)

# Layout of a Java class: a header with the number of constants, then the constants.
# Each has a tag of one byte and a content. A UTF-8 constant has its length in two
# bytes, then the characters.
_COUNT = slice(8, 10)
_FIRST_CONSTANT = 10
_UTF8_TAG = 1
_STRING_TAG = 8
_TAGS_WITH_TWO_NUMBERS = (5, 6)  # a long or a double counts as two constants
_CONTENT_BYTES = {
    1: 2,
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    18: 4,
}
# Instructions that store a string constant in an array: dup, push the index, push the
# constant by a number of one byte (group 1) or two (group 2), store.
_STORE = rb"\x59(?:[\x03-\x08]|\x10.)(?:\x12(.)|\x13(..))\x53"
_STORE_ONE = re.compile(_STORE, re.DOTALL)
_STORE_ALL = re.compile(b"(?:%b)+" % _STORE, re.DOTALL)


@contextmanager
def open_jar(files: JavaProgram, number: int = -1) -> Iterator[zipfile.ZipFile]:
    """Open one of the files of a program, a jar, to read from it.

    Errors in the ``with`` block that show that the jar is damaged become an InputError.

    Parameters
    ----------
    files : JavaProgram
    number : int
        Index of the jar in ``files.files``. The last one by default.

    Raises
    ------
    MissingDependencyError
        If the package is not installed.
    InputError
        If the jar is missing or damaged.
    """
    path = files.folder_of_files() / files.files[number]
    try:
        with zipfile.ZipFile(path) as jar:
            yield jar
    except _ERRORS_OF_DAMAGE as error:
        raise InputError("damaged-package", path, why=error) from error


def read_string_arrays(class_file: bytes) -> Iterator[frozenset[str]]:
    """Yield the arrays of string constants in the code of a Java class.

    References
    ----------
    The Java Virtual Machine Specification, section 4.4 (constants) and chapter 6
    (instructions).
    """
    texts: dict[int, str] = {}
    text_of_string: dict[int, int] = {}
    position = _FIRST_CONSTANT
    number = 1
    count = int.from_bytes(class_file[_COUNT], "big")
    while number < count:
        tag = class_file[position]
        start = position + 1
        # The length of a UTF-8 constant, or the number of the text of a string.
        value = int.from_bytes(class_file[start : start + 2], "big")
        position = start + _CONTENT_BYTES[tag]
        if tag == _UTF8_TAG:
            text = class_file[position : position + value]
            texts[number] = text.decode()
            position += value
        elif tag == _STRING_TAG:
            text_of_string[number] = value
        number += 2 if tag in _TAGS_WITH_TWO_NUMBERS else 1

    code = class_file[position:]
    for array in _STORE_ALL.finditer(code):
        strings = set()
        for store in _STORE_ONE.finditer(array[0]):
            number = int.from_bytes(store[1] or store[2], "big")
            strings.add(texts[text_of_string[number]])
        yield frozenset(strings)
