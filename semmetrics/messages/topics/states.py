"""Scorers and their batches, states, shards and signatures."""

from semmetrics.messages.message import Message

MESSAGES = {
    "rows-not-kept": Message(
        "the per-item values were not stored",
        "Score all items in one call (in Python, without keep_rows=False).",
    ),
    "needs-no-rows": Message("{what} requires {opt:keep_rows=False}", "Set it."),
    "different-embeddings": Message(
        "the embeddings differ: {why}",
        "Score both with the same one.",
    ),
    "static-and-other-embedding": Message(
        "the embeddings differ: {why}",
        "Score both with the same one, such as {opt:embedding=static}.",
    ),
    "different-statistics": Message(
        "the parts cannot be added: {why}",
        "Use the same options and the same version.",
    ),
    "classes-of-references": Message(
        "each part collected its classes from its own references",
        "Set {opt:classes} to all classes.",
    ),
    "items-in-both": Message(
        "some items are in both parts: {names:list}",
        "Give parts without common items. If items have no ids, add ids.",
    ),
    "ids-in-two-batches": Message(
        "an earlier batch already has these ids: {ids:list}",
        "Give each id once, or call reset().",
    ),
    "other-batch": Message(
        "from here on there are {has}, but before there were {had}",
        "Give the same in all batches: ids or none, the same columns, and scores, "
        "lists or 0/1.",
    ),
    "other-scores": Message(
        "from here on there are {has}, but before there were {had}",
        "Set {opt:scores=members} or {opt:scores=values} to define scores of 0 and 1.",
    ),
    "batch-differs": Message(
        "{role} differs from earlier batches",
        "Give the same with every batch.",
    ),
    "matrix-batch": Message(
        "a batch cannot be a matrix",
        "Give {{id: {{name: score}}}}, or use score().",
    ),
    "needs-all-items": Message(
        "{what} {reason}, but items are not stored",
        "Score all of them in one call (without --stream, or in Python without "
        "keep_rows=False){instead}.",
    ),
    "unnumbered": Message(
        "items without ids were not stored, so data: differs in the signatures",
        "Give ids.",
    ),
    "missing-shards": Message("missing parts: {names:list}", "Merge all of them."),
    "merged-twice": Message(
        "some parts were already merged: {names:list}",
        "Merge each part once.",
    ),
    "ids-not-compared": Message(
        "the ids of states are not compared, so an item in two states counts twice",
    ),
    "different-scorers": Message(
        "some options differ from before: {names:option names}",
        "Score all parts with the same options.",
    ),
    "merged-kinds": Message(
        "the parts have different kinds of data: {names:list}",
        "Merge parts of one kind.",
    ),
    "given-by-batch": Message(
        "{name:options} has a value per item",
        "Pass it to update(preds, gts, {name}=...).",
    ),
    "no-state": Message(
        "this is not a state",
        "Give a file written by `semmetrics score` or Scorer.save.",
    ),
    "other-version": Message(
        "the state was written by {by}, but this is {now}",
        "Score those items again.",
    ),
    "not-in-a-state": Message(
        "a state cannot store {value!r}",
        "Give it as a path, a name or plain values.",
    ),
    "other-measure": Message(
        "the source code of {measure} has changed since the state was computed",
        "Score those items again.",
    ),
    "ambiguous-score": Message("the table has {n:score} for {key!r}", "{remedy}"),
    "in-signature": Message(
        "{name:options} is part of the signature",
        "Remove it, or score without a signature.",
    ),
    "signed-input": Message(
        "the signature was computed with {name} {was}",
        "Set {name:options} to the same.",
    ),
    "bad-signature": Message(
        "this is not a valid signature: {why}",
        "Copy the whole signature.",
    ),
    "signature-of-study": Message(
        "a signature of {what} cannot be rescored",
        "Run {what} with its options.",
    ),
}
