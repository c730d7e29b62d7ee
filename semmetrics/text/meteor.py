"""Matches of METEOR 1.5 between English captions, and their counts, without Java.

Conventions
-----------
The rules were found by running METEOR's program. On 150,000 pairs of captions all counts
are equal to the program's. Its word lists and paraphrases are read from the package
pycocoevalcap, which also contains the program.

A match is a pair of words, or of phrases, at a *stage*: equal words, equal stems, words
with a common synset, or paraphrases. The same words can match at several stages. Two
phrases that are paraphrases of each other match twice. If both captions have the same
words, only equal words match.

Matches of a pair of captions are ordered by their position in the reference. At one
position, word matches come first, by stage and position in the candidate. Then come the
phrases of the reference that have a paraphrase in the candidate, then the phrases of
the candidate that have one in the reference.

References
----------
Denkowski and Lavie, 2014, Meteor Universal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from semmetrics.text.meteor_words import normalize, read_list
from semmetrics.text.paraphrases import Paraphrases, Phrases
from semmetrics.text.porter2 import english_stem
from semmetrics.text.synonyms import open_synonyms
from semmetrics.text.tokenizers import encode_tokens

STAGES = "exact", "stem", "synonym", "paraphrase"
_PARAPHRASE_STAGE = len(STAGES) - 1

_MAX_CELLS_PER_BATCH = 1 << 19
_MAX_MATCHES = 1 << 20  # a word that occurs 1,024 times in both captions has as many
_MAX_WORDS = 1 << 14  # of a caption
_MAX_WORD_PAIRS = 1 << 25  # of two captions, such as 5,792 words each
_HASH_BITS = 22
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_NO_MATCHES = Matches(*np.zeros((6, 0), np.int32))

# Columns of the counts of a pair of captions. All but the chunks have one column for the
# candidate and the next for the reference.
_N_COUNTS = 23
_WORDS = 0
_FUNCTION_WORDS = 2
_MATCHED_BY_STAGE = slice(4, 20)
_CHUNKS = 20
_MATCHED = slice(21, 23)
# Kinds of matched words.
_CONTENT = 0
_FUNCTION = 1


# ---- look-ups ------------------------------------------------------------------------


class PairLookup:
    """A set of pairs of numbers, to be found among many other pairs.

    Parameters
    ----------
    first, second : int arrays, shape (pairs,)
        Numbers below ``n``.
    n : int

    Examples
    --------
    >>> lookup = PairLookup(np.array([0, 2]), np.array([1, 0]), 3)
    >>> positions, pairs = lookup.find(np.array([0, 1, 2]), np.array([0, 2, 0]))
    >>> positions.tolist(), pairs.tolist()
    ([2], [1])
    """

    def __init__(self, first: Ints, second: Ints, n: int) -> None:
        keys = first * n + second
        self._n = n
        self._order = np.argsort(keys, kind="stable")
        # The last key is never found, so that an index behind the other keys is valid.
        self._sorted_keys = np.append(keys[self._order], np.iinfo(np.int64).max)
        # Most pairs are rejected by their hash, which is faster than a binary search.
        self._has_hash = np.zeros(1 << _HASH_BITS, np.bool_)
        self._has_hash[_hash(keys)] = True

    def find(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """Find pairs that are in the set.

        Returns
        -------
        positions : int array
            Where ``first`` and ``second`` have a pair of the set.
        pairs : int array
            The number of each such pair in the set.
        """
        keys = first * self._n + second
        candidates = np.flatnonzero(self._has_hash[_hash(keys)])
        keys = keys[candidates]
        index = np.searchsorted(self._sorted_keys, keys)
        is_found = self._sorted_keys[index] == keys
        return candidates[is_found], self._order[index[is_found]]


def _hash(keys: Ints) -> NDArray[np.uint64]:
    """Return a hash of ``_HASH_BITS`` bits for each key."""
    hashes = keys.astype(np.uint64)
    hashes *= _HASH_FACTOR
    hashes >>= np.uint64(64 - _HASH_BITS)
    return hashes


def _pairs_with_common_feature(features: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return all ordered pairs of different rows that have a feature in common."""
    n_rows = len(features)
    flat = np.array(list(chain(*features)), np.int64)
    row = np.repeat(np.arange(n_rows), list(map(len, features)))
    # Sort the occurrences of features, so that equal features are neighbours.
    _, code = np.unique(flat, return_inverse=True)
    order = np.argsort(code, kind="stable")
    row = row[order]
    code = code[order]
    # Pair each occurrence with all occurrences of its feature.
    starts_of_codes = offsets(np.bincount(code))
    indptr, partners = take_rows(starts_of_codes, code)
    first = row[row_numbers(indptr)]
    second = row[partners]
    differs = first != second
    keys = np.unique((first * n_rows + second)[differs])
    first, second = np.divmod(keys, max(1, n_rows))
    return first, second


