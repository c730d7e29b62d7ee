"""The options of a score, each in one place: its type, default, help, and what it applies to.

Conventions
-----------
The keyword of `semmetrics.score`, the flag of the command line, the refusal where an option does
not apply, what a protocol fixes and what a signature says all follow from this table. To add an
option, add a line here, use it, and document it on its page.
"""

# No "from __future__ import annotations": the table is read from the annotations themselves.

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from os import PathLike
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, NoReturn, Protocol, TypedDict

from semmetrics.arguments import check_choice, check_type
from semmetrics.errors import InputError
from semmetrics.messages import did_you_mean, fold, nearest_names

KINDS = ("labels", "captions", "retrieval", "classes")
"""What can be evaluated; each is a folder of `semmetrics.kinds`."""

WHAT, DATA = "What is computed", "What the data are"
MEANING, CAPTIONS = "What texts mean", "What captions are compared by"
RETRIEVAL, CLASSES = "What is retrieved", "Which classes are seen"
CERTAINTY = "Confidence intervals and signatures"
HOW, PEOPLE = "How systems are compared", "What people say"
SHEETS, JAVA = "Sheets to fill", "The official program"
SCALE = "Larger than memory"
READ, WRITE, OTHER = "How files are read", "Output", "Other options"
READ_SIDE = "How the files of one side are read"
TITLES = (
    WHAT,
    PEOPLE,
    HOW,
    DATA,
    MEANING,
    CAPTIONS,
    RETRIEVAL,
    CLASSES,
    CERTAINTY,
    JAVA,
    READ,
    READ_SIDE,
    SCALE,
    SHEETS,
    WRITE,
    OTHER,
)
"""The titles of groups of options, in the order of help."""
OF_COMMANDS = (WRITE, SCALE, SHEETS, OTHER)
"""Groups of options that say how a command writes; no function has them."""
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
RESULT_FORMATS = {
    "table": "aligned columns, and beside them what was undefined and why",
    "json": "the scores in full precision, and what was understood, noted and not computed",
    "csv": "one row a score, in full precision",
    "markdown": "measures as rows, systems as columns; or systems as rows if they are more",
    "latex": "the same as a tabular in the style of booktabs",
    "html": "the same as a table of a web page",
}
"""The formats of results, and what each holds."""
ENDINGS = {
    ".csv": "csv",
    ".json": "json",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
}
"""The endings of files that say the format of a result."""
RECORD_ENDINGS = (".tsv", ".jsonl", ".parquet")
"""The endings of files that get one record per row, which no ``--format`` names."""

TESTS = {
    "interval": "test by the interval of the difference",
    "bootstrap": "paired bootstrap test",
    "bootstrap-sacrebleu": "paired bootstrap test of sacrebleu",
    "randomization": "approximate randomisation test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
}
"""The tests, and what each is called in text."""
DECODING = (
    "all",
    "threshold:0.5",
    "threshold:best",
    "at-least:0",
    "cumulative:0.5",
    "cardinality",
    "cardinality+scores",
    "dirichlet:2.36",
)
"""Examples of the rules that turn scores into label sets."""
OF_VALUES = ("t", "wilcoxon", "randomization")
"""The tests of values alone, such as those of data sets."""
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
RANKED_BY = ("normalized", "rank")
"""What systems are ranked by over data sets: the mean normalised value, or the mean rank."""


class Measure(Protocol):
    """What ``semmetrics.parse`` and ``@semmetrics.measure`` give."""


class Array(Protocol):
    """A vector or matrix of NumPy, SciPy, torch, pandas or polars, or what ``as_labels`` gives."""


Path = str | PathLike[str]
Data = Path | Mapping[Any, Any] | Iterable[Any] | Array
"""What inputs may be: files, and objects in memory."""
Measures = str | Measure | Iterable[str | Measure]


