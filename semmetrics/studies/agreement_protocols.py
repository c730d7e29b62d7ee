"""How the literature measures agreement with people: a record for each set of judgements.

Conventions
-----------
A protocol fixes what is read of the file, what becomes of candidates that are among their own
references, whether judgements of the same candidate are averaged, and the statistic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from semmetrics.errors import InputError
from semmetrics.messages import did_you_mean, listing

OWN_REFERENCES = {
    "keep": "kept",
    "drop-candidate": "left out, with their judgements",
    "drop-reference": "compared with the other references",
}
"""What becomes of a candidate that is one of its own references."""


@dataclass(frozen=True, kw_only=True)
class AgreementProtocol:
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
    aggregate: str = "none"
    preferences: bool = False
    own_references: str = "keep"
    draw_references: int | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    group_by: str | None = None
    ids: str | None = None
    expected: int | None = None
    cite: tuple[str, ...]
    files: str


_EVERY = (
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
AGREEMENT_PROTOCOLS: Mapping[str, AgreementProtocol] = {one.name: one for one in _EVERY}
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
    if name not in AGREEMENT_PROTOCOLS:
        every = f"choose {listing(AGREEMENT_PROTOCOLS)}; others belong to score (semmetrics score)"
        remedy = did_you_mean(name, AGREEMENT_PROTOCOLS, every)
        raise InputError("unknown-name", what="agreement protocol", value=name, remedy=remedy)
    return AGREEMENT_PROTOCOLS[name]
