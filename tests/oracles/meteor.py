"""METEOR 1.5: its value from counts of matches, and the counts from two lists of words.

A line of counts has 23 numbers: words of the candidate and of the reference, function
words of both, then for each stage the matched content words of both and the matched
function words of both, then chunks and the matched words of both.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

ALPHA, BETA, GAMMA, DELTA = Fraction(85, 100), 0.2, 0.6, Fraction(3, 4)
STAGES = [Fraction(1), Fraction(3, 5), Fraction(4, 5), Fraction(3, 5)]


def whole(line):
    """Whether all words of both sides match in one chunk."""
    return line[20] == 1 and line[21] == line[0] and line[22] == line[1]


def share(line, side):
    """Weighted matches of a side divided by its weighted words."""
    n_function_words = line[2 + side]
    n_content_words = line[side] - n_function_words
    length = DELTA * n_content_words + (1 - DELTA) * n_function_words
    matches = 0
    for stage, weight in enumerate(STAGES):
        content_words = line[4 + 4 * stage + side]
        function_words = line[6 + 4 * stage + side]
        matches += weight * (DELTA * content_words + (1 - DELTA) * function_words)
    return Fraction(matches) / length if length else Fraction(0)


def meteor(lines):
    """The value of segments together."""
    lines = [list(map(int, line)) for line in lines]
    total = [sum(column) for column in zip(*lines, strict=True)]
    chunks = sum(line[20] for line in lines if not whole(line))
    precision = share(total, 0)
    recall = share(total, 1)
    if not precision or not recall:
        return 0.0
    mean = 1 / (ALPHA / recall + (1 - ALPHA) / precision)
    parts = Fraction(2 * chunks, total[21] + total[22])
    return float(mean) * (1 - GAMMA * float(parts) ** BETA)


LETTER = "A-Za-zÀ-ÖØ-öø-žŠŽšžŸ\u0400-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
RULES = [
    (f"([^{LETTER}0-9 \\t\\n\\v\\f\\r.',\\-‘’`])", r" \1 "),
    (r"(\.\.+)", r" \1 "),
    (r"([^0-9]),([^0-9])", r"\1 , \2"),
    (r"([0-9]),([^0-9])", r"\1 , \2"),
    (r"([^0-9]),([0-9])", r"\1 , \2"),
    (r"[`‘’]", "'"),
    (r"[“”]|''", ' " '),
    (r"–", "-"),
    (r"--", "-"),
    (f"([{LETTER}0-9.])-([{LETTER}0-9])", r"\1 \2"),
    (f"([^{LETTER}])'([^{LETTER}])", r"\1 ' \2"),
    (f"([^{LETTER}0-9])'([{LETTER}])", r"\1 ' \2"),
    (f"([{LETTER}])'([^{LETTER}])", r"\1 ' \2"),
    (f"([{LETTER}])'([{LETTER}])", r"\1 '\2"),
    (r"([0-9])'s", r"\1 's"),
]
SPACES = "[\u00a0\u2000-\u200a\u202f\u205f\u3000]"
CONTROL_CHARACTERS = "".join(map(chr, range(33)))


def keeps_its_stop(stem, following, prefixes, numeric):
    """Whether the stop after ``stem`` belongs to the word."""
    if stem in prefixes or re.match("[a-z]", following):
        return True
    return stem in numeric and bool(re.match("[0-9]", following))


def split_stops(words, prefixes, numeric):
    """Separate the stops that end a sentence from their words."""
    tokens = []
    for word, following in zip(words, [*words, ""][1:], strict=True):
        stem = word[:-1]
        if not word.endswith(".") or set(word) == {"."}:
            tokens.append(word)
        elif "." in stem and re.search(f"[{LETTER}]", stem):
            tokens.append(word.replace(".", ""))
        elif keeps_its_stop(stem, following, prefixes, numeric):
            tokens.append(word)
        else:
            tokens += [stem, "."]
    return tokens


def split(text, prefixes=(), numeric=()):
    """The words of a caption."""
    text = f" {text} "
    for pattern, replacement in RULES:
        text = re.sub(pattern, replacement, text)
    words = [word for word in re.split("[ \t\n\f\r]", text) if word]
    tokens = split_stops(words, prefixes, numeric)
    tokens = [token for token in tokens if not re.match(SPACES, token)]
    text = " ".join(tokens).strip(CONTROL_CHARACTERS)
    return [word.lower() for word in text.split(" ") if word]


class Match(NamedTuple):
    """The first word and the number of words in both captions, and the stage."""

    ref: int
    n_ref: int
    cand: int
    n_cand: int
    stage: int

    def ref_words(self):
        return range(self.ref, self.ref + self.n_ref)

    def cand_words(self):
        return range(self.cand, self.cand + self.n_cand)


class Data:
    """Functions for stems and synsets of words, paraphrases, and function words."""

    def __init__(self, stem, synsets, paraphrases, function=()):
        self.stem = stem
        self.synsets = synsets
        self.function = set(function)
        self.paraphrases = {}
        for phrase, other in paraphrases:
            others = self.paraphrases.setdefault(tuple(phrase.split()), [])
            others.append(tuple(other.split()))

    def matches(self, cand, ref):
        """All matches, by stage: exact, stem, synonym and paraphrase."""
        exact = []
        stems = []
        synonyms = []
        for j, ref_word in enumerate(ref):
            for i, cand_word in enumerate(cand):
                if ref_word == cand_word:
                    exact.append(Match(j, 1, i, 1, 0))
                    continue
                if self.stem(ref_word) == self.stem(cand_word):
                    stems.append(Match(j, 1, i, 1, 1))
                if self.synsets(ref_word) & self.synsets(cand_word):
                    synonyms.append(Match(j, 1, i, 1, 2))
        if cand == ref:
            return exact
        from_ref = [Match(*place, 3) for place in self.phrases(ref, cand)]
        from_cand = []
        for i, n_cand, j, n_ref in self.phrases(cand, ref):
            from_cand.append(Match(j, n_ref, i, n_cand, 3))
        return exact + stems + synonyms + from_ref + from_cand

    def phrases(self, words, others):
        """Places and lengths of phrases of ``words`` and paraphrases in ``others``."""
        for i in range(len(words)):
            for n in range(1, len(words) - i + 1):
                for phrase in self.paraphrases.get(tuple(words[i : i + n]), ()):
                    for j in occurrences(phrase, others):
                        yield i, n, j, len(phrase)

    def n_function_words(self, words):
        return sum(word in self.function for word in words)

    def line(self, cand, ref):
        """The counts of a pair."""
        chosen = align(self.matches(cand, ref), len(ref), len(cand))
        counts = [len(cand), len(ref)]
        counts.append(self.n_function_words(cand))
        counts.append(self.n_function_words(ref))
        for stage in range(4):
            cand_words = []
            ref_words = []
            for match in chosen:
                if match.stage == stage:
                    cand_words += [cand[i] for i in match.cand_words()]
                    ref_words += [ref[j] for j in match.ref_words()]
            cand_function = self.n_function_words(cand_words)
            ref_function = self.n_function_words(ref_words)
            counts.append(len(cand_words) - cand_function)
            counts.append(len(ref_words) - ref_function)
            counts.append(cand_function)
            counts.append(ref_function)
        counts.append(n_chunks(chosen))
        counts.append(sum(match.n_cand for match in chosen))
        counts.append(sum(match.n_ref for match in chosen))
        return counts


def occurrences(phrase, words):
    """Where a phrase begins in a list of words."""
    n = len(phrase)
    starts = range(len(words) - n + 1)
    return [start for start in starts if tuple(words[start : start + n]) == phrase]


def n_chunks(matches):
    """The number of runs of matches that are adjacent in both captions."""
    chunks = 0
    end = None
    for match in matches:
        if (match.ref, match.cand) != end:
            chunks += 1
        end = (match.ref + match.n_ref, match.cand + match.n_cand)
    return chunks


class Path(NamedTuple):
    """A partial alignment in the beam.

    ``cand_end`` is the end of the last match in the candidate if the chunk is still
    open, and ``ref_end`` the end of the last match in the reference.
    """

    words: int = 0
    chunks: int = 0
    distance: int = 0
    matches: tuple = ()
    cand_end: int | None = None
    ref_end: int = 0

    def rank(self):
        return -self.words, self.chunks, self.distance

    def uses(self, match):
        """Whether a word of the match is already matched in the candidate."""
        for other in self.matches:
            if set(other.cand_words()) & set(match.cand_words()):
                return True
        return False

    def with_distance(self, match):
        return self._replace(distance=self.distance + abs(match.ref - match.cand))

    def with_match(self, match):
        if match.stage == 0:
            words = match.n_ref + match.n_cand
        else:
            words = match.n_ref // 2 + match.n_cand // 2
        starts_chunk = self.cand_end is not None and self.cand_end != match.cand
        return Path(
            self.words + words,
            self.chunks + starts_chunk,
            self.distance,
            (*self.matches, match),
            match.cand + match.n_cand,
            match.ref + match.n_ref,
        )

    def with_closed_chunk(self):
        chunks = self.chunks + (self.cand_end is not None)
        return self._replace(chunks=chunks, cand_end=None)


def only_match(match, matches):
    """Whether no other match has a word of this one."""
    for other in matches:
        if other is match:
            continue
        if set(other.ref_words()) & set(match.ref_words()):
            return False
        if set(other.cand_words()) & set(match.cand_words()):
            return False
    return True


def branches(path, here, is_only):
    """The paths that follow from the matches that begin at one reference word."""
    if is_only:
        return [path.with_distance(here[0]).with_match(here[0])]
    followers = []
    for match in here:
        if not path.uses(match):
            followers.append(path.with_match(match))
            # As in the program, the next branches also have this distance.
            path = path.with_distance(match)
    return [*followers, path.with_closed_chunk()]


def align(matches, n_ref, n_cand, beam=40):
    """The matches that METEOR's beam search chooses."""
    matches = [Match(*match) for match in matches]
    paths = [Path()]
    for j in range(n_ref):
        here = [match for match in matches if match.ref == j]
        is_only = len(here) == 1 and only_match(here[0], matches)
        followers = []
        for path in paths:
            if path.ref_end > j:
                followers.append(path)
            else:
                followers += branches(path, here, is_only)
        paths = sorted(followers, key=Path.rank)[:beam]
    closed = [path.with_closed_chunk() for path in paths]
    return min(closed, key=Path.rank).matches
