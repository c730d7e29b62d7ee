"""The options of a score for captions, retrieval, classes and intervals."""

# No "from __future__ import annotations", because the tables read the annotations.

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, TypedDict

from semmetrics.options.choices import (
    CAPTIONS,
    CLASSES,
    FOR_CAPTIONS,
    FOR_CLASSES,
    FOR_RETRIEVAL,
    FOR_TEXTS,
    INTERVALS,
    RETRIEVAL,
)
from semmetrics.options.option import Data, Option, Path


class CaptionOptions(TypedDict, total=False):
    """Options for comparing captions."""

    tokenizer: Annotated[
        Any,
        Option(
            "Tokenizer that splits captions into tokens. ptb tokenizes as the COCO code "
            "does.",
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
            "Document frequencies for CIDEr-D and CIDEr, instead of the document "
            "frequencies of the references. The file is .npz, .json, or a pickle of the "
            "COCO code, which is read without executing any code.",
            CAPTIONS,
            kinds=FOR_TEXTS,
            file=True,
            measure_option="df",
        ),
    ]
    tuples: Annotated[
        Data | Callable[..., Any],
        Option(
            "Scene graphs for SPICE, SPIDEr and Soft-SPICE, as written by 'semmetrics spice "
            "parse'. Tuples are [object], [object, attribute] and, in this order, [subject, "
            "object, relation]. In Python also {caption: tuples}, or a function that maps "
            "captions to the tuples of each caption.",
            CAPTIONS,
            kinds=FOR_TEXTS,
            file=True,
            measure_option="parser",
        ),
    ]
    score_references: Annotated[
        bool,
        Option(
            "Also score each reference against the other references of its image, as the "
            "system 'human'.",
            CAPTIONS,
            default=False,
            kinds=FOR_CAPTIONS,
            key="cand",
            read=bool,
            batch="whole",
        ),
    ]


class RetrievalOptions(TypedDict, total=False):
    """Options for retrieval."""

    queries: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "Ids of the queries (one per line, or JSON), in the order of the rows of the "
            "similarity matrix or of the query embeddings.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
        ),
    ]
    gallery: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "Ids of the candidates (one per line, or JSON), in the order of the columns of "
            "the similarity matrix or of the gallery embeddings.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            key="gallery",
            file=True,
        ),
    ]
    queries_embeddings: Annotated[
        Data,
        Option(
            "Embeddings of the queries (.npy, .npz, .h5), one per row, instead of a "
            "similarity matrix. Requires embeddings of the gallery.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
            replaces_predictions=True,
        ),
    ]
    gallery_embeddings: Annotated[
        Data,
        Option(
            "Embeddings of the candidates, one per row.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
        ),
    ]
    phi: Annotated[
        Data,
        Option(
            "Semantic similarity of rows and columns (images and captions), for NCS, SR and "
            "nDCG. Either a matrix of the same shape, as written by semmetrics pairs, or "
            "CIDEr-D, CIDEr, METEOR, SPICE or BagSim, which is computed from captions. With "
            "NAME= it is used by measures such as 'NCS(phi=NAME)@10'.",
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
            "Captions of the gallery, as {id: caption} or in the order of the columns, from "
            "which phi is computed. phi is CIDEr-D unless --phi, 'NCS(phi=SPICE)@10' or a "
            "protocol selects another measure. The positives of an image serve as its "
            "references.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
            batch="kept",
        ),
    ]
    similarity: Annotated[
        str | None,
        Option(
            "Similarity of embeddings: cosine similarity or dot product.",
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
            "Which side contains the queries: the rows of the matrix (i2t), its columns "
            "(t2i, with the positives of the rows transposed), or each in turn (both).",
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
            "Positives of each column, for t2i. By default, the positives of the rows are "
            "transposed.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            file=True,
        ),
    ]
    ties: Annotated[
        str | None,
        Option(
            "Order of equal similarities or scores: the order of the gallery or class list "
            "(position), true candidates or classes first (optimistic), or last "
            "(pessimistic).",
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
            "Remove a candidate from a ranked list if its id is equal to the query's id, as "
            "BEIR does.",
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
            "Split the rows into this many folds of equal size, in order. In each fold, "
            "rank only the candidates that are positives of its rows.",
            RETRIEVAL,
            kinds=FOR_RETRIEVAL,
            key="folds",
            signed=True,
            read=int,
            least=2,
        ),
    ]


class ClassOptions(TypedDict, total=False):
    """Options for classes that were seen or not seen in training."""

    seen: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "Seen classes, which are the training classes (one per line, or JSON), as names "
            "or as positions in the class list.",
            CLASSES,
            kinds=FOR_CLASSES,
            key="seen",
            file=True,
        ),
    ]
    unseen: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "Unseen classes, which have no training images.",
            CLASSES,
            kinds=FOR_CLASSES,
            key="unseen",
            file=True,
        ),
    ]
    class_lists: Annotated[
        Mapping[str, Any] | None,
        Option(
            "Additional named class lists, for measures such as "
            "'PerClassAccuracy(labels=NAME)'.",
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
            "Number of images of each class ({class: number}, or CSV). It defines M500 and "
            "L500, the lists of the 500 most and least populated classes, and similar lists "
            "of other sizes.",
            CLASSES,
            kinds=FOR_CLASSES,
            file=True,
        ),
    ]
    hops: Annotated[
        Data,
        Option(
            "Number of hops in a hierarchy from each class to the seen classes ({class: "
            "number}, or CSV). It defines 2H, the list of classes within two hops, and "
            "similar lists for other numbers.",
            CLASSES,
            kinds=FOR_CLASSES,
            file=True,
        ),
    ]
    pretraining: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "Classes on which the features were trained. Unseen classes in this list are "
            "reported.",
            CLASSES,
            kinds=FOR_CLASSES,
            file=True,
        ),
    ]


class IntervalOptions(TypedDict, total=False):
    """Options for confidence intervals."""

    ci: Annotated[
        Any,
        Option(
            "Compute confidence intervals.",
            INTERVALS,
            default=False,
            signed=True,
            read=bool,
            common=True,
        ),
    ]
    ci_method: Annotated[
        str,
        Option(
            "Method for confidence intervals: percentile, bca, jackknife, jackknife-bias, "
            "wilson, hall, poisson (works without stored items), or auto (the method that "
            "suits each measure).",
            INTERVALS,
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
            "Random seed for resampling.",
            INTERVALS,
            default=12345,
            signed=True,
            read=int,
        ),
    ]
    resamples: Annotated[
        int,
        Option(
            "Number of resamples, at most a million.",
            INTERVALS,
            default=1000,
            signed=True,
            read=int,
        ),
    ]
    level: Annotated[
        float,
        Option(
            "Confidence level, between 0 and 1.",
            INTERVALS,
            default=0.95,
            signed=True,
            read=float,
        ),
    ]
