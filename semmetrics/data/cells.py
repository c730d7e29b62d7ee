r"""Read lists and objects that a program wrote as text into one cell.

Conventions
-----------
``DataFrame.to_csv`` writes a list as Python shows it, ``['cat', 'dog']``, an array as NumPy shows
it, ``['cat' 'dog']``, a tensor as torch shows it, ``tensor([3, 5])``, and other programs write
JSON, ``["cat", "dog"]``. Tuples and sets are read too. Nothing is evaluated: JSON is parsed by
`json`, objects by `ast.literal_eval` if they are short, and everything else by the grammar of this
module.

A text that merely contains brackets, such as ``[CLS] a dog`` or ``[unclear]``, is not a list:
strings in a list are quoted.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any

from semmetrics.errors import InputError
from semmetrics.messages import counted, shown

_OPENERS = ("[", "{", "(", "array(", "tensor(", "set(", "frozenset(")
_CLOSERS = {"[": "]", "{": "}", "(": ")"}
_ARRAY = re.compile(
    r"(?:array|tensor)\((.*?)(?:,\s*(?:dtype|device|grad_fn|requires_grad)=[^\[\]()]+)*\)",
    re.DOTALL,
)
"""An array or a tensor. The group is its list, without arguments such as dtype."""
_SET = re.compile(r"(?:frozen)?set\((.*)\)", re.DOTALL)
_STRING = r"""[ubr]?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_BARE = r"[-+.\w]+"
_SCALAR = r"(?:np|numpy)\.\w+\((?P<inner>[^()]*)\)"  # np.str_('cat'), np.float64(0.5)
_ENTRY = re.compile(
    rf"(?P<scalar>{_SCALAR})|(?P<string>{_STRING})|(?P<bare>{_BARE})", re.DOTALL
)
_GAP = re.compile(r"\s*,\s*|\s+|$")
"""What separates two entries, or the end."""
_WORDS = {
    "None": None,
    "null": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
}
_COLLECTION_TYPES = (list, dict, tuple)
_MAX_OBJECT_LENGTH = 100_000  # characters of an object that ast.literal_eval reads
_MAX_OBJECT_DEPTH = 20
_DEEP_START = re.compile(rf"(?:[\[{{]\s*){{{_MAX_OBJECT_DEPTH + 1},}}")
"""More brackets than any list of entries has. The limit of `json` depends on the Python version."""


MISSING_TEXTS = frozenset(("nan", "none", "null", "n/a", "na", "<na>", "#n/a"))
"""Texts that programs write for a cell without a value, in lower case."""


class CutListError(ValueError):
    """NumPy left entries out of a long array: ``['a' 'b' ... 'y' 'z']``."""


def may_be_structured(text: str) -> bool:
    """Return whether a text may be a list or an object, judging by its first characters."""
    return text.lstrip().startswith(_OPENERS)


def read_cell(text: str) -> Any:
    """Return the list or mapping that a cell contains, or None if it is plain text.

    Raises
    ------
    CutListError
        If NumPy left out a part of the list.

    Examples
    --------
    >>> read_cell("['cat', 'dog']"), read_cell('["cat"]'), read_cell("['cat' 'dog']")
    (['cat', 'dog'], ['cat'], ['cat', 'dog'])
    >>> read_cell("[0.5 1.]"), read_cell("[]"), read_cell('{"choices": ["cat"]}')
    ([0.5, 1.0], [], {'choices': ['cat']})
    >>> read_cell("[CLS] a dog"), read_cell("a dog [sic]"), read_cell("[unclear]")
    (None, None, None)
    """
    if not may_be_structured(text):
        return None
    stripped = text.strip()
    if _DEEP_START.match(stripped):
        return None
    if stripped[0] in "[{":
        try:
            return json.loads(stripped)
        except (ValueError, RecursionError):
            pass
    entries = _read_flat_list(stripped)
    if entries is None:
        return _read_object(stripped)
    return entries


