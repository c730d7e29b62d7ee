"""The grammar of measures: ``name(option=value,...)@k`` names one, ``@1,3,5`` names three.

``parse(str(measure)) == [measure]``. Aliases such as ``MacroF1`` need no quotes in a shell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.measure_options import is_cutoff
from semmetrics.metrics.measure_table import KINDS_OF_MEASURES, ROWS
from semmetrics.metrics.registry import correct_name, find, fixed_options, kinds_of

MeasureLike: TypeAlias = str | Measure | Definition
"""What may name a measure."""

_MAX_CUTOFF_DIGITS = 99  # Python does not read integers of thousands of digits
_NAMES_WITH_CUTOFF_SIGN = "".join(
    f"{re.escape(name)}(?![^\\s(@])|" for _, name in ROWS if "@" in name
)
_FORM = re.compile(
    rf"\s*(?P<name>{_NAMES_WITH_CUTOFF_SIGN}[^(@\s]+)"
    r"\s*(?:\((?P<options>.*)\))?\s*(?:@(?P<k>.*))?",
    re.DOTALL,
)
_THRESHOLD_AS_CUTOFF = re.compile(r"[\[(]?0?\.\d.*")
"""A fraction or a range of fractions in place of a cutoff, such as 0.5 and [.5:.95]."""


def parse(text: str, kind: str | None = None) -> list[Measure]:
    """Parse a string that names a measure, at one cutoff or several.

    Parameters
    ----------
    text : str
    kind : str, optional
        The kind of data. Without it, the first kind that has the name with those options.

    Raises
    ------
    InputError
        If the name is unknown (the message has the nearest valid names), or an option is wrong.

    Examples
    --------
    >>> [str(m) for m in parse("F1(average=macro)@1,3")]
    ['F1(average=macro)@1', 'F1(average=macro)@3']
    >>> parse("MacroF1") == parse("F1(average=macro)")
    True
    """
    text = correct_name(text)
    form = _FORM.fullmatch(text)
    refuse_commas(text, kind)
    if form is None:
        raise InputError("not-a-measure", text=text)
    kinds: Iterable[str | None] = [kind]
    if kind is None:
        kinds = kinds_of(form["name"]) or [None]
    errors = []
    for kind_to_try in kinds:
        try:
            return _parse_form(text, form, kind_to_try)
        except InputError as error:
            errors.append(error)
    raise errors[0]


def _parse_form(text: str, form: re.Match[str], kind: str | None) -> list[Measure]:
    """Parse a string that has the form of a measure, as a measure of a kind."""
    definition, fixed = find(form["name"], kind)
    options = _parse_options(text, form["options"] or "")
    for name, value in fixed.items():
        if options.get(name, value) != value:
            values = {
                "alias": form["name"],
                "fixed": f"{name}={value}",
                "given": options[name],
            }
            raise InputError("fixed-option", name=definition.name, **values)
    ks: list[int | None] = [None]
    if form["k"] is not None:
        _check_not_a_threshold(definition, form["k"])
        ks = list(cutoffs(form["k"]))
    try:
        return [definition(k=k, **{**fixed, **options}) for k in ks]
    except InputError as error:
        raise error.placed(error.where or text) from None


def _check_not_a_threshold(definition: Definition, cutoff: str) -> None:
    """Raise an error for a threshold in place of a cutoff, as in mAP@0.5 of detection."""
    if _THRESHOLD_AS_CUTOFF.fullmatch(cutoff.strip()) is None:
        return
    name = definition.name
    wanted = f"a number of predictions, such as {name}@10"
    if any(option.name == "decode" for option in definition.options):
        wanted += f". For a threshold of scores, write {name}(decode=threshold:0.5)"
    elif definition.kind == "labels":
        wanted += (
            ". Thresholds of IoU belong to object detection, which semmetrics does not "
            f"evaluate. For labels of whole images, write {name}"
        )
    raise InputError("out-of-range", role="the cutoff", value=cutoff, wanted=wanted)


def _parse_options(text: str, inside: str) -> dict[str, str]:
    """Parse the options inside the parentheses of a measure."""
    options: dict[str, str] = {}
    for part in split_outside(inside):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not name or not value or name == "k":  # a cutoff is written @k
            raise InputError("not-a-measure", text=text)
        if name in options:
            raise InputError("duplicate", text, role="the option", value=name)
        options[name] = value
    return options


def refuse_commas(
    text: str, kind: str | None = None, also: Container[str] = ()
) -> None:
    """Raise an error for measures that are separated by commas.

    In cutoffs and options commas have a meaning.

    Parameters
    ----------
    text : str
    kind : str, optional
    also : container of str
        Other names that may be among the measures, such as names of protocols.

    Raises
    ------
    InputError
        The message has the same names, separated by spaces.
    """
    bare = text.strip(" ,")
    if bare != text.strip() and _begins_with_name(bare, also):
        raise InputError("comma-separated", text=text, wanted=bare)
    parts = [part.strip() for part in split_outside(text)]
    names = [part for part in parts[1:] if _begins_with_name(part, also)]
    if not names:
        return
    if kind and not any(kind in _kinds_of_text(name) for name in names):
        return
    wanted = _separate_by_spaces(parts, names)
    raise InputError("comma-separated", text=text, wanted=wanted)


def _separate_by_spaces(parts: Sequence[str], names: Container[str]) -> str:
    """Return parts with spaces before names, and commas before all others."""
    text: str = parts[0]
    for part in parts[1:]:
        separator = " " if part in names else ","
        text += separator + part
    return text


def _begins_with_name(text: str, also: Container[str]) -> bool:
    """Return whether a string begins with a measure, or is one of the other names."""
    return bool(_kinds_of_text(text)) or text in also


def _kinds_of_text(text: str) -> tuple[str, ...]:
    """Return the kinds that have the measure at the beginning of a string."""
    form = _FORM.match(correct_name(text))
    if form is None:
        return ()
    return kinds_of(form["name"])


def parse_in_any_case(text: str) -> list[Measure]:
    """Parse a string that may be a measure, ignoring case, for all kinds that have it.

    Examples
    --------
    >>> parse_in_any_case("macrof1"), parse_in_any_case("error of F1")
    ([Measure('F1(average=macro)')], [])
    """
    measures: list[Measure] = []
    for kind in KINDS_OF_MEASURES:
        with suppress(InputError):
            measures += parse(correct_name(text, kind), kind)
    return measures


def split_outside(text: str, sign: str = ",") -> list[str]:
    """Split a string at a sign outside parentheses. Empty parts are left out.

    Examples
    --------
    >>> split_outside("embedding=a(b,c),match=greedy")
    ['embedding=a(b,c)', 'match=greedy']
    """
    parts = []
    depth = 0
    start = 0
    for position, letter in enumerate(text):
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        if letter == sign and depth <= 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part for part in parts if part.strip()]


def cutoffs(text: str) -> list[int]:
    """Parse cutoffs such as "1,3,5".

    Examples
    --------
    >>> cutoffs("1,3,5")
    [1, 3, 5]
    """
    ks = []
    for part in text.split(","):
        digits = part.strip()
        is_number = digits.isdecimal() and len(digits) <= _MAX_CUTOFF_DIGITS
        if not is_number or not is_cutoff(int(digits)):
            wanted = "positive integers below 2**53, such as 1,3,5"
            raise InputError(
                "out-of-range", role="the cutoff", value=text, wanted=wanted
            )
        ks.append(int(digits))
    return ks


# ---- several measures ---------------------------------------------------------------------------


def parse_all(
    texts: Iterable[MeasureLike],
    kind: str | None = None,
    *,
    first: str | None = None,
) -> list[Measure]:
    """Parse many measures, and report all errors together.

    A string may name several measures, separated by spaces.

    Parameters
    ----------
    texts : iterable of str, Measure or Definition
    kind : str, optional
        The kind of data. Measures of other kinds raise an error.
    first : str, optional
        The kind to use if several kinds have a measure of the same name.

    Raises
    ------
    InputError
        One line for each string that is wrong.

    Examples
    --------
    >>> [m.definition.kind for m in parse_all(["Recall@5 F1"], first="retrieval")]
    ['retrieval', 'labels']
    """
    words = _split_all(texts, kind or first)
    measures: list[Measure] = []
    errors = []
    for word in words:
        try:
            measures += _parse_word(word, kind, first)
        except InputError as error:
            errors.append(error)
    raise_all(errors)
    repeated = [str(measure) for measure, n in Counter(measures).items() if n > 1]
    if repeated:
        raise InputError("duplicate-measures", names=repeated)
    return measures


def _parse_word(
    word: MeasureLike, kind: str | None, first: str | None
) -> list[Measure]:
    """Parse a measure, at one cutoff or several, and store how the user wrote it."""
    if isinstance(word, Measure):
        return [word]
    if isinstance(word, Definition):
        return [word()]
    if first is not None and first in _kinds_of_text(word):
        kind = first
    without_cutoffs = word.rpartition("@")[0].strip()
    measures = []
    for measure in parse(word, kind):
        asked = word.strip()
        if measure.k is not None:
            asked = f"{without_cutoffs}@{measure.k}"
        measures.append(replace(measure, asked=(asked,)))
    return measures


def parse_by_kind(texts: Iterable[MeasureLike]) -> dict[str, list[Measure]]:
    """Parse measures for each kind that has all of them, with their options.

    Examples
    --------
    >>> parse_by_kind(["Recall@5"])
    {'labels': [Measure('Recall@5')], 'retrieval': [Measure('Recall@5')]}
    >>> list(parse_by_kind(["HitRate@1 Recall@5"])), list(parse_by_kind(["F1 CIDEr"]))
    (['retrieval'], [])
    >>> list(parse_by_kind(["BagSim(references=mean)"]))
    ['captions']
    """
    words = _split_all(texts, None)
    if not words:
        return {}
    kinds = _kinds_of_word(words[0])
    for word in words[1:]:
        kinds_of_word = _kinds_of_word(word)
        kinds = [kind for kind in kinds if kind in kinds_of_word]
    measures_by_kind = {}
    for kind in kinds:
        with suppress(InputError):
            measures_by_kind[kind] = parse_all(words, kind, first=kind)
    return measures_by_kind


def kinds_of_all(texts: Iterable[MeasureLike]) -> list[str]:
    """Return the kinds that have all of these measures, with their options."""
    return list(parse_by_kind(texts))


def _kinds_of_word(word: MeasureLike) -> list[str]:
    """Return the kinds that have a measure of this name."""
    if isinstance(word, Measure):
        return [word.definition.kind]
    if isinstance(word, Definition):
        return [word.kind]
    return list(_kinds_of_text(word))


def listed(measures: Any) -> list[MeasureLike]:
    """Return one measure, or several, as a list."""
    if isinstance(measures, (str, Measure, Definition)):
        return [measures]
    several = [measures] if callable(measures) else list(measures)
    for measure in several:
        if not isinstance(measure, (str, Measure, Definition)):
            if callable(measure):
                name = getattr(measure, "__name__", measure)
                raise InputError("function-as-measure", name=name)
            wanted = 'a measure such as "F1"'
            raise InputError("wrong-type", "measures", value=measure, wanted=wanted)
    return several


def split_names(text: str, kind: str | None = None) -> list[str]:
    """Split a string that names several measures at its spaces.

    A string that is a single measure, written with spaces, is not split.

    Examples
    --------
    >>> split_names("F1 Recall@5"), split_names("F1 (average=macro)")
    (['F1', 'Recall@5'], ['F1 (average=macro)'])
    """
    words = split_outside(" ".join(text.split()), " ")
    if len(words) < 2 or _is_measure(text, kind):
        return [text]
    bare_words = [word.strip(",") for word in words]
    if bare_words != words and all(map(_kinds_of_text, bare_words)):
        raise InputError("comma-separated", text=text, wanted=" ".join(bare_words))
    return words


def _split_all(texts: Iterable[MeasureLike], kind: str | None) -> list[MeasureLike]:
    """Split all strings that name several measures."""
    words: list[MeasureLike] = []
    for text in texts:
        if isinstance(text, str):
            words += split_names(text, kind)
        else:
            words.append(text)
    return words


def _is_measure(text: str, kind: str | None) -> bool:
    """Return whether a string is parsed as one measure, at one cutoff or several."""
    try:
        parse(text, kind)
    except InputError:
        return False
    return True


def parse_one(measure: MeasureLike, what: str) -> Measure:
    """Parse exactly one measure.

    Parameters
    ----------
    measure : str, Measure or Definition
    what : str
        The use of the measure, for the error.

    Raises
    ------
    InputError
        If there are several measures, or the measure is wrong.
    """
    measures = parse_all([measure])
    if len(measures) != 1:
        number = pluralize(len(measures), "measure")
        raise InputError("wrong-count", "measure", found=number, wanted=what)
    return measures[0]


def name_as_asked(measure: Measure) -> str:
    """Write a measure with the alias that the user wrote, if the alias still fits its options.

    Examples
    --------
    >>> name_as_asked(parse_all(["macrof1(absent=0)@3"])[0]), name_as_asked(parse("MacroF1")[0])
    ('MacroF1(absent=0)@3', 'F1(average=macro)')
    """
    definition = measure.definition
    for asked in measure.asked:
        name = re.split("[(@]", correct_name(asked, definition.kind))[0].strip()
        fixed: dict[str, Any] = fixed_options(name, definition.kind)
        if not fixed:
            continue
        alias = definition(**fixed)
        if all(alias[option] == measure[option] for option in fixed):
            return measure.under(name, fixed)
    return str(measure)


def raise_all(errors: list[InputError]) -> None:
    """Raise the only error, or one that lists several. Do nothing if there are no errors."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        lines = "".join(f"\n  {error}" for error in errors)
        raise InputError("wrong-measures", n=len(errors), listed=lines)
