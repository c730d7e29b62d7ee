"""The protocols of papers: their measures, with all conventions.

Conventions
-----------
A protocol contains the measures of a paper, the headings under which the paper prints
them, and the options for reading the data. Its options replace the defaults. An option of
the user that contradicts them raises an error.

A protocol of agreement sets how the agreement with human judgements is measured: the
statistic, the columns of the file of judgements, whether judgements of the same candidate
are averaged, and what happens to candidates that are among their own references.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from semmetrics.errors import InputError
from semmetrics.messages import as_sentence, did_you_mean, fold, listing

P = TypeVar("P")


class Protocol(NamedTuple):
    """The measures of one paper.

    Attributes
    ----------
    name : str
    title : str
    source : str
        The papers, with sections and tables.
    entries : mapping from heading to measure
        A measure may contain "{q}" or "{logits}", which are completed from the data.
    settings : mapping from option to value
        The options that the protocol fixes.
    top_k : tuple of int
        The cutoffs if the user requests none. Empty for no cutoff.
    decode : bool
        Whether predictions may be scores that a decoding rule turns into sets.
    kind : str
        The kind of data.
    absent : mapping from heading to reason
        Values of the paper that semmetrics does not compute. Results show them as not
        computed.
    sizes : mapping from part to int
        The number of items in the data of the paper. A note reports a different number.
    optional : frozenset of str
        Headings that are omitted silently if the data do not allow them.
    percent : bool
        Whether the paper prints values in percent. Results are then printed in percent.
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


@dataclass(frozen=True)
class NotComputed:
    """A measure of a protocol that cannot be computed on the data.

    Attributes
    ----------
    heading : str
    reason : str
        Why, and what to do.
    measure : str or None
        None if semmetrics does not have the measure.
    """

    heading: str
    reason: str
    measure: str | None = None


# ---- label sets -----------------------------------------------------------------------

_EACH_LABEL = "duplicates=each,empty=0"
_BY_MEANING = f"{_EACH_LABEL},threshold=0.4,match=greedy"
_MACRO = "average=macro,labels=reference,absent=0"
_MICRO = "average=micro,labels=reference,empty=0"

_KUBANY_2020 = Protocol(
    name="kubany2020",
    title="label lists against label lists: example-based and label-based metrics",
    source="Kubany et al. 2020, equations 1-12 and tables 2-10",
    entries={
        "Accuracy": f"Jaccard({_EACH_LABEL})",
        "Accuracy (Semantic)": f"SemJaccard({_BY_MEANING})",
        "Recall": f"Recall({_EACH_LABEL})",
        "Recall (Semantic)": f"SemRecall({_BY_MEANING})",
        "Precision": f"Precision({_EACH_LABEL})",
        "Precision (Semantic)": f"SemPrecision({_BY_MEANING})",
        "F1": f"F1({_EACH_LABEL})",
        "F1 (Semantic)": f"SemF1({_BY_MEANING})",
        "Macro Precision": f"Precision({_MACRO})",
        "Macro Recall": f"Recall({_MACRO})",
        "Macro F1": f"F1({_MACRO})",
        "Micro Precision": f"Precision({_MICRO})",
        "Micro Recall": f"Recall({_MICRO})",
        "Micro F1": f"F1({_MICRO})",
        "WMD": "WMD(build=text)",
        "Fine-Tuned BERT": "BagSim(embedding=bert-base-nli-stsb-wkpooling)",
        "Fine-Tuned RoBERTa": "BagSim(embedding=roberta-base-nli-stsb-mean-tokens)",
        "Vanilla BERT": "BagSim(embedding=bert-base-uncased)",
        "Vanilla RoBERTa": "BagSim(embedding=roberta-base)",
        "Vanilla XLNet": "BagSim(embedding=xlnet-base-cased)",
        "Average Precision": f"AP({_EACH_LABEL},normalize=hits)",
        "Average Precision (Semantic)": f"SemAP({_BY_MEANING},normalize=hits)",
        "Balanced Accuracy": f"BalancedAccuracy({_EACH_LABEL},q={{q}})",
    },
    settings={
        "normalize": "kubany2020",
        "missing": "skip",
        "empty_predictions": "skip",
        "lookup": "kubany2020",
        "oov": "unknown",
    },
    top_k=(1, 3, 5),
    # Section 5.2 names these models, but the tables of the paper have no columns for them.
    optional=frozenset(["Vanilla BERT", "Vanilla RoBERTa", "Vanilla XLNet"]),
)

