"""The commands ``embed ...``, which fetch, convert and describe embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from semmetrics.arguments import check_choice
from semmetrics.cli import output
from semmetrics.cli.generate import command
from semmetrics.cli.run import Run
from semmetrics.cli.tools import list_names
from semmetrics.errors import InputError
from semmetrics.messages import listing, pluralize, visible
from semmetrics.options import flag

if TYPE_CHECKING:
    from semmetrics.data.read_options import ReadOptions

_COVERAGE_COLUMNS = [
    "system",
    "images",
    "labels",
    "with synonyms",
    "a label",
    "unknown",
    "unknown %",
    "composed",
    "untuned",
]


@command("embed", {})
def embed(run: Run) -> None:
    """Download, convert and inspect embeddings, which map labels to vectors.

    The embeddings "static" and "same" are part of semmetrics. Downloaded vectors are stored in the
    cache folder of the user, or in the folder SEMMETRICS_HOME.

    Examples
    --------
    semmetrics embed list
    semmetrics embed fetch word2vec-googlenews-300
    semmetrics embed convert GoogleNews-vectors-negative300.bin googlenews
    """


@command("embed list", {}, output=())
def embed_list(run: Run) -> None:
    """List the vectors that can be downloaded, and the kinds of embeddings.

    Examples
    --------
    semmetrics embed list
    """
    from semmetrics.embed.embedding_kinds import KINDS
    from semmetrics.embed.manifest import vectors_folder

    try:
        folder: Path | None = vectors_folder()
        remark = f"Fetched vectors are kept in {folder}"
    except InputError as error:
        folder = None
        remark = f"Nothing can be fetched: {error}"
    rows = _list_vectors(run["manifest"], folder)
    vectors = list_names("Vectors that 'semmetrics embed fetch NAME' downloads", rows)
    kind_rows = [(f"{name}:", kind.summary) for name, kind in KINDS.items()]
    kinds = list_names("Kinds of embeddings (kind:NAME or kind:PATH)", kind_rows)
    output.echo("\n\n".join([vectors, kinds, remark]))


def _list_vectors(manifest: str | None, folder: Path | None) -> list[list[str]]:
    """Return a table of the vectors in a manifest, with a column for vectors in the folder."""
    from semmetrics.embed.converted import is_converted
    from semmetrics.embed.manifest import read_manifest

    rows = [["name", "numbers", "words", "download", "fetched", "licence"]]
    for entry in read_manifest(manifest).values():
        size = f"{entry.megabytes:,} MB" if entry.megabytes else ""
        words = f"{entry.words:,}" if entry.words else ""
        is_fetched = folder is not None and is_converted(entry.folder)
        fetched = "yes" if is_fetched else "no"
        rows.append(
            [entry.name, str(entry.dimension), words, size, fetched, entry.licence]
        )
    return rows


@command("embed fetch", {"name": "NAME"}, choices={"name": "vectors"})
def embed_fetch(run: Run) -> None:
    """Download word vectors, check them and convert them.

    Run the same command again to continue an interrupted download.

    Examples
    --------
    semmetrics embed fetch word2vec-googlenews-300
    semmetrics embed fetch glove-6b-300 --max-words 100000 --to glove
    """
    from semmetrics.embed.manifest import fetch, read_manifest

    name = run["name"]
    folder = run["folder"]
    max_words = run["max_words"]
    entries = read_manifest(run["manifest"])
    check_choice("NAME", name, entries)
    if folder is None and (max_words is not None or run["manifest"] is not None):
        what = flag("manifest" if max_words is None else "max_words")
        raise InputError("needs-option", what=what, name="to")
    entry = entries[name]
    output.report([f"{name}: {entry.url} (licence: {entry.licence})"], quiet=run.quiet)
    with run.progress() as progress:
        fetched = fetch(
            entry,
            folder=folder,
            max_words=max_words,
            keep=run["keep"],
            progress=progress,
        )
    if fetched.sha256 and fetched.checked != "manifest":
        remark = "which is not checked. Later downloads are compared with it."
        if fetched.checked:
            remark = "the same as the first download."
        output.complain(
            f"{name}: the manifest has no SHA-256. "
            f"This file has {fetched.sha256}, {remark}"
        )
    status = "converted" if fetched.sha256 else "already there"
    spec = folder or name
    output.echo(visible(f"{fetched.folder}: {status}. Use it with --embedding {spec}"))


@command("embed convert", {"source": "FILE", "folder": "FOLDER"})
def embed_convert(run: Run) -> None:
    """Convert word vectors to a form that opens immediately, whatever their number.

    FILE is a word2vec, GloVe or fastText file, also compressed (.gz, .zip), or kv:PATH for
    KeyedVectors of gensim. Its SHA-256 is computed once and is part of every signature.

    Examples
    --------
    semmetrics embed convert GoogleNews-vectors-negative300.bin.gz googlenews
    semmetrics embed convert --max-words 200000 crawl-300d-2M.vec crawl
    """
    from semmetrics.embed.converted import convert, read_meta

    source = run["source"]
    folder = run["folder"]
    if Path(folder).exists():
        raise InputError("exists", folder)
    vectors = _read_word_vectors(run, source)
    if vectors.compose is not None:
        words = pluralize(len(vectors), "word")
        output.report(
            [f"{source}: {words} converted, but not its subwords"], quiet=run.quiet
        )
    with run.progress() as progress:
        convert(vectors, folder, licence=run["licence"], progress=progress)
    meta = read_meta(Path(folder))
    n_zeros = meta["zero_vectors"]
    if n_zeros:
        output.report(
            [f"{source}: words whose vector is zero: {n_zeros:,}"], quiet=run.quiet
        )
    words = pluralize(len(vectors), "word")
    output.echo(visible(f"{folder}: {words}, {meta['identity']}"))


def _read_word_vectors(run: Run, source: str) -> Any:
    """Return the word vectors of PATH, kv:PATH, or another kind of file such as glove:PATH."""
    from semmetrics.embed.open import opening_options
    from semmetrics.embed.word_files import WORD_KINDS, read_keyed_vectors, read_vectors

    if "max_words" not in opening_options(source):
        raise InputError(
            "wrong-format",
            source,
            what="word vectors",
            format="this",
            wanted="a word2vec, GloVe or fastText file, or kv:PATH",
        )
    kind, colon, path = source.partition(":")
    settings = {name: run[name] for name in ("max_words", "name")}
    if colon and kind == "kv":
        return read_keyed_vectors(path, **settings)
    if colon and kind in WORD_KINDS:
        return read_vectors(path, member=run["member"], kind=kind, **settings)
    return read_vectors(source, member=run["member"], **settings)


@command("embed info", {"embedding": "EMBEDDING"}, output=())
def embed_info(run: Run) -> None:
    """Describe an embedding: identity, dimension, words, rule of lookup.

    EMBEDDING is NAME, PATH, kind:NAME or kind:PATH.

    Examples
    --------
    semmetrics embed info same
    semmetrics embed info --verify googlenews
    """
    from semmetrics.embed.open import describe
    from semmetrics.reports import align

    properties = describe(run["embedding"], check=run["verify"])
    if run["form"] == "json":
        output.echo(output.to_json(properties), "json")
        return
    rows = []
    for name, value in properties.items():
        if value not in (None, "", False):
            rows.append([name, str(value)])
    output.echo(align(rows, left=True))


@command(
    "embed coverage", {"files": "FILE..."}, reads=("labels",), output=("form", "quiet")
)
def embed_coverage(run: Run) -> None:
    """Count how many labels of each file an embedding knows (Kubany et al., table 1).

    Images are items with at least one label. A label with synonyms is unknown if all synonyms are
    unknown. It is composed if only words that are composed from pieces are known. It is untuned if
    the model was tuned only on other labels, which applies to "same".

    Examples
    --------
    semmetrics embed coverage preds.json gt.json
    semmetrics embed coverage --embedding word2vec-googlenews-300 preds.json gt.json
    semmetrics embed coverage --top-k 5 --normalize kubany2020 --lookup kubany2020 a.csv
    """
    from semmetrics.embed.coverage import measure_coverage
    from semmetrics.embed.lookup import check_rules, lookup_rule
    from semmetrics.embed.open import open_embedding

    options = run.values()
    lookup = options.get("lookup", "auto")
    normalize = options.get("normalize", "none")
    check_rules(lookup, "zero")
    systems = _read_labels(run, options["read"], normalize)
    model = open_embedding(
        run["embedding"],
        max_bytes=options["read"].max_bytes,
        device=run["device"],
        max_words=run["max_words"],
    )
    rule = lookup_rule(model, lookup)
    coverages = measure_coverage(systems, model, lookup=rule, top_k=run["top_k"])
    form = run["form"]
    if form == "json":
        record = {
            "schema": "semmetrics.coverage/1",
            "embedding": model.identity,
            "lookup": rule,
            "top_k": run["top_k"],
            "normalize": normalize,
            "systems": [coverage.to_dict() for coverage in coverages],
        }
        output.echo(output.to_json(record), form)
        return
    _print_coverage(coverages, form)
    if form == "table":
        _print_names(coverages, run["names"])
        output.echo(f"embedding {model.identity}, lookup {rule}, normalize {normalize}")


def _print_coverage(coverages: Any, form: str) -> None:
    """Print the table of coverages, with a row per system."""
    from semmetrics.reports import draw

    rows = [_COVERAGE_COLUMNS]
    for coverage in coverages:
        rows.append(
            [
                coverage.system,
                str(coverage.images),
                str(coverage.labels),
                str(coverage.terms),
                f"{coverage.synonyms:.2f}",
                str(coverage.unknown),
                f"{100 * coverage.share:.1f}",
                str(coverage.composed),
                str(coverage.untuned),
            ]
        )
    output.echo(draw(rows, form), form)


def _print_names(coverages: Any, max_names: int) -> None:
    """Print the most frequent unknown, composed and untuned labels of each system."""
    if not max_names:
        return
    for coverage in coverages:
        names_by_group = {
            "unknown": coverage.names,
            "composed": coverage.composed_names,
            "untuned": coverage.untuned_names,
        }
        for group, names in names_by_group.items():
            if names:
                shown = listing(names, most=max_names)
                output.echo(visible(f"{group} in {coverage.system}: {shown}"))


def _read_labels(run: Run, read: ReadOptions, normalize: str) -> dict[str, Any]:
    """Return the normalised labels of each file, by the name of the system."""
    from semmetrics.data.side_inputs import read_class_list
    from semmetrics.kinds.labels import as_labels
    from semmetrics.kinds.labels.normalization import REPEATING, normalization
    from semmetrics.scoring.evaluation import describe_inputs

    classes = None
    if run["classes"] is not None:
        classes = read_class_list(run["classes"], read.for_side_inputs())
    clean = normalization(normalize)
    names = output.name_files(run["files"])
    inputs = [as_labels(file, classes=classes, options=read) for file in run["files"]]
    output.report(describe_inputs(inputs), quiet=run.quiet)
    repeats = normalize == REPEATING
    normalized = [labels.normalized(clean, repeats=repeats) for labels in inputs]
    return dict(zip(names, normalized, strict=True))
