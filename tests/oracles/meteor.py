"""METEOR 1.5: its value of statistics lines, with fractions as far as there is no root, and lines.

A line has 23 numbers: words of the candidate and of the reference, function words of both; for
each stage content words and function words that match, of both; chunks; matched words of both.
"""

from __future__ import annotations

import re
from fractions import Fraction

ALPHA, BETA, GAMMA, DELTA = Fraction(85, 100), 0.2, 0.6, Fraction(3, 4)
STAGES = [Fraction(1), Fraction(3, 5), Fraction(4, 5), Fraction(3, 5)]


def whole(line):
    """Whether all words of both sides match in one chunk."""
    return line[20] == 1 and line[21] == line[0] and line[22] == line[1]


def share(line, side):
    """Weighted matches of a side over its weighted words."""
    words, function = line[side], line[2 + side]
    length = DELTA * (words - function) + (1 - DELTA) * function
    matches = 0
    for stage, weight in enumerate(STAGES):
        content, small = line[4 + 4 * stage + side], line[6 + 4 * stage + side]
        matches += weight * (DELTA * content + (1 - DELTA) * small)
    return Fraction(matches) / length if length else Fraction(0)


def meteor(lines):
    """The value of segments together."""
    lines = [[int(number) for number in line] for line in lines]
    total = [sum(column) for column in zip(*lines, strict=True)]
    chunks = sum(line[20] for line in lines if not whole(line))
    precision, recall = share(total, 0), share(total, 1)
    if not precision or not recall:
        return 0.0
    mean = 1 / (ALPHA / recall + (1 - ALPHA) / precision)
    parts = Fraction(2 * chunks, total[21] + total[22])
    return float(mean) * (1 - GAMMA * float(parts) ** BETA)


# ---- words, matches and alignment, one pair at a time -------------------------------------------

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


def split(text, prefixes=(), numeric=()):
    """The words of a caption."""
    text = f" {text} "
    for pattern, instead in RULES:
        text = re.sub(pattern, instead, text)
    words, found = [word for word in re.split("[ \t\n\f\r]", text) if word], []
    for word, following in zip(words, [*words, ""][1:], strict=True):
        rest = word[:-1]
        if not word.endswith(".") or set(word) == {"."}:
            found.append(word)
        elif "." in rest and re.search(f"[{LETTER}]", rest):
            found.append(word.replace(".", ""))
        elif (
            rest in prefixes
            or re.match("[a-z]", following)
            or (rest in numeric and re.match("[0-9]", following))
        ):
            found.append(word)
        else:
            found += [rest, "."]
    found = [
        word
        for word in found
        if not re.match("[\u00a0\u2000-\u200a\u202f\u205f\u3000]", word)
    ]
    text = " ".join(found).strip("".join(map(chr, range(33))))
    return [word.lower() for word in text.split(" ") if word]


class Data:
    """Stems and synsets of words, by functions; paraphrases of phrases; function words."""

    def __init__(self, stem, synsets, paraphrases, function=()):
        self.stem, self.synsets, self.function = stem, synsets, set(function)
        self.paraphrases = {}
        for phrase, other in paraphrases:
            self.paraphrases.setdefault(tuple(phrase.split()), []).append(
                tuple(other.split())
            )

    def matches(self, cand, ref):
        """All matches: where they begin in the reference and how long they are, the same of the
        candidate, and the stage."""
        both = [(j, i) for j in range(len(ref)) for i in range(len(cand))]
        found = [(j, 1, i, 1, 0) for j, i in both if ref[j] == cand[i]]
        if cand == ref:
            return found
        other = [(j, i) for j, i in both if ref[j] != cand[i]]
        found += [
            (j, 1, i, 1, 1) for j, i in other if self.stem(ref[j]) == self.stem(cand[i])
        ]
        found += [
            (j, 1, i, 1, 2)
            for j, i in other
            if self.synsets(ref[j]) & self.synsets(cand[i])
        ]
        found += [(j, n, i, m, 3) for j, n, i, m in self.phrases(ref, cand)]
        return found + [(j, n, i, m, 3) for i, m, j, n in self.phrases(cand, ref)]

    def phrases(self, words, others):
        for i in range(len(words)):
            for n in range(1, len(words) - i + 1):
                for phrase in self.paraphrases.get(tuple(words[i : i + n]), ()):
                    for j in range(len(others) - len(phrase) + 1):
                        if tuple(others[j : j + len(phrase)]) == phrase:
                            yield i, n, j, len(phrase)

    def line(self, cand, ref):
        """The statistics line of a pair."""
        chosen = align(self.matches(cand, ref), len(ref), len(cand))
        line = [
            len(cand),
            len(ref),
            *(sum(w in self.function for w in one) for one in (cand, ref)),
        ]
        for stage in range(4):
            sides = [
                [
                    w in self.function
                    for m in chosen
                    if m[4] == stage
                    for w in side[m[at] :][: m[at + 1]]
                ]
                for side, at in ((cand, 2), (ref, 0))
            ]
            line += [side.count(small) for small in (False, True) for side in sides]
        ends = [(j + n, i + m) for j, n, i, m, _ in chosen]
        chunks = sum(
            (m[0], m[2]) != end for m, end in zip(chosen, [None, *ends], strict=False)
        )
        return [*line, chunks, sum(m[3] for m in chosen), sum(m[1] for m in chosen)]


def align(matches, n_ref, n_cand, beam=40):
    """The matches that METEOR's beam chooses."""
    at = [[m for m in matches if m[0] == j] for j in range(n_ref)]
    cover_ref = [sum(m[0] <= j < m[0] + m[1] for m in matches) for j in range(n_ref)]
    cover_cand = [sum(m[2] <= i < m[2] + m[3] for m in matches) for i in range(n_cand)]

    def alone(m):
        return {1} == {*cover_ref[m[0] : m[0] + m[1]], *cover_cand[m[2] : m[2] + m[3]]}

    # matched words, chunks, distance; the matches, where the last one ends in the candidate if it
    # ended here, and where in the reference
    def take(path, m):
        words, chunks, far, taken, last, _ = path
        words += m[1] + m[3] if m[4] == 0 else m[1] // 2 + m[3] // 2
        chunks += last is not None and last != m[2]
        return words, chunks, far, (*taken, m), m[2] + m[3], m[0] + m[1]

    def rank(path):
        return -path[0], path[1], path[2]

    paths = [(0, 0, 0, (), None, 0)]
    for j in range(n_ref):
        branches = []
        for path in paths:
            words, chunks, far, taken, last, end = path
            if end > j:
                branches.append(path)
                continue
            if len(at[j]) == 1 and alone(at[j][0]):
                m = at[j][0]
                branches.append(
                    take((words, chunks, far + abs(m[0] - m[2]), *path[3:]), m)
                )
                continue
            used = {i for m in taken for i in range(m[2], m[2] + m[3])}
            for m in at[j]:
                if used.isdisjoint(range(m[2], m[2] + m[3])):
                    branches.append(take((words, chunks, far, *path[3:]), m))
                    far += abs(m[0] - m[2])
            branches.append((words, chunks + (last is not None), far, taken, None, end))
        paths = sorted(branches, key=rank)[:beam]
    closed = [
        (words, chunks + (last is not None), *more, last, end)
        for words, chunks, *more, last, end in paths
    ]
    return min(closed, key=rank)[3]
