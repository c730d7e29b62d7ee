"""Protocols: the measures of a paper with all its conventions fixed.

Conventions
-----------
A protocol names measures, the headings that the paper prints them under, and how the data are
read. Its conventions win over defaults; options that would change a number are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.registry import parse
from semmetrics.scoring.score import NotComputed

__all__ = ["PROTOCOLS", "Plan", "Protocol", "find_protocol"]


@dataclass(frozen=True)
class Plan:
    """What to compute: measures, their headings, and what cannot be computed."""

    measures: list[Measure]
    headings: list[str]
    not_computed: list[NotComputed] = field(default_factory=list)


@dataclass(frozen=True)
class Protocol:
    """The measures of one paper.

    Attributes
    ----------
    name, title, source : str
    entries : mapping from heading to measure
    settings : mapping
        Fixed options of the data (normalize, missing, unpredicted, tokenizer) and of looking
        labels up (lookup, oov).
    top_k : tuple of int
        Cutoffs when none are asked for; empty for none.
    decode : bool
        Whether predictions may be scores that a decoding rule turns into sets.
    task : str
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
    task: str = "labels"
    absent: Mapping[str, str] = field(default_factory=dict)

    def plan(
        self,
        top_k: tuple[int, ...] = (),
        n_classes: int | None = None,
        decode: str | None = None,
        min_labels: int = 0,
        embeddings: Mapping[str, Any] = MappingProxyType({}),
    ) -> Plan:
        """The protocol's measures at each cutoff.

        Parameters
        ----------
        top_k : tuple of int
        n_classes : int, optional
            The size of the class list, where one is given.
        decode : str, optional
            A decoding rule, for protocols that score label scores.
        min_labels : int
        embeddings : mapping from name
            What is given to compare labels with.

        Returns
        -------
        Plan
        """
        if (decode is not None or min_labels) and not self.decode:
            raise InputError(
                f"protocol {self.name} takes label lists and no decoding rule",
                remedy="leave decode and min_labels out",
            )
        result = Plan([], [], [NotComputed(*pair) for pair in self.absent.items()])
        cuts: tuple[int | None, ...] = top_k or self.top_k or (None,)
        for k in cuts:
            for heading, text in self.entries.items():
                title = heading if k is None else f"{heading}@{k}"
                lacking = _lacking(text, n_classes, embeddings)
                if lacking:
                    result.not_computed.append(NotComputed(title, lacking))
                    continue
                (measure,) = parse(text.replace("{q}", str(n_classes)))
                if decode is not None:
                    measure = measure.with_options(decode=decode)
                if min_labels:
                    measure = measure.with_options(min_labels=min_labels)
                result.measures.append(measure if k is None else measure @ k)
                result.headings.append(title)
        return result


def _lacking(text: str, n_classes: int | None, embeddings: Mapping[str, Any]) -> str:
    """What an entry needs and is not given, with the option that gives it; empty for nothing."""
    if "{q}" in text and n_classes is None:
        needs = "needs the number of labels of the data set: give the class list"
        return f"{needs} (--classes FILE)"
    if "labels=given" in text and n_classes is None:
        return "is a mean over the whole dictionary: give the class list (--classes FILE)"
    if text == "METEOR":
        from semmetrics.metrics.captions.meteor import meteor_missing

        return meteor_missing()
    name = _MODEL.search(text)
    if name is not None and name[1] not in embeddings:
        model = name[1]
        return f"needs the sentence model {model}: --embedding {model}=sbert:{model}"
    if text.startswith(_ON_WORDS) and embeddings.get("default", "static") == "static":
        return "needs word vectors (the paper's are GoogleNews word2vec): --embedding FILE"
    return ""


_MODEL = re.compile(r"embedding=([^,)]+)")
_ON_WORDS = ("Sem", "WMD")
_LISTS = "count=list,empty=0"
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
                "unpredicted": "skip",
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
            task="captions",
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