_PINEDA_2019 = Protocol(
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
)

_COCO_MULTILABEL = Protocol(
    name="coco-multilabel",
    title="the usual table of multi-label recognition: all predictions, and the "
    "three highest",
    source="Chen et al. 2019, section 4.1, and the released code of ML-GCN",
    entries={
        "mAP": "mAP",
        "CP": "CP(decode={logits})",
        "CR": "CR(decode={logits})",
        "CF1": "CF1(decode={logits})",
        "OP": "OP(decode={logits})",
        "OR": "OR(decode={logits})",
        "OF1": "OF1(decode={logits})",
        "CP (top 3)": "CP(decode={logits})@3",
        "CR (top 3)": "CR(decode={logits})@3",
        "CF1 (top 3)": "CF1(decode={logits})@3",
        "OP (top 3)": "OP(decode={logits})@3",
        "OR (top 3)": "OR(decode={logits})@3",
        "OF1 (top 3)": "OF1(decode={logits})@3",
    },
    settings={},
    decode=True,
    percent=True,
)

# ---- captions -------------------------------------------------------------------------

_COCO_CAPTION = Protocol(
    name="coco-caption",
    title="captions against references, with the measures that the COCO evaluation "
    "code prints",
    source="Chen et al. 2015 (COCO captions), and pycocoevalcap 1.2",
    entries={
        "Bleu_1": "BLEU-1",
        "Bleu_2": "BLEU-2",
        "Bleu_3": "BLEU-3",
        "Bleu_4": "BLEU-4",
        "METEOR": "METEOR",
        "ROUGE_L": "ROUGE-L",
        "CIDEr": "CIDEr-D",
        "SPICE": "SPICE",
    },
    settings={"tokenizer": "ptb"},
    kind="captions",
)

# ---- retrieval ------------------------------------------------------------------------

_BOTH_DIRECTIONS = {"direction": "both", "ties": "position", "missing": "error"}
_WITHOUT_GT = "phi=SPICE,ground_truth=left-out"
# 30 is the largest cutoff of the released code.
_EXTENDED = f"{_WITHOUT_GT},similar=images,depth=30"

_COCO_5K = Protocol(
    name="coco-5k",
    title="image-text retrieval on the 5,000 test images of COCO, both directions",
    source="the evaluation code of VSE++ (Faghri et al. 2018), Karpathy's test split",
    entries={
        "R@1": "HitRate@1",
        "R@5": "HitRate@5",
        "R@10": "HitRate@10",
        "MedR": "MedR",
        "MeanR": "MeanR",
        "Rsum": "Rsum",
    },
    settings=_BOTH_DIRECTIONS,
    kind="retrieval",
    percent=True,
    sizes={"i2t": 5000, "t2i": 25000},
)

_COCO_1K = _COCO_5K._replace(
    name="coco-1k",
    title="coco-5k in five folds of 1,000 images, averaged over the folds",
    entries={
        "R@1": "HitRate@1",
        "R@5": "HitRate@5",
        "R@10": "HitRate@10",
        "Rsum": "Rsum",
    },
    settings={**_BOTH_DIRECTIONS, "folds": 5},
    absent={
        "MedR": "is a mean of the medians of the folds: score each fold separately"
    },
)

_F30K = _COCO_5K._replace(
    name="f30k",
    title="image-text retrieval on the 1,000 test images of Flickr30k, both directions",
    sizes={"i2t": 1000, "t2i": 5000},
)

