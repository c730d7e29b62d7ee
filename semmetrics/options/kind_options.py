"""The options of a score for captions, retrieval, classes and intervals."""

# No "from __future__ import annotations": the tables read the annotations themselves.

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypedDict

from semmetrics.options.choices import (
    CAPTIONS,
    CERTAINTY,
    CLASSES,
    FOR_CAPTIONS,
    FOR_CLASSES,
    FOR_RETRIEVAL,
    FOR_TEXTS,
    RETRIEVAL,
)
from semmetrics.options.option import Data, Option, Path


class CaptionOptions(TypedDict, total=False):
    """What captions are compared by."""

    tokenizer: Annotated[
        Any,
        Option(
            "What splits captions into tokens; ptb does as the COCO code does.",
            CAPTIONS,
            default="ptb",
            kinds=FOR_TEXTS,
            key="tok",
            signed=True,
            choices=("ptb", "ptb-java", "13a", "whitespace"),
        ),
    ]
    doc_freq: Annotated[
        Data,
        Option(
            "Document frequencies for CIDEr-D and CIDEr, in place of "
            "those of the references: .npz, .json, or a pickle of the COCO code, which is read and "
            "never run.",
            CAPTIONS,
            kinds=FOR_TEXTS,
            file=True,
            acts_by="df",
        ),
    ]
    tuples: Annotated[
        Data | Callable[..., Any],
        Option(
            "Scene graphs for SPICE, SPIDEr and "
            "Soft-SPICE, as 'semmetrics spice parse' writes them: [object], [object, attribute] and, "
            "in this order, [subject, object, relation]. In Python also {caption: tuples}, or a "
            "function from captions to the tuples of each.",
            CAPTIONS,
            kinds=FOR_TEXTS,
            file=True,
            acts_by="parser",
        ),
    ]
    score_references: Annotated[
        bool,
        Option(
            "Score the references too, each against the others of "
            "its image, as the system 'human'.",
            CAPTIONS,
            default=False,
            kinds=FOR_CAPTIONS,
            key="cand",
            read=bool,
            batch="whole",
        ),
    ]


class RetrievalOptions(TypedDict, total=False):
    """What is retrieved."""

    queries: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The ids of the queries (one a line, or "
            "JSON), in the order of the rows of the matrix or of their embeddings.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
        ),
    ]
    gallery: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The ids of the candidates (one a line, "
            "or JSON), in the order of the columns of the matrix or of their embeddings.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            key="gallery",
            file=True,
        ),
    ]
    queries_embeddings: Annotated[
        Data,
        Option(
            "Vectors of the queries (.npy, .npz, .h5), one a "
            "row, in place of a matrix of similarities; with those of the gallery.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
            instead=True,
        ),
    ]
    gallery_embeddings: Annotated[
        Data,
        Option(
            "Vectors of the candidates, one a row.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
        ),
    ]
    phi: Annotated[
        Data,
        Option(
            "How similar rows and columns (images and captions) are in "
            "meaning: a matrix of their shape, as semmetrics pairs writes it, for NCS, SR and nDCG; or "
            "CIDEr-D, CIDEr, METEOR, SPICE or BagSim, computed from captions. With NAME= it is that of "
            "measures such as 'NCS(phi=NAME)@10'.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            metavar="[NAME=]FILE",
            repeat=True,
            file=True,
        ),
    ]
    captions: Annotated[
        Data,
        Option(
            "The text of each caption of the gallery, {id: caption} or in "
            "the order of the columns, of which phi is computed: CIDEr-D, or what --phi, "
            "'NCS(phi=SPICE)@10' or a protocol say. The positives of an image are its references.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
            batch="kept",
        ),
    ]
    similarity: Annotated[
        str | None,
        Option(
            "How vectors are compared: by their cosine, or their dot product.",
            RETRIEVAL,
            default="cosine",
            kinds=FOR_RETRIEVAL,
            key="similarity",
            signed=True,
            choices=("cosine", "dot"),
        ),
    ]
    direction: Annotated[
        str | None,
        Option(
            "Which side are the queries: the rows of the matrix "
            "(i2t), its columns (t2i, with the row positives transposed), or each in turn (both).",
            RETRIEVAL,
            default="i2t",
            kinds=FOR_RETRIEVAL,
            key="direction",
            signed=True,
            choices=("i2t", "t2i", "both"),
        ),
    ]
    reverse_positives: Annotated[
        Data,
        Option(
            "The positives of each column, for t2i; without "
            "them, the row positives, transposed.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
        ),
    ]
    ties: Annotated[
        str | None,
        Option(
            "How equal similarities, or scores, are ranked: the first "
            "in the gallery or class list first (position), what is true before others (optimistic), "
            "or others before what is true (pessimistic).",
            RETRIEVAL,
            default="position",
            kinds=FOR_RETRIEVAL + FOR_CLASSES,
            key="tie",
            signed=True,
            choices=("position", "optimistic", "pessimistic"),
        ),
    ]
    ignore_identical_ids: Annotated[
        bool,
        Option(
            "Leave candidates out of ranked lists if their id "
            "is the id of the query, as BEIR does.",
            RETRIEVAL,
            default=False,
            kinds=FOR_RETRIEVAL,
            key="identical",
            signed=True,
            read=bool,
        ),
    ]
    folds: Annotated[
        int | None,
        Option(
            "Cut the rows into so many parts of equal size, in their "
            "order, and rank the candidates of a part alone: those that are positives of its rows.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            key="folds",
            signed=True,
            read=int,
            least=2,
        ),
    ]


