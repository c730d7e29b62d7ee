"""Allowed values of options, and the headings under which ``--help`` lists options."""

from __future__ import annotations

KINDS = ("labels", "captions", "retrieval", "classes")
"""The kinds of data that can be evaluated. Each has a package in `semmetrics.kinds`."""

# The headings of --help
WHAT = "What is computed"
DATA = "What the data are"
MEANING = "What texts mean"
CAPTIONS = "What captions are compared by"
RETRIEVAL = "What is retrieved"
CLASSES = "Which classes are seen"
CERTAINTY = "Confidence intervals and signatures"
HOW = "How systems are compared"
PEOPLE = "What people say"
SHEETS = "Sheets to fill"
JAVA = "The official program"
SCALE = "Larger than memory"
READ = "How files are read"
WRITE = "Output"
OTHER = "Other options"
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
"""The headings of ``--help``, in order."""
OF_COMMANDS = (WRITE, SCALE, SHEETS, OTHER)
"""The headings of options that exist only on the command line."""
FOR_LABELS = ("labels",)
FOR_CAPTIONS = ("captions",)
FOR_RETRIEVAL = ("retrieval",)
FOR_CLASSES = ("classes",)
FOR_TEXTS = FOR_CAPTIONS + FOR_RETRIEVAL  # Retrieval computes phi from captions
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
    "table": "aligned columns, and beside them what was undefined and why",
    "json": "the scores in full precision, and what was understood, noted and not computed",
    "csv": "one row a score, in full precision",
    "markdown": "measures as rows, systems as columns; or systems as rows if they are more",
    "latex": "the same as a tabular in the style of booktabs",
    "html": "the same as a table of a web page",
}
"""The formats of results, each with a description."""
ENDINGS = {
    ".csv": "csv",
    ".json": "json",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
}
"""The formats of results by the extension of the output file."""
RECORD_ENDINGS = (".tsv", ".jsonl", ".parquet")
"""The extensions of output files with one record per row. ``--format`` has no such formats."""

TESTS = {
    "interval": "test by the interval of the difference",
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
OF_VALUES = ("t", "wilcoxon", "randomization")
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
AGGREGATIONS = {"none": "unaggregated", "mean": "mean of all of a candidate"}
"""The ways to combine several judgements of a candidate, each with its name in reports."""
RANKED_BY = ("normalized", "rank")
"""The values that rank systems over datasets: the mean normalised value or the mean rank."""
