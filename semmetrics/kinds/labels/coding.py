"""The classes of label sets, and the class of each label.

Conventions
-----------
The classes are the given class list or, without one, the reference labels of the evaluated items.
A label with the same terms as a class belongs to that class. Any other label belongs to the class
of its first term that a class has. If several classes have that term, the first of them counts, in
the order of the class list or, without one, by name. A predicted label without such a term is a
class of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from semmetrics.arguments import check_once
from semmetrics.core.hashing import identity_of
from semmetrics.core.ragged import Bools, Codes
from semmetrics.data.lists import Entry, Lists, Terms, clean_terms
from semmetrics.data.matrix import class_terms
from semmetrics.data.tasks.labels import Synonyms
from semmetrics.errors import FROM_0, InputError
from semmetrics.kinds.class_names import outside_classes_error
from semmetrics.kinds.labels.excluded_labels import LabelsToIgnore
from semmetrics.kinds.labels.normalization import class_name


class LabelCoding(NamedTuple):
    """The classes of a task, and the class of each label.

    Attributes
    ----------
    classes : sequence of tuples of str
        The terms of each class.
    pred_codes, ref_codes : int32 arrays
        The class of each label in the vocabulary of the predictions and of the references.
    synonyms : Synonyms or None
        The labels as they were written, if one of them has several terms.
    shared_terms : frozenset of str
        The terms that several classes have.
    """

    classes: Sequence[Terms]
    pred_codes: Codes
    ref_codes: Codes
    synonyms: Synonyms | None = None
    shared_terms: frozenset[str] = frozenset()


class _ClassIndex:
    """Lookup table from the terms of a label to its class."""

    def __init__(self, classes: Sequence[Terms]) -> None:
        self._code_of_class: dict[Terms, int] = {}
        self._codes_of_term: dict[str, list[int]] = {}
        for code, terms in enumerate(classes):
            self._code_of_class[terms] = code
            for term in terms:
                self._codes_of_term.setdefault(term, []).append(code)

    def find(self, terms: Terms) -> int | None:
        """Return the class of a label, or None if no class has any of its terms."""
        if terms in self._code_of_class:
            return self._code_of_class[terms]
        for term in terms:
            if term in self._codes_of_term:
                return self._codes_of_term[term][0]
        return None

    def find_all(self, labels: Iterable[Terms]) -> dict[Terms, int]:
        """Return the classes of the labels that have one."""
        code_of_label = {}
        for terms in labels:
            code = self.find(terms)
            if code is not None:
                code_of_label[terms] = code
        return code_of_label

    def are_ambiguous(self, labels: Iterable[Terms]) -> Bools:
        """Return whether the terms of each label belong to more than one class."""
        flags = list(map(self._is_ambiguous, labels))
        return np.array(flags, np.bool_)

    def _is_ambiguous(self, terms: Terms) -> bool:
        codes: set[int] = set()
        for term in terms:
            codes_of_term = self._codes_of_term.get(term, [])
            # Two classes are enough, and a term may have thousands.
            codes.update(codes_of_term[:2])
        return len(codes) > 1

    def shared_terms(self) -> frozenset[str]:
        """Return the terms that several classes have."""
        shared = set()
        for term, codes in self._codes_of_term.items():
            if len(codes) > 1:
                shared.add(term)
        return frozenset(shared)


def clean_class_list(
    classes: Iterable[Entry], clean: Callable[[str], Terms]
) -> list[Terms]:
    """Return the normalised terms of each class of a class list.

    Raises
    ------
    InputError
        If a class is not a name, or normalisation leaves nothing of it. The message gives its
        number in the list.
    """
    class_list = []
    for number, entry in enumerate(class_terms(classes)):
        terms = clean_terms(entry, clean)
        if not terms:
            raise InputError(
                "nothing-left",
                f"class list, class {number}{FROM_0}",
                role="the class",
                value=class_name(entry),
                remedy="rename it, remove it, or choose another normalization",
            )
        class_list.append(terms)
    return class_list


def identify_classes(classes: Sequence[Terms]) -> str:
    """Return the number of classes and a hash of them in their order, for signatures."""
    names = list(map("\t".join, classes))
    return identity_of(names)


def code_plain_labels(pred: Lists, ref: Lists) -> LabelCoding:
    """Make each label of both sides a class, if there are neither synonyms nor a class list."""
    classes = sorted({*pred.terms, *ref.terms})
    code_of_class = {terms: code for code, terms in enumerate(classes)}
    pred_codes = _look_up(pred.terms, code_of_class)
    ref_codes = _look_up(ref.terms, code_of_class)
    return LabelCoding(classes, pred_codes, ref_codes)


def code_labels(
    pred: Lists,
    ref: Lists,
    evaluated: Bools,
    class_list: list[Terms] | None,
    ignored: LabelsToIgnore,
) -> LabelCoding:
    """Find the class of each label by its terms.

    Parameters
    ----------
    pred, ref : Lists
        Normalised.
    evaluated : bool array, shape (labels of the references,)
        Whether a label occurs in an evaluated item.
    class_list : list of tuples of str, or None
    ignored : LabelsToIgnore
        Labels that need not be in the class list.

    Raises
    ------
    InputError
        If a reference label is not in the class list, or two classes have the same name.
    """
    pred_labels = _distinct_terms(pred)
    ref_labels = _distinct_terms(ref)
    labels = {*pred_labels, *ref_labels}
    known_classes = class_list
    if known_classes is None:
        evaluated_labels = set(compress(ref_labels, evaluated))
        known_classes = sorted(evaluated_labels, key=class_name)
    index = _ClassIndex(known_classes)
    code_of_label = index.find_all(labels)
    if class_list is not None:
        _check_references(
            ref, ref_labels, evaluated, code_of_label, class_list, ignored
        )

    new_classes = sorted(labels - code_of_label.keys(), key=class_name)
    for code, terms in enumerate(new_classes, start=len(known_classes)):
        code_of_label[terms] = code
    classes = [*known_classes, *new_classes]
    names = list(map(class_name, classes))
    check_once(names, "duplicate", role="the class")

    pred_codes = _look_up(pred_labels, code_of_label)
    ref_codes = _look_up(ref_labels, code_of_label)
    compared = list(pred.terms)
    compared += _compared_terms(ref.terms, ref_labels, ref_codes, classes)
    synonyms = None
    if _has_several_terms(compared):
        identity = None
        # The signature already identifies a class list.
        if class_list is None and _has_several_terms(labels):
            identity = identify_classes(known_classes)
        synonyms = Synonyms(compared, index.are_ambiguous(compared), identity)
    return LabelCoding(classes, pred_codes, ref_codes, synonyms, index.shared_terms())


def _distinct_terms(labels: Lists) -> list[Terms]:
    """Return the terms of each label in the vocabulary, each term once."""
    return [tuple(dict.fromkeys(terms)) for terms in labels.terms]


def _has_several_terms(labels: Iterable[Terms]) -> bool:
    """Return whether a label has more than one term."""
    return any(len(terms) > 1 for terms in labels)


def _look_up(labels: Iterable[Terms], code_of_label: Mapping[Terms, int]) -> Codes:
    """Return the code of each label."""
    codes = [code_of_label[terms] for terms in labels]
    return np.array(codes, np.int32)


def _check_references(
    ref: Lists,
    ref_labels: Sequence[Terms],
    evaluated: Bools,
    known_labels: Container[Terms],
    class_list: Sequence[Terms],
    ignored: LabelsToIgnore,
) -> None:
    """Raise an error if an evaluated reference label has no class and is not ignored."""
    codes = np.flatnonzero(evaluated).tolist()
    outside = [code for code in codes if ref_labels[code] not in known_labels]
    is_ignored, _ = ignored.find_among(ref.terms[code] for code in outside)
    for code, may_be_outside in zip(outside, is_ignored.tolist(), strict=True):
        if not may_be_outside:
            where = ref.where(ref.first_item(code))
            name = class_name(ref.terms[code])
            raise outside_classes_error(name, class_list, where, "the reference label")


def _compared_terms(
    terms_as_written: Sequence[Terms],
    ref_labels: Sequence[Terms],
    ref_codes: Codes,
    classes: Sequence[Terms],
) -> list[Terms]:
    """Return the terms by which each reference label is compared: all terms of its class.

    A label that has exactly the terms of its class is returned as it was written, because terms may
    be repeated in it.
    """
    compared = []
    for written, label, code in zip(
        terms_as_written, ref_labels, ref_codes.tolist(), strict=True
    ):
        if label == classes[code]:
            compared.append(written)
        else:
            compared.append(classes[code])
    return compared
