"""The registered measures, by kind of data and name.

Conventions
-----------
A definition is identified by its kind of data and its name, so two kinds may use the same
name. `measure_table` names the module that defines each measure. That module is imported
when the name is first used. Users can register further definitions.
"""

from __future__ import annotations

import copyreg
import importlib
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import ParamSpec

from semmetrics.errors import InputError
from semmetrics.messages import ask_which, did_you_mean, fold
from semmetrics.metrics.definition import Definition
from semmetrics.metrics.hints import AVERAGES_ELSEWHERE, HINTS, NAMES_ELSEWHERE
from semmetrics.metrics.measure_table import KINDS_OF_MEASURES, ROWS, MeasureKey
from semmetrics.options import OPTIONS

P = ParamSpec("P")

_DEFINITIONS: dict[MeasureKey, Definition] = {}
_ALIASES: dict[MeasureKey, str] = {}
"""The measure of each alias as a string, such as "F1(average=macro)"."""
_VALID_NAME = re.compile(r"[^\s(),=@|]+")
_OTHER_SIGNATURE_KEYS = (
    "L",
    "ci",
    "data",
    "emb",
    "fit",
    "groups",
    "k",
    "lists",
    "matrix",
    "n",
    "own",
    "task",
    "v",
)
_RESERVED_KEYS = {option.key for option in OPTIONS.values()}.union(
    _OTHER_SIGNATURE_KEYS
)
"""Names that an option of a measure must not have, because signatures use them as keys."""


# ---- registering --------------------------------------------------------------------------------


def add(definition: Definition) -> Definition:
    """Register a definition with its aliases, and return it.

    A user's own definition replaces an earlier one of the same name.

    Raises
    ------
    InputError
        If a name is already registered or cannot be parsed, or two options share a name.
    """
    for name in (definition.name, *definition.aliases):
        _check_name(definition, name)
    _check_option_names(definition)
    key = definition.kind, definition.name
    if key in _DEFINITIONS:
        forget(_DEFINITIONS[key])
    if is_own(definition):
        # Read the source now. The file may change later.
        own_identity(definition)
    _DEFINITIONS[key] = definition
    for alias, measure in definition.aliases.items():
        _ALIASES[definition.kind, alias] = measure
    return definition


def _check_name(definition: Definition, name: str) -> None:
    """Raise an error if a name or an alias of a definition cannot be registered."""
    key = definition.kind, name
    if _load(*key) and not _is_own_earlier_name(definition, name):
        raise InputError("name-taken", name=name)
    if not _VALID_NAME.fullmatch(name) and key not in ROWS:
        wanted = "a name without spaces and (),=@|"
        raise InputError("bad-option", name="name", value=name, wanted=wanted)


def _is_own_earlier_name(definition: Definition, name: str) -> bool:
    """Return whether a registered name belongs to a user's definition that this one replaces."""
    key = definition.kind, name
    registered_name = name
    if key not in _DEFINITIONS:
        registered_name, _ = _split_alias(_ALIASES[key])
    comes_with_package = key in ROWS or (definition.kind, registered_name) in ROWS
    return registered_name == definition.name and not comes_with_package


def _check_option_names(definition: Definition) -> None:
    """Raise an error if two options share a name, or one has a reserved name."""
    names = Counter(option.name for option in definition.options)
    short_names = Counter(option.short for option in definition.options)
    wrong = set()
    for counter in (names, short_names):
        for name, n_options in counter.items():
            if name in _RESERVED_KEYS or n_options > 1:
                wrong.add(name)
    if wrong:
        values = {"measure": definition.name, "names": sorted(wrong)}
        raise InputError("reserved-option", **values)


def _registering(make: Callable[P, Definition]) -> Callable[P, Definition]:
    """Return a function that also registers the definition, with the same parameters."""

    def make_and_add(*args: P.args, **traits: P.kwargs) -> Definition:
        return add(make(*args, **traits))

    return make_and_add


define = _registering(Definition)
"""Make a definition and register it. It has the parameters of `Definition`."""


def forget(definition: Definition) -> None:
    """Remove a registered definition of your own, with its aliases.

    Raises
    ------
    InputError
        If it comes with semmetrics.
    """
    key = definition.kind, definition.name
    if key in ROWS:
        raise InputError("name-taken", name=definition.name)
    for alias_key, text in list(_ALIASES.items()):
        name, _ = _split_alias(text)
        if alias_key[0] == definition.kind and name == definition.name:
            del _ALIASES[alias_key]
    _DEFINITIONS.pop(key, None)


