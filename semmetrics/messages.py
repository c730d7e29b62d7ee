"""Every message of the library: what is wrong or worth knowing, and what to do about it.

Conventions
-----------
A code has a problem and a remedy, which may be empty. ``{name}`` is a value as text, ``{name!r}``
as Python writes it, ``{name!l}`` a list of a few names, ``{name!e}`` one of examples, if there are
any, ``{name!p}`` one without quotes, ``{name!t}`` its type with an article, ``{name!o}`` the option
of that name;
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
            "e": lambda some: f", such as {listing(some)}" if some else "",
            "p": lambda some: ", ".join(map(str, some)),
            "t": a_kind,
            "o": lambda name: self.spell(name, ""),
        }
        return value if conversion is None else writers[conversion](value)

    def format_field(self, value: Any, format_spec: str) -> Any:
        if value is self.spell:
            name, _, given = format_spec.partition("=")
            return self.spell(name, given)
        if isinstance(value, tuple) and format_spec == ",":  # the least and the greatest of several
            return f"{value[0]:,} to {value[1]:,}"
        if isinstance(value, str) or len(format_spec) < 2 or not format_spec[0].isalpha():
            return super().format_field(value, format_spec)
        if isinstance(value, tuple):
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
    "unknown-kind": (
        "the kind of data is not certain: {what}",
        "set {opt:task={task}} if each image has one class",
    ),
    "different-kinds": (
        "the two sides are of different kinds: {what}", "set {opt:task} to {kinds!l}"
    ),
    "ambiguous-kind": (
        "{reason} could be {kinds!l}: {what}",
        'set {opt:task}; write labels as lists, ["cat"], also a single one',
    ),
    "truth-of-scores": (
        "the ground truth is a matrix of scores", "give 0/1 or lists, after the predictions"
    ),
    "not-probabilities": (
        "{value!p} are not probabilities", "give that of each set size; those of an item sum to 1"
    ),
    "outside-classes": (
        "{role} {value!r} is not in the class list", "add it to {opt:classes}, or correct it"
    ),
    "unnamed-classes": (
        "{role} {value!r} is not in the class list, which has only numbers",
        "name the columns with {opt:classes}",
    ),
    "unnamed-columns": (
        "the columns have no names, and the labels of {other} are {names!l}",
        "name the columns with {opt:classes}",
    ),
    "unnamed-widths": (
        "the predictions have {mine} columns and the ground truth {theirs}, without class names",
        "name the columns with {opt:classes}, or give matrices of the same classes",
    ),
    "single-references": ("no image has two references", "leaving one out needs at least two"),
    "partial-truth": (
        "the ground truth is 0/1 in {columns:column}, and the gallery has {gallery:candidate}",
        "give 0/1 for each candidate, or lists of the positives: truth.tolist()",
    ),
    "other-names": (
        "the {what}s have other names than {option!o}", "remove them, or the names in the file"
    ),
    "not-in-option": ("{n:{what}} not in {option!o}: {names!l}", "add them, or remove the option"),
    "transposed-names": (
        "{found} for {wanted}, as if the matrix were transposed",
        "give its transpose, or exchange {opt:queries} and {opt:gallery}",
    ),
    "transposed-positives": (
        "{n:positive} not in the gallery of {size:,} columns (from 0): {names!l}",
        "transpose the matrix if its rows are the gallery",
    ),
    "outside-gallery": (
        "{n:positive} not in the gallery of {size:,}: {names!l}",
        "correct them, or set {opt:missing=skip} to count them as never found",
    ),
    "outside-columns": (
        "{n:positive} not in the gallery of {size:,} columns (from 0): {names!l}",
        "name the columns with {opt:gallery}, or set {opt:missing=skip}",
    ),
    "unnamed-rows": (
        "there are positives of {name!r}, and the {what}s have no names", "name them: {option!o}"
    ),
    "swapped-names": (
        "the positives are those of the columns, by rows",
        "exchange {opt:queries} and {opt:gallery}, and give the transpose",
    ),
    "phi-without-captions": (
        "phi {measure} is computed of captions, and none are given",
        "give {opt:captions}, or a matrix, which semmetrics pairs writes",
    ),
    "several-phi": ("several phi are given: {names!l}", "name one in the measure: NCS(phi=NAME)"),
    "unnamed-phi": (
        "ranked lists have no rows and columns of phi",
        "name those with {opt:queries} and {opt:gallery}",
    ),
    "phi-lacks": ("{n:{noun}} not in phi: {names!l}", "give phi of all, with the same ids"),
    "no-references": (
        "{n:{noun}} without positives, so without references: {names!l}",
        "leave them out, or give a matrix",
    ),
    "not-one-text": (
        "{n:id} with none or several texts", 'give one text for each caption: {{"id": "text"}}'
    ),
    "without-text": ("{n:caption} without a text: {names!l}", "add them to {opt:captions}"),
    "unnamed-gallery": (
        "{n:caption} of a gallery without names lacking a text", "name them: {opt:gallery}"
    ),
    "not-one-class": ("the image has {n:class}", "give one, the class that it shows"),
    "seen-and-unseen": (
        "{n:class} seen and unseen: {names!l}", "keep each in one of {opt:seen} and {opt:unseen}"
    ),
    "other-classes": (
        "{n:class} only among the columns or in the class list: {names!l}",
        "name the columns as {opt:classes} does",
    ),
    "reserved-list": (
        "{name!r} is not a name for a class list",
        "choose another, or use {opt:seen} or {opt:unseen}",
    ),
    "empty-list": (
        "no class is in the list {name}; nearest: {nearest}", "name a list with more"
    ),
    "classes-without-number": ("{n:class} without a number: {names!l}", "add them"),
    "unknown-side": (
        "which classes are {side} is not known", "give {side!o} and {other!o}, or {opt:classes}"
    ),
    "empty-side": ("no class is {side}: all are {other}", "correct {other!o}, or give {side!o}"),
    "measure-needs-scores": (
        "{measure} needs scores, and the predictions have none", "give scores, or leave it out"
    ),

    # Scoring

    # Studies

    # Reports

    # The command line

    # Notes on the data
    "missing-prediction": ("{n:item} without a prediction, {became}", ""),
    "missing-reference": ("{n:item} without ground truth, {became}", ""),
    "weight-0": ("{n:item} of weight 0 left out", ""),
    "empty-prediction-skipped": ("{n:item} without a predicted label left out", ""),
    "shared-terms": ("{n:term} in several classes", ""),
    "ignored-labels-not-found": ("{n:label} to ignore not in the data", ""),
    "several-candidates": ("{n:image} with several candidates, each scored on its own", ""),
    "single-reference": ("{n:image} with a single reference left out", ""),
    "empty-candidates": ("{n:empty candidate}", ""),
    "empty-references": ("{n:empty reference}", ""),
    "positives-outside": ("{n:positive} outside the gallery, so never found", ""),
    "graded-0": ("{n:candidate} of grade 0 or less, not positives", ""),
    "other-folds": ("{n:positive} in another fold than the query, left out", ""),
    "without-class": ("{n:image} without a class left out", ""),
    "repeated-positives": ("{n:positive} repeated in a list, counted once", ""),
    "zero-length-vectors": ("{n:vector} of length 0, with cosine 0 to all", ""),
    "different-items": ("systems are scored on different items", "compare with care"),
    "unused-weights": (
        "{n} of {total:sample weight} not used, as no input has the id: {examples!l}", ""
    ),
    "no-effect": ("{option!o} has no effect: {why}", ""),
    "no-effect-on": ("{option!o} has no effect on {on}", ""),
    "unused-embeddings": ("{n:embedding} not used by any measure here: {examples!l}", ""),
    "unused-list": ("no measure names the class list {name}", ""),
    "not-cached": ("{model} is not cached", "name its version: CallableEmbedder(f, version='1')"),
    "unknown-texts": (
        "{n:{noun}} unknown to {model} (oov: {oov}){examples!e}", "see: semmetrics embed coverage"
    ),
    "composed-texts": ("{n:{noun}} composed by {model} from pieces of words{examples!e}", ""),
    "zero-vectors-texts": ("{n:{noun}} with a vector of zeros in {model}", ""),
    "truncated-texts": ("{n:{noun}} longer than {model} reads, cut to their beginning", ""),
    "spelling": (
        "{n:{side} label} in {items:item} differing only by {ways} from others: {examples!p}",
        "join them with {opt:normalize={rules}}",
    ),
    "spelling-kept": (
        "{n:{side} label} in {items:item} differing only by {ways} from others: {examples!p}",
        "protocol {protocol} compares them as they are",
    ),
    "joined-labels": (
        "{n:{side} label} containing {delimiter!r}{examples!e}",
        'if it separates labels, write lists, ["cat", "dog"], or for CSV set {opt:label_delimiter}',
    ),
    "lists-as-text": (
        "{n:{side} label} looking like a list written as text{examples!e}",
        "save lists as JSON or Parquet, or set {opt:label_delimiter=;} and join labels with ';'",
    ),
    "one-sided-labels": (
        "{n:{side} label} of {total:,} not in the {other}{examples!e}",
        "check that both sides write labels in one way",
    ),
    "sentences": (
        "the {side} labels are sentences, {mean:.1f} words on average",
        "for captions set {opt:task=captions}",
    ),
    "single-words": (
        "the {side} are single words, {mean:.1f} on average", "for labels set {opt:task=labels}"
    ),
    "swapped-sides": ("{sign}", "check the order of the sides: predictions come first"),
    "unlike-scores": (
        "{n:label} in {items:item} listed with different scores, such as {examples!p}",
        "the highest counts, or each with duplicates=each",
    ),
    "true-scores": ("scores of the ground truth are ignored: every label listed is true", ""),
    "scores-unused": (
        "every label listed counts as predicted, with {n:score} of {total:,} below 0.5",
        "if scores decide, set {opt:threshold=0.5}, {opt:decode} or a cutoff (F1@3)",
    ),
    "nothing-predicted": (
        "no score is above the threshold {threshold}, but {highest:g} at most", ""
    ),
    "order-of-labels": (
        "{measures} depends on the order of predictions, which is {order}",
        "give scores, or ordered lists",
    ),
    "numbers-as-labels": (
        "the labels are numbers, compared as they are",
        "give names, or name the columns with {opt:classes}",
    ),
    "near-threshold": ("{n:pair} of labels within 1e-6 of the threshold {threshold!r}", ""),
    "near-thresholds": (
        "up to {n:pair} of labels within 1e-6 of each of {thresholds} thresholds", ""
    ),
    "uncalibrated": (
        "the threshold {threshold:g} of word2vec is not calibrated for {model}",
        "run: {command}, and set {opt:calibration} to its result",
    ),
    "no-tuples": ("the {side} of {n:item} have no tuples{examples!e}", ""),
    "no-tuple-matches": ("no tuple matches", "SPICE's parsers and synonyms know only English"),
    "idle-tuples": (
        "{opt:tuples} has no effect: they are not by {wanted!l}, but {own}",
        "SPICE(parser=given) takes tuples of any parser",
    ),
    "tied-graphs": (
        "SPICE of {n:item} depends on ties in merging scene graphs{examples!e} "
        "({low:.4f} to {high:.4f}){untried}",
        "",
    ),
    "tied-graphs-of-mean": (
        "SPICE of {n:item} depends on ties in merging scene graphs{examples!e} "
        "({low:.4f} to {high:.4f}): its own program may print {less:.2g} less to {more:.2g} "
        "more{untried}",
        "",
    ),
    "run-size": ("{n:query}, {how}", ""),
    "tied-ranks": ("{n:query} with a tie that decides the rank of a positive", ""),
    "fewer-candidates": ("{n:query} with fewer than {k} candidates{besides}, counted at @{k}", ""),
    "numbered-positives": (
        "ids of positives are taken for numbers of rows, from 0", "if not, name rows: {opt:queries}"
    ),
    "transposed": (
        "similarities of positives are larger in the transposed matrix",
        "give the transpose if its rows are the gallery",
    ),
    "no-cutoff": ("{measure} without a cutoff counts all candidates", "write {measure}@1"),
    "run-of-classes": ("{n:image}, {how}", ""),
    "tied-classes": ("{n:image} with a tie at the first {k}{among}", ""),
    "few-classes": ("{n_classes:class}{among}, fewer than {k}: all count at @{k}", ""),
    "fewer-classes": ("{n:image} with fewer than {k} ranked classes{among}, counted at @{k}", ""),
    "no-prediction": ("{n:image} without a prediction{among}", ""),
    "numbers-as-places": ("numbers of classes are taken for places in the class list, from 0", ""),
    "classes-without-images": (
        "{n} of {total:class} without an image, in no mean over classes: {examples!l}", ""
    ),
    "predicted-outside": ("{n:prediction} outside the class list: {examples!l}", ""),
    "neither-side": ("{n:image} of classes neither seen nor unseen", ""),
    "rest-of-classes": ("{side} are all others of the class list: {n:class}", ""),
    "pretraining-overlap": (
        "{n} of {total:unseen class} among {known:,} of pretraining{which}", ""
    ),
    "unnumbered-classes": (
        "{n:class} without a number, in no list such as {example}: {examples!l}", ""
    ),
    "numbers-of-no-class": ("{n:number} for names that are not classes: {examples!l}", ""),
    # What validate finds odd
    "without-entries": ("{n} of {total:item} without {noun}s: {examples!l}{numbered}", ""),
    "repeated-entries": ("{n} of {total:item} with a repeated {noun}: {examples!l}{numbered}", ""),
    "padded-texts": ("{n:{noun}} with blanks around: {examples!l}", ""),
    "hidden-characters": ("{n:{noun}} with invisible characters: {examples!l}", ""),
    "lookalikes": ("{n:group} of {noun} differing only by case or white space: {examples!l}", ""),
    "common-labels": ("{n:label} in more than 95% of the items: {examples!l}", ""),
    "rare-labels": ("{n} of {total:label} in one item alone", ""),
    "outside-0-1": ("{n} of {total:score} not between 0 and 1", ""),
    "equal-scores": ("all scores are {score:g}", ""),
    "rising-scores": (
        "{n} of {total:item} not listed by falling score, by which they are ranked: "
        "{examples!l}{numbered}",
        "",
    ),
    "blank-captions": ("{captions:empty caption} in {n:item}: {examples!l}{numbered}", ""),
    "shared-captions": ("{n:{noun}} in more than one item: {examples!l}", ""),
    "many-ties": ("{n:,} of the first {total:,} values occur several times: ties decide ranks", ""),
}  # fmt: skip
