"""The options of a score, each in one place: its type, default, help, and what it applies to.

Conventions
-----------
The keyword of `semmetrics.score`, the flag of the command line, the refusal where an option does
not apply, what a protocol fixes and what a signature says all follow from this table. To add an
option, add a line here, use it, and document it on its page.
"""

# No "from __future__ import annotations": the table is read from the annotations themselves.

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from os import PathLike
from types import MappingProxyType
from typing import Annotated, Any, TypedDict

from semmetrics.arguments import check_type
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import did_you_mean, listing

__all__ = ["AGGREGATIONS", "AGREEMENT", "CERTAINTY", "COLUMNS", "COMPARED",
           "CORRECTIONS", "FORMATS", "JUDGEMENT_TESTS", "KINDS", "NOT_OF_META",
           "OPTIONS", "RANKED_BY", "RESULT_FORMATS", "TESTS", "Option", "Options",
           "ResolvedOptions", "check_among", "check_choice", "check_options", "clean_number",
           "clean_rule", "decoding_rules", "hint_of", "is_asked", "is_given",
           "join_names", "measure_option", "resolve_options", "split_names"]  # fmt: skip

KINDS = ("labels", "captions", "retrieval", "classes")
"""What can be evaluated; each is a folder of `semmetrics.kinds`."""

WHAT, DATA = "What is computed", "What the data are"
MEANING, CAPTIONS = "What texts mean", "What captions are compared by"
RETRIEVAL, CLASSES = "What is retrieved", "Which classes are seen"
CERTAINTY = "Confidence intervals and signatures"
_LABELS, _CAPTIONS, _RETRIEVAL, _CLASSES = ((kind,) for kind in KINDS)
_TEXTS = _CAPTIONS + _RETRIEVAL  # of retrieval, where phi is computed
_MEANT = _LABELS + _TEXTS
FORMATS = {
    **dict.fromkeys(("json", "jsonl", "csv", "tsv", "parquet", "arrow"), KINDS),
    **dict.fromkeys(("npy", "npz"), _LABELS + _RETRIEVAL + _CLASSES),
    "hdf5": _RETRIEVAL + _CLASSES,
    "coco": _LABELS + _CAPTIONS + _RETRIEVAL,
    "txt": _CAPTIONS + _CLASSES,
    "flickr": _TEXTS,
    "trec": _RETRIEVAL,
}
"""The formats of files, each with the kinds that are read from it."""
COLUMNS = {
    "label": _LABELS + _CLASSES,
    "score": _LABELS + _RETRIEVAL + _CLASSES,
    "caption": _CAPTIONS,
    "candidate": _RETRIEVAL,
}
"""The columns beside the ids that may be named, each with its kinds."""
RESULT_FORMATS = ("table", "json", "csv", "markdown", "latex")
"""The formats of results."""

TESTS = {
    "interval": "test by the interval of the difference",
    "bootstrap": "paired bootstrap test",
    "bootstrap-sacrebleu": "paired bootstrap test of sacrebleu",
    "randomization": "approximate randomisation test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
}
"""The tests, and what each is called in text."""
CORRECTIONS = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini and Hochberg",
    "none": "",
}
"""The corrections for many comparisons, and who they are by."""
AGREEMENT = {
    "kendall-c": "Kendall's tau-c",
    "kendall-b": "Kendall's tau-b",
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "accuracy": "pairwise accuracy",
}
"""How well values agree with ratings by people, and what each is called in text."""
JUDGEMENT_TESTS = {"bootstrap": "paired bootstrap test", "williams": "Williams' test"}
"""The tests of two correlations with the same ratings."""
AGGREGATIONS = {"none": "unaggregated", "mean": "mean of all of a candidate"}
"""What is made of several judgements of the same, and what it is called in text."""
NOT_OF_META = ("protocol", "ci", "ci_method", "keep_rows", "weights", "score_references")
"""Options of a score that agreement with people lacks, or has of its own."""
COMPARED = {"resamples": 10_000}
"""Defaults of a comparison that differ from those of a score: a small p needs many resamples."""
RANKED_BY = ("normalized", "rank")
"""What systems are ranked by over data sets: the mean normalised value, or the mean rank."""

Path = str | PathLike[str]


