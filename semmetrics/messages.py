"""Every message of the library: what is wrong or worth knowing, and what to do about it.

Conventions
-----------
A message is "problem; remedy", or a problem alone. ``{name}`` is a value as text, ``{name!r}``
as Python writes it, ``{name!l}`` a list of a few names, ``{name!e}`` one of examples, if there are
any, ``{name!p}`` one without quotes, ``{name!t}`` its type with an article, ``{name!o}`` the option
of that name (or several, with blanks between), ``{name!i}`` ", or set" that option, if there is
one, ``{setting}`` the option ``name`` with ``value``, ``{fix}`` "remove it" unless given;
``{likely}`` the ``choices`` that are most like ``value``;
``{n:item}`` counts items; ``{opt:missing}`` names an option, and ``{opt:missing=skip}`` one with
its value, as the caller writes options: ``missing='skip'`` or ``--missing skip``.
"""

from __future__ import annotations

import re
import reprlib
import string
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

Spelling = Callable[[str, str], str]
"""How an option is written, from its name and the text of its value ("" for none)."""


def keyword(name: str, value: str = "") -> str:
    """Return an option as Python code has it.

    Examples
    --------
    >>> keyword("missing"), keyword("missing", "skip"), keyword("level", "0.9")
    ('missing=', "missing='skip'", 'level=0.9')
    """
    plain = (
        not value
        or value in ("True", "False", "None")
        or value[0] in "0123456789[{('\"<.-"
    )
    return f"{name}={value if plain else repr(value)}"


class _Writer(string.Formatter):
    def __init__(self, spell: Spelling) -> None:
        self.spell = spell

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        if key == "setting":  # the option of that name with its value
            # F1(empty=0) has no flag
            spell = keyword if kwargs.get("in_measure") else self.spell
            return spell(kwargs["name"], brief(kwargs["value"]))
        if key == "likely":  # the choices nearest to the value
            near = did_you_mean(str(kwargs["value"]), map(str, kwargs["choices"]))
            return f"{near} Otherwise " if near else ""
        if key == "fix":
            return kwargs.get("fix", "remove it")
        return self.spell if key == "opt" else kwargs[str(key)]

    def convert_field(self, value: Any, conversion: Any) -> Any:
        writers: dict[str, Callable[[Any], str]] = {
            "r": brief,
            "l": listing,
            "e": lambda some: f", such as {listing(some)}" if some else "",
            "p": lambda some: ", ".join(map(str, some)),
            "t": a_kind,
            "o": lambda names: ", ".join(
                self.spell(name, "") for name in names.split()
            ),
            "i": lambda name: name and f", or set {self.spell(name, '')}",
            "n": plural,
        }
        return value if conversion is None else writers[conversion](value)

    def format_field(self, value: Any, format_spec: str) -> Any:
        if value is self.spell:
            name, _, given = format_spec.partition("=")
            return self.spell(name, given)
        # the least and the greatest of several
        if isinstance(value, tuple) and format_spec == ",":
            return f"{value[0]:,} to {value[1]:,}"
        is_noun = len(format_spec) >= 2 and format_spec[0].isalpha()
        if is_noun and (not isinstance(value, str) or value.isdecimal()):
            return _write_count(value, format_spec)
        return super().format_field(value, format_spec)


def _write_count(value: Any, noun: str) -> str:
    """Write a number, its digits if it is not summed, or the least and the greatest of several."""
    if isinstance(value, tuple):
        return f"{value[0]:,} to {value[1]:,} {plural(noun)}"
    return pluralize(int(value) if isinstance(value, str) else value, noun)


def write(text: str, values: Mapping[str, Any], spell: Spelling | None = None) -> str:
    """Fill the fields of a message.

    Examples
    --------
    >>> write("{n:item} lack {role}: {names!l}", {"n": 2, "role": "a score", "names": "ab"})
    "2 items lack a score: 'a', 'b'"
    >>> write("set {opt:missing=skip}", {})
    "set missing='skip'"
    """
    return _Writer(spell or keyword).vformat(text, (), values)


_UNSEEN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_UNSEEN |= {9: "\\t", 10: "\\n", 13: "\\r"}
_UNSEEN |= {
    code: f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))
}
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


def listing(
    names: Iterable[object], *, most: int = 5, write: Callable[[object], str] = repr
) -> str:
    """Write names for a message, the first few quoted and the rest counted.

    Examples
    --------
    >>> listing(["a", "b", "c"], most=2), listing("abc", most=2, write=str)
    ("'a', 'b' and 1 more", 'a, b and 1 more')
    """
    every = list(names)
    first = ", ".join(map(write, every[:most]))
    return first if len(every) <= most else f"{first} and {len(every) - most} more"


def fold(name: str) -> str:
    """Return a name as it is compared: without case, hyphens, underscores and blanks.

    Examples
    --------
    >>> fold("BLEU-4"), fold("rouge_L")
    ('bleu4', 'rougel')
    """
    return re.sub(r"[-_\s]", "", name).casefold()


def did_you_mean(
    name: str, known: Iterable[str], otherwise: str = "", *, most: int = 3
) -> str:
    """Return the remedy for an unknown name: the registered names nearest to it.

    Examples
    --------
    >>> did_you_mean("recal", ["Recall", "F1"]), did_you_mean("x", ["F1"], "see: semmetrics list")
    ('did you mean Recall?', 'see: semmetrics list')
    >>> did_you_mean("coco", ["f30k", "coco-1k", "coco-caption"])
    'did you mean coco-1k or coco-caption?'
    """
    near = nearest_names(name, known, most=most)
    return f"did you mean {' or '.join(near)}?" if near else otherwise


_MIN_PREFIX = (
    3  # letters of a name that are enough to suggest all names that begin with them
)


def nearest_names(
    name: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.75
) -> list[str]:
    """Return the registered names that are most like an unknown one, the nearest first.

    Names that begin with the unknown name come first. All of them are returned, up to twice
    ``most``, because none of them is more likely than the others.

    Parameters
    ----------
    name : str
    known : iterable of str
        The registered names. Case, hyphens, underscores and spaces do not matter.
    most : int
        The largest number of names.
    cutoff : float
        The least similarity, from 0 to 1, as in `difflib.get_close_matches`.

    Examples
    --------
    >>> nearest_names("scor", ["compare", "score"]), nearest_names("zzz", ["compare", "score"])
    (['score'], [])
    """
    import difflib

    folded = fold(name)
    originals: dict[str, str] = {}
    for original in known:
        originals.setdefault(fold(original), original)
    if len(folded) >= _MIN_PREFIX:
        longer = [
            original for key, original in originals.items() if key.startswith(folded)
        ]
        if longer:
            return longer[: 2 * most]
    near = difflib.get_close_matches(folded, originals, n=most, cutoff=cutoff)
    if not near:  # the beginning of a longer name, misspelt
        by_beginning = {candidate[: len(folded)]: candidate for candidate in originals}
        beginnings = difflib.get_close_matches(
            folded, by_beginning, n=most, cutoff=cutoff
        )
        near = [by_beginning[beginning] for beginning in beginnings]
    return [originals[candidate] for candidate in near]


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
    except (
        RecursionError,
        ValueError,
    ):
        # an object in itself, or a number of too many digits
        return f"<{type(value).__name__}>"


def pluralize(number: float, noun: str) -> str:
    """Write how many there are.

    Examples
    --------
    >>> pluralize(1, "item"), pluralize(2000, "category"), pluralize(2, "key")
    ('1 item', '2,000 categories', '2 keys')
    """
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def report_progress(
    progress: Any, done: int, total: int, stage: str, unit: str, **form: Any
) -> None:
    """Call back with how much is done; a callback that is ``labelled`` also hears of what.

    Parameters
    ----------
    progress : callable or None
    done, total : int
    stage : str
        What is being done, such as "bootstrap".
    unit : str
        What is counted.
    **form
        More for ``tqdm.format_meter``.

    Examples
    --------
    >>> report_progress(lambda done, total: print(done, "of", total), 3, 8, "scoring", "item")
    3 of 8
    """
    if progress is not None:
        labels = {"prefix": stage, "unit": f" {unit}", **form}
        progress(done, total, **labels if getattr(progress, "labelled", False) else {})