def _load(kind: str, name: str) -> bool:
    """Import the module that registers a name, and return whether the name is registered.

    While that module itself is being imported, its names are not registered yet.
    """
    key = kind, name
    if key in ROWS:
        importlib.import_module(f"semmetrics.metrics.{ROWS[key].module}")
    return key in _DEFINITIONS or key in _ALIASES


# ---- finding ------------------------------------------------------------------------------------


def find(name: str, kind: str | None = None) -> tuple[Definition, dict[str, str]]:
    """Find a definition by name, with the options that an alias fixes.

    Parameters
    ----------
    name : str
    kind : str, optional
        Without it, the first kind of the table that has the name.

    Raises
    ------
    InputError
        If there is none. The message has the nearest names.
    """
    name = correct_name(name)
    kinds = kinds_of(name)
    if not kinds or kind not in (None, *kinds):
        raise _unknown_name(name, kind, kinds)
    if kind is None:
        kind = kinds[0]
    _load(kind, name)
    definition_name, options = _split_alias(_ALIASES.get((kind, name), name))
    return _DEFINITIONS[kind, definition_name], options


def fixed_options(name: str, kind: str) -> dict[str, str]:
    """Return the options that an alias fixes, or nothing if the name is not an alias."""
    _, options = _split_alias(_ALIASES.get((kind, name), ""))
    return options


def _split_alias(text: str) -> tuple[str, dict[str, str]]:
    """Split the text of an alias into the name of its measure and the options that it fixes."""
    name, _, inside = text.partition("(")
    options = {}
    for part in inside.removesuffix(")").split(","):
        option, _, value = part.partition("=")
        if option:
            options[option] = value
    return name, options


def kinds_of(name: str) -> tuple[str, ...]:
    """Return the kinds that have a measure or alias of this name, in the order of the table.

    Examples
    --------
    >>> kinds_of("F1"), kinds_of("CIDEr"), kinds_of("F2")
    (('labels',), ('captions',), ())
    """
    kinds = []
    kinds_of_users = [kind for kind, _ in _DEFINITIONS]
    for kind in dict.fromkeys([*KINDS_OF_MEASURES, *kinds_of_users]):
        key = kind, name
        if key in ROWS or key in _DEFINITIONS or key in _ALIASES:
            kinds.append(kind)
    return tuple(kinds)


def all_definitions(kind: str | None = None) -> list[Definition]:
    """Return all definitions (of one kind): those of the table in its order, then the users' own."""
    keys = []
    for key in dict.fromkeys([*ROWS, *_DEFINITIONS]):
        if kind in (None, key[0]):
            _load(*key)
            keys.append(key)
    return [_DEFINITIONS[key] for key in keys if key in _DEFINITIONS]


def aliases(kind: str | None = None) -> dict[str, str]:
    """Return the measure of every alias (of one kind).

    If several kinds have the same alias, the first kind wins, as in `find`.
    """
    all_definitions(kind)
    measure_by_alias: dict[str, str] = {}
    for key in dict.fromkeys([*ROWS, *_ALIASES]):
        kind_of_alias, alias = key
        if kind in (None, kind_of_alias) and key in _ALIASES:
            measure_by_alias.setdefault(alias, _ALIASES[key])
    return measure_by_alias


def registered(kind: str, name: str) -> Definition:
    """Return a registered definition. Unpickling and copying a definition call this.

    Raises
    ------
    InputError
        If the definition is not registered.
    """
    _load(kind, name)
    if (kind, name) not in _DEFINITIONS:
        raise InputError("not-registered", name=name)
    return _DEFINITIONS[kind, name]


def _reduce_definition(
    definition: Definition,
) -> tuple[Callable[..., Definition], tuple[str, str]]:
    """Pickle a definition by its kind and its name."""
    return registered, (definition.kind, definition.name)


copyreg.pickle(Definition, _reduce_definition)


def group_of(definition: Definition) -> str:
    """Return the heading under which lists show a definition.

    Examples
    --------
    >>> group_of(find("F1")[0]), group_of(find("LRAP")[0])
    ('Sets of labels', 'Rankings of labels')
    """
    key = definition.kind, definition.name
    if key not in ROWS:
        return "Other measures"
    return ROWS[key].group


def is_own(definition: Definition) -> bool:
    """Return whether a definition is a user's own, and does not come with semmetrics.

    Examples
    --------
    >>> is_own(find("F1")[0])
    False
    """
    return (definition.kind, definition.name) not in ROWS


@cache
def own_identity(definition: Definition) -> str:
    """Return a hash of the source of a user's own definition, for signatures.

    Returns
    -------
    str
        Twelve hex digits of a SHA-256, or "unknown" if the source cannot be read.
    """
    import hashlib
    import inspect

    formula = definition.formula or type(definition.family)
    try:
        source = inspect.getsource(inspect.unwrap(formula))
    except (OSError, TypeError):
        return "unknown"
    return hashlib.sha256(inspect.cleandoc(source).encode()).hexdigest()[:12]


