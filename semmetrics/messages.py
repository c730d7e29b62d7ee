"""Every message of the library: what is wrong or worth knowing, and what to do about it.

Conventions
-----------
A code has a problem and a remedy, which may be empty. ``{name}`` is a value as text, ``{name!r}``
as Python writes it, ``{name!l}`` a list of a few names, ``{name!t}`` its type with an article,
``{name!o}`` the option of that name;
``{n:item}`` counts items; ``{opt:missing}`` names an option, and ``{opt:missing=skip}`` one with
its value, as the caller writes options: ``missing='skip'`` or ``--missing skip``.
"""

from __future__ import annotations

import reprlib
import string
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

__all__ = ["MESSAGES", "a_kind", "agreeing", "brief", "counted", "did_you_mean", "keyword",
           "listing", "misfit", "plural", "pluralize", "printable", "shown", "visible",
           "write"]  # fmt: skip

Spelling = Callable[[str, str], str]
"""How an option is written, from its name and the text of its value ("" for none)."""


def keyword(name: str, value: str = "") -> str:
    """Return an option as Python code has it.

    Examples
    --------
    >>> keyword("missing"), keyword("missing", "skip"), keyword("level", "0.9")
    ('missing=', "missing='skip'", 'level=0.9')
    """
    plain = not value or value in ("True", "False", "None") or value[0] in "0123456789[{('.-"
    return f"{name}={value if plain else repr(value)}"


class _Writer(string.Formatter):
    def __init__(self, spell: Spelling) -> None:
        self.spell = spell

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return self.spell if key == "opt" else kwargs[str(key)]

    def convert_field(self, value: Any, conversion: Any) -> Any:
        writers: dict[str, Callable[[Any], str]] = {
            "r": brief,
            "l": listing,
            "t": a_kind,
            "o": lambda name: self.spell(name, ""),
        }
        return value if conversion is None else writers[conversion](value)

    def format_field(self, value: Any, format_spec: str) -> Any:
        if value is self.spell:
            name, _, given = format_spec.partition("=")
            return self.spell(name, given)
        if isinstance(value, str) or not format_spec or not format_spec.isalpha():
            return super().format_field(value, format_spec)
        if isinstance(value, tuple):  # the least and the greatest of several
            return f"{value[0]:,} to {value[1]:,} {plural(format_spec)}"
        return pluralize(value, format_spec)


def write(text: str, values: Mapping[str, Any], spell: Spelling = keyword) -> str:
    """Fill the fields of a message.

    Examples
    --------
    >>> write("{n:item} lack {role}: {names!l}", {"n": 2, "role": "a score", "names": "ab"})
    "2 items lack a score: 'a', 'b'"
    >>> write("set {opt:missing=skip}", {})
    "set missing='skip'"
    """
    return _Writer(spell).vformat(text, (), values)


_UNSEEN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_UNSEEN |= {9: "\\t", 10: "\\n", 13: "\\r"}
_UNSEEN |= {code: f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))}
_KEPT = {code: text for code, text in _UNSEEN.items() if code not in (9, 10)}


def visible(name: str) -> str:
    r"""Return a name as people may read it: what would command a terminal is written out.

    Control characters, ends of lines and changes of the direction of writing.

    Examples
    --------
    >>> visible("a\nb\x1b[2J")
    'a\\nb\\x1b[2J'
    """
    return name if name.isprintable() else name.translate(_UNSEEN)


def printable(text: str) -> str:
    r"""Return a text of lines, as ``visible`` has each of them.

    Examples
    --------
    >>> printable("a\nb\x1b[2J")
    'a\nb\\x1b[2J'
    """
    return text.translate(_KEPT)