@dataclass(frozen=True, kw_only=True)
class Option:
    """What is known of an option besides its name and type.

    Attributes
    ----------
    help : str
        Shown by ``help(semmetrics.score)`` and by ``--help``.
    default : value
        What is used when the option is left out; None stands for no value.
    kinds : tuple of str
        What must be evaluated for it to mean something; empty where it always does.
    key : str
        Its key in a signature, for options that change the data.
    fixed : bool
        Whether a protocol may fix it.
    signed : bool
        Whether a signature says it, so that it may not be given beside one.
    choices : tuple of str
        All values, where they can be listed.
    group : str
        Its heading in ``--help``; empty for options of Python alone.
    flags : tuple of str
        Its names on the command line, where they do not follow from its name.
    metavar : str
        What stands for its value in ``--help``.
    read : type
        What the command line reads its value as.
    least : int, optional
        The smallest value of a number.
    repeat, file : bool
        Whether it may be given several times, and whether its value is a path.
    instead : bool
        Whether it stands in place of the predictions.
    names : str
        Which names a shell completes: "measures", "protocols", "normalizations" or "rules".
    batch : str
        How a Scorer takes it: with each batch ("items": it has a value for each item), for all
        items alone ("whole": no part of them can be scored with it), or with the items that are
        kept ("kept": of some of them it means something else).
    """

    help: str
    default: Any = None
    kinds: tuple[str, ...] = ()
    key: str = ""
    fixed: bool = False
    signed: bool = False
    choices: tuple[str, ...] = ()
    group: str = ""
    flags: tuple[str, ...] = ()
    metavar: str = ""
    read: type = str
    least: int | None = None
    repeat: bool = False
    file: bool = False
    instead: bool = False
    names: str = ""
    batch: str = ""
    name: str = field(default="", compare=False)

    @property
    def flag(self) -> str:
        """Its long name on the command line."""
        named = (flag for flag in self.flags if flag.startswith("--"))
        return next(named, f"--{self.name.replace('_', '-')}")

    @property
    def both(self) -> str:
        """Its keyword and its name on the command line, as messages write them."""
        return f"{self.name}= ({self.flag})"

    def text(self) -> str:
        """Return its help, with the kinds it applies to and its default."""
        only = f" Only for {', '.join(self.kinds)}." if self.kinds else ""
        return f"{self.help}{only}{self.default_text()}"

    def default_text(self) -> str:
        """Return a sentence on its default; empty where that is to do nothing."""
        return "" if self.default in (None, False, (), 0) else f" The default is {self.default}."


