"""Protocols: the measures of a paper with all its conventions fixed.

Conventions
-----------
A protocol names measures, the headings that the paper prints them under, and how the data are
read. Its conventions win over defaults; options that would change a number are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from semmetrics.errors import InputError, listing

__all__ = ["PROTOCOLS", "Protocol", "find_protocol"]


@dataclass(frozen=True)
class Protocol:
    """The measures of one paper.

    Attributes
    ----------
    name, title, source : str
    entries : mapping from heading to measure
    settings : mapping
        The options that it fixes.
    top_k : tuple of int
        Cutoffs when none are asked for; empty for none.
    decode : bool
        Whether predictions may be scores that a decoding rule turns into sets.
    kind : str
        What is evaluated.
    absent : mapping from heading to text
        What the paper has and this library does not, and why; shown as not computed.
    """

    name: str
    title: str
    source: str
    entries: Mapping[str, str]
    settings: Mapping[str, str]
    top_k: tuple[int, ...] = ()
    decode: bool = False
    kind: str = "labels"
    absent: Mapping[str, str] = field(default_factory=dict)


_LISTS = "duplicates=each,empty=0"
_MEANING = f"{_LISTS},threshold=0.4,match=greedy"
_BY_LABEL = "labels=reference,absent=0"

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
                "Macro Precision": f"Precision(average=macro,{_BY_LABEL})",
                "Macro Recall": f"Recall(average=macro,{_BY_LABEL})",
                "Macro F1": f"F1(average=macro,{_BY_LABEL})",
                "Micro Precision": "Precision(average=micro,labels=reference,empty=0)",
                "Micro Recall": "Recall(average=micro,labels=reference,empty=0)",
                "Micro F1": "F1(average=micro,labels=reference,empty=0)",
                "WMD": "WMD(build=text)",
                "Fine-Tuned BERT": "BagSim(embedding=bert-base-nli-stsb-wkpooling)",
                "Fine-Tuned RoBERTa": "BagSim(embedding=roberta-base-nli-stsb-mean-tokens)",
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
            name="coco-caption",
            title="captions against references, as the COCO evaluation code prints them",
            source="Chen et al. 2015 (COCO captions), and pycocoevalcap 1.2",
            entries={
                **{f"Bleu_{n}": f"BLEU-{n}" for n in (1, 2, 3, 4)},
                "METEOR": "METEOR",
                "ROUGE_L": "ROUGE-L",
                "CIDEr": "CIDEr-D",
            },
            settings={"tokenizer": "ptb"},
            kind="captions",
            absent={"SPICE": "needs a scene graph parser, which semmetrics does not have"},
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
    if name not in PROTOCOLS:
        raise InputError(f"there is no protocol {name!r}", remedy=f"choose {listing(PROTOCOLS)}")
    return PROTOCOLS[name]