# ---- spelling -----------------------------------------------------------------------------------


def correct_name(text: str, kind: str | None = None) -> str:
    """Return a measure, given as text, with the registered spelling of its name.

    Case, hyphens, underscores and spaces of a name do not matter if it matches only one
    registered name.
    """
    name = name_before_options(text)
    if kinds_of(name) or name in HINTS:
        return text
    # scikit-learn writes f1_macro for MacroF1
    words_reversed = "".join(reversed(name.split("_")))
    alike = names_alike(name, kind) or names_alike(words_reversed, kind)
    if len(alike) != 1:
        return text
    return text.replace(name, alike[0], 1)


def name_before_options(text: str) -> str:
    """Return the name in a measure given as text, without its options and its cutoff."""
    return re.split("[(@]", text, maxsplit=1)[0].strip()


def names_alike(name: str, kind: str | None = None) -> list[str]:
    """Return the registered name (of a kind) that equals a name, or else all that are like it.

    Names are alike if they differ only in case, hyphens, underscores and spaces.
    """
    registered_names = _registered_names(kind)
    if name in registered_names:
        return [name]
    folded = fold(name)
    alike = [other for other in registered_names if fold(other) == folded]
    return list(dict.fromkeys(alike))


def _registered_names(kind: str | None) -> list[str]:
    """Return all names and aliases that are registered (for a kind)."""
    keys = [*ROWS, *_DEFINITIONS, *_ALIASES]
    return [name for kind_of_name, name in keys if kind in (None, kind_of_name)]


def names_like(text: str) -> tuple[list[str], bool]:
    """Return the names of measures at the beginning of a text.

    Returns
    -------
    names : list of str
    is_exact : bool
        Whether the text contains the name with the registered spelling.

    Examples
    --------
    >>> names_like("C-F1"), names_like("cf1@3"), names_like("mAP@R"), names_like("Mean")
    ((['C-F1'], True), (['CF1', 'C-F1'], False), (['mAP@R'], True), ([], False))
    """
    name = name_before_options(text)
    names = names_alike(text) or names_alike(name)
    return names, names in ([text], [name])


def _unknown_name(name: str, kind: str | None, kinds: tuple[str, ...]) -> InputError:
    """Return the error for a name that is not registered (for a kind)."""
    what = f"measure of {kind}" if kinds else "measure"
    remedy = HINTS.get(name, HINTS.get(name.upper(), ""))
    if not remedy and kinds:
        kinds_with_name = " and ".join(kinds)
        remedy = f"it is a measure of {kinds_with_name}. Set the task, or leave it out"
    if not remedy:
        remedy = _hint_elsewhere(name) or _nearest_names(name, kind)
    return InputError("unknown-name", what=what, value=name, remedy=remedy)


def _hint_elsewhere(name: str) -> str:
    """Return what to write for a name of another library, or "" for an unknown name."""
    if fold(name) in NAMES_ELSEWHERE:
        return NAMES_ELSEWHERE[fold(name)]
    words = name.split("_")
    for average, own_average in AVERAGES_ELSEWHERE.items():
        if average not in (words[0], words[-1]):
            continue
        other_words = words[:-1]
        if words[0] == average:
            other_words = words[1:]
        measure_names = names_alike("".join(other_words).removesuffix("score"))
        if measure_names and own_average:
            return f"write {measure_names[0]}(average={own_average})"
        if measure_names:
            return f"write {measure_names[0]}, whose default is the mean over items"
    return ""


def _nearest_names(name: str, kind: str | None) -> str:
    """Return a question for the names that are nearest to an unknown one."""
    alike = names_alike(name, kind)
    if alike:  # There are several, because a single one would have been used.
        return ask_which(alike)
    names = _registered_names(kind)
    nearest = did_you_mean(name, names, "`semmetrics list` shows all measures")
    # A registered name with a cutoff or "score" after it is a better guess.
    folded = fold(name)
    longest_first = sorted(names, key=len, reverse=True)
    for registered_name in longest_first:
        rest = folded.removeprefix(fold(registered_name))
        if len(registered_name) == 1 or rest == folded:
            continue
        if re.fullmatch(r"at\d+", rest):  # such as recall_at_5
            return f"did you mean {registered_name}@{rest.removeprefix('at')}?"
        if re.fullmatch(r"(score)?\d*", rest):  # such as f1score
            if registered_name in nearest:
                return nearest
            return f"did you mean {registered_name}?"
    return nearest
