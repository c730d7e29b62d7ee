"""METEOR 1.5 of English without Java: words, stems, matches, and the counts of pairs of captions.

Conventions
-----------
What the program computes was observed, and its word lists and paraphrases are read from the package
pycocoevalcap, which also brings the program: all counts of 150,000 pairs of captions are the same.
Two sentences of the same words have exact matches alone. Otherwise a pair of places, or of phrases,
is a match for each stage at which its words match, and twice if its phrases are each other's
paraphrases: first those of equal words, then of equal stems, then of words that share a synset,
each by the places of reference and candidate, then the phrases of the reference that have a
paraphrase in the candidate, and the other way around.

Sources: Denkowski and Lavie 2014; Porter 2001, "The English (Porter2) stemming algorithm", in the
version that the program has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.core.alignment import Matches, align
from semmetrics.core.ragged import (
    Bools,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    runs_within,
    take_rows,
)
from semmetrics.errors import InputError
from semmetrics.messages import brief
from semmetrics.text.java import METEOR_LISTS
from semmetrics.text.paraphrases import Paraphrases
from semmetrics.text.synonyms import open_jar, open_synonyms
from semmetrics.text.tokenizers import encode_tokens, one_line

STAGES = "exact", "stem", "synonym", "paraphrase"

_CELLS = 1 << 19  # pairs of places that are compared at a time
_MOST = 1 << 20  # matches at a time: of a word that is 1,024 times in both captions
_MAX_WORDS = 1 << 14  # of a caption
_MAX_WORD_PAIRS = 1 << 25  # of two captions, such as 5,792 words each
_BITS = 22  # of hashes
_NO_MATCH = Matches(*np.zeros((6, 0), np.int32))

# ---- words -----------------------------------------------------------------------------------

_LETTER = "A-Za-zÀ-ÖØ-öø-žŸ\u0400-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
_RULES = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (f"([^{_LETTER}0-9 \n.',\\-‘’`])", r" \1 "),
        (r"(\.\.+)", r" \1 "),
        ("([^0-9]),([^0-9])", r"\1 , \2"),
        ("([0-9]),([^0-9])", r"\1 , \2"),
        ("([^0-9]),([0-9])", r"\1 , \2"),
        ("[`‘’]", "'"),
        ("[“”]|''", ' " '),
        ("–|--", "-"),
        (f"([{_LETTER}0-9.])-([{_LETTER}0-9])", r"\1 \2"),
        (f"([^{_LETTER}])'([^{_LETTER}])", r"\1 ' \2"),
        (f"([^{_LETTER}0-9])'([{_LETTER}])", r"\1 ' \2"),
        (f"([{_LETTER}])'([^{_LETTER}])", r"\1 ' \2"),
        (f"([{_LETTER}])'([{_LETTER}])", r"\1 '\2"),
        ("([0-9])'s", r"\1 's"),
    )
)
_PLAIN = re.compile("[a-z \n]*")
_DROPPED = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")  # words until the end
_HAS_LETTER = re.compile(f"[{_LETTER}]")


def normalize(captions: Sequence[str]) -> list[list[str]]:
    """Return the words of captions as METEOR splits them (``-norm``).

    Raises
    ------
    MissingDependencyError, InputError
        If there is a full stop, and the list of abbreviations is not there or is damaged.

    Examples
    --------
    >>> normalize(["The man's x-ray, taken", "1,000 dogs"])
    [['the', 'man', "'s", 'x', 'ray', ',', 'taken'], ['1,000', 'dogs']]
    """
    cleaned = (
        one_line(text).replace("\t", " ").replace("|||", "") for text in captions
    )
    text = (
        "\n".join(f" {line} " for line in cleaned).encode("utf-8", "replace").decode()
    )
    if not _PLAIN.fullmatch(text):
        for pattern, instead in _RULES:
            text = pattern.sub(instead, text)
    found, stops = list[list[str]](), None
    for line in text.split("\n") if captions else ():
        words = [word for word in line.split(" ") if word]
        if "." in line:
            stops = stops or _abbreviations()
            words = list(_split_stops(words, *stops))
        if not line.isprintable():
            words = [word for word in words if not _DROPPED.match(word)]
            # control characters at the ends
            while words and min(words[0], words[-1]) < " ":
                words.pop(-1 if words[-1] < " " else 0)
        found.append(words if line.islower() else list(map(str.lower, words)))
    return found


def _split_stops(
    words: list[str], kept: set[str], before_numbers: set[str]
) -> Iterator[str]:
    """Part full stops from the words that they end, but for abbreviations."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        rest = word[:-1]
        if not word.endswith(".") or not rest.strip("."):
            yield word
        elif "." in rest and _HAS_LETTER.search(rest):
            yield word.replace(".", "")
        elif (
            rest in kept
            or re.match("[a-z]", following)
            or (rest in before_numbers and re.match("[0-9]", following))
        ):
            yield word
        else:
            yield from (rest, ".")


