"""What the recipe and its evaluation take from WordNet: nouns, how common they are, synonyms.

Reads the plain files of WordNet 3.0 as Debian's package wordnet-base installs them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from semmetrics.embed.static import normalise

__all__ = ["FOLDER", "Noun", "Synset", "nouns", "plain", "plurals", "split", "synsets"]

FOLDER = Path("/usr/share/wordnet")

# Lexicographer files whose nouns name what can be seen or pointed at in an image.
# Animals, artifacts, body parts, food, natural objects, persons, plants.
_VISIBLE = {5, 6, 8, 13, 17, 18, 20}
_HYPERNYM = "@"
_PART_OR_WHOLE = ("%p", "%m", "%s", "#p", "#m", "#s")
_INSTANCE = "@i"  # pointer of a named thing, such as a person or a city, to its class


@dataclass(frozen=True)
class Synset:
    """A set of synonyms.

    Attributes
    ----------
    offset : str
        Its place in data.noun, which is its name.
    lexname : int
        Number of its lexicographer file: artifact, animal and so on.
    lemmas : tuple of str
        As written, blanks for underscores.
    instance : bool
        Whether it names one thing, not a class.
    hypernyms : tuple of str
        Offsets of the more general synsets.
    parts : tuple of str
        Offsets of its parts, members and substances, and of the wholes that it is one of.
    gloss : str
        The definition and examples.
    """

    offset: str
    lexname: int
    lemmas: tuple[str, ...]
    instance: bool
    hypernyms: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    gloss: str = ""

    @property
    def visible(self) -> bool:
        """Whether it is an animal, an artifact, a plant or the like."""
        return self.lexname in _VISIBLE


@dataclass(frozen=True)
class Noun:
    """A lemma and what speaks for its being used as a label.

    Attributes
    ----------
    text : str
        As written.
    count : int
        How often its senses occur in WordNet's tagged texts.
    visible : bool
        Whether its first sense is an animal, an artifact, a plant or the like.
    name : bool
        Whether its last word is always written with a capital, or all its senses are instances.
    senses : tuple of str
        Offsets of its synsets, the most frequent first.
    sense_counts : tuple of int
        How often each sense occurs in WordNet's tagged texts.
    """

    text: str
    count: int
    visible: bool
    name: bool
    senses: tuple[str, ...] = ()
    sense_counts: tuple[int, ...] = ()


def synsets(folder: Path = FOLDER) -> list[Synset]:
    """Noun synsets, in file order."""
    return list(_read_synsets(folder / "data.noun"))


def _read_synsets(path: Path) -> Iterator[Synset]:
    with path.open(encoding="ascii") as lines:
        for line in lines:
            if line.startswith("  "):  # the licence, at the head of the file
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            count = int(fields[3], 16)
            lemmas = tuple(fields[4 + 2 * i].replace("_", " ") for i in range(count))
            pointers = fields[5 + 2 * count :]
            yield Synset(
                fields[0],
                int(fields[1]),
                lemmas,
                _INSTANCE in pointers,
                _targets(pointers, _HYPERNYM),
                _targets(pointers, *_PART_OR_WHOLE),
                gloss.strip(),
            )


def _targets(pointers: Sequence[str], *symbols: str) -> tuple[str, ...]:
    """Return the noun synsets that pointers of these symbols lead to.

    A pointer is four fields: the symbol, the offset, the part of speech and which words are meant.
    """
    targets = []
    for place in range(0, len(pointers), 4):
        symbol, offset, speech = pointers[place : place + 3]
        if symbol in symbols and speech == "n":
            targets.append(offset)
    return tuple(targets)


def _tag_counts(path: Path) -> dict[str, dict[int, int]]:
    """Return the occurrences of each sense of each noun lemma, by the number of the sense."""
    counts: dict[str, dict[int, int]] = {}
    with path.open(encoding="ascii") as lines:
        for line in lines:
            key, number, count = line.split()
            lemma, _, sense = key.partition("%")
            if sense.startswith("1:"):  # a noun
                of_lemma = counts.setdefault(lemma.replace("_", " "), {})
                of_lemma[int(number)] = int(count)
    return counts


def nouns(folder: Path = FOLDER) -> list[Noun]:
    """Noun lemmas in the order of index.noun."""
    by_offset = {one.offset: one for one in synsets(folder)}
    counts = _tag_counts(folder / "cntlist.rev")
    found = []
    with (folder / "index.noun").open(encoding="ascii") as lines:
        for line in lines:
            if line.startswith("  "):
                continue
            fields = line.split()
            senses = [by_offset[offset] for offset in fields[-int(fields[2]) :]]
            found.append(_noun(fields[0].replace("_", " "), senses, counts))
    return found


def _noun(
    text: str, senses: list[Synset], counts: Mapping[str, Mapping[int, int]]
) -> Noun:
    written = [lemma for one in senses for lemma in one.lemmas if lemma.lower() == text]
    # not "German shepherd"
    capital = all(lemma.split(" ")[-1][:1].isupper() for lemma in written)
    of_text = counts.get(text, {})
    return Noun(
        text,
        sum(of_text.values()),
        senses[0].visible,
        capital or all(one.instance for one in senses),
        tuple(sense.offset for sense in senses),
        tuple(of_text.get(number, 0) for number in range(1, len(senses) + 1)),
    )


def split(synset: Synset) -> str:
    """What a synset is used for: ``test`` (a quarter), ``choice`` (a quarter) or ``fit``.

    By a hash of its name. Words outside the vocabulary are fitted only on ``fit``; options of the
    recipe were compared on ``choice``; EVALUATION.md reports ``test``.
    """
    last = hashlib.sha256(synset.offset.encode()).digest()[0] % 4
    return {0: "test", 2: "choice"}.get(last, "fit")


def plain(text: str) -> bool:
    """Whether a text looks like a label: one to four words of letters, no abbreviation."""
    words = normalise(text).split()
    return 1 <= len(words) <= 4 and all(len(word) > 1 for word in words)


def plurals(given: Iterable[Noun], folder: Path = FOLDER) -> dict[str, str]:
    """Return the plurals of nouns that occur in WordNet's tagged texts.

    Irregular plurals are those of WordNet's list of exceptions.
    """
    irregular = {}
    with (folder / "noun.exc").open(encoding="ascii") as lines:
        for line in lines:
            plural, *singulars = line.split()
            for singular in singulars:
                irregular.setdefault(singular, plural)
    found = {}
    for noun in given:
        if noun.count and not noun.text.endswith("s"):
            *modifiers, head = noun.text.split(" ")
            plural = irregular.get(head) or _regular_plural(head)
            found[noun.text] = " ".join([*modifiers, plural])
    return found


def _regular_plural(word: str) -> str:
    if word.endswith(("x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