_BITEN_2022 = Protocol(
    name="biten2022",
    title="image-text retrieval evaluated by meaning, both directions: recall and NCS",
    source="Biten et al. 2022, sections 3.4 and 5, tables 2 to 5, figure 3. The "
    "models are trained with margins from CIDEr and evaluated with SPICE",
    entries={
        "R@1": "HitRate@1",
        "R@5": "HitRate@5",
        "R@10": "HitRate@10",
        "R@1, equation 1": "Recall@1",
        "R@5, equation 1": "Recall@5",
        "R@10, equation 1": "Recall@10",
        "N@1": "NCS(phi=SPICE)@1",
        "N@5": "NCS(phi=SPICE)@5",
        "N@10": "NCS(phi=SPICE)@10",
        "N@1, without GT": f"NCS({_WITHOUT_GT})@1",
        "N@5, without GT": f"NCS({_WITHOUT_GT})@5",
        "N@10, without GT": f"NCS({_WITHOUT_GT})@10",
        "SR@5, m=1, without GT": f"SR(m=1,{_EXTENDED})@5",
        "SR@5, m=2, without GT": f"SR(m=2,{_EXTENDED})@5",
        "SR@5, m=3, without GT": f"SR(m=3,{_EXTENDED})@5",
        "R@5, m=1, without GT": f"SR(m=1,variant=hit,{_EXTENDED})@5",
        "R@5, m=2, without GT": f"SR(m=2,variant=hit,{_EXTENDED})@5",
        "R@5, m=3, without GT": f"SR(m=3,variant=hit,{_EXTENDED})@5",
        "Rsum": "Rsum",
        "Nsum": "Nsum(phi=SPICE)",
        "Nsum(N)": f"Nsum({_WITHOUT_GT})",
    },
    settings=_BOTH_DIRECTIONS,
    kind="retrieval",
    percent=True,
)

_ECCV = Protocol(
    name="eccv",
    title="image-text retrieval with the positives of ECCV Caption, both directions",
    source="Chun et al. 2022, and eccv-caption 0.1.0",
    entries={"mAP@R": "mAP@R", "R-P": "R-Precision", "R@1": "HitRate@1"},
    settings={**_BOTH_DIRECTIONS, "missing": "skip"},
    kind="retrieval",
    percent=True,
    sizes={"i2t": 1261, "t2i": 1332},
)

# ---- classes --------------------------------------------------------------------------

_XIAN_2018 = Protocol(
    name="xian2018",
    title="conventional and generalised zero-shot classification: per-class accuracy "
    "and H",
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
)

_PROTOCOLS_IN_ORDER = (
    _KUBANY_2020,
    _PINEDA_2019,
    _COCO_MULTILABEL,
    _COCO_CAPTION,
    _COCO_5K,
    _COCO_1K,
    _F30K,
    _BITEN_2022,
    _ECCV,
    _XIAN_2018,
)
PROTOCOLS = {protocol.name: protocol for protocol in _PROTOCOLS_IN_ORDER}
"""The protocols by name, in the order of lists."""


# ---- agreement ------------------------------------------------------------------------

OWN_REFERENCES = {
    "keep": "kept",
    "drop-candidate": "left out, with their judgements",
    "drop-reference": "compared with the other references",
}
"""What happens to candidates that are among their own references, by policy."""


