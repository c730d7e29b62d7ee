"""Measures by name: ``F1(average=macro)@1,3,5``.

Conventions
-----------
``name(option=value,…)@k``; ``@1,3,5`` is three measures. ``parse(str(m)) == [m]``. Aliases such as
``MacroF1`` need no quotes in a shell.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Iterable

from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.label_catalogue import ALIASES, DEFINITIONS

__all__ = ["cutoffs", "find", "parse", "parse_all"]

_FORM = re.compile(r"\s*(?P<name>[^(@\s]+)\s*(?:\((?P<options>.*)\))?\s*(?:@(?P<k>.*))?", re.S)


def parse(text: str) -> list[Measure]:
    """The measures that a text names.

    Raises
    ------
    InputError
        If the name is unknown (the nearest valid names are given), or an option is wrong.

    Examples
    --------
    >>> [str(m) for m in parse("F1(average=macro)@1,3")]
    ['F1(average=macro)@1', 'F1(average=macro)@3']
    >>> parse("MacroF1") == parse("F1(average=macro)")
    True
    """
    form = _FORM.fullmatch(text)
    if form is None:
        raise InputError(f"{text!r} is not a measure", remedy="write it as F1(average=macro)@3")
    definition, fixed = find(form["name"])
    options: dict[str, str] = {}
    for part in _split(form["options"] or ""):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"{part!r} in {text!r}", remedy="write option=value")
        if name.strip() in options:
            raise InputError(f"{name.strip()} is given twice in {text!r}")
        if fixed.get(name.strip(), value.strip()) != value.strip():
            raise InputError(
                f"{form['name']} has {name.strip()}={fixed[name.strip()]}, not {value.strip()}",
                remedy=f"write {definition.name} with its options",
            )
        options[name.strip()] = value.strip()
    ks: list[int | None] = [None] if form["k"] is None else list(cutoffs(form["k"]))
    try:
        return [definition(k=k, **{**fixed, **options}) for k in ks]
    except InputError as error:
        raise InputError(error.problem, where=error.where or text, remedy=error.remedy) from None


def find(name: str) -> tuple[Definition, dict[str, str]]:
    """The definition of that name, and the options that an alias fixes.

    Raises
    ------
    InputError
        If there is none; the nearest names are given.
    """
    if name not in DEFINITIONS and name not in ALIASES:
        importlib.import_module("semmetrics.metrics.catalogue")  # scoring labels needs no captions
    if name in DEFINITIONS:
        return DEFINITIONS[name], {}
    if name in ALIASES:
        form = _FORM.fullmatch(ALIASES[name])
        if form is not None:
            options = dict(part.split("=") for part in _split(form["options"] or ""))
            return DEFINITIONS[form["name"]], options
    known = {known.lower(): known for known in [*DEFINITIONS, *ALIASES]}
    near = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(known[n] for n in near)}?" if near else ""
    raise InputError(f"there is no measure {name!r}", remedy=hint or "see: semmetrics list")


def cutoffs(text: str) -> list[int]:
    """Cutoffs from a text such as "1,3,5".

    Examples
    --------
    >>> cutoffs("1,3,5")
    [1, 3, 5]
    """
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"the cutoffs {text!r} are not whole numbers from 1", remedy="write 1,3,5")
    return [int(part) for part in parts]


def parse_all(texts: Iterable[str | Measure | Definition]) -> list[Measure]:
    """The measures of many texts, with all errors reported together.

    Raises
    ------
    InputError
        One line for each text that is wrong.
    """
    measures: list[Measure] = []
    problems = []
    for text in texts:
        try:
            if isinstance(text, Measure):
                measures.append(text)
            elif isinstance(text, Definition):
                measures.append(text())
            elif isinstance(text, str):
                measures += parse(text)
            else:
                raise InputError(f"{text!r} is no measure", remedy="give a name such as F1@3")
        except InputError as error:
            problems.append(str(error))
    if len(problems) > 1:
        raise InputError(f"{len(problems)} measures are wrong:\n  " + "\n  ".join(problems))
    if problems:
        raise InputError(problems[0])
    repeated = [str(m) for m in dict.fromkeys(measures) if measures.count(m) > 1]
    if repeated:
        raise InputError(f"measures are named twice: {listing(repeated)}", remedy="name each once")
    return measures


def _split(text: str) -> list[str]:
    """Parts between commas that stand outside parentheses."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return [part for part in parts if part.strip()] if text.strip() else []
