"""The commands ``semmetrics doc-freq`` and ``semmetrics pairs``: read, compute, write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.flags import (
    OUTPUT,
    measure_option,
    named_files,
    output_option,
    read_given,
    reading_options,
    score_options,
)
from semmetrics.cli.help import FILE, Command, option, quiet_option
from semmetrics.cli.messages import echo, say, show_progress
from semmetrics.errors import InputError
from semmetrics.messages import pluralize, visible

if TYPE_CHECKING:
    from semmetrics.data.form import ReadOptions
    from semmetrics.data.lists import Lists

__all__ = ["doc_freq", "pairs", "read_captions"]

HOW, WHAT = "How they are counted", "What is computed"


@click.command(
    "doc-freq",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics doc-freq -o coco.npz references.json",
        "semmetrics doc-freq --stem porter -o coco.json references.json",
        "semmetrics doc-freq --convert -o coco.npz coco-val-df.p",
        "semmetrics score -m CIDEr-D --doc-freq coco.npz captions.json references.json",
    ],
)
@click.argument("references", type=FILE, metavar="FILE")
@score_options("tokenizer")
@option(
    HOW,
    "--stem",
    type=click.Choice(["none", "porter"]),
    help="Whether words are stemmed, as in CIDEr(stem=porter). The default is none.",
)
@option(
    HOW,
    "--convert",
    is_flag=True,
    help="FILE holds document frequencies: .npz, JSON, or a pickle of released code.",
)
@option(
    HOW,
    "--documents",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --convert: how many documents were counted, where the file does not say it.",
)
@output_option(required=True, help="As .npz or .json.")
@reading_options("captions")
@quiet_option
def doc_freq(
    references: str,
    stem: str | None,
    convert: bool,
    documents: int | None,
    output: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Count in how many images each n-gram occurs, for CIDEr-D and CIDEr.

    FILE has the references of images, as for 'semmetrics score'; each image is a document. Scores
    of few images mean something only with the frequencies of a larger corpus.
    """
    from semmetrics.cli.files import check_files
    from semmetrics.metrics.cider import DocumentFrequencies, fit_document_frequencies

    check_files([references], {"-o": output})
    _check_ending(output, (".npz", ".json"), "document frequencies")
    options = read_given(given)
    tokenizer, read = options.get("tokenizer"), options["read"]
    _check_how(read, tokenizer, stem, documents, convert=convert)
    if convert:
        found = DocumentFrequencies.load(references, documents=documents, max_bytes=read.max_bytes)
    else:
        (captions,) = read_captions([references], read, quiet=quiet)
        found = fit_document_frequencies(captions.to_list(), tokenizer, stem or "none")
    found.save(output)
    number = found.documents
    of = "an unknown number of documents" if number is None else pluralize(number, "document")
    echo(visible(f"{output}: {pluralize(len(found), 'n-gram')} of {of}, df@{found.hash}"))


def _check_how(
    read: ReadOptions,
    tokenizer: str | None,
    stem: str | None,
    documents: int | None,
    *,
    convert: bool,
) -> None:
    """Refuse options that mean nothing beside the others."""
    from semmetrics.data.form import ReadOptions

    if documents is not None and not convert:
        raise InputError("--documents means nothing without --convert", remedy="leave it out")
    if not convert:
        return
    if tokenizer or stem:
        raise InputError(
            "--tokenizer and --stem mean nothing for frequencies that are counted already",
            remedy="leave them out, or leave --convert out",
        )
    plain = ReadOptions()
    given = [
        "--input-format" if name == "format" else f"--{name.replace('_', '-')}"
        for name, value in vars(read).items()
        if value != getattr(plain, name) and name != "max_bytes"
    ]
    if given:
        raise InputError(
            f"with --convert no captions are read: {', '.join(given)} would have no effect",
            remedy="leave that out, or leave --convert out",
        )


