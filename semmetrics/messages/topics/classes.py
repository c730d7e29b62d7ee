"""Classification: class lists, seen and unseen classes, and ranked classes."""

from semmetrics.messages.message import Message

MESSAGES = {
    "no-class-score": Message(
        "no {group} class has a score",
        "Give scores of all classes, which AUSUC and BestH need.",
    ),
    "truth-of-class-scores": Message(
        "the ground truth has scores of several classes for an image",
        "Give one class. If the order of the sides is wrong, swap them: predictions "
        "come first.",
    ),
    "number-outside-classes": Message(
        "{role} is {value}, but the class list has {size:class}, numbered from 0 to "
        "{last}",
        "If the file counts from 1, subtract 1. Otherwise correct {opt:classes}.",
    ),
    "outside-classes": Message(
        "{role} {value!r} is {problem:else not in the class list}",
        "{action:else Correct it or} {opt:classes}.",
    ),
    "similar-class": Message(
        "{role} {value!r} is not in the class list, which has {similar!r}",
        "Use the same spelling in the data and in {opt:classes}.",
    ),
    "seen-and-unseen": Message(
        "{n:class} in both {opt:seen} and {opt:unseen}: {names:list}",
        "Keep each in only one list.",
    ),
    "reserved-list": Message(
        "a list cannot be named {name!r}",
        "Rename it, or use {opt:seen} or {opt:unseen}.",
    ),
    "empty-list": Message(
        "the list {name} contains no class (nearest: {nearest})",
        "Name a list with more classes.",
    ),
    "unknown-side": Message(
        "the {side} classes are missing",
        "Set {side:options} or {other:options}, and {opt:classes}.",
    ),
    "empty-side": Message(
        "no class is {side}, because all are {other}",
        "Correct {other:options}, or set {side:options}.",
    ),
    "measure-needs-scores": Message(
        "{measure} needs scores of the predictions",
        "Add scores, or leave the measure out.",
    ),
    "differing-classes": Message(
        "{n:class} only in the columns or only in the class list: {names:list}",
        "Set {opt:classes}.",
    ),
    "without-class": Message("{n:image} without a class left out"),
    "unused-list": Message("no measure uses the class list {name}"),
    "run-of-classes": Message("{n:image}, {how}"),
    "tied-classes": Message("{n:image} with a tie at the first {k}{among}"),
    "few-classes": Message(
        "there are {n_classes:class}{among}, fewer than {k}, so all count at @{k}",
    ),
    "fewer-classes": Message(
        "{n:image} with fewer than {k:ranked class}{among}, counted at @{k}",
    ),
    "no-prediction": Message("{n:image} without a prediction{among}"),
    "numbers-as-places": Message(
        "class numbers are read as indices into the class list, from 0",
    ),
    "classes-without-images": Message(
        "{n} of {total:class} without an image, left out of means over classes: "
        "{examples:list}",
    ),
    "predicted-outside": Message(
        "{n:prediction} outside the class list: {examples:list}",
    ),
    "neither-side": Message("{n:image} of classes that are neither seen nor unseen"),
    "rest-of-classes": Message(
        "the {side} classes default to the remaining {n:class} of the class list",
    ),
    "pretraining-overlap": Message(
        "{n} of {total:unseen class} among the {known:,} of pretraining{which}",
    ),
    "unnumbered-classes": Message(
        "{n:class} without a number, so in no list such as {example}: {examples:list}",
    ),
    "numbers-of-no-class": Message(
        "{n:number} for names that are not classes: {examples:list}",
    ),
}