_CHECKSUMS = {
    "synonym/english.synsets": 1821968136,
    "synonym/english.exceptions": 2060711662,
    "function/english.words": 341246028,
    "nonbreaking/english.prefixes": 1317770426,
}
"""The word lists of METEOR 1.5, and their CRC-32."""


@cache
def read_list(name: str) -> list[str]:
    """Return the lines of a word list.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap, which brings it, is not installed.
    InputError
        If the jar is damaged, or not that of METEOR 1.5.
    """
    with open_jar(METEOR_LISTS) as jar:
        wrong = [
            one
            for one, checksum in _CHECKSUMS.items()
            if checksum != jar.getinfo(one).CRC
        ]
        if wrong:
            raise ValueError(f"{wrong[0]} is not that of METEOR 1.5")
        return jar.read(name).decode().splitlines()


def _abbreviations() -> tuple[set[str], set[str]]:
    """Return words that keep their full stop, and those that do before a number."""
    lines = [line.split() for line in read_list("nonbreaking/english.prefixes")]
    rows = [line for line in lines if line and not line[0].startswith("#")]
    return {row[0] for row in rows if len(row) == 1}, {
        row[0] for row in rows if len(row) > 1
    }


_VOWELS = "aeiouy"
_REGION = re.compile("[aeiouy][^aeiouy]")
_LONG_START = re.compile("gener|commun|arsen")
_SHORT = re.compile("[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$")
_DOUBLE = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_IRREGULAR = {
    **{"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"},
    **{
        "idly": "idl",
        "gently": "gentl",
        "ugly": "ugli",
        "early": "earli",
        "only": "onli",
    },
    **{"singly": "singl"},
    **{
        word: word
        for word in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")
    },
}
_WHOLE = (
    "inning",
    "outing",
    "canning",
    "herring",
    "earring",
    "proceed",
    "exceed",
    "succeed",
)


def _endings(text: str) -> dict[str, str]:
    """Read "ending:instead" pairs, the longest first."""
    pairs = (pair.partition(":") for pair in text.split())
    return dict(
        sorted(
            ((one, other) for one, _, other in pairs), key=lambda pair: -len(pair[0])
        )
    )


_STEP_1B = _endings("eed:ee eedly:ee ed edly ing ingly")
_STEP_2 = _endings(
    "tional:tion enci:ence anci:ance abli:able entli:ent izer:ize ization:ize ational:ate "
    "ation:ate ator:ate alism:al aliti:al alli:al fulness:ful ousli:ous ousness:ous iveness:ive "
    "iviti:ive biliti:ble bli:ble ogi:og fulli:ful lessli:less li"
)
_STEP_3 = _endings(
    "tional:tion ational:ate alize:al icate:ic iciti:ic ical:ic ful ness ative"
)
_STEP_4 = _endings(
    "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion"
)
# letters, of which one stands before
_BEFORE = {
    "ogi": "l",
    "li": "cdeghkmnrt",
    "ion": "st",
}


@cache
def english_stem(word: str) -> str:
    """Return the stem of a word in lower case (Porter2).

    Examples
    --------
    >>> [english_stem(word) for word in ("riding", "generously", "skies", "dog's", "apologist")]
    ['ride', 'generous', 'sky', 'dog', 'apologist']
    """
    if word in _IRREGULAR or len(word) < 3:
        return _IRREGULAR.get(word, word)
    word = re.sub("^y|(?<=[aeiouy])y", "Y", word.removeprefix("'"))
    begin = _LONG_START.match(word) or _REGION.search(word)
    first = begin.end() if begin else len(word)
    begin = _REGION.search(word, first)
    second = begin.end() if begin else len(word)
    word = re.sub("('s'|'s|')$", "", word)
    word = _step_1a(word)
    if word in _WHOLE:
        return word
    word = _step_1b(word, first)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = f"{word[:-1]}i"
    for endings, region in ((_STEP_2, first), (_STEP_3, first), (_STEP_4, second)):
        word = _replace_ending(word, endings, region, second)
    return _step_5(word, first, second).replace("Y", "y")