class _Cells(NamedTuple):
    """Cells of tables, one for each pair of captions.

    A table has one row per element of the reference and one column per element of the
    candidate. Elements are words or phrases.

    Attributes
    ----------
    pair, row, column : int arrays, shape (cells,)
    """

    pair: Ints
    row: Ints
    column: Ints


def _batches_of_cells(n_rows: Ints, n_columns: Ints) -> Iterator[_Cells]:
    """Yield all cells of tables of these sizes, in batches."""
    indptr_of_rows = offsets(n_rows)
    pair = row_numbers(indptr_of_rows)
    row = positions(indptr_of_rows)
    widths = n_columns[pair]
    for run in runs_within(offsets(widths), _MAX_CELLS_PER_BATCH):
        indptr_of_cells = offsets(widths[run])
        row_of_cell = row_numbers(indptr_of_cells) + run.start
        column = positions(indptr_of_cells)
        yield _Cells(pair[row_of_cell], row[row_of_cell], column)


# ---- matches -------------------------------------------------------------------------


class _CaptionPairs(NamedTuple):
    """Pairs of captions, by their numbers.

    Attributes
    ----------
    candidates, references : int arrays, shape (pairs,)
    differ : bool array, shape (pairs,)
        Whether the captions have different words.
    """

    candidates: Ints
    references: Ints
    differ: Bools


class _PhraseHits(NamedTuple):
    """Phrases and their paraphrases in the other caption of a pair.

    Attributes
    ----------
    pair : int array, shape (hits,)
    phrase, paraphrase : int arrays, shape (hits,)
        Numbers of phrases in all captions.
    entry : int array, shape (hits,)
        The number of the entry in the table of paraphrases.
    """

    pair: Ints
    phrase: Ints
    paraphrase: Ints
    entry: Ints


class _PhraseMatcher:
    """Finds phrases in pairs of captions that are paraphrases.

    Parameters
    ----------
    phrases : Phrases
        The phrases of all captions.
    """

    def __init__(self, phrases: Phrases) -> None:
        self._phrases = phrases
        self._paraphrases = PairLookup(phrases.first, phrases.second, phrases.n)

    def find(
        self, pairs: _CaptionPairs
    ) -> Iterator[tuple[_Cells, _PhraseHits, _PhraseHits]]:
        """Yield paraphrases in batches of cells.

        Yields
        ------
        cells : _Cells
        of_references, of_candidates : _PhraseHits
            Phrases of references that have a paraphrase in the candidate, and the
            reverse.
        """
        phrases = self._phrases
        n_phrases = lengths(phrases.indptr)
        n_ref_phrases = np.where(pairs.differ, n_phrases[pairs.references], 0)
        n_cand_phrases = np.where(pairs.differ, n_phrases[pairs.candidates], 0)
        for cells in _batches_of_cells(n_ref_phrases, n_cand_phrases):
            ref_phrase = phrases.indptr[pairs.references[cells.pair]] + cells.row
            cand_phrase = phrases.indptr[pairs.candidates[cells.pair]] + cells.column
            ref_code = phrases.codes[ref_phrase]
            cand_code = phrases.codes[cand_phrase]
            hits, entry = self._paraphrases.find(ref_code, cand_code)
            pair = cells.pair[hits]
            of_references = _PhraseHits(
                pair, ref_phrase[hits], cand_phrase[hits], entry
            )
            hits, entry = self._paraphrases.find(cand_code, ref_code)
            pair = cells.pair[hits]
            of_candidates = _PhraseHits(
                pair, cand_phrase[hits], ref_phrase[hits], entry
            )
            yield cells, of_references, of_candidates

    def matches(self, pair: Ints, ref_phrase: Ints, cand_phrase: Ints) -> Matches:
        """Return the matches of pairs of phrases."""
        phrases = self._phrases
        return _as_matches(
            pair,
            phrases.start[ref_phrase],
            phrases.start[cand_phrase],
            phrases.size[ref_phrase],
            phrases.size[cand_phrase],
            np.full(len(pair), _PARAPHRASE_STAGE),
        )


