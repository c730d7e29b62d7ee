"""The commands that prepare files for scoring: ``doc-freq``, ``positives``, ``pairs``, ``spice``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from semmetrics.cli import output
from semmetrics.cli.generate import command
from semmetrics.cli.run import Run
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.messages import listing, pluralize, visible
from semmetrics.options import READING, flag

if TYPE_CHECKING:
    from semmetrics.data.lists import Lists
    from semmetrics.data.read_options import ReadOptions
    from semmetrics.reports import Records


# ---- doc-freq and positives -------------------------------------------------


@command("doc-freq", {"references": "FILE..."}, reads=("captions",))
def doc_freq(run: Run) -> None:
    """Count and save document frequencies of n-grams for CIDEr-D and CIDEr.

    FILE has the references of images, as for 'semmetrics score'. Each image is a document.
    Scores of few images are meaningful only with the frequencies of a larger corpus.

    Examples
    --------
    semmetrics doc-freq -o coco.npz references.json
    semmetrics doc-freq --stem porter -o coco.json references.json
    semmetrics doc-freq -o whole.npz part-1.jsonl part-2.jsonl
    semmetrics doc-freq --convert -o coco.npz coco-val-df.p
    semmetrics score -m CIDEr-D --doc-freq coco.npz captions.json references.json
    """
    options = run.values()
    if run["convert"]:
        parts = _load_frequencies(run, options)
    else:
        parts = _count_frequencies(run, options)
    frequencies = parts[0]
    for part in parts[1:]:
        frequencies += part
    frequencies.save(run["output"])
    documents = "an unknown number of documents"
    if frequencies.documents is not None:
        documents = pluralize(frequencies.documents, "document")
    n_grams = pluralize(len(frequencies), "n-gram")
    output.echo(
        visible(f"{run['output']}: {n_grams} of {documents}, df@{frequencies.hash}")
    )


def _load_frequencies(run: Run, options: Mapping[str, Any]) -> list[Any]:
    """Return the document frequencies of files, for ``--convert``."""
    from semmetrics.metrics.cider import DocumentFrequencies

    for name in ("tokenizer", "stem"):
        if name in options:
            raise InputError("not-applicable", name=name, what="--convert")
    for name, option in READING.items():
        is_changed = run[name] not in (None, option.default)
        if is_changed and name != "max_bytes":
            raise InputError("not-applicable", name=name, what="--convert")
    frequencies = []
    for path in run["references"]:
        loaded = DocumentFrequencies.load(
            path,
            documents=options.get("documents"),
            max_bytes=options["read"].max_bytes,
        )
        frequencies.append(loaded)
    return frequencies


def _count_frequencies(run: Run, options: Mapping[str, Any]) -> list[Any]:
    """Return the document frequencies of the references in each file."""
    from semmetrics.metrics.cider import fit_document_frequencies

    if "documents" in options:
        raise InputError("needs-option", what="--documents", name="convert")
    tokenizer = options.get("tokenizer")
    stem = options.get("stem", "none")
    read = [options["read"]] * len(run["references"])
    inputs = read_captions(run["references"], read, quiet=run.quiet)
    frequencies = []
    for references in inputs:
        texts = references.to_list()
        frequencies.append(fit_document_frequencies(texts, tokenizer, stem))
    return frequencies


def read_captions(
    paths: Sequence[str], read: Sequence[ReadOptions], *, quiet: bool
) -> list[Lists]:
    """Read the captions of files, each with its options, and report how they were read."""
    from semmetrics.kinds.captions import as_captions
    from semmetrics.scoring.evaluation import describe_inputs

    inputs = []
    for path, options in zip(paths, read, strict=True):
        inputs.append(as_captions(path, options=options))
    lines = [f"read {line}" for line in describe_inputs(inputs)]
    for captions in inputs:
        lines += [f"{captions.source}: {note}" for note in captions.notes]
    output.report(lines, quiet=quiet)
    return inputs


@command(
    "positives",
    {"classes": "CLASSES", "positives": "POSITIVES"},
    reads=("labels", "retrieval"),
)
def write_positives(run: Run) -> None:
    """Write plausible matches, the positives of all images with the same classes (PMRP).

    CLASSES has the classes of each image, such as the object classes of COCO, and POSITIVES its
    captions. Images without classes have no positives, and their captions are not positives.

    Examples
    --------
    semmetrics positives --differing 1 -o plausible.json instances.json positives.json
    semmetrics score -m PMRP --missing skip --direction both --queries images.txt \
        --gallery captions.txt sims.npy plausible.json
    """
    from semmetrics.kinds.labels import as_labels
    from semmetrics.kinds.retrieval import as_candidates
    from semmetrics.kinds.retrieval.positives import as_positives, plausible_positives

    read = run.values()["read"]
    classes = as_labels(run["classes"], options=read)
    if classes.ranked:
        raise InputError("truth-of-scores", classes.source)
    positives, _ = as_positives(as_candidates(run["positives"], options=read))
    plausible = plausible_positives(classes, positives, run["differing"])
    output.write_text(output.to_json(plausible), run["output"], "json")
    images = pluralize(len(plausible), "image")
    output.echo(visible(f"{run['output']}: positives of {images}"))


# ---- pairs ------------------------------------------------------------------


@command(
    "pairs",
    {"captions": "CAPTIONS", "references": "REFERENCES"},
    api_function="caption_matrix",
    reads=("captions",),
)
def pairs(run: Run) -> None:
    r"""Score every caption as a candidate for every image.

    An entry is the value of 'semmetrics score' for the caption and the references of the image,
    with document frequencies over all images. Rows are the images of REFERENCES in their order,
    and columns are the captions of CAPTIONS in their order.

    Examples
    --------
    semmetrics pairs -o phi.npy captions.json references.json
    semmetrics pairs --top-k 10 -o best.jsonl captions.json references.json
    semmetrics pairs -m CIDEr --doc-freq coco.npz -o phi.npy captions.json references.json
    semmetrics pairs --phi SPICE --rows references -o phi.npy captions.json references.json
    semmetrics pairs --phi BagSim --embedding sbert:all-MiniLM-L6-v2 -o phi.npy captions.json \
        references.json
    """
    from semmetrics.data.read_options import prediction_options, truth_options
    from semmetrics.kinds.captions.pair_job import PairJob, check_k

    measures = run["measure"]
    top_k = run["top_k"]
    if len(measures) > 1:
        raise InputError(
            "wrong-count", "--phi (-m)", found=listing(measures), wanted="one matrix"
        )
    _check_pair_files(run, run["output"], top_k)
    options = run.values("measure", "rows", "top_k", "axis")
    read = options["read"]
    captions, references = read_captions(
        [run["captions"], run["references"]],
        [prediction_options(read), truth_options(read)],
        quiet=run.quiet,
    )
    _check_order_of_files(captions, references)
    image_names = list(map(str, references.ids))
    if run["rows"] == "references":
        image_names = _name_captions(references)
    caption_names = _name_captions(captions)
    axis = run["axis"] or "captions"
    if top_k is not None:
        check_k(top_k, axis, len(image_names), len(caption_names))
    notes: list[Fact] = []
    job = PairJob.of(
        references.to_list(),
        list(captions.values()),
        measures[0],
        options,
        rows=run["rows"],
        dtype=run["dtype"] or "float64",
        notes=notes,
    )
    output.report(render_facts(notes, spell=flag), quiet=run.quiet)
    if top_k is None:
        _write_pair_matrix(run, job, image_names, caption_names)
        return
    with output.open_output(run["output"]) as out:
        values, positions = job.top_k(top_k, axis)
        records = _best_records(axis, image_names, caption_names, values, positions)
        records.write(out, "jsonl")
    output.report([f"phi is {job.identity}"], quiet=run.quiet)


def _name_captions(lists: Lists) -> list[str]:
    """Return an id for each caption, also if items have several captions."""
    from semmetrics.data.tasks.captions import item_ids

    return list(map(str, item_ids(lists.ids, lists.side.sizes)))


def _check_pair_files(run: Run, target: str, top_k: int | None) -> None:
    """Raise an error if files conflict, or an option has no effect.

    Parameters
    ----------
    run : Run
    target : str
        The path of the output, next to which the files of a matrix are written.
    top_k : int or None
        None for a matrix, and a number for lists of the best captions.
    """
    extensions = ["", ".ids.json", ".part", ".blocks"]
    if top_k is not None or target == "-":
        extensions = [""]
    outputs = {}
    for extension in extensions:
        outputs[f"-o {extension}".strip()] = f"{target}{extension}"
    output.check_files([run["captions"], run["references"]], outputs.items())
    if top_k is None:
        _check_matrix_options(run, target)
    else:
        _check_list_options(run, target)


def _check_matrix_options(run: Run, target: str) -> None:
    """Raise an error if the path or an option does not fit a matrix."""
    if not target.lower().endswith(".npy"):
        raise InputError("wrong-ending", f"-o {target}", known=[".npy"])
    if run["axis"] is not None:
        raise InputError("needs-option", what="--axis", name="top_k")


def _check_list_options(run: Run, target: str) -> None:
    """Raise an error if the path or an option does not fit lists of the best captions."""
    if target != "-" and not target.lower().endswith(".jsonl"):
        raise InputError("wrong-ending", f"-o {target}", known=[".jsonl", "-"])
    for name in ("dtype", "overwrite"):
        if run[name]:
            raise InputError("not-applicable", name=name, what="--top-k")


def _check_order_of_files(captions: Lists, references: Lists) -> None:
    """Raise an error if the two files seem to be swapped.

    They do if the references have one caption per image, and the captions have several.
    """
    has_equal_ids = set(map(str, captions.ids)) == set(map(str, references.ids))
    has_several_captions = len(captions.side.codes) > len(captions)
    if references.has_single_entries and has_equal_ids and has_several_captions:
        raise InputError("swapped-files", references.source)


def _write_pair_matrix(
    run: Run, job: Any, images: Sequence[str], captions: Sequence[str]
) -> None:
    """Write the matrix of a job, and the ids of its rows and columns."""
    target = run["output"]
    ids = {"phi": job.identity, "images": images, "captions": captions}
    write_ids = partial(_write_ids, f"{target}.ids.json", ids)
    with run.progress() as progress:
        resume = not run["overwrite"]
        matrix = job.matrix(
            target, resume=resume, progress=progress, write_companions=write_ids
        )
    size = " x ".join(map(str, matrix.shape))
    output.echo(visible(f"{target}: {size}, {matrix.dtype}, {job.identity}"))


def _write_ids(path: str, ids: Mapping[str, Any]) -> None:
    output.write_text(output.to_json(ids), path, "json")


def _best_records(
    axis: str,
    images: Sequence[str],
    captions: Sequence[str],
    values: Any,
    positions: Any,
) -> Records:
    """Return each image with its best captions, or each caption with its best images.

    Parameters
    ----------
    axis : {"captions", "images"}
        What the lists contain.
    images, captions : sequences of str
        The ids.
    values, positions : arrays, shape (images, k) or (captions, k)
        The best values of each row, and their positions among all captions or images.
    """
    from semmetrics.reports import Records

    row_name = "image"
    row_ids = images
    listed_ids = captions
    if axis == "images":
        row_name = "caption"
        row_ids = captions
        listed_ids = images
    lists = []
    for values_of_row, positions_of_row in zip(
        values.tolist(), positions.tolist(), strict=True
    ):
        entries = []
        for value, position in zip(values_of_row, positions_of_row, strict=True):
            entries.append({"id": listed_ids[position], "value": value})
        lists.append(entries)
    return Records({row_name: list(row_ids), axis: lists})


# ---- spice ------------------------------------------------------------------


@command("spice", {})
def spice(run: Run) -> None:
    """Set up the official parser of SPICE, and parse captions to scene graphs.

    'semmetrics score -m SPICE' also parses captions and caches the parses. Use these commands for
    machines without Java, and to share parses.

    Examples
    --------
    semmetrics spice setup
    semmetrics spice parse -o tuples.jsonl captions.json references.json
    semmetrics score -m SPICE --tuples tuples.jsonl captions.json references.json
    """


@command("spice setup", {})
def spice_setup(run: Run) -> None:
    """Download and check the files that the official parser of SPICE needs.

    They are stored in the cache folder of the user, or in the folder SEMMETRICS_HOME.

    Examples
    --------
    semmetrics spice setup
    """
    from semmetrics.text.java import JARS, jar_folder, set_up, wrong_jars
    from semmetrics.text.official_parser import OfficialParser

    jars_to_fetch = wrong_jars()
    if jars_to_fetch and run["jars"] is None:
        names = ", ".join(jars_to_fetch)
        output.report([f"asking Maven for {names} (385 MB in all)"], quiet=run.quiet)
    jars = " and ".join(JARS)
    if jars_to_fetch:
        folder = set_up(run["jars"])
        output.echo(visible(f"{folder}: {jars}"))
    else:
        folder = jar_folder()
        output.echo(visible(f"{folder}: {jars}, there already"))
    missing = OfficialParser().missing()
    if missing:
        output.report([missing], quiet=run.quiet)


@command("spice parse", {"files": "FILE..."}, reads=("captions",))
def spice_parse(run: Run) -> None:
    """Parse the captions of files to scene graphs for 'semmetrics score --tuples'.

    Parses are cached, so a second run, also after an interruption, parses only new captions.
    Captions on which the parser fails are listed, and left out of the output.

    Examples
    --------
    semmetrics spice parse -o tuples.jsonl captions.json references.json
    semmetrics spice parse --parser offline -o tuples.jsonl captions.json references.json
    """
    from semmetrics.text.parses import open_parser
    from semmetrics.text.tokenizers import open_tokenizer
    from semmetrics.text.tuple_tables import tuple_lines

    options = run.values()
    target = run["output"]
    read = [options["read"]] * len(run["files"])
    inputs = read_captions(run["files"], read, quiet=run.quiet)
    captions = _distinct_captions(inputs)
    forms = captions
    if run["captions"] == "tokens":
        tokenizer = open_tokenizer(options.get("tokenizer", "ptb"))
        forms = [" ".join(tokens) for tokens in tokenizer.tokens(captions)]
    distinct_forms = list(dict.fromkeys(forms))
    settings = _parser_settings(run)
    with run.progress() as progress:
        parser = open_parser(run["parser"], None, progress, **settings)
        failed = parser.parse(distinct_forms)
    if parser.trouble:
        output.report([str(parser.trouble)], quiet=run.quiet)
    parsed = [form for form in distinct_forms if form not in failed]
    graphs = zip(parsed, parser.tuples(parsed), strict=True)
    with output.open_output(target) as out:
        out.writelines(tuple_lines(graphs, parser.identity))
    if target != "-":
        n_captions = pluralize(len(parsed), "caption")
        output.echo(visible(f"{target}: {n_captions}, {parser.identity}"))
    if failed:
        form, error = next(iter(failed.items()))
        where = _place_of_caption(captions[forms.index(form)], inputs)
        raise InputError(
            "unparsed-captions",
            where,
            n=len(failed),
            caption=form,
            why=error.problem,
        )


def _distinct_captions(inputs: Iterable[Lists]) -> list[str]:
    """Return the captions of files without repetitions and surrounding spaces."""
    captions: dict[str, None] = {}
    for lists in inputs:
        for caption in lists.vocabulary:
            captions[str(caption).strip()] = None
    return list(captions)


def _parser_settings(run: Run) -> dict[str, Any]:
    """Return the settings of the official parser, or no settings for the other parser."""
    if run["parser"] != "official":
        return {}
    return {
        "seconds": run["seconds"],
        "processors": run["processors"] or 0,
        "memory": run["memory"],
        "otherwise": "use the parser that comes with semmetrics: --parser offline",
    }


def _place_of_caption(caption: str, inputs: Sequence[Lists]) -> str:
    """Return the file in which a caption occurs first, and the id of the item, for messages."""
    for lists in inputs:
        for code, text in enumerate(lists.vocabulary):
            if str(text).strip() == caption:
                return lists.where(lists.first_item(code))
    return ""
