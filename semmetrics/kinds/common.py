"""What kinds have in common: facts, descriptions of data, weights and embeddings."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from semmetrics.core.backend import refuse_masked
from semmetrics.core.hashing import UNVERSIONED
from semmetrics.core.ragged import Ints, cell_keys
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights
from semmetrics.data.lists import Ids, Lists, gather
from semmetrics.data.matrix import Matrix, row_blocks
from semmetrics.data.observations import Observations
from semmetrics.errors import EXAMPLES, FROM_0, Fact, InputError
from semmetrics.kinds.base import Measures, Notes, Options, Tasks
from semmetrics.messages import listing, plural, visible
from semmetrics.metrics.definition import DEFAULT_EMBEDDING, Measure, model_key
from semmetrics.options import OPTIONS

_MAX_DIGITS = 17  # of the place of a class


def outside_classes(
    value: object, classes: Sequence[Any], where: str, role: str
) -> InputError:
    """Return the error for a name that is not in the class list, or a number beyond its end.

    Parameters
    ----------
    value : str
    classes : sequence of str, or of tuples of synonyms
        The class list.
    where, role : str
        The place and what the value is there, for the message.

    Examples
    --------
    >>> print(outside_classes("2", ["cat", "dog"], "gt.json", "the class"))
    gt.json: the class is 2, and the class list has 2 classes, numbered from 0 to 1; if the file
    counts from 1, subtract 1, or correct classes=
    """
    text = str(value)
    is_place = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    if is_place and int(text) >= len(classes) and not _has_number(classes):
        values = {
            "role": role,
            "value": text,
            "size": len(classes),
            "last": len(classes) - 1,
        }
        return InputError("number-outside-classes", where, **values)
    names = [terms if isinstance(terms, str) else terms[0] for terms in classes]
    written = re.compile(
        rf"\s*(?:n?\d+\W+)?{re.escape(text)}\s*(?:,.*)?", re.IGNORECASE
    )
    similar = next((name for name in names if written.fullmatch(name)), None)
    if similar is None:
        return InputError("outside-classes", where, role=role, value=value)
    values = {"role": role, "value": value, "similar": similar}
    return InputError("similar-class", where, **values)


def _has_number(classes: Sequence[Any]) -> bool:
    """Return whether a class is called by a number, so that numbers are names and not places."""
    names = (
        name
        for terms in classes
        for name in ([terms] if isinstance(terms, str) else terms)
    )
    return any(name.isdecimal() for name in names)


SWAPPED = "swapped"
"""The name under which tasks note signs of swapped sides."""
_PARTS = "parts"  # how many tasks noted something; what is so of a side, all of them must note

_LEFT_OUT = {"missing_prediction": "left out", "missing_reference": "left out"}
_MISSING = {  # what becomes of items that one side lacks, under each policy
    "skip": _LEFT_OUT,
    "common": _LEFT_OUT,
    "empty": {
        "missing_prediction": "scored as empty",
        "missing_reference": "taken as empty",
    },
}
_WORDS = "words of"
_CLOSE = 0.01  # to which probabilities of half precision sum to 1
_TOP = 10  # names that a line shows
_SHOWN = 3  # texts that a model does not know
_TRUTHS = {
    "gt",
    "gts",
    "truth",
    "groundtruth",
    "reference",
    "references",
    "refs",
    "annotations",
}
_GUESSES = {
    "pred",
    "preds",
    "prediction",
    "predictions",
    "results",
    "candidates",
    "outputs",
}
_SIGNS = {
    "names": "the predictions are named as ground truth",
    "scores": "only the ground truth has scores",
    "coco": "only the predictions are COCO annotations",
    "several": "each image has one reference and several captions",
}


# ---- facts --------------------------------------------------------------------------------------


def counted(
    code: str, n: int, examples: Iterable[Any] = (), where: str = "", **values: Any
) -> list[Fact]:
    """Note something that is so n times; nothing where it never is."""
    return [Fact(code, n, tuple(examples)[:EXAMPLES], where, values)] if n else []


def named(
    code: str, names: Iterable[Any], where: str = "", **values: Any
) -> list[Fact]:
    """Note something about names; nothing where there are none."""
    every = list(names)
    return counted(code, len(every), every, where, **values)


def of_items(code: str, lists: Any, rows: Any, **values: Any) -> list[Fact]:
    """Note something about items, named by id or position; nothing where there are none."""
    numbered = FROM_0 if isinstance(lists.ids, (range, np.ndarray)) else ""
    ids = [lists.ids[row] for row in rows[:EXAMPLES].tolist()]
    plain = [name.item() if hasattr(name, "item") else name for name in ids]
    values |= {"total": len(lists), "noun": lists.noun, "numbered": numbered}
    return counted(code, len(rows), plain, **values)


def no_effect(option: str, why: str) -> Fact:
    """Return the fact that an option has no effect."""
    return Fact("no-effect", values={"option": option, "why": why})


def count_facts(name: str, task: Any) -> list[Fact]:
    """Return what was left out of a task or merged in it, from its counts."""
    became = _MISSING.get(task.settings.get("missing", ""), {})
    return [
        Fact(
            key.replace("_", "-"),
            n,
            (),
            name,
            {"became": became[key]} if key in became else {},
        )
        for key, n in task.counts.items()
        if n
    ]


def different_items(tasks: Tasks, apart: Collection[str] = ()) -> list[Fact]:
    """Note that systems are scored on different items; ``apart`` are systems that always are."""
    items: dict[str, set[tuple[int, int]]] = {}
    for system, parts in tasks.items():
        for part, task in parts.items() if system not in apart else ():
            identity = int(task.hashes.sum(dtype=np.uint64))
            items.setdefault(part, set()).add((len(task), identity))
    return (
        [Fact("different-items")]
        if any(len(some) > 1 for some in items.values())
        else []
    )


def swapped_sides(pred: Lists, ref: Lists) -> Observations:
    """Find signs that predictions and ground truth were given in the wrong order."""
    observations = Observations()
    observations.count(_PARTS, 1)
    for name, lists in (("pred", pred), ("ref", ref)):
        if len(lists.side.codes):
            observations.count(_PARTS, 1, name)
    has_wrong_names = _is_named(pred, _TRUTHS - _GUESSES) and _is_named(
        ref, _GUESSES - _TRUTHS
    )
    if has_wrong_names:
        observations.count(SWAPPED, 1, "names")
    if ref.side.scores is not None and pred.side.scores is None:
        observations.count(SWAPPED, 1, "scores")
    is_coco_pred = "COCO instances" in pred.understood
    if is_coco_pred and "COCO instances" not in ref.understood:
        observations.count(SWAPPED, 1, "coco")
    return observations


def _is_named(lists: Lists, words: set[str]) -> bool:
    """Return whether the name of a file has one of these words."""
    name = PurePath(lists.source).name
    if "." not in name:
        return False
    parts = re.split(r"[^a-z]+", name.lower())
    first_two = "".join(parts[:2])
    return not words.isdisjoint([*parts, first_two])


def swapped_facts(observed: Observations) -> list[Fact]:
    """Note that the sides look swapped, and why."""
    n_parts = observed.number(_PARTS)
    facts = []
    for sign, text in _SIGNS.items():
        if observed.has(SWAPPED, sign) and observed.number(SWAPPED, sign) == n_parts:
            facts.append(Fact("swapped-sides", values={"sign": text}))
    return facts


def note_words(side: str, n_words: int, n_entries: int) -> Observations:
    """Return the observation of how many words the entries of a side have."""
    observations = Observations()
    observations.count(_WORDS, 1, side)
    observations.count(_WORDS, n_words, side, "words")
    observations.count(_WORDS, n_entries, side, "entries")
    return observations


def word_facts(
    code: str, observed: Observations, side: str, noun: str, where: str = ""
) -> list[Fact]:
    """Note the mean number of words of a side's entries, if all parts of the data have it."""
    n_parts = observed.number(_PARTS, side)
    if not observed.has(_WORDS, side) or observed.number(_WORDS, side) != n_parts:
        return []
    n_words = observed.number(_WORDS, side, "words")
    n_entries = observed.number(_WORDS, side, "entries")
    mean = n_words / max(1, n_entries)
    return [Fact(code, 0, (), where, {"side": noun, "mean": mean})]


