"""Tables: headers, columns, rows and cells."""

from semmetrics.messages.message import Message

MESSAGES = {
    "missing-column": Message(
        "no column for {role}: expected {wanted}, found {found:list}",
        "Rename a column, or set {flag:options}.",
    ),
    "no-column": Message(
        "no column for {role}: expected {wanted}, found {found:list}",
        "Write rows such as {example}.",
    ),
    "scores-without-ids": Message(
        "the record has a number for each {noun}, but no id",
        "Give items without ids as lists of ({noun}, score) pairs, or items with ids as "
        "{{id: {{{noun}: score}}}}.",
    ),
    "no-ratings": Message(
        "no column for {role}: expected {wanted}, found {found:list}",
        "The ratings come first, then the predictions and the ground truth. Put a "
        "table such as id,rating or image_id,system,rating first, or name its columns "
        "with {opt:columns}.",
    ),
    "other-delimiter": Message(
        "no column for {role}: the header has a single column, {found:list}",
        "If {sign!r} separates the cells, set {option:options} to it.",
    ),
    "no-header": Message(
        "no column for {role}: the first line, {found:list}, was read as the header",
        "If it is data, add a header such as {example}. Otherwise rename a column, or "
        "set {flag:options}.",
    ),
    "number-in-header": Message(
        "the first line was read as the header, but {value} is a number",
        "Add a header such as {example}.",
    ),
    "comment-line": Message(
        "the first line starts with {sign!r}, so it is not a header",
        "Remove the lines before the header.",
    ),
    "rows-or-columns": Message(
        "all columns are 0/1, so {column!r} may be the column of {noun}s or a class "
        "of that name",
        "If it has the {noun}s, set {flag:options} to it. Otherwise rename it.",
    ),
    "mixed-layout": Message(
        "these rows are {found}, but the rows before are {wanted}",
        "Name the column of {noun}s with {flag:options}, or rename the class of that "
        "name.",
    ),
    "ambiguous-column": Message(
        "several columns could be {role}: {found:list}",
        "Choose one with {flag:options}.",
    ),
    "duplicate-column": Message("two columns are named {name!r}", "Rename one."),
    "one-column-two-roles": Message(
        "{name!r} is set as both the {roles} column",
        "Use different columns.",
    ),
    "wrong-column-type": Message(
        "the column of {role}s has type {found}",
        "Use strings or integers for ids, strings or lists for labels and captions, and "
        "numbers for scores.",
    ),
    "not-a-label-column": Message(
        "{value!r} is neither 0/1 nor a score from 0 to 1, and no column of {noun}s "
        "({known}) was found",
        "Remove this column, or name the column of {noun}s with {flag:options}.",
    ),
    "wrong-width": Message(
        "the row has {found:cell}, but the header has {wanted} (the first cell is "
        "{first!r})",
        "Quote cells that contain the delimiter, or add the missing cell.",
    ),
    "wrong-cells": Message(
        "the {noun} has {n:cell}, but needs {wanted:list}",
        "Give one cell for each.",
    ),
    "not-a-table": Message(
        "this cannot be read as a table: {why}",
        "Give each column one name and one type.",
    ),
    "deep-column": Message(
        "the column {name!r} contains objects or deeply nested lists",
        "Use strings, numbers, or lists of them.",
    ),
    "mixed-rows": Message(
        "the row has different keys from the rows before",
        "Use the same keys in all rows.",
    ),
    "empty-cell": Message(
        "the {noun} is empty, but the id has {n:row}",
        "Leave the {noun} empty only if the id has a single row.",
    ),
    "mixed-cells": Message(
        "{value} is not a list, but most {noun} cells are lists written as strings",
        "Write all cells the same way, or one row per {noun}.",
    ),
    "other-style": Message(
        "{what} are {found} here, but {wanted} before",
        "Write all of them the same way, for example as lists, or score all items at "
        "once.",
    ),
    "cut-list": Message(
        "NumPy omitted a part of the list, {value}",
        "Write whole lists: frame['{noun}s'].map(list).to_csv(...).",
    ),
    "unquoted-list": Message(
        "the {noun}s are a list without quotes, {value}",
        "Put the {noun}s in quotes: "
        "frame['{noun}s'].str.strip({brackets!r}).str.split(r',\\s*').",
    ),
    "objects-as-text": Message(
        "the {noun} is an object written as a string, {value}",
        "Keep only the {noun}s: frame['{noun}s'].map(lambda cell: {recipe}).",
    ),
    "score-of-a-list": Message(
        "there is one score for a list of {noun}s",
        "Write a list with a score for each {noun}.",
    ),
    "not-a-list": Message(
        "{role} is {value}, but the rows before have a list",
        "Write all rows the same way.",
    ),
    "scored-twice": Message(
        "the {noun}s have scores and also a separate list of scores",
        "Keep one of the two.",
    ),
    "score-alone": Message(
        "there is a score without a {noun}",
        "Fill in the {noun}, or remove the score.",
    ),
    "some-scores": Message(
        "some {noun}s have a score, others do not",
        "Give a score to every {noun}, or to none.",
    ),
    "rows-apart": Message(
        "this id appeared earlier, with other rows in between",
        "Keep the rows of an id together.",
    ),
    "other-column": Message(
        "the type is {found}, but {wanted} in the files before",
        "Use the same columns in all files.",
    ),
    "unused-columns": Message("{n:column} not used: {examples:list}"),
    "blank-lines": Message(
        "{n:blank line} between {between}, the first on line {examples[0]}",
    ),
    "blank-texts": Message(
        "{n:blank line} read as empty {noun}s, the first on line {first}",
    ),
    "empty-cells": Message("{n:item} with an empty {noun} cell, read as an empty list"),
    "scattered-rows": Message(
        "{n:id} with rows that are not together{examples:such as}, merged in file "
        "order",
    ),
    "lists-among-texts": Message(
        "{n:{noun}} looking like lists, but read as strings, because most others are "
        "not lists{examples:such as}",
        "Write all of them the same way.",
    ),
    "sorted-sets": Message("sets of {noun}s were read in sorted order"),
    "scores-and-lists": Message(
        "{n:item} written as {{{noun}: score}}, the others as lists",
    ),
    "unused-entry-keys": Message("{n:key} of {noun}s not used: {examples:list}"),
    "unused-options": Message("{n:option} not used for {what}: {examples:list}"),
    "index-not-used": Message("the ids come from the id column, not from the index"),
    "own-ids-not-used": Message(
        "the keys of the records are the ids, and the id in each record is not used",
        "To use it, name it with {opt:id_column}.",
    ),
    "odd-columns": Message(
        "{n:column} of {of} with numbers outside [0, 1]: {examples:list}",
        "Drop the columns that are not labels.",
    ),
}
