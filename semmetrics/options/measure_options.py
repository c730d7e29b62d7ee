"""The options of a score that say what is computed, on what data, and by what texts are compared."""

# No "from __future__ import annotations": the tables read the annotations themselves.

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypedDict

from semmetrics.options.choices import (
    DATA,
    DECODING,
    FOR_CAPTIONS,
    FOR_CLASSES,
    FOR_LABELS,
    FOR_MEANINGS,
    KINDS,
    MEANING,
    WHAT,
)
from semmetrics.options.option import Data, Measures, Option, Path


class MeasureOptions(TypedDict, total=False):
    """What is computed."""

    measures: Annotated[
        Measures,
        Option(
            "Measures as papers write them, such as F1, MacroF1, "
            "Recall@5 or 'F1(average=macro)@1,3'. The default depends on what is evaluated. See: "
            "semmetrics list.",
            WHAT,
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
            "All measures and conventions of a paper: kubany2020, "
            "pineda2019, coco-multilabel, coco-caption, coco-5k, coco-1k, f30k, biten2022, eccv, "
            "xian2018.",
            WHAT,
            signed=True,
            metavar="P",
            names="protocols",
            common=True,
        ),
    ]
    top_k: Annotated[
        int | Sequence[int] | str | None,
        Option(
            "Compute every measure on the first k predictions, for each k: 1,3,5.",
            WHAT,
            kinds=FOR_LABELS + FOR_CLASSES,
            signed=True,
            metavar="K,...",
            common=True,
        ),
    ]
    decode: Annotated[
        str | Sequence[str] | None,
        Option(
            "Rule that turns scores into label sets: "
            f"{', '.join(DECODING[1:])}; or several.",
            WHAT,
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
            "What tables call a measure, in place of "
            "its name or the protocol's: 'F1=Example F1'. Without its cutoff, all of its cutoffs. What "
            "LaTeX would take for markup is escaped.",
            WHAT,
            flags=("--heading",),
            metavar="MEASURE=TEXT",
            repeat=True,
        ),
    ]
    threshold: Annotated[
        float | str | Sequence[float | str] | None,
        Option(
            "Short for the decoding rule threshold:T, for each score threshold T; 'best' is the one "
            "with the best F1 (of semantic measures the best SemF1).",
            WHAT,
            kinds=FOR_LABELS,
            signed=True,
            metavar="T,...",
        ),
    ]
    keep_at_least: Annotated[
        int,
        Option(
            "Number of labels that a decoding rule always keeps.",
            WHAT,
            default=0,
            kinds=FOR_LABELS,
            signed=True,
            read=int,
        ),
    ]
    activation: Annotated[
        str | None,
        Option(
            "Turn scores into probabilities before labels are "
            "ranked and decoded: sigmoid of each score, or softmax over the scores of an item. Use it "
            "for logits.",
            WHAT,
            kinds=FOR_LABELS,
            key="activation",
            signed=True,
            choices=("sigmoid", "softmax"),
        ),
    ]
    set_size_probs: Annotated[
        Data,
        Option(
            "Probabilities of each set size (items x sizes), for "
            "the rules that use them: one matrix, or one for each system.",
            WHAT,
            kinds=FOR_LABELS,
            repeat=True,
            file=True,
            batch="items",
        ),
    ]
    first_set_size: Annotated[
        int,
        Option(
            "The set size of the first column of these "
            "probabilities: 0, or 1 if the empty set is not allowed.",
            WHAT,
            default=0,
            kinds=FOR_LABELS,
            key="firstsize",
            signed=True,
            read=int,
            least=0,
        ),
    ]


