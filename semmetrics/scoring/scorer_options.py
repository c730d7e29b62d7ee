"""The options of a `Scorer`: which of them need stored items, and how two scorers are compared."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import MethodType
from typing import Any

import numpy as np

from semmetrics.data.read_options import ReadOptions
from semmetrics.embed.open import SHIPPED
from semmetrics.errors import InputError
from semmetrics.options import OPTIONS, is_on
from semmetrics.scoring.intervals import AUTO, POISSON, Bootstrap
from semmetrics.scoring.state_values import Digest

NEUTRAL_OPTIONS = ("progress", "cache")
"""Options that do not affect values."""
FILE_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.file)
"""Options that may be the path to a file."""
_ALL_ITEMS_OPTIONS = tuple(
    name for name, option in OPTIONS.items() if option.batch in ("whole", "kept")
)
"""Options that need stored items."""
_COLLECTIONS_OF_LABELS = (list, tuple, set, frozenset, np.ndarray)
_IDENTIFYING_ATTRIBUTES = ("identity", "hash", "digest", "name")


def check_needs_no_items(options: Mapping[str, Any]) -> None:
    """Raise an error for options that need stored items."""
    needing_items = [name for name in _ALL_ITEMS_OPTIONS if is_on(options.get(name))]
    if options.get("missing") == "common":
        needing_items.append("missing='common'")
    ci = options.get("ci")
    method = options.get("ci_method", AUTO)
    if isinstance(ci, Bootstrap):
        method = ci.method
    if method not in (AUTO, POISSON):
        needing_items.append(f"ci_method={method!r}")
    if needing_items:
        raise InputError(
            "needs-all-items",
            what=", ".join(needing_items),
            reason="needs all items",
            instead=", or leave out the option",
        )


def needs_file(options: Mapping[str, Any]) -> bool:
    """Return whether an option is a path to a file, which another machine may not have."""
    return any(_is_file(name, options.get(name)) for name in FILE_OPTIONS)


def _is_file(name: str, value: Any) -> bool:
    if isinstance(value, str) and name == "embedding":
        return value not in SHIPPED
    return isinstance(value, (str, os.PathLike))


# ---- comparison ---------------------------------------------------------------------------------


def digests_of(options: Mapping[str, Any]) -> dict[str, str]:
    """Return a hash of the value of each option that is not the default."""
    digests = {}
    for name, value in options.items():
        if name == "ignore" and isinstance(value, _COLLECTIONS_OF_LABELS):
            value = sorted(map(str, value))  # their order does not matter
        digest = digest_of(value)
        if digest != digest_of(OPTIONS[name].default):
            digests[name] = digest
    return digests


def differing_names(
    options: Mapping[str, Any], others: Mapping[str, Any], ignored: Iterable[str]
) -> list[str]:
    """Return the names of options that differ, except the ignored ones."""
    ignored = set(ignored)
    names = []
    for name in dict.fromkeys((*options, *others)):
        if name not in ignored and options.get(name) != others.get(name):
            names.append(name)
    return names


def digest_of(value: Any) -> str:
    """Return a hash of an option's value, which is equal for values that mean the same.

    Examples
    --------
    >>> digest_of(["cat"]) == digest_of(("cat",)), digest_of(["cat"]) == digest_of(["dog"])
    (True, False)
    """
    if isinstance(value, Digest):
        return str(value)
    key = repr(_stable_key(value)).encode()
    return hashlib.blake2b(key, digest_size=8).hexdigest()


def _stable_key(value: Any) -> Any:
    """Return a key of an option's value, which does not change if the value is pickled."""
    if isinstance(value, ReadOptions):
        # Only defaults are the same as no options.
        value = _changed_fields(value) or None
    if isinstance(value, Mapping):
        return {str(key): _stable_key(element) for key, element in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_stable_key(element) for element in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, MethodType):
        return _stable_key(value.__func__), _stable_key(value.__self__)
    return _stable_key_of_object(value)


def _changed_fields(options: ReadOptions) -> dict[str, Any]:
    """Return the options of reading that differ from the defaults, by name."""
    changed = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if value != field.default:
            changed[field.name] = value
    return changed


def _stable_key_of_object(value: Any) -> Any:
    """Return a key of a value that is not a container: its identity or its pickled bytes."""
    type_name = type(value).__name__
    for attribute in _IDENTIFYING_ATTRIBUTES:
        text = getattr(value, attribute, None)
        if isinstance(text, str):
            return type_name, text
    try:
        return type_name, pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError):
        # The value cannot leave this process.
        return id(value)
