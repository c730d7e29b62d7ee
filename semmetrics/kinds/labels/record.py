"""The record of label sets: how they are read, joined, prepared and scored.

Conventions
-----------
`semmetrics.kinds.labels.coding` finds the class of each label.

A class is ignored if one of its terms, or its name, is a label to ignore.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Bools, Codes, Floats, cell_keys, is_member, offsets
from semmetrics.data.categories import mark_verified
from semmetrics.data.form import DEFAULTS, ReadOptions, is_truth
from semmetrics.data.join import Joined, aligned_rows, join, weigh
from semmetrics.data.lists import Lists, Side, Terms
from semmetrics.data.matrix import PRESENT, UNVERIFIED, is_signed
from semmetrics.data.swapped import check_labels
from semmetrics.data.tasks import IgnoredLabels, LabelTask, Unverified, occurring
from semmetrics.errors import InputError
from semmetrics.kinds import Defaults, Kind, Measures, Options, Tasks, common, each_task
from semmetrics.kinds.labels import oddities, read_labels
from semmetrics.kinds.labels.coding import (
    LabelCoding,
    clean_class_list,
    code_labels,
    code_plain_labels,
    identify_classes,
)
from semmetrics.kinds.labels.facts import check_shared, label_facts
from semmetrics.kinds.labels.normalization import (
    REPEATING,
    Ignored,
    class_name,
    normalization,
)
from semmetrics.kinds.labels.oddities import Odd
from semmetrics.metrics.definition import DEFAULT_EMBEDDING, Measure, model_key
from semmetrics.metrics.registry import parse
from semmetrics.options import OPTIONS, join_names, resolve_options

VERIFIED = "verified"
"""The setting of signatures if only cells that a federated ground truth lists were verified."""


class _LabelSides(NamedTuple):
    """Both sides of a task, before their labels are coded.

    Attributes
    ----------
    pred, ref : Lists
        Normalised.
    joined : Joined
        The labels that are predicted and true.
    difficult, unverified : Side or None
        The labels that the ground truth marks as difficult, and those that nobody verified. Of a
        federated dataset, the verified labels in place of those.
    weights : float array, shape (items,), or None
    odd : mapping
        What was odd in the scores (`oddities.find_probabilities`).
    """

    pred: Lists
    ref: Lists
    joined: Joined
    difficult: Side | None
    unverified: Side | None
    weights: Floats | None
    odd: Odd


def label_task(
    pred: Lists, ref: Lists, options: Options | None = None, heads: Floats | None = None
) -> LabelTask:
    """Make the task of comparing predicted with reference label lists.

    Parameters
    ----------
    pred, ref : Lists
    options : Options, optional
        The options of a score, with the files that they name already read. Default: the default of
        every option.
    heads : float array, shape (items of the predictions, cardinalities), optional
        The probability of each set size.

    Returns
    -------
    LabelTask

    Raises
    ------
    InputError
        If ids do not match, a reference label is outside the class list, or a weight is bad.
    """
    options = options or resolve_options({}, "labels")
    clean = normalization(options["normalize"])
    if ref.ranked and not (ref.has_marks or _has_signs(ref)):
        raise InputError("truth-of-scores", ref.source)
    ignored = Ignored.of(options["ignore"], clean)
    repeats = options["normalize"] == REPEATING
    pred = pred.normalized(clean, ignored.written, repeats=repeats)
    ref = ref.normalized(clean, ignored.written, repeats=repeats)
    sides = _join_sides(pred, ref, options)
    _check_columns(pred, ref)
    class_list = None
    if options["classes"] is not None:
        class_list = clean_class_list(options["classes"], clean)
    coding = _code_sides(sides, class_list, ignored, options)
    task = _build_task(sides, coding, class_list, options, heads)

    odd = dict(sides.odd)
    if coding.shared_terms:
        odd[oddities.SHARED] = coding.shared_terms
    task, n_left_out = _without_unverified(task)
    if ignored.written:
        task, odd[oddities.IGNORED] = _without(task, coding.classes, ignored)
    odd |= _count_unverified(task, n_left_out)
    if options["empty_predictions"] == "skip":
        task = _skip_empty_predictions(task)
    odd |= oddities.find_oddities(task, pred, sides.ref)
    if task.difficult:
        odd[oddities.DIFFICULT] = len(task.difficult.codes)
    task = copy(task)  # with how often classes occur, which replace() would count again
    vars(task)["odd"] = odd
    return task


def _has_signs(truth: Lists) -> bool:
    """Return whether all labels of all items are marked: 1 present, 0 difficult, -1 absent."""
    return is_signed(truth.side.scores) and truth.contents[0] == len(truth) * len(
        truth.vocabulary
    )


def _join_sides(pred: Lists, ref: Lists, options: Options) -> _LabelSides:
    """Join normalised sides, and separate difficult and unverified labels from true ones."""
    joined, weights = weigh(
        join(pred, ref, missing=options["missing"]), options["weights"], ref
    )
    odd: Odd = {}
    if options["activation"] is not None:
        odd = oddities.find_probabilities(joined.pred, options["activation"])
        joined = joined._replace(pred=_activate(joined.pred, options["activation"]))
    present, difficult, unverified = _split_marks(joined.ref, ref)
    if ref.ranked or ref.has_marks:
        ref = replace(ref, side=replace(ref.side, scores=None))
        joined = joined._replace(ref=present)
    return _LabelSides(pred, ref, joined, difficult, unverified, weights, odd)


def _code_sides(
    sides: _LabelSides,
    class_list: list[Terms] | None,
    ignored: Ignored,
    options: Options,
) -> LabelCoding:
    """Find the class of each label."""
    pred, ref, truth = sides.pred, sides.ref, sides.joined.ref
    if class_list is None and not pred.synonyms and not ref.synonyms:
        return code_plain_labels(pred, ref)
    if options["empty_predictions"] == "skip":
        truth = truth.take(np.flatnonzero(np.diff(sides.joined.pred.indptr)))
    return code_labels(
        pred, ref, occurring(truth.codes, len(ref.terms)), class_list, ignored
    )


def _build_task(
    sides: _LabelSides,
    coding: LabelCoding,
    class_list: list[Terms] | None,
    options: Options,
    heads: Floats | None,
) -> LabelTask:
    """Make the task of joined sides whose labels are coded."""
    pred, joined = sides.pred, sides.joined
    pred_written = ref_written = None
    if coding.synonyms is not None:
        pred_written = joined.pred.codes
        ref_written = (joined.ref.codes + len(pred.terms)).astype(np.int32)
    have_one_term = all(len(terms) == 1 for terms in coding.classes)
    return LabelTask(
        ids=joined.ids,
        classes=tuple(map(class_name, coding.classes)),
        pred=_with_classes(joined.pred, coding.pred_codes, pred_written),
        ref=_with_classes(joined.ref, coding.ref_codes, ref_written),
        difficult=sides.difficult and _with_classes(sides.difficult, coding.ref_codes),
        unverified=_unverified(sides, coding),
        ranked=pred.ranked,
        binary=pred.order in ("columns", "keys"),
        given=None if class_list is None else len(class_list),
        settings=_settings(options, sides, class_list, heads),
        counts=joined.counts,
        in_columns=_in_columns(sides, coding),
        precision="float64" if options["activation"] else pred.precision,
        synonyms=coding.synonyms,
        terms=None if have_one_term else coding.classes,
        heads=None if heads is None else aligned_rows(heads, pred, joined.ids),
        first_set_size=options["first_set_size"],
        weights=sides.weights,
    )


def _with_classes(
    side: Side, class_of_label: Codes, written: Codes | None = None
) -> Side:
    """Replace the code of each label by the code of its class."""
    return replace(side, codes=class_of_label.take(side.codes), written=written)


def _skip_empty_predictions(task: LabelTask) -> LabelTask:
    """Leave out the items without predicted labels, and count them."""
    rows = np.flatnonzero(np.diff(task.pred.indptr))
    n_skipped = len(task) - len(rows)
    if not n_skipped:
        return task
    counts = {**task.counts, "empty_prediction_skipped": n_skipped}
    return replace(task.take(rows), counts=counts)


def _settings(
    options: Options,
    sides: _LabelSides,
    listed: list[Terms] | None,
    heads: Floats | None,
) -> dict[str, str]:
    """Return the conventions that a signature names; only those that change a number."""
    settings = options.settings("labels")
    first_size, activation = OPTIONS["first_set_size"].key, OPTIONS["activation"].key
    if sides.pred.side.scores is None:
        settings.pop(activation, None)
    if options["unknown_value"] is not None:
        settings[OPTIONS["unknown_value"].key] = str(options["unknown_value"])
    if sides.ref.is_federated:
        settings[VERIFIED] = "listed"
    size = settings.pop(first_size, "")
    if listed is not None:
        settings["classes"] = identify_classes(listed)
    if options["weights"] is not None:
        settings["weights"] = "given"
    if heads is not None and size:
        settings[first_size] = size
    return settings


def _activate(pred: Side, activation: str) -> Side:
    """Turn the scores of predictions into probabilities; without scores nothing changes."""
    from semmetrics.metrics import decoding  # a measure of lists does without it

    if pred.scores is None:
        return pred
    if activation == "sigmoid":
        return replace(pred, scores=decoding.sigmoid(pred.scores))
    return replace(pred, scores=decoding.softmax(pred.indptr, pred.scores))


def _in_columns(sides: _LabelSides, coding: LabelCoding) -> Bools | None:
    """Return which classes are columns of a matrix, or keys of 0/1 mappings; None without any."""
    if not sides.pred.names_all and not sides.ref.names_all:
        return None
    in_columns = np.zeros(len(coding.classes), np.bool_)
    if sides.pred.names_all:
        in_columns[coding.pred_codes] = True
    if sides.ref.names_all:
        in_columns[coding.ref_codes] = True
    return in_columns


def _split_marks(truth: Side, ref: Lists) -> tuple[Side, Side | None, Side | None]:
    """Return the labels that are present, difficult (None without marks) and unverified.

    A matrix of -1, 0 and 1 has difficult labels, marked 0. If the user names an unknown value, the
    truth has the marks of `Lists.has_marks` instead, and no difficult labels. Of a federated
    dataset, the cells that are verified are returned in place of those that are not.
    """
    if not ref.ranked and not ref.has_marks:
        return truth, None, None

    def marked(mark: float) -> Side:
        scores: Any = truth.scores
        return replace(truth.keep(scores == mark), scores=None)

    if ref.is_federated:
        return marked(PRESENT), None, replace(truth, scores=None)
    if ref.has_marks:
        return marked(PRESENT), None, marked(UNVERIFIED)
    return marked(1), marked(0), None


def _unverified(sides: _LabelSides, coding: LabelCoding) -> Unverified | None:
    """Return the cells that nobody verified, or their complement; None if there are none."""
    if sides.unverified is None:
        return None
    cells = _with_classes(sides.unverified, coding.ref_codes)
    if not sides.ref.is_federated:
        return Unverified(cells)
    categories = np.zeros(len(coding.classes), np.bool_)
    categories[coding.ref_codes] = True
    return Unverified(cells, categories)


def _without_unverified(task: LabelTask) -> tuple[LabelTask, int]:
    """Take predictions of unverified cells out of a task; return also how many there were."""
    if task.unverified is None:
        return task, 0
    width = max(1, len(task.classes))
    side, categories = task.unverified.cells, task.unverified.categories
    cells = cell_keys(side.indptr, side.codes, width)
    predicted = cell_keys(task.pred.indptr, task.pred.codes, width)
    is_known = is_member(predicted, cells, width * len(task))
    unverified = task.unverified
    if categories is None:
        is_known = ~is_known
    else:
        is_other = ~categories[task.pred.codes]
        is_known |= is_other
        cells = np.union1d(cells, predicted[is_other])
        indptr = offsets(np.bincount(cells // width, minlength=len(task)))
        listed = Side(indptr, (cells % width).astype(np.int32))
        unverified = replace(unverified, cells=listed)
    pred = task.pred.keep(is_known)
    return replace(task, pred=pred, unverified=unverified), int((~is_known).sum())


def _count_unverified(task: LabelTask, n_left_out: int) -> Odd:
    """Return what a note says of unverified cells: the predictions left out, or all cells."""
    if task.unverified is None:
        return {}
    if task.unverified.categories is None:
        return {oddities.UNVERIFIED: len(task.unverified.cells.codes)}
    return {oddities.LEFT_OUT: n_left_out}


def _check_columns(pred: Lists, ref: Lists) -> None:
    """Refuse columns without names beside a matrix of another width, or beside other names."""
    if (
        pred.columns is not None
        and ref.columns is not None
        and pred.columns != ref.columns
    ):
        where = f"{pred.source} and {ref.source}"
        raise InputError("unnamed-widths", where, mine=pred.columns, theirs=ref.columns)
    for one, other in ((pred, ref), (ref, pred)):
        names = [terms[0] for terms in other.terms] if one.columns is not None else []
        if names and set(map(str, range(one.columns or 0))).isdisjoint(names):
            raise InputError(
                "unnamed-columns", one.source, other=other.source, names=names
            )


def _without(
    task: LabelTask, classes: Sequence[Terms], ignored: Ignored
) -> tuple[LabelTask, frozenset[str]]:
    """Take the labels to ignore out of both sides; return also which of them there are."""
    left_out, among = ignored.chosen(classes)

    def only(side: Side, some: Bools) -> Side:
        """Return the occurrences of some classes, which are numbered anew."""
        kept = side.keep(some[side.codes])
        return replace(kept, codes=(np.cumsum(some) - 1).astype(np.int32)[kept.codes])

    names = tuple(compress(task.classes, left_out))
    unverified = task.unverified
    if unverified is not None:
        categories = unverified.categories
        if categories is not None:
            categories = categories[~left_out]
        unverified = Unverified(only(unverified.cells, ~left_out), categories)
    rest = replace(
        task,
        pred=only(task.pred, ~left_out),
        ref=only(task.ref, ~left_out),
        difficult=task.difficult and only(task.difficult, ~left_out),
        unverified=unverified,
        classes=tuple(compress(task.classes, ~left_out)),
        terms=None if task.terms is None else list(compress(task.terms, ~left_out)),
        given=None if task.given is None else int((~left_out[: task.given]).sum()),
        in_columns=None if task.in_columns is None else task.in_columns[~left_out],
        ignored=IgnoredLabels(
            names, only(task.pred, left_out), only(task.ref, left_out)
        ),
        settings={
            **task.settings,
            "ignore": join_names(sorted({one[0] for one in ignored.names})),
        },
    )
    return rest, among


_EXACT = (
    "F1",
    "Precision",
    "Recall",
    "Jaccard",
    "SubsetAccuracy",
    "MicroF1",
    "MacroF1",
)
_SEMANTIC = ("SemF1", "SemPrecision", "SemRecall")
# what measures need: vectors of terms, of lists
_WORDS, _TEXTS = (
    "embedding",
    "text_embedding",
)
_GIVE_CLASSES = f"give the class list, {OPTIONS['classes'].both}"
_NUMBERS = (
    f"the labels are numbers; give names, or the class list, {OPTIONS['classes'].both}"
)
_RANKING = ("mAP", "LRAP", "RankingLoss", "CoverageError")


def read_beside(options: Options) -> Options:
    """Read the class list, the labels to ignore, the weights, the taxonomy and vectors of words."""
    files = (options["read"] or ReadOptions()).beside()
    taxonomy = options["taxonomy"]
    if taxonomy is not None:
        from semmetrics.data.taxonomy import as_taxonomy

        taxonomy = as_taxonomy(taxonomy, options=files)
        taxonomy = taxonomy.normalized(normalization(options["normalize"]))
    classes, ignore = options["classes"], options["ignore"]
    return options.replace(
        embedding=common.read_embedding(options["embedding"]),
        classes=None if classes is None else _read_names(classes, files),
        ignore=_read_names(ignore, files),
        weights=common.read_weights(options["weights"], files),
        taxonomy=taxonomy,
    )


def _read_names(names: Any, files: ReadOptions) -> list[Any]:
    """Return a list of names, read if it is a path."""
    if isinstance(names, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_class_list

        return list(read_class_list(names, files))
    return list(names)


def read(data: Any, source: str, options: Options) -> Lists:
    """Read one side; the class list names the columns of a matrix."""
    unknown = unknown_values(options["unknown_value"])
    found = read_labels(data, source, options["classes"], options["read"], unknown)
    return mark_verified(found) if is_truth(options["read"] or DEFAULTS) else found


def unknown_values(given: str | float | None) -> tuple[float, ...]:
    """Return the values of cells that nobody verified.

    Raises
    ------
    InputError
        If one is not a number, or is 0 or 1.

    Examples
    --------
    >>> unknown_values("-1,nan"), unknown_values(-1), unknown_values(None)
    ((-1.0, nan), (-1.0,), ())
    """
    if given is None:
        return ()
    values = []
    for text in str(given).split(","):
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if value in (0.0, 1.0):
            wanted = "a number other than 0 and 1, nan, or several as -1,nan"
            raise InputError(
                "bad-option", name="unknown_value", value=given, wanted=wanted
            )
        values.append(value)
    return tuple(values)


def make_tasks(preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
    """Make the task of each system."""
    given, tasks = options["set_size_probs"], {}
    for name, pred in preds.items():
        check_labels(pred, ref)
        probs = given.get(name) if isinstance(given, Mapping) else given
        heads = common.read_set_size_probs(probs, options["read"])
        tasks[name] = {"": label_task(pred, ref, options, heads)}
    return tasks


def defaults(tasks: Tasks, options: Options) -> Defaults:
    """Return ranking measures for scores without a rule, otherwise set measures.

    Lists that are all numbers have no meaning to compare.
    """
    every = [task for _, task in each_task(tasks)]
    decided = options["top_k"] is not None or options["decode"] is not None
    if any(task.ranked for task in every) and not decided:
        return Defaults(_RANKING)
    if all(task.numbered for task in every):
        return Defaults(_EXACT, dict.fromkeys(_SEMANTIC, _NUMBERS))
    return Defaults((*_EXACT, *_SEMANTIC))


def prepare(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Add the label vectors that measures need, and the taxonomy.

    A measure names its embedding, "default" unless another is named. Without such an embedding the
    measure uses the model of its definition. Only embeddings that some measure uses are opened, and
    every distinct term of a task is looked up once in each.

    Raises
    ------
    InputError
        If a measure names an embedding that is not given, or one cannot be opened; if there is no
        such device, or it has no double precision; or if ``max_words`` applies to none of them.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    _check_unverified(tasks, measures)
    needs: dict[str, set[str]] = {}
    by_key: dict[str, Measure] = {}
    for measure in measures:
        if kinds := measure.definition.needs & {_WORDS, _TEXTS}:
            name = common.embedding_name(measure, options["embedding"])
            needs.setdefault(name, set()).update(kinds)
            by_key.setdefault(model_key(measure), measure)
    taxonomy = options["taxonomy"]
    if not needs and taxonomy is None:
        return tasks
    is_placed = any("taxonomy" in measure.definition.needs for measure in measures)
    models, device = {}, None
    if needs:
        from semmetrics.core.backend import find_device
        from semmetrics.embed.label_vectors import label_vectors
        from semmetrics.embed.lookup import rules_for

        device = find_device(options["device"])
        models = common.open_models(list(by_key.values()), options)

    def prepared(task: Any) -> Any:
        plain = task.synonyms is None
        terms = [(name,) for name in task.classes] if plain else task.synonyms.terms
        looked_up = {}
        for name, model in models.items():
            rules = rules_for(model, options["lookup"], options["oov"])
            whole = needs[name] == {_TEXTS}
            looked_up[name] = label_vectors(
                terms, model, whole=whole, device=device, **rules
            )
        found = {key: _with_policy(looked_up, m, options) for key, m in by_key.items()}
        by_word = {
            name: one for name, one in looked_up.items() if _WORDS in needs[name]
        }
        odd = {
            **task.odd,
            **oddities.find_odd_terms(found),
            **oddities.count_known_terms(by_word),
        }
        if taxonomy is not None and is_placed:
            placed = [_place_in(taxonomy, some) for some in task.terms or terms]
            codes = [code for code in placed if code is not None]
            odd[oddities.PLACED] = len(codes)
            odd[oddities.WITH_PARENTS] = int((taxonomy.depth[codes] > 0).sum())
        return replace(task, models=found, taxonomy=taxonomy, odd=odd)

    return {
        name: {part: prepared(t) for part, t in parts.items()}
        for name, parts in tasks.items()
    }


def _with_policy(
    looked_up: Mapping[str, Any], measure: Measure, options: Options
) -> Any:
    """Return the label vectors of a measure's embedding, with its policy for unknown labels."""
    from semmetrics.embed.lookup import rules_for

    vectors = looked_up[common.embedding_name(measure, options["embedding"])]
    default = measure.definition.oov
    rules = rules_for(vectors.embedder, options["lookup"], options["oov"], default)
    if rules["oov"] == "skip" and vectors.oov != "skip":
        return vectors.skip_unknown()
    return vectors