class Option(NamedTuple):
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
    signed : bool
        Whether a signature says it, so that it may not be given beside one.
    choices : tuple of str
        All values, where they can be listed.
    group : str
        Its heading in ``--help``; empty for options of Python alone.
    flags : tuple of str
        Its names on the command line, where they do not follow from its name.
    metavar : str
        What stands for its value in ``--help``, if not FILE, N or X.
    read : type
        What the command line reads its value as.
    least, most : int, optional
        The smallest and the largest value of a number.
    repeat, file : bool
        Whether it may be given several times, and whether its value is a path.
    instead : bool
        Whether it stands in place of the predictions.
    names : str
        Which names a shell completes, such as "measures" or "protocols".
    acts_by : str
        The option of measures by which it acts; on a measure that lacks it, it has no effect.
    batch : str
        How a Scorer takes it: with each batch ("items": it has a value for each item), for all
        items alone ("whole": no part of them can be scored with it), or with the items that are
        kept ("kept": of some of them it means something else).
    values : int
        How many values it takes.
    required : bool
        Whether the command needs it.
    written : tuple of str
        Of a file that is written: its endings, "" for any.
    common : bool
        Whether ``-h`` of a command with many options shows it.
    """

    help: str
    group: str = ""
    default: Any = None
    kinds: tuple[str, ...] = ()
    key: str = ""
    signed: bool = False
    choices: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    metavar: str = ""
    read: type = str
    least: int | None = None
    repeat: bool = False
    file: bool = False
    instead: bool = False
    names: str = ""
    acts_by: str = ""
    batch: str = ""
    most: int | None = None
    values: int = 1
    required: bool = False
    written: tuple[str, ...] = ()
    common: bool = False
    name: str = ""

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
        if self.default in (None, False, (), 0):
            return ""
        several = isinstance(self.default, tuple)
        return f" The default is {' '.join(self.default) if several else self.default}."


class Reading(TypedDict, total=False):
    """How files are read: the fields of `semmetrics.ReadOptions`, by keyword."""

    format: Annotated[
        str | None,
        Option(
            "The format of the files. The default is told by the extension.",
            READ,
            flags=("--input-format",),
            metavar="F",
            names="formats",
        ),
    ]
    id_column: Annotated[
        str | None, Option("Column or key of the ids.", READ, metavar="NAME")
    ]
    label_column: Annotated[
        str | None,
        Option(
            "Column or key of the labels.", READ, kinds=COLUMNS["label"], metavar="NAME"
        ),
    ]
    score_column: Annotated[
        str | None,
        Option(
            "Column or key of the scores.", READ, kinds=COLUMNS["score"], metavar="NAME"
        ),
    ]
    caption_column: Annotated[
        str | None,
        Option(
            "Column or key of the captions.",
            READ,
            kinds=COLUMNS["caption"],
            metavar="NAME",
        ),
    ]
    candidate_column: Annotated[
        str | None,
        Option(
            "Column or key of the candidates.",
            READ,
            kinds=COLUMNS["candidate"],
            metavar="NAME",
        ),
    ]
    delimiter: Annotated[
        str | None,
        Option("Character between the cells of CSV; a comma.", READ, metavar="C"),
    ]
    label_delimiter: Annotated[
        str | None,
        Option(
            "Text between the labels in a cell. Without it, CSV has one row a label.",
            READ,
            kinds=COLUMNS["score"],
            metavar="TEXT",
        ),
    ]
    split: Annotated[
        str | None,
        Option(
            "Split of Karpathy's JSON: test, val, train or restval. "
            "The default is all.",
            READ,
            kinds=_TEXTS,
            metavar="NAME",
        ),
    ]
    max_line_bytes: Annotated[
        int,
        Option("Longest line of CSV and JSONL.", READ, default=64 * 2**20, read=int),
    ]
    max_bytes: Annotated[
        int,
        Option(
            "Largest file, decompressed. An embedding may have 16 times as many bytes.",
            READ,
            default=4 * 2**30,
            read=int,
        ),
    ]


class SideReading(Reading, total=False):
    """The fields that may differ between predictions and ground truth: those of `SIDED`."""

    pred_format: str | None
    pred_id_column: str | None
    pred_label_column: str | None
    pred_score_column: str | None
    pred_caption_column: str | None
    pred_candidate_column: str | None
    pred_delimiter: str | None
    pred_label_delimiter: str | None
    gt_format: str | None
    gt_id_column: str | None
    gt_label_column: str | None
    gt_score_column: str | None
    gt_caption_column: str | None
    gt_candidate_column: str | None
    gt_delimiter: str | None
    gt_label_delimiter: str | None


class Options(SideReading, total=False):
    """The options of ``semmetrics.score``, by keyword."""

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
            kinds=_LABELS + _CLASSES,
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
            kinds=_LABELS,
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
            kinds=_LABELS,
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
            kinds=_LABELS,
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
            kinds=_LABELS,
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
            kinds=_LABELS,
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
            kinds=_LABELS,
            key="firstsize",
            signed=True,
            read=int,
            least=0,
        ),
    ]
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
            kinds=_LABELS,
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
            kinds=_LABELS + _CAPTIONS + _CLASSES,
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
            kinds=_LABELS,
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
            kinds=_LABELS + _CLASSES,
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
            kinds=_LABELS,
            key="unverified",
            signed=True,
            metavar="X,...",
        ),
    ]
    ignore: Annotated[
        Path | Iterable[str],
        Option(
            "Labels left out on both sides; a path names a "
            "file that has one a line (on the command line @FILE).",
            DATA,
            default=(),
            kinds=_LABELS,
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
    embedding: Annotated[
        Data | Callable[..., Any],
        Option(
            "What labels, phrases and captions are "
            "compared with: a file of word vectors, a name of 'semmetrics embed list', or kind:NAME or "
            "kind:PATH. Without it, measures that match labels use the model 'same', and all others "
            "use 'static'. Both come with semmetrics. With NAME= it is that of measures such as "
            "'SemF1(embedding=NAME)'.",
            MEANING,
            kinds=_MEANT,
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
            kinds=_MEANT,
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
            kinds=_MEANT,
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
            kinds=_MEANT,
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
            kinds=_MEANT,
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
            kinds=_LABELS,
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
            kinds=_LABELS,
            file=True,
        ),
    ]
    tokenizer: Annotated[
        Any,
        Option(
            "What splits captions into tokens; ptb does as the COCO code does.",
            CAPTIONS,
            default="ptb",
            kinds=_TEXTS,
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
            kinds=_TEXTS,
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
            kinds=_TEXTS,
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
            kinds=_CAPTIONS,
            key="cand",
            read=bool,
            batch="whole",
        ),
    ]
    queries: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The ids of the queries (one a line, or "
            "JSON), in the order of the rows of the matrix or of their embeddings.",
            RETRIEVAL,
            kinds=_RETRIEVAL,
            file=True,
        ),
    ]
    gallery: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The ids of the candidates (one a line, "
            "or JSON), in the order of the columns of the matrix or of their embeddings.",
            RETRIEVAL,
            kinds=_RETRIEVAL,
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
            kinds=_RETRIEVAL,
            file=True,
            instead=True,
        ),
    ]
    gallery_embeddings: Annotated[
        Data,
        Option(
            "Vectors of the candidates, one a row.",
            RETRIEVAL,
            kinds=_RETRIEVAL,
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
            kinds=_RETRIEVAL,
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
            kinds=_RETRIEVAL,
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
            kinds=_RETRIEVAL,
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
            kinds=_RETRIEVAL,
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
            kinds=_RETRIEVAL,
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
            kinds=_RETRIEVAL + _CLASSES,
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
            kinds=_RETRIEVAL,
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
            kinds=_RETRIEVAL,
            key="folds",
            signed=True,
            read=int,
            least=2,
        ),
    ]
    seen: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The seen classes, those of training (one "
            "a line, or JSON); names, or places in the class list.",
            CLASSES,
            kinds=_CLASSES,
            key="seen",
            file=True,
        ),
    ]
    unseen: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The unseen classes, which training had no image of.",
            CLASSES,
            kinds=_CLASSES,
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
            kinds=_CLASSES,
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
            kinds=_CLASSES,
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
            kinds=_CLASSES,
            file=True,
        ),
    ]
    pretraining: Annotated[
        Path | Iterable[Any] | None,
        Option(
            "The classes that the features were "
            "trained on; unseen classes in this list are reported.",
            CLASSES,
            kinds=_CLASSES,
            file=True,
        ),
    ]
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
    read: Annotated[
        Any,
        Option(
            "How files are read: semmetrics.ReadOptions, in place of the "
            "keywords that are its fields, such as id_column."
        ),
    ]
    keep_rows: Annotated[
        bool, Option("Keep what item values need; saves memory when off.", default=True)
    ]
    progress: Annotated[
        Callable[[int, int], None] | None,
        Option("Called with the number done and the number in all."),
    ]


def _named(**options: Option) -> dict[str, Option]:
    """Return options with their names, and what stands for their values in help."""
    found = {}
    for name, one in options.items():
        usual = (
            "FILE"
            if one.file or one.written
            else {int: "N", float: "X"}.get(one.read, "")
        )
        found[name] = one._replace(name=name, metavar=one.metavar or usual)
    return found


_hints = Options.__annotations__
SHARED_READING = _named(
    **{name: _hints[name].__metadata__[0] for name in Reading.__annotations__}
)
"""How files of both sides are read: the fields of `semmetrics.ReadOptions`."""
SIDES = {"pred": "predictions", "gt": "ground truth"}
"""The two sides of a score, by the prefix of the options that are for one side."""
SIDED = (
    "format",
    *(f"{role}_column" for role in ("id", *COLUMNS)),
    "delimiter",
    "label_delimiter",
)
"""The options of reading that may differ between the sides."""


def _of_side(side: str) -> dict[str, Option]:
    """Return the options of reading for one side."""
    found = {}
    for name in SIDED:
        shared = SHARED_READING[name]
        text = f"{shared.flag}, only for the {SIDES[side]}."
        flags = (f"--{side}-{shared.flag.removeprefix('--')}",)
        found[f"{side}_{name}"] = shared._replace(
            help=text, group=READ_SIDE, flags=flags
        )
    return found


READING = SHARED_READING | _named(**_of_side("pred"), **_of_side("gt"))
"""All options of reading, with those of one side."""
OPTIONS: Mapping[str, Option] = _named(
    **{
        name: hint.__metadata__[0]
        for name, hint in _hints.items()
        if name not in READING
    }
)


def _taken(
    *without: str,
    groups: Iterable[str] = (*TITLES, ""),
    kinds: Iterable[str] = KINDS,
    **defaults: Any,
) -> dict[str, Option]:
    """Return the options of some groups that apply to some kinds, without those that are named."""
    return {
        name: one._replace(default=defaults[name]) if name in defaults else one
        for name, one in OPTIONS.items()
        if name not in without
        and one.group in groups
        and {*(one.kinds or kinds)} & {*kinds}
    }


def _only(*names: str) -> dict[str, Option]:
    return {name: OPTIONS[name] for name in names}


_SELECTING = _only(
    "task", "normalize", "classes", "ignore", "missing"
) | _taken(  # no references
    "score_references",
    "keep_rows",
    groups=(MEANING, CAPTIONS, ""),
    kinds=("labels", "captions"),
)
_SELECTING["missing"] = OPTIONS["missing"]._replace(
    choices=("error", "skip"),
    help="An image that a system lacks is an error, or is left out (skip).",
)
_PAIRING = _taken(groups=(MEANING, CAPTIONS), kinds=_RETRIEVAL)
TAKEN: dict[str, Mapping[str, Option]] = {
    "score": OPTIONS,
    "compare": _taken("ci", "keep_rows", "score_references", resamples=10_000),
    "compare_values": _only("level", "seed", "read")
    | {"resamples": OPTIONS["resamples"]._replace(default=10_000)},
    "meta": _taken(
        "protocol", "ci", "ci_method", "ids", "keep_rows", "weights", "score_references"
    ),
    "correlate": _only("ci", "level", "resamples", "seed", "read", "progress"),
    "sweep": _taken(
        "measures",
        "protocol",
        "headings",
        "threshold",
        "calibration",
        "keep_rows",
        kinds=_LABELS,
    ),
    "calibrate_threshold": _taken(
        "measures",
        "protocol",
        "headings",
        "top_k",
        "decode",
        "threshold",
        "keep_at_least",
        "calibration",
        "keep_rows",
        "progress",
        groups=(WHAT, DATA, MEANING, ""),
        kinds=_LABELS,
    ),
    "calibrate_threshold_on_pairs": _taken(
        "embedding", "calibration", "taxonomy", groups=(MEANING,), kinds=_LABELS
    )
    | _only("normalize", "read"),
    "validate": _only("classes", "task", "read"),
    "rank": _only("read"),
    "select_discrepant": _SELECTING,
    "add_systems": _SELECTING,
    "inspect_sheets": _only("read"),
    "rank_competition": _only("measures")
    | {
        name: one for name, one in _SELECTING.items() if name not in ("task", "missing")
    },
    "caption_matrix": _PAIRING,
    "caption_blocks": _PAIRING,
    "caption_top_k": _PAIRING,
    "doc-freq": _only("tokenizer", "read"),
    "positives": _only("read"),
    "spice parse": _only("tokenizer", "read"),
    "embed fetch": _only("max_words"),
    "embed convert": _only("max_words"),
    "embed coverage": _only(
        "classes", "lookup", "device", "max_words", "normalize", "read"
    ),
}
TAKEN["sweep_systems"] = TAKEN["sweep"]
"""The options of a score that each function takes, or a command whose function takes others.

