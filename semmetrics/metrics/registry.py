"""Measures by name: the table of names, definitions found in it, and ``F1(average=macro)@1,3,5``.

Conventions
-----------
A definition is known by its kind and its name, so two kinds may use one name. The table says which
module makes a definition; that module is imported when the name is first asked for. Definitions
that users register stand beside the table.

``name(option=value,…)@k`` names a measure; ``@1,3,5`` names three. ``parse(str(m)) == [m]``.
Aliases such as ``MacroF1`` need no quotes in a shell.
"""

from __future__ import annotations

import copyreg
import importlib
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, ParamSpec, TypeAlias

from semmetrics.errors import InputError
from semmetrics.messages import did_you_mean, fold, pluralize
from semmetrics.metrics.definition import Definition, Measure, is_cutoff
from semmetrics.options import OPTIONS

# Kind, heading of a group, module of this package, names and aliases that the module registers.
_TABLE = (
    (
        "labels",
        "Sets of labels",
        "sets",
        "Precision MacroPrecision MicroPrecision CP OP Recall MacroRecall MicroRecall CR OR F1 "
        "MacroF1 MicroF1 OF1 CF1 FBeta Jaccard MacroJaccard MicroJaccard SubsetAccuracy HammingLoss "
        "AP BalancedAccuracy CardinalityError O-F1 C-F1 I-F1",
    ),
    (
        "labels",
        "Meanings of labels (--embedding)",
        "semantic",
        "SemPrecision SemRecall SemF1 SemJaccard SemAP SoftPrecision SoftRecall SoftF1",
    ),
    (
        "labels",
        "Bags of labels and transport (--embedding)",
        "bags",
        "WMD RWMD BagSim MeanSim",
    ),
    (
        "labels",
        "Rankings of labels",
        "ranking",
        "LRAP RankingLoss CoverageError mAP ROC-AUC",
    ),
    (
        "labels",
        "Hierarchies of labels (--taxonomy)",
        "hierarchical",
        "hP hR hF LCADistance",
    ),
    (
        "captions",
        "Captions (--task captions)",
        "caption_overlap",
        "BLEU-1 BLEU-2 BLEU-3 BLEU-4",
    ),
    ("captions", "Captions (--task captions)", "cider", "CIDEr-D CIDEr"),
    (
        "captions",
        "Captions (--task captions)",
        "caption_statistics",
        "DuplicatedCaption CaptionLength LengthRatio ReferenceCount Vocabulary UniqueCaptions",
    ),
    ("captions", "Captions (--task captions)", "meteor", "METEOR METEOR-nltk"),
    ("captions", "Captions (--task captions)", "caption_overlap", "NGSM ROUGE-L"),
    ("captions", "Captions (--task captions)", "spice", "SPICE SPIDEr"),
    (
        "captions",
        "Captions (--task captions)",
        "caption_similarity",
        "Soft-SPICE BagSim",
    ),
    (
        "retrieval",
        "Retrieval (--task retrieval)",
        "retrieval",
        "Recall Precision HitRate Rsum MedR MeanR MRR MAP R-Precision mAP@R PMRP",
    ),
    (
        "retrieval",
        "Retrieval (--task retrieval)",
        "semantic_retrieval",
        "NCS SR nDCG Nsum",
    ),
    (
        "classes",
        "Classes (--task classes)",
        "classes",
        "PerClassAccuracy SeenAccuracy UnseenAccuracy H Accuracy AUSUC BestH",
    ),
)
_KINDS = tuple(dict.fromkeys(kind for kind, *_ in _TABLE))

P = ParamSpec("P")
_Key = tuple[str, str]  # kind and name
Measured: TypeAlias = str | Measure | Definition
_ROWS: dict[_Key, tuple[str, str]] = {
    (kind, name): (group, module)
    for kind, group, module, names in _TABLE
    for name in names.split()
}
_DEFINITIONS: dict[_Key, Definition] = {}
_ALIASES: dict[_Key, str] = {}