class ClassOptions(TypedDict, total=False):
    """Which classes are seen."""

    seen: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The seen classes, those of training (one "
            "a line, or JSON); names, or places in the class list.",
            CLASSES,
            kinds=FOR_CLASSES,
            key="seen",
            file=True,
        ),
    ]
    unseen: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The unseen classes, which training had no image of.",
            CLASSES,
            kinds=FOR_CLASSES,
            key="unseen",
            file=True,
        ),
    ]
    class_lists: Annotated[
        Mapping[str, Any] | None,
        Option(
            "Further lists of classes by name, for "
            "measures such as 'PerClassAccuracy(labels=NAME)'.",
            CLASSES,
            kinds=FOR_CLASSES,
            flags=("--class-list",),
            metavar="NAME=FILE",
            repeat=True,
            file=True,
        ),
    ]
    populations: Annotated[
        Data,
        Option(
            "How many images each class has ({class: number}, or CSV), "
            "for the lists of the 500 most and least populated classes, M500 and L500, and others of "
            "that form.",
            CLASSES,
            kinds=FOR_CLASSES,
            file=True,
        ),
    ]
    hops: Annotated[
        Data,
        Option(
            "How many hops of a hierarchy each class is from the seen ones "
            "({class: number}, or CSV), for the lists of classes within two hops, 2H, and others of "
            "that form.",
            CLASSES,
            kinds=FOR_CLASSES,
            file=True,
        ),
    ]
    pretraining: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The classes that the features were "
            "trained on; unseen classes in this list are reported.",
            CLASSES,
            kinds=FOR_CLASSES,
            file=True,
        ),
    ]


class IntervalOptions(TypedDict, total=False):
    """Confidence intervals."""

    ci: Annotated[
        Any,
        Option(
            "Compute confidence intervals.",
            CERTAINTY,
            default=False,
            signed=True,
            read=bool,
            common=True,
        ),
    ]
    ci_method: Annotated[
        str,
        Option(
            "How the limits of intervals are found: percentile, bca, "
            "jackknife, jackknife-bias, wilson, hall; poisson, which keeps no items; or auto, the "
            "method that suits each measure.",
            CERTAINTY,
            default="auto",
            signed=True,
            choices=(
                "auto",
                "percentile",
                "bca",
                "jackknife",
                "jackknife-bias",
                "wilson",
                "hall",
                "poisson",
            ),
            metavar="M",
        ),
    ]
    seed: Annotated[
        int,
        Option(
            "Seed of the resamples.", CERTAINTY, default=12345, signed=True, read=int
        ),
    ]
    resamples: Annotated[
        int,
        Option(
            "Number of resamples, at most a million.",
            CERTAINTY,
            default=1000,
            signed=True,
            read=int,
        ),
    ]
    level: Annotated[
        float,
        Option(
            "Confidence level, between 0 and 1.",
            CERTAINTY,
            default=0.95,
            signed=True,
            read=float,
        ),
    ]