# fmt: off
class Options(TypedDict, total=False):
    """The options of ``semmetrics.score``, by keyword."""

    measures: Annotated[
        Any,
        Option(
            help="Measures as papers write them, such as F1, MacroF1, Recall@5 or "
            "'F1(average=macro)@1,3'. The default depends on what is evaluated. "
            "See: semmetrics list.",
            signed=True, group=WHAT, flags=("-m", "--measure"), metavar="MEASURE", repeat=True,
            names="measures",
        ),
    ]
    protocol: Annotated[
        str | None,
        Option(
            help="All measures and conventions of a paper: kubany2020, pineda2019, coco-caption, "
            "coco-5k, coco-1k, f30k, biten2022, eccv, xian2018.",
            signed=True, group=WHAT, metavar="P", names="protocols",
        ),
    ]
    top_k: Annotated[
        int | Sequence[int] | str | None,
        Option(
            help="Compute every measure on the first k predictions, for each k: 1,3,5.",
            kinds=_LABELS + _CLASSES, signed=True, group=WHAT, metavar="K,...",
        ),
    ]
    decode: Annotated[
        str | Sequence[str] | None,
        Option(
            help="Rule that turns scores into label sets: threshold:0.5, threshold:best, "
            "cumulative:0.5, cardinality, cardinality+scores. May be several.",
            kinds=_LABELS, signed=True, group=WHAT, metavar="RULE", repeat=True, names="rules",
        ),
    ]
    threshold: Annotated[
        float | str | Sequence[float | str] | None,
        Option(
            help="Short for the decoding rule threshold:T, for each score threshold T; 'best' is "
            "the one with the best F1 (of semantic measures the best SemF1).",
            kinds=_LABELS, signed=True, group=WHAT, metavar="T,...",
        ),
    ]
    keep_at_least: Annotated[
        int,
        Option(
            help="Number of labels that a decoding rule always keeps.",
            default=0, kinds=_LABELS, signed=True, group=WHAT, metavar="N", read=int,
        ),
    ]
    set_size_probs: Annotated[
        Any,
        Option(
            help="Probabilities of each set size (items x sizes), for the rules that use them: one "
            "matrix, or one for each system.",
            kinds=_LABELS, group=WHAT, metavar="FILE", repeat=True, file=True, batch="items",
        ),
    ]
    first_set_size: Annotated[
        int,
        Option(
            help="The set size of the first column of set_size_probs: 0, or 1 if the empty set is "
            "not allowed.",
            default=0, kinds=_LABELS, key="firstsize", signed=True, group=WHAT, metavar="N",
            read=int, least=0,
        ),
    ]
    task: Annotated[
        str | None,
        Option(
            help="What is evaluated, where neither the measures nor the shape of the data tell.",
            choices=KINDS, group=DATA,
        ),
    ]
    normalize: Annotated[
        str | None,
        Option(
            help="How label texts are cleaned before they are compared: none; lower (case), "
            "separators (blanks, _ and -), plural (English), kubany2020; several as "
            "lower+plural.",
            default="none", kinds=_LABELS, key="norm", fixed=True, signed=True, group=DATA,
            metavar="N", names="normalizations",
        ),
    ]
    missing: Annotated[
        str | None,
        Option(
            help="An id that only one side has is an error, is left out (skip), or has an empty "
            "list (of captions: an empty candidate, or no reference) on the other side (empty).",
            default="error", key="missing", fixed=True, signed=True,
            choices=("error", "skip", "empty"), group=DATA,
        ),
    ]
    empty_predictions: Annotated[
        str | None,
        Option(
            help="Whether items with an empty prediction are evaluated.",
            default="keep", kinds=_LABELS, key="emptypred", fixed=True, signed=True,
            choices=("keep", "skip"), group=DATA,
        ),
    ]
    classes: Annotated[
        Path | Iterable[Any] | None,
        Option(
            help="The class list (one a line, or JSON): names the columns of a matrix, and is what "
            "averages over labels run over.",
            kinds=_LABELS + _CLASSES, key="classes", group=DATA, metavar="FILE", file=True,
        ),
    ]
    ignore: Annotated[
        Path | Iterable[str],
        Option(
            help="Labels left out on both sides; a path names a file that has one a line (on the "
            "command line @FILE).",
            default=(), kinds=_LABELS, key="ignore", signed=True, group=DATA,
            metavar="LABEL,...|@FILE", repeat=True,
        ),
    ]
    weights: Annotated[
        Any,
        Option(
            help="A weight for each item: {id: number}, CSV, or a vector. Items of weight 0 are "
            "left out.",
            key="weights", group=DATA, metavar="FILE", file=True, batch="items",
        ),
    ]
    embedding: Annotated[
        Any,
        Option(
            help="What labels, phrases and captions are compared with: a file of word vectors, a "
            "name of 'semmetrics embed list', or kind:NAME or kind:PATH. Without it, the model "
            "that comes with semmetrics is used. With NAME= it is that of measures such as "
            "'SemF1(embedding=NAME)'.",
            kinds=_MEANT, group=MEANING, metavar="[NAME=]SPEC", repeat=True, file=True,
        ),
    ]
    lookup: Annotated[
        str | None,
        Option(
            help="Rule from a text to a vector; auto is the embedding's own.",
            default="auto", fixed=True, signed=True,
            choices=("auto", "kubany2020", "words", "exact", "text"), kinds=_MEANT,
            group=MEANING, metavar="RULE",
        ),
    ]
    oov: Annotated[
        str | None,
        Option(
            help="What stands for a text without a vector: the vector of the word 'unknown', "
            "nothing (skip), zeros, or an error.",
            default="zero", fixed=True, signed=True,
            choices=("unknown", "skip", "zero", "error"), kinds=_MEANT, group=MEANING,
        ),
    ]
    device: Annotated[
        str | None,
        Option(
            help="Where vectors are made and compared: cpu (the default), cuda, cuda:1.",
            group=MEANING, metavar="DEVICE",
        ),
    ]
    max_words: Annotated[
        int | None,
        Option(
            help="Read only the first N words of a file of word vectors.",
            kinds=_MEANT, group=MEANING, metavar="N", read=int, least=1,
        ),
    ]
    cache: Annotated[
        bool | Path,
        Option(
            help="Keep the vectors of sentence and transformer models on disk for the next run. In "
            "Python, a path names the file.",
            default=False, kinds=_MEANT, group=MEANING, read=bool,
        ),
    ]
    calibration: Annotated[
        Any,
        Option(
            help="Threshold of similarity that 'semmetrics calibrate' saved, in place of the "
            "embedding's own. One for each embedding.",
            kinds=_LABELS, signed=True, group=MEANING, metavar="FILE", repeat=True, file=True,
        ),
    ]
    taxonomy: Annotated[
        Any,
        Option(
            help="Parents of labels, for hierarchical measures such as hF: JSON {child: parent or "
            "[parents]}, CSV or TSV with the columns child and parent, wordnet, or "
            "wordnet:FOLDER.",
            kinds=_LABELS, group=MEANING, metavar="FILE", file=True,
        ),
    ]
    tokenizer: Annotated[
        Any,
        Option(
            help="What splits captions into tokens; ptb does as the COCO code does.",
            default="ptb", kinds=_TEXTS, key="tok", fixed=True, signed=True,
            choices=("ptb", "ptb-java", "13a", "whitespace"), group=CAPTIONS,
        ),
    ]
    doc_freq: Annotated[
        Any,
        Option(
            help="Document frequencies for CIDEr-D and CIDEr, in place of those of the references: "
            ".npz, .json, or a pickle of the COCO code, which is read and never run.",
            kinds=_TEXTS, group=CAPTIONS, metavar="FILE", file=True,
        ),
    ]
    tuples: Annotated[
        Any,
        Option(
            help="Scene graphs for SPICE, SPIDEr and Soft-SPICE, as 'semmetrics spice parse' "
            "writes them: [object], [object, attribute] and, in this order, [subject, object, "
            "relation]. In Python also {caption: tuples}, or a function from captions to the "
            "tuples of each.",
            kinds=_TEXTS, group=CAPTIONS, metavar="FILE", file=True,
        ),
    ]
    score_references: Annotated[
        bool,
        Option(
            help="Score the references too, each against the others of its image, as the system "
            "'human'.",
            default=False, kinds=_CAPTIONS, key="cand", group=CAPTIONS, read=bool, batch="whole",
        ),
    ]
    queries: Annotated[
        Path | Iterable[Any] | None,
        Option(
            help="The ids of the queries (one a line, or JSON), in the order of the rows of the "
            "matrix or of their embeddings.",
            kinds=_RETRIEVAL, group=RETRIEVAL, metavar="FILE", file=True,
        ),
    ]
    gallery: Annotated[
        Path | Iterable[Any] | None,
        Option(
            help="The ids of the candidates (one a line, or JSON), in the order of the columns of "
            "the matrix or of their embeddings.",
            kinds=_RETRIEVAL, key="gallery", group=RETRIEVAL, metavar="FILE", file=True,
        ),
    ]
    queries_embeddings: Annotated[
        Any,
        Option(
            help="Vectors of the queries (.npy, .npz, .h5), one a row, in place of a matrix of "
            "similarities; with gallery_embeddings.",
            kinds=_RETRIEVAL, group=RETRIEVAL, metavar="FILE", file=True, instead=True,
        ),
    ]
    gallery_embeddings: Annotated[
        Any,
        Option(
            help="Vectors of the candidates, one a row.",
            kinds=_RETRIEVAL, group=RETRIEVAL, metavar="FILE", file=True,
        ),
    ]
    phi: Annotated[
        Any,
        Option(
            help="How similar rows and columns (images and captions) are in meaning: a matrix of "
            "their shape, as semmetrics pairs writes it, for NCS, SR and nDCG; or CIDEr-D, CIDEr, "
            "SPICE or BagSim, computed of --captions. With NAME= it is that of measures such as "
            "'NCS(phi=NAME)@10'.",
            kinds=_RETRIEVAL, group=RETRIEVAL, metavar="[NAME=]FILE", repeat=True, file=True,
        ),
    ]
    captions: Annotated[
        Any,
        Option(
            help="The text of each caption of the gallery, {id: caption} or in the order of the "
            "columns, of which phi is computed: CIDEr-D, or what --phi, 'NCS(phi=SPICE)@10' or a "
            "protocol say. The positives of an image are its references.",
            kinds=_RETRIEVAL, group=RETRIEVAL, metavar="FILE", file=True, batch="kept",
        ),
    ]
    similarity: Annotated[
        str | None,
        Option(
            help="How vectors are compared: by their cosine, or their dot product.",
            default="cosine", kinds=_RETRIEVAL, key="similarity", fixed=True, signed=True,
            choices=("cosine", "dot"), group=RETRIEVAL,
        ),
    ]
    direction: Annotated[
        str | None,
        Option(
            help="Which side are the queries: the rows of the matrix (i2t), its columns (t2i, with "
            "the positives turned round), or each in turn (both).",
            default="i2t", kinds=_RETRIEVAL, key="direction", fixed=True, signed=True,
            choices=("i2t", "t2i", "both"), group=RETRIEVAL,
        ),
    ]
    reverse_positives: Annotated[
        Any,
        Option(
            help="The positives of each column, for t2i; without them, the positives of the rows "
            "turned round.",
            kinds=_RETRIEVAL, group=RETRIEVAL, metavar="FILE", file=True,
        ),
    ]
    ties: Annotated[
        str | None,
        Option(
            help="How equal similarities, or scores, are ranked: the first in the gallery or class "
            "list first (position), what is true before others (optimistic), or others before what "
            "is true (pessimistic).",
            default="position", kinds=_RETRIEVAL + _CLASSES, key="tie", fixed=True, signed=True,
            choices=("position", "optimistic", "pessimistic"), group=RETRIEVAL,
        ),
    ]
    folds: Annotated[
        int | None,
        Option(
            help="Cut the rows into so many parts of equal size, in their order, and rank the "
            "candidates of a part alone: those that are positives of its rows.",
            kinds=_RETRIEVAL, key="folds", fixed=True, signed=True, group=RETRIEVAL, metavar="N",
            read=int, least=2,
        ),
    ]
    seen: Annotated[
        Path | Iterable[Any] | None,
        Option(
            help="The seen classes, those of training (one a line, or JSON); names, or places in "
            "the class list.",
            kinds=_CLASSES, key="seen", group=CLASSES, metavar="FILE", file=True,
        ),
    ]
    unseen: Annotated[
        Path | Iterable[Any] | None,
        Option(
            help="The unseen classes, which training had no image of.",
            kinds=_CLASSES, key="unseen", group=CLASSES, metavar="FILE", file=True,
        ),
    ]
    class_lists: Annotated[
        Mapping[str, Any] | None,
        Option(
            help="Further lists of classes by name, for measures such as "
            "'PerClassAccuracy(labels=NAME)'.",
            kinds=_CLASSES, group=CLASSES, flags=("--class-list",), metavar="NAME=FILE",
            repeat=True, file=True,
        ),
    ]
    populations: Annotated[
        Any,
        Option(
            help="How many images each class has ({class: number}, or CSV), for the lists of the "
            "500 most and least populated classes, M500 and L500, and others of that form.",
            kinds=_CLASSES, group=CLASSES, metavar="FILE", file=True,
        ),
    ]
    hops: Annotated[
        Any,
        Option(
            help="How many hops of a hierarchy each class is from the seen ones ({class: number}, "
            "or CSV), for the lists of classes within two hops, 2H, and others of that form.",
            kinds=_CLASSES, group=CLASSES, metavar="FILE", file=True,
        ),
    ]
    pretraining: Annotated[
        Path | Iterable[Any] | None,
        Option(
            help="The classes that the features were trained on; unseen classes among them are "
            "said.",
            kinds=_CLASSES, group=CLASSES, metavar="FILE", file=True,
        ),
    ]
    ci: Annotated[
        Any,
        Option(
            help="Compute confidence intervals.",
            default=False, signed=True, group=CERTAINTY, read=bool, batch="whole",
        ),
    ]
    ci_method: Annotated[
        str,
        Option(
            help="How the limits of intervals are found: percentile, bca, jackknife, "
            "jackknife-bias, wilson, hall, or auto, the method that suits each measure.",
            default="auto", signed=True,
            choices=("auto", "percentile", "bca", "jackknife", "jackknife-bias", "wilson", "hall"),
            group=CERTAINTY, metavar="M",
        ),
    ]
    seed: Annotated[
        int,
        Option(
            help="Seed of the resamples.",
            default=12345, signed=True, group=CERTAINTY, metavar="N", read=int,
        ),
    ]
    resamples: Annotated[
        int,
        Option(
            help="Number of resamples, at most a million.",
            default=1000, signed=True, group=CERTAINTY, metavar="N", read=int,
        ),
    ]
    level: Annotated[
        float,
        Option(
            help="Confidence level, between 0 and 1.",
            default=0.95, signed=True, group=CERTAINTY, metavar="X", read=float,
        ),
    ]
    read: Annotated[Any, Option(help="How files are read: semmetrics.ReadOptions.")]
    keep_rows: Annotated[
        bool, Option(help="Keep what item values need; saves memory when off.", default=True)
    ]
    progress: Annotated[
        Callable[[int, int], None] | None,
        Option(help="Called with the number done and the number in all."),
    ]