def count_parts(observed: Observations, side: str) -> int:
    """Return how many parts of the data have entries on this side."""
    return observed.number(_PARTS, side)


def find_gaps(lists: Lists) -> list[Fact]:
    """Note items without entries, and those that have an entry twice."""
    sizes, width = lists.side.sizes, max(1, len(lists.vocabulary))
    cells = cell_keys(lists.side.indptr, lists.side.codes, len(lists.vocabulary))
    distinct = np.bincount(np.unique(cells) // width, minlength=len(lists))
    return [
        *of_items("without-entries", lists, np.flatnonzero(sizes == 0)),
        *of_items("repeated-entries", lists, np.flatnonzero(sizes > distinct)),
    ]


def find_odd_ids(ids: Ids) -> list[Fact]:
    """Note what is odd in ids; nothing where items are known by position."""
    return (
        []
        if isinstance(ids, range)
        else find_odd_texts([str(name) for name in ids], "id")
    )


def find_odd_texts(texts: Sequence[str], noun: str) -> list[Fact]:
    """Note what is odd in names: blanks around them, what cannot be seen, and lookalikes.

    Examples
    --------
    >>> print(*find_odd_texts(["cat", "Cat", "dog"], "label"))
    1 group of labels differing only by case or white space: 'cat', 'Cat'
    """
    groups = gather(("".join(text.split()).casefold(), text) for text in texts)
    similar = [group for group in groups.values() if len(group) > 1]
    hidden = [text for text in texts if not text.strip().isprintable()]
    first = [text for group in similar[:2] for text in group]
    return [
        *named(
            "padded-texts", (text for text in texts if text != text.strip()), noun=noun
        ),
        *named("hidden-characters", hidden, noun=noun),
        *counted("lookalikes", len(similar), first, noun=plural(noun)),
    ]


# ---- weights, and probabilities of set sizes ----------------------------------------------------


def read_weights(
    weights: Any, files: ReadOptions, source: str = "weights"
) -> Weights | None:
    """Read weights of items, or numbers of classes, from what a user may give.

    Parameters
    ----------
    weights : path, frame, Series, mapping from id, sequence, or None
        The index of a Series has the ids.
    files : ReadOptions
    source : str
        What messages call the numbers.
    """
    if weights is None or isinstance(weights, Weights):
        return weights
    from semmetrics.data.objects import is_frame, is_series, string_ids

    is_path = isinstance(weights, (str, os.PathLike))
    has_columns = hasattr(weights, "columns") or hasattr(weights, "column_names")
    if is_path or (has_columns and is_frame(weights)):
        from semmetrics.data.side_inputs import read_numbers

        notes: list[Any] = []
        values: Any = read_numbers(weights, files, notes, source)
        name = os.fspath(weights) if is_path else source
        return Weights(values, name, notes)
    if is_series(weights) and hasattr(weights, "index"):
        ids = string_ids(weights.index, source)
        return Weights(dict(zip(ids, weights.to_list(), strict=True)), source)
    return Weights(weights, source)


def unused_weights(weights: Weights | None, inputs: Sequence[Any]) -> list[Fact]:
    """Note which sample weights are of ids that no input has, and what was odd in their file.

    Parameters
    ----------
    weights : Weights or None
    inputs : sequence of Lists

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> weights = Weights({"a": 1.0, "b": 2.0})
    >>> print(*unused_weights(weights, [as_labels({"a": ["cat"]})]))
    1 of 2 sample weights not used, as no input has the id: 'b'
    """
    if weights is None:
        return []
    notes = list(weights.notes)
    if not weights.is_by_id or not inputs:
        return notes
    known: set[str] = set()
    for one in inputs:
        known.update(map(str, one.ids))
    ids = [str(item_id) for item_id in weights.values]
    unused = [item_id for item_id in ids if item_id not in known]
    return notes + named("unused-weights", unused, total=len(ids))


def read_set_size_probs(given: Any, files: ReadOptions | None) -> Any:
    """Return the probabilities of set sizes as an array, read where they are a path.

    Raises
    ------
    InputError
        If they are masked, or those of an item are not probabilities.
    """
    if given is None:
        return None
    from semmetrics.data.objects import plain_object

    where = "set_size_probs"
    if isinstance(given, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_dense

        where = os.fspath(given)
        given = read_dense(
            given, (files or ReadOptions()).beside(), "a matrix is", ("npy", "npz")
        )
    refuse_masked(given, where)
    values = np.asarray(plain_object(given)).astype(np.float64)
    if values.ndim == 2:
        sums = values.sum(axis=1)
        # sizes may end before all of 1
        wrong = (sums > 1 + _CLOSE) | (values < 0).any(axis=1)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(
                "not-probabilities", f"{where}, row {row}{FROM_0}", value=values[row]
            )
    return values


def find_names(names: Iterable[Any], among: Iterable[Any]) -> tuple[Ints, list[str]]:
    """Return the place of each name among others, -1 if it has none, and the names without one."""
    place = {str(name): code for code, name in enumerate(among)}
    every = [str(name) for name in names]
    codes = np.fromiter((place.get(name, -1) for name in every), np.int64, len(every))
    return codes, [every[i] for i in np.flatnonzero(codes < 0).tolist()]


# ---- embeddings ---------------------------------------------------------------------------------


def read_embedding(embedding: Any) -> Any:
    """Return what a user gives as embedding, with mappings from words to vectors made vectors.

    Raises
    ------
    InputError
        If a mapping is of neither kind, or a name starts with #, as keys of the package do.
    """
    if not isinstance(embedding, Mapping):
        return embedding
    from semmetrics.embed.open import named_or_words

    specs = named_or_words(embedding)
    for name in by_name(specs):
        if str(name).startswith("#"):
            raise InputError(
                "bad-option",
                name="embedding",
                value=name,
                wanted="names that do not start with '#'",
            )
    return specs


def embedding_name(measure: Measure, embedding: Any) -> str:
    """Return the name under which the embedding of a measure is opened.

    It is the name of an embedding that the user gives. If none is given for a measure that names
    none, it is the model of the measure's definition, with a sign that no name of a user has.

    Parameters
    ----------
    measure : Measure
    embedding : None, specification, Embedder, or mapping from name to those
        As a user gives it.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> sem, soft = parse_all(["SemF1", "SoftF1"])
    >>> embedding_name(sem, None), embedding_name(soft, None), embedding_name(sem, "static")
    ('#same', '#static', 'default')
    """
    name = str(measure["embedding"])
    if name == DEFAULT_EMBEDDING and name not in by_name(embedding):
        return f"#{measure.definition.own_embedding}"
    return name


def embeddings_of(measures: Measures, embedding: Any) -> dict[str, Any]:
    """Return the embeddings that measures use, by `embedding_name`, as a user names them.

    Raises
    ------
    InputError
        If a measure names an embedding that is neither given nor part of the package.
    """
    from semmetrics.embed.open import SHIPPED

    specs_of_user = by_name(embedding)
    specs: dict[str, Any] = {}
    for measure in measures:
        if measure["embedding"] is None:
            continue
        name = embedding_name(measure, embedding)
        if name in specs_of_user:
            specs[name] = specs_of_user[name]
        elif measure["embedding"] == DEFAULT_EMBEDDING:
            specs[name] = measure.definition.own_embedding
        elif name in SHIPPED:
            specs[name] = name
        else:
            names = dict.fromkeys([DEFAULT_EMBEDDING, *specs_of_user])
            remedy = f"those given are {listing(names)}"
            raise InputError(
                "unknown-name", what="embedding", value=name, remedy=remedy
            )
    return specs


def by_name(given: Any) -> dict[str, Any]:
    """Return what may be given alone, as the default, or by name."""
    if isinstance(given, Mapping):
        return dict(given)
    return {} if given is None else {DEFAULT_EMBEDDING: given}


def used_embeddings(measures: Measures) -> list[str]:
    """Return the names of the embeddings that measures use."""
    return list(
        dict.fromkeys(
            str(m["embedding"]) for m in measures if m["embedding"] is not None
        )
    )


def open_models(measures: Measures, options: Options) -> dict[str, Any]:
    """Open the embeddings of measures by `embedding_name`, once for the same options.

    Raises
    ------
    InputError
        If one is not given or cannot be opened, or ``max_words`` applies to none of them.
    """
    from semmetrics.embed.open import open_embeddings

    specs = embeddings_of(measures, options.embedding)
    device, read = options.device, options.read
    if options.opened.get("specs") != specs:
        options.opened["models"] = open_embeddings(
            specs,
            cache=options.cache,
            device=None if device is None else str(device).removeprefix("torch:"),
            max_words=options.max_words,
            max_bytes=read.max_bytes,
        )
        options.opened["specs"] = specs
        for name, model in options.opened["models"].items():
            model = getattr(model, "embedder", model)
            # not one of the user's
            if hasattr(model, "progress") and isinstance(specs[name], str):
                model.progress = options.progress
    models: dict[str, Any] = options.opened["models"]
    return models


def open_text_models(measures: Measures, options: Options) -> dict[str, Any]:
    """Open the embeddings of measures by ``model_key``; each text is embedded once.

    Raises
    ------
    InputError
        As `open_models`; or if there is no such device, or it has no double precision.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    comparing = [measure for measure in measures if measure["embedding"] is not None]
    if not comparing:
        return {}
    from semmetrics.core.backend import find_device
    from semmetrics.embed.embedder import RememberingEmbedder, looks_up_words
    from semmetrics.embed.label_vectors import TextModel
    from semmetrics.embed.lookup import check_rules, lookup_rule, rules_for

    device = find_device(options.device)
    check_rules(options.lookup, options.oov)
    by_embedding = {}
    for name, model in open_models(comparing, options).items():
        rules = rules_for(model, options.lookup, options.oov)
        kept = model if looks_up_words(model) else RememberingEmbedder(model)
        rule = lookup_rule(model, rules["lookup"])
        by_embedding[name] = TextModel(kept, rule, rules["oov"], device)
    models = {}
    for measure in comparing:
        name = embedding_name(measure, options.embedding)
        models[model_key(measure)] = by_embedding[name]
    return models


def model_facts(
    where: str,
    model: Any,
    counts: Mapping[str, int],
    noun: str,
    which: Notes | None = None,
    oov: str = "",
) -> list[Fact]:
    """Note what a model did not know or read.

    Parameters
    ----------
    where : str
        The name of the task.
    model : LabelVectors or TextModel
    counts : mapping from "unknown", "composed", "untuned" and the like to a number
    noun : str
        What is counted.
    which : mapping from the same to texts, which are named
    oov : str
        The policy, if it is not the model's for every measure.
    """
    values = {"noun": noun, "model": model.embedder.identity, "oov": oov or model.oov}
    facts: list[Fact] = []
    for key in ("unknown", "composed", "untuned", "zero_vectors", "truncated"):
        texts = [text[:60] for text in (which or {}).get(key, ())[:_SHOWN]]
        code = f"{key.replace('_', '-')}-texts"
        facts += counted(code, counts.get(key, 0), texts, where, **values)
    return facts


def check_shared(
    counts: Mapping[str, int], options: Options, noun: str, names: Sequence[str]
) -> None:
    """Raise if nothing in an input that the user gave occurs in the data.

    Parameters
    ----------
    counts : mapping from option to int
        How many names of the data occur in the input that the option gives. What a protocol or a
        default sets is not checked.
    options : ResolvedOptions
    noun : str
        What the names are.
    names : sequence of str
        Some names of the data. If there are none, nothing is wrong.

    Raises
    ------
    InputError
    """
    is_filled = any(name.strip() for name in names)
    for name, n_shared in counts.items():
        if is_filled and not n_shared and name in options.set_by_user:
            raise InputError("nothing-shared", name=name, noun=noun, names=names)


def unused_rules(measures: Measures, options: Options, such: str) -> list[Fact]:
    """Note options about meaning that no measure takes up; ``such`` is a measure that does."""
    if used_embeddings(measures):
        return []
    fixed = {"embedding", "cache"}  # which are noted elsewhere
    fixed |= set() if options.protocol is None else {"lookup", "oov"}
    acting = [name for name, one in OPTIONS.items() if one.acts_by == "embedding"]
    names = [
        name for name in acting if name in options.set_by_user and name not in fixed
    ]
    return [
        no_effect(name, f"no measure here compares meanings ({such} does)")
        for name in names
    ]


def unused_embeddings(measures: Measures, embedding: Any) -> list[Fact]:
    """Note the embeddings that no measure uses.

    Parameters
    ----------
    measures : sequence of Measure
    embedding : None, specification, Embedder, or mapping from name to those
        As a user gives it; the one that ships with the package is not given.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> given = {"default": "static", "bert": "sbert:bert"}
    >>> print(*unused_embeddings(parse_all(["F1", "SemF1"]), given))
    1 embedding not used by any measure here: 'bert'
    """
    used = used_embeddings(measures)
    given = by_name(embedding)
    unused = tuple(name for name in given if name not in used)
    return [Fact("unused-embeddings", len(unused), unused)] if unused else []


def cache_facts(models: Iterable[Any], cache: object) -> list[Fact]:
    """Note what is wrong with a cache, or that no embedding in use needs the one asked for."""
    if cache is None or cache is False:
        return []
    from semmetrics.embed.embedder import CachedEmbedder

    every = list(models)
    if unversioned := {
        model.identity for model in every if UNVERSIONED in model.identity
    }:
        return [
            Fact("not-cached", values={"model": name}) for name in sorted(unversioned)
        ]
    if cached := [model for model in every if isinstance(model, CachedEmbedder)]:
        return list(dict.fromkeys(model.trouble for model in cached if model.trouble))
    return [no_effect("cache", "no embedding in use is slower than it")]


# ---- descriptions -------------------------------------------------------------------------------


def describe_input(
    found: Lists | Matrix, odd: Iterable[Fact], **more: Any
) -> dict[str, Any]:
    """Describe what any input has: "understood", "notes", "items", "ids", and "odd" last.

    Of a matrix it adds "shape", "dtype" and "range", whose ends are None if undefined.
    """
    if isinstance(found, Matrix):
        more["shape"], more["dtype"] = list(found.values.shape), str(found.values.dtype)
        more["range"] = [None, None]
        if cells := matrix_cells(found):
            ends = min(part.min() for part in cells), max(part.max() for part in cells)
            more["range"] = [finite_or_none(float(end)) for end in ends]
    return {
        "understood": found.understood,
        "notes": list(map(str, found.notes)),
        "items": len(found),
        "ids": found.has_ids,
        **more,
        "odd": list(map(str, odd)),
    }


def matrix_cells(matrix: Matrix) -> list[Any]:
    """Return the numbers of a matrix, block by block; of a sparse one those that are stored."""
    blocks = (part for _, part in row_blocks(matrix.values))
    cells = (part if isinstance(part, np.ndarray) else part.data for part in blocks)
    return [part for part in cells if part.size]


def describe_sizes(indptr: Ints) -> dict[str, Any]:
    """Describe how many entries items have.

    Parameters
    ----------
    indptr : int array, shape (items + 1,)

    Returns
    -------
    dict
        "mean", "std" (None for one item), "min", "max" and "histogram": items by size, from 0.

    Examples
    --------
    >>> describe_sizes(np.array([0, 2, 2]))["histogram"]
    [1, 0, 1]
    """
    from semmetrics.metrics.label_statistics import cardinality

    sizes = cardinality(indptr)
    return {
        "mean": finite_or_none(sizes.mean),
        "std": finite_or_none(sizes.std),
        "min": int(np.flatnonzero(sizes.histogram)[0]),
        "max": len(sizes.histogram) - 1,
        "histogram": sizes.histogram.tolist(),
    }


def finite_or_none(value: float) -> float | None:
    """Return a number as JSON has it: None where there is none."""
    return value if math.isfinite(value) else None


def format_known(record: Mapping[str, Any]) -> str:
    """Write how many items there are, and what they are known by."""
    return f"{record['items']:,}, known by {'id' if record['ids'] else 'position'}"


def format_spread(sizes: Mapping[str, Any] | None) -> str:
    """Write mean, standard deviation and range."""
    if sizes is None:
        return ""
    std = "" if sizes["std"] is None else f" ({sizes['std']:.2f})"
    return f"{sizes['mean']:.2f}{std} mean (std), from {sizes['min']:,} to {sizes['max']:,}"


def format_counts(counts: Sequence[tuple[str, int]]) -> str:
    """Write the first names with their counts, and how many more there are."""
    shown = ", ".join(f"{name} {times:,}" for name, times in counts[:_TOP])
    return shown + (f" and {len(counts) - _TOP:,} more" if len(counts) > _TOP else "")


def format_matrix(record: Mapping[str, Any], items: str, values: str) -> dict[str, str]:
    """Write what `describe_input` found of a matrix, by name."""
    (rows, columns), (low, high) = record["shape"], record["range"]
    return {
        items: format_known(record),
        "shape": f"{rows:,} x {columns:,}, {record['dtype']}",
        values: "" if low is None else f"from {low:g} to {high:g}",
    }


def on_one_line(text: str) -> str:
    r"""Return the text on one line; what would command a terminal is written out.

    Examples
    --------
    >>> on_one_line("a\nb\x1b[2J")
    'a b\\x1b[2J'
    """
    return visible(" ".join(text.splitlines()).replace("\t", " "))
