"""Captions: document frequencies, METEOR, SPICE and pairs of captions."""

from semmetrics.messages.message import Message

MESSAGES = {
    "too-frequent": Message(
        "{gram!r} is in {n} of {documents} documents",
        "Count it once per document.",
    ),
    "other-documents": Message(
        "the file covers {known} documents, not {given}",
        "Leave out {opt:documents}.",
    ),
    "no-documents": Message(
        "the number of documents is missing",
        "Set {opt:documents} (40504 for COCO).",
    ),
    "not-as-json": Message("JSON cannot represent it: {why}", "Save it as .npz."),
    "not-frequencies": Message(
        "these are not document frequencies",
        'Write JSON {{"documents": 5000, "frequencies": {{"a man": 1200}}}}, or a '
        'pickle of {{"document_frequency": {{("a", "man"): 12}}, "ref_len": 9.2}}.',
    ),
    "pickled-name": Message(
        "the pickle contains {name}, which semmetrics does not load",
        "Write JSON, or plain dicts.",
    ),
    "not-a-pickle": Message(
        "the pickle cannot be read: {why}",
        "Write frequencies as .npz, JSON or a dict.",
    ),
    "unknown-documents": Message(
        "only the logarithm of the number of documents is available",
        "Set documents=.",
    ),
    "other-tokens": Message(
        "the document frequencies use {name} {mine!r} instead of {theirs!r}",
        "Use the same for both.",
    ),
    "single-document": Message(
        "the value for a single image is 0: {examples:list}",
        "Give document frequencies of a larger corpus, {opt:doc_freq}.",
    ),
    "caption-too-long": Message(
        "METEOR cannot compare {n_pred:,} words with the {n_ref:,} words of a "
        "reference",
        "Shorten them to {most:,} words and {most_pairs:,} pairs of words.",
    ),
    "too-many-matches": Message(
        "the words of the caption match a reference in over {most:,} ways",
        "Shorten it.",
    ),
    "meteor-failed": Message(
        "the METEOR program failed: {why}",
        "Check `java -version` (8) and the memory (2 GB).",
    ),
    "needs-corenlp": Message(
        "the SPICE parser needs CoreNLP 3.6.0",
        "Run `semmetrics spice setup`{instead}.",
    ),
    "wrong-jar": Message(
        "the file is damaged, or is not the original CoreNLP file",
        "Remove it, and run `semmetrics spice setup`.",
    ),
    "missing-jar": Message(
        "the folder does not contain {name}",
        "Give the folder with both files{hint}",
    ),
    "maven-failed": Message(
        "Maven failed: {why}",
        "Install it, or give the folder with both jars (--jars).",
    ),
    "no-answer": Message(
        "the SPICE parser gave no valid answer: {why}",
        "Check `java -version` (8) and the memory (4 GB).",
    ),
    "parser-fails": Message(
        "the SPICE parser failed: {why}",
        "Leave out such captions{limit}.",
    ),
    "captions-fail": Message(
        "{n} of {total:caption} cannot be parsed: {error}",
        "{remedy}",
    ),
    "no-tuples": Message("no tuples for this caption", "{remedy}"),
    "tuples-lack": Message(
        "no tuples by {identity} for {new}{own}, and parsing failed: {error}",
        "{remedy}",
    ),
    "tuples-function": Message(
        "{opt:tuples} is a function, and the captions cannot be parsed: {error}",
        "{remedy}",
    ),
    "wrong-tuple-line": Message(
        "this is not a caption with tuples",
        "Write the format of `semmetrics spice parse`.",
    ),
    "conflicting-tuples": Message(
        "{caption!r} appears twice, with different tuples",
        "Keep one of them.",
    ),
    "unparsed-captions": Message(
        "the parser failed on {n:caption}, such as {caption!r}: {why}",
        "Leave out such captions, as the output does.",
    ),
    "without-tuples": Message(
        "the {side} of {n:item} have no tuples{examples:such as}",
    ),
    "no-tuple-matches": Message(
        "no tuples match, perhaps because SPICE's parsers and synonyms support only "
        "English",
    ),
    "idle-tuples": Message(
        "{opt:tuples} has no effect: the tuples are by {own}, not {wanted:list}",
        "Use SPICE(parser=given).",
    ),
    "tied-graphs": Message(
        "SPICE of {n:item} depends on ties in merging scene graphs{examples:such as} "
        "({low:.4f} to {high:.4f}){untried}",
    ),
    "tied-graphs-of-mean": Message(
        "SPICE of {n:item} depends on ties in merging scene graphs{examples:such as} "
        "({low:.4f} to {high:.4f}){untried}",
        "The original program may print {less:.2g} less to {more:.2g} more.",
    ),
    "single-references": Message(
        "no image has two references",
        "Give at least two, so that one can be left out.",
    ),
    "several-candidates": Message(
        "{n:image} with several candidates, each scored separately",
    ),
    "single-reference": Message("{n:image} with a single reference left out"),
    "empty-candidates": Message("{n:empty candidate}"),
    "empty-references": Message("{n:empty reference}"),
    "cider-of-coco": Message(
        "the CIDEr value of the COCO code and of most papers is CIDEr-D",
    ),
    "missing-images": Message(
        "{n:image} missing: {examples:list}",
        "Give the same images on all sides.",
    ),
    "wrong-captions": Message("got {found}", "Give {wanted} for each image."),
    "no-matrix": Message("{measure} cannot fill a matrix", "{remedy}"),
    "swapped-files": Message(
        "the files look swapped: REFERENCES has one string per image, CAPTIONS several",
        'Exchange them, or write references as lists: {{"id": ["caption"]}}.',
    ),
    "special-tokens": Message(
        "all {side} contain {examples:list}",
        "Remove such tokens before scoring, because they count as words.",
    ),
    "subwords": Message(
        "{n:caption} of the {side} with {mark!r}, a tokenizer's marker",
        "Join the parts of words before scoring.",
    ),
    "joined-references": Message(
        "{n:reference} that may consist of several captions separated by {separator!r}",
        "If they do, split them and write lists.",
    ),
    "single-words": Message(
        "the {side} have {mean:.1f} words on average",
        "If they are labels, set {opt:task=labels}. If they are the tokens of "
        "captions, join them with spaces.",
    ),
    "missing-captions": Message(
        "{n:caption}{examples:such as}, which many programs write for a missing value",
        "Each counts as a caption. Leave out the item, or write its caption.",
    ),
    "blank-captions": Message(
        "{captions:empty caption} in {n:item}: {examples:list}{numbered}",
    ),
    "shared-captions": Message("{n:{noun}} in more than one item: {examples:list}"),
}
