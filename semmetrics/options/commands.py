"""The options that each command has of its own."""

from __future__ import annotations

from semmetrics.options.choices import (
    AGGREGATIONS,
    AGREEMENT,
    CORRECTIONS,
    DATA,
    FOR_LABELS,
    HOW,
    JAVA,
    JUDGEMENT_TESTS,
    MEANING,
    PEOPLE,
    RANKED_BY,
    SCALE,
    SHEETS,
    TESTS,
    WHAT,
    WRITE,
)
from semmetrics.options.option import Option, name_options
from semmetrics.options.tables import READING

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
_SELECTED = name_options(
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
_STREAMED = name_options(
    stream=Option(
        "Read JSONL, CSV, Parquet or Arrow block by block and let items go: memory does "
        "not grow with the files. A file, folder, quoted pattern or NAME=PATTERN is a system.",
        SCALE,
        read=bool,
    ),
)
COMMAND_OPTIONS: dict[str, dict[str, Option]] = {
    "score": name_options(
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
            kinds=FOR_LABELS,
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
    | name_options(
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
    "merge": name_options(
        state=Option(
            "Write the merged sums there, in place of scores.",
            SCALE,
            written=(".state",),
        ),
        max_bytes=READING["max_bytes"],
    ),
    "compare": name_options(
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
    "rank": name_options(
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
    "meta": name_options(
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
    "correlate": name_options(
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
    "sweep": name_options(
        measures=_MEASURES._replace(
            help="Measures with a threshold of similarity, such as SemF1 "
            "(the default) or SemRecall@5."
        ),
        thresholds=_POINTS,
    ),
    "calibrate": name_options(
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
    "validate": name_options(
        form=_FORM,
        order=Option(
            "Write how often one label of each pair precedes the other, of one file.",
            WRITE,
            written=_RECORDS,
        ),
    ),
    "doc-freq": name_options(
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
    "positives": name_options(
        differing=Option(
            "How many classes one of two images may have alone.",
            WHAT,
            default=0,
            read=int,
            least=0,
        ),
        output=_TO._replace(help="Write the positives there, as JSON."),
    ),
    "pairs": name_options(
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
    "mad select": name_options(
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
    | name_options(
        exclude=_SELECTED["exclude"]._replace(
            help="The images to take out, one id a line.", required=True
        )
    ),
    "mad inspect": name_options(
        output=_TO._replace(help="Write the sheet there.", written=_SHEETS),
        inspectors=Option(
            "Rows for each annotation.", SHEETS, default=3, read=int, least=1, most=100
        ),
        label_delimiter=READING["label_delimiter"],
    ),
    "mad rank": name_options(
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
    "spice setup": name_options(
        jars=Option(
            "Take the two jars of CoreNLP 3.6.0 from there; without it the Maven client, "
            "mvn, gets them (385 MB).",
            WRITE,
            metavar="FOLDER",
            file=True,
        ),
    ),
    "spice parse": name_options(
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
    "embed list": name_options(manifest=_MANIFEST),
    "embed fetch": name_options(
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
    "embed convert": name_options(
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
    "embed info": name_options(
        form=_FORM,
        verify=Option(
            "Compare converted vectors with their SHA-256.", MEANING, read=bool
        ),
    ),
    "embed coverage": name_options(
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