def _place_in(taxonomy: Any, terms: Terms) -> int | None:
    """Return the place of a label in a taxonomy; None if it has none of its terms."""
    places = (taxonomy.find(term) for term in terms)
    return next((place for place in places if place is not None), None)


def _check_unverified(tasks: Tasks, measures: Measures) -> None:
    """Raise an error for a measure that cannot leave unverified cells out."""
    every = [
        task.unverified for _, task in each_task(tasks) if task.unverified is not None
    ]
    names = [str(measure) for measure in measures if measure["q"] is not None]
    if not every or not names:
        return
    if every[0].categories is not None:
        raise InputError("counts-unverified", measure=names[0])
    raise InputError("not-applicable", name="unknown_value", what=names[0])


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Fill the size of the class list into a protocol's measure, or name what is lacking."""
    n_classes = max(
        (task.n_known for _, task in each_task(tasks)), key=lambda n: n or 0
    )
    if "{q}" in text and n_classes is None:
        return text, f"needs the number of labels of the data set: {_GIVE_CLASSES}"
    if "labels=given" in text and n_classes is None:
        return text, f"is a mean over the whole dictionary: {_GIVE_CLASSES}"
    scores = [task.pred.scores for _, task in each_task(tasks)]
    if "{logits}" in text and any(
        one is not None and not (one < 0).any() for one in scores
    ):
        return (
            text,
            "needs logits, or threshold=0.5 (--threshold 0.5): no score is below 0",
        )
    text = text.replace("{logits}", "at-least:0")
    given = common.by_name(options["embedding"])
    text = text.replace("{q}", str(n_classes))
    (measure,) = parse(text)
    name = measure["embedding"]
    if name not in (None, DEFAULT_EMBEDDING, *given):
        give = (
            f"embedding={{{name!r}: 'sbert:{name}'}} (--embedding {name}=sbert:{name})"
        )
        return text, f"needs the sentence model {name}: {give}"
    if name == DEFAULT_EMBEDDING and (name not in given or _ships(given[name])):
        needs = "needs word vectors (the paper's are GoogleNews word2vec)"
        return text, f"{needs}: embedding= (--embedding FILE)"
    return text, ""


def _ships(spec: Any) -> bool:
    """Return whether an embedding is named as a model of the package."""
    from semmetrics.embed.open import SHIPPED

    return isinstance(spec, str) and spec in SHIPPED


KIND = Kind(
    "labels",
    read_beside,
    read,
    make_tasks,
    defaults,
    fill_entry,
    prepare,
    label_facts,
    check_shared,
)