@click.command(
    "pairs",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics pairs -o phi.npy captions.json references.json",
        "semmetrics pairs --top-k 10 -o best.jsonl captions.json references.json",
        "semmetrics pairs -m CIDEr --doc-freq coco.npz -o phi.npy captions.json references.json",
        "semmetrics pairs --phi SPICE --rows references -o phi.npy captions.json references.json",
        "semmetrics pairs --phi BagSim --embedding sbert:all-MiniLM-L6-v2 -o phi.npy captions.json "
        "references.json",
    ],
)
@click.argument("captions", type=FILE, metavar="CAPTIONS")
@click.argument("references", type=FILE, metavar="REFERENCES")
@measure_option(
    WHAT,
    "--phi",
    default=["CIDEr-D"],
    multiple=True,
    show_default=True,
    help="CIDEr-D, CIDEr, SPICE or BagSim, with its options.",
)
@score_options(
    "tokenizer", "doc_freq", "tuples", "embedding", "lookup", "oov", "device", "max_words", "cache"
)
@option(
    WHAT,
    "--rows",
    type=click.Choice(["images", "references"]),
    default="images",
    show_default=True,
    help="Whether a row is an image, with all its references, or one reference alone.",
)
@option(
    WHAT,
    "--top-k",
    type=click.IntRange(min=1),
    metavar="K",
    help="Only the K best captions of each image, as JSON lines.",
)
@option(
    WHAT,
    "--axis",
    type=click.Choice(["captions", "images"]),
    help="With --top-k: the best captions of each image, or images of each caption. The default is "
    "captions.",
)
@output_option(
    required=True,
    help="A .npy file of images x captions, and FILE.ids.json with the ids of both; or, with "
    "--top-k, a .jsonl file, or - for standard output. A run that was stopped is continued, from "
    "FILE.part and FILE.blocks.",
)
@option(
    OUTPUT,
    "--dtype",
    type=click.Choice(["float64", "float32"]),
    help="Type of the numbers in the .npy file. The default is float64.",
)
@option(
    OUTPUT,
    "--overwrite",
    is_flag=True,
    help="Compute all of a .npy file that is there already, whatever it holds.",
)
@reading_options("captions")
@quiet_option
def pairs(
    captions: str,
    references: str,
    measure: tuple[str, ...],
    rows: str,
    top_k: int | None,
    axis: str | None,
    output: str,
    dtype: Any,
    overwrite: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Score every caption for every image, as a candidate for it.

    An entry is what 'semmetrics score' gives the caption for that image's references, with document
    frequencies over all images. Rows are the images of REFERENCES in their order, columns the
    captions of CAPTIONS in theirs.
    """
    from semmetrics.cli.files import open_output
    from semmetrics.core.ragged import lengths
    from semmetrics.data.tasks import item_ids
    from semmetrics.kinds.captions.matrix import PairJob, check_k
    from semmetrics.kinds.captions.record import read_frequencies

    if len(measure) > 1:
        raise InputError(
            f"several measures are named: {', '.join(measure)}",
            where="--phi (-m)",
            remedy="name one; each has a matrix of its own",
        )
    files = [captions, references, *named_files(given)]
    beside = {"--dtype": dtype, "--overwrite": overwrite}
    _check_pairs(files, output, top_k, axis, [name for name, value in beside.items() if value])
    options = read_given(given)
    read = options.pop("read")
    if "doc_freq" in options:
        options["doc_freq"] = read_frequencies(options["doc_freq"], read.max_bytes)
    mine, theirs = read_captions([captions, references], read, quiet=quiet)
    sizes = lengths(theirs.side.indptr)
    _check_order(mine, theirs)
    images = list(map(str, item_ids(theirs.ids, sizes) if rows == "references" else theirs.ids))
    names = list(map(str, item_ids(mine.ids, lengths(mine.side.indptr))))
    notes: list[str] = []
    chosen: Any = axis or "captions"
    if top_k is not None:
        check_k(top_k, chosen, len(images), len(names))
    of = (theirs.to_list(), list(mine.values()), measure[0], options)
    job = PairJob.of(*of, rows=rows, dtype=dtype or "float64", notes=notes)
    say(notes, quiet=quiet)
    if top_k is not None:
        with open_output(output) as out:
            out.writelines(_best(chosen, images, names, *job.top_k(top_k, chosen)))
        say([f"phi is {job.identity}"], quiet=quiet)
        return

    def write_ids() -> None:
        with open_output(f"{output}.ids.json") as out:
            named = {"phi": job.identity, "images": images, "captions": names}
            out.write(json.dumps(named, indent=1, ensure_ascii=False) + "\n")

    with show_progress(quiet=quiet) as progress:
        made = job.matrix(output, resume=not overwrite, progress=progress, beside=write_ids)
    echo(visible(f"{output}: {' x '.join(map(str, made.shape))}, {made.dtype}, {job.identity}"))


def _check_order(captions: Lists, references: Lists) -> None:
    """Refuse files that look swapped: a text for each image, and lists of texts of the same ones.

    Raises
    ------
    InputError
        If so.
    """
    texts = references.understood.startswith("JSON, {id: caption}")
    same = set(map(str, captions.ids)) == set(map(str, references.ids))
    if texts and same and len(captions.side.codes) > len(captions):
        raise InputError(
            "the files look swapped: REFERENCES has a text for each image, and CAPTIONS several",
            where=references.source,
            remedy='exchange them; or write references as lists, {"id": ["caption"]}',
        )


def _check_pairs(
    files: Sequence[str], output: str, top_k: int | None, axis: str | None, given: Sequence[str]
) -> None:
    """Refuse files that are in each other's way, and options that mean nothing."""
    from semmetrics.cli.files import check_files

    beside = ("", ".ids.json", ".part", ".blocks") if top_k is None and output != "-" else ("",)
    check_files(files, {f"-o {end}".strip(): f"{output}{end}" for end in beside})
    if top_k is None:
        _check_ending(output, (".npy",), "a matrix")
        if axis is not None:
            raise InputError("--axis means nothing without --top-k", remedy="leave it out")
        return
    if output != "-":
        _check_ending(output, (".jsonl",), "the best alone (--top-k)")
    if given:
        raise InputError(
            f"{' and '.join(given)}: this means nothing with --top-k", remedy="leave it out"
        )


def _check_ending(output: str, endings: tuple[str, ...], what: str) -> None:
    """Refuse names that say another format, and standard output for what is no text."""
    if not output.lower().endswith(endings):
        to = "to standard output" if output == "-" else "in another format"
        raise InputError(
            f"{what} cannot be written {to}",
            where=f"-o {output}",
            remedy=f"name a file that ends in {' or '.join(endings)}",
        )


def _best(
    axis: str, images: list[str], captions: list[str], values: Any, places: Any
) -> Iterator[str]:
    """A line for each image with its best captions, or the other way round."""
    rows, columns = (captions, images) if axis == "images" else (images, captions)
    row_name, column_name = ("caption", "images") if axis == "images" else ("image", "captions")
    for name, some, where in zip(rows, values.tolist(), places.tolist(), strict=True):
        best = [{"id": columns[p], "value": v} for v, p in zip(some, where, strict=True)]
        yield json.dumps({row_name: name, column_name: best}, ensure_ascii=False) + "\n"


def read_captions(paths: Sequence[str], read: ReadOptions, *, quiet: bool) -> list[Lists]:
    """Read files, and say how, and which options had no effect."""
    from semmetrics.kinds.captions.reading import as_captions
    from semmetrics.scoring.systems import describe_inputs

    inputs = [as_captions(path, options=read) for path in paths]
    say([f"read {line}" for line in describe_inputs(inputs)], quiet=quiet)
    say([f"{one.source}: {note}" for one in inputs for note in one.notes], quiet=quiet)
    return inputs