def read_numbers(text: str) -> list[float] | None:
    """Return the numbers of a list that a cell contains, or None if it is something else.

    Examples
    --------
    >>> read_numbers("[0.5, 1]"), read_numbers("[0.5 1.]"), read_numbers("0.5")
    ([0.5, 1.0], [0.5, 1.0], None)
    """
    values = read_cell(text)
    if not isinstance(values, list):
        return None
    if not all(_is_number(value) for value in values):
        return None
    return [float(value) for value in values]


def entries_of(value: Any) -> list[Any] | None:
    """Return the entries of an item that a structured cell contains, or None for other objects.

    An entry is a string, a number, a pair of a label and its score, or an object with a "label" and
    perhaps a "score".

    Examples
    --------
    >>> entries_of(["cat", "dog"]), entries_of([["cat", 0.9]])
    (['cat', 'dog'], [('cat', 0.9)])
    >>> entries_of([{"label": "cat", "score": 0.9}]), entries_of({"choices": ["cat"]})
    ([{'label': 'cat', 'score': 0.9}], None)
    """
    if not isinstance(value, list):
        return None
    entries: list[Any] = []
    for entry in value:
        is_plain = isinstance(entry, str) or _is_number(entry)
        is_object = isinstance(entry, dict) and isinstance(entry.get("label"), str)
        if is_plain or is_object:
            entries.append(entry)
        elif isinstance(entry, list | tuple) and _is_scored_label(entry):
            entries.append(tuple(entry))
        else:
            return None
    return entries


def recipe(value: Any, text: str) -> str:
    """Return Python code that takes the labels, perhaps with scores, out of a cell with objects.

    Examples
    --------
    >>> recipe({"cat": 0.9, "dog": 0.4}, '{"cat": 0.9, "dog": 0.4}')
    'list(json.loads(cell).items())'
    >>> recipe([{"id": 3, "name": "cat"}], '[{"id": 3, "name": "cat"}]')
    "[one['name'] for one in json.loads(cell)]"
    >>> recipe({"choices": ["cat"]}, "{'choices': ['cat']}")
    "ast.literal_eval(cell)['choices']"
    """
    parsed = "json.loads(cell)"
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        parsed = "ast.literal_eval(cell)"
    if isinstance(value, dict):
        if _is_scored_mapping(value):
            return f"list({parsed}.items())"
        key = _label_key(value)
        is_list = isinstance(value.get(key), list)
        return f"{parsed}[{key!r}]" if is_list else f"[{parsed}[{key!r}]]"
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, dict):
        return f"[str(one) for one in {parsed}]"
    if _is_scored_mapping(first):
        return f"[pair for one in {parsed} for pair in one.items()]"
    key = _label_key(first)
    if isinstance(first.get(key), list):
        return f"[name for one in {parsed} for name in one[{key!r}]]"
    return f"[one[{key!r}] for one in {parsed}]"


def _is_scored_mapping(entry: dict[Any, Any]) -> bool:
    """Return whether a mapping has a label for each key and its score as the value."""
    if not entry or not all(isinstance(key, str) for key in entry):
        return False
    return all(_is_number(value) for value in entry.values())


def _label_key(entry: dict[str, Any]) -> str:
    """Return the first key with a string or a list of strings; "label" if there is none."""
    for key, value in entry.items():
        if isinstance(value, str):
            return key
        is_list = isinstance(value, list) and bool(value)
        if is_list and all(isinstance(name, str) for name in value):
            return key
    return "label"


def pair_lists(labels: str, scores: str) -> list[tuple[Any, float]]:
    """Return the labels of one cell with the scores of another.

    Raises
    ------
    InputError
        If one of them is not a list, or they have different lengths.

    Examples
    --------
    >>> pair_lists("['cat', 'dog']", "[0.9, 0.5]")
    [('cat', 0.9), ('dog', 0.5)]
    """
    names = read_cell(labels) if labels.strip() else []
    numbers = read_numbers(scores) if scores.strip() else []
    if not isinstance(names, list):
        raise InputError("not-a-list", role="the cell of labels", value=shown(labels))
    if numbers is None:
        raise InputError("not-a-list", role="the cell of scores", value=shown(scores))
    if len(names) != len(numbers):
        wanted = counted(names, "label")
        raise InputError("wrong-count", found=counted(numbers, "score"), wanted=wanted)
    for name in names:
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise InputError("wrong-type", value=name, wanted="a label")
    return list(zip(names, numbers, strict=True))


