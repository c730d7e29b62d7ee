"""Allowed values of options, and the headings under which ``--help`` lists options."""

from __future__ import annotations

KINDS = ("labels", "captions", "retrieval", "classes")
"""The kinds of data that can be evaluated. Each has a package in `semmetrics.kinds`."""

# The headings of --help
MEASURES = "Measures"
DATA = "Data"
EMBEDDINGS = "Embeddings"
CAPTIONS = "Captions"
RETRIEVAL = "Retrieval"
CLASSES = "Classes"
INTERVALS = "Confidence intervals and signatures"
COMPARISON = "Comparison"
JUDGEMENTS = "Human judgements"
SHEETS = "Annotation sheets"
SPICE = "SPICE program"
LARGE_DATA = "Large data"
FILES = "Reading files"
RESULT = "Output"
OTHER = "Other options"
FILES_OF_SIDE = "Reading the files of one side"
TITLES = (
    MEASURES,
    JUDGEMENTS,
    COMPARISON,
    DATA,
    EMBEDDINGS,
    CAPTIONS,
    RETRIEVAL,
    CLASSES,
    INTERVALS,
    SPICE,
    FILES,
    FILES_OF_SIDE,
    LARGE_DATA,
    SHEETS,
    RESULT,
    OTHER,
)
"""The headings of ``--help``, in order."""
COMMAND_TITLES = (RESULT, LARGE_DATA, SHEETS, OTHER)
"""The headings of options that exist only on the command line."""
FOR_LABELS = ("labels",)
FOR_CAPTIONS = ("captions",)
FOR_RETRIEVAL = ("retrieval",)
FOR_CLASSES = ("classes",)
FOR_TEXTS = FOR_CAPTIONS + FOR_RETRIEVAL  # Retrieval computes phi from captions.
FOR_MEANINGS = FOR_LABELS + FOR_TEXTS
FORMATS = {
    **dict.fromkeys(("json", "jsonl", "csv", "tsv", "parquet", "arrow"), KINDS),
    **dict.fromkeys(("npy", "npz"), FOR_LABELS + FOR_RETRIEVAL + FOR_CLASSES),
    "hdf5": FOR_RETRIEVAL + FOR_CLASSES,
    "coco": FOR_LABELS + FOR_CAPTIONS + FOR_RETRIEVAL,
    "txt": FOR_CAPTIONS + FOR_CLASSES,
    "flickr": FOR_TEXTS,
    "trec": FOR_RETRIEVAL,
}
"""The formats of input files, each with the kinds of data that it can have."""
COLUMNS = {
    "label": FOR_LABELS + FOR_CLASSES,
    "score": FOR_LABELS + FOR_RETRIEVAL + FOR_CLASSES,
    "caption": FOR_CAPTIONS,
    "candidate": FOR_RETRIEVAL,
}
"""The roles of columns other than the ids, each with the kinds of data that have it."""
RESULT_FORMATS = {
    "table": "aligned columns, with the undefined items and the reasons",
    "json": "the scores in full precision, with the interpretation of the inputs, "
    "notes, and measures that were not computed",
    "csv": "one row per score, in full precision",
    "markdown": "measures as rows and systems as columns, or the other way round if there "
    "are more systems",
    "latex": "the same table as a LaTeX tabular with booktabs rules",
    "html": "the same table in HTML",
}
"""The formats of results, each with a description."""
FORMAT_OF_EXTENSION = {
    ".csv": "csv",
    ".json": "json",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
}
"""The formats of results by the extension of the output file."""
_OTHER_EXTENSIONS = {".htm": ".html"}
"""Extensions that output files cannot have, and the usual ones."""
RECORD_EXTENSIONS = (".tsv", ".jsonl", ".parquet")
"""The extensions of output files with one record per row. ``--format`` has no such formats."""

TESTS = {
    "interval": "interval of the difference",
    "bootstrap": "paired bootstrap test",
    "bootstrap-sacrebleu": "paired bootstrap test of sacrebleu",
    "randomization": "approximate randomisation test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
}
"""The significance tests of `semmetrics.compare`, each with its name in reports."""
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
"""Examples of decoding rules, which turn scores into label sets."""
VALUE_TESTS = ("t", "wilcoxon", "randomization")
"""The tests that work on values without items, such as one value per dataset."""
CORRECTIONS = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini and Hochberg",
    "none": "",
}
"""The corrections for multiple comparisons, each with the names of its authors."""
AGREEMENT = {
    "kendall-c": "Kendall's tau-c",
    "kendall-b": "Kendall's tau-b",
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "accuracy": "pairwise accuracy",
}
"""The statistics of agreement with human ratings, each with its name in reports."""
JUDGEMENT_TESTS = {"bootstrap": "paired bootstrap test", "williams": "Williams' test"}
"""The tests that compare two correlations with the same ratings, with their names in reports."""
AGGREGATIONS = {"none": "unaggregated", "mean": "mean over the ratings of a candidate"}
"""The ways to combine several judgements of a candidate, each with its name in reports."""
RANKED_BY = ("normalized", "rank")
"""The values that rank systems over datasets: the mean normalised value or the mean rank."""


def format_hint(name: str) -> str:
    """Return a hint about an unknown format of results, or "" if it is not an extension.

    Examples
    --------
    >>> format_hint("md"), format_hint("excel")
    ('The format of .md files is markdown.', '')
    """
    extension = f".{name.removeprefix('.').casefold()}"
    usual_extension = _OTHER_EXTENSIONS.get(extension, extension)
    form = FORMAT_OF_EXTENSION.get(usual_extension)
    if form is None:
        return ""
    return f"The format of {extension} files is {form}."
