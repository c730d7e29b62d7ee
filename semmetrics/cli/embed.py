"""The command ``semmetrics embed``: get, convert and look at embeddings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.flags import (
    OUTPUT,
    format_option,
    read_given,
    reading_options,
    score_options,
)
from semmetrics.cli.help import EXIT_CODES, FILE, Command, Group, option, quiet_option
from semmetrics.cli.messages import complain, echo, say, show_progress
from semmetrics.errors import InputError
from semmetrics.messages import listing, pluralize, visible

if TYPE_CHECKING:
    from semmetrics.data.form import ReadOptions
    from semmetrics.embed.label_vectors import Coverage

__all__ = ["command"]

SCHEMA = "semmetrics.coverage/1"
LABELS, MODEL = "Labels", "The embedding"
SPEC = (
    "NAME, PATH, or kind:NAME or kind:PATH; kinds: static, word2vec, glove, fasttext, kv, "
    "converted, sbert, transformers:first, transformers:mean, matrix."
)
FIRST = "The first K labels of each item, by falling score where there are scores."
_MANIFEST = option(MODEL, "--manifest", type=FILE, metavar="FILE", help="Another manifest (TOML).")
_MAX_WORDS = score_options("max_words")


@click.group(
    "embed",
    cls=Group,
    no_args_is_help=True,
    examples=[
        "semmetrics embed list",
        "semmetrics embed fetch word2vec-googlenews-300",
        "semmetrics embed convert GoogleNews-vectors-negative300.bin googlenews",
    ],
    epilog=EXIT_CODES,
)
def command() -> None:
    """Get, convert and look at embeddings: what makes vectors of labels.

    The embedding named "static" comes with semmetrics and needs nothing. Fetched vectors are kept
    in the user's cache folder, or in the folder that SEMMETRICS_HOME names.
    """


@command.command("list", cls=Command, examples=["semmetrics embed list"])
@_MANIFEST
def listed(manifest: str | None) -> None:
    """Name the vectors that can be fetched, and the kinds of embeddings."""
    from semmetrics.embed.converted import is_converted
    from semmetrics.embed.fetch import read_manifest, vectors_folder
    from semmetrics.embed.open import KINDS
    from semmetrics.reports.result import align

    try:
        folder: Path | None = vectors_folder()
        where = f"Fetched vectors are kept in {folder}"
    except InputError as error:
        folder, where = None, f"Nothing can be fetched: {error}"
    rows = [["name", "numbers", "words", "download", "fetched", "licence"]]
    for entry in read_manifest(manifest).values():
        size = f"{entry.megabytes:,} MB" if entry.megabytes else ""
        words = f"{entry.words:,}" if entry.words else ""
        kept = "yes" if folder is not None and is_converted(entry.folder) else "no"
        rows.append([entry.name, str(entry.dimension), words, size, kept, entry.licence])
    kinds = [[f"{name}:", kind.summary] for name, kind in KINDS.items()]
    echo("Vectors that 'semmetrics embed fetch NAME' gets")
    echo(align(rows, left=True, indent="  "))
    echo("\nKinds of embeddings (kind:NAME or kind:PATH)")
    echo(align(kinds, left=True, indent="  "))
    echo(f"\n{where}")


@command.command(
    "fetch",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics embed fetch word2vec-googlenews-300",
        "semmetrics embed fetch glove-6b-300 --max-words 100000 --to glove",
    ],
)
@click.argument("name")
@_MANIFEST
@_MAX_WORDS
@option(OUTPUT, "--to", "folder", type=FILE, metavar="FOLDER",
        help="Where the converted vectors go; the user's cache folder.")  # fmt: skip
@option(OUTPUT, "--keep", is_flag=True, help="Keep the download, too.")
@quiet_option
def fetched(
    name: str,
    manifest: str | None,
    max_words: int | None,
    folder: str | None,
    keep: bool,
    quiet: bool,
) -> None:
    """Download word vectors, check them and convert them.

    A download that stops goes on where it stopped when the command is run again.
    """
    from semmetrics.embed.fetch import fetch, read_manifest

    entries = read_manifest(manifest)
    if name not in entries:
        raise InputError(
            f"there are no vectors named {name!r} to fetch",
            remedy=f"choose one of {', '.join(entries)}; a file that is here already is converted "
            "by: semmetrics embed convert FILE FOLDER",
        )
    if folder is None and (max_words is not None or manifest is not None):
        raise InputError(
            f"{'--manifest' if max_words is None else '--max-words'} may make other vectors than "
            "the name stands for",
            remedy="say where they go: --to FOLDER",
        )
    entry = entries[name]
    say([f"{name}: {entry.url}; licence: {entry.licence}"], quiet=quiet)
    with show_progress(quiet=quiet) as progress:
        got = fetch(entry, folder=folder, max_words=max_words, keep=keep, progress=progress)
    if got.sha256 and got.checked != "manifest":
        how = "that of the first download"
        if not got.checked:
            how = "not checked: it is kept, and later downloads are compared with it"
        complain(f"{name}: the manifest names no SHA-256; this is {got.sha256}, {how}")
    done = "converted" if got.sha256 else "was there already"
    echo(visible(f"{got.folder}: {done}; use it as --embedding {folder or name}"))


@command.command(
    "convert",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics embed convert GoogleNews-vectors-negative300.bin.gz googlenews",
        "semmetrics embed convert --max-words 200000 crawl-300d-2M.vec crawl",
    ],
)
@click.argument("source", metavar="FILE")
@click.argument("folder", type=FILE, metavar="FOLDER")
@_MAX_WORDS
@option(MODEL, "--name", metavar="NAME", help="What signatures call the vectors; the file's name.")
@option(MODEL, "--member", metavar="NAME", help="The file in a zip archive.")
@option(MODEL, "--licence", default="", metavar="TEXT", help="Written into the meta data.")
@quiet_option
def converted(
    source: str,
    folder: str,
    max_words: int | None,
    name: str | None,
    member: str | None,
    licence: str,
    quiet: bool,
) -> None:
    """Write word vectors in a form that opens at once, whatever their number.

    FILE is a word2vec, GloVe or fastText file, perhaps packed (.gz, .zip), or kv:PATH for gensim's
    KeyedVectors. Its SHA-256 is taken now and is in every signature.
    """
    from semmetrics.embed.converted import convert, read_meta
    from semmetrics.embed.open import opening_options
    from semmetrics.embed.vector_files import read_keyed_vectors, read_vectors
    from semmetrics.embed.word_formats import WORD_KINDS

    if Path(folder).exists():
        raise InputError("it exists", where=folder, remedy="name a new folder, or remove it")
    if "max_words" not in opening_options(source):
        raise InputError(
            "only files of word vectors are converted",
            where=source,
            remedy="give a word2vec, GloVe or fastText file, or kv:PATH",
        )
    kind, colon, path = source.partition(":")
    if colon and kind == "kv":
        vectors = read_keyed_vectors(path, max_words=max_words, name=name)
    elif colon and kind in WORD_KINDS:
        vectors = read_vectors(path, kind=kind, max_words=max_words, name=name, member=member)
    else:
        vectors = read_vectors(source, max_words=max_words, name=name, member=member)
    if vectors.compose is not None and not quiet:
        complain(
            f"{source}: its {pluralize(len(vectors), 'word', 'are')} converted, and not "
            "its subwords"
        )
    with show_progress(quiet=quiet) as progress:
        convert(vectors, folder, licence=licence, progress=progress)
    meta = read_meta(Path(folder))
    zeros = meta["zero_vectors"]
    if zeros and not quiet:
        complain(f"{source}: words whose vector is zero: {zeros:,}")
    echo(visible(f"{folder}: {pluralize(len(vectors), 'word')}, {meta['identity']}"))


@command.command(
    "info",
    cls=Command,
    no_args_is_help=True,
    examples=["semmetrics embed info static", "semmetrics embed info --verify googlenews"],
)
@click.argument("embedding", metavar="EMBEDDING")
@format_option("table", "json")
@option(MODEL, "--verify", is_flag=True, help="Compare converted vectors with their SHA-256.")
def info(embedding: str, form: str, verify: bool) -> None:
    """Say what an embedding is: identity, dimension, words, rule of lookup.

    EMBEDDING is NAME, PATH, kind:NAME or kind:PATH.
    """
    from semmetrics.embed.open import describe
    from semmetrics.reports.result import align

    facts = describe(embedding, check=verify)
    if form == "json":
        echo(json.dumps(facts, indent=1, ensure_ascii=False), form)
        return
    rows = [[key, str(value)] for key, value in facts.items() if value not in (None, "", False)]
    echo(align(rows, left=True))


@command.command(
    "coverage",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics embed coverage --embedding word2vec-googlenews-300 preds.json gt.json",
        "semmetrics embed coverage --top-k 5 --normalize kubany2020 --lookup kubany2020 a.csv",
    ],
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@score_options("classes")
@reading_options("labels")
@option(MODEL, "--embedding", default="static", show_default=True, metavar="EMBEDDING", help=SPEC)
@option(MODEL, "--lookup", default="auto", show_default=True, metavar="RULE",
        help="auto, kubany2020, words, exact or text.")  # fmt: skip
@score_options("device")
@_MAX_WORDS
@option(LABELS, "--normalize", default="none", show_default=True, metavar="NAME",
        help="How label texts are cleaned; 'semmetrics list normalizations'.")  # fmt: skip
@option(LABELS, "--top-k", type=click.IntRange(min=1), metavar="K", help=FIRST)
@format_option("table", "csv", "markdown", "latex", "json")
@option(OUTPUT, "--names", type=click.IntRange(min=0), default=5, show_default=True, metavar="N",
        help="The most frequent unknown and composed labels that are named.")  # fmt: skip
@quiet_option
def coverage(
    files: tuple[str, ...],
    embedding: str,
    lookup: str,
    device: str | None,
    max_words: int | None,
    normalize: str,
    top_k: int | None,
    form: str,
    names: int,
    quiet: bool,
    **given: Any,
) -> None:
    """Count how many labels of each file an embedding knows (Kubany et al., table 1).

    Images are items with at least one label. A label with synonyms is unknown if none of them is
    known; it is composed if it is known only by words put together from their pieces.
    """
    from semmetrics.embed.label_vectors import measure_coverage
    from semmetrics.embed.lookup import check_rules, lookup_rule
    from semmetrics.embed.open import open_embedding
    from semmetrics.reports.result import draw

    check_rules(lookup, "zero")
    systems, read = _read(files, given, normalize, quiet)
    model = open_embedding(embedding, device=device, max_words=max_words, max_bytes=read.max_bytes)
    rule = lookup_rule(model, lookup)
    table = measure_coverage(systems, model, lookup=rule, top_k=top_k)
    if form == "json":
        record = {
            "schema": SCHEMA,
            "embedding": model.identity,
            "lookup": rule,
            "top_k": top_k,
            "normalize": normalize,
            "systems": [one.to_dict() for one in table],
        }
        echo(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False), form)
        return
    echo(draw(_rows(table), form), form)
    if form == "table":
        for one in table:
            for what, some in (("unknown", one.names), ("composed", one.composed_names)):
                if names and some:
                    echo(visible(f"{what} in {one.system}: {listing(some, most=names)}"))
        echo(f"embedding {model.identity}, lookup {rule}, normalize {normalize}")


def _read(
    files: Sequence[str], given: dict[str, Any], normalize: str, quiet: bool
) -> tuple[dict[str, Any], ReadOptions]:
    """Read the cleaned labels of each file, by the name of the system; and how they were read."""
    from semmetrics.cli.files import check_files, name_files
    from semmetrics.data.beside import read_class_list
    from semmetrics.kinds.labels.classes import REPEATING, normalization
    from semmetrics.kinds.labels.reading import as_labels
    from semmetrics.scoring.systems import describe_inputs

    check_files(files)
    path, read = given.pop("classes"), read_given(given)["read"]
    classes = None if path is None else read_class_list(path, read.beside())
    clean, names = normalization(normalize), name_files(files)
    inputs = [as_labels(file, classes=classes, options=read) for file in files]
    say(describe_inputs(inputs), quiet=quiet)
    several = normalize == REPEATING
    cleaned = [one.normalized(clean, repeats=several) for one in inputs]
    return dict(zip(names, cleaned, strict=True)), read


def _rows(table: Sequence[Coverage]) -> list[list[str]]:
    rows = [["system", "images", "labels", "with synonyms", "a label", "unknown", "unknown %",
             "composed"]]  # fmt: skip
    for one in table:
        counts = [str(count) for count in (one.images, one.labels, one.terms)]
        shares = [f"{one.synonyms:.2f}", str(one.unknown), f"{100 * one.share:.1f}"]
        rows.append([one.system, *counts, *shares, str(one.composed)])
    return rows