A function that is not here takes all. `_taken` includes every new option of its groups and kinds.
"""
_TWO_SIDED = (
    "score",
    "compare",
    "meta",
    "sweep",
    "sweep_systems",
    "calibrate_threshold",
)


def reading_of(function: str) -> Mapping[str, Option]:
    """Return how the files of a function are read; with options of one side if it has two.

    Examples
    --------
    >>> "gt_id_column" in reading_of("score"), "gt_id_column" in reading_of("validate")
    (True, False)
    """
    two_sided = function in _TWO_SIDED or function not in TAKEN
    return READING if two_sided else SHARED_READING


OUTPUT = _named(
    signatures=Option(
        "Show the whole signature of each row.",
        WRITE,
        flags=("--show-signatures",),
        read=bool,
    ),
    form=Option(
        "The format of the result; json and csv have full precision. The ending of -o says "
        "it, too.",
        WRITE,
        default="table",
        flags=("--format",),
        choices=tuple(RESULT_FORMATS),
        common=True,
    ),
    output=Option(
        "Write the result there, in the format of its extension: "
        f"{', '.join([*ENDINGS, *RECORD_ENDINGS])}. Without an extension, or with .txt, --format "
        "decides.",
        WRITE,
        flags=("-o", "--output"),
        written=(*ENDINGS, *RECORD_ENDINGS, ".txt", "-"),
        common=True,
    ),
    systems=Option(
        "Whether systems are rows or columns of tables. The default is rows if there "
        "are more systems than measures, or their columns do not fit the terminal.",
        WRITE,
        choices=("rows", "columns"),
    ),
    plot=Option(
        "Draw a figure of the result there: the most suitable, or the one named, such as "
        "labels=FILE or items=FILE; may be repeated. A wrong name lists all.",
        WRITE,
        metavar="[NAME=]FILE",
        repeat=True,
        written=(".png", ".svg", ".pdf"),
        common=True,
    ),
    html=Option(
        "Write a report there, too: one page with figures, labels, and the worst and best "
        "items. The same as -o FILE.html.",
        WRITE,
        written=(".html",),
        common=True,
    ),
    images=Option(
        "Show pictures of items in the report: a folder of files called by the ids, or "
        "'images/{id}.jpg', or 'images/{id:012d}.jpg' for 12 digits with leading zeros.",
        WRITE,
        metavar="FOLDER",
    ),
    digits=Option(
        "Digits after the point: 4, or 2 with --percent.",
        WRITE,
        read=int,
        least=0,
        most=17,
    ),
    percent=Option(
        "Multiply values in [-1, 1], CIDEr, SPICE and SPIDEr by 100, as papers print "
        "them.",
        WRITE,
        read=bool,
    ),
    quiet=Option(
        "Nothing but errors on standard error.",
        OTHER,
        flags=("-q", "--quiet"),
        read=bool,
    ),
)
"""How results are written by the command line."""

_MANIFEST = Option("Another manifest (TOML).", MEANING, file=True)
_BASELINE = Option(
    "The system that all others are compared with, by the name of its file. Without "
    "it all pairs are compared.",
    HOW,
    metavar="NAME",
    common=True,
)
_CORRECTION = Option(
    "Correction of p for the number of comparisons.",
    HOW,
    default="holm",
    choices=tuple(CORRECTIONS),
    common=True,
)
_GROUP = Option(
    "Column of RATINGS; each of its values has rows of its own, too.",
    PEOPLE,
    metavar="COLUMN",
    common=True,
)
_IDS = Option(
    "The part of an id in RATINGS that is compared: the group of the expression, or all "
    "that it finds.",
    PEOPLE,
    metavar="REGEX",
)
_POINTS = Option(
    "Thresholds to compute, both ends included. The default is 0:1:0.01.",
    WHAT,
    metavar="START:STOP:STEP|T,...",
    common=True,
)
_MEASURE = Option(
    "The measure.",
    WHAT,
    flags=("-m", "--measure"),
    metavar="MEASURE",
    names="measures",
    common=True,
)
_MEASURES = _MEASURE._replace(repeat=True)
_TO = Option(
    "Write the result there.",
    WRITE,
    flags=("-o", "--output"),
    required=True,
    written=("",),
    common=True,
)
_FORM = Option(
    "The format of the result.",
    WRITE,
    default="table",
    flags=("--format",),
    choices=("table", "json"),
    common=True,
)
_SHEETS = (".csv", ".json", ".jsonl")
_RECORDS = (*_SHEETS, ".tsv", ".parquet", ".tex", ".md", "-")
_SELECTED = _named(
    output=Option(
        "Write the state there, as JSON.",
        WRITE,
        flags=("-o", "--output"),
        written=("",),
        common=True,
    ),
    exclude=Option(
        "Images that are not to be selected, one id a line; the next ones are taken.",
        WHAT,
        file=True,
        common=True,
    ),
    sheet=Option(
        "Write a sheet for references there.", SHEETS, written=_SHEETS, common=True
    ),
    rating_sheet=Option(
        "Write a sheet there in which the answers are rated.", SHEETS, written=_SHEETS
    ),
    page=Option(
        "Write a sheet as HTML pages to annotate in, one a person: page-1.html.",
        SHEETS,
        written=("",),
        common=True,
    ),
    rating_page=Option(
        "Write a sheet of ratings as HTML pages.", SHEETS, written=("",)
    ),
    annotators=Option(
        "Rows for each image, or for each answer to rate.",
        SHEETS,
        default=3,
        read=int,
        least=1,
        most=100,
    ),
    images=Option(
        "Where images are, with {id} in it: 'images/{id}.jpg', or "
        "'images/{id:012d}.jpg' for 12 digits with leading zeros, seen from here or from the "
        "page.",
        SHEETS,
        metavar="TEMPLATE",
        common=True,
    ),
    scale=Option(
        "Ratings on the page are 1 to N.",
        SHEETS,
        default=5,
        read=int,
        least=2,
        most=100,
    ),
)
_STREAMED = _named(
    stream=Option(
        "Read JSONL, CSV, Parquet or Arrow block by block and let items go: memory does "
        "not grow with the files. A file, folder, quoted pattern or NAME=PATTERN is a system.",
        SCALE,
        read=bool,
    ),
)
COMMAND_OPTIONS: dict[str, dict[str, Option]] = {
    "score": _named(
        rescore=Option(
            "Compute that signature again on these files, and say where they differ "
            "from it.",
            WRITE,
            metavar="SIGNATURE",
        ),
        graded=Option(
            "Shade the scores of each measure from the worst (red) to the best (green), "
            "in LaTeX (packages booktabs, and xcolor with [table]) and HTML. The best are bold "
            "without it, too.",
            WRITE,
            read=bool,
        ),
        runs=Option(
            "The PRED files are runs of one system: show mean (std, n-1) over them.",
            WRITE,
            read=bool,
        ),
        classification_report=Option(
            "Show precision, recall, F1 and support of each label, and "
            "their averages, in place of the scores; with --ci an interval of each.",
            WRITE,
            kinds=_LABELS,
            read=bool,
        ),
        per_item=Option("Write the values of each item.", WRITE, written=_RECORDS),
        per_label=Option(
            "Write the values and counts of each label.", WRITE, written=_RECORDS
        ),
        matches=Option(
            "Write which prediction matched which true label, how similar they are, and "
            "what nothing matched, by the first semantic measure; of captions which words METEOR "
            "aligned.",
            WRITE,
            written=_RECORDS,
        ),
        confusion=Option(
            "Write how many images of each class are taken for each class; of label "
            "sets, how often a wrong label stands for a missed one.",
            WRITE,
            written=_RECORDS,
        ),
        curve=Option(
            "Write the accuracy on seen and unseen classes for every calibrating "
            "constant, of AUSUC.",
            WRITE,
            written=_RECORDS,
        ),
        worst=Option(
            "Show the N worst items by the first per-item measure.",
            WRITE,
            read=int,
            least=1,
            common=True,
        ),
    )
    | _STREAMED
    | _named(
        shard=Option(
            "Score only a part of the items, by the hash of their ids: 3/8 is the third "
            "of eight.",
            SCALE,
            metavar="I/N",
        ),
        state=Option(
            "Write the sums there, for 'semmetrics merge'.", SCALE, written=(".state",)
        ),
        engine=Option(
            "Score on all processors of this machine, or of a cluster.",
            SCALE,
            choices=("ray",),
        ),
        address=Option(
            "Of a Ray cluster: auto is the one that this machine belongs to. Without "
            "it, Ray is started on this machine.",
            SCALE,
            metavar="ADDRESS",
        ),
        num_gpus=Option(
            "GPUs for each task of --engine, for embeddings.", SCALE, read=float
        ),
    ),
    "merge": _named(
        state=Option(
            "Write the merged sums there, in place of scores.",
            SCALE,
            written=(".state",),
        ),
        max_bytes=READING["max_bytes"],
    ),
    "compare": _named(
        table=Option(
            "Compare the values of a table, in place of predictions: a row for each data "
            "set, split or seed, and a column for each system, or the columns dataset, system and "
            "value. Or, once for each system, what 'semmetrics score --runs --format json' wrote.",
            WHAT,
            repeat=True,
            file=True,
        ),
        test=Option(
            "How p is found: from the interval of the difference, resamples of the items "
            "(moved to a mean difference of 0, or as sacrebleu has it), items swapped at random, "
            "or, for means over items, Student's or Wilcoxon's test.",
            HOW,
            default="interval",
            choices=tuple(TESTS),
            common=True,
        ),
        baseline=_BASELINE,
        correction=_CORRECTION,
        differing=Option(
            "Show the N items on which systems differ most, by the first per-item "
            "measure.",
            WRITE,
            read=int,
            least=1,
        ),
        ranks=Option(
            "Show how often each system has each rank in the resamples, by the first "
            "measure.",
            WRITE,
            read=bool,
        ),
    )
    | _STREAMED,
    "rank": _named(
        measure=_MEASURE._replace(
            help="The measure, or its heading. The default is the only one "
            "of the first file, or O-F1."
        ),
        table=Option(
            "Rank the values of a table, in place of scores: a row for each data set, as "
            "for 'semmetrics compare'. Higher is better, unless --measure, or the rows' names, are "
            "measures that are better when lower.",
            WHAT,
            repeat=True,
            file=True,
        ),
        by=Option(
            "Rank by the mean of value over best value, or by the mean rank.",
            HOW,
            default="normalized",
            choices=RANKED_BY,
        ),
        level=Option(
            "Level of the critical difference of mean ranks, between 0 and 1.",
            HOW,
            default=0.95,
            read=float,
        ),
        differences=Option(
            "Show instead the ranks on two data sets, by name, and how they differ.",
            HOW,
            metavar="FIRST SECOND",
            values=2,
        ),
        diagram=Option(
            "Draw mean ranks with their critical difference.", WRITE, written=(".svg",)
        ),
    ),
    "meta": _named(
        protocol=Option(
            "How the literature measures agreement with a public set of judgements; "
            "see 'semmetrics list protocols'.",
            PEOPLE,
            metavar="P",
            names="agreement",
            common=True,
        ),
        columns=Option(
            "Names of columns of RATINGS: rating=score,id=image.",
            PEOPLE,
            metavar="ROLE=NAME,...",
            common=True,
        ),
        group_by=_GROUP,
        ids=_IDS,
        statistics=Option(
            f"{', '.join(AGREEMENT)} or all. The default is the protocol's, or all.",
            HOW,
            metavar="NAME,...",
            common=True,
        ),
        aggregate=Option(
            "Average several judgements of the same candidate. The default is the "
            "protocol's, or none.",
            HOW,
            choices=tuple(AGGREGATIONS),
        ),
        baseline=_BASELINE._replace(
            metavar="MEASURE",
            help="The measure that all others are "
            "compared with. The default is the first.",
        ),
        test=Option(
            "Resamples of images, moved to a mean difference of 0; or Williams' test, for "
            "Pearson's r of independent judgements.",
            HOW,
            default="bootstrap",
            choices=tuple(JUDGEMENT_TESTS),
        ),
        correction=_CORRECTION,
    ),
    "correlate": _named(
        columns=Option(
            "Columns of RATINGS. The default is its first three.",
            PEOPLE,
            metavar="ID,ID,SCORE",
        ),
        group_by=_GROUP,
        ids=_IDS,
        ncs=Option(
            "NCS@1 in place of phi: each value over the largest one of its row (images are "
            "queries) or column (captions are).",
            WHAT,
            choices=("rows", "columns"),
        ),
    ),
    "sweep": _named(
        measures=_MEASURES._replace(
            help="Measures with a threshold of similarity, such as SemF1 "
            "(the default) or SemRecall@5."
        ),
        thresholds=_POINTS,
    ),
    "calibrate": _named(
        pairs=Option(
            "Labelled pairs: CSV, TSV, JSON or JSONL with the columns a, b and same.",
            HOW,
            file=True,
            common=True,
        ),
        criterion=Option(
            "Of pairs: what is largest at the threshold. The default is f1.",
            HOW,
            choices=("f1", "youden", "accuracy"),
            common=True,
        ),
        measure=_MEASURE._replace(
            help="Of PRED and GT: the measure whose contrast is largest. The "
            "default is SemF1."
        ),
        holdout=Option(
            "Of PRED and GT: the share of items that are used. The default is 0.2.",
            HOW,
            read=float,
        ),
        seed=Option(
            "Of PRED and GT: chooses the items. The default is 12345.", HOW, read=int
        ),
        thresholds=_POINTS,
        form=_FORM._replace(
            default="text",
            choices=("text", "json"),
            help="The format of the result; json is what -o saves.",
        ),
    ),
    "validate": _named(
        form=_FORM,
        order=Option(
            "Write how often one label of each pair precedes the other, of one file.",
            WRITE,
            written=_RECORDS,
        ),
    ),
    "doc-freq": _named(
        stem=Option(
            "Whether words are stemmed, as in CIDEr(stem=porter). The default is none.",
            WHAT,
            choices=("none", "porter"),
        ),
        convert=Option(
            "FILE holds document frequencies: .npz, JSON, or a pickle of released code.",
            WHAT,
            read=bool,
        ),
        documents=Option(
            "With --convert: how many documents were counted, if the file does not "
            "tell.",
            WHAT,
            read=int,
            least=1,
        ),
        output=_TO._replace(
            help="Write the frequencies there.", written=(".npz", ".json")
        ),
    ),
    "positives": _named(
        differing=Option(
            "How many classes one of two images may have alone.",
            WHAT,
            default=0,
            read=int,
            least=0,
        ),
        output=_TO._replace(help="Write the positives there, as JSON."),
    ),
    "pairs": _named(
        measure=_MEASURES._replace(
            help="CIDEr-D, CIDEr, METEOR, SPICE or BagSim, with its options.",
            default=("CIDEr-D",),
            flags=("-m", "--measure", "--phi"),
        ),
        rows=Option(
            "Whether a row is an image, with all its references, or one reference alone.",
            WHAT,
            default="images",
            choices=("images", "references"),
            common=True,
        ),
        top_k=Option(
            "Only the K best captions of each image, as JSON lines.",
            WHAT,
            metavar="K",
            read=int,
            least=1,
            common=True,
        ),
        axis=Option(
            "With --top-k: the best captions of each image, or images of each caption. The "
            "default is captions.",
            WHAT,
            choices=("captions", "images"),
            common=True,
        ),
        output=_TO._replace(
            help="A .npy file of images x captions, and FILE.ids.json with the ids "
            "of both; or, with --top-k, a .jsonl file, or - for standard output. A run that was "
            "stopped is continued, from FILE.part and FILE.blocks."
        ),
        dtype=Option(
            "Type of the numbers in the .npy file. The default is float64.",
            WRITE,
            choices=("float64", "float32"),
        ),
        overwrite=Option(
            "Compute all of a .npy file that exists already, whatever it holds.",
            WRITE,
            read=bool,
        ),
    ),
    "mad select": _named(
        k=Option(
            "Images of each pair. The default is 70, unless -n is given.",
            WHAT,
            flags=("-k",),
            metavar="K",
            read=int,
            common=True,
        ),
        total=Option(
            "At most N different images for all pairs together, in place of -k. Each pair "
            "has the largest number of images that this allows.",
            WHAT,
            flags=("-n", "--total"),
            metavar="N",
            read=int,
            least=1,
            common=True,
        ),
        measure=_MEASURE._replace(
            help="What tells how alike two answers are: a measure with "
            "values of items.",
            default="NGSM",
        ),
        ties=Option(
            "How images of equal values are ordered: by NGSM of lower orders and then by "
            "id, by id, by position, or by a hash of the seed, the pair and the id.",
            WHAT,
            default="orders",
            choices=("orders", "id", "position", "random"),
        ),
        seed=Option("Seed of --ties random.", WHAT, default=12345, read=int),
    )
    | _SELECTED,
    "mad add": _SELECTED,
    "mad replace": _SELECTED
    | _named(
        exclude=_SELECTED["exclude"]._replace(
            help="The images to take out, one id a line.", required=True
        )
    ),
    "mad inspect": _named(
        output=_TO._replace(help="Write the sheet there.", written=_SHEETS),
        inspectors=Option(
            "Rows for each annotation.", SHEETS, default=3, read=int, least=1, most=100
        ),
        label_delimiter=READING["label_delimiter"],
    ),
    "mad rank": _named(
        references=Option(
            "Sheets of references that were filled, or references in another form.",
            WHAT,
            repeat=True,
            file=True,
            common=True,
        ),
        ratings=Option(
            "Sheets of ratings that were filled.",
            WHAT,
            repeat=True,
            file=True,
            common=True,
        ),
        measures=_MEASURES._replace(
            help="Measures that the systems are scored by, such as CIDEr-D "
            "and SPICE. The default is what 'semmetrics score' computes."
        ),
        k=Option(
            "Only the first K images of each pair.",
            WHAT,
            flags=("-k",),
            metavar="K",
            read=int,
            common=True,
        ),
        floor=Option(
            "Raise smaller scores to X, so that a score of 0 has a dominance.",
            WHAT,
            read=float,
        ),
        stability=Option(
            "Compare the ranks of these k with those of all images (SRCC).",
            WHAT,
            metavar="K,...|K:K[:STEP]",
        ),
        missing=Option(
            "Images that are not annotated, and rows of other images, are an error, or "
            "are left out (skip).",
            WHAT,
            default="error",
            choices=("error", "skip"),
        ),
        pairs_file=Option(
            "Write scores and dominance of each pair there.",
            WRITE,
            flags=("--pairs",),
            written=_RECORDS,
            common=True,
        ),
    ),
    "spice setup": _named(
        jars=Option(
            "Take the two jars of CoreNLP 3.6.0 from there; without it the Maven client, "
            "mvn, gets them (385 MB).",
            WRITE,
            metavar="FOLDER",
            file=True,
        ),
    ),
    "spice parse": _named(
        parser=Option(
            "SPICE's own program, which needs Java, or the parser that comes with "
            "semmetrics.",
            WHAT,
            default="official",
            choices=("official", "offline"),
        ),
        captions=Option(
            "What is parsed: the tokens of the tokenizer, as SPICE(captions=tokens) "
            "has them, or captions as they are written.",
            WHAT,
            default="tokens",
            choices=("tokens", "written"),
        ),
        seconds=Option(
            "The longest that a caption may take.",
            JAVA,
            default=60,
            read=int,
            least=1,
            most=86400,
        ),
        processors=Option(
            "Threads; by default as many as the machine has processors.",
            JAVA,
            read=int,
            least=1,
            most=1024,
        ),
        memory=Option(
            "Memory of the Java program.", JAVA, default="4G", metavar="SIZE"
        ),
        output=_TO._replace(
            help="JSON lines, one a distinct caption; - for standard output."
        ),
    ),
    "embed list": _named(manifest=_MANIFEST),
    "embed fetch": _named(
        manifest=_MANIFEST,
        folder=Option(
            "Where the converted vectors go; the user's cache folder.",
            WRITE,
            flags=("--to",),
            metavar="FOLDER",
            file=True,
        ),
        keep=Option("Keep the download, too.", WRITE, read=bool),
    ),
    "embed convert": _named(
        name=Option(
            "What signatures call the vectors; the file's name.",
            MEANING,
            metavar="NAME",
        ),
        member=Option("The file in a zip archive.", MEANING, metavar="NAME"),
        licence=Option(
            "Written into the meta data.", MEANING, default="", metavar="TEXT"
        ),
    ),
    "embed info": _named(
        form=_FORM,
        verify=Option(
            "Compare converted vectors with their SHA-256.", MEANING, read=bool
        ),
    ),
    "embed coverage": _named(
        embedding=Option(
            "NAME, PATH, or kind:NAME or kind:PATH; kinds: static, same, word2vec, "
            "glove, fasttext, kv, converted, sbert, transformers:first, transformers:mean, "
            "matrix. Without it, 'same' is used, as by measures that match labels.",
            MEANING,
            default="same",
            metavar="EMBEDDING",
            common=True,
        ),
        top_k=Option(
            "The first K labels of each item, by falling score if there are scores.",
            DATA,
            metavar="K",
            read=int,
            least=1,
            common=True,
        ),
        names=Option(
            "The most frequent unknown, composed and untuned labels that are named.",
            WRITE,
            default=5,
            read=int,
            least=0,
        ),
    ),
}
"""The options that a command has of its own; they are keywords of its API function, too."""


def flag(name: str, value: str = "") -> str:
    """Return an option as the command line has it.

    Examples
    --------
    >>> flag("measures"), flag("missing", "skip"), flag("ci", "True")
    ('--measure', '--missing skip', '--ci')
    >>> flag("label_delimiter", " ")
    "--label-delimiter ' '"
    """
    one = OPTIONS.get(name) or READING.get(name) or OUTPUT.get(name)
    named = one.flag if one else f"--{name.replace('_', '-')}"
    written = value if value[:1] in ("", "'", '"') else shlex.quote(value)
    if value in ("\n", "\t"):
        written = f"${value!r}"
    return f"{named} {written}".removesuffix(" True").rstrip()


def hint_of(name: str) -> Any:
    """Return the type of an option.

    Examples
    --------
    >>> hint_of("keep_at_least")
    <class 'int'>
    """
    hint = Options.__annotations__[name]
    return getattr(hint, "__origin__", hint)


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


def check_options(
    function: str, given: Mapping[str, Any], own: Iterable[str] = ()
) -> None:
    """Refuse options that a function does not take, and values that they cannot have.

    The function's own parameters are suggested where they are near.

    Raises
    ------
    InputError
        Names the nearest options, or the types that are allowed.

    Examples
    --------
    >>> check_options("score", {"topk": 3})
    Traceback (most recent call last):
    semmetrics.errors.InputError: score: there is no option 'topk'; did you mean top_k?
    >>> check_options("score", {"ignore": 5})
    Traceback (most recent call last):
    semmetrics.errors.InputError: ignore=5; give a text, a path or a list of texts
    """
    known = TAKEN.get(function, OPTIONS)
    for name, value in given.items():
        if value is None and name in OPTIONS:
            continue
        if name in known:
            one, hint = known[name], hint_of(name)
            check_type(name, value, hint)
            if one.choices and hint is not Any:
                check_choice(name, value, one.choices)
            if one.least is not None and value < one.least:
                wanted = f"a whole number from {one.least}"
                raise InputError("bad-option", name=name, value=value, wanted=wanted)
            continue
        _raise_unknown(function, name, own, known)


def _raise_unknown(
    function: str, name: str, own: Iterable[str], known: Mapping[str, Option]
) -> NoReturn:
    """Raise the error for an option that a function does not have."""
    parameters = [
        parameter for parameter in own if parameter not in ("self", "options")
    ]
    names = [*parameters, *known]
    remedy = ""
    if option_elsewhere(name) in known:
        remedy = f"did you mean {option_elsewhere(name)}?"
    elif "measure" in names or "measures" in names:
        remedy = measure_option(name)
    if name in OPTIONS:
        remedy = remedy or did_you_mean(name, parameters, "remove it", most=1)
        raise InputError("not-applicable", name=name, what=function, fix=remedy)
    if "read" in known:
        names += reading_of(function)
    raise InputError(
        "unknown-name",
        function,
        what="option",
        value=name,
        remedy=remedy or _nearest_options(function, name, names),
    )


_FEW_NAMES = 8  # so many options are listed in full


def _nearest_options(function: str, name: str, names: Sequence[str]) -> str:
    """Return the remedy for an unknown option: a likely name, or the nearest ones."""
    if len(names) <= _FEW_NAMES:
        every = sorted(names)
        return did_you_mean(name, names, f"choose one of {', '.join(every)}")
    near = nearest_names(name, names, most=5, cutoff=0.4)
    nearest = f"the nearest are {', '.join(near)}; " if near else ""
    return did_you_mean(
        name, names, f"{nearest}see help(semmetrics.{function}) for all"
    )


# What other libraries call an option, or what here belongs to a measure.
_ELSEWHERE = {
    "measures": ("metric", "metrics", "measure", "scores"),
    "top_k": ("k", "ks", "cutoff", "cutoffs", "at", "top"),
    "classes": (
        "labels",
        "class_names",
        "class_list",
        "label_names",
        "target_names",
        "vocabulary",
    ),
    "weights": ("weight", "sample_weight", "sample_weights"),
    "ci": (
        "bootstrap",
        "confidence_interval",
        "confidence_intervals",
        "interval",
        "intervals",
    ),
    "level": ("alpha", "confidence", "confidence_level", "ci_level"),
    "resamples": (
        "n_resamples",
        "n_bootstrap",
        "n_bootstraps",
        "num_resamples",
        "n_boot",
    ),
    "seed": ("random_state", "rng", "random_seed"),
    "ci_method": ("method",),
    "embedding": (
        "encoder",
        "model",
        "model_name",
        "model_type",
        "vectors",
        "word_vectors",
    ),
    "ignore": ("ignore_index", "ignore_labels", "exclude"),
    "threshold": ("thresholds", "score_threshold"),
    "doc_freq": ("df", "idf", "document_frequencies"),
    "queries": ("query_ids", "row_ids"),
    "seen": ("seen_classes", "train_classes", "base_classes"),
    "unseen": ("unseen_classes", "test_classes", "novel_classes"),
    "gallery": ("gallery_ids", "column_ids", "corpus"),
    "normalize": ("normalization", "lowercase", "lower", "preprocess"),
    "tokenizer": ("tokenize", "tokenization"),
    "id_column": ("ids_column", "id_key", "id_col", "id_field", "key_column"),
    "label_column": ("labels_column", "label_key", "label_col"),
    "caption_column": ("captions_column", "caption_key", "caption_col", "text_column"),
    "score_column": ("scores_column", "score_key", "score_col"),
    "task": ("kind", "mode", "task_type"),
}
_NAMES_ELSEWHERE = {
    fold(other): name for name, others in _ELSEWHERE.items() for other in others
}
_OF_MEASURES = {  # what other libraries have as options of a call, with a measure that has it
    "average": "F1(average=macro)",
    "zero_division": "F1(empty=1)' or 'Precision(no_prediction=skip)",
    "match": "SemF1(match=optimal)",
    "decode": "SemF1(decode=threshold:0.5)",
    "top_k": "SemF1@5",
    "interpolation": "mAP(interpolation=voc2010)",
    "sigma": "CIDEr-D(sigma=5)",
    "stem": "CIDEr(stem=porter)",
    "beta": "ROUGE-L(beta=1)",
    "parser": "SPICE(parser=offline)",
    "rel": "MAP(rel=2)",
    "gain": "nDCG(gain=exponential)@5",
}


def option_elsewhere(name: str) -> str:
    """Return the option that other libraries call by a name; "" if there is none.

    Examples
    --------
    >>> option_elsewhere("metrics"), option_elsewhere("n-boot"), option_elsewhere("foo")
    ('measures', 'resamples', '')
    """
    return _NAMES_ELSEWHERE.get(fold(name), "")


def measure_option(name: str) -> str:
    """Return where a name that is no option of a score belongs; "" if not to a measure.

    Examples
    --------
    >>> measure_option("parser")
    "write it in the measure, as 'SPICE(parser=offline)'"
    """
    example = _OF_MEASURES.get(name.lower())
    return f"write it in the measure, as '{example}'" if example else ""


def decoding_rules(decode: Any, threshold: Any) -> list[str]:
    """Return the rules of ``decode``, then one for each score threshold; each once.

    Examples
    --------
    >>> decoding_rules("cumulative:0.5", [0.25, "best"]), decoding_rules(None, "0.3,0.5")
    (['cumulative:0.5', 'threshold:0.25', 'threshold:best'], ['threshold:0.3', 'threshold:0.5'])
    >>> decoding_rules("threshold:.50", "0.5,1")
    ['threshold:0.5', 'threshold:1.0']
    """
    rules = (
        [decode] if isinstance(decode, str) else [] if decode is None else list(decode)
    )
    if isinstance(threshold, str):
        points: Iterable[Any] = threshold.split(",")
    else:
        listed = hasattr(threshold, "__iter__")
        points = () if threshold is None else threshold if listed else (threshold,)
    texts = [p.strip() if isinstance(p, str) else repr(float(p)) for p in points]
    rules += [f"threshold:{text}" for text in texts]
    return list(dict.fromkeys(map(clean_rule, rules)))


def clean_rule(rule: Any) -> Any:
    """Write the number of a decoding rule in one way; anything else stays for its reader.

    Examples
    --------
    >>> clean_rule("threshold:.50"), clean_rule("threshold:best"), clean_rule("all")
    ('threshold:0.5', 'threshold:best', 'all')
    """
    name, colon, text = rule.partition(":") if isinstance(rule, str) else ("", "", "")
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

    def settings(self, kind: str) -> dict[str, str]:
        """Return what a signature says of the data: texts, and numbers that are not the default.

        Examples
        --------
        >>> resolve_options({"missing": "skip"}, "classes").settings("classes")
        {'missing': 'skip', 'tie': 'position'}
        """
        return {
            one.key: str(self[name])
            for name, one in OPTIONS.items()
            if one.key and one.signed and kind in (one.kinds or KINDS)
            if isinstance(self[name], str)
            or (one.read is not str and is_asked(name, self[name]))
        }

    def replace(self, **changed: Any) -> "ResolvedOptions":
        """Return the same options with other values."""
        return ResolvedOptions({**self._values, **changed}, self.given, self.opened)


def take_over(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have a value, in containers that the caller does not change.

    Examples
    --------
    >>> weights = {"a": 1.0}
    >>> given = take_over({"weights": weights, "ignore": iter("ab"), "classes": None})
    >>> weights.clear()
    >>> given
    {'weights': {'a': 1.0}, 'ignore': ['a', 'b']}
    """
    found = {name: value for name, value in given.items() if value is not None}
    for name, value in found.items():
        if isinstance(value, Iterator):
            found[name] = list(value)
        elif isinstance(value, (dict, list, set)):
            found[name] = copy(value)
    return found


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
    given = take_over(given)
    for name, value in given.items():
        if is_given(value) and OPTIONS[name].kinds and kind not in OPTIONS[name].kinds:
            raise InputError("not-of-kind", name=name, kind=kind)
    rules = given.get("decode")
    if "threshold" in given:
        given["decode"] = decoding_rules(rules, given["threshold"])
    elif rules is not None:
        several = isinstance(rules, (list, tuple))
        given["decode"] = [*map(clean_rule, rules)] if several else clean_rule(rules)
    for name, value in fixed.items():
        if given.get(name, value) != value:
            raise InputError(
                "fixed-by", what=f"protocol {protocol}", names=f"{name}={value}"
            )
    defaults = {name: option.default for name, option in OPTIONS.items()}
    asked = [name for name, value in given.items() if is_asked(name, value)]
    return ResolvedOptions({**defaults, **given, **fixed}, asked)


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
