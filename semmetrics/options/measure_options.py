"""The options of a score for measures, data and embeddings."""

# No "from __future__ import annotations", because the tables read the annotations.

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypedDict

from semmetrics.options.choices import (
    DATA,
    DECODING,
    EMBEDDINGS,
    FOR_CAPTIONS,
    FOR_CLASSES,
    FOR_LABELS,
    FOR_MEANINGS,
    KINDS,
    MEASURES,
)
from semmetrics.options.option import Data, Measures, Option, Path


class MeasureOptions(TypedDict, total=False):
    """Options that choose the measures and turn scores into label sets."""

    measures: Annotated[
        Measures,
        Option(
            "Measures by their names in papers, such as F1, MacroF1, Recall@5 or "
            "'F1(average=macro)@1,3'. The default depends on the data. See 'semmetrics "
            "list' for all measures.",
            MEASURES,
            signed=True,
            flags=("-m", "--measure"),
            metavar="MEASURE",
            repeat=True,
            names="measures",
            common=True,
        ),
    ]
    protocol: Annotated[
        str | None,
        Option(
            "Use all measures and conventions of a paper: kubany2020, pineda2019, "
            "coco-multilabel, coco-caption, coco-5k, coco-1k, f30k, biten2022, eccv, "
            "xian2018.",
            MEASURES,
            signed=True,
            metavar="P",
            names="protocols",
            common=True,
        ),
    ]
    top_k: Annotated[
        int | Sequence[int] | str | None,
        Option(
            "Compute every measure on the first k predictions, for each of the given values "
            "of k, such as 1,3,5.",
            MEASURES,
            kinds=FOR_LABELS + FOR_CLASSES,
            signed=True,
            metavar="K,...",
            common=True,
        ),
    ]
    decode: Annotated[
        str | Sequence[str] | None,
        Option(
            f"Rule that turns scores into label sets: "
            f"{', '.join(DECODING[1:])}. It can be a list of rules.",
            MEASURES,
            kinds=FOR_LABELS,
            signed=True,
            metavar="RULE",
            repeat=True,
            names="rules",
        ),
    ]
    headings: Annotated[
        Mapping[str, str] | None,
        Option(
            "Name of a measure in tables, instead of its own name or the protocol's name "
            "for it, such as 'F1=Example F1'. A name without a cutoff applies to all "
            "cutoffs of the measure. Characters with a special meaning in LaTeX are "
            "escaped.",
            MEASURES,
            flags=("--heading",),
            metavar="MEASURE=TEXT",
            repeat=True,
        ),
    ]
    threshold: Annotated[
        float | str | Sequence[float | str] | None,
        Option(
            "Score thresholds T, as a short form of the decoding rules threshold:T. 'best' "
            "is the threshold with the highest F1 (for semantic measures the highest "
            "SemF1).",
            MEASURES,
            kinds=FOR_LABELS,
            signed=True,
            metavar="T,...",
        ),
    ]
    keep_at_least: Annotated[
        int,
        Option(
            "Minimum number of labels that a decoding rule keeps.",
            MEASURES,
            default=0,
            kinds=FOR_LABELS,
            signed=True,
            read=int,
        ),
    ]
    activation: Annotated[
        str | None,
        Option(
            "Convert scores to probabilities before labels are ranked and decoded, by the "
            "sigmoid of each score or the softmax over the scores of an item. Use it for "
            "logits.",
            MEASURES,
            kinds=FOR_LABELS,
            key="activation",
            signed=True,
            choices=("sigmoid", "softmax"),
        ),
    ]
    set_size_probs: Annotated[
        Data,
        Option(
            "Probabilities of each set size (items x sizes), for the decoding rules that "
            "use them. One matrix, or one matrix per system.",
            MEASURES,
            kinds=FOR_LABELS,
            repeat=True,
            file=True,
            batch="items",
        ),
    ]
    first_set_size: Annotated[
        int,
        Option(
            "Set size of the first column of the set size probabilities: 0, or 1 if the "
            "empty set is not allowed.",
            MEASURES,
            default=0,
            kinds=FOR_LABELS,
            key="firstsize",
            signed=True,
            read=int,
            least=0,
        ),
    ]


