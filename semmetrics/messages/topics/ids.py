"""Ids, and matching predictions with the ground truth."""

from semmetrics.messages.message import Message

MESSAGES = {
    "one-side-has-ids": Message(
        "there are no ids here, but {other} has ids",
        "Give ids on both sides or on neither.{more:else }",
    ),
    "similarities-without-ids": Message(
        "the rows of the matrix have no ids, but {other} has ids",
        "If the rows are items and the columns classes, give ids on both sides or on "
        "neither. An .npz file can store ids with its matrix. For retrieval, set "
        "{opt:task=retrieval}, and {opt:queries} and {opt:gallery} to the ids of the "
        "rows and columns.",
    ),
    "other-length": Message(
        "{one} has {n:item}, but {other} has {m} (this is the last item of the "
        "shorter side)",
        "{fix:else Items without ids are matched by position. Give the same number of "
        "items on both sides, or give ids.}",
    ),
    "missing-ids": Message(
        "{lost}",
        "Add them, or set {opt:missing=empty} to score them as empty or "
        "{opt:missing={policy:else skip}}{how:else } to leave them out.",
    ),
    "other-ids": Message("{lost}", "Check that both sides use the same ids."),
    "unlike-ids": Message(
        "{lost}",
        "Write ids the same way on both sides. {names:list} differ by {how}.",
    ),
    "joinable-ids": Message(
        "{lost}",
        "If they differ only by folder or extension, set {opt:ids={expression}}.",
    ),
    "ambiguous-cocoid": Message(
        "{n:id} could be the imgid of one image or the cocoid of another ({m} of them)",
        "Choose one: {opt:gt_id_column=imgid} or {opt:gt_id_column=cocoid}.",
    ),
    "equal-parts": Message(
        "{names:list} have the same part {value!r}",
        "Change {opt:ids}.",
    ),
    "id-mismatch": Message(
        "the id {value!r} does not match {pattern!r}",
        "Change {opt:ids}.",
    ),
    "missing-entries": Message(
        "{lost}",
        "Add {noun}s, or set {opt:missing={policy:else skip}}{how:else } to leave these "
        "items out or {opt:missing=empty} to treat them as an empty candidate or no reference.",
    ),
    "no-rows": Message(
        "{n:item} without a row in the {what} matrix: {ids:list}",
        "Set {opt:missing=skip}.",
    ),
    "ambiguous-sides": Message(
        "the same ids occur as rows and as columns, so pairs can be read in either "
        "direction",
        "Give each side its own ids, such as image-1 and caption-1, or use the same "
        "column names.",
    ),
    "two-scores": Message(
        "the pair {pair:list} has the scores {one} and {other}",
        "Keep one.",
    ),
    "wrong-ids": Message(
        "got {n:id} ({distinct} distinct) for {size} {what}s",
        "Give each its own id.",
    ),
    "without-value": Message(
        "{n:{noun}} without a {what}: {names:list}",
        "Give one to each.",
    ),
    "swapped-order": Message(
        "the predictions ({pred}) {of_pred} and the ground truth ({ref}) {of_ref}, so "
        "the order is wrong",
        "Swap them: predictions come first.",
    ),
    "joined-names": Message("{n:item} of the predictions matched by file name"),
    "joined-cocoid": Message(
        "{n:item} of the predictions matched by cocoid instead of imgid",
    ),
    "missing-prediction": Message("{n:item} without a prediction, {became}"),
    "missing-reference": Message("{n:item} without ground truth, {became}"),
    "swapped-sides": Message(
        "{sign}",
        "Check the order of the sides: predictions come first.",
    ),
}