def _step_1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and word[-2:] not in ("us", "ss") and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _replace_ending(
    word: str, endings: Mapping[str, str], region: int, second: int
) -> str:
    """Return a word with another ending, if the ending is in its region (steps 2 to 4)."""
    ending = next(filter(word.endswith, endings), "")
    rest = word.removesuffix(ending)
    if not ending or len(rest) < (second if ending == "ative" else region):
        return word
    if rest.endswith(tuple(_BEFORE.get(ending, ("",)))):
        return rest + endings[ending]
    return word


def _step_5(word: str, first: int, second: int) -> str:
    rest = word[:-1]
    if word.endswith("e"):
        if len(rest) >= second or (len(rest) >= first and not _SHORT.search(rest)):
            return rest
    elif word.endswith("ll") and len(rest) >= second:
        return rest
    return word


def _has_vowel(word: str) -> bool:
    return any(letter in _VOWELS for letter in word)


def _step_1b(word: str, first: int) -> str:
    ending = next(filter(word.endswith, _STEP_1B), "")
    rest = word.removesuffix(ending)
    if _STEP_1B.get(ending):
        return rest + _STEP_1B[ending] if len(rest) >= first else word
    if not ending or not _has_vowel(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if rest.endswith(_DOUBLE):
        return rest[:-1]
    return f"{rest}e" if len(rest) <= first and _SHORT.search(rest) else rest


# ---- matches and counts ----------------------------------------------------------------------


class Relation:
    """Which pairs of numbers below ``n`` are related, found among many that are not.

    Parameters
    ----------
    first, second : int arrays, shape (pairs,)
    n : int

    Examples
    --------
    >>> found = Relation(np.array([0, 2]), np.array([1, 0]), 3)
    >>> cells, which = found.find(np.array([0, 1, 2]), np.array([0, 2, 0]))
    >>> cells.tolist(), which.tolist()
    ([2], [1])
    """

    def __init__(self, first: Ints, second: Ints, n: int) -> None:
        keys = first * n + second
        self._n, self._order = n, np.argsort(keys, kind="stable")
        self._keys = np.append(keys[self._order], np.iinfo(np.int64).max)
        self._likely = np.zeros(1 << _BITS, np.bool_)
        self._likely[self._hash(keys)] = True

    def _hash(self, keys: Ints) -> Any:
        return (keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(
            64 - _BITS
        )

    def find(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """Return which of some pairs are related, and by which pair of the relation."""
        keys = first * self._n + second
        likely = np.flatnonzero(self._likely[self._hash(keys)])
        keys = keys[likely]
        place = np.searchsorted(self._keys, keys)
        some = self._keys[place] == keys
        return likely[some], self._order[place[some]]


class Sentences:
    """Captions to be matched with each other, whatever is looked up once a word and phrase.

    Parameters
    ----------
    captions : sequence of str
    paraphrases : Paraphrases, optional
        Without them there is no last stage.

    Raises
    ------
    MissingDependencyError, InputError
        As for `read_list`.
    """

    def __init__(
        self, captions: Sequence[str], paraphrases: Paraphrases | None
    ) -> None:
        self.words = normalize(captions)
        self._indptr, codes, vocabulary = encode_tokens(self.words)
        self._codes = codes.astype(np.int64)
        self.sizes = lengths(self._indptr)
        small = set(read_list("function/english.words"))
        is_small = np.array([word in small for word in vocabulary], np.bool_)
        self._function = offsets(is_small[codes])
        first: dict[tuple[str, ...], int] = {}
        same = (
            first.setdefault(tuple(words), place)
            for place, words in enumerate(self.words)
        )
        self._same = np.fromiter(same, np.int64, len(self.words))
        stems = {
            word: place
            for place, word in enumerate(dict.fromkeys(map(english_stem, vocabulary)))
        }
        synonyms = open_synonyms(METEOR_LISTS)
        synsets = [sorted(synonyms.synsets(word)) for word in vocabulary]
        alike = (
            _sharing([[stems[english_stem(word)]] for word in vocabulary]),
            _sharing(synsets),
        )
        n = len(vocabulary)
        self._alike = [Relation(*pairs, n) for pairs in alike]
        self._phrases = None
        if paraphrases is not None:
            self._phrases = found = paraphrases.find(self._indptr, codes, vocabulary)
            self._stand_for = Relation(found.first, found.second, found.n)

    def match(self, candidates: Ints, references: Ints) -> Matches:
        """Return all matches of pairs of captions, which are given by their numbers.

        Raises
        ------
        InputError
            If two captions are too long to be compared, or have too many matches to be stored.
        """
        self._check_sizes(candidates, references)
        found: list[list[Matches]] = [[_NO_MATCH] for _ in STAGES]
        differ = self._same[candidates] != self._same[references]
        starts, total = (self._indptr[references], self._indptr[candidates]), 0
        for pair, *places in _grid(self.sizes[references], self.sizes[candidates]):
            ref, cand = (
                self._codes[start[pair] + place]
                for start, place in zip(starts, places, strict=True)
            )
            stages = [np.flatnonzero(ref == cand)]
            for relation in self._alike:
                cells, _ = relation.find(ref, cand)
                stages.append(cells[differ[pair[cells]]])
            for stage, cells in enumerate(stages):
                one, total = np.ones(len(cells), np.int32), total + len(cells)
                columns = [column[cells].astype(np.int32) for column in (pair, *places)]
                found[stage].append(Matches._make([*columns, one, one, stage * one]))
            _check(total, self.words, candidates[pair[-1:]])
        if self._phrases is not None:
            found[-1] += self._paraphrases(candidates, references, differ, total)
        flat = (one for some in found for one in some)
        every = Matches._make(map(np.concatenate, zip(*flat, strict=True)))
        width = int(self.sizes.max(initial=0)) + 1
        order = np.argsort(every.pairs * np.int64(width) + every.ref, kind="stable")
        return every.take(order)

    def _check_sizes(self, candidates: Ints, references: Ints) -> None:
        """Raise an error for a pair of captions whose comparison would take too long."""
        n_pred, n_ref = self.sizes[candidates], self.sizes[references]
        is_long = np.maximum(n_pred, n_ref) > _MAX_WORDS
        is_large = n_pred * n_ref > _MAX_WORD_PAIRS
        # without words on one side nothing is compared
        refused = np.flatnonzero((is_long | is_large) & (np.minimum(n_pred, n_ref) > 0))
        if not len(refused):
            return
        pair = int(refused[0])
        where = brief(" ".join(self.words[candidates[pair]]))
        raise InputError(
            "caption-too-long",
            where,
            n_pred=int(n_pred[pair]),
            n_ref=int(n_ref[pair]),
            most=_MAX_WORDS,
            most_pairs=_MAX_WORD_PAIRS,
        )

    def _paraphrases(
        self, candidates: Ints, references: Ints, differ: Bools, total: int
    ) -> list[Matches]:
        """Return matches of phrases of the reference that have a paraphrase, then of the others."""
        phrases, sides = self._phrases, (references, candidates)
        assert phrases is not None
        counts = [np.where(differ, lengths(phrases.indptr)[side], 0) for side in sides]
        found: list[list[Any]] = [[_NO_MATCH[:4]], [_NO_MATCH[:4]]]
        for pair, *places in _grid(*counts):
            both = [
                phrases.indptr[side[pair]] + place
                for side, place in zip(sides, places, strict=True)
            ]
            for way, (first, second) in zip(found, (both, both[::-1]), strict=True):
                cells, which = self._stand_for.find(
                    phrases.codes[first], phrases.codes[second]
                )
                way.append((second[cells], which, first[cells], pair[cells]))
                total += len(cells)
            _check(total, self.words, candidates[pair[-1:]])
        matches = []
        for way, step in zip(found, (1, -1), strict=True):
            second, which, first, pair = map(np.concatenate, zip(*way, strict=True))
            order = np.lexsort((second, which, first, pair))
            ref, cand = (first[order], second[order])[::step]
            columns = [
                column[one]
                for column in (phrases.start, phrases.size)
                for one in (ref, cand)
            ]
            stage = np.full(len(order), len(STAGES) - 1)
            columns = [
                column.astype(np.int32) for column in (pair[order], *columns, stage)
            ]
            matches.append(Matches._make(columns))
        return matches

    def runs(self, candidates: Ints, references: Ints) -> Iterator[slice]:
        """Yield runs of pairs whose matches fit in memory together."""
        cells = (1 + self.sizes[candidates]) * (1 + self.sizes[references])
        yield from runs_within(offsets(cells), _CELLS)

    def align(self, candidates: Ints, references: Ints) -> Matches:
        """Return the matches of pairs of captions that METEOR chooses."""
        matches = self.match(candidates, references)
        return matches.take(
            align(matches, self.sizes[references], self.sizes[candidates])
        )

    def counts(self, candidates: Ints, references: Ints) -> Ints:
        """Return what METEOR counts of each pair of captions, which are given by their numbers.

        Returns
        -------
        int array, shape (pairs, 23)
            Words of the candidate and of the reference; function words of both; for each of
            `STAGES` content words of both that match, and function words of both that do; chunks;
            all words of both that match.
        """
        runs = self.runs(candidates, references)
        counts = [self._count(candidates[run], references[run]) for run in runs]
        return np.concatenate([np.zeros((0, 23), np.int64), *counts])

    def _count(self, candidates: Ints, references: Ints) -> Ints:
        chosen, n = self.align(candidates, references), len(candidates)
        counts = np.zeros((n, 23), np.int64)
        cell = chosen.pairs * len(STAGES) + chosen.stage
        # content and function, of both
        stages = np.zeros((n * len(STAGES), 2, 2), np.int64)
        ends = chosen.ref + chosen.n_ref, chosen.cand + chosen.n_cand
        for side, (texts, start, end) in enumerate(
            ((candidates, chosen.cand, ends[1]), (references, chosen.ref, ends[0]))
        ):
            first = self._indptr[texts]
            counts[:, side] = self.sizes[texts]
            counts[:, 2 + side] = (
                self._function[self._indptr[texts + 1]] - self._function[first]
            )
            first = first[chosen.pairs]
            small = self._function[first + end] - self._function[first + start]
            for kind, number in enumerate((end - start - small, small)):
                np.add.at(stages[:, kind, side], cell, number)
        counts[:, 4:20] = stages.reshape(n, -1)
        goes_on = np.ones(len(cell), np.bool_)
        goes_on[:1] = False
        for before, now in (
            (chosen.pairs, chosen.pairs),
            (ends[0], chosen.ref),
            (ends[1], chosen.cand),
        ):
            goes_on[1:] &= before[:-1] == now[1:]
        counts[:, 20] = np.bincount(chosen.pairs[~goes_on], minlength=n)
        counts[:, 21:] = stages.sum(axis=1).reshape(n, len(STAGES), 2).sum(axis=1)
        return counts


def _grid(n_rows: Ints, n_columns: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield the pair, row and column of each cell of pairs, some cells at a time."""
    rows = offsets(n_rows)
    pair, row = row_numbers(rows), positions(rows)
    widths = n_columns[pair]
    for run in runs_within(offsets(widths), _CELLS):
        cells = offsets(widths[run])
        which = row_numbers(cells) + run.start
        yield pair[which], row[which], positions(cells)


def _check(total: int, words: Sequence[Sequence[str]], last: Ints) -> None:
    """Refuse more matches than can be kept; the last caption has most of them."""
    if total > _MOST:
        raise InputError(
            "too-many-matches", brief(" ".join(words[last[-1]])), most=_MOST
        )


def _sharing(features: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return the pairs of rows that share a feature, both ways."""
    row = np.repeat(np.arange(len(features)), list(map(len, features)))
    _, code = np.unique(np.array(list(chain(*features)), np.int64), return_inverse=True)
    order = np.argsort(code, kind="stable")
    row, code = row[order], code[order]
    indptr, places = take_rows(offsets(np.bincount(code)), code)
    first, second = row[row_numbers(indptr)], row[places]
    keys = np.unique((first * len(features) + second)[first != second])
    return np.divmod(keys, max(1, len(features)))