def are_lists_of_scores(cells: Sequence[Any]) -> bool:
    """Return whether a column of scores contains lists, judging by its first cell with text."""
    for cell in cells:
        if not isinstance(cell, str):
            return False
        if cell.strip():
            return may_be_structured(cell)
    return False


def _read_flat_list(text: str) -> list[Any] | None:
    """Parse a list, tuple, set or array of quoted strings and numbers. Return None for others."""
    text = _without_type(text)
    opener = text[:1]
    if len(text) < 2 or text[-1] != _CLOSERS.get(opener):
        return None
    inside = text[1:-1].strip()
    entries = _read_entries(inside)
    if entries is None or opener == "[" or _are_names(entries, opener, inside):
        return entries
    return None


def _are_names(entries: Sequence[Any], opener: str, inside: str) -> bool:
    """Return whether the entries of a tuple or set make it a list of names.

    ``("a")`` and ``{0.5}`` are plain text, and ``{}`` is a mapping.
    """
    if not all(isinstance(entry, str) for entry in entries):
        return False
    if opener == "{":
        return bool(entries)
    return not entries or "," in inside


def _without_type(text: str) -> str:
    """Return the content of "array(...)" or "set(...)", and other text unchanged."""
    array = _ARRAY.fullmatch(text)
    if array is not None:
        return array[1].strip()
    set_text = _SET.fullmatch(text)
    if set_text is not None:
        return set_text[1].strip() or "[]"
    return text


def _read_entries(inside: str) -> list[Any] | None:
    """Parse entries with commas or white space between them, or return None."""
    entries: list[Any] = []
    position = 0
    while position < len(inside):
        entry = _ENTRY.match(inside, position)
        if entry is None:
            return None
        is_valid, value = _read_entry(entry)
        if not is_valid:
            return None
        entries.append(value)
        gap = _GAP.match(inside, entry.end())
        if gap is None:
            return None
        position = gap.end()
    return entries


def _read_entry(entry: re.Match[str]) -> tuple[bool, Any]:
    """Return whether an entry is a string or a scalar, and its value."""
    if entry["scalar"] is not None:
        inner = _ENTRY.fullmatch(entry["inner"].strip())
        if inner is None or inner["scalar"] is not None:
            return False, None
        return _read_entry(inner)
    if entry["string"] is not None:
        return _read_string(entry["string"])
    word = entry["bare"]
    if word in _WORDS:
        return True, _WORDS[word]
    if word == "...":
        raise CutListError
    try:
        if word.lstrip("+-").isdecimal():
            return True, int(word)
        return True, float(word)
    except ValueError:
        return False, None


def _read_string(text: str) -> tuple[bool, Any]:
    """Return whether a quoted string is valid, and its value."""
    if "\\" not in text and text[0] in "'\"":
        return True, text[1:-1]
    try:
        return True, ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False, None


def _read_object(text: str) -> Any:
    """Parse a short mapping or nested list that Python has written. Return None for others."""
    n_brackets = text.count("[") + text.count("{") + text.count("(")
    if len(text) > _MAX_OBJECT_LENGTH or text[-1:] not in ("]", "}"):
        return None
    if n_brackets > 1 and _depth(text) > _MAX_OBJECT_DEPTH:
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return None
    if not any(isinstance(entry, _COLLECTION_TYPES) for entry in value):
        return None
    return value


def _depth(text: str) -> int:
    """Return the greatest number of brackets that are open at once."""
    depth = 0
    deepest = 0
    for character in text:
        if character in "[{(":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]})":
            depth -= 1
    return deepest


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_scored_label(entry: Sequence[Any]) -> bool:
    return len(entry) == 2 and isinstance(entry[0], str) and _is_number(entry[1])
