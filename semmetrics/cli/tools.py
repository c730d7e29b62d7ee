"""The commands around scores: what there is, what captions and labels are compared by."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semmetrics.arguments import check_choice
from semmetrics.cli import output
from semmetrics.cli.generate import command
from semmetrics.cli.names import known_names
from semmetrics.cli.run import Run
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.messages import listing, pluralize, visible
from semmetrics.options import READING, flag

if TYPE_CHECKING:
    from semmetrics.data.form import ReadOptions
    from semmetrics.data.lists import Lists
    from semmetrics.reports import Records

_LISTS = {
    "measures": {"Other names of measures": "aliases"},
    "protocols": {
        "Protocols (--protocol)": "protocols",
        "Protocols of agreement with people (semmetrics meta --protocol)": "agreement",
    },
    "normalizations": {"Normalisations (--normalize)": "normalizations"},
    "formats": {
        "Input formats (--input-format), each also with .gz": "formats",
        "Output formats (--format)": "results",
    },
}
"""What is listed of each topic, by its title."""


# What there is


@command(
    "list",
    {"topic": "[TOPIC]?"},
    output=(),
    imports=True,
    choices={"topic": tuple(_LISTS)},
)
def list_topics(run: Run) -> None:
    """Name the measures, protocols, label normalisations and file formats.

    'semmetrics explain NAME' says more of a measure or a protocol.

    Examples
    --------
    semmetrics list
    semmetrics list measures
    semmetrics list formats
    """
    parts: list[str] = []
    for topic in [run["topic"]] if run["topic"] else _LISTS:
        parts += _list_measures() if topic == "measures" else []
        for title, what in _LISTS[topic].items():
            parts.append(_list_names(title, known_names(what).items()))
    output.echo("\n\n".join(parts))


def _list_names(title: str, rows: Iterable[Sequence[str]]) -> str:
    from semmetrics.reports import align

    return f"{title}\n{align([*rows], left=True, indent='  ')}"


def _list_measures() -> list[str]:
    from semmetrics.metrics.registry import all_definitions, group_of

    grouped: dict[str, list[Any]] = {}
    for definition in all_definitions():
        grouped.setdefault(group_of(definition), []).append(definition)
    width = max(len(d.name) for members in grouped.values() for d in members)
    groups = [
        "\n".join(
            [
                f"  {title}",
                *(f"    {d.name.ljust(width)}  {d.summary}" for d in members),
            ]
        )
        for title, members in grouped.items()
    ]
    return ["Measures (-m)\n" + groups[0], *groups[1:]]


@command(
    "explain",
    {"names": "MEASURE|PROTOCOL..."},
    output=(),
    imports=True,
    choices={"names": "topics"},
)
def explain(run: Run) -> None:
    """Define a measure or a protocol: equation, source, options, policies.

    Averages, options with their defaults and choices, the policies for what is undefined, bounds
    and traits; an example of use.

    Examples
    --------
    semmetrics explain F1
    semmetrics explain 'AP(normalize=hits)@5'
    semmetrics explain kubany2020
    """
    import semmetrics

    output.echo(semmetrics.explain(*run["names"]))


@command(
    "cite",
    {"names": "MEASURE|PROTOCOL..."},
    output=(),
    imports=True,
    choices={"names": "topics"},
)
def cite(run: Run) -> None:
    """Print BibTeX for the publications that define measures and protocols, each once.

    Examples
    --------
    semmetrics cite F1 AP
    semmetrics cite kubany2020 > references.bib
    """
    import semmetrics
    from semmetrics.studies.explain import find_citations, find_topics

    for topic in find_topics(run["names"]):
        if not find_citations(topic):
            output.complain(f"{getattr(topic, 'name', topic)} cites no publication")
    output.echo(semmetrics.cite(*run["names"]))


_DEMO = """\
The example files are in {folder}. Try:

  cd {folder}
  semmetrics score --ci --percent photos/predictions/*.json photos/ground_truth.json
  semmetrics compare -m "F1 SemF1" photos/predictions/*.json photos/ground_truth.json
  semmetrics score captions/model_*.json captions/references.json"""


@command("demo", {"folder": "[FOLDER]?"}, output=())
def demo(run: Run) -> None:
    """Write example files into a new folder, and print commands that use them.

    The files are predictions of three systems that tagged 300 photos, captions of two systems, and
    their references. The default folder is semmetrics-demo.

    Examples
    --------
    semmetrics demo
    semmetrics demo examples
    """
    from semmetrics.store.examples import copy_examples

    folder = Path(run["folder"] or "semmetrics-demo")
    copy_examples(folder)
    shown = f"./{folder}" if str(folder).startswith("-") else folder.as_posix()
    output.echo(_DEMO.format(folder=visible(shlex.quote(shown))))


@command(
    "completion",
    {"shell": "SHELL"},
    output=(),
    choices={"shell": ("bash", "zsh", "fish")},
)
def completion(run: Run) -> None:
    """Print the completion script of a shell: bash, zsh or fish.

    It completes commands, options and files, and the names of measures, protocols, normalisations
    and formats.

    Examples
    --------
    eval "$(semmetrics completion bash)"   # in ~/.bashrc
    eval "$(semmetrics completion zsh)"    # in ~/.zshrc
    semmetrics completion fish > ~/.config/fish/completions/semmetrics.fish
    """
    from click.shell_completion import get_completion_class

    kind: Any = get_completion_class(run["shell"])
    program = click.get_current_context().find_root().command
    script = kind(program, {}, "semmetrics", "_SEMMETRICS_COMPLETE")
    output.echo(script.source_template % script.source_vars())


# What captions are compared by


@command("doc-freq", {"references": "FILE..."}, reads=("captions",))
def doc_freq(run: Run) -> None:
    """Count in how many images each n-gram occurs, for CIDEr-D and CIDEr, and save the counts.

    FILE has the references of images, as for 'semmetrics score'; each image is a document, in one
    FILE. Scores of few images mean something only with the frequencies of a larger corpus.

    Examples
    --------
    semmetrics doc-freq -o coco.npz references.json
    semmetrics doc-freq --stem porter -o coco.json references.json
    semmetrics doc-freq -o whole.npz part-1.jsonl part-2.jsonl
    semmetrics doc-freq --convert -o coco.npz coco-val-df.p
    semmetrics score -m CIDEr-D --doc-freq coco.npz captions.json references.json
    """
    from semmetrics.metrics.cider import DocumentFrequencies, fit_document_frequencies

    options = run.values()
    read, documents = options.pop("read"), options.get("documents")
    if run["convert"]:
        changed = [
            n
            for n, one in READING.items()
            if run.given.get(n) not in (None, one.default)
        ]
        idle: list[str] = [n for n in ("tokenizer", "stem") if n in options]
        if idle := idle + [n for n in changed if n != "max_bytes"]:
            raise InputError("not-applicable", name=idle[0], what="--convert")
        how = {"documents": documents, "max_bytes": read.max_bytes}
        parts = [DocumentFrequencies.load(path, **how) for path in run["references"]]
    else:
        if documents is not None:
            raise InputError("needs-option", what="--documents", name="convert")
        stem, tokenizer = options.get("stem", "none"), options.get("tokenizer")
        several = [read] * len(run["references"])
        parts = [
            fit_document_frequencies(one.to_list(), tokenizer, stem)
            for one in read_captions(run["references"], several, quiet=run.quiet)
        ]
    found, *others = parts
    for other in others:
        found += other
    found.save(run["output"])
    number = found.documents
    of = (
        "an unknown number of documents"
        if number is None
        else pluralize(number, "document")
    )
    grams = pluralize(len(found), "n-gram")
    output.echo(visible(f"{run['output']}: {grams} of {of}, df@{found.hash}"))


def read_captions(
    paths: Sequence[str], read: Sequence[ReadOptions], *, quiet: bool
) -> list[Lists]:
    """Read files, each with its options, and say how, and what is odd."""
    from semmetrics.kinds.captions import as_captions
    from semmetrics.scoring.evaluation import describe_inputs

    inputs = [
        as_captions(path, options=own) for path, own in zip(paths, read, strict=True)
    ]
    output.say([f"read {line}" for line in describe_inputs(inputs)], quiet=quiet)
    output.say(
        [f"{one.source}: {note}" for one in inputs for note in one.notes], quiet=quiet
    )
    return inputs


@command(
    "positives",
    {"classes": "CLASSES", "positives": "POSITIVES"},
    reads=("labels", "retrieval"),
)
def write_positives(run: Run) -> None:
    """Write plausible matches: the positives of all images of the same classes (PMRP).

    CLASSES has the classes of each image, such as those of the objects of COCO, and POSITIVES its
    captions. Images without classes have no positives, and their captions are none.

    Examples
    --------
    semmetrics positives --differing 1 -o plausible.json instances.json positives.json
    semmetrics score -m PMRP --missing skip --direction both --queries images.txt \
        --gallery captions.txt sims.npy plausible.json
    """
    from semmetrics.kinds.labels import as_labels
    from semmetrics.kinds.retrieval import as_candidates
    from semmetrics.kinds.retrieval.relation import as_positives, plausible_positives

    read = run.values()["read"]
    classes = as_labels(run["classes"], options=read)
    if classes.ranked:
        raise InputError("truth-of-scores", classes.source)
    positives, _ = as_positives(as_candidates(run["positives"], options=read))
    found = plausible_positives(classes, positives, run["differing"])
    output.write_text(output.to_json(found), run["output"], "json")
    output.echo(
        visible(f"{run['output']}: positives of {pluralize(len(found), 'image')}")
    )


@command(
    "pairs",
    {"captions": "CAPTIONS", "references": "REFERENCES"},
    takes="caption_matrix",
    reads=("captions",),
)
def pairs(run: Run) -> None:
    r"""Score every caption for every image, as a candidate for it.

    An entry is what 'semmetrics score' gives the caption for that image's references, with document
    frequencies over all images. Rows are the images of REFERENCES in their order, columns the
    captions of CAPTIONS in theirs.

    Examples
    --------
    semmetrics pairs -o phi.npy captions.json references.json
    semmetrics pairs --top-k 10 -o best.jsonl captions.json references.json
    semmetrics pairs -m CIDEr --doc-freq coco.npz -o phi.npy captions.json references.json
    semmetrics pairs --phi SPICE --rows references -o phi.npy captions.json references.json
    semmetrics pairs --phi BagSim --embedding sbert:all-MiniLM-L6-v2 -o phi.npy captions.json \
        references.json
    """
    from semmetrics.data.form import prediction_options, truth_options
    from semmetrics.data.tasks import item_ids
    from semmetrics.kinds.captions.matrix import PairJob, check_k

    measures, top_k, target, rows = (
        run["measure"],
        run["top_k"],
        run["output"],
        run["rows"],
    )
    if len(measures) > 1:
        raise InputError(
            "wrong-count", "--phi (-m)", found=listing(measures), wanted="one matrix"
        )
    _check_pairs(run, target, top_k)
    options = run.values("measure", "rows", "top_k", "axis")
    paths = [run["captions"], run["references"]]
    read = options["read"]
    sides = [prediction_options(read), truth_options(read)]
    mine, theirs = read_captions(paths, sides, quiet=run.quiet)
    texts = theirs.understood.startswith("JSON, {id: caption}")
    same = set(map(str, mine.ids)) == set(map(str, theirs.ids))
    if texts and same and len(mine.side.codes) > len(mine):
        raise InputError("swapped-files", theirs.source)
    ids = (
        item_ids(theirs.ids, theirs.side.sizes) if rows == "references" else theirs.ids
    )
    images = [*map(str, ids)]
    names = [*map(str, item_ids(mine.ids, mine.side.sizes))]
    notes: list[Fact] = []
    chosen: Any = run["axis"] or "captions"
    if top_k is not None:
        check_k(top_k, chosen, len(images), len(names))
    of = (theirs.to_list(), list(mine.values()), measures[0], options)
    job = PairJob.of(*of, rows=rows, dtype=run["dtype"] or "float64", notes=notes)
    output.say(render_facts(notes, spell=flag), quiet=run.quiet)
    if top_k is not None:
        with output.open_output(target) as out:
            _best(chosen, images, names, *job.top_k(top_k, chosen)).write(out, "jsonl")
        output.say([f"phi is {job.identity}"], quiet=run.quiet)
        return

    def write_ids() -> None:
        named = {"phi": job.identity, "images": images, "captions": names}
        output.write_text(output.to_json(named), f"{target}.ids.json", "json")

    with run.progress() as progress:
        resume = not run["overwrite"]
        made = job.matrix(target, resume=resume, progress=progress, beside=write_ids)
    size = " x ".join(map(str, made.shape))
    output.echo(visible(f"{target}: {size}, {made.dtype}, {job.identity}"))


def _check_pairs(run: Run, target: str, top_k: int | None) -> None:
    """Refuse files that are in each other's way, and options that mean nothing."""
    whole = top_k is None and target != "-"
    beside = ("", ".ids.json", ".part", ".blocks") if whole else ("",)
    written = {f"-o {end}".strip(): f"{target}{end}" for end in beside}
    output.check_files([run["captions"], run["references"]], written.items())
    known = [".npy"] if top_k is None else [".jsonl", "-"]
    if not target.lower().endswith(tuple(known)) or (
        top_k and target[1:].endswith("-")
    ):
        raise InputError("wrong-ending", f"-o {target}", known=known)
    if top_k is None and run["axis"] is not None:
        raise InputError("needs-option", what="--axis", name="top_k")
    if top_k is not None and (given := [n for n in ("dtype", "overwrite") if run[n]]):
        raise InputError("not-applicable", name=given[0], what="--top-k")


def _best(
    axis: str, images: list[str], captions: list[str], values: Any, places: Any
) -> Records:
    """Return each image with its best captions, or the other way round."""
    from semmetrics.reports import Records

    row, rows, columns = "image", images, captions
    if axis == "images":
        row, rows, columns = "caption", captions, images
    best = [
        [{"id": columns[p], "value": v} for v, p in zip(some, where, strict=True)]
        for some, where in zip(values.tolist(), places.tolist(), strict=True)
    ]
    return Records({row: rows, axis: best})


@command("spice", {})
def spice(run: Run) -> None:
    """Set up SPICE's own parser, and parse captions into scene graphs.

    'semmetrics score -m SPICE' parses, too, and keeps what it parsed; these commands are for
    machines without Java, and for parses that are shared.

    Examples
    --------
    semmetrics spice setup
    semmetrics spice parse -o tuples.jsonl captions.json references.json
    semmetrics score -m SPICE --tuples tuples.jsonl captions.json references.json
    """


@command("spice setup", {})
def spice_setup(run: Run) -> None:
    """Get the files that SPICE's own parser needs, and check them.

    They are kept in the user's cache folder, or in the folder that SEMMETRICS_HOME names.

    Examples
    --------
    semmetrics spice setup
    """
    from semmetrics.text.java import JARS, jar_folder, set_up, wrong_jars
    from semmetrics.text.official_parser import OfficialParser

    wrong = wrong_jars()
    if wrong and run["jars"] is None:
        output.say(
            [f"asking Maven for {', '.join(wrong)} (385 MB in all)"], quiet=run.quiet
        )
    folder = set_up(run["jars"]) if wrong else jar_folder()
    output.echo(
        visible(f"{folder}: {' and '.join(JARS)}{'' if wrong else ', there already'}")
    )
    output.say(
        [lacking] if (lacking := OfficialParser().missing()) else [], quiet=run.quiet
    )


@command("spice parse", {"files": "FILE..."}, reads=("captions",))
def spice_parse(run: Run) -> None:
    """Parse the captions of files into scene graphs, for 'semmetrics score --tuples'.

    Parses are kept: a second run, or one that goes on where another stopped, parses only what is
    new. Captions on which the parser fails are named, and left out of the output.

    Examples
    --------
    semmetrics spice parse -o tuples.jsonl captions.json references.json
    semmetrics spice parse --parser offline -o tuples.jsonl captions.json references.json
    """
    from semmetrics.text.parses import open_parser
    from semmetrics.text.tokenizers import open_tokenizer
    from semmetrics.text.tuple_tables import tuple_lines

    options, target = run.values(), run["output"]
    inputs = read_captions(
        run["files"], [options["read"]] * len(run["files"]), quiet=run.quiet
    )
    written = list(
        dict.fromkeys(str(text).strip() for one in inputs for text in one.vocabulary)
    )
    forms = written
    if run["captions"] == "tokens":
        tokenizer = open_tokenizer(options.get("tokenizer", "ptb"))
        forms = [" ".join(tokens) for tokens in tokenizer.tokens(written)]
    texts = list(dict.fromkeys(forms))
    limits = (
        {
            "seconds": run["seconds"],
            "processors": run["processors"] or 0,
            "memory": run["memory"],
            "otherwise": "parse by the parser that comes with semmetrics: --parser offline",
        }
        if run["parser"] == "official"
        else {}
    )
    with run.progress() as progress:
        kept = open_parser(run["parser"], None, progress, **limits)
        failed = kept.parse(texts)
    output.say([str(kept.trouble)] if kept.trouble else [], quiet=run.quiet)
    good = [text for text in texts if text not in failed]
    with output.open_output(target) as out:
        out.writelines(
            tuple_lines(zip(good, kept.tuples(good), strict=True), kept.identity)
        )
    if target != "-":
        output.echo(
            visible(f"{target}: {pluralize(len(good), 'caption')}, {kept.identity}")
        )
    if failed:
        caption, error = next(iter(failed.items()))
        where = _place(written[forms.index(caption)], inputs)
        raise InputError(
            "unparsed-captions",
            where,
            n=len(failed),
            caption=caption,
            why=error.problem,
        )


def _place(caption: str, inputs: Sequence[Lists]) -> str:
    """Return the file in which a caption occurs first, and the id of the item."""
    for one in inputs:
        for code, text in enumerate(one.vocabulary):
            if str(text).strip() == caption:
                return one.where(one.first_item(code))
    return ""


# What labels are compared by


@command("embed", {})
def embed(run: Run) -> None:
    """Get, convert and look at embeddings: what makes vectors of labels.

    The embeddings named "static" and "same" come with semmetrics and need nothing. Fetched vectors
    are kept in the user's cache folder, or in the folder that SEMMETRICS_HOME names.

    Examples
    --------
    semmetrics embed list
    semmetrics embed fetch word2vec-googlenews-300
    semmetrics embed convert GoogleNews-vectors-negative300.bin googlenews
    """


@command("embed list", {}, output=())
def embed_list(run: Run) -> None:
    """Name the vectors that can be fetched, and the kinds of embeddings.

    Examples
    --------
    semmetrics embed list
    """
    from semmetrics.embed.converted import is_converted
    from semmetrics.embed.embedding_kinds import KINDS
    from semmetrics.embed.manifest import read_manifest, vectors_folder

    try:
        folder: Path | None = vectors_folder()
        where = f"Fetched vectors are kept in {folder}"
    except InputError as error:
        folder, where = None, f"Nothing can be fetched: {error}"
    rows = [["name", "numbers", "words", "download", "fetched", "licence"]]
    for entry in read_manifest(run["manifest"]).values():
        size = f"{entry.megabytes:,} MB" if entry.megabytes else ""
        words = f"{entry.words:,}" if entry.words else ""
        kept = "yes" if folder is not None and is_converted(entry.folder) else "no"
        rows.append(
            [entry.name, str(entry.dimension), words, size, kept, entry.licence]
        )
    known = _list_names("Vectors that 'semmetrics embed fetch NAME' gets", rows)
    kinds = ((f"{name}:", kind.summary) for name, kind in KINDS.items())
    titled = _list_names("Kinds of embeddings (kind:NAME or kind:PATH)", kinds)
    output.echo("\n\n".join([known, titled, where]))


@command("embed fetch", {"name": "NAME"}, choices={"name": "vectors"})
def embed_fetch(run: Run) -> None:
    """Download word vectors, check them and convert them.

    A download that stops goes on where it stopped when the command is run again.

    Examples
    --------
    semmetrics embed fetch word2vec-googlenews-300
    semmetrics embed fetch glove-6b-300 --max-words 100000 --to glove
    """
    from semmetrics.embed.manifest import fetch, read_manifest

    name, folder, max_words = run["name"], run["folder"], run["max_words"]
    entries = read_manifest(run["manifest"])
    check_choice("NAME", name, entries)
    if folder is None and (max_words is not None or run["manifest"] is not None):
        what = flag("manifest" if max_words is None else "max_words")
        raise InputError("needs-option", what=what, name="to")
    entry = entries[name]
    output.say([f"{name}: {entry.url}; licence: {entry.licence}"], quiet=run.quiet)
    with run.progress() as progress:
        got = fetch(
            entry,
            folder=folder,
            max_words=max_words,
            keep=run["keep"],
            progress=progress,
        )
    if got.sha256 and got.checked != "manifest":
        how = (
            "that of the first download"
            if got.checked
            else "not checked: it is kept, and later downloads are compared with it"
        )
        output.complain(
            f"{name}: the manifest names no SHA-256; this is {got.sha256}, {how}"
        )
    done = "converted" if got.sha256 else "was there already"
    output.echo(
        visible(f"{got.folder}: {done}; use it as --embedding {folder or name}")
    )


@command("embed convert", {"source": "FILE", "folder": "FOLDER"})
def embed_convert(run: Run) -> None:
    """Write word vectors in a form that opens at once, whatever their number.

    FILE is a word2vec, GloVe or fastText file, perhaps packed (.gz, .zip), or kv:PATH for gensim's
    KeyedVectors. Its SHA-256 is taken now and is in every signature.

    Examples
    --------
    semmetrics embed convert GoogleNews-vectors-negative300.bin.gz googlenews
    semmetrics embed convert --max-words 200000 crawl-300d-2M.vec crawl
    """
    from semmetrics.embed.converted import convert, read_meta
    from semmetrics.embed.open import opening_options
    from semmetrics.embed.word_files import WORD_KINDS, read_keyed_vectors, read_vectors

    source, folder = run["source"], run["folder"]
    if Path(folder).exists():
        raise InputError("exists", folder)
    if "max_words" not in opening_options(source):
        raise InputError(
            "wrong-format",
            source,
            what="word vectors",
            format="this",
            wanted="a word2vec, GloVe or fastText file, or kv:PATH",
        )
    kind, colon, path = source.partition(":")
    given = {name: run[name] for name in ("max_words", "name")}
    if colon and kind == "kv":
        vectors = read_keyed_vectors(path, **given)
    else:
        known = {"kind": kind} if colon and kind in WORD_KINDS else {}
        vectors = read_vectors(
            path if known else source, member=run["member"], **known, **given
        )
    if vectors.compose is not None:
        words = pluralize(len(vectors), "word")
        output.say(
            [f"{source}: {words} converted, but not its subwords"], quiet=run.quiet
        )
    with run.progress() as progress:
        convert(vectors, folder, licence=run["licence"], progress=progress)
    meta = read_meta(Path(folder))
    if zeros := meta["zero_vectors"]:
        output.say(
            [f"{source}: words whose vector is zero: {zeros:,}"], quiet=run.quiet
        )
    output.echo(
        visible(f"{folder}: {pluralize(len(vectors), 'word')}, {meta['identity']}")
    )


@command("embed info", {"embedding": "EMBEDDING"}, output=())
def embed_info(run: Run) -> None:
    """Say what an embedding is: identity, dimension, words, rule of lookup.

    EMBEDDING is NAME, PATH, kind:NAME or kind:PATH.

    Examples
    --------
    semmetrics embed info same
    semmetrics embed info --verify googlenews
    """
    from semmetrics.embed.open import describe
    from semmetrics.reports import align

    facts = describe(run["embedding"], check=run["verify"])
    if run["form"] == "json":
        output.echo(output.to_json(facts), "json")
        return
    rows = [
        [key, str(value)]
        for key, value in facts.items()
        if value not in (None, "", False)
    ]
    output.echo(align(rows, left=True))


@command(
    "embed coverage", {"files": "FILE..."}, reads=("labels",), output=("form", "quiet")
)
def embed_coverage(run: Run) -> None:
    """Count how many labels of each file an embedding knows (Kubany et al., table 1).

    Images are items with at least one label. A label with synonyms is unknown if none of them is
    known; it is composed if it is known only by words put together from their pieces. It is untuned
    if the model was tuned on other labels only, as "same" may be.

    Examples
    --------
    semmetrics embed coverage preds.json gt.json
    semmetrics embed coverage --embedding word2vec-googlenews-300 preds.json gt.json
    semmetrics embed coverage --top-k 5 --normalize kubany2020 --lookup kubany2020 a.csv
    """
    from semmetrics.embed.coverage import measure_coverage
    from semmetrics.embed.lookup import check_rules, lookup_rule
    from semmetrics.embed.open import open_embedding
    from semmetrics.reports import draw

    options, form = run.values(), run["form"]
    lookup, normalize = options.get("lookup", "auto"), options.get("normalize", "none")
    check_rules(lookup, "zero")
    systems = _read_labels(run, options["read"], normalize)
    opening = {"device": run["device"], "max_words": run["max_words"]}
    model = open_embedding(
        run["embedding"], max_bytes=options["read"].max_bytes, **opening
    )
    rule = lookup_rule(model, lookup)
    table = measure_coverage(systems, model, lookup=rule, top_k=run["top_k"])
    if form == "json":
        record = {
            "schema": "semmetrics.coverage/1",
            "embedding": model.identity,
            "lookup": rule,
            "top_k": run["top_k"],
            "normalize": normalize,
            "systems": [one.to_dict() for one in table],
        }
        output.echo(output.to_json(record), form)
        return
    rows = [
        [
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
    ]
    for one in table:
        counts = [str(count) for count in (one.images, one.labels, one.terms)]
        shares = [f"{one.synonyms:.2f}", str(one.unknown), f"{100 * one.share:.1f}"]
        rows.append([one.system, *counts, *shares, str(one.composed), str(one.untuned)])
    output.echo(draw(rows, form), form)
    if form == "table":
        for one in table:
            names = {"unknown": one.names, "composed": one.composed_names}
            names["untuned"] = one.untuned_names
            for what, some in names.items():
                if run["names"] and some:
                    named = listing(some, most=run["names"])
                    output.echo(visible(f"{what} in {one.system}: {named}"))
        output.echo(f"embedding {model.identity}, lookup {rule}, normalize {normalize}")


def _read_labels(run: Run, read: ReadOptions, normalize: str) -> dict[str, Any]:
    """Read the cleaned labels of each file, by the name of the system."""
    from semmetrics.data.side_inputs import read_class_list
    from semmetrics.kinds.labels import as_labels
    from semmetrics.kinds.labels.normalization import REPEATING, normalization
    from semmetrics.scoring.evaluation import describe_inputs

    files, path = run["files"], run["classes"]
    classes = None if path is None else read_class_list(path, read.beside())
    clean, names = normalization(normalize), output.name_files(files)
    inputs = [as_labels(file, classes=classes, options=read) for file in files]
    output.say(describe_inputs(inputs), quiet=run.quiet)
    several = normalize == REPEATING
    cleaned = [one.normalized(clean, repeats=several) for one in inputs]
    return dict(zip(names, cleaned, strict=True))