def listing(names: Iterable[object], *, most: int = 5) -> str:
    """Write names for a message, the first few quoted and the rest counted.

    Examples
    --------
    >>> listing(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    every = list(names)
    first = ", ".join(repr(name) for name in every[:most])
    return first if len(every) <= most else f"{first} and {len(every) - most} more"


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", *, most: int = 3) -> str:
    """Return the remedy for an unknown name: the nearest of those that are known.

    Examples
    --------
    >>> did_you_mean("recal", ["Recall", "F1"]), did_you_mean("x", ["F1"], "see: semmetrics list")
    ('did you mean Recall?', 'see: semmetrics list')
    """
    import difflib

    names = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), names, n=most, cutoff=0.5)
    return f"did you mean {' or '.join(names[one] for one in near)}?" if near else otherwise


_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 60


def brief(value: object) -> str:
    """Write a value for a message, cut when it is long or deep.

    Examples
    --------
    >>> brief([[1, 2, 3, 4, 5, 6, 7], "cat"])
    "[[1, 2, 3, 4, 5, 6, ...], 'cat']"
    """
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # the number of NumPy or torch
    try:
        return " ".join(_BRIEF.repr(value).split())  # arrays are written on many lines
    except (RecursionError, ValueError):  # an object in itself, or a number of too many digits
        return f"<{type(value).__name__}>"


def pluralize(number: float, noun: str, verb: str = "") -> str:
    """Write how many there are, and what they do: the verb is that of many.

    Examples
    --------
    >>> pluralize(1, "item"), pluralize(2000, "category")
    ('1 item', '2,000 categories')
    >>> pluralize(1, "class", "have"), pluralize(2, "class", "have"), pluralize(1, "label", "occur")
    ('1 class has', '2 classes have', '1 label occurs')
    """
    noun = noun if number == 1 else plural(noun)
    return f"{number:,} {noun} {agreeing(number, verb)}".rstrip()


def plural(noun: str) -> str:
    """Return a noun as many of it are called.

    Examples
    --------
    >>> plural("query"), plural("class"), plural("image")
    ('queries', 'classes', 'images')
    """
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith("s") else "s")


_OF_ONE = {"": "", "are": "is", "have": "has", "do": "does", "were": "was"}


def agreeing(number: float, verb: str) -> str:
    """Return a verb as it follows a number; it is given as that of many.

    Examples
    --------
    >>> agreeing(1, "have"), agreeing(2, "have"), agreeing(1, "occur")
    ('has', 'have', 'occurs')
    """
    return verb if number != 1 else _OF_ONE.get(verb, f"{verb}s")


def a_kind(value: object) -> str:
    """Write the type of a value with its article.

    Examples
    --------
    >>> a_kind(3), a_kind(0.5)
    ('an int', 'a float')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def misfit(value: object, wanted: str) -> str:
    """Say that a value is of another kind than the one wanted.

    Examples
    --------
    >>> misfit(3, "a string"), misfit(None, "a string")
    ('3 is an int, not a string', 'None (null) is not a string')
    """
    if value is None:
        return f"None (null) is not {wanted}"
    return f"{brief(value)} is {a_kind(value)}, not {wanted}"