class DataOptions(TypedDict, total=False):
    """What the data are."""

    task: Annotated[
        str | None,
        Option(
            "What is evaluated, where neither the measures nor the "
            "shape of the data tell.",
            DATA,
            choices=KINDS,
            common=True,
        ),
    ]
    normalize: Annotated[
        str | None,
        Option(
            "How label texts are cleaned before they are compared: "
            "none; lower (case), separators (blanks, _ and -), plural (English), kubany2020; several "
            "as lower+plural.",
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
            "If only one side has an id: raise an error, skip "
            "it, skip it in all systems (common), or use an empty list.",
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
            "The part of an id that is compared, on both sides: the "
            "group of the expression (at most one), or all that it finds.",
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
            "The class list (one a line, or JSON): "
            "names the columns of a matrix, and is what averages over labels run over.",
            DATA,
            kinds=FOR_LABELS + FOR_CLASSES,
            key="classes",
            file=True,
        ),
    ]
    unknown_value: Annotated[
        str | float | None,
        Option(
            "The value of cells of a 0/1 ground truth "
            "that nobody verified, such as -1 or nan (an empty cell); several as -1,nan. Such a label "
            "of an item is left out of predictions and references.",
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
            "What predicted scores of only 0 and 1 are: whether an item has the label "
            "(members), or scores (values). Without it, they are members if some are 0.",
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
            "Labels left out on both sides; a path names a "
            "file that has one a line (on the command line @FILE).",
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
            "A weight for each item: {id: number}, CSV, or a vector. Items "
            "of weight 0 are left out.",
            DATA,
            key="weights",
            file=True,
            batch="items",
        ),
    ]


class MeaningOptions(TypedDict, total=False):
    """What labels, phrases and captions are compared by."""

    embedding: Annotated[
        Data | Callable[..., Any],
        Option(
            "What labels, phrases and captions are "
            "compared with: a file of word vectors, a name of 'semmetrics embed list', or kind:NAME or "
            "kind:PATH. Without it, measures that match labels use the model 'same', and all others "
            "use 'static'. Both come with semmetrics. With NAME= it is that of measures such as "
            "'SemF1(embedding=NAME)'.",
            MEANING,
            kinds=FOR_MEANINGS,
            metavar="[NAME=]SPEC",
            repeat=True,
            file=True,
            acts_by="embedding",
            common=True,
        ),
    ]
    lookup: Annotated[
        str | None,
        Option(
            "Rule from a text to a vector; auto is the embedding's own.",
            MEANING,
            default="auto",
            kinds=FOR_MEANINGS,
            signed=True,
            choices=("auto", "kubany2020", "words", "exact", "text"),
            metavar="RULE",
            acts_by="embedding",
        ),
    ]
    oov: Annotated[
        str | None,
        Option(
            "What stands for a text without a vector: the vector of the "
            "word 'unknown', nothing (skip), zeros, or an error. The default is zero, and skip for WMD "
            "and RWMD.",
            MEANING,
            kinds=FOR_MEANINGS,
            signed=True,
            choices=("unknown", "skip", "zero", "error"),
            acts_by="embedding",
        ),
    ]
    device: Annotated[
        str | None,
        Option(
            "Where vectors are made and compared: cpu (the default), cuda, cuda:1.",
            MEANING,
            metavar="DEVICE",
            acts_by="embedding",
        ),
    ]
    max_words: Annotated[
        int | None,
        Option(
            "Read only the first N words of a file of word vectors.",
            MEANING,
            kinds=FOR_MEANINGS,
            read=int,
            least=1,
            acts_by="embedding",
        ),
    ]
    cache: Annotated[
        bool | Path,
        Option(
            "Keep the vectors of sentence and transformer models on "
            "disk for the next run. In Python, a path names the file.",
            MEANING,
            default=False,
            kinds=FOR_MEANINGS,
            read=bool,
            acts_by="embedding",
        ),
    ]
    calibration: Annotated[
        Data,
        Option(
            "Threshold of similarity that 'semmetrics calibrate' "
            "saved, in place of the embedding's own. One for each embedding.",
            MEANING,
            kinds=FOR_LABELS,
            signed=True,
            repeat=True,
            file=True,
        ),
    ]
    taxonomy: Annotated[
        Data,
        Option(
            "Parents of labels, for hierarchical measures such as hF: "
            "JSON {child: parent or [parents]}, CSV or TSV with the columns child and parent, wordnet, "
            "or wordnet:FOLDER.",
            MEANING,
            kinds=FOR_LABELS,
            file=True,
        ),
    ]