class Sentences:
    """Captions to be matched with each other. Words and phrases are looked up once.

    Parameters
    ----------
    captions : sequence of str
    paraphrases : Paraphrases, optional
        Without them the last stage has no matches.

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
        function_words = set(read_list("function/english.words"))
        is_function_word = [word in function_words for word in vocabulary]
        # How many function words precede each word of all captions.
        self._function_words = offsets(np.array(is_function_word, np.bool_)[codes])
        self._first_equal = _number_by_first_equal(self.words)
        self._words_with_same_stem = _pairs_with_same_stem(vocabulary)
        self._words_with_same_synset = _pairs_with_same_synset(vocabulary)
        self._phrase_matcher = None
        if paraphrases is not None:
            phrases = paraphrases.find(self._indptr, codes, vocabulary)
            self._phrase_matcher = _PhraseMatcher(phrases)

    def match(self, candidates: Ints, references: Ints) -> Matches:
        """Return all matches of pairs of captions.

        Parameters
        ----------
        candidates, references : int arrays, shape (pairs,)
            Numbers of captions.

        Raises
        ------
        InputError
            If two captions are too long to be compared, or have too many matches to be
            stored.
        """
        self._check_sizes(candidates, references)
        differ = self._first_equal[candidates] != self._first_equal[references]
        pairs = _CaptionPairs(candidates, references, differ)
        matches_by_stage, n_matches = self._match_words(pairs)
        parts = list(chain.from_iterable(matches_by_stage))
        if self._phrase_matcher is not None:
            parts += self._match_phrases(self._phrase_matcher, pairs, n_matches)
        columns = zip(*parts, strict=True)
        matches = Matches._make(map(np.concatenate, columns))
        width = np.int64(self.sizes.max(initial=0) + 1)
        order = np.argsort(matches.pairs * width + matches.ref, kind="stable")
        return matches.take(order)

    def _check_sizes(self, candidates: Ints, references: Ints) -> None:
        """Raise an error if comparing a pair of captions would take too long."""
        n_pred = self.sizes[candidates]
        n_ref = self.sizes[references]
        is_long = np.maximum(n_pred, n_ref) > _MAX_WORDS
        is_large = n_pred * n_ref > _MAX_WORD_PAIRS
        # Without words on one side there is nothing to compare.
        has_words = np.minimum(n_pred, n_ref) > 0
        too_long = np.flatnonzero((is_long | is_large) & has_words)
        if not len(too_long):
            return
        pair = int(too_long[0])
        raise InputError(
            "caption-too-long",
            self._show(candidates[pair]),
            n_pred=int(n_pred[pair]),
            n_ref=int(n_ref[pair]),
            most=_MAX_WORDS,
            most_pairs=_MAX_WORD_PAIRS,
        )

    def _match_words(self, pairs: _CaptionPairs) -> tuple[list[list[Matches]], int]:
        """Return the matches of single words by stage, and their number."""
        matches_by_stage: list[list[Matches]] = [[_NO_MATCHES] for _ in STAGES]
        n_matches = 0
        first_of_reference = self._indptr[pairs.references]
        first_of_candidate = self._indptr[pairs.candidates]
        n_ref_words = self.sizes[pairs.references]
        n_cand_words = self.sizes[pairs.candidates]
        for cells in _batches_of_cells(n_ref_words, n_cand_words):
            ref_words = self._codes[first_of_reference[cells.pair] + cells.row]
            cand_words = self._codes[first_of_candidate[cells.pair] + cells.column]
            hits_by_stage = [np.flatnonzero(ref_words == cand_words)]
            for lookup in (self._words_with_same_stem, self._words_with_same_synset):
                hits, _ = lookup.find(ref_words, cand_words)
                differ = pairs.differ[cells.pair[hits]]
                hits_by_stage.append(hits[differ])
            for stage, hits in enumerate(hits_by_stage):
                matches_by_stage[stage].append(_word_matches(cells, hits, stage))
                n_matches += len(hits)
            if n_matches > _MAX_MATCHES:
                raise self._too_many_matches(pairs, cells)
        return matches_by_stage, n_matches

    def _match_phrases(
        self, matcher: _PhraseMatcher, pairs: _CaptionPairs, n_matches: int
    ) -> list[Matches]:
        """Return the matches of phrases: paraphrases in candidates, then in references.

        ``n_matches`` is the number of matches of words.
        """
        no_hits = _PhraseHits(*_NO_MATCHES[:4])
        all_of_references = [no_hits]
        all_of_candidates = [no_hits]
        for cells, of_references, of_candidates in matcher.find(pairs):
            all_of_references.append(of_references)
            all_of_candidates.append(of_candidates)
            n_matches += len(of_references.pair) + len(of_candidates.pair)
            if n_matches > _MAX_MATCHES:
                raise self._too_many_matches(pairs, cells)
        hits = _concatenate_and_sort(all_of_references)
        paraphrased_references = matcher.matches(
            hits.pair, ref_phrase=hits.phrase, cand_phrase=hits.paraphrase
        )
        hits = _concatenate_and_sort(all_of_candidates)
        paraphrased_candidates = matcher.matches(
            hits.pair, ref_phrase=hits.paraphrase, cand_phrase=hits.phrase
        )
        return [paraphrased_references, paraphrased_candidates]

    def _too_many_matches(self, pairs: _CaptionPairs, cells: _Cells) -> InputError:
        """Return the error for too many matches. Most are in the last pair."""
        caption = pairs.candidates[cells.pair[-1]]
        return InputError("too-many-matches", self._show(caption), most=_MAX_MATCHES)

    def _show(self, caption: int) -> str:
        """Return the words of a caption for messages."""
        return brief(" ".join(self.words[caption]))

    def runs(self, candidates: Ints, references: Ints) -> Iterator[slice]:
        """Yield runs of pairs whose matches fit in memory together."""
        cells = (1 + self.sizes[candidates]) * (1 + self.sizes[references])
        yield from runs_within(offsets(cells), _MAX_CELLS_PER_BATCH)

    def align(self, candidates: Ints, references: Ints) -> Matches:
        """Return the matches of pairs of captions that METEOR chooses."""
        matches = self.match(candidates, references)
        is_chosen = align(matches, self.sizes[references], self.sizes[candidates])
        return matches.take(is_chosen)

    # ---- counts ----------------------------------------------------------------------

    def counts(self, candidates: Ints, references: Ints) -> Ints:
        """Return METEOR's counts of pairs of captions.

        Parameters
        ----------
        candidates, references : int arrays, shape (pairs,)
            Numbers of captions.

        Returns
        -------
        int array, shape (pairs, 23)
            Columns 0 and 1 are the words of the candidate and of the reference, columns
            2 and 3 their function words. For each of `STAGES` there are four columns:
            matched content words of both, then matched function words of both. The last
            three columns are the chunks, and all matched words of both.
        """
        parts = [np.zeros((0, _N_COUNTS), np.int64)]
        for run in self.runs(candidates, references):
            parts.append(self._count(candidates[run], references[run]))
        return np.concatenate(parts)

    def _count(self, candidates: Ints, references: Ints) -> Ints:
        """Return the counts of pairs whose matches fit in memory."""
        matches = self.align(candidates, references)
        n_pairs = len(candidates)
        n_stages = len(STAGES)
        pair_and_stage = matches.pairs * n_stages + matches.stage
        cand_end = matches.cand + matches.n_cand
        ref_end = matches.ref + matches.n_ref
        sides = (
            (candidates, matches.cand, cand_end),
            (references, matches.ref, ref_end),
        )
        counts = np.zeros((n_pairs, _N_COUNTS), np.int64)
        # By pair and stage, content or function words, candidate or reference.
        matched = np.zeros((n_pairs * n_stages, 2, 2), np.int64)
        for side, (captions, start, end) in enumerate(sides):
            caption_start = self._indptr[captions]
            caption_end = self._indptr[captions + 1]
            n_function_words = self._count_function_words(caption_start, caption_end)
            counts[:, _WORDS + side] = self.sizes[captions]
            counts[:, _FUNCTION_WORDS + side] = n_function_words
            offset = caption_start[matches.pairs]
            n_function = self._count_function_words(offset + start, offset + end)
            n_content = end - start - n_function
            np.add.at(matched[:, _CONTENT, side], pair_and_stage, n_content)
            np.add.at(matched[:, _FUNCTION, side], pair_and_stage, n_function)
        counts[:, _MATCHED_BY_STAGE] = matched.reshape(n_pairs, -1)
        # Sum content and function words, and then the stages.
        matched_of_stages = matched.sum(axis=1).reshape(n_pairs, n_stages, 2)
        counts[:, _MATCHED] = matched_of_stages.sum(axis=1)
        starts_chunk = _starts_chunk(matches, ref_end, cand_end)
        pairs_of_chunks = matches.pairs[starts_chunk]
        counts[:, _CHUNKS] = np.bincount(pairs_of_chunks, minlength=n_pairs)
        return counts

    def _count_function_words(self, start: Ints, end: Ints) -> Ints:
        """Return the number of function words in spans of the words of all captions."""
        return self._function_words[end] - self._function_words[start]


def _number_by_first_equal(word_lists: Sequence[Sequence[str]]) -> Ints:
    """Return the number of the first caption with the same words, for each caption."""
    first_number: dict[tuple[str, ...], int] = {}
    numbers = []
    for number, words in enumerate(word_lists):
        numbers.append(first_number.setdefault(tuple(words), number))
    return np.array(numbers, np.int64)


def _pairs_with_same_stem(vocabulary: Sequence[str]) -> PairLookup:
    """Return the pairs of words with the same stem."""
    code_of_stem: dict[str, int] = {}
    features = []
    for word in vocabulary:
        stem = english_stem(word)
        features.append([code_of_stem.setdefault(stem, len(code_of_stem))])
    first, second = _pairs_with_common_feature(features)
    return PairLookup(first, second, len(vocabulary))


def _pairs_with_same_synset(vocabulary: Sequence[str]) -> PairLookup:
    """Return the pairs of words with a common synset."""
    synonyms = open_synonyms(METEOR_LISTS)
    features = [sorted(synonyms.synsets(word)) for word in vocabulary]
    first, second = _pairs_with_common_feature(features)
    return PairLookup(first, second, len(vocabulary))


def _as_matches(*columns: Ints) -> Matches:
    """Return matches with columns of 32-bit integers, which take half the memory."""
    return Matches._make(column.astype(np.int32) for column in columns)


def _word_matches(cells: _Cells, hits: Ints, stage: int) -> Matches:
    """Return the matches of one word each in some of the cells."""
    one_word = np.ones(len(hits), np.int64)
    return _as_matches(
        cells.pair[hits],
        cells.row[hits],
        cells.column[hits],
        one_word,
        one_word,
        stage * one_word,
    )


def _concatenate_and_sort(parts: Sequence[_PhraseHits]) -> _PhraseHits:
    """Return the hits of all batches by pair, phrase, entry and paraphrase."""
    columns = zip(*parts, strict=True)
    hits = _PhraseHits._make(map(np.concatenate, columns))
    order = np.lexsort((hits.paraphrase, hits.entry, hits.phrase, hits.pair))
    return _PhraseHits._make(column[order] for column in hits)


def _starts_chunk(matches: Matches, ref_end: Ints, cand_end: Ints) -> Bools:
    """Return whether each match begins a chunk, instead of continuing the last one."""
    starts_chunk = np.ones(len(matches.pairs), np.bool_)
    continues = matches.pairs[1:] == matches.pairs[:-1]
    continues &= matches.ref[1:] == ref_end[:-1]
    continues &= matches.cand[1:] == cand_end[:-1]
    starts_chunk[1:] = ~continues
    return starts_chunk
