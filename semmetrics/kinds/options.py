"""The options of a score: set by the user, fixed by a protocol, or the default."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from semmetrics.data.join import Weights
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.errors import InputError
from semmetrics.options import (
    OPTIONS,
    clean_rule,
    decoding_rules,
    is_on,
    is_set,
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ResolvedOptions:
    """The immutable value of every option of `semmetrics.options`.

    An option that the user does not set has its default. If an option is a path, its value is the
    path until `Kind.read_side_inputs` replaces it by the content of the file.

    Attributes
    ----------
    set_by_user : frozenset of str
        The options that the user set.
    opened : dict
        A cache of objects that were opened for the options, such as embeddings.
    """

    # Measures and decoding
    measures: Any
    protocol: str | None
    top_k: Any
    decode: Any
    headings: Mapping[str, str] | None
    threshold: Any
    keep_at_least: int
    activation: str | None
    set_size_probs: Any
    first_set_size: int

    # Data
    task: str | None
    normalize: str
    missing: str
    ids: str | None
    empty_predictions: str
    classes: Any
    unknown_value: str | float | None
    scores: str | None
    ignore: Any
    weights: Weights | None

    # Embeddings
    embedding: Any
    lookup: str
    oov: str | None
    device: str | None
    max_words: int | None
    cache: Any
    calibration: Any
    taxonomy: Any

    # Captions
    tokenizer: Any
    doc_freq: Any
    tuples: Any
    score_references: bool

    # Retrieval
    queries: Any
    gallery: Any
    queries_embeddings: Any
    gallery_embeddings: Any
    phi: Any
    captions: Any
    similarity: str
    direction: str
    reverse_positives: Any
    ties: str
    ignore_identical_ids: bool
    folds: int | None

    # Seen and unseen classes
    seen: Any
    unseen: Any
    class_lists: Any
    populations: Any
    hops: Any
    pretraining: Any

    # Confidence intervals
    ci: Any
    ci_method: str
    seed: int
    resamples: int
    level: float

    # Reading and running
    read: ReadOptions
    keep_rows: bool
    progress: Callable[[int, int], None] | None

    set_by_user: frozenset[str]
    opened: dict[str, Any]

    def value(self, name: str) -> Any:
        """Return the value of the option with this name."""
        return getattr(self, name)

    def values(self) -> Iterator[Any]:
        """Yield the value of every option."""
        for name in OPTIONS:
            yield self.value(name)

    def settings(self, kind: str) -> dict[str, str]:
        """Return the settings in signatures of a kind, by their keys.

        Strings are always included, numbers only if they are not the default.

        Examples
        --------
        >>> resolve_options({"missing": "skip"}, "classes").settings("classes")
        {'missing': 'skip', 'tie': 'position'}
        """
        settings = {}
        for name, option in OPTIONS.items():
            if not option.key or not option.signed:
                continue
            if option.kinds and kind not in option.kinds:
                continue
            value = self.value(name)
            is_changed_number = option.read is not str and is_set(name, value)
            if isinstance(value, str) or is_changed_number:
                settings[option.key] = str(value)
        return settings

    def replace(self, **changed: Any) -> ResolvedOptions:
        """Return a copy of the options in which some have other values."""
        # `dataclasses.replace` sets all fields again, which takes a noticeable part of a small score.
        options = copy(self)
        for name, value in changed.items():
            object.__setattr__(options, name, value)
        return options


def resolve_options(
    user_options: Mapping[str, Any],
    kind: str,
    *,
    protocol: str | None = None,
    fixed: Mapping[str, Any] = MappingProxyType({}),
) -> ResolvedOptions:
    """Return the options of a score, with the options of a protocol and all defaults.

    Parameters
    ----------
    user_options : mapping from name to value
        The options of the user. None means that an option is not set.
    kind : str
        The kind of data that is evaluated.
    protocol : str, optional
        The name of the protocol, for messages.
    fixed : mapping from name to value
        The options of the protocol.

    Raises
    ------
    InputError
        If an option does not apply to the kind, has an invalid value, or contradicts the protocol.

    Examples
    --------
    >>> options = resolve_options({"missing": "skip"}, "labels")
    >>> options.missing, options.normalize, options.seed
    ('skip', 'none', 12345)
    """
    set_options = copy_options(user_options)
    _check_kind(set_options, kind)
    rules = _decoding_rules(set_options)
    if rules is not None:
        set_options["decode"] = rules
    for name, value in fixed.items():
        if set_options.get(name, value) != value:
            names = f"{name}={value}"
            raise InputError("fixed-by", what=f"protocol {protocol}", names=names)

    values: dict[str, Any] = {n: option.default for n, option in OPTIONS.items()}
    values.update(set_options)
    values.update(fixed)
    values["read"] = values["read"] or DEFAULTS
    set_by_user = frozenset(
        name for name, value in set_options.items() if is_set(name, value)
    )
    return ResolvedOptions(set_by_user=set_by_user, opened={}, **values)


def _check_kind(set_options: Mapping[str, Any], kind: str) -> None:
    """Raise an error if an option is set that does not exist for a kind."""
    for name, value in set_options.items():
        kinds = OPTIONS[name].kinds
        if not is_on(value) or not kinds or kind in kinds:
            continue
        values = {"name": name, "kind": kind}
        if name == "top_k" and kind == "retrieval":
            values["fix"] = "write the cutoffs in the measure, such as HitRate@1,5"
        elif set_options.get("task") is not None:
            values["fix"] = "remove it"
        raise InputError("not-of-kind", **values)


def _decoding_rules(set_options: Mapping[str, Any]) -> str | list[str] | None:
    """Return the decoding rules of ``threshold`` and ``decode``, or None without any."""
    rules = set_options.get("decode")
    if "threshold" in set_options:
        return decoding_rules(rules, set_options["threshold"])
    if isinstance(rules, (list, tuple)):
        return [clean_rule(rule) for rule in rules]
    return None if rules is None else clean_rule(rules)


def copy_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are set, with copies of containers that the caller may change.

    Examples
    --------
    >>> weights = {"a": 1.0}
    >>> options = copy_options({"weights": weights, "ignore": iter("ab"), "classes": None})
    >>> weights.clear()
    >>> options
    {'weights': {'a': 1.0}, 'ignore': ['a', 'b']}
    """
    copies: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if isinstance(value, Iterator):
            copies[name] = list(value)
        elif isinstance(value, (dict, list, set)):
            copies[name] = value.copy()
        else:
            copies[name] = value
    return copies
