"""The values that options may have, and the titles under which help lists options."""

from __future__ import annotations

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
FOR_LABELS, FOR_CAPTIONS, FOR_RETRIEVAL, FOR_CLASSES = ((kind,) for kind in KINDS)
FOR_TEXTS = FOR_CAPTIONS + FOR_RETRIEVAL  # of retrieval, where phi is computed
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
"""The formats of files, each with the kinds that are read from it."""
COLUMNS = {
    "label": FOR_LABELS + FOR_CLASSES,
    "score": FOR_LABELS + FOR_RETRIEVAL + FOR_CLASSES,
    "caption": FOR_CAPTIONS,
    "candidate": FOR_RETRIEVAL,
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
