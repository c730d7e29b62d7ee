"""Formats of data: text lines, JSON, arrays, and the formats of other tools."""

from semmetrics.messages.message import Message

MESSAGES = {
    "text-is-json": Message(
        "the line is JSON, {value}",
        "Set {opt:format} to json or jsonl.",
    ),
    "ids-in-text": Message(
        "lines of plain text start with item names, {value}",
        "Add a header such as image,caption and set {opt:format} to csv or tsv. If "
        "they are captions, set {opt:format=txt}.",
    ),
    "fairseq-lines": Message(
        "the lines are output of fairseq-generate, {value}",
        "Keep only the captions of the lines H-0, H-1, ... in this order. If the "
        "lines are captions, set {opt:format=txt}.",
    ),
    "numbers-in-text": Message(
        "lines of plain text contain only numbers or symbols, {value}",
        "Write labels as CSV with a header such as id,label, or numbers with "
        "numpy.save. If they are captions, set {opt:format=txt}.",
    ),
    "id-pairs": Message(
        "the items are pairs of an id and {noun}s",
        "Give a mapping, such as dict(pairs).",
    ),
    "needs-keys": Message(
        "the {noun} is a list, so it has no column {name!r}",
        "Write objects such as {example}.",
    ),
    "not-numpy": Message(
        "this is not a NumPy file: {why}",
        "Write it with numpy.save.",
    ),
    "stored-elsewhere": Message(
        "{names:list} are stored in other files",
        "Copy them into this one: file['values'] = values.",
    ),
    "several-arrays": Message(
        "there are other arrays besides {name!r}: {extra:list}",
        "Save it in a file of its own.",
    ),
    "no-main-array": Message(
        "any of {n:array} could be the values: {found:list}",
        "Save one of them as 'values'.",
    ),
    "other-classes": Message(
        "the classes differ from those in {opt:classes}",
        "Remove one of the two lists.",
    ),
    "not-sparse": Message(
        "the sparse format {kind!r} is not supported",
        "Save matrix.tocsr() with scipy.sparse.",
    ),
    "unused-arrays": Message("{n:array} not used: {examples:list}"),
    "unstored-cells": Message(
        "sparse matrix: {n:,} of {cells:cell} not stored, so they have no score "
        "(rather than 0) and are not ranked",
    ),
    "inexact": Message(
        "the score {value} is an integer of at least 2**53",
        "Scale the scores, or give floats.",
    ),
    "missing-key": Message(
        "the key {key!r} is missing",
        "See the description of the format.",
    ),
    "captions-file": Message(
        "the key {key!r} is missing",
        "Give the instances file, not the captions file, to read labels.",
    ),
    "instances-file": Message(
        "{value!r} is not a caption",
        "Give the captions file, not the instances file.",
    ),
    "unlisted-id": Message(
        "{key} {value} is not among the {what}",
        "Add it, or remove the annotation.",
    ),
    "id-of-candidate": Message(
        "{value!r} also names a caption of another id",
        "Do not end ids with #1.",
    ),
    "format-recipe": Message(
        "{title} files cannot be read, because {reason}",
        "Convert the file in Python:{script}",
    ),
    "without-annotations": Message("{n:image} without annotations{became}"),
    "unused-results": Message(
        "{n:result} of the annotation tool not used as labels: {examples:list}",
    ),
    "unannotated-items": Message(
        "{n:item} without annotations left out of the ground truth",
    ),
    "several-annotations": Message(
        "{n:item} with several annotations, whose labels are combined",
    ),
    "unnamed-categories": Message(
        "the labels are category ids, but {other} has no categories that name them",
        "Give COCO instances as the ground truth, or write the names of the "
        "categories.",
    ),
    "unknown-category": Message(
        "category_id {value!r} is not in the categories of {other}, whose ids are "
        "{example}",
        "Write the ids of those categories, not positions in a list.",
    ),
    "rejected-captions": Message(
        "{n:caption} with is_rejected or is_precanned left out, as in the evaluation "
        "code of VizWiz",
    ),
}
