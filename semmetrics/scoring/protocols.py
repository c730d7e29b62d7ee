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
from semmetrics.metrics.definition import Measure
from semmetrics.scoring.parse import parse
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
        Fixed options of the data: normalize, missing, unpredicted.
    top_k : tuple of int
        Cutoffs when none are asked for; empty for none.
    decode : bool
        Whether predictions may be scores that a decoding rule turns into sets.
    """

    name: str
    title: str
    source: str
    entries: Mapping[str, str]
    settings: Mapping[str, str]
    top_k: tuple[int, ...] = ()
    decode: bool = False

    def plan(
        self,
        top_k: tuple[int, ...] = (),
        n_classes: int | None = None,
        decode: str | None = None,
        min_labels: int = 0,
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

        Returns
        -------
        Plan
        """
        if (decode is not None or min_labels) and not self.decode:
            raise InputError(
                f"protocol {self.name} takes label lists and no decoding rule",
                remedy="leave decode and min_labels out",
            )
        result = Plan([], [])
        cuts: tuple[int | None, ...] = top_k or self.top_k or (None,)
        for k in cuts:
            for heading, text in self.entries.items():
                self._add(result, heading, text, k, n_classes, decode, min_labels)
        return result

    def _add(
        self,
        plan: Plan,
        heading: str,
        text: str,
        k: int | None,
        n_classes: int | None,
        decode: str | None,
        min_labels: int,
    ) -> None:
        title = heading if k is None else f"{heading}@{k}"
        if "{q}" in text:
            if n_classes is None:
                reason = "needs the number of labels of the data set: give the class list"
                plan.not_computed.append(NotComputed(title, f"{reason} (--classes FILE)"))
                return
            text = text.replace("{q}", str(n_classes))
        if "labels=given" in text and n_classes is None:
            reason = "is a mean over the whole dictionary: give the class list (--classes FILE)"
            plan.not_computed.append(NotComputed(title, reason))
            return
        (measure,) = parse(text)
        if decode is not None:
            measure = measure.with_options(decode=decode)
        if min_labels:
            measure = measure.with_options(min_labels=min_labels)
        plan.measures.append(measure if k is None else measure @ k)
        plan.headings.append(title)


_LISTS = "count=list,empty=0"
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
                "Recall": f"Recall({_LISTS})",
                "Precision": f"Precision({_LISTS})",
                "F1": f"F1({_LISTS})",
                "Macro Precision": f"Precision(average=macro,{_BY_LABEL})",
                "Macro Recall": f"Recall(average=macro,{_BY_LABEL})",
                "Macro F1": f"F1(average=macro,{_BY_LABEL})",
                "Micro Precision": "Precision(average=micro,labels=reference,empty=0)",
                "Micro Recall": "Recall(average=micro,labels=reference,empty=0)",
                "Micro F1": "F1(average=micro,labels=reference,empty=0)",
                "Average Precision": f"AP({_LISTS},normalize=hits)",
                "Balanced Accuracy": f"BalancedAccuracy({_LISTS},q={{q}})",
            },
            settings={"normalize": "kubany2020", "missing": "skip", "unpredicted": "skip"},
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