_SIBILANTS = ("s", "x", "z", "ch", "sh")
_VOWELS = "aeiou"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    Examples
    --------
    >>> plural("query"), plural("array"), plural("class"), plural("match"), plural("image")
    ('queries', 'arrays', 'classes', 'matches', 'images')
    """
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(_SIBILANTS) else "s")


def a_kind(value: object) -> str:
    """Write the type of a value with its article.

    Examples
    --------
    >>> a_kind(3), a_kind(0.5)
    ('an int', 'a float')
    """
    if value is None:
        return "null"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def shown(value: object) -> str:
    """Write a value for a message; a long text keeps its beginning alone."""
    if not isinstance(value, str):
        return brief(value)
    return repr(value) if len(value) <= 60 else f"{value[:57]!r}..."


def counted(things: Collection[object], noun: str) -> str:
    """Write how many there are: "1 row", "2 rows"."""
    return pluralize(len(things), noun)


MESSAGES: dict[str, str] = {
    # Values, wherever they stand
    "wrong-type": "{value!r} is {value!t}, not {wanted}",
    "no-entry": "{value!r} is not a {noun}; remove it. An item without {noun}s is "
    "an empty list, []",
    "not-finite": "{role} is {value!r}, not a finite number; write a number such as 0.5",
    "not-a-number": "{role} is {value!r}, not a number; write a number such as 0.5",
    "out-of-range": "{role} is {value!r}; give {wanted}",
    "infinite-sum": "the sum of {role} is infinite; scale them down",
    "empty": "{role} is empty; {remedy}",
    "empty-id": "the id is empty; name the item",
    "wrong-id": "{value!r} is not an id; an id is a string or a whole number",
    "null": "{role} is null; {remedy}",
    "masked": "values are masked; fill them in, or leave the items out",
    "lone-surrogate": "{role} has half a surrogate pair (\\ud800 to \\udfff); write the character",
    "duplicate": "{role} {value!r} appears twice; keep one",
    "duplicate-id": "the id {value!r} appears twice; keep one record for each id",
    "duplicate-at": "{role} also appears at {other}; keep one",
    "nothing-left": "nothing is left of {role} {value!r} after normalization; {remedy}",
    # Shapes and numbers of things
    "wrong-shape": "{role} has shape {shape}; give {wanted}",
    "vector-as-matrix": "{role} has shape {shape}, not rows and columns; for one class per image "
    "give integers and set {opt:task=classes}, for label sets give items x classes, for "
    "retrieval give lists of positives: [[0], [2]]",
    "wrong-dtype": "{role} has dtype {dtype}; give {wanted}",
    "wrong-count": "{found} for {wanted}; give one for each",
    "several-classes": "{n:class} for an image, and classification has one class per image; keep "
    "one, or measure label sets: Jaccard (example-based accuracy) or SubsetAccuracy "
    "(accuracy_score of scikit-learn)",
    "nothing-given": "there are no {what}; {remedy}",
    # Files and their formats
    "missing-file": "no such file; {remedy}",
    "is-folder": "this is a folder; name a file in it",
    "unreadable": "it cannot be read: {why}; check the path and its permissions",
    "unwritable": "it cannot be written: {why}; check the folder and the free space",
    "exists": "it already exists; choose another path, or remove it",
    "empty-file": "the file is empty (0 bytes); check how it was written",
    "not-utf8": "byte {byte} (from 0) is not valid {codec}; save the file as UTF-8",
    "damaged-model": "a file of the model is missing or damaged ({why}); install semmetrics again, "
    "or copy the folder again if the model is your own",
    "damaged": "it is damaged or cut off: {why}; write or copy it again",
    "too-large": "it takes more than {limit} bytes; raise {opt:max_bytes}",
    "line-too-long": "over {limit} bytes in a line; check line ends, or raise {opt:max_line_bytes}",
    "unknown-extension": "{ending!r} does not name a format; use one of {known}{instead!i}",
    "wrong-format": "{what} cannot be read from {format}; use {wanted}",
    "workbook": "the file is an Excel workbook in spite of its name; save it as CSV (UTF-8)",
    "web-page": "the file is a web page (HTML), perhaps an error message; download the data again",
    "lfs-pointer": "the file is a pointer of Git LFS, not the data; run git lfs pull",
    "not-json": "not valid JSON: {why}; correct the JSON",
    "not-csv": "not valid CSV: {why}; write a quote in a cell as two, with the cell in quotes, "
    "or check {opt:delimiter}",
    "joined-rows": "a quote begins a cell of several lines that look like rows; if the quote is "
    "part of the text, write it as two, with the cell in quotes",
    "wrong-content": "{value} is not {wanted}; write {example}",
    # Tables
    "missing-column": "no column for {role}: {wanted} not in {found!l}; rename one or set {flag!o}",
    "rows-or-columns": "all columns are 0/1, so {column!r} may be the column of {noun}s, or a "
    "class of that name; if it has the {noun}s, set {flag!o} to it, otherwise rename it",
    "mixed-layout": "these rows are read as {found}, the rows before as {wanted}; name the column "
    "of {noun}s with {flag!o}, or rename the class of that name",
    "ambiguous-column": "several columns could be {role}: {found!l}; choose one: {flag!o}",
    "duplicate-column": "two columns are named {name!r}; rename one",
    "wrong-width": "the row has {found:cell}, the header {wanted}, the first is {first!r}; "
    "quote cells that contain the delimiter, or add the one that is missing",
    "unused-columns": "{n:column} not used: {examples!l}",
    # Options and arguments
    "bad-option": "{setting}; give {wanted}",
    "bad-choice": "{setting}; {likely}choose one of {choices!p}",
    "unknown-name": "there is no {what} {value!r}; {remedy}",
    "not-of-kind": "{name!o} does not apply to {kind}; remove it, or set {opt:task}",
    "not-applicable": "{name!o} does not apply to {what}; {fix}",
    "conflicting-options": "{names} are given together; give one of them",
    "needs-option": "{what} needs {name!o}; give it",
    "fixed-by": "{what} sets {names}; remove the option, or name measures instead",
    "missing-package": "{purpose} needs the package {package}; "
    "run: pip install {package}, or pip install 'semmetrics[{extra}]'",
    "broken-package": "{purpose} needs the package {package}, which cannot be loaded: {why}; "
    "run: pip install --upgrade {package} numpy, for versions that fit",
    "own-code-failed": "{what} raises {kind}: {why}; {remedy}",
    # Core and store
    "no-home": "there is no home folder to keep files in; set SEMMETRICS_HOME to a folder",
    "missing-folder": "there is no such folder; check the path",
    "not-a-file": "it is not a regular file; name a file in a folder that exists",
    "matrix-exists": "the matrix is complete; choose another path, or resume=False (--overwrite)",
    "matrix-unfinished": "the unfinished matrix cannot be continued: {why}; "
    "choose another path, remove {part} and {notes}, or set resume=False (--overwrite)",
    "matrix-locked": "another run is writing it; wait until it ends, or choose another path",
    "cache-unusable": "the cache of {what} cannot be used: {why}, so everything is computed and "
    "nothing kept; check its folder and the free space, or remove the file",
    "cache-damaged-rows": "the cache of {what} is damaged: its damaged rows are computed again",
    "wrong-digest": "its SHA-256 is {found}, not {wanted}; {remedy}",
    "no-length": "its length and SHA-256 are unknown; give its sha256 in a manifest, or {instead}",
    "http-error": "the server answers {status}; check whether the file has moved, or {instead}",
    "fetch-failed": "it cannot be fetched after {n:byte}: {why}; "
    "run the same command again, which continues it, or {instead}",
    "no-room": "{n:byte} of free space are missing; make room, or set SEMMETRICS_HOME",
    "no-such-device": "PyTorch finds no device {name!r} here; use 'cpu', 'cuda', 'cuda:1' or 'mps'",
    "no-double-precision": "device={name!r} has no double precision; "
    "leave {opt:device} out, or open a model there: open_embedding(NAME, device={name!r})",
    "unsolved-transport": "no transport plan within {gap} of the optimum; reduce sizes or masses",
    # Data: records of labels and captions
    "bad-character": "the text contains {what}; remove it, and save the text as UTF-8",
    "not-gzip": "not a gzip file; name it without .gz",
    "out-of-memory": "not enough memory; give fewer items at once, or use a larger machine",
    "json-lines": "not valid JSON: {why}; for one object per line, name the file .jsonl",
    "carriage-returns": "its lines end with a carriage return alone; save it with line feeds",
    "other-delimiter": "no column for {role}: the header has one column, {found!l}; "
    "if {sign!r} separates the cells, set {option!o} to it",
    "no-header": "no column for {role}: the first line, {found!l}, was taken as the header; "
    "if it is data, add a header such as {example}; otherwise rename a column or set {flag!o}",
    "number-in-header": "the first line was taken as the header, but {value} is a number; "
    "add a header such as {example}",
    "comment-line": "the first line begins with {sign!r}, so it is not a header; "
    "remove the lines before the header",
    "text-is-json": "the line is JSON, {value}; set {opt:format} to json or jsonl",
    "ids-in-text": "lines of plain text begin with the names of items, {value}; add a header such "
    "as image,caption and set {opt:format} to csv or tsv; if they are captions, set it to txt",
    "fairseq-lines": "the lines are output of fairseq-generate, {value}; write only the captions "
    "of the lines H-0, H-1, ... in this order, or set {opt:format=txt} if they are captions",
    "numbers-in-text": "lines of plain text contain only numbers or marks, {value}; write labels "
    "as CSV with a header such as id,label, or numbers with numpy.save; if they are captions, "
    "set {opt:format} to txt",
    "one-column-two-roles": "{name!r} is named as both the {roles} column; name different columns",
    "wrong-column-type": "a column of {role}s cannot be of type {found}; "
    "ids are text or integers, labels and captions text or lists, scores numbers",
    "not-a-label-column": "{value!r} is neither 0/1 nor a score from 0 to 1, and no column of "
    "{noun}s ({known}) is there; remove the column, or name the column of {noun}s: {flag!o}",
    "not-a-table": "it cannot be read as a table: {why}; give each column one name and one type",
    "deep-column": "objects or deep lists in {name!r}; give strings, numbers, or lists of those",
    "id-pairs": "the items are pairs of an id and {noun}s; give a mapping, such as dict(pairs)",
    "scored-twice": "{noun}s with scores have a list of scores beside them; keep one of the two",
    "score-alone": "a score beside an empty {noun}; name the {noun}, or leave the score empty, too",
    "some-scores": "some {noun}s have a score, others none; give every {noun} a score, or none",
    "empty-cell": "the {noun} is empty, and the id has {n:row}; leave it empty in a sole row only",
    "blank-lines": "{n:blank line} between {between}, the first is line {examples[0]}",
    "blank-texts": "{n:blank line}, taken as empty {noun}s, the first is line {first}",
    "empty-cells": "{n:item} with an empty {noun} cell: no {noun}s",
    "scattered-rows": "{n:id} with rows that are not together{examples!e}: merged in file order",
    "rows-apart": "this id came before; give each id once, with its rows together",
    "other-column": "it is {found}, and {wanted} in the files before; give all the same columns",
    "mixed-cells": "{value} is not a list, but most {noun} cells are lists written as text; write "
    "all cells alike, or one row per {noun}",
    "other-style": "{what} are {found} here, and {wanted} before; write all of them alike, for "
    "example as lists, or score all items at once",
    "cut-list": "NumPy left out a part of the list, {value}; write whole lists: "
    "frame['{noun}s'].map(list).to_csv(...)",
    "unquoted-list": "the {noun}s are a list without quotes, {value}; write the {noun}s in quotes: "
    "frame['{noun}s'].str.strip({brackets!r}).str.split(r',\\s*')",
    "objects-as-text": "the {noun} is an object written as text, {value}; keep only the {noun}s: "
    "frame['{noun}s'].map(lambda cell: {recipe})",
    "score-of-a-list": "one score for a list of {noun}s; write a list with a score for each {noun}",
    "not-a-list": "{role} is {value}, not a list as in the rows before; write all rows alike",
    "lists-among-texts": "{n:{noun}} written as a list and read as text, as most others are no "
    "lists{examples!e}; write all of them alike",
    "sorted-sets": "sets of {noun}s were taken in sorted order",
    "scores-and-lists": "{n:item} written {{{noun}: score}}, the others as lists",
    "unused-entry-keys": "{n:key} of {noun}s not used: {examples!l}",
    "unused-options": "{n:option} not used for {what}: {examples!l}",
    "index-not-used": "the ids are those of the column of ids, not those of the index",
    "odd-columns": "{n:column} of {of} with numbers outside [0, 1]: {examples!l}; "
    "leave out what is not a label",
    # Data: side inputs, arrays and public formats
    "no-column": "no column for {role}: wanted {wanted}, found {found!l}; write rows as {example}",
    "needs-keys": "the {noun} is a list, without column {name!r}; write objects such as {example}",
    "wrong-cells": "the {noun} has {n:cell}, not {wanted!l}; give one cell for each",
    "ambiguous-sides": "the ids are both rows and columns, so pairs can be read either way; "
    "give each side ids of its own, such as image-1 and caption-1, or name columns alike",
    "two-scores": "the pair {pair!l} has the scores {one} and {other}; keep one",
    "wrong-ids": "{n:id}, {distinct} distinct, for {size} {what}s; give each its own id",
    "two-groups": "judgements of {value!r} are in the groups {groups!l}; leave {opt:group_by} out",
    "own-references": "{n:judgement} of candidates among their own references: left out",
    "own-reference-dropped": "{n:candidate} among their own references: compared with the others",
    "only-own-reference": "{value!r} has no reference but itself; give another of its image",
    "no-ratings": "no column for {role}: {wanted} not in {found!l}; the ratings come first, then "
    "predictions and ground truth, so give a table such as id,rating or image_id,system,rating "
    "first, or name its columns with {opt:columns}",
    "unused-judged-columns": "{n:column} not used: {examples!l}; {opt:group_by} with the name of a "
    "column adds rows for each of its values",
    "not-judged": '{value!r} is not an image with judgements; write {{"human_judgement": '
    '[{{"caption": "a dog", "rating": 4}}], "ground_truth": ["a dog runs"]}}, or [{{"id": "a", '
    '"rating": 4}}]',
    "mixed-rows": "the row has other keys than those before; give all rows the same keys",
    "rated-twice": "the rater {rater!r} judges {names!l} twice, first in {other}; "
    "keep one, or name the ids that tell them apart with {opt:columns}",
    "ambiguous-side": "{value!r} could be either side; give the candidates other ids",
    "not-pascal": "not Pascal-50S: {why}; give its files as they were published",
    "equal-votes": "{n:pair} with as many votes for either side: decided at random",
    "not-numpy": "not a NumPy file: {why}; write it with numpy.save",
    "stored-elsewhere": "{names!l} are stored elsewhere; copy them here: file['values'] = values",
    "several-arrays": "there are other arrays beside {name!r}: {extra!l}; save it alone",
    "no-main-array": "{n:array} could be the values: {found!l}; save one as 'values'",
    "other-classes": "the classes differ from those of {opt:classes}; leave out one of them",
    "not-sparse": "the sparse format {kind!r} is not read; save matrix.tocsr() with scipy.sparse",
    "unused-arrays": "{n:array} not used: {examples!l}",
    "missing-key": "there is no {key!r}; see the description of the format",
    "captions-file": "there is no {key!r}; labels come from the instances file, not from captions",
    "instances-file": "{value!r} is not a caption; give the captions file, not the instances",
    "unlisted-id": "{key} {value} is not among the {what}; add it, or remove the annotation",
    "id-of-candidate": "{value!r} also names a caption of another id; do not end ids with #1",
    "cycle": "there is a cycle: {names}; remove one of its links",
    "too-many-ancestors": "over {limit} pairs of a name and an ancestor; omit some",
    "own-parent": "{value!r} is its own parent; remove the link",
    "merged-names": "{names!l} are {term!r} when normalized; rename one, or set {opt:normalize}",
    "differ-by-blanks": "{names!l} differ by blanks alone; write the name one way",
    "no-wordnet": "nltk has no WordNet data; run: python -m nltk.downloader wordnet{instead}",
    "not-wordnet": "not the nouns of WordNet: {why}; give the folder of data.noun and index.noun",
    "too-frequent": "{gram!r} is in {n} of {documents} documents; count it once a document",
    "other-documents": "the file is of {known} documents, not {given}; leave {opt:documents} out",
    "no-documents": "the number of documents is unknown; set {opt:documents} (COCO's is 40504)",
    "not-as-json": "JSON cannot hold it: {why}; save it under a name in .npz",
    "not-frequencies": 'these are not document frequencies; write JSON {{"documents": 5000, '
    '"frequencies": {{"a man": 1200}}}}, or a pickle of {{"document_frequency": {{("a", '
    '"man"): 12}}, "ref_len": 9.2}}',
    "pickled-name": "the pickle holds {name}, which is not loaded; write JSON, or plain dicts",
    "not-a-pickle": "not a readable pickle: {why}; write frequencies as .npz, JSON or a dict",
    "one-side-has-ids": "one side has ids and this one none; give ids on both sides or on "
    "neither; an .npz file has ids beside its matrix",
    "other-length": "{one} has {n:item} and {other} has {m}: this is the last item of the shorter "
    "one; items without ids are matched by position: give as many on both sides, or ids",
    "missing-ids": "{lost}; add them, or set {opt:missing=empty} to score them as empty, or "
    "{opt:missing=skip} to leave them out",
    "other-ids": "{lost}; check that both sides use the same ids",
    "unlike-ids": "{lost}; write ids the same way on both sides: {names!l} differ by {how}",
    "joinable-ids": "{lost}; if some of them are the same, set {opt:ids={expression}}",
    "joined-names": "{n:item} of the predictions joined by the name of its file",
    "joined-cocoid": "{n:item} of the predictions joined by cocoid, not by imgid",
    "ambiguous-cocoid": "{n:id} could be the imgid of an image and {m} its cocoid; choose one: "
    "{opt:gt_id_column=imgid} or {opt:gt_id_column=cocoid}",
    "equal-parts": "{names!l} have the same part {value!r}; change {opt:ids}",
    "missing-entries": "{lost}; add {noun}s, or set {opt:missing=skip} to leave these items out, "
    "{opt:missing=empty} for an empty candidate or no reference",
    "no-rows": "{n:item} without a row in the {what} matrix: {ids!l}; set {opt:missing=skip}",
    "inexact": "the score {value} is an integer of 2**53 or more; scale scores, or give floats",
    "id-mismatch": "the id {value!r} does not fit {pattern!r}; change {opt:ids}",
    # Text
    "needs-java": "{purpose} needs Java; "
    "install a Java runtime, 8 or later (in Debian default-jre-headless){instead}",
    "incomplete-package": "{purpose} needs {files}, which pycocoevalcap lacks; "
    "run: pip install --force-reinstall pycocoevalcap{instead}",
    "damaged-package": "it is damaged, or not that of pycocoevalcap 1.2: {why}; "
    "run: pip install --force-reinstall 'pycocoevalcap>=1.2'",
    "caption-too-long": "METEOR cannot compare {n_pred:,} words with {n_ref:,} of a reference; "
    "shorten them to {most:,} words and {most_pairs:,} pairs of words",
    "too-many-matches": "over {most:,} matches of its words with those of a reference; shorten it",
    "java-not-started": "{purpose} cannot be run: {why}; check disk space, java -version{instead}",
    "java-failed": "{purpose} stopped with status {status}: {why}; check java -version{instead}",
    "java-path": "Java reads no folder with {separator!r} in its name; set SEMMETRICS_HOME",
    "needs-corenlp": "SPICE's parser needs CoreNLP 3.6.0; run: semmetrics spice setup{instead}",
    "wrong-jar": "not CoreNLP's own file, or damaged; remove it and run: semmetrics spice setup",
    "missing-jar": "there is no {name} in this folder; give the folder that holds both files{hint}",
    "maven-failed": "Maven fails: {why}; install it, or give the folder of both jars (--jars)",
    "no-answer": "SPICE's parser gives no answer: {why}; check java -version (8) and memory (4 GB)",
    "parser-fails": "SPICE's parser fails: {why}; leave such captions out{limit}",
    "captions-fail": "{n} of {total:caption} cannot be parsed: {error}; {remedy}",
    "no-tuples": "there are no tuples of it; {remedy}",
    "tuples-lack": "no tuples by {identity} of {new}{own}, and parsing fails: {error}; {remedy}",
    "tuples-function": "{opt:tuples} is a function, and captions are not parsed: {error}; {remedy}",
    "wrong-tuple-line": "not a caption with tuples; write it as 'semmetrics spice parse' does",
    "conflicting-tuples": "{caption!r} appears twice, with different tuples; keep one of them",
    # Embed
    "vector-not-finite": "the vector of {names!l} is not finite; {remedy}",
    "unversioned": "a function without a version cannot be kept in a cache; "
    "give what decides its vectors: CallableEmbedder(function, version='1')",
    "reads-text": "lookup={rule!r} needs word vectors, not {identity}; set {opt:lookup=text}",
    "unknown-terms": "{identity} does not know {names!l}; rename them, or set {opt:oov} to skip",
    "no-unknown-word": "{identity} has no word 'unknown' for {names!l}; set {opt:oov} to skip",
    "unknown-embedding": "there is no such file and no embedding {value!r}; name a file, one of "
    "{names}, or a model after its kind, as in sbert:{value} (kinds: {kinds})",
    "not-fetched": "{value!r} has not been fetched; run: semmetrics embed fetch {value}{size}",
    "unclear-folder": "the kind of this folder is unclear; write {example}; the kinds are {kinds}",
    "unsafe-pickle": "such a file can run any code when opened; if you trust it, write kv:{path}",
    "mixed-mapping": "{word!r} has a vector and {other!r} has none; "
    "give a vector for each word, or an embedding for each name",
    "not-converted": "not a folder of converted vectors; run: semmetrics embed convert FILE FOLDER",
    "other-vectors": "it holds other vectors: {found}; name a new folder, or remove it",
    "wrong-vectors": "a {found} file, not {wanted}; write {found}: before the path, or no kind",
    "not-word-vectors": "its first line is neither a header ('3000000 300') nor a word and "
    "numbers; give word2vec, GloVe or fastText without a byte order mark",
    "wrong-member": "the archive holds {names!l}; unpack it and give the path of one file",
    "no-texts": "it has no texts for its rows; write them, one a line, into {name} beside it",
    "wrong-arrays": "it holds {matrices} matrices and {texts} arrays of texts; save one of each",
    "wrong-columns": "its columns are {found!l}; give one of texts, the others of numbers",
    "model-not-here": "the model {value!r} is not here and cannot be fetched: {why}; "
    "run: hf download {full}, or give the path of its folder",
    "empty-tokenizer": "its tokenizer has no words; check tokenizer.json or vocab.txt",
    "has-decoder": "a {kind} has a decoder; use an encoder, such as BERT, RoBERTa or XLNet",
    # Metrics: definitions and label metrics
    "number-as-label": "{value!r} is a number, not a label; if rows have a 0 or 1 for each label, "
    "pass numpy.array(rows), or save it as .npy; if numbers are names, write them as strings, "
    'such as "{value}"; for the names of a class list set {opt:classes}, for one class per '
    "image set {opt:task=classes}, for positives of queries set {opt:task=retrieval}",
    "vector-as-labels": "the labels {value} are a 0 or 1 for each class; set {opt:classes} to the "
    "list of the classes, or save the vectors with numpy.save as .npy; if 0 and 1 are names "
    'of labels, write lists of strings, such as ["1", "0"]',
    "number-as-list": "{value!r} is a number, not a list of {noun}s; write a list for each item: "
    "{example}",
    "ambiguous-rows": "rows of a 0 and a 1 are two labels or 0/1; give names, or numpy.array(rows)",
    "measure-of-kind": "a measure of your own cannot have kind={value!r}, because its formula "
    "takes counts of labels; leave kind out, or compute a value for each item in Python and "
    "compare systems with compare_values({{item: {{system: value}}}}): see 'Measures of other "
    "data' in docs/adding-a-metric.md",
    "not-a-measure": "{text!r} is not a measure; write it as F1(average=macro)@3",
    "measure-option": "{option} does not apply to {measure}; leave it out",
    "missing-option": "{option} is not given; write {measure}({option}=…): {help}",
    "fixed-option": "{alias} has {fixed}, not {given!r}; write {name} with its options",
    "comma-separated": "commas separate measures in {text!r}; use blanks: {wanted!r}",
    "wrong-measures": "{n:measure} are wrong:{listed}",
    "duplicate-measures": "measures are named twice: {names!l}; name each once",
    "name-taken": "there is already a measure {name!r}; choose another name",
    "reserved-option": "{measure} cannot have options {names!l}; choose names without a meaning",
    "not-registered": "the measure {name!r} is not registered; import the module that defines it",
    "wrong-formula": "the formula of {measure} {problem}; {remedy}",
    "no-scores": "{what} needs a score for each predicted label{given}; "
    "give scores ({opt:score_column} names their column{unused}){remedy}",
    "no-rule": "scores are not sets; give sets, a cutoff (F1@3), or {opt:decode=threshold:0.5}",
    "no-embedding": "there is no embedding {name!r}; give {opt:embedding}",
    "word-vectors": "BagSim needs one vector for {what}, but {embedding} has vectors of words; "
    "use an embedding that reads text{remedy}",
    "unknown-text": "{embedding} has no vector for {what} {names!l}; add it, or set {opt:oov=skip}",
    "outside-taxonomy": "not in the taxonomy: {names!l}; add them, or make them roots: unknown=own",
    "weights-apart": "the weights {low} and {high} are too far apart; keep their ratio below 1e15",
    # Metrics: captions, retrieval and classes
    "unknown-documents": "only the logarithm of the number of documents is known; set documents=",
    "other-tokens": "document frequencies use {name} {mine!r}, not {theirs!r}; use one for both",
    "wrong-offsets": "{offsets:offset} for {queries:query} and {items:item}; "
    "give one more than queries, from 0 to the number of items",
    "not-in-gallery": "place {value} is not in the gallery of {size:item}",
    "item-after-end": "place {value} follows -1; -1 marks the end of a short ranking",
    "too-few-ranks": "top counts {found:rank}, the largest cutoff is {wanted}; give more ranks",
    "no-cutoff": "{measure} needs a cutoff; write {wanted}",
    "swapped-order": "the predictions ({pred}) {of_pred} and the ground truth ({ref}) {of_ref}, so "
    "the order is wrong; swap them: predictions come first",
    "unknown-numbers": "column {name!r} holds numbers, and no column is known as {what}; name it "
    "with {flag!o} if more is better (negate distances first), or remove the column",
    "verdicts": "column {name!r} says in words whether candidates are relevant; write 1 for yes "
    "and 0 for no in a column named relevance, or remove the column",
    "summary": "the {what} {name!r} looks like a mean, a deviation or a size, not like values to "
    "compare; remove it, or rename it if it has values to compare",
    "less-is-better": "the highest number in column {name!r} counts as the best; if the lowest is, "
    "as in a distance or a rank, multiply the column by -1",
    "sorted-by-rank": "{n:query} whose rows are not in the order of column {name!r}: ranked by it, "
    "from the lowest number",
    "other-ranks": "{n:query} that column {name!r} ranks otherwise than the scores, which are used",
    "own-ids": "{n:query} with a candidate of the same id, as if it retrieved itself; "
    "{opt:ignore_identical_ids=True} leaves such candidates out, as BEIR does",
    "own-ids-left-out": "{n:candidate} with the id of the query: left out of the ranked lists",
    "no-grades": "{measure} counts grades from {level}, and the judgements have no grades; "
    "leave rel out, or give grades: {{query: {{candidate: grade}}}}, or TREC qrels",
    "no-class-score": "no {group} class has a score; AUSUC and BestH need scores of all classes",
    "missing-images": "{n:image} missing: {examples!l}; give all sides the same images",
    "wrong-captions": "{found} given; give {wanted} for each image",
    "other-items": "{name}= is for {found}, not {wanted}",
    "too-few-similar": "{found:item} for each query, not {wanted}; find more: most_similar(phi, k)",
    "no-matrix": "no matrix of {measure} is computed; {remedy}",
    "meteor-failed": "METEOR's program failed: {why}; check java -version (8) and memory (2 GB)",
    "single-document": "the value for a single image is 0: {examples!l}; "
    "give document frequencies of a larger corpus: {opt:doc_freq}",
    # Kinds
    "unknown-kind": "the kind of data is not certain: {what}; "
    "set {opt:task={task}} if each image has one class, or {opt:task=retrieval} for queries",
    "different-kinds": "the two sides are of different kinds: {what}; set {opt:task} to {kinds!l}",
    "ambiguous-kind": '{reason} could be {kinds!l}: {what}; set {opt:task}, or write as ["cat"]',
    "truth-of-class-scores": "the ground truth has scores of several classes for an image; give "
    "one class, or swap the sides if their order is wrong: predictions come first",
    "truth-of-scores": "the ground truth is a matrix of scores; give 0/1 or lists, or swap the "
    "sides if their order is wrong: predictions come first",
    "not-probabilities": "{value!p} are not probabilities of set sizes; let each item sum to 1",
    "number-outside-classes": "{role} is {value}, and the class list has {size:class}, numbered "
    "from 0 to {last}; if the file counts from 1, subtract 1, or correct {opt:classes}",
    "text-as-list": "{value!r} is a string, not a list of {noun}s; write {example}",
    "outside-classes": "{role} {value!r} is not in the class list; correct it or {opt:classes}",
    "similar-class": "{role} {value!r} is not in the class list, which has {similar!r}; write the "
    "names in {opt:classes} as in the data, without numbers, spaces or further names",
    "unnamed-columns": "columns without names, labels of {other} are {names!l}; set {opt:classes}",
    "unnamed-widths": "unnamed columns: {mine} predicted and {theirs} true ones; set {opt:classes}",
    "single-references": "no image has two references; leaving one out needs at least two",
    "partial-truth": "the ground truth is 0/1 in {columns:column}, and the gallery has "
    "{gallery:candidate}; give 0/1 for each candidate, or lists of the positives: "
    "truth.tolist()",
    "other-names": "the {what}s have other names than {option!o}; remove either",
    "not-in-option": "{n:{what}} not in {option!o}: {names!l}; add them, or remove the option",
    "transposed-names": "{found} for {wanted}; transpose, or swap {opt:queries} and {opt:gallery}",
    "transposed-positives": "{n:positive} not among {size:,} columns (from 0): {names!l}; "
    "transpose the matrix if its rows are the gallery",
    "outside-gallery": "{n:positive} not in the gallery of {size:,}: {names!l}; "
    "correct them, or set {opt:missing=skip} to count them as never found",
    "outside-columns": "{n:positive} not among {size:,} columns (from 0): {names!l}; save the ids "
    "of the rows and of the columns in their order, one per line, and add "
    "{opt:queries=images.txt} {opt:gallery=captions.txt}",
    "outside-rows": "{n:id} not among {size:,} rows (from 0): {names!l}; save the ids of the rows "
    "and of the columns in their order, one per line, and add {opt:queries=images.txt} "
    "{opt:gallery=captions.txt}",
    "unnamed-rows": "there are positives of {name!r}, but {what}s have no names; save the ids of "
    "the {what}s in their order, one per line, and set {option!o} to that file",
    "phi-without-captions": "phi {measure} needs captions; set {opt:captions}, or give its matrix",
    "several-phi": "several phi are given: {names!l}; name one in the measure: NCS(phi=NAME)",
    "unnamed-phi": "rows and columns of phi have no ids; set {opt:queries} and {opt:gallery}",
    "phi-lacks": "{n:{noun}} not in phi: {names!l}; give phi of all, with the same ids",
    "no-references": "{n:{noun}} without positives or references: {names!l}; leave them out",
    "not-one-text": '{n:id} without exactly one text; give one for each caption: {{"id": "text"}}',
    "without-text": "{n:caption} without a text: {names!l}; add them to {opt:captions}",
    "unnamed-gallery": "{n:caption} without a text in an unnamed gallery; set {opt:gallery}",
    "seen-and-unseen": "{n:class} in both {opt:seen} and {opt:unseen}: {names!l}; keep each in one",
    "reserved-list": "{name!r} cannot name a list; rename it, or use {opt:seen} or {opt:unseen}",
    "empty-list": "no class is in the list {name}; nearest: {nearest}; name a list with more",
    "without-value": "{n:{noun}} without a {what}: {names!l}; give one to each",
    "unknown-side": "the {side} classes are unknown; give {side!o} or {other!o}, and {opt:classes}",
    "empty-side": "no class is {side}: all are {other}; correct {other!o}, or give {side!o}",
    "measure-needs-scores": "{measure} needs scores of the predictions; give them, or leave it out",
    # Scoring
    "no-items": "there are no items to evaluate; check the ids of both sides and {opt:missing}",
    "zero-weights": "all sample weights are zero; give some item a weight",
    "wrong-kind": "{names!l} cannot be computed for {kind}; {hint}, or set {opt:task}",
    "protocol-of-kind": "protocol {protocol} evaluates {kind}, not {task}; remove {opt:task}",
    "measures-and-protocol": "{opt:measures} and {opt:protocol} are given; "
    "semmetrics explain {protocol} lists its measures, so give one of them",
    "too-many-resamples": "the sums of all resamples ({sums:,} columns) do not fit in 1 GiB; "
    "set {opt:resamples} to {fit} at most, or leave out averages over labels",
    "rows-not-kept": "the values of items were not kept; score all items in one call",
    "no-cluster": "no Ray cluster at {address}: {why}; check {opt:address}, or leave it out to use "
    "this machine",
    "cluster-failed": "the cluster failed: {why}; look at its machines, and run it again",
    "needs-no-rows": "{what} needs items that are let go; set {opt:keep_rows=False}",
    "different-embeddings": "the embeddings differ: {why}; score both with the same one",
    "static-and-other-embedding": "the embeddings differ: {why}; score both with the same one, "
    "such as {opt:embedding=static}",
    "different-statistics": "the parts cannot be added: {why}; use the same options and version",
    "classes-of-references": "each part found classes in its references; give all {opt:classes}",
    "items-in-both": "items in both parts: {names!l}; give distinct parts, with ids for positions",
    "ids-in-two-batches": "ids of an earlier batch: {ids!l}; give each once, or call reset()",
    "other-batch": "from here on there are {has}, and before {had}; "
    "give the same in all: ids or none, the same columns, and scores, lists or 0/1",
    "other-scores": "from here on there are {has}, and before {had}; say what scores of 0 and 1 are: "
    "{opt:scores=members} or {opt:scores=values}",
    "fractional-members": "the score {value} is neither 0 nor 1; leave out {opt:scores=members}",
    "batch-differs": "{role} differs from earlier batches; give the same with every batch",
    "matrix-batch": "a batch cannot be a matrix; give {{id: {{name: score}}}}, or use score()",
    "needs-all-items": "{what} {reason}, and items are not kept; "
    "score all of them in one call{instead}",
    "needs-parts": "{measure} needs {parts!l} evaluated together; set {opt:direction=both}",
    "no-best-threshold": "decode=threshold:best does not apply to {measure}; "
    "use the threshold of F1(decode=threshold:best) or SemF1(decode=threshold:best)",
    "left-out-labels": "{n:label} {how} ({verb} {predictions:time}, true {references:time})",
    "outside-bounds": "{heading} has the value {value}, outside its bounds {low} to {high}; "
    "pass bounds= to @measure",
    "interval-methods": "intervals are {used}",
    "one-item": "{what} has no interval; give at least two",
    "few-true-items": "{headings}: {few:,} of {labels:label} have fewer than {least} true items, "
    "{none:,} of them none: too few to trust its interval",
    "undefined-value": "{headings}: undefined, so without an interval",
    "undefined-without-one": "{headings}: no interval, being undefined without one of the {units}",
    "few-decide": "{headings}: a few {units} decide the value: too few to trust its interval",
    "no-width": "{headings}: {why}: without width, an interval says nothing of certainty",
    "parts-apart": "{heading} has no interval: its parts are not resampled together",
    "needs-ci": "{option!o} has no effect without {opt:ci=True}",
    "unnumbered": "items without ids were not kept: data: in signatures differs; give ids",
    "unused-calibration": "the calibration for {embedding} is unused: no threshold=auto",
    "other-calibration": "the threshold was calibrated with {name}:{was}, used with {name}:{now}",
    "unversioned-calibration": "{embedding} has no version; check that it is the calibrated one",
    "calibration-items-unknown": "items without ids cannot be compared with the calibration's",
    "calibration-items": "{n:,} of {total:scored item} also calibrated the threshold",
    "all-pairs-alike": "at the threshold all pairs mean the same, or none does: it tells nothing "
    "apart; try {opt:criterion=youden}, or another embedding",
    "no-stability": "the first {k} images of each pair give no ranks ({why})",
    "few-pairs": "few pairs decide the threshold: {same:,} that mean the same and {others:,} that "
    "do not; give at least {least} of both",
    "few-items": "few items decide the threshold: {n:,} of {total:,} in the holdout; "
    "use at least {least}",
    "in-signature": "{name!o} is part of the signature; remove it, or score without one",
    "signed-input": "the signature was computed with {name} {was}; give it again: {name!o}",
    "no-state": "it is not a state; name a file that 'semmetrics score' or Scorer.save wrote",
    "other-version": "it was written by {by}, and this is {now}; score those items again",
    "not-in-a-state": "a state does not hold {value!r}; give it as a path, a name or plain values",
    "other-measure": "the source of {measure} is not the one that the state was computed with; "
    "score those items again",
    "missing-shards": "missing parts: {names!l}; merge all of them",
    "merged-twice": "parts that came before: {names!l}; merge each part once",
    "ids-not-compared": "ids of states are not compared: one in two of them counts twice",
    "different-scorers": "other options than before: {names!l}; score all parts with the same",
    "given-by-batch": "{name!o} has a value an item; give it in update(preds, gts, {name}=...)",
    "lacks-measure": "no measure here has {what}; add one such as {example}",
    "ambiguous-score": "the table has {n:score} for {key!r}; {remedy}",
    "bad-signature": "not a valid signature: {why}; copy the whole signature",
    "signature-of-study": "a signature of {what} cannot be rescored; run {what} with its options",
    "not-a-calibration": "not a valid calibration: {why}; write one: semmetrics calibrate -o FILE",
    "other-embedding": "{measure} uses {embedding}, and the calibration is for {known!l}; "
    "calibrate this embedding, give the calibrated one with {opt:embedding}, or write the "
    "threshold: {name}(threshold=0.5)",
    "pairs-of-one-kind": "all {n:pair} mean {what}; add pairs that do not",
    "equal-pairs": "all pairs are equally similar{unknown}; give other pairs, or another embedding",
    "small-holdout": "the holdout has {n} of {of:item}; increase {opt:holdout}, up to 1",
    "undefined-on-holdout": "{measure} is undefined on the holdout; raise {opt:holdout}",
    "no-contrast": "{measure} is never higher with an item's own references than with "
    "another's{unknown}; increase {opt:holdout}, or calibrate on labelled pairs",
    # Studies
    "too-few-compared": "{n:system} given; give at least two to compare",
    "unlike-runs": "the runs are of different {what}: {names!l}; score all of them alike",
    "votes": "it is a sheet of votes; run: semmetrics mad inspect",
    "too-few-systems": "{systems} systems on {rows} data sets; give at least two of each",
    "unlike-items": "the systems have different items: {only}; "
    "give all the same, or set {opt:missing=common} for the items that all have",
    "unlike-images": "the systems have different images: {only}; give all the same, or set "
    "{opt:missing=skip}",
    "references-as-system": "several captions of an image, as references; give references last",
    "not-paired": "its resamples are not paired; remove it, or compare its parts",
    "too-few-for-test": "{test} needs {least} {unit!n}, not {n}; give more, or use another test",
    "test-does-not-fit": "the {test} needs {what}; set {opt:test=interval} or randomization",
    "not-comparable": "not the resampled scores of one system; score it with {opt:ci=True}",
    "scored-otherwise": "it has other {what} than {other}; score both alike",
    "ambiguous-key": "{value!r} is not unique; choose one of {choices}",
    "no-figure": "the figure {name} does not suit: {why}; {fix}, or draw {known}",
    "other-result": "this result has no {what}; give one of {of}",
    "no-item-values": "no values of items of {measure}; use a measure that has them, as F1 does",
    "not-scores": "not a list of scores; give a table, or: semmetrics score --format json -o FILE",
    "mixed-directions": "lower {measure} is better, which is not so of all rows; rank those apart",
    "lower-is-better": "lower {measure} is better, so it is not normalized; set {opt:by=rank}",
    "unknown-direction": "no direction of {measure} is known; import its file (--import FILE.py)",
    "reserved-group": "a group is called {name!r}, which is the name of the row for all groups; "
    "rename it",
    "unmatched-ids": "{n:id} not among {role}: {lacking!l} (known are {known!l}); "
    "correct them, or select the part to compare with {opt:ids}",
    "no-common-pairs": "no rated pair, such as {pair}, is in it, which has {there}; "
    "name the columns of ids with {opt:columns}, or their common part with {opt:ids}",
    "vanishing-dominance": "the powers of the matrix vanish; let each system dominate itself by 1",
    "no-dominance": "dominance over {value} is infinite; set {opt:floor}, or select more images",
    "too-few-images": "{n:image} with a value of {measure}, fewer than k={k}; choose a smaller k",
    "total-too-small": "one image for each pair is {least:image}, more than a total of {total}; "
    "raise {opt:total}, or compare fewer systems",
    "odd-pictures": "{n:picture} whose content is not JPEG, PNG, WebP, GIF or BMP{examples!e}; "
    "browsers may not show such a file; save it in one of these formats",
    "missing-pictures": "{n:image} without a picture here: {names!l}; name the folder of the "
    "pictures, or a path such as 'images/{{id}}.jpg' or 'images/{{id:012d}}.jpg' (ids of 12 "
    "digits, with leading zeros), or leave these images out with {opt:exclude}",
    "no-common-items": "the systems have no item in common; check their ids",
    "several-answers": "{found} for one image; give one, or use a measure of label sets, as SemF1",
    "systems-missing": "{n:system} of the competition not given: {systems!l}; give all of them",
    "other-systems": "it has other systems than the first batch; give each of {systems!l}",
    "not-a-state": "not the state of a competition; name a file of: semmetrics mad select",
    "state-edited": "the state was edited after it was written; select again",
    "state-differs": "it differs from the state selected with: {what}; give that, or select again",
    "give-again": "the state was selected with {what}, which it lacks; set {name!o} again",
    "not-annotated": "{n:image} not annotated: {images!l}; fill them in, or set {opt:missing=skip}",
    "not-a-sheet": "not a sheet of {wanted}; give such a sheet, or use {name!o}",
    "foreign-rows": "rows of other {noun}s: {examples!l}; remove them, or set {opt:missing=skip}",
    "no-threshold": "it has no threshold of similarity; use one of {measures}",
    "bad-thresholds": "{value!r} gives no thresholds, or too many; write 0:1:0.05, or 0.3,0.4,0.5",
    # Studies: notes
    "constant-ratings": "all ratings are equal: agreement is undefined",
    "constant-side": "values or ratings are all equal: agreement is undefined",
    "other-size": "{n:{unit}}; papers with {protocol} have {expected:,}",
    "unjudged": "{n:judgement} left out: no value or preference",
    "untested-group": "no p: Williams' test needs {n} {unit!n} that both measures have",
    "one-image": "all {unit!n} are of one image: no intervals, no tests",
    "dependent-judgements": "Williams' test takes {n} {unit!n} of {images} images as independent; "
    "{opt:test=bootstrap} does not",
    "not-converged": "equation 7 had not converged at power {n:,}",
    "shared-ranks": "{n:system} sharing a rank with another",
    "images-not-annotated": "{n:image} not annotated, left out",
    "raised-to-floor": "{n:score} raised to the floor {floor}",
    "both-zero": "{n:pair} of scores 0, taken as equal",
    "unknown-exclusions": "{n:image} to exclude that no system has: {examples!l}",
    "same-answers": "the same answers for all {n:image}: nothing tells them apart",
    "ties-decide": "ties decide in {n:pair}: images with the value of the last one selected are "
    "chosen by {ties} (of {pair} {taken} of {tied:,})",
    "undefined-pairs": "{n:value} of pairs undefined, and not selected",
    "empty-answers": "empty {noun}s: {n:,}",
    "images-left-out": "{n:image} left out that a system lacks",
    "references-not-used": "references of {n:image} that were not selected, not used",
    "foreign-rows-ignored": "rows of other {noun}s, not used: {n} ({examples!l})",
    # The command line
    "stdin-twice": "standard input (-) is given twice; write one of them to a file",
    "output-is-input": "the output would overwrite an input; name another (GT comes last)",
    "output-is-output": "{other} writes to the same file; give each output its own file",
    "wrong-ending": "the ending does not name a format that is written; use {known!p}",
    "bad-spec": "not a valid {metavar}; write {flag} {metavar} with a name of letters, digits, "
    "'.', '_', '+' or '-', and ./ before a path with '=' in it",
    "repeated-spec": "the name {name!r} is missing or repeated; give each a name: {flag} NAME=SPEC",
    "swapped-files": "the files look swapped: REFERENCES has one text for each image, CAPTIONS "
    'several; exchange them, or write references as lists: {{"id": ["caption"]}}',
    "unparsed-captions": "the parser fails on {n:caption}, such as {caption!r}: {why}; "
    "leave such captions out, as the output does",
    # Notes on the data
    "missing-reference": "{n:item} without ground truth, {became}",
    "weight-0": "{n:item} of weight 0 left out",
    "empty-prediction-skipped": "{n:item} without a predicted label left out",
    "shared-terms": "{n:term} in several classes",
    "no-parents": "{n:label} in the taxonomy, none with a parent, so hF counts only equal labels; "
    "if the taxonomy was written as parent: children, swap both",
    "ignored-labels-not-found": "{n:label} to ignore not in the data",
    "header-as-class": "the first class of the class list is {name!r}, which is in no item; if it "
    "is the header of the file, remove it, because it counts as a class",
    "ignored-file": "the label to ignore {name!r} is also the name of a file; to ignore the labels "
    "in the file, write @{name} on the command line, and the path without a list in Python",
    "several-candidates": "{n:image} with several candidates, each scored on its own",
    "single-reference": "{n:image} with a single reference left out",
    "empty-candidates": "{n:empty candidate}",
    "empty-references": "{n:empty reference}",
    "positives-outside": "{n:positive} outside the gallery, so never found",
    "graded-0": "{n:candidate} of grade 0 or less, not positives",
    "other-folds": "{n:positive} in another fold than the query, left out",
    "without-class": "{n:image} without a class left out",
    "repeated-positives": "{n:positive} repeated in a list, counted once",
    "zero-length-vectors": "{n:vector} of length 0, with cosine 0 to all",
    "different-items": "systems are scored on different items; set {opt:missing=common} for the "
    "items that all have",
    "not-in-all": "{n:item} left out that another system does not have",
    "unused-weights": "{n} of {total:sample weight} not used, as no input has the id: {examples!l}",
    "nothing-shared": "nothing in {name!o} occurs in the data, whose {noun}s are {names!l}; "
    "give one of the same data, or remove the option",
    "no-effect": "{option!o} has no effect: {why}",
    "no-thumbnail": "{n:item} without a picture{examples!e}: {why}",
    "no-effect-on": "{option!o} has no effect on {on}",
    "unused-embeddings": "{n:embedding} not used by any measure here: {examples!l}",
    "unused-list": "no measure names the class list {name}",
    "not-cached": "{model} is not cached; name its version: CallableEmbedder(f, version='1')",
    "unknown-texts": "{n:{noun}} unknown to {model} (oov: {oov}){examples!e}; "
    "see: semmetrics embed coverage",
    "composed-texts": "{n:{noun}} composed by {model} from pieces of words{examples!e}",
    "untuned-texts": "{n:{noun}} outside the vocabulary that {model} was tuned on{examples!e}",
    "zero-vectors-texts": "{n:{noun}} with a vector of zeros in {model}",
    "truncated-texts": "{n:{noun}} longer than {model} reads, cut to their beginning",
    "spelling": "{n:{side} label} in {items:item} differing from others only by {ways}: "
    "{examples!p}; join them with {opt:normalize={rules}}",
    "spelling-kept": "{n:{side} label} in {items:item} differing from others only by {ways}: "
    "{examples!p}; protocol {protocol} compares them as they are",
    "other-encoding": "{n:{side} label} equal to labels of the other side only after Unicode "
    "normalisation and without invisible characters, such as {examples!p}; clean both files, "
    "in Python: unicodedata.normalize('NFC', label).replace('\\u200b', '')",
    "joined-labels": "{n:{side} label} containing {delimiter!r}{examples!e}; "
    "if it separates labels, set {opt:label_delimiter={delimiter}} for CSV, "
    'or write lists, ["cat", "dog"]',
    "lists-as-text": "{n:{side} label} looking like a list written as text{examples!e}; "
    "save lists as JSON or Parquet, or join labels with ';' ({opt:label_delimiter=;})",
    "one-sided-labels": "{n:{side} label} of {total:,} not in {other}{examples!e}; check spelling",
    "sentences": "the {side} labels have {mean:.1f} words on average; perhaps {opt:task=captions}",
    "special-tokens": "all {side} contain {examples!l}; remove such tokens before scoring, "
    "because they count as words",
    "subwords": "{n:caption} of the {side} with {mark!r}, the mark of a tokenizer; "
    "join the parts of words before scoring",
    "joined-references": "{n:reference} that {separator!r} may separate into several captions; if "
    "it does, split them and write lists",
    "single-words": "the {side} have {mean:.1f} words on average; for labels set "
    "{opt:task=labels}; if these are the tokens of captions, join them with spaces",
    "swapped-sides": "{sign}; check the order of the sides: predictions come first",
    "nested-labels": "{n:item} with a list inside the list, [{example}], which is one label with "
    "several names (synonyms); if the names are separate labels, write {example}",
    "unlike-scores": "{n:label} in {items:item} listed with different scores, such as "
    "{examples!p}; the highest counts, or each with duplicates=each",
    "difficult-labels": "{n:label} marked 0 beside -1 (absent) and 1 (present): difficult, left "
    "out of average precision and absent elsewhere; if 0 is absent and -1 is not verified, set "
    "{opt:unknown_value=-1}",
    "unverified-cells": "{n:cell} not verified, left out of predictions and references",
    "unverified-cell": "{value!r} is neither 0/1 nor a score from 0 to 1; if it marks a label of "
    "the ground truth that nobody verified, set {opt:unknown_value=-1}, or nan for empty cells",
    "empty-truth-cell": "{value!r} is neither 0 nor 1; if it marks a label that nobody verified, "
    "set {opt:unknown_value=nan}, otherwise write 0 or 1",
    "true-minus": "scores of the ground truth are ignored, and a label with the score -1 is true; "
    "if -1 marks a label that nobody verified, set {opt:unknown_value=-1}",
    "true-scores": "scores of the ground truth are ignored: every label listed is true",
    "scores-unused": "every label listed counts as predicted, with {n:score} of {total:,} below "
    "0.5; if scores decide, set {opt:threshold=0.5}, or name a rule or cutoff in the measure: "
    "F1(decode=threshold:0.5), F1@3",
    "no-probabilities": "scores from {lowest:g} to {highest:g} are not probabilities, and the "
    "threshold {threshold} is meant for probabilities; if they are logits, set "
    "{opt:activation=sigmoid}, otherwise write the threshold on the scale of the scores",
    "activated-probabilities": "{scores}, so they may be probabilities already; if they are, leave "
    "out {opt:activation}, which changes them again",
    "short-lists": "{n:,} of {total:item} with fewer than {cutoff} predictions; {measures} counts "
    "the predictions that an item has, so write {example} to count {cutoff} for every item",
    "nothing-predicted": "no score is above the threshold {threshold}, but {highest:g} at most",
    "order-of-labels": "{measures} depends on the order of predictions, which is {order}; "
    "give scores, or ordered lists",
    "order-of-file": "{measures} takes labels in the order of the file, because no column with "
    "their scores is used; if {examples!l} has them, set {opt:pred_score_column={column}}",
    "missing-labels": "{n:{side} label}{examples!e}, without another label in the item; many "
    "programs write this for a missing value, so write an empty cell or [] if the item has no "
    "labels",
    "missing-captions": "{n:caption}{examples!e}, which many programs write for a missing value; "
    "each counts as a caption, so leave the item out or write its caption",
    "one-sided-columns": "{n:column} only in the predictions or only in the ground truth: "
    "{examples!l}; each counts as a label; if it is not a label, remove it or set "
    "{opt:ignore={column}}",
    "flag-columns": "{n:column} with the same cells in predictions and ground truth: "
    "{examples!l}; each counts as a label; if it is not a label, remove it or set "
    "{opt:ignore={column}}",
    "numbers-as-labels": "labels are numbers, compared as they are; give names or {opt:classes}",
    "near-threshold": "{n:pair} of labels within 1e-6 of the threshold {threshold!r}",
    "near-thresholds": "up to {n:pair} of labels within 1e-6 of each of {thresholds} thresholds",
    "uncalibrated": "the threshold {threshold:g} of word2vec is not calibrated for {model}; "
    "calibrate it on some of the data (semmetrics calibrate), and set {opt:calibration}",
    "no-tuple-matches": "no tuple matches; SPICE's parsers and synonyms know only English",
    "idle-tuples": "{opt:tuples} has no effect: by {own}, not {wanted!l}; use SPICE(parser=given)",
    "tied-graphs": "SPICE of {n:item} depends on ties in merging scene graphs{examples!e} "
    "({low:.4f} to {high:.4f}){untried}",
    "tied-graphs-of-mean": "SPICE of {n:item} depends on ties in merging scene graphs{examples!e} "
    "({low:.4f} to {high:.4f}): its own program may print {less:.2g} less to {more:.2g} "
    "more{untried}",
    "cider-of-coco": "the CIDEr that the COCO code and most papers print is CIDEr-D",
    "recall-of-several": "{n:query} with several positives: the R@K of papers is HitRate@K",
    "run-size": "{n:query}, {how}",
    "tied-ranks": "{n:query} with a tie that decides the rank of a positive",
    "fewer-candidates": "{n:query} with fewer than {k:candidate}{besides}, counted at @{k}",
    "tied-phi": "{n:query} with a tie of phi that decides {examples!l}: of equal phi, the first in "
    "the gallery belongs to the most similar items",
    "numbered-positives": "positives are taken for rows, counted from 0; if not, set {opt:queries}",
    "transposed": "positives are more similar in the transposed matrix; perhaps transpose it",
    "places-as-scores": "each row of the matrix has different integers, as places in the gallery "
    "that argsort or FAISS returns; they are ranked as similarities, so if they are places, "
    "give lists instead: matrix.tolist(), saved as JSON for the command line",
    "positives-last": "{n} of {total:query} with all positives in the last quarter of the ranking; "
    "if the numbers are distances, change their sign, because higher means nearer",
    "run-as-truth": "the ground truth is a run: every candidate of its {n:query} with a score "
    "above 0 is a positive; give judgements, or swap the sides if their order is wrong",
    "fractional-grades": "{n:query} of the ground truth with fractions as grades: every grade "
    "above 0 is a positive; if they are scores of a run, swap the sides",
    "counts-all": "{measure} without a cutoff counts all candidates; write {measure}@1",
    "run-of-classes": "{n:image}, {how}",
    "tied-classes": "{n:image} with a tie at the first {k}{among}",
    "few-classes": "{n_classes:class}{among}, fewer than {k}: all count at @{k}",
    "fewer-classes": "{n:image} with fewer than {k:ranked class}{among}, counted at @{k}",
    "no-prediction": "{n:image} without a prediction{among}",
    "numbers-as-places": "numbers of classes are taken for places in the class list, from 0",
    "classes-without-images": "{n} of {total:class} without an image, in no mean: {examples!l}",
    "predicted-outside": "{n:prediction} outside the class list: {examples!l}",
    "neither-side": "{n:image} of classes neither seen nor unseen",
    "rest-of-classes": "{side} are all others of the class list: {n:class}",
    "kind-guessed": "{understood}, taken for {kind}; if not, set {opt:task} to {others!l}",
    "unstored-cells": "sparse: {n:,} of {cells:cell} not stored: without a score, which is not a "
    "score of 0, and not ranked",
    "without-annotations": "{n:image} without annotations{became}",
    "format-recipe": "{title} files are not read, because {reason}; convert the file in Python:"
    "{script}",
    "unused-results": "{n:result} of the annotation tool not used as labels: {examples!l}",
    "unannotated-items": "{n:item} without annotations left out of the ground truth",
    "several-annotations": "{n:item} with several annotations, whose labels are taken together",
    "unnamed-categories": "labels are category ids, and {other} has no categories to name them; "
    "give COCO instances as the ground truth, or write the names of the categories",
    "unknown-category": "category_id {value!r} is not in the categories of {other}, whose ids are "
    "{example}; write the ids of those categories, not places in a list",
    "unverified-labels": "{n:predicted label} left out: by neg_category_ids of {other}, nobody "
    "knows whether the images have them (LVIS)",
    "counts-unverified": "{measure} counts q labels of every item, and the ground truth has "
    "neg_category_ids, so that not all of them are verified (LVIS); choose another measure, or "
    "remove neg_category_ids",
    "rejected-captions": "{n:caption} with is_rejected or is_precanned left out, as in the "
    "evaluation code of VizWiz",
    "not-computed": "{heading}: {reason}",
    "pretraining-overlap": "{n} of {total:unseen class} among {known:,} of pretraining{which}",
    "unnumbered-classes": "{n:class} without a number, in no list such as {example}: {examples!l}",
    "numbers-of-no-class": "{n:number} for names that are not classes: {examples!l}",
    # Notes on the data
    "without-tuples": "the {side} of {n:item} have no tuples{examples!e}",
    "differing-classes": "{n:class} in columns or class list only: {names!l}; set {opt:classes}",
    "missing-prediction": "{n:item} without a prediction, {became}",
    # What validate finds odd
    "without-entries": "{n} of {total:item} without {noun}s: {examples!l}{numbered}",
    "repeated-entries": "{n} of {total:item} with a repeated {noun}: {examples!l}{numbered}",
    "padded-texts": "{n:{noun}} with blanks around: {examples!l}",
    "hidden-characters": "{n:{noun}} with invisible characters: {examples!l}",
    "lookalikes": "{n:group} of {noun} differing only by case or white space: {examples!l}",
    "common-labels": "{n:label} in more than 95% of the items: {examples!l}",
    "rare-labels": "{n} of {total:label} in one item alone",
    "outside-0-1": "{n} of {total:score} not between 0 and 1",
    "equal-scores": "all scores are {score:g}",
    "rising-scores": "{n} of {total:item} not listed by falling score, by which they are ranked: "
    "{examples!l}{numbered}",
    "blank-captions": "{captions:empty caption} in {n:item}: {examples!l}{numbered}",
    "shared-captions": "{n:{noun}} in more than one item: {examples!l}",
    "many-ties": "{n:,} of the first {total:,} values occur several times: ties decide ranks",
}