class AgreementProtocol(NamedTuple):
    """How the agreement with one set of human judgements is measured.

    Attributes
    ----------
    name : str
    title : str
    source : str
        The papers.
    statistics : tuple of str
        The statistic that papers print comes first.
    cite : tuple of str
        Keys of publications.
    files : str
        Example files on the command line of ``semmetrics meta``.
    aggregate : {"none", "mean"}
        Whether judgements of the same candidate are averaged.
    preferences : bool
        Whether people prefer one of two candidates.
    own_references : {"keep", "drop-candidate", "drop-reference"}
        The policy for candidates that are among their own references.
    draw_references : int or None
        The number of references to draw for each candidate. None uses all.
    columns : mapping from role to column
        The columns of the file of judgements.
    group_by, ids : str or None
        As in `semmetrics.meta`.
    expected : int or None
        The number of judgements in the papers.
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


_AGREEMENT_PROTOCOLS_IN_ORDER = (
    AgreementProtocol(
        name="flickr8k-expert",
        title="Flickr8k-Expert: three ratings from 1 to 4 for each caption, which count "
        "separately",
        source="Hodosh et al. 2013; Anderson et al. 2016; Hessel et al. 2021, appendix A",
        statistics=("kendall-c",),
        own_references="drop-candidate",
        expected=16_992,
        cite=("hodosh2013", "anderson2016", "hessel2021"),
        files="flickr8k.json",
    ),
    AgreementProtocol(
        name="flickr8k-cf",
        title="Flickr8k-CF: the share of people who say that a caption describes an "
        "image, a mean of three or more judgements",
        source="Hodosh et al. 2013; Hessel et al. 2021, appendix A",
        statistics=("kendall-b",),
        own_references="drop-reference",
        expected=47_830,
        cite=("hodosh2013", "hessel2021"),
        files="crowdflower_flickr8k.json",
    ),
    AgreementProtocol(
        name="composite",
        title="Composite: ratings from 1 to 5 for captions from Flickr8k, Flickr30k and "
        "COCO together",
        source="Aditya et al. 2018; Hessel et al. 2021, appendix A (tau-c)",
        statistics=("kendall-c", "kendall-b"),
        own_references="drop-reference",
        cite=("aditya2018", "hessel2021"),
        files="composite.csv",
    ),
    AgreementProtocol(
        name="pascal-50s",
        title="Pascal-50S: which of two captions people prefer, with five references "
        "drawn from 48",
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
        title="CxC: how well COCO captions describe images, from 0 to 5, by sampling "
        "method",
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
    protocol.name: protocol for protocol in _AGREEMENT_PROTOCOLS_IN_ORDER
}
"""The protocols of agreement by name."""


# ---- finding --------------------------------------------------------------------------

# Common names of benchmarks, folded, and their protocols.
_HINTS_BY_BENCHMARK = {
    "flickr": "did you mean f30k?",
    "flickr30k": "did you mean f30k?",
    "eccvcaption": "did you mean eccv?",
    "mscoco": "did you mean coco-caption, coco-5k, coco-1k or coco-multilabel?",
    "gzsl": "did you mean xian2018?",
    "zsl": "did you mean xian2018?",
}


def find_protocol(name: str) -> Protocol:
    """Return the protocol with this name.

    Raises
    ------
    InputError
        If it does not exist. The message suggests similar names.

    Examples
    --------
    >>> find_protocol("pineda2019").entries["C-F1"]
    'C-F1(labels=given)'
    """
    elsewhere = "protocols of human judgements belong to `semmetrics meta`"
    return _find(name, PROTOCOLS, "protocol", elsewhere)


def find_agreement_protocol(name: str) -> AgreementProtocol:
    """Return the protocol of agreement with this name.

    Raises
    ------
    InputError
        If it does not exist. The message suggests similar names.

    Examples
    --------
    >>> find_agreement_protocol("flickr8k-expert").statistics
    ('kendall-c',)
    """
    elsewhere = "other protocols belong to `semmetrics score`"
    return _find(name, AGREEMENT_PROTOCOLS, "agreement protocol", elsewhere)


def _find(name: str, protocols: Mapping[str, P], what: str, elsewhere: str) -> P:
    """Return the protocol with this name.

    Parameters
    ----------
    name : str
    protocols : mapping from name to protocol
    what : str
        The noun for these protocols in messages.
    elsewhere : str
        The remedy if the name is one of the other protocols.
    """
    if name in protocols:
        return protocols[name]
    remedy = _remedy_for_name(name, protocols, elsewhere)
    raise InputError("unknown-name", what=what, value=name, remedy=remedy)


def _remedy_for_name(name: str, protocols: Mapping[str, Any], elsewhere: str) -> str:
    """Return what to write instead of an unknown name."""
    if name.partition("(")[0] in protocols:
        return "a protocol has no options. Name its measures with options instead"
    if name in PROTOCOLS or name in AGREEMENT_PROTOCOLS:
        return elsewhere
    if protocols is PROTOCOLS and fold(name) in _HINTS_BY_BENCHMARK:
        return _HINTS_BY_BENCHMARK[fold(name)]
    names = listing(protocols, most=len(protocols))
    otherwise = f"choose one of {names}. {as_sentence(elsewhere)}"
    return did_you_mean(name, protocols, otherwise)
