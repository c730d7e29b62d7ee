"""The options that belong to one command, or that a command changes."""

from __future__ import annotations

from semmetrics.options.choices import (
    AGGREGATIONS,
    AGREEMENT,
    COMPARISON,
    CORRECTIONS,
    DATA,
    EMBEDDINGS,
    FOR_LABELS,
    JUDGEMENT_TESTS,
    JUDGEMENTS,
    LARGE_DATA,
    MEASURES,
    RANKED_BY,
    RESULT,
    SHEETS,
    SPICE,
    TESTS,
)
from semmetrics.options.option import Option, name_options
from semmetrics.options.tables import READING

_MANIFEST = Option("Use another manifest (TOML).", EMBEDDINGS, file=True)
_BASELINE = Option(
    "System that all others are compared with, by its file name. By default, all "
    "pairs are compared.",
    COMPARISON,
    metavar="NAME",
    common=True,
)
_CORRECTION = Option(
    "Correction of p-values for multiple comparisons.",
    COMPARISON,
    default="holm",
    choices=tuple(CORRECTIONS),
    common=True,
)
_GROUP_BY = Option(
    "Column of RATINGS. Each of its values also gets its own rows in the result.",
    JUDGEMENTS,
    metavar="COLUMN",
    common=True,
)
_ID_PATTERN = Option(
    "Regular expression that selects the part of an id in RATINGS to compare. The "
    "part is the expression's group, or the whole match.",
    JUDGEMENTS,
    metavar="REGEX",
)
_THRESHOLDS = Option(
    "Thresholds to compute, including both ends of a range. The default is 0:1:0.01.",
    MEASURES,
    metavar="START:STOP:STEP|T,...",
    common=True,
)
_MEASURE = Option(
    "The measure.",
    MEASURES,
    flags=("-m", "--measure"),
    metavar="MEASURE",
    names="measures",
    common=True,
)
_MEASURES = _MEASURE._replace(repeat=True)
_OUTPUT_FILE = Option(
    "Write the result to this file.",
    RESULT,
    flags=("-o", "--output"),
    required=True,
    output_extensions=("",),
    common=True,
)
_RESULT_FORMAT = Option(
    "Format of the result.",
    RESULT,
    default="table",
    flags=("--format",),
    choices=("table", "json"),
    common=True,
)
_SHEET_EXTENSIONS = (".csv", ".json", ".jsonl")
_RECORD_EXTENSIONS = (*_SHEET_EXTENSIONS, ".tsv", ".parquet", ".tex", ".md", "-")
_COMPETITION_OPTIONS = name_options(
    output=Option(
        "Write the state to this file, as JSON.",
        RESULT,
        flags=("-o", "--output"),
        output_extensions=("",),
        common=True,
    ),
    exclude=Option(
        "Images that must not be selected, one id per line. The next images are "
        "selected instead.",
        MEASURES,
        file=True,
        common=True,
    ),
    sheet=Option(
        "Write a sheet for references to this file.",
        SHEETS,
        output_extensions=_SHEET_EXTENSIONS,
        common=True,
    ),
    rating_sheet=Option(
        "Write a sheet for rating the answers to this file.",
        SHEETS,
        output_extensions=_SHEET_EXTENSIONS,
    ),
    page=Option(
        "Write a sheet as HTML pages for annotation, one per annotator, such as "
        "page-1.html.",
        SHEETS,
        output_extensions=("",),
        common=True,
    ),
    rating_page=Option(
        "Write a sheet for ratings as HTML pages.", SHEETS, output_extensions=("",)
    ),
    annotators=Option(
        "Number of rows per image, or per answer to rate.",
        SHEETS,
        default=3,
        read=int,
        least=1,
        most=100,
    ),
    images=Option(
        "Location of the images, with {id} in it, such as 'images/{id}.jpg', or "
        "'images/{id:012d}.jpg' for 12 digits with leading zeros. It is relative to the "
        "working directory or to the page.",
        SHEETS,
        metavar="TEMPLATE",
        common=True,
    ),
    scale=Option(
        "Highest rating on the page. Ratings are 1 to N.",
        SHEETS,
        default=5,
        read=int,
        least=2,
        most=100,
    ),
)
_STREAM_OPTIONS = name_options(
    stream=Option(
        "Read JSONL, CSV, Parquet or Arrow files block by block and discard items after "
        "scoring, so memory use does not grow with the files. A file, folder, quoted "
        "pattern or NAME=PATTERN is one system.",
        LARGE_DATA,
        read=bool,
    ),
)
COMMAND_OPTIONS: dict[str, dict[str, Option]] = {
    "score": name_options(
        rescore=Option(
            "Recompute a signature on these files, and report where the results differ.",
            RESULT,
            metavar="SIGNATURE",
        ),
        graded=Option(
            "Shade the scores of each measure from the worst (red) to the best (green), in "
            "LaTeX (packages booktabs, and xcolor with [table]) and HTML. The best scores "
            "are bold with and without this option.",
            RESULT,
            read=bool,
        ),
        runs=Option(
            "Treat the PRED files as runs of one system, and show mean (std, n-1) over the "
            "runs.",
            RESULT,
            read=bool,
        ),
        classification_report=Option(
            "Show precision, recall, F1 and support of each label, and their averages, "
            "instead of the scores. With --ci, each value has an interval.",
            RESULT,
            kinds=FOR_LABELS,
            read=bool,
        ),
        per_item=Option(
            "Write the values of each item to this file.",
            RESULT,
            output_extensions=_RECORD_EXTENSIONS,
        ),
        per_label=Option(
            "Write the values and counts of each label to this file.",
            RESULT,
            output_extensions=_RECORD_EXTENSIONS,
        ),
        matches=Option(
            "Write which prediction matched which reference label, their similarity, and "
            "the labels without a match, according to the first semantic measure. For "
            "captions, write the words that METEOR aligned.",
            RESULT,
            output_extensions=_RECORD_EXTENSIONS,
        ),
        confusion=Option(
            "Write how many images of each class are predicted as each class. For label "
            "sets, write how often a wrong label occurs in place of a missed one.",
            RESULT,
            output_extensions=_RECORD_EXTENSIONS,
        ),
        curve=Option(
            "Write the curve of AUSUC, which is the accuracy on seen and unseen classes for "
            "every calibration constant.",
            RESULT,
            output_extensions=_RECORD_EXTENSIONS,
        ),
        worst=Option(
            "Show the N worst items according to the first per-item measure.",
            RESULT,
            read=int,
            least=1,
            common=True,
        ),
    )
    | _STREAM_OPTIONS
    | name_options(
        shard=Option(
            "Score only a part of the items, selected by a hash of their ids. 3/8 is the "
            "third of eight parts.",
            LARGE_DATA,
            metavar="I/N",
        ),
        state=Option(
            "Write the sums to this file, for 'semmetrics merge'.",
            LARGE_DATA,
            output_extensions=(".state",),
        ),
        engine=Option(
            "Score on all processors of this machine or of a cluster.",
            LARGE_DATA,
            choices=("ray",),
        ),
        address=Option(
            "Address of a Ray cluster. auto is the cluster that this machine belongs to. By "
            "default, Ray is started on this machine.",
            LARGE_DATA,
            metavar="ADDRESS",
        ),
        num_gpus=Option(
            "Number of GPUs for each task of --engine, for embeddings.",
            LARGE_DATA,
            read=float,
        ),
    ),
    "merge": name_options(
        state=Option(
            "Write the merged sums to this file, instead of printing scores.",
            LARGE_DATA,
            output_extensions=(".state",),
        ),
        max_bytes=READING["max_bytes"],
    ),
    "compare": name_options(
        table=Option(
            "Compare the values of a table instead of predictions. The table has a row for "
            "each dataset, split or seed, and a column for each system, or the columns "
            "dataset, system and value. Or repeat the option for each system, with output "
            "of 'semmetrics score --runs --format json'.",
            MEASURES,
            repeat=True,
            file=True,
        ),
        test=Option(
            "Test that computes the p-value. It uses the interval of the difference, "
            "resamples of the items (shifted to a mean difference of 0, or as in "
            "sacrebleu), random swaps of items, or, for means over items, Student's or "
            "Wilcoxon's test.",
            COMPARISON,
            default="interval",
            choices=tuple(TESTS),
            common=True,
        ),
        baseline=_BASELINE,
        correction=_CORRECTION,
        differing=Option(
            "Show the N items with the largest differences between systems, according to "
            "the first per-item measure.",
            RESULT,
            read=int,
            least=1,
        ),
        ranks=Option(
            "Show how often each system has each rank in the resamples, according to the "
            "first measure.",
            RESULT,
            read=bool,
        ),
    )
    | _STREAM_OPTIONS,
    "rank": name_options(
        measure=_MEASURE._replace(
            help="The measure, or its heading. The default is the only measure of the first "
            "file, or O-F1."
        ),
        table=Option(
            "Rank the values of a table instead of scores, with a row for each dataset, as "
            "for 'semmetrics compare'. Higher values are better, unless lower is better for "
            "--measure or for the measures in the names of the rows.",
            MEASURES,
            repeat=True,
            file=True,
        ),
        by=Option(
            "Rank by the mean of each value divided by the best value, or by the mean rank.",
            COMPARISON,
            default="normalized",
            choices=RANKED_BY,
        ),
        level=Option(
            "Level of the critical difference of mean ranks, between 0 and 1.",
            COMPARISON,
            default=0.95,
            read=float,
        ),
        differences=Option(
            "Show the ranks on two datasets, given by name, and how they differ, instead of "
            "the ranking.",
            COMPARISON,
            metavar="FIRST SECOND",
            values=2,
        ),
        diagram=Option(
            "Draw the mean ranks with their critical difference.",
            RESULT,
            output_extensions=(".svg",),
        ),
    ),
    "meta": name_options(
        protocol=Option(
            "Measure agreement with a public set of judgements as in the literature. See "
            "'semmetrics list protocols'.",
            JUDGEMENTS,
            metavar="P",
            names="agreement",
            common=True,
        ),
        columns=Option(
            "Names of the columns of RATINGS, such as rating=score,id=image.",
            JUDGEMENTS,
            metavar="ROLE=NAME,...",
            common=True,
        ),
        group_by=_GROUP_BY,
        ids=_ID_PATTERN,
        statistics=Option(
            f"{', '.join(AGREEMENT)} or all. The default is all, unless the protocol sets it.",
            COMPARISON,
            metavar="NAME,...",
            common=True,
        ),
        aggregate=Option(
            "Combine several judgements of the same candidate. The default is none, unless "
            "the protocol sets it.",
            COMPARISON,
            choices=tuple(AGGREGATIONS),
        ),
        baseline=_BASELINE._replace(
            metavar="MEASURE",
            help="Measure that all others are compared with. The default is the first measure.",
        ),
        test=Option(
            "Significance test. It uses resamples of images, shifted to a mean difference "
            "of 0, or Williams' test, for Pearson's r of independent judgements.",
            COMPARISON,
            default="bootstrap",
            choices=tuple(JUDGEMENT_TESTS),
        ),
        correction=_CORRECTION,
    ),
    "correlate": name_options(
        columns=Option(
            "Columns of RATINGS. The default is its first three columns.",
            JUDGEMENTS,
            metavar="ID,ID,SCORE",
        ),
        group_by=_GROUP_BY,
        ids=_ID_PATTERN,
        ncs=Option(
            "Correlate NCS@1 instead of phi. NCS@1 is each value of phi divided by the "
            "largest value of its row (images are queries) or column (captions are "
            "queries).",
            MEASURES,
            choices=("rows", "columns"),
        ),
    ),
    "sweep": name_options(
        measures=_MEASURES._replace(
            help="Measures with a similarity threshold, such as SemF1 (the default) or "
            "SemRecall@5."
        ),
        thresholds=_THRESHOLDS,
    ),
    "calibrate": name_options(
        pairs=Option(
            "Labelled pairs, as CSV, TSV, JSON or JSONL with the columns a, b and same.",
            COMPARISON,
            file=True,
            common=True,
        ),
        criterion=Option(
            "With --pairs, the criterion that the threshold maximises. The default is f1.",
            COMPARISON,
            choices=("f1", "youden", "accuracy"),
            common=True,
        ),
        measure=_MEASURE._replace(
            help="With PRED and GT, the measure whose contrast the threshold maximises. The "
            "default is SemF1."
        ),
        holdout=Option(
            "With PRED and GT, the fraction of items to use. The default is 0.2.",
            COMPARISON,
            read=float,
        ),
        seed=Option(
            "With PRED and GT, the random seed that selects the items. The default is "
            "12345.",
            COMPARISON,
            read=int,
        ),
        thresholds=_THRESHOLDS,
        form=_RESULT_FORMAT._replace(
            default="text",
            choices=("text", "json"),
            help="Format of the result. json is the format that -o saves.",
        ),
    ),
    "validate": name_options(
        form=_RESULT_FORMAT,
        order=Option(
            "Write how often one label of each pair precedes the other. Works with one "
            "input file only.",
            RESULT,
            output_extensions=_RECORD_EXTENSIONS,
        ),
    ),
    "doc-freq": name_options(
        stem=Option(
            "Stemming of words, as in CIDEr(stem=porter). The default is none.",
            MEASURES,
            choices=("none", "porter"),
        ),
        convert=Option(
            "Read document frequencies from FILE, as .npz, JSON, or a pickle of released "
            "code.",
            MEASURES,
            read=bool,
        ),
        documents=Option(
            "With --convert, the number of documents that were counted, if it is not in the "
            "file.",
            MEASURES,
            read=int,
            least=1,
        ),
        output=_OUTPUT_FILE._replace(
            help="Write the frequencies to this file.",
            output_extensions=(".npz", ".json"),
        ),
    ),
    "positives": name_options(
        differing=Option(
            "Maximum number of classes that only one of two images has.",
            MEASURES,
            default=0,
            read=int,
            least=0,
        ),
        output=_OUTPUT_FILE._replace(help="Write the positives to this file, as JSON."),
    ),
    "pairs": name_options(
        measure=_MEASURES._replace(
            help="CIDEr-D, CIDEr, METEOR, SPICE or BagSim, with its options.",
            default=("CIDEr-D",),
            flags=("-m", "--measure", "--phi"),
        ),
        rows=Option(
            "Use one row per image, with all its references, or one row per reference.",
            MEASURES,
            default="images",
            choices=("images", "references"),
            common=True,
        ),
        top_k=Option(
            "Write only the K best captions of each image, as JSON lines.",
            MEASURES,
            metavar="K",
            read=int,
            least=1,
            common=True,
        ),
        axis=Option(
            "With --top-k, write the best captions of each image, or the best images of "
            "each caption. The default is captions.",
            MEASURES,
            choices=("captions", "images"),
            common=True,
        ),
        output=_OUTPUT_FILE._replace(
            help="Write a .npy file of images x captions, and the ids of both to FILE.ids.json. "
            "With --top-k, write a .jsonl file, or - for standard output. An interrupted "
            "run continues from FILE.part and FILE.blocks."
        ),
        dtype=Option(
            "Data type of the .npy file. The default is float64.",
            RESULT,
            choices=("float64", "float32"),
        ),
        overwrite=Option(
            "Recompute an existing .npy file completely, whatever its content.",
            RESULT,
            read=bool,
        ),
    ),
    "mad select": name_options(
        k=Option(
            "Number of images per pair. The default is 70, unless -n is given.",
            MEASURES,
            flags=("-k",),
            metavar="K",
            read=int,
            common=True,
        ),
        total=Option(
            "Select at most N different images for all pairs together, instead of -k. Each "
            "pair has the largest number of images that this limit allows.",
            MEASURES,
            flags=("-n", "--total"),
            metavar="N",
            read=int,
            least=1,
            common=True,
        ),
        measure=_MEASURE._replace(
            help="Measure of the similarity of two answers. It must have per-item values.",
            default="NGSM",
        ),
        ties=Option(
            "Order of images with equal values. Either by NGSM of lower orders and then by "
            "id, by id, by position, or by a hash of the seed, the pair and the id.",
            MEASURES,
            default="orders",
            choices=("orders", "id", "position", "random"),
        ),
        seed=Option("Random seed of --ties random.", MEASURES, default=12345, read=int),
    )
    | _COMPETITION_OPTIONS,
    "mad add": _COMPETITION_OPTIONS,
    "mad replace": _COMPETITION_OPTIONS
    | name_options(
        exclude=_COMPETITION_OPTIONS["exclude"]._replace(
            help="Images to remove, one id per line.", required=True
        )
    ),
    "mad inspect": name_options(
        output=_OUTPUT_FILE._replace(
            help="Write the sheet to this file.", output_extensions=_SHEET_EXTENSIONS
        ),
        inspectors=Option(
            "Number of rows per annotation.",
            SHEETS,
            default=3,
            read=int,
            least=1,
            most=100,
        ),
        label_delimiter=READING["label_delimiter"],
    ),
    "mad rank": name_options(
        references=Option(
            "Filled sheets of references, or references in another format.",
            MEASURES,
            repeat=True,
            file=True,
            common=True,
        ),
        ratings=Option(
            "Filled sheets of ratings.",
            MEASURES,
            repeat=True,
            file=True,
            common=True,
        ),
        measures=_MEASURES._replace(
            help="Measures that score the systems, such as CIDEr-D and SPICE. The default is the "
            "default measures of 'semmetrics score'."
        ),
        k=Option(
            "Use only the first K images of each pair.",
            MEASURES,
            flags=("-k",),
            metavar="K",
            read=int,
            common=True,
        ),
        floor=Option(
            "Raise smaller scores to X, so that dominance is defined for a score of 0.",
            MEASURES,
            read=float,
        ),
        stability=Option(
            "Compare the ranks for these values of k with the ranks for all images (SRCC).",
            MEASURES,
            metavar="K,...|K:K[:STEP]",
        ),
        missing=Option(
            "Whether images without annotations, and rows of other images, are an error or "
            "are skipped.",
            MEASURES,
            default="error",
            choices=("error", "skip"),
        ),
        pairs_file=Option(
            "Write the scores and the dominance of each pair to this file.",
            RESULT,
            flags=("--pairs",),
            output_extensions=_RECORD_EXTENSIONS,
            common=True,
        ),
    ),
    "spice setup": name_options(
        jars=Option(
            "Copy the two jars of CoreNLP 3.6.0 from this folder. By default, the Maven "
            "client, mvn, downloads them (385 MB).",
            RESULT,
            metavar="FOLDER",
            file=True,
        ),
    ),
    "spice parse": name_options(
        parser=Option(
            "SPICE's original parser, which needs Java, or the parser that comes with "
            "semmetrics.",
            MEASURES,
            default="official",
            choices=("official", "offline"),
        ),
        captions=Option(
            "Parse the tokens of the tokenizer, as SPICE(captions=tokens) does, or the "
            "captions as written.",
            MEASURES,
            default="tokens",
            choices=("tokens", "written"),
        ),
        seconds=Option(
            "Maximum number of seconds per caption.",
            SPICE,
            default=60,
            read=int,
            least=1,
            most=86400,
        ),
        processors=Option(
            "Number of threads. By default, the number of processors of the machine.",
            SPICE,
            read=int,
            least=1,
            most=1024,
        ),
        memory=Option(
            "Memory limit of the Java program.", SPICE, default="4G", metavar="SIZE"
        ),
        output=_OUTPUT_FILE._replace(
            help="Write JSON lines to this file, one line per distinct caption. - is standard "
            "output."
        ),
    ),
    "embed list": name_options(manifest=_MANIFEST),
    "embed fetch": name_options(
        manifest=_MANIFEST,
        folder=Option(
            "Folder for the converted vectors. By default the user's cache folder.",
            RESULT,
            flags=("--to",),
            metavar="FOLDER",
            file=True,
        ),
        keep=Option("Also keep the downloaded file.", RESULT, read=bool),
    ),
    "embed convert": name_options(
        name=Option(
            "Name of the vectors in signatures. By default the file name.",
            EMBEDDINGS,
            metavar="NAME",
        ),
        member=Option("File to read from a zip archive.", EMBEDDINGS, metavar="NAME"),
        licence=Option(
            "Licence to record in the metadata.", EMBEDDINGS, default="", metavar="TEXT"
        ),
    ),
    "embed info": name_options(
        form=_RESULT_FORMAT,
        verify=Option(
            "Check converted vectors against their SHA-256.", EMBEDDINGS, read=bool
        ),
    ),
    "embed coverage": name_options(
        embedding=Option(
            "NAME, PATH, kind:NAME or kind:PATH. The kinds are static, same, word2vec, "
            "glove, fasttext, kv, converted, sbert, transformers:first, transformers:mean "
            "and matrix. The default is 'same', as for measures that match labels.",
            EMBEDDINGS,
            default="same",
            metavar="EMBEDDING",
            common=True,
        ),
        top_k=Option(
            "Use only the first K labels of each item, in descending order of score if "
            "there are scores.",
            DATA,
            metavar="K",
            read=int,
            least=1,
            common=True,
        ),
        names=Option(
            "Number of the most frequent unknown, composed and untuned labels to list.",
            RESULT,
            default=5,
            read=int,
            least=0,
        ),
    ),
}
"""The options of each command that `semmetrics.score` does not have, or has with other properties.

The function that the command calls has the same keywords, except for the options of output.
"""
