"""Retrieval: queries, galleries, positives, ranked lists and semantic similarity."""

from semmetrics.messages.message import Message

MESSAGES = {
    "wrong-offsets": Message(
        "got {offsets:offset} for {queries:query} and {items:item}",
        "Give one more offset than queries, from 0 to the number of items.",
    ),
    "not-in-gallery": Message(
        "index {value} is outside the gallery of {size:item}",
        "Use indices from 0, and -1 after the end of a short ranking.",
    ),
    "item-after-end": Message(
        "index {value} follows -1, which marks the end of a short ranking",
        "Put -1 only at the end.",
    ),
    "too-few-ranks": Message(
        "there are {found:rank}, but the largest cutoff is {wanted}",
        "Give more ranks.",
    ),
    "unknown-numbers": Message(
        "column {name!r} contains numbers, but no column is recognised as {what}",
        "If more is better, name it with {flag:options} (negate distances first). "
        "Otherwise remove the column.",
    ),
    "verdicts": Message(
        "column {name!r} describes the relevance of candidates in words",
        "Write 1 for yes and 0 for no in a column named relevance, or remove the "
        "column.",
    ),
    "less-is-better": Message(
        "the highest number in column {name!r} counts as the best",
        "If the lowest is the best, as for a distance or a rank, multiply the column "
        "by -1.",
    ),
    "sorted-by-rank": Message(
        "{n:query} whose rows are not in the order of column {name!r}, which ranks "
        "them from the lowest number",
    ),
    "other-ranks": Message(
        "{n:query} with scores that disagree with the ranks in column {name!r}, so "
        "the ranks are ignored",
    ),
    "own-ids": Message(
        "{n:query} with a candidate of the same id, as if it retrieved itself",
        "To leave out such candidates, as BEIR does, set "
        "{opt:ignore_identical_ids=True}.",
    ),
    "own-ids-left-out": Message(
        "{n:candidate} with the id of the query left out of the ranked lists",
    ),
    "no-grades": Message(
        "{measure} counts grades from {level}, but the judgements have no grades",
        "Leave out rel, or give grades: {{query: {{candidate: grade}}}}, or TREC "
        "qrels.",
    ),
    "other-items": Message(
        "{name}= is for {found}, not {wanted}",
        "Give the same items.",
    ),
    "too-few-similar": Message(
        "got {found:item} for each query, but {wanted} are needed",
        "Find more: most_similar(phi, k).",
    ),
    "partial-truth": Message(
        "the ground truth is 0/1 in {columns:column}, but the gallery has "
        "{gallery:candidate}",
        "Give 0/1 for each candidate, or lists of the positives: truth.tolist().",
    ),
    "transposed-names": Message(
        "got {found} for {wanted} of the matrix",
        "Rows must be queries and columns the gallery. {fix:else Transpose the matrix, or "
        "swap {opt:queries} and {opt:gallery}.}",
    ),
    "transposed-positives": Message(
        "{n:positive} not among the {size:,} columns (from 0): {names:list}",
        "If the rows of the matrix are the gallery, transpose it.",
    ),
    "outside-gallery": Message(
        "{n:positive} not in the gallery of {size:,}: {names:list}",
        "{fix:else Correct them, or set {opt:missing=skip} to count them as never found.}",
    ),
    "outside-columns": Message(
        "{n:positive} not among the {size:,} columns (from 0): {names:list}",
        "Save the ids of the rows and of the columns in their order, one per line, "
        "and add {opt:queries=images.txt} {opt:gallery=captions.txt}.",
    ),
    "outside-rows": Message(
        "{n:id} not among the {size:,} rows (from 0): {names:list}",
        "Save the ids of the rows and of the columns in their order, one per line, "
        "and add {opt:queries=images.txt} {opt:gallery=captions.txt}.",
    ),
    "unnamed-rows": Message(
        "there are positives of {name!r}, but the {what}s have no names",
        "Save the ids of the {what}s in their order, one per line, and set "
        "{option:options} to that file.",
    ),
    "phi-without-captions": Message(
        "phi {measure} needs captions",
        "Set {opt:captions}, or give its matrix.",
    ),
    "several-phi": Message(
        "there are several phi: {names:list}",
        "Name one in the measure: NCS(phi=NAME).",
    ),
    "unnamed-phi": Message(
        "the rows and columns of phi have no ids",
        "Set {opt:queries} and {opt:gallery}.",
    ),
    "phi-lacks": Message(
        "{n:{noun}} missing from phi: {names:list}",
        "Give phi of all of them, with the same ids.",
    ),
    "no-references": Message(
        "{n:{noun}} without positives or references: {names:list}",
        "Leave them out.",
    ),
    "not-one-text": Message(
        "{n:id} without exactly one caption",
        'Give one string for each caption: {{"id": "text"}}.',
    ),
    "without-text": Message(
        "{n:caption} without a string: {names:list}",
        "Add them to {opt:captions}.",
    ),
    "unnamed-gallery": Message(
        "{n:caption} without a string, because the gallery has no names",
        "Set {opt:gallery}.",
    ),
    "positives-outside": Message(
        "{n:positive} outside the gallery, never found",
    ),
    "graded-0": Message("{n:candidate} of grade 0 or less, not counted as positives"),
    "other-folds": Message("{n:positive} in a different fold from the query left out"),
    "repeated-positives": Message("{n:positive} repeated in a list, counted once"),
    "recall-of-several": Message(
        "{n:query} with several positives, for which the R@K of papers is HitRate@K",
    ),
    "run-size": Message("{n:query}, {how}"),
    "tied-ranks": Message("{n:query} with a tie that affects the rank of a positive"),
    "fewer-candidates": Message(
        "{n:query} with fewer than {k:candidate}{besides}, counted at @{k}",
    ),
    "tied-phi": Message(
        "{n:query} with a tie of phi that affects {examples:list}, resolved in favour "
        "of the first items of the gallery",
    ),
    "numbered-positives": Message(
        "the ids of the positives are read as row numbers of the matrix, from 0",
        "If they are something else, set {opt:queries}.",
    ),
    "transposed": Message(
        "positives are more similar in the transposed matrix",
        "Check whether rows are queries and columns the gallery. If not, transpose "
        "the matrix.",
    ),
    "places-as-scores": Message(
        "each row of the matrix contains different integers, such as the indices that "
        "argsort or FAISS returns, but they are ranked as similarities",
        "If they are indices, give lists instead: matrix.tolist(), saved as JSON for "
        "the command line.",
    ),
    "positives-last": Message(
        "{n} of {total:query} with all positives in the last quarter of the ranking",
        "If the numbers are distances, change their sign, because higher means nearer.",
    ),
    "run-as-truth": Message(
        "the ground truth is a run, so every candidate of its {n:query} with a score "
        "above 0 is a positive",
        "Give judgements, or swap the sides if their order is wrong.",
    ),
    "fractional-grades": Message(
        "{n:query} of the ground truth with fractions as grades, so every grade above "
        "0 is a positive",
        "If they are scores of a run, swap the sides.",
    ),
    "many-ties": Message(
        "{n:,} of the first {total:,} values occur several times, so ties affect ranks",
    ),
}