# fmt: on


def _read_table() -> dict[str, Option]:
    found = {}
    for name, hint in Options.__annotations__.items():
        (option,) = hint.__metadata__
        found[name] = replace(option, name=name)
    return found


OPTIONS: Mapping[str, Option] = _read_table()


def hint_of(name: str) -> Any:
    """Return the type of an option.

    Examples
    --------
    >>> hint_of("keep_at_least")
    <class 'int'>
    """
    return Options.__annotations__[name].__origin__


def is_given(value: Any) -> bool:
    """Return whether a value asks for something: not None, False, 0, or an empty list or text.

    Examples
    --------
    >>> is_given(None), is_given(()), is_given("skip"), is_given({})
    (False, False, True, True)
    """
    plain = value is None or isinstance(value, (bool, int, tuple, list, str))
    return bool(value) if plain else True


def is_asked(name: str, value: Any) -> bool:
    """Return whether an option was given a value that asks for something, be it the number 0.

    Examples
    --------
    >>> is_asked("seed", 0), is_asked("keep_at_least", 0), is_asked("level", None)
    (True, False, False)
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_given(value) or (number and value != OPTIONS[name].default)


def check_options(function: str, given: Mapping[str, Any], known: Iterable[str] = OPTIONS) -> None:
    """Refuse names that are no options of a function, and values of another type than theirs.

    Raises
    ------
    InputError
        Names the nearest options, or the types that are allowed.

    Examples
    --------
    >>> check_options("score", {"topk": 3})
    Traceback (most recent call last):
    semmetrics.errors.InputError: score has no option 'topk'; did you mean top_k?
    >>> check_options("score", {"ignore": 5})
    Traceback (most recent call last):
    semmetrics.errors.InputError: ignore=5; give a text, a path or a list of texts
    """
    known = list(known)
    for name, value in given.items():
        if name not in known:
            remedy = _nearest_option(name, known)
            raise InputError(f"{function} has no option {name!r}", remedy=remedy)
        if value is not None:
            check_type(name, value, hint_of(name), OPTIONS[name].choices)


# What other libraries call an option, or what here belongs to a measure.
_ELSEWHERE = {
    "measures": ("metric", "metrics", "measure", "scores"),
    "top_k": ("k", "ks", "cutoff", "cutoffs", "at", "top"),
    "classes": ("labels", "class_names", "class_list", "label_names", "target_names", "vocabulary"),
    "weights": ("weight", "sample_weight", "sample_weights"),
    "ci": ("bootstrap", "confidence_interval", "confidence_intervals", "interval", "intervals"),
    "level": ("alpha", "confidence", "confidence_level", "ci_level"),
    "resamples": ("n_resamples", "n_bootstrap", "n_bootstraps", "num_resamples", "n_boot"),
    "seed": ("random_state", "rng", "random_seed"),
    "ci_method": ("method",),
    "embedding": ("encoder", "model", "model_name", "model_type", "vectors", "word_vectors"),
    "ignore": ("ignore_index", "ignore_labels", "exclude"),
    "threshold": ("thresholds", "score_threshold"),
    "doc_freq": ("df", "idf", "document_frequencies"),
    "queries": ("query_ids", "row_ids"),
    "seen": ("seen_classes", "train_classes", "base_classes"),
    "unseen": ("unseen_classes", "test_classes", "novel_classes"),
    "gallery": ("gallery_ids", "column_ids", "corpus"),
}
_NAMES_ELSEWHERE = {other: name for name, others in _ELSEWHERE.items() for other in others}
_OF_MEASURES = {  # a measure that has it, with a value
    "average": "F1(average=macro)",
    "zero_division": "F1(empty=1)' or 'Precision(no_prediction=skip)",
    "match": "SemF1(match=optimal)",
    "duplicates": "F1(duplicates=each)",
    "empty": "F1(empty=0)",
    "absent": "MacroF1(absent=0)",
    "no_prediction": "Precision(no_prediction=skip)",
    "no_reference": "Recall(no_reference=skip)",
    "undefined": "SPICE(undefined=0)",
    "interpolation": "mAP(interpolation=voc2010)",
    "root": "hF(root=include)",
    "unknown": "hF(unknown=own)",
    "reflen": "BLEU-4(reflen=shortest)",
    "sigma": "CIDEr-D(sigma=5)",
    "stem": "CIDEr(stem=porter)",
    "order": "NGSM(order=2)",
    "beta": "ROUGE-L(beta=1)",
    "refs": "NGSM(refs=max)",
    "references": "BagSim(references=mean)",
    "category": "SPICE(category=color)",
    "parser": "SPICE(parser=offline)",
    "bidirectional": "Soft-SPICE(bidirectional=yes)",
    "ground_truth": "NCS(ground_truth=left-out)@5",
    "extended": "NCS(extended=20)@5",
    "variant": "SR(m=5,variant=soft)@5",
    "similar": "SR(m=5,similar=images)@5",
    "depth": "SR(m=5,similar=images,depth=5)@5",
    "gain": "nDCG(gain=exponential)@5",
    "discount": "nDCG(discount=jarvelin2002)@5",
    "candidates": "PerClassAccuracy(candidates=unseen)",
}


def measure_option(name: str) -> str:
    """Return where a name that is no option of a score belongs; "" if not to a measure.

    Examples
    --------
    >>> measure_option("parser")
    "write it in the measure, as 'SPICE(parser=offline)'"
    """
    example = _OF_MEASURES.get(name.lower())
    return f"write it in the measure, as '{example}'" if example else ""


def _nearest_option(name: str, known: Sequence[str]) -> str:
    """Return the remedy for a name that is no option: what is likely meant."""
    meant = _NAMES_ELSEWHERE.get(name.lower())
    if meant in known:
        return f"did you mean {meant}?"
    if "measures" in known and (remedy := measure_option(name)):
        return remedy
    return did_you_mean(name, known, f"choose one of {', '.join(known)}")


def decoding_rules(decode: Any, threshold: Any) -> list[str]:
    """Return the rules of ``decode``, then one for each score threshold; each once.

    Examples
    --------
    >>> decoding_rules("cumulative:0.5", [0.25, "best"]), decoding_rules(None, "0.3,0.5")
    (['cumulative:0.5', 'threshold:0.25', 'threshold:best'], ['threshold:0.3', 'threshold:0.5'])
    >>> decoding_rules("threshold:.50", "0.5,1")
    ['threshold:0.5', 'threshold:1.0']
    """
    rules = [decode] if isinstance(decode, str) else [] if decode is None else list(decode)
    if isinstance(threshold, str):
        points: Iterable[Any] = threshold.split(",")
    else:
        listed = hasattr(threshold, "__iter__")
        points = () if threshold is None else threshold if listed else (threshold,)
    texts = [p.strip() if isinstance(p, str) else repr(float(p)) for p in points]
    rules += [f"threshold:{text}" for text in texts]
    return list(dict.fromkeys(map(_clean, rules)))


def _clean(rule: Any) -> Any:
    return clean_rule(rule) if isinstance(rule, str) else rule


def clean_rule(rule: str) -> str:
    """Write the number of a decoding rule in one way; what is no number stays for its reader.

    Examples
    --------
    >>> clean_rule("threshold:.50"), clean_rule("threshold:best"), clean_rule("all")
    ('threshold:0.5', 'threshold:best', 'all')
    """
    name, colon, text = rule.partition(":")
    return f"{name}:{clean_number(text)}" if colon else rule


def clean_number(text: str) -> str:
    """Write a number in one way; what is none stays as it is."""
    try:
        return repr(float(text) + 0.0)  # -0 is 0
    except ValueError:
        return text


class ResolvedOptions(Mapping[str, Any]):
    """The value of every option, and which of them were given; immutable.

    What is opened for them, such as an embedding, is kept in ``opened``, so that it is opened once.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        given: Iterable[str] = (),
        opened: dict[str, Any] | None = None,
    ) -> None:
        self._values, self.given = dict(values), frozenset(given)
        self.opened: dict[str, Any] = {} if opened is None else opened

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def replace(self, **changed: Any) -> "ResolvedOptions":
        """Return the same options with other values."""
        return ResolvedOptions({**self._values, **changed}, self.given, self.opened)


