"""Show single items of label sets: how labels are matched and confused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from semmetrics.data.tasks import LabelTask
from semmetrics.kinds import descriptions
from semmetrics.kinds.labels.normalization import (
    class_name,
)
from semmetrics.metrics.definition import (
    Measure,
)

_MOST = 20  # labels of a list that are shown
_MATCH = ("id", "rank", "prediction", "reference", "reason", "similarity", "nearest")


def show_item(task: LabelTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show one item as a measure sees it.

    Returns
    -------
    dict
        "predicted": the labels that the measure's cutoff or decoding rule keeps, in its order,
        "true", and by a measure that matches by meaning "matches": pairs with their similarity.
    """
    from semmetrics.metrics.matching import cut_of, sides_of

    (block,) = task.take(np.array([row])).blocks()
    pred, ref = sides_of(block)
    kept = (
        measure.k if measure["decode"] is None else int(block.get(cut_of(measure))[0])
    )
    sides = {"predicted": pred.codes[:kept], "true": ref.codes}
    names: dict[str, list[Any]] = {
        name: [task.classes[code] for code in codes.tolist()]
        for name, codes in sides.items()
    }
    if measure["match"] is not None and measure["threshold"] is not None:
        rows = match_rows(task.take(np.array([row])), measure)
        names["matches"] = [
            [one["prediction"], one["reference"], one["similarity"]]
            for one in rows
            if one["rank"] and one["reference"] is not None
        ]
    return names


def format_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the predicted labels, the true ones, and those of one side.

    By a measure that matches by meaning, labels without a match are missed or wrong. If the value
    is by names (``by_name``), labels of one side only are.
    """
    lines = []
    sides = {"predicted": record["predicted"], "true": record["true"]}
    hits = {"true": sides["predicted"], "predicted": sides["true"]}
    if "matches" in record:
        hits["predicted"] = [match[0] for match in record["matches"]]
        hits["true"] = [match[1] for match in record["matches"]]
    if "matches" in record or record.get("by_name"):
        sides["missed"] = [name for name in sides["true"] if name not in hits["true"]]
        sides["wrong"] = [
            name for name in sides["predicted"] if name not in hits["predicted"]
        ]
    for side, names in sides.items():
        if not names and side in ("missed", "wrong"):
            continue
        more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
        shown = ", ".join(map(descriptions.on_one_line, names[:_MOST])) or "nothing"
        lines.append(f"{side:<9}  {shown}{more}")
    return lines


def count_confused(
    task: LabelTask, measure: Measure
) -> Counter[tuple[str | None, str | None]]:
    """Count which predicted label stands for which true one.

    By a measure of meaning a prediction stands for the reference that it matches. By any other,
    each wrong prediction of an item may stand for each label that the item misses.

    Returns
    -------
    Counter of pairs of a true and a predicted label
        None for a label that nothing stands for, and for one that stands for nothing.
    """
    from semmetrics.metrics.matching import cut_of, sides_of

    if measure["match"] is not None:
        return Counter(
            (row["reference"], row["prediction"]) for row in match_rows(task, measure)
        )
    found: Counter[tuple[str | None, str | None]] = Counter()
    for block in task.blocks():
        ranked, ref = sides_of(block)
        kept = block.get(cut_of(measure))
        for item in range(len(block)):
            start = int(ranked.indptr[item])
            mine = dict.fromkeys(ranked.codes[start : start + int(kept[item])].tolist())
            own = dict.fromkeys(
                ref.codes[ref.indptr[item] : ref.indptr[item + 1]].tolist()
            )
            missed = [task.classes[code] for code in own if code not in mine]
            wrong = [task.classes[code] for code in mine if code not in own]
            found.update(
                (name, name) for name in (task.classes[c] for c in own if c in mine)
            )
            found.update(
                product(missed or [None], wrong or [None]) if missed or wrong else ()
            )
    return found


def match_rows(task: LabelTask, measure: Measure) -> Iterator[dict[str, Any]]:
    """Yield what each predicted label matched, and the references that nothing matched.

    Parameters
    ----------
    task : LabelTask
        With the label vectors of the measure's embedding.
    measure : Measure
        A semantic set measure, its threshold and rule fixed.

    Yields
    ------
    dict
        "id"; "rank" (from 1; None for a reference that nothing matched), "prediction",
        "reference" (None without a match), "reason" ("equal", "same name", "same
        synset" or "similar"; None without a match), "similarity" (of the pair, else of the
        prediction and its nearest reference; None where the item has no reference), "nearest" (the
        reference that the similarity is of).
    """
    from semmetrics.metrics.label_similarity import written_codes
    from semmetrics.metrics.matching import cut_of, sides_of
    from semmetrics.metrics.semantic import match_pairs, matches_of

    step = matches_of(measure, cut_of(measure))
    names = task.classes
    if task.synonyms is not None:
        names = tuple(map(class_name, task.synonyms.terms))
    for block in task.blocks():
        ranked, ref = sides_of(block)
        matched, kept = block.get(step), block.get(cut_of(measure))
        partner, similarity, served, nearest, reasons = match_pairs(block, step)
        predicted, true = written_codes(ranked), written_codes(ref)
        counted, once = (
            np.ones(len(side.codes), np.bool_) if flags is None else flags
            for side, flags in ((ranked, matched.counted), (ref, matched.once))
        )
        for item in range(len(block)):
            first, end = (
                int(ranked.indptr[item]),
                int(ranked.indptr[item]) + int(kept[item]),
            )
            rows: list[tuple[Any, ...]] = []
            for place in range(first, end):
                if counted[place]:
                    other, value = partner[place].item(), similarity[place].item()
                    reference = None if other < 0 else names[true[other]]
                    value = descriptions.finite_or_none(value)
                    near = None if value is None else names[true[nearest[place]]]
                    label, rank = names[predicted[place]], place - first + 1
                    rows.append((rank, label, reference, reasons[place], value, near))
            own = range(int(ref.indptr[item]), int(ref.indptr[item + 1]))
            left = [place for place in own if once[place] and not served[place]]
            rows += [
                (None, None, names[true[place]], None, None, None) for place in left
            ]
            for row in rows:
                yield dict(
                    zip(_MATCH, (str(task.ids[block.start + item]), *row), strict=True)
                )
