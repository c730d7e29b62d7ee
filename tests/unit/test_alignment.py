"""METEOR's beam search against its oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import meteor as oracle

from semmetrics.core.alignment import Matches, align

STAGE = st.integers(0, 3)
START = st.integers(0, 9)
SIZE = st.integers(1, 3)
MATCH = st.tuples(START, SIZE, START, SIZE, STAGE)  # as the oracle orders the fields


def spread(matches, distance):
    """Return matches that are moved apart, in the order of the reference."""
    moved = []
    for ref, n_ref, cand, n_cand, stage in matches:
        moved.append((ref * distance, n_ref, cand * distance, n_cand, stage))
    return sorted(moved, key=lambda match: match[0])


def to_arrays(matches_by_pair):
    rows = []
    for pair, matches in enumerate(matches_by_pair):
        for ref, n_ref, cand, n_cand, stage in matches:
            rows.append((pair, ref, cand, n_ref, n_cand, stage))
    return Matches(*np.array(rows).T)


@given(
    st.lists(MATCH, min_size=1, max_size=40),
    st.lists(MATCH, max_size=9),
    st.integers(1, 70),
)
@settings(max_examples=300)
def test_the_beam_chooses_the_oracles_matches_for_each_pair(first, last, distance):
    pairs = [spread(first, distance), [], spread(last, distance)]
    n_words = 9 * distance + 4
    sizes = np.full(len(pairs), n_words)

    is_chosen = align(to_arrays(pairs), sizes, sizes).tolist()

    for matches in pairs:
        flags = is_chosen[: len(matches)]
        del is_chosen[: len(matches)]
        chosen = [match for match, flag in zip(matches, flags, strict=True) if flag]
        assert chosen == list(oracle.align(matches, n_words, n_words))