def resolve_options(
    given: Mapping[str, Any],
    kind: str,
    *,
    protocol: str | None = None,
    fixed: Mapping[str, Any] = MappingProxyType({}),
) -> ResolvedOptions:
    """Return the value of every option: given, fixed by a protocol, or the default.

    Parameters
    ----------
    given : mapping from name to value
        None stands for an option that is left out.
    kind : str
        What is evaluated.
    protocol : str, optional
        For messages.
    fixed : mapping from name to value
        What the protocol fixes.

    Raises
    ------
    InputError
        If an option does not apply to the kind, has a value that is not allowed, or contradicts
        the protocol.

    Examples
    --------
    >>> options = resolve_options({"missing": "skip"}, "labels")
    >>> options["missing"], options["normalize"], options["seed"]
    ('skip', 'none', 12345)
    """
    given = {name: value for name, value in given.items() if value is not None}
    _refuse_others(given, kind)
    if "threshold" in given:
        given["decode"] = decoding_rules(given.get("decode"), given["threshold"])
    elif isinstance(given.get("decode"), str):
        given["decode"] = clean_rule(given["decode"])
    elif isinstance(given.get("decode"), (list, tuple)):
        given["decode"] = [_clean(rule) for rule in given["decode"]]
    for name, value in fixed.items():
        if given.get(name, value) != value:
            raise InputError(
                f"protocol {protocol} has {name}={value}, not {given[name]}",
                remedy=f"leave {name} out, or name measures instead of the protocol",
            )
    defaults = {name: option.default for name, option in OPTIONS.items()}
    asked = [name for name, value in given.items() if is_asked(name, value)]
    return ResolvedOptions({**defaults, **given, **fixed}, asked)