class DataOptions(TypedDict, total=False):
    """Options that describe the data and choose the items and labels to evaluate."""

    task: Annotated[
        str | None,
        Option(
            "Kind of data, if it follows neither from the measures nor from the structure "
            "of the data.",
            DATA,
            choices=KINDS,
            common=True,
        ),
    ]
    normalize: Annotated[
        str | None,
        Option(
            "Normalisation of labels before they are compared: none, lower (lower case), "
            "separators (spaces, _ and -), plural (English plurals), kubany2020, or a "
            "combination such as lower+plural.",
            DATA,
            default="none",
            kinds=FOR_LABELS,
            key="norm",
            signed=True,
            metavar="N",
            names="normalizations",
        ),
    ]
    missing: Annotated[
        str | None,
        Option(
            "Treatment of ids that only one side has: raise an error, skip the item, skip "
            "it in all systems (common), or use an empty list.",
            DATA,
            default="error",
            key="missing",
            signed=True,
            choices=("error", "skip", "common", "empty"),
            common=True,
        ),
    ]
    ids: Annotated[
        str | None,
        Option(
            "Regular expression that selects the part of an id to compare, on both sides. "
            "The part is the expression's group (at most one), or the whole match.",
            DATA,
            kinds=FOR_LABELS + FOR_CAPTIONS + FOR_CLASSES,
            key="ids",
            signed=True,
            metavar="REGEX",
        ),
    ]
    empty_predictions: Annotated[
        str | None,
        Option(
            "Whether items with an empty prediction are evaluated.",
            DATA,
            default="keep",
            kinds=FOR_LABELS,
            key="emptypred",
            signed=True,
            choices=("keep", "skip"),
        ),
    ]
    classes: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "Class list (one per line, or JSON). It names the columns of a matrix, and "
            "averages over labels use its classes.",
            DATA,
            kinds=FOR_LABELS + FOR_CLASSES,
            key="classes",
            file=True,
        ),
    ]
    unknown_value: Annotated[
        str | float | None,
        Option(
            "Value of the unverified cells in a 0/1 ground truth, such as -1 or nan (an "
            "empty cell), or several values such as -1,nan. An unverified label of an item "
            "is removed from its predictions and references.",
            DATA,
            kinds=FOR_LABELS,
            key="unverified",
            signed=True,
            metavar="X,...",
        ),
    ]
    scores: Annotated[
        str | None,
        Option(
            "Meaning of predicted scores that are only 0 and 1: whether an item has the "
            "label (members), or scores (values). By default they are members if some of "
            "them are 0.",
            DATA,
            kinds=FOR_LABELS,
            key="scores",
            signed=True,
            choices=("members", "values"),
        ),
    ]
    ignore: Annotated[
        Path | Iterable[str],
        Option(
            "Labels to remove from both sides. A path names a file with one label per line "
            "(on the command line @FILE).",
            DATA,
            default=(),
            kinds=FOR_LABELS,
            key="ignore",
            signed=True,
            metavar="LABEL,...|@FILE",
            repeat=True,
        ),
    ]
    weights: Annotated[
        Data,
        Option(
            "Weight of each item, as {id: number}, CSV or a vector. Items with weight 0 are "
            "skipped.",
            DATA,
            key="weights",
            file=True,
            batch="items",
        ),
    ]


class MeaningOptions(TypedDict, total=False):
    """Options for the embeddings that compare labels, phrases and captions."""

    embedding: Annotated[
        Data | Callable[..., Any],
        Option(
            "Embedding that compares labels, phrases and captions: a file of word vectors, "
            "a name from 'semmetrics embed list', kind:NAME or kind:PATH. By default, "
            "measures that match labels use the model 'same' and all others use 'static', "
            "both of which come with semmetrics. With NAME= it is used by measures such as "
            "'SemF1(embedding=NAME)'.",
            EMBEDDINGS,
            kinds=FOR_MEANINGS,
            metavar="[NAME=]SPEC",
            repeat=True,
            file=True,
            measure_option="embedding",
            common=True,
        ),
    ]
    lookup: Annotated[
        str | None,
        Option(
            "Rule that maps a string to a vector. auto is the default rule of the "
            "embedding.",
            EMBEDDINGS,
            default="auto",
            kinds=FOR_MEANINGS,
            signed=True,
            choices=("auto", "kubany2020", "words", "exact", "text"),
            metavar="RULE",
            measure_option="embedding",
        ),
    ]
    oov: Annotated[
        str | None,
        Option(
            "Treatment of strings without a vector: use the vector of the word 'unknown', "
            "skip the string, use a zero vector, or raise an error. The default is zero, "
            "and skip for WMD and RWMD.",
            EMBEDDINGS,
            kinds=FOR_MEANINGS,
            signed=True,
            choices=("unknown", "skip", "zero", "error"),
            measure_option="embedding",
        ),
    ]
    device: Annotated[
        str | None,
        Option(
            "Device that computes and compares vectors: cpu (the default), cuda, cuda:1.",
            EMBEDDINGS,
            metavar="DEVICE",
            measure_option="embedding",
        ),
    ]
    max_words: Annotated[
        int | None,
        Option(
            "Read only the first N words of a file of word vectors.",
            EMBEDDINGS,
            kinds=FOR_MEANINGS,
            read=int,
            least=1,
            measure_option="embedding",
        ),
    ]
    cache: Annotated[
        bool | Path,
        Option(
            "Cache the vectors of sentence and transformer models on disk for later runs. "
            "In Python, the value can be the path of the cache file.",
            EMBEDDINGS,
            default=False,
            kinds=FOR_MEANINGS,
            read=bool,
            measure_option="embedding",
        ),
    ]
    calibration: Annotated[
        Data,
        Option(
            "Similarity threshold saved by 'semmetrics calibrate', instead of the "
            "embedding's default threshold. Repeat it for several embeddings.",
            EMBEDDINGS,
            kinds=FOR_LABELS,
            signed=True,
            repeat=True,
            file=True,
        ),
    ]
    taxonomy: Annotated[
        Data,
        Option(
            "Parents of labels, for hierarchical measures such as hF. Either JSON {child: "
            "parent or [parents]}, CSV or TSV with the columns child and parent, wordnet, "
            "or wordnet:FOLDER.",
            EMBEDDINGS,
            kinds=FOR_LABELS,
            file=True,
        ),
    ]
