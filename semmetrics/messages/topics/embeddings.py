"""Embeddings, word vectors, and how well a model knows the strings of the data."""

from semmetrics.messages.message import Message

MESSAGES = {
    "vector-not-finite": Message(
        "the vector of {names:list} is not finite",
        "{remedy}",
    ),
    "unversioned": Message(
        "a function without a version cannot be cached",
        "Give a version that identifies its vectors: CallableEmbedder(function, "
        "version='1').",
    ),
    "reads-text": Message(
        "lookup={rule!r} needs word vectors, not {identity}",
        "Set {opt:lookup=text}.",
    ),
    "unknown-terms": Message(
        "{identity} has no vector for {names:list}",
        "Rename them, or set {opt:oov=skip}.",
    ),
    "no-unknown-word": Message(
        "{identity} has no word 'unknown' for {names:list}",
        "Set {opt:oov=skip}.",
    ),
    "unknown-embedding": Message(
        "no file and no embedding is named {value!r}",
        "Give a file, one of {names}, or a model with its kind, as in sbert:{value} "
        "(kinds: {kinds}).",
    ),
    "not-fetched": Message(
        "{value!r} has not been downloaded",
        "Run `semmetrics embed fetch {value}`{size}.",
    ),
    "unclear-folder": Message(
        "the kind of model in this folder is unclear",
        "Write {example}. The kinds are {kinds}.",
    ),
    "unsafe-pickle": Message(
        "opening such a file can run arbitrary code",
        "If you trust the file, write kv:{path}.",
    ),
    "mixed-mapping": Message(
        "{word!r} has a vector, but {other!r} does not",
        "Give a vector for each word, or an embedding for each name.",
    ),
    "not-converted": Message(
        "this is not a folder of converted vectors",
        "Run `semmetrics embed convert FILE FOLDER`.",
    ),
    "other-vectors": Message(
        "the folder already contains other vectors: {found}",
        "Choose another folder, or remove this one.",
    ),
    "wrong-vectors": Message(
        "this is a {found} file, not {wanted}",
        "Write {found}: before the path, or leave out the kind.",
    ),
    "not-word-vectors": Message(
        "the first line is neither a header ('3000000 300') nor a word followed by "
        "numbers",
        "Give word2vec, GloVe or fastText vectors without a byte order mark.",
    ),
    "wrong-member": Message(
        "the archive contains {names:list}",
        "Extract it, and give the path of one file.",
    ),
    "no-texts": Message(
        "the file does not name its rows",
        "Write the strings, one per line, to {name} in the same folder.",
    ),
    "wrong-arrays": Message(
        "the file has {matrices} matrices and {texts} arrays of strings",
        "Save one of each.",
    ),
    "wrong-columns": Message(
        "the columns are {found:list}",
        "Use one column of strings, and numbers in the others.",
    ),
    "model-not-here": Message(
        "the model {value!r} is not stored locally and cannot be downloaded: {why}",
        "Run `hf download {full}`, or give the path of its folder.",
    ),
    "empty-tokenizer": Message(
        "the tokenizer of the model has no words",
        "Check tokenizer.json or vocab.txt.",
    ),
    "has-decoder": Message(
        "a {kind} has a decoder",
        "Use an encoder, such as BERT, RoBERTa or XLNet.",
    ),
    "no-embedding": Message("unknown embedding {name!r}", "Set {opt:embedding}."),
    "word-vectors": Message(
        "BagSim needs one vector for {what}, but {embedding} has word vectors",
        "Use an embedding of sentences{remedy}.",
    ),
    "unknown-text": Message(
        "{embedding} has no vector for {what} {names:list}",
        "Add one, or set {opt:oov=skip}.",
    ),
    "unused-embeddings": Message(
        "{n:embedding} not used by these measures: {examples:list}",
    ),
    "not-cached": Message(
        "vectors of {model} are not cached",
        "Give it a version: CallableEmbedder(f, version='1').",
    ),
    "unknown-texts": Message(
        "{n:{noun}} missing from {model} (oov: {oov}){examples:such as}",
        "Run `semmetrics embed coverage` for a list.",
    ),
    "composed-texts": Message(
        "{n:{noun}} composed by {model} from parts of words{examples:such as}",
    ),
    "untuned-texts": Message(
        "{n:{noun}} outside the vocabulary that {model} was tuned on{examples:such as}",
    ),
    "zero-vectors-texts": Message("{n:{noun}} with an all-zero vector in {model}"),
    "truncated-texts": Message(
        "{n:{noun}} longer than the maximum of {model}, truncated",
    ),
    "zero-length-vectors": Message(
        "{n:vector} of length 0, with cosine similarity 0 to all others",
    ),
}
