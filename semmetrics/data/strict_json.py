"""Strict JSON: repeated keys, NaN, lone surrogates and endless nesting are errors."""

from __future__ import annotations

import json
import re
from typing import Any

from semmetrics.errors import InputError, at, shown

__all__ = ["parse"]

_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(
            f"the key {shown(twice)} stands twice in one object", remedy="keep one of them"
        )
    return made


class _NoNumberError(Exception):
    """NaN or Infinity, which no JSON text holds."""


def _constant(name: str) -> Any:
    raise _NoNumberError


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


def parse(text: str, name: str, line: int = 1) -> Any:
    """Parse a JSON text that begins at a line of the file called name.

    Examples
    --------
    >>> parse('{"a": ["cat"], "a": []}', "gt.json")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: the key 'a' stands twice in one object; keep one of them
    """
    where = name if line == 1 else at(name, f"line {line}")
    try:
        value = _DECODER.decode(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except InputError as error:
        raise InputError(error.problem, where=where, remedy=error.remedy) from None
    except _NoNumberError:
        found = next(match for match in _CONSTANT.finditer(text) if match[1])
        row, column = _position(text, found.start(1))
        raise InputError(
            f"{found[1]} is no JSON number",
            where=at(name, f"line {line + row}, column {column}"),
            remedy="write a finite number, or leave it out",
        ) from None
    except json.JSONDecodeError as error:
        # Of JSON lines in a .json file the first is parsed and the rest is "extra".
        lines = error.msg == "Extra data" and text[: error.pos].rstrip(" \t\r").endswith("\n")
        raise InputError(
            f"invalid JSON: {error.msg}",
            where=at(name, f"line {line + error.lineno - 1}, column {error.colno}"),
            remedy="for one object a line use format='jsonl' (--input-format jsonl)"
            if lines
            else "correct the JSON",
        ) from None
    except UnicodeEncodeError:
        problem, remedy = r"a \ud800-\udfff escape without its other half", "write the character"
    except RecursionError:
        problem, remedy = "it is nested too deeply", "labels need a few levels only"
    except ValueError:
        problem, remedy = "it holds an integer with thousands of digits", "shorten the number"
    raise InputError(problem, where=where, remedy=remedy)


def _position(text: str, start: int) -> tuple[int, int]:
    """How many lines stand before a place, and its column, from 1."""
    return text.count("\n", 0, start), start - text.rfind("\n", 0, start)