_NAME = re.compile(r"[^\s(),=@|]+")
# Names that have the sign of a cutoff in them.
_LITERAL = "".join(
    f"{re.escape(name)}(?![^\\s(@])|" for _, name in _ROWS if "@" in name
)
_FORM = re.compile(
    rf"\s*(?P<name>{_LITERAL}[^(@\s]+)\s*(?:\((?P<options>.*)\))?\s*(?:@(?P<k>.*))?",
    re.S,
)
HINTS = {
    "R": "write HitRate@K for whether any positive is among the first K, which most papers print, "
    "or Recall@K for the fraction of the positives that are",
    "HR": "write HitRate@K, or hR for the hierarchical recall",
    "P": "write Precision@K",
    "Accuracy": "for label sets write Jaccard (example-based accuracy, as in kubany2020) or "
    "SubsetAccuracy (accuracy_score of scikit-learn)",
    **dict.fromkeys(("AUC", "AUROC"), "write ROC-AUC of labels, or AUSUC of classes"),
    "F2": "write FBeta(beta=2)",
    "EMR": "write SubsetAccuracy, the exact match ratio",
    "B": "write BLEU-4, or another order",
    "ts": "write UnseenAccuracy, which protocol xian2018 prints as ts",
    "tr": "write SeenAccuracy, which protocol xian2018 prints as tr",
    "SPIDEr-FL": "write SPIDEr, which is SPIDEr-FL without its penalty for errors of fluency; a "
    "trained model finds those: see aac-metrics",
    "ZSL": "write PerClassAccuracy(labels=unseen,candidates=unseen), which xian2018 prints as ZSL",
}
_HITRATE_OR_TOP_K = (
    "write HitRate@K of retrieval, PerClassAccuracy@K or Accuracy@K of classes"
)
# What other libraries and papers call a measure, folded, and what to write instead.
_ELSEWHERE = {
    "acc": "write Accuracy or PerClassAccuracy of classes, SubsetAccuracy or Jaccard of label sets",
    "averageprecision": "write mAP, the mean over classes, or AP, the mean over items",
    "averageprecisionscore": "write mAP, the mean over classes, or AP, the mean over items",
    "bertscore": "it is not computed; of captions write BagSim, of labels SoftF1",
    "clipscore": "it is not computed; score a matrix of similarities with --task retrieval",
    "exactmatch": "write SubsetAccuracy",
    "exactmatchratio": "write SubsetAccuracy",
    "fscore": "write F1 or FBeta(beta=2)",
    "fmeasure": "write F1 or FBeta(beta=2)",
    "hamming": "write HammingLoss",
    "hits": "write HitRate@K",
    "iou": "write Jaccard",
    "labelrankingaverageprecision": "write LRAP",
    "labelrankingaverageprecisionscore": "write LRAP",
    "meanaverageprecision": "write mAP of labels, MAP of retrieval",
    "rouge": "write ROUGE-L",
    "topk": _HITRATE_OR_TOP_K,
    "topkaccuracy": _HITRATE_OR_TOP_K,
    "topkaccuracyscore": _HITRATE_OR_TOP_K,
    **{f"top{k}": _HITRATE_OR_TOP_K.replace("@K", f"@{k}") for k in (1, 3, 5, 10)},
    **{
        f"top{k}accuracy": _HITRATE_OR_TOP_K.replace("@K", f"@{k}")
        for k in (1, 3, 5, 10)
    },
    "zerooneloss": "write SubsetAccuracy, which is 1 minus the zero-one loss",
}
_AVERAGES_ELSEWHERE = {
    "samples": "",
    "sample": "",
    "example": "",
    "weighted": "weighted",
}
# Keys of a signature that are not options of a measure.
_RESERVED = {option.key for option in OPTIONS.values()}.union(
    (
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
)


def add(definition: Definition) -> Definition:
    """Register a definition with its aliases, and return it.

    A definition of one's own takes the place of an earlier one of the same name.

    Raises
    ------
    InputError
        If a name is taken or cannot be parsed, or two options share a name.
    """
    for name in (definition.name, *definition.aliases):
        key = (definition.kind, name)
        # an own measure takes the place of an earlier one, aliases included
        if _load(*key):
            known = name if key in _DEFINITIONS else _parts(_ALIASES[key])[0]
            if known != definition.name or {key, (key[0], known)} & _ROWS.keys():
                raise InputError("name-taken", name=name)
        if not _NAME.fullmatch(name) and (definition.kind, name) not in _ROWS:
            wanted = "a name without blanks and (),=@|"
            raise InputError("bad-option", name="name", value=name, wanted=wanted)
    names = Counter(option.name for option in definition.options).items()
    shorts = Counter(option.short for option in definition.options).items()
    reserved = {name for name, n in (*names, *shorts) if name in _RESERVED or n > 1}
    if reserved:
        raise InputError(
            "reserved-option", measure=definition.name, names=sorted(reserved)
        )
    if (definition.kind, definition.name) in _DEFINITIONS:
        forget(_DEFINITIONS[definition.kind, definition.name])
    if is_own(definition):  # its source is read while it is the one that runs
        own_identity(definition)
    _DEFINITIONS[definition.kind, definition.name] = definition
    _ALIASES.update(
        {(definition.kind, name): text for name, text in definition.aliases.items()}
    )
    return definition


def _registering(make: Callable[P, Definition]) -> Callable[P, Definition]:
    def made(*args: P.args, **traits: P.kwargs) -> Definition:
        return add(make(*args, **traits))

    return made


define = _registering(Definition)
"""Make a definition and register it: takes what `Definition` takes."""


def forget(definition: Definition) -> None:
    """Take a registered definition of your own out again, with its aliases.

    Raises
    ------
    InputError
        If it comes with semmetrics.
    """
    key = (definition.kind, definition.name)
    if key in _ROWS:
        raise InputError("name-taken", name=definition.name)
    for known, text in list(_ALIASES.items()):
        if known[0] == definition.kind and _parts(text)[0] == definition.name:
            del _ALIASES[known]
    _DEFINITIONS.pop(key, None)


def _load(kind: str, name: str) -> bool:
    """Import the module that registers a name; return whether the name is registered now.

    While that module itself is being imported, its names are not registered yet.
    """
    key = (kind, name)
    if key in _ROWS:
        importlib.import_module(f"semmetrics.metrics.{_ROWS[key][1]}")
    return key in _DEFINITIONS or key in _ALIASES


def kinds_of(name: str) -> tuple[str, ...]:
    """Return the kinds that have a measure or alias of this name, in the order of the table.

    Examples
    --------
    >>> kinds_of("F1"), kinds_of("CIDEr"), kinds_of("F2")
    (('labels',), ('captions',), ())
    """
    every = dict.fromkeys([*_KINDS, *(kind for kind, _ in _DEFINITIONS)])
    known = (_ROWS, _DEFINITIONS, _ALIASES)
    return tuple(
        kind for kind in every if any((kind, name) in table for table in known)
    )


def all_definitions(kind: str | None = None) -> list[Definition]:
    """Return every definition (of one kind), in the order of the table, then the users' own."""
    keys = [
        key for key in dict.fromkeys([*_ROWS, *_DEFINITIONS]) if kind in (None, key[0])
    ]
    for key in keys:
        _load(*key)
    return [_DEFINITIONS[key] for key in keys if key in _DEFINITIONS]


def aliases(kind: str | None = None) -> dict[str, str]:
    """Return every alias (of one kind), and the measure that it stands for."""
    all_definitions(kind)
    found: dict[str, str] = {}
    for own, name in dict.fromkeys([*_ROWS, *_ALIASES]):
        if kind in (None, own) and (own, name) in _ALIASES:
            # the first kind, as find has it
            found.setdefault(name, _ALIASES[own, name])
    return found


def group_of(definition: Definition) -> str:
    """Return the heading under which lists show a definition.

    Examples
    --------
    >>> group_of(find("F1")[0]), group_of(find("LRAP")[0])
    ('Sets of labels', 'Rankings of labels')
    """
    return _ROWS.get((definition.kind, definition.name), ("Other measures",))[0]


def is_own(definition: Definition) -> bool:
    """Return whether a definition is a user's own: it does not come with semmetrics.

    Examples
    --------
    >>> is_own(find("F1")[0])
    False
    """
    return (definition.kind, definition.name) not in _ROWS


@cache
def own_identity(definition: Definition) -> str:
    """Return what a signature says of a user's own definition: a hash of its source.

    Returns
    -------
    str
        Twelve hex digits of a SHA-256; "unknown" where there is no source to read.
    """
    import hashlib
    import inspect

    formula = definition.formula or type(definition.family)
    try:
        text = inspect.getsource(inspect.unwrap(formula))
    except (OSError, TypeError):
        return "unknown"
    return hashlib.sha256(inspect.cleandoc(text).encode()).hexdigest()[:12]


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
        If there is none; the nearest names are given.
    """
    name = _spelled(name)
    kinds = kinds_of(name)
    if not kinds or kind not in (None, *kinds):
        raise _unknown(name, kind, kinds)
    found = kind or kinds[0]
    _load(found, name)
    text, options = _parts(_ALIASES.get((found, name), name))
    return _DEFINITIONS[found, text], options


def _parts(text: str) -> tuple[str, dict[str, str]]:
    """Split the text of an alias into the name and its options."""
    name, _, inside = text.partition("(")
    return name, dict(
        part.split("=") for part in split_outside(inside.removesuffix(")"))
    )


def _unknown(name: str, kind: str | None, kinds: tuple[str, ...]) -> InputError:
    """Return the error for a name that is not registered (for a kind), with what to write."""
    what = f"measure of {kind} called" if kinds else "measure"
    remedy = HINTS.get(name, HINTS.get(name.upper(), ""))
    if not remedy and kinds:
        remedy = f"it is one of {', '.join(kinds)}"
    remedy = remedy or _hint_elsewhere(name) or _nearest(name, kind)
    return InputError("unknown-name", what=what, value=name, remedy=remedy)


def _hint_elsewhere(name: str) -> str:
    """Return what to write for a name of another library; "" if it has none."""
    if fold(name) in _ELSEWHERE:
        return _ELSEWHERE[fold(name)]
    words = name.split("_")
    for average, here in _AVERAGES_ELSEWHERE.items():
        if average not in (words[0], words[-1]):
            continue
        rest = words[1:] if words[0] == average else words[:-1]
        known = _alike("".join(rest).removesuffix("score"))
        if known and here:
            return f"write {known[0]}(average={here})"
        if known:
            return f"write {known[0]}, whose default is the mean over items"
    return ""


def _nearest(name: str, kind: str | None) -> str:
    names = _known(kind)
    folded = fold(name)
    near = _alike(name, kind)  # several: if there is only one it is used
    if near:
        return f"did you mean {' or '.join(near)}?"
    remedy = did_you_mean(name, names, "see: semmetrics list")
    for known in sorted(names, key=len, reverse=True):
        rest = folded.removeprefix(fold(known))
        if len(known) == 1 or rest == folded:
            continue
        if re.fullmatch(r"at\d+", rest):  # recall_at_5
            return f"did you mean {known}@{rest.removeprefix('at')}?"
        if re.fullmatch(r"(score)?\d*", rest):  # f1score
            return remedy if known in remedy else f"did you mean {known}?"
    return remedy


def _known(kind: str | None) -> list[str]:
    """Return all names that are registered (for a kind)."""
    return [
        name for own, name in (*_ROWS, *_DEFINITIONS, *_ALIASES) if kind in (None, own)
    ]


def _alike(name: str, kind: str | None = None) -> list[str]:
    """Return the name itself if it is registered (for a kind), or else those that fold alike."""
    every, folded = _known(kind), fold(name)
    return (
        [name]
        if name in every
        else [*dict.fromkeys(n for n in every if fold(n) == folded)]
    )


def names_like(text: str) -> tuple[list[str], bool]:
    """Return the names of measures with which a text begins, and whether it has them exactly.

    Examples
    --------
    >>> names_like("C-F1"), names_like("cf1@3"), names_like("mAP@R"), names_like("Mean")
    ((['C-F1'], True), (['CF1', 'C-F1'], False), (['mAP@R'], True), ([], False))
    """
    begin = re.split("[(@]", text, maxsplit=1)[0].strip()
    found = _alike(text) or _alike(begin)
    return found, found in ([text], [begin])


def _spelled(text: str, kind: str | None = None) -> str:
    """Return the text of a measure with its name as it is registered, where one alone is alike."""
    name = re.split("[(@]", text, maxsplit=1)[0].strip()
    turned = "".join(reversed(name.split("_")))  # scikit-learn's f1_macro
    found = (
        [name]
        if kinds_of(name) or name in HINTS
        else (_alike(name, kind) or _alike(turned, kind))
    )
    return text.replace(name, found[0], 1) if len(found) == 1 else text


def parse(text: str, kind: str | None = None) -> list[Measure]:
    """Parse a text that names one measure, or one at several cutoffs.

    Parameters
    ----------
    text : str
    kind : str, optional
        What is evaluated; without it, the first kind that has the name with those options.

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
    text = _spelled(text)
    form = _FORM.fullmatch(text)
    refuse_commas(text, kind)
    if form is None:
        raise InputError("not-a-measure", text=text)
    problems = []
    for one in [kind] if kind else kinds_of(form["name"]) or [None]:
        try:
            return _parse_form(text, form, one)
        except InputError as error:
            problems.append(error)
    raise problems[0]


def _parse_form(text: str, form: re.Match[str], kind: str | None) -> list[Measure]:
    """Parse a text that is written as a measure, as one of a kind."""
    definition, fixed = find(form["name"], kind)
    options: dict[str, str] = {}
    for part in split_outside(form["options"] or ""):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not name or not value or name == "k":  # k is written @k
            raise InputError("not-a-measure", text=text)
        if name in options:
            raise InputError("duplicate", text, role="the option", value=name)
        options[name] = value
    for name, value in fixed.items():
        if options.get(name, value) != value:
            values = {
                "alias": form["name"],
                "fixed": f"{name}={value}",
                "given": options[name],
            }
            raise InputError("fixed-option", name=definition.name, **values)
    ks: list[int | None] = [None] if form["k"] is None else list(cutoffs(form["k"]))
    try:
        return [definition(k=k, **{**fixed, **options}) for k in ks]
    except InputError as error:
        raise error.placed(error.where or text) from None


def refuse_commas(
    text: str, kind: str | None = None, also: Container[str] = ()
) -> None:
    """Refuse measures with commas between them; in cutoffs and options commas have a meaning.

    Parameters
    ----------
    text : str
    kind : str, optional
    also : container of str
        What else may stand among measures, such as protocols.

    Raises
    ------
    InputError
        With the same names and blanks between them.
    """
    bare = text.strip(" ,")
    if bare != text.strip() and (_kinds_of_text(bare) or bare in also):
        raise InputError("comma-separated", text=text, wanted=bare)
    first, *others = [part.strip() for part in split_outside(text)] or [""]
    named = [other for other in others if _kinds_of_text(other) or other in also]
    if named and (not kind or any(kind in _kinds_of_text(other) for other in named)):
        listed = first + "".join(
            f" {other}" if other in named else f",{other}" for other in others
        )
        raise InputError("comma-separated", text=text, wanted=listed)


def _kinds_of_text(text: str) -> tuple[str, ...]:
    """Return the kinds that have the measure with which a text begins."""
    form = _FORM.match(_spelled(text))
    return () if form is None else kinds_of(form["name"])


def parse_in_any_case(text: str) -> list[Measure]:
    """Parse a text that is perhaps a measure, in the case of the registry or another, of all kinds.

    Examples
    --------
    >>> parse_in_any_case("macrof1"), parse_in_any_case("error of F1")
    ([Measure('F1(average=macro)')], [])
    """
    found: list[Measure] = []
    for kind in _KINDS:
        with suppress(InputError):
            found += parse(_spelled(text, kind), kind)
    return found


def split_outside(text: str, sign: str = ",") -> list[str]:
    """Split a text at a sign outside parentheses; empty parts are left out.

    Examples
    --------
    >>> split_outside("embedding=a(b,c),match=greedy")
    ['embedding=a(b,c)', 'match=greedy']
    """
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == sign and depth <= 0:
            parts.append(text[start:place])
            start = place + 1
    return [part for part in (*parts, text[start:]) if part.strip()]


def cutoffs(text: str) -> list[int]:
    """Parse cutoffs such as "1,3,5".

    Examples
    --------
    >>> cutoffs("1,3,5")
    [1, 3, 5]
    """
    parts = [part.strip() for part in text.split(",")]
    # Python refuses to read thousands of digits
    if not all(k.isdecimal() and len(k) < 100 and is_cutoff(int(k)) for k in parts):
        wanted = "whole numbers from 1, below 2**53, such as 1,3,5"
        raise InputError("out-of-range", role="the cutoff", value=text, wanted=wanted)
    return [int(part) for part in parts]


def parse_by_kind(texts: Iterable[Measured]) -> dict[str, list[Measure]]:
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
    words = [word for text in texts for word in split_names(text)]
    if not words:
        return {}
    kinds = _kinds_of_word(words[0])
    for word in words[1:]:
        of_word = _kinds_of_word(word)
        kinds = [kind for kind in kinds if kind in of_word]
    measures_by_kind = {}
    for kind in kinds:
        with suppress(InputError):
            measures_by_kind[kind] = parse_all(words, kind, first=kind)
    return measures_by_kind


def kinds_of_all(texts: Iterable[Measured]) -> list[str]:
    """Return the kinds that have all of some measures, with their options."""
    return list(parse_by_kind(texts))


def listed(measures: Any) -> list[Measured]:
    """Return the measures that a user gives, one or several, as a list."""
    if isinstance(measures, (str, Measure, Definition)):
        return [measures]
    return list(measures)


def _kinds_of_word(word: Measured) -> list[str]:
    """Return the kinds that have a measure of this name."""
    if isinstance(word, Measure):
        return [word.definition.kind]
    if isinstance(word, Definition):
        return [word.kind]
    return list(_kinds_of_text(word))


def parse_all(
    texts: Iterable[Measured], kind: str | None = None, *, first: str | None = None
) -> list[Measure]:
    """Parse many measures, and report all errors together.

    A text may name several measures, with blanks between. Of kinds that share a name, the one that
    is preferred is chosen.

    Parameters
    ----------
    texts : iterable of str, Measure or Definition
    kind : str, optional
        What is evaluated: measures of other kinds are refused.
    first : str, optional
        The kind that is meant where several have a name.

    Raises
    ------
    InputError
        One line for each text that is wrong.

    Examples
    --------
    >>> [m.definition.kind for m in parse_all(["Recall@5 F1"], first="retrieval")]
    ['retrieval', 'labels']
    """
    measures: list[Measure] = []
    problems = []
    words = [word for text in texts for word in split_names(text, kind or first)]
    for text in words:
        try:
            if isinstance(text, Measure):
                measures.append(text)
            elif isinstance(text, Definition):
                measures.append(text())
            else:
                own = first is not None and first in _kinds_of_text(text)
                base = text.rpartition("@")[0].strip()
                measures += [
                    replace(
                        one,
                        asked=(text.strip() if one.k is None else f"{base}@{one.k}",),
                    )
                    for one in parse(text, first if own else kind)
                ]
        except InputError as error:
            problems.append(error)
    raise_all(problems)
    repeated = [str(m) for m, times in Counter(measures).items() if times > 1]
    if repeated:
        raise InputError("duplicate-measures", names=repeated)
    return measures


def name_as_asked(measure: Measure) -> str:
    """Write a measure by the alias that it was asked for, if it is still what that means.

    Examples
    --------
    >>> name_as_asked(parse_all(["macrof1(absent=0)@3"])[0]), name_as_asked(parse("MacroF1")[0])
    ('MacroF1(absent=0)@3', 'F1(average=macro)')
    """
    definition = measure.definition
    for asked in measure.asked:
        name = re.split("[(@]", _spelled(asked, definition.kind))[0].strip()
        fixed: dict[str, Any] = _parts(_ALIASES.get((definition.kind, name), ""))[1]
        if fixed and all(
            definition(**fixed)[option] == measure[option] for option in fixed
        ):
            return measure.under(name, fixed)
    return str(measure)


def parse_one(measure: Measured, what: str) -> Measure:
    """Parse what names one measure; ``what`` it is for, errors say."""
    several = parse_all([measure])
    if len(several) != 1:
        found = pluralize(len(several), "measure")
        raise InputError("wrong-count", "measure", found=found, wanted=what)
    return several[0]


def raise_all(problems: list[InputError]) -> None:
    """Raise an error that stands alone, or one that lists several; none without any."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        listed = "".join(f"\n  {error}" for error in problems)
        raise InputError("wrong-measures", n=len(problems), listed=listed)


def split_names(text: Any, kind: str | None = None) -> list[Any]:
    """Split a text that names several measures at its blanks; one may be written with blanks.

    Examples
    --------
    >>> split_names("F1 Recall@5"), split_names("F1 (average=macro)")
    (['F1', 'Recall@5'], ['F1 (average=macro)'])
    """
    words = split_outside(" ".join(text.split()), " ") if isinstance(text, str) else []
    if len(words) > 1:
        with suppress(InputError):
            parse(text, kind)
            return [text]
        return words
    return [text]


def registered(kind: str, name: str) -> Definition:
    """Return the registered definition, in place of a copy or a pickle of it."""
    _load(kind, name)
    if (kind, name) not in _DEFINITIONS:
        raise InputError("not-registered", name=name)
    return _DEFINITIONS[kind, name]


copyreg.pickle(
    Definition, lambda definition: (registered, (definition.kind, definition.name))
)