def shown(value: object) -> str:
    """Write a value for a message: texts and numbers, cut when long; of others the kind."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else f"{value[:57]!r}..."
    if isinstance(value, int | float):
        huge = isinstance(value, int) and value.bit_length() > 10_000  # Python refuses to print it
        return "a number of thousands of digits" if huge else str(value)[:60]
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return type(value).__name__


def counted(things: Collection[object], noun: str) -> str:
    """Write how many there are: "1 row", "2 rows"."""
    return pluralize(len(things), noun)


MESSAGES: dict[str, tuple[str, str]] = {
    "text": ("{problem}", "{remedy}"),
    # Values, wherever they stand
    "wrong-type": ("{value!r} is {value!t}, not {wanted}", ""),
    "not-finite": ("{role} is {value!r}, not a finite number", "write a number such as 0.5"),
    "not-a-number": ("{role} is {value!r}, not a number", "write a number such as 0.5"),
    "out-of-range": ("{role} is {value!r}", "give {wanted}"),
    "infinite-sum": ("the sum of {role} is infinite", "scale them down"),
    "empty": ("{role} is empty", "{remedy}"),
    "empty-id": ("the id is empty", "name the item"),
    "wrong-id": ("{value!r} is not an id", "an id is a string or a whole number"),
    "null": ("{role} is null", "{remedy}"),
    "masked": ("values are masked", "fill them in, or leave the items out"),
    "lone-surrogate": (
        "{role} contains half of a surrogate pair (\\ud800 to \\udfff)", "write the whole character"
    ),
    "duplicate": ("{role} {value!r} appears twice", "keep one"),
    "duplicate-id": ("the id {value!r} appears twice", "keep one record for each id"),
    "duplicate-at": ("{role} also appears at {other}", "keep one"),
    "nothing-left": ("nothing is left of {role} {value!r} after normalization", "{remedy}"),
    # Shapes and numbers of things
    "wrong-shape": ("{role} has shape {shape}", "give {wanted}"),
    "wrong-dtype": ("{role} has dtype {dtype}", "give {wanted}"),
    "wrong-count": ("{found} for {wanted}", "give one for each"),
    "too-few": ("{n:item} given", "give at least {least}"),
    "nothing-given": ("there are no {what}", "{remedy}"),
    # Files and their formats
    "missing-file": ("no such file", "{remedy}"),
    "is-folder": ("this is a folder", "name a file in it"),
    "unreadable": ("it cannot be read: {why}", "check the path and its permissions"),
    "unwritable": ("it cannot be written: {why}", "check the folder and the free space"),
    "exists": ("it already exists", "choose another path, or remove it"),
    "empty-file": ("the file is empty (0 bytes)", "check how it was written"),
    "not-utf8": ("byte {byte} (from 0) is not valid {codec}", "save the file as UTF-8"),
    "damaged": ("it is damaged or cut off: {why}", "write or copy it again"),
    "too-large": ("it takes more than {limit} bytes", "raise {opt:max_bytes}"),
    "line-too-long": (
        "the line is longer than {limit} bytes",
        "check its line ends, or raise {opt:max_line_bytes}",
    ),
    "unknown-extension": (
        "the extension {ending!r} does not tell the format", "use one of {known}, or give {flag}"
    ),
    "wrong-format": ("{what} cannot be read from {format}", "use {wanted}"),
    "not-json": ("not valid JSON: {why}", "correct the JSON"),
    "not-csv": ("not valid CSV: {why}", "check quotes and {opt:delimiter}"),
    "wrong-content": ("{value} is not {wanted}", "write {example}"),
    # Tables
    "missing-column": (
        "no column for {role}: looked for {wanted}, found {found!l}",
        "rename one, or name it: {flag}",
    ),
    "ambiguous-column": ("several columns could be {role}: {found!l}", "choose one: {flag}"),
    "duplicate-column": ("two columns are named {name!r}", "rename one"),
    "wrong-width": (
        "the row has {found:cell}, the header {wanted}; the first is {first!r}",
        "quote cells that contain the delimiter",
    ),
    "unused-columns": ("{n:column} not used: {examples!l}", ""),
    # Options and arguments
    "bad-option": ("{name}={value!r}", "give {wanted}"),
    "bad-choice": ("{name}={value!r}", "choose one of {choices!l}"),
    "unknown-name": ("there is no {what} {value!r}", "{remedy}"),
    "not-applicable": ("{name!o} does not apply to {what}", "remove it"),
    "conflicting-options": ("{names} are given together", "give one of them"),
    "needs-option": ("{what} needs {name!o}", "give it"),
    "fixed-by": ("{what} sets {names}", "remove them, or name measures instead"),
    "missing-package": (
        "{purpose} needs the package {package}",
        "run: pip install {package}, or pip install 'semmetrics[{extra}]'",
    ),
    "broken-package": (
        "{purpose} needs the package {package}, which cannot be loaded: {why}",
        "run: pip install --upgrade {package} numpy, for versions that fit",
    ),
    "own-code-failed": ("{what} raises {kind}: {why}", "{remedy}"),

    # Core and store

    # Data: records of labels and captions

    # Data: side inputs, arrays and public formats

    # Text

    # Embed

    # Metrics: definitions and label metrics

    # Metrics: captions, retrieval and classes

    # Kinds

    # Scoring

    # Studies
    "too-few-compared": ("{n:system} given", "give at least two to compare"),
    "too-few-systems": ("{systems} systems on {rows} data sets", "give at least two of each"),
    "different-items": (
        "the systems have different items: {only}",
        "give the same items to all; {opt:missing=skip} removes items from one system alone",
    ),
    "several-candidates": (
        "several captions of an image, as references have", "give the references last, or as gts"
    ),
    "not-paired": ("its resamples are not paired", "remove it, or compare its parts"),
    "too-few-for-test": (
        "{test} needs at least {least} {unit}s, not {n}", "give more, or use another test"
    ),
    "test-does-not-fit": (
        "the {test} needs {what}", "use {opt:test=interval} or {opt:test=randomization}"
    ),
    "not-comparable": (
        "not the resampled scores of one system", "give what score returns for one, with ci=True"
    ),
    "scored-otherwise": ("it has other {what} than {other}", "score both alike"),
    "ambiguous-key": ("{value!r} is not unique", "choose one of {choices}"),
    "no-item-values": ("{measure} has no values of items", "use one that has, such as F1 or NGSM"),
    "not-scores": (
        "not a list of scores",
        "give a table of scores, or a file of: semmetrics score --format json -o FILE",
    ),
    "mixed-directions": (
        "{measure} is better when lower on some data sets only", "name it as all files do"
    ),
    "lower-is-better": (
        "{measure} is better when lower, and values are divided by the best", "set {opt:by=rank}"
    ),
    "unknown-direction": (
        "{measure} is your own: it is not known whether higher is better",
        "import the file that defines it (--import FILE.py)",
    ),
    "unrankable": ("the value of {system} is {value}", "check its scores"),
    "reserved-group": ("a group is called {name!r}, as that of all judgements is", "rename it"),
    "unmatched-ids": (
        "{n:id} not among {role}: {lacking!l} (known are {known!l})",
        "correct them, or select the part to compare with {opt:ids}",
    ),
    "no-common-pairs": (
        "no rated pair, such as {pair}, is in it; it has {there}",
        "name the columns of ids with {opt:columns}, or their common part with {opt:ids}",
    ),
    "vanishing-dominance": (
        "the powers of the dominance matrix vanish, or repeat too late",
        "let each system dominate itself by 1",
    ),
    "no-dominance": (
        "a score is {value}, so a dominance is undefined or infinite",
        "raise scores with {opt:floor}, use a larger k, or another measure",
    ),
    "too-few-images": (
        "{n:image} with a value of {measure}, fewer than k={k}", "choose a smaller k"
    ),
    "several-answers": ("{found} for one image", "give one, or choose a measure of label sets"),
    "missing-images": (
        "{n:image} missing: {images!l}", "add them, or leave them out: {opt:missing=skip}"
    ),
    "systems-missing": ("{n:system} of the competition not given: {systems!l}", "give all of them"),
    "other-systems": ("it has other systems than the first batch", "give each of {systems!l}"),
    "not-a-state": ("not the state of a competition", "name a file of: semmetrics mad select"),
    "state-edited": ("the state was edited after it was written", "select again"),
    "state-differs": (
        "it differs from what the state was selected with: {what}", "give that, or select again"
    ),
    "give-again": ("the state was selected with {what}, which it lacks", "set {name!o} again"),
    "not-annotated": (
        "{n:image} not annotated: {images!l}", "fill in the sheet, or set {opt:missing=skip}"
    ),
    "not-a-sheet": ("not a sheet of {wanted}", "give such a sheet, or use {name!o}"),
    "foreign-rows": (
        "rows of other {noun}s: {examples!l}",
        "give the sheets of this state, or set {opt:missing=skip}",
    ),
    "no-threshold": ("it has no threshold of similarity", "use one of {measures}"),
    "bad-thresholds": ("{value!r} gives no thresholds", "write 0:1:0.05, or 0.3,0.4,0.5"),
    # Studies: notes
    "constant-ratings": ("all ratings are equal: agreement is undefined", ""),
    "constant-side": ("values or ratings are all equal: agreement is undefined", ""),
    "other-number-of-judgements": ("{n:,} {unit}s; papers with {protocol} have {expected:,}", ""),
    "unjudged": ("{n:judgement} left out: no value or preference", ""),
    "untested-group": ("no p: Williams' test needs {n} {unit}s that both measures have", ""),
    "one-image": ("all {unit}s are of one image: no intervals, no tests", ""),
    "dependent-judgements": (
        "Williams' test takes {n} {unit}s of {images} images as independent",
        "{opt:test=bootstrap} does not",
    ),
    "not-converged": ("equation 7 had not converged at power {n:,}", ""),
    "shared-ranks": ("{n:system} share a rank with another", ""),
    "images-not-annotated": ("{n:image} left out that are not annotated", ""),
    "raised-to-floor": ("{n:score} raised to the floor {floor}", ""),
    "both-zero": ("{n:pair} of scores 0, taken as equal", ""),
    "unknown-exclusions": ("{n:image} to exclude that no system has: {examples!l}", ""),
    "same-answers": ("the same answers for all {n:image}: nothing tells them apart", ""),
    "ties-decide": (
        "ties decide in {n:pair}: images with the value of the last one selected are chosen by "
        "{ties} (of {pair} {taken} of {tied:,})", "",
    ),
    "undefined-pairs": ("{n:value} of pairs undefined, and not selected", ""),
    "empty-answers": ("empty {noun}s: {n:,}", ""),
    "images-left-out": ("{n:image} left out that a system lacks", ""),
    "references-not-used": ("references of {n:image} that were not selected, not used", ""),
    "foreign-rows-ignored": ("rows of other {noun}s, not used: {n} ({examples!l})", ""),

    # Reports

    # The command line

    # Notes on the data
}  # fmt: skip
