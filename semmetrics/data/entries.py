"""Parse one entry of an item: a string, synonyms, a pair with a score, or an object."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.form import SCORE_NAMES, Form
from semmetrics.data.lists import Entry, as_entry
from semmetrics.errors import InputError
from semmetrics.schema import as_real

_LABEL_KEYS = ("label", "name", "class", "category", "tag", "description")
_SCORE_KEYS = (*SCORE_NAMES, "similarity", "logit")
_NO_SCORE = ...
"""The score of an entry without one. None cannot mean this, because it is an error in a pair."""
_FRACTION = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*$")
"""A string in a pair that is a score in quotes. Any other string is a synonym."""
_SEPARATORS = re.compile(r"\s*[,;|]\s*")
_MAX_SHOWN_CHARACTERS = 60
_EXAMPLES = {
    "label": '["cat", "dog"]',
    "caption": '["a dog runs", "a brown dog"]',
    "candidate": '["image-7", "image-2"]',
}
"""An example list for each noun, for messages."""


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer of Python or NumPy, and not a boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def name_integers(entry: Any) -> Any:
    """Convert the integer label of an entry to a string. Its score, if any, does not change.

    Examples
    --------
    >>> name_integers(3), name_integers([3, 0.5]), name_integers("cat")
    ('3', ('3', 0.5), 'cat')
    """
    if is_integer(entry):
        return str(entry)
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        return entry
    label, score = entry
    if isinstance(label, str):
        return entry
    return (name_integers(label), score)


def parse_entry(value: Any, form: Form) -> tuple[Entry, Any]:
    """Return an entry and its score.

    Parameters
    ----------
    value : object
        A string, or a caption as an object of pycocoevalcap. If ``form.scored``: also a list of
        synonyms, a pair ``(label, score)``, or an object with a label and perhaps a score.
    form : Form
        The kind of entries.

    Returns
    -------
    str or tuple of str
    object
        The score as in the input, after checking that it is a number. None without a score.

    Raises
    ------
    InputError
        If the value is not an entry, or its score is not a finite number.
    """
    # str() converts instances of subclasses, such as NumPy's, to plain strings.
    if isinstance(value, str):
        return str(value), None
    if _is_caption_object(value, form):
        return str(value[form.noun]), None
    if not form.scored:
        raise _not_an_entry(value, form)
    label, score = _split_score(value, form)
    if _are_strings(label):
        terms = tuple(map(str, label))
        label = as_entry(terms)
    elif is_integer(label):
        raise InputError("number-as-label", value=label)
    elif not isinstance(label, str):
        raise _not_an_entry(label, form)
    if score is _NO_SCORE:
        return label, None
    # Raise if the score is not a number.
    as_score(score, form)
    return label, score


def as_score(score: Any, form: Form) -> float:
    """Return a score as a number, which may be NaN if the form allows it.

    If ``form.allows_grades``, booleans are the scores 1 and 0.

    Raises
    ------
    InputError
        If it is not a number, or not finite.
    """
    if form.allows_nan and isinstance(score, float) and math.isnan(score):
        return math.nan
    if form.allows_grades and isinstance(score, bool | np.bool_):
        return float(score)
    return as_real(score, "the score")


def object_keys(value: Mapping[Any, Any]) -> tuple[str | None, str | None]:
    """Return the keys of the label and the score in a label object, whatever their case.

    Examples
    --------
    >>> object_keys({"Name": "cat", "Confidence": 0.9, "Parents": []})
    ('Name', 'Confidence')
    """
    key_by_name: dict[str, Any] = {}
    for key in value:
        key_by_name.setdefault(str(key).casefold(), key)
    label_key = _first_key(key_by_name, _LABEL_KEYS)
    score_key = _first_key(key_by_name, _SCORE_KEYS)
    return label_key, score_key


def _first_key(key_by_name: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the key of the first name that an object has, or None."""
    for name in names:
        if name in key_by_name:
            return key_by_name[name]
    return None


