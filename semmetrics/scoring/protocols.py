"""The protocols of papers: their measures, with all conventions.

Conventions
-----------
A protocol names the measures of a paper, the headings under which the paper prints them, and how
the data are read. Its conventions replace the defaults. Options that would change a number raise
an error.

A protocol of agreement fixes what is read of a file of judgements, what becomes of candidates that
are among their own references, whether judgements of the same candidate are averaged, and the
statistic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, TypeVar

from semmetrics.errors import InputError
from semmetrics.messages import did_you_mean, fold, listing

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
