"""What to compute: the measures of a protocol, those that are named, or a kind's default ones.

Conventions
-----------
A protocol names the measures of a paper, the headings that the paper prints them under, and how
the data are read. Its conventions win over defaults; options that would change a number are
refused. A plan holds what is computed, at every cutoff and under every decoding rule.

A protocol of agreement fixes what is read of a file of judgements, what becomes of candidates that
are among their own references, whether judgements of the same candidate are averaged, and the
statistic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, TypeVar

from semmetrics.errors import Fact, InputError
from semmetrics.kinds.base import Kind, Options, Tasks
from semmetrics.messages import did_you_mean, fold, listing
from semmetrics.metrics.definition import Definition, Measure, is_cutoff
from semmetrics.metrics.registry import cutoffs, name_as_asked, parse, parse_all
from semmetrics.options import decoding_rules
from semmetrics.scoring.result import matching_names

P = TypeVar("P")


class Protocol(NamedTuple):
    """The measures of one paper.

    Attributes
    ----------
    name, title, source : str
    entries : mapping from heading to measure
    settings : mapping
        The options that it fixes, with their values.
    top_k : tuple of int
        Cutoffs when none are asked for; empty for none.
    decode : bool
        Whether predictions may be scores that a decoding rule turns into sets.
    kind : str
        What is evaluated.
    absent : mapping from heading to text
        What the paper has and this library does not, and why; shown as not computed.
    sizes : mapping from part to int
        How many items the paper's data have; a note says if others differ.
    optional : frozenset of str
        The headings that are left out without a word where the data do not allow them.
    percent : bool
        Whether the paper, and so the program, prints values in percent.
    """

    name: str
    title: str
    source: str
    entries: Mapping[str, str]
    settings: Mapping[str, Any]
    top_k: tuple[int, ...] = ()
    decode: bool = False
    kind: str = "labels"
    absent: Mapping[str, str] = {}
    sizes: Mapping[str, int] = {}
    optional: frozenset[str] = frozenset()
    percent: bool = False


_RECALLS = {f"R@{k}": f"HitRate@{k}" for k in (1, 5, 10)}
_LISTS = "duplicates=each,empty=0"
_MEANING = f"{_LISTS},threshold=0.4,match=greedy"
_RATIOS = ("Precision", "Recall", "F1")
_MULTILABEL = product(
    [("", ""), (" (top 3)", "@3")], ["CP", "CR", "CF1", "OP", "OR", "OF1"]
)
# Section 5.2 names them; the paper's tables have no column of them.
_VANILLA = {
    "BERT": "bert-base-uncased",
    "RoBERTa": "roberta-base",
    "XLNet": "xlnet-base-cased",
}
_WITHOUT_GT = "phi=SPICE,ground_truth=left-out"
# 30 is the largest cutoff of the released code.
_EXTENDED = f"{_WITHOUT_GT},similar=images,depth=30"

_BOTH = {"direction": "both", "ties": "position", "missing": "error"}
_COCO_5K = Protocol(
    name="coco-5k",
    title="image-text retrieval on the 5,000 test images of COCO, both directions",
    source="the evaluation code of VSE++ (Faghri et al. 2018), Karpathy's test split",
    entries={**_RECALLS, "MedR": "MedR", "MeanR": "MeanR", "Rsum": "Rsum"},
    settings=_BOTH,
    kind="retrieval",
    percent=True,
    sizes={"i2t": 5000, "t2i": 25000},
)

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            name="kubany2020",
            title="label lists against label lists: example-based and label-based metrics",
            source="Kubany et al. 2020, equations 1-12 and tables 2-10",
            entries={
                "Accuracy": f"Jaccard({_LISTS})",
                "Accuracy (Semantic)": f"SemJaccard({_MEANING})",
                "Recall": f"Recall({_LISTS})",
                "Recall (Semantic)": f"SemRecall({_MEANING})",
                "Precision": f"Precision({_LISTS})",
                "Precision (Semantic)": f"SemPrecision({_MEANING})",
                "F1": f"F1({_LISTS})",
                "F1 (Semantic)": f"SemF1({_MEANING})",
                **{
                    f"Macro {m}": f"{m}(average=macro,labels=reference,absent=0)"
                    for m in _RATIOS
                },
                **{
                    f"Micro {m}": f"{m}(average=micro,labels=reference,empty=0)"
                    for m in _RATIOS
                },
                "WMD": "WMD(build=text)",
                "Fine-Tuned BERT": "BagSim(embedding=bert-base-nli-stsb-wkpooling)",
                "Fine-Tuned RoBERTa": "BagSim(embedding=roberta-base-nli-stsb-mean-tokens)",
                **{
                    f"Vanilla {name}": f"BagSim(embedding={m})"
                    for name, m in _VANILLA.items()
                },
                "Average Precision": f"AP({_LISTS},normalize=hits)",
                "Average Precision (Semantic)": f"SemAP({_MEANING},normalize=hits)",
                "Balanced Accuracy": f"BalancedAccuracy({_LISTS},q={{q}})",
            },
            settings={
                "normalize": "kubany2020",
                "missing": "skip",
                "empty_predictions": "skip",
                "lookup": "kubany2020",
                "oov": "unknown",
            },
            top_k=(1, 3, 5),
            optional=frozenset(f"Vanilla {name}" for name in _VANILLA),
        ),
        Protocol(
            name="pineda2019",
            title="image-to-set prediction: overall, per-class and per-image F1",
            source="Pineda, Salvador et al. 2019, section 3.3, table 3 and figure 3",
            entries={
                "O-F1": "O-F1",
                "C-F1": "C-F1(labels=given)",
                "I-F1": "I-F1",
                "Cardinality error": "CardinalityError",
            },
            settings={},
            decode=True,
        ),
        Protocol(
            name="coco-multilabel",
            title="the table of multi-label recognition: all predictions, and the three highest",
            source="Chen et al. 2019, section 4.1, and the released code of ML-GCN",
            entries={
                "mAP": "mAP",
                **{
                    f"{m}{top}": f"{m}(decode={{logits}}){k}"
                    for (top, k), m in _MULTILABEL
                },
            },
            settings={},
            decode=True,
            percent=True,
        ),
        Protocol(
            name="coco-caption",
            title="captions against references, as the COCO evaluation code prints them",
            source="Chen et al. 2015 (COCO captions), and pycocoevalcap 1.2",
            entries={
                **{f"Bleu_{n}": f"BLEU-{n}" for n in (1, 2, 3, 4)},
                "METEOR": "METEOR",
                "ROUGE_L": "ROUGE-L",
                "CIDEr": "CIDEr-D",
                "SPICE": "SPICE",
            },
            settings={"tokenizer": "ptb"},
            kind="captions",
        ),
        _COCO_5K,
        _COCO_5K._replace(
            name="coco-1k",
            title="the same in five folds of 1,000 images, averaged over the folds",
            entries={**_RECALLS, "Rsum": "Rsum"},
            settings={**_BOTH, "folds": 5},
            absent={"MedR": "is a mean over medians of folds: score each fold alone"},
        ),
        _COCO_5K._replace(
            name="f30k",
            title="image-text retrieval on the 1,000 test images of Flickr30k, both directions",
            sizes={"i2t": 1000, "t2i": 5000},
        ),
        Protocol(
            name="biten2022",
            title="image-text retrieval judged by meaning, both directions: recall and NCS",
            source="Biten et al. 2022, sections 3.4 and 5, tables 2 to 5, figure 3: models are "
            "trained with margins from CIDEr, and evaluated with SPICE",
            entries={
                **_RECALLS,
                **{f"R@{k}, equation 1": f"Recall@{k}" for k in (1, 5, 10)},
                **{f"N@{k}": f"NCS(phi=SPICE)@{k}" for k in (1, 5, 10)},
                **{f"N@{k}, without GT": f"NCS({_WITHOUT_GT})@{k}" for k in (1, 5, 10)},
                **{
                    f"SR@5, m={m}, without GT": f"SR(m={m},{_EXTENDED})@5"
                    for m in (1, 2, 3)
                },
                **{
                    f"R@5, m={m}, without GT": f"SR(m={m},variant=hit,{_EXTENDED})@5"
                    for m in (1, 2, 3)
                },
                "Rsum": "Rsum",
                "Nsum": "Nsum(phi=SPICE)",
                "Nsum(N)": f"Nsum({_WITHOUT_GT})",
            },
            settings=_BOTH,
            kind="retrieval",
            percent=True,
        ),
        Protocol(
            name="eccv",
            title="image-text retrieval with the positives of ECCV Caption, both directions",
            source="Chun et al. 2022, and eccv-caption 0.1.0",
            entries={"mAP@R": "mAP@R", "R-P": "R-Precision", "R@1": "HitRate@1"},
            settings={**_BOTH, "missing": "skip"},
            kind="retrieval",
            percent=True,
            sizes={"i2t": 1261, "t2i": 1332},
        ),
        Protocol(
            name="xian2018",
            title="zero-shot classification, plain and generalised: per-class accuracy and H",
            source="Xian et al. 2018, section 5.3 and the tables of sections 6.1 and 6.2",
            entries={
                "ts": "PerClassAccuracy(labels=unseen)",
                "tr": "PerClassAccuracy(labels=seen)",
                "H": "H",
                "ZSL": "PerClassAccuracy(labels=unseen,candidates=unseen)",
            },
            settings={"ties": "position", "missing": "error"},
            kind="classes",
            percent=True,
        ),
    )
}


def find_protocol(name: str) -> Protocol:
    """The protocol of that name.

    Raises
    ------
    InputError
        If there is none.
    """
    others = "protocols of agreement with people belong to meta (semmetrics meta)"
    return _find(name, PROTOCOLS, "protocol", others)


# What benchmarks are called, folded, and the protocols of their papers.
_ELSEWHERE = {
    "flickr": "did you mean f30k?",
    "flickr30k": "did you mean f30k?",
    "eccvcaption": "did you mean eccv?",
    "mscoco": "did you mean coco-caption, coco-5k, coco-1k or coco-multilabel?",
    "gzsl": "did you mean xian2018?",
    "zsl": "did you mean xian2018?",
}


def _find(name: str, known: Mapping[str, P], what: str, others: str) -> P:
    if name not in known:
        every = f"choose {listing(known, most=len(known))}; {others}"
        remedy = did_you_mean(name, known, every)
        if name in PROTOCOLS or name in AGREEMENT_PROTOCOLS:
            remedy = others
        elif known is PROTOCOLS and fold(name) in _ELSEWHERE:
            remedy = _ELSEWHERE[fold(name)]
        if name.partition("(")[0] in known:
            remedy = "a protocol has no options; name its measures instead, with theirs"
        raise InputError("unknown-name", what=what, value=name, remedy=remedy)
    return known[name]


@dataclass(frozen=True)
class NotComputed:
    """A measure that a protocol names and this input does not allow.

    Attributes
    ----------
    heading, reason : str
        The reason ends with what to do.
    measure : str or None
        None for one that this library does not have.
    """

    heading: str
    reason: str
    measure: str | None = None


class Plan(NamedTuple):
    """What to compute: measures, their headings, what cannot be computed; and what is unused."""

    measures: list[Measure]
    headings: list[str]
    not_computed: list[NotComputed]
    notes: list[Fact]


def plan_measures(kind: Kind, tasks: Tasks, options: Options) -> Plan:
    """Plan a protocol's measures, those named, or the default ones of the kind.

    Each is computed at every cutoff of ``top_k`` and under every rule of ``decode``, where it has
    none of its own.

    Raises
    ------
    InputError
        If no measure is named, a cutoff or rule is wrong or does not apply.
    """
    decode, top_k, keep = options.decode, options.top_k, options.keep_at_least
    rules = (decode,) if decode is None or isinstance(decode, str) else tuple(decode)
    if not rules or len(set(rules)) != len(rules):
        wanted = "one or more different rules, such as 'threshold:0.5'"
        raise InputError("bad-option", name="decode", value=decode, wanted=wanted)
    top_k = cutoffs(top_k) if isinstance(top_k, str) else () if top_k is None else top_k
    cuts = tuple(top_k) if isinstance(top_k, Iterable) else (top_k,)
    if not all(map(is_cutoff, cuts)) or len(set(cuts)) != len(cuts):
        wanted = "distinct whole numbers from 1"
        raise InputError("bad-option", name="top_k", value=options.top_k, wanted=wanted)
    choose = _plan_named if options.protocol is None else _plan_protocol
    plan = choose(kind, tasks, options, tuple(map(int, cuts)), rules)
    if keep and not any(measure["keep_at_least"] for measure in plan.measures):
        raise InputError("needs-option", what=f"keep_at_least={keep}", name="decode")
    return _with_headings(plan, options.headings or {})


def _with_headings(plan: Plan, given: Mapping[str, str]) -> Plan:
    """Give measures the headings that were asked for, by their own or their names."""
    known = [(h, str(m)) for h, m in zip(plan.headings, plan.measures, strict=True)]
    made, cuts = list(plan.headings), [f"@{m.k}" for m in plan.measures]
    whole = [
        (h.removesuffix(k), m.removesuffix(k))
        for (h, m), k in zip(known, cuts, strict=True)
    ]
    for name, text in given.items():
        pairs = known if matching_names(name, set(known)) else whole
        if not (meant := matching_names(name, set(pairs))):
            remedy = did_you_mean(
                name, plan.headings, f"choose among {listing(plan.headings)}"
            )
            raise InputError(
                "unknown-name", what="computed measure", value=name, remedy=remedy
            )
        for place, pair in enumerate(pairs):
            if pair in meant:  # what is cut off stays
                made[place] = text + plan.headings[place].removeprefix(pair[0])
    if len({*made}) < len({*plan.headings}):
        raise InputError(
            "duplicate", role="the heading", value=max(made, key=made.count)
        )
    return plan._replace(headings=made)


def _plan_named(
    kind: Kind,
    tasks: Tasks,
    options: Options,
    cuts: Sequence[int],
    rules: Sequence[str | None],
) -> Plan:
    named, absent = options.measures, []
    if named is None:
        defaults = kind.default_measures(tasks, options)
        named = parse_all(defaults.measures, kind.name)
        absent = [NotComputed(*pair, pair[0]) for pair in defaults.absent.items()]
    keep = options.keep_at_least
    chosen: dict[Measure, None] = {}
    several = list(parse_all(listed(named), first=kind.name))
    for measure in several:
        for rule in rules:
            decoded = _decode(measure, rule, keep, alone=len(rules) == 1)
            free = decoded.definition.cutoff and decoded.k is None
            for k in cuts if free and cuts else (decoded.k,):
                chosen[decoded if k is None else decoded @ k] = None
    if not chosen:
        raise InputError(
            "nothing-given", what="measures", remedy="name one, or leave measures out"
        )
    notes = _without_effect(several, cuts, rules, options)
    return Plan(list(chosen), list(map(name_as_asked, chosen)), absent, notes)


_OWN_CUTOFF = "the cutoff in the name takes precedence"
_NO_CUTOFF = "computed from all predictions, without a cutoff"
_OWN_RULE = "the decoding rule in the measure takes precedence"
_NO_RULE = "computed from the scores of all labels; for sets of labels use F1, Precision or Recall"


def _without_effect(
    measures: Sequence[Measure],
    cuts: Sequence[int],
    rules: Sequence[Any],
    options: Options,
) -> list[Fact]:
    """Return which measures do not take the cutoffs of ``top_k``, or the decoding rules."""
    own = {m: m.k is not None and cuts != (m.k,) for m in measures}
    none = {m: m.k is None and not m.definition.cutoff for m in measures}
    found = [("top_k", own, _OWN_CUTOFF), ("top_k", none, _NO_CUTOFF)] if cuts else []
    if set(rules) != {None}:
        given = (
            "threshold"
            if [*rules] == decoding_rules(None, options.threshold)
            else "decode"
        )
        own = {m: m["decode"] not in (None, "all", *rules) for m in measures}
        none = {m: m["decode"] is None for m in measures}
        found += [(given, own, _OWN_RULE), (given, none, _NO_RULE)]
    facts = []
    for option, chosen, reason in found:
        names = dict.fromkeys(str(measure) for measure in measures if chosen[measure])
        on = f"{listing(names, write=str)}: {reason}"
        facts += (
            [Fact("no-effect-on", values={"option": option, "on": on})] if names else []
        )
    return facts


def listed(measures: Any) -> list[str | Measure | Definition]:
    """Return the measures that a user names as a list."""
    return (
        [measures]
        if isinstance(measures, (str, Measure, Definition))
        else list(measures)
    )


def _plan_protocol(
    kind: Kind,
    tasks: Tasks,
    options: Options,
    cuts: Sequence[int],
    rules: Sequence[str | None],
) -> Plan:
    protocol, keep = find_protocol(str(options.protocol)), options.keep_at_least
    if (keep or set(rules) != {None}) and not protocol.decode:
        what = f"protocol {protocol.name}"
        raise InputError("fixed-by", what=what, names="decode and keep_at_least")
    plan = Plan([], [], [NotComputed(*pair) for pair in protocol.absent.items()], [])
    of_parts = {part: task for parts in tasks.values() for part, task in parts.items()}
    for part, task in of_parts.items():
        expected = protocol.sizes.get(part, len(task))
        if len(task) != expected:
            values = {
                "unit": task.unit,
                "protocol": protocol.name,
                "expected": expected,
            }
            plan.notes.append(Fact("other-size", len(task), where=part, values=values))
    every: Sequence[int | None] = cuts or protocol.top_k or (None,)
    for place, rule in enumerate(rules):
        for k, (heading, text) in product(every, protocol.entries.items()):
            heading = heading if k is None else f"{heading}@{k}"
            # a rule that is given, in place of the one for logits
            text = text.replace(
                "{logits}", (rule or "{logits}").replace("threshold:", "at-least:")
            )
            filled, lacking = kind.complete_measure(text, tasks, options)
            if lacking:
                if not place and heading.partition("@")[0] not in protocol.optional:
                    named = filled if k is None else f"{filled}@{k}"
                    plan.not_computed.append(NotComputed(heading, lacking, named))
                continue
            (measure,) = parse(filled, kind.name)
            measure = _decode(measure, rule, keep)
            plan.measures.append(measure if k is None else measure @ k)
            ruled = len(rules) > 1 and measure["decode"] is not None
            plan.headings.append(f"{heading} [{rule}]" if ruled else heading)
    return plan


def _decode(
    measure: Measure, rule: str | None, keep: int, *, alone: bool = True
) -> Measure:
    """Give a measure the decoding rule, where it has none of its own."""
    if measure["decode"] is None:
        return measure
    if rule is not None and measure["decode"] == "all":
        measure = measure.with_options(decode=rule)
        if not alone:  # what was asked for does not tell them apart
            measure = replace(measure, asked=(name_as_asked(measure), *measure.asked))
    if keep and measure["keep_at_least"] == 0 and measure["decode"] != "all":
        measure = measure.with_options(keep_at_least=keep)
    return measure


OWN_REFERENCES = {
    "keep": "kept",
    "drop-candidate": "left out, with their judgements",
    "drop-reference": "compared with the other references",
}
"""What becomes of a candidate that is one of its own references."""


class AgreementProtocol(NamedTuple):
    """How agreement with one set of judgements is measured.

    Attributes
    ----------
    name, title, source : str
    statistics : tuple of str
        The first is the one that papers print.
    aggregate : {"none", "mean"}
        Whether judgements of the same candidate are averaged.
    preferences : bool
        Whether people prefer one of two candidates.
    own_references : {"keep", "drop-candidate", "drop-reference"}
        What becomes of a candidate that is one of its own references.
    draw_references : int or None
        How many references are drawn.
    columns : mapping from role to column
    group_by, ids : str or None
        As for `semmetrics.meta`.
    expected : int or None
        How many judgements papers have.
    cite : tuple of str
        Keys of publications.
    files : str
        The files of an example, as ``semmetrics meta`` takes them.
    """

    name: str
    title: str
    source: str
    statistics: tuple[str, ...]
    cite: tuple[str, ...]
    files: str
    aggregate: str = "none"
    preferences: bool = False
    own_references: str = "keep"
    draw_references: int | None = None
    columns: Mapping[str, str] = {}
    group_by: str | None = None
    ids: str | None = None
    expected: int | None = None


_OF_AGREEMENT = (
    AgreementProtocol(
        name="flickr8k-expert",
        title="Flickr8k-Expert: ratings from 1 to 4, three of each caption, each for itself",
        source="Hodosh et al. 2013; Anderson et al. 2016; Hessel et al. 2021, appendix A",
        statistics=("kendall-c",),
        own_references="drop-candidate",
        expected=16_992,
        cite=("hodosh2013", "anderson2016", "hessel2021"),
        files="flickr8k.json",
    ),
    AgreementProtocol(
        name="flickr8k-cf",
        title="Flickr8k-CF: the share of people who say that a caption describes an image, which "
        "is a mean of three or more",
        source="Hodosh et al. 2013; Hessel et al. 2021, appendix A",
        statistics=("kendall-b",),
        own_references="drop-reference",
        expected=47_830,
        cite=("hodosh2013", "hessel2021"),
        files="crowdflower_flickr8k.json",
    ),
    AgreementProtocol(
        name="composite",
        title="Composite: ratings from 1 to 5 of captions of Flickr8k, Flickr30k and COCO together",
        source="Aditya et al. 2018; Hessel et al. 2021, appendix A (tau-c)",
        statistics=("kendall-c", "kendall-b"),
        own_references="drop-reference",
        cite=("aditya2018", "hessel2021"),
        files="composite.csv",
    ),
    AgreementProtocol(
        name="pascal-50s",
        title="Pascal-50S: which of two captions people prefer, five references drawn of 48",
        source="Vedantam et al. 2015; Hessel et al. 2021",
        statistics=("accuracy",),
        preferences=True,
        draw_references=5,
        expected=4_000,
        cite=("vedantam2015", "hessel2021"),
        files="pyCIDErConsensus/",
    ),
    AgreementProtocol(
        name="cxc-sits",
        title="CxC: how well captions of COCO suit images, from 0 to 5, by way of sampling",
        source="Parekh et al. 2021; Biten et al. 2022, table 1 (Pearson)",
        statistics=("pearson", "spearman"),
        own_references="drop-reference",
        columns={"candidate": "caption", "reference": "image", "rating": "agg_score"},
        group_by="sampling_method",
        ids=r"0*(\d+)(?:[.]jpg)?$",
        cite=("parekh2021", "biten2022"),
        files="sits_test.csv captions.json refs.json",
    ),
)
AGREEMENT_PROTOCOLS: Mapping[str, AgreementProtocol] = {
    one.name: one for one in _OF_AGREEMENT
}
"""The protocols by name."""


def find_agreement_protocol(name: str) -> AgreementProtocol:
    """Return a protocol.

    Raises
    ------
    InputError
        If there is none of that name.

    Examples
    --------
    >>> find_agreement_protocol("flickr8k-expert").statistics
    ('kendall-c',)
    """
    others = "others belong to score (semmetrics score)"
    return _find(name, AGREEMENT_PROTOCOLS, "agreement protocol", others)