def _is_caption_object(value: Any, form: Form) -> bool:
    """Return whether a value is an object of pycocoevalcap, such as ``{"caption": "a dog"}``."""
    if form.noun != "caption" or not isinstance(value, Mapping):
        return False
    return isinstance(value.get(form.noun), str)


def _split_score(value: Any, form: Form) -> tuple[Any, Any]:
    """Return the label and the score of an object or a pair, or ``_NO_SCORE`` as the score."""
    if isinstance(value, Mapping):
        return _split_object(value, form)
    if isinstance(value, (list, tuple)) and len(value) == 2:
        label, score = value
        if not isinstance(score, str) or _FRACTION.match(score):
            return label, score
    return value, _NO_SCORE


def _split_object(value: Mapping[Any, Any], form: Form) -> tuple[Any, Any]:
    """Return the label and the score of an object, or ``_NO_SCORE`` as the score."""
    label_key, score_key = object_keys(value)
    if label_key is None:
        wanted = f'a {form.noun} such as {{"label": "cat", "score": 0.9}}'
        raise InputError("wrong-type", value=value, wanted=wanted)
    label = value[label_key]
    if score_key is None or value[score_key] is None:
        return label, _NO_SCORE
    return label, value[score_key]


def _are_strings(value: Any) -> bool:
    """Return whether a value is a list or tuple of strings that is not empty."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(text, str) for text in value)


def _not_an_entry(value: Any, form: Form) -> InputError:
    """Return the error for a value that is not a label, caption or candidate."""
    is_list = isinstance(value, (list, tuple))
    if not form.scored:
        wanted = f"a {form.noun}"
        if is_list and all(isinstance(part, str) for part in value):
            wanted += ". If these are its tokens, join them with spaces"
        return InputError("wrong-type", value=value, wanted=wanted)
    if value is None or (is_list and not value):
        return InputError("no-entry", value=value, noun=form.noun)
    wanted = (
        f'a {form.noun} such as "cat", ["cat", 0.9], or the synonyms ["cat", "kitty"]'
    )
    return InputError("wrong-type", value=value, wanted=wanted)


def not_a_list(item: Any, form: Form, where: str = "") -> InputError:
    """Return the error for a value that is not a list of entries, as an item must be."""
    if is_integer(item) and form.scored:
        return _number_as_list(item, form, where)
    if isinstance(item, str) and not form.single:
        example = _example_from_text(item, form)
        return InputError(
            "text-as-list", where, value=item, noun=form.noun, example=example
        )
    return InputError("wrong-type", where, value=item, wanted=_wanted_list(item, form))


def _wanted_list(item: Any, form: Form) -> str:
    """Describe the list that an item should be instead of this value, for a message."""
    wanted = f"a list of {form.noun}s"
    if form.single:
        # An item may also be a single string, unless other items are lists.
        if isinstance(item, str):
            return f"{wanted}, as other items have"
        return f"{wanted} or a {form.noun}"
    example = _EXAMPLES.get(form.noun, "a list")
    if item is None:
        return f"{wanted} such as {example}, or [] for an item without {form.noun}s"
    return f"{wanted} such as {example}"


def _number_as_list(number: Any, form: Form, where: str) -> InputError:
    """Return the error for an integer in place of a list."""
    # If labels must not be integers, report that first.
    if not form.integers_as_names:
        return InputError("number-as-label", where, value=number)
    example = f'[[{number}], ...], or {{"id": [{number}], ...}}'
    return InputError(
        "number-as-list", where, value=number, noun=form.noun, example=example
    )


def _example_from_text(text: str, form: Form) -> str:
    """Return a string as the list that it probably means, or a general example if it is long."""
    parts = [part for part in _SEPARATORS.split(text.strip()) if part]
    if len(parts) < 2:
        parts = [text]
    example = json.dumps(parts, ensure_ascii=False)
    if len(example) > _MAX_SHOWN_CHARACTERS:
        return _EXAMPLES.get(form.noun, "a list")
    return example