def _refuse_others(given: Mapping[str, Any], kind: str) -> None:
    """Refuse options of other kinds."""
    others = [
        OPTIONS[name]
        for name, value in given.items()
        if is_given(value) and OPTIONS[name].kinds and kind not in OPTIONS[name].kinds
    ]
    if others:
        names = [option.name for option in others]
        flags = [option.flag for option in others if option.flag]
        raise InputError(
            f"{', '.join(names)} ({', '.join(flags)}) mean{'s' if len(others) == 1 else ''} "
            f"nothing for {kind}",
            remedy="leave that out, or say task= (--task)",
        )


def join_names(names: Iterable[str]) -> str:
    r"""Write names as one text of a signature, from which `split_names` reads them.

    Examples
    --------
    >>> print(join_names(["cat", "a, b"]))
    cat,a\, b
    >>> split_names(join_names(["cat", "a, b", "\\"]))
    ['cat', 'a, b', '\\']
    """
    return ",".join(re.sub(r"[\\,]", r"\\\g<0>", name) for name in names)


def split_names(text: str) -> list[str]:
    """Return the names that `join_names` wrote."""
    found = re.findall(r"(?:\\.|[^\\,])+", text, re.DOTALL)
    return [re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL) for name in found]


def check_among(name: str, value: Any, choices: Mapping[str, str]) -> None:
    """Refuse a value that is none of some choices, such as the tests of a comparison.

    Examples
    --------
    >>> check_among("correction", "hlom", CORRECTIONS)
    Traceback (most recent call last):
    semmetrics.errors.InputError: correction='hlom'; did you mean holm?
    """
    if value not in choices:
        remedy = did_you_mean(str(value), choices, f"choose one of {listing(choices)}")
        raise InputError(f"{name}={value!r}", remedy=remedy)


def check_choice(name: str, value: Any) -> None:
    """Refuse a value of an option that is not among its choices.

    Examples
    --------
    >>> check_choice("missing", "drop")
    Traceback (most recent call last):
    semmetrics.errors.InputError: missing='drop'; choose one of 'error', 'skip', 'empty'
    """
    choices = OPTIONS[name].choices
    if value not in choices:
        raise InputError(f"{name}={value!r}", remedy=f"choose one of {listing(choices)}")
