"""Damaged files, and cases that depend only on their seeds."""

import random
import time

import pytest

PUNCTUATION = [bytes([code]) for code in b'"{}[],:;|\\']
SPACE = [b"\n", b"\r", b"\r\n", b"\t", b" ", b"\x1c", b"\x0c", b"\n\n"]
BYTES = [
    *(b"\0", b"\xff", b"\x80"),
    *(b"\xef\xbb\xbf", b"\xff\xfe"),  # byte order marks
    *(b"\xe2\x80\xa8", b"\xc2\x85"),  # Unicode line separators
]
NUMBERS = [
    *(b"NaN", b"Infinity", b"-1", b"1e999", b"1_0", b"0.5", b"007", b"1.0"),
    *(b"9" * 400, b"1" * 5000),
]
JSON = [
    *(b"null", b"true", b"[" * 3000, b'{"a":' * 3000, b'"a":[],"a":[],'),
    *(b"\\ud800", b"\\u0000", b'""', b"}\n{", b"}{"),
    *(b'"tags":[],', b'"x":{"y":1,"y":2},', b'"caption":1,', b'"a b c d e f",'),
]
NAMES = [b"id", b"labels", b"scores", b"image_id", b"annotations", b"caption"]
NAMES.append(b"references")
BINARY = [
    *(b"(9, 9)", b"|O", b"<U9", b"\\x"),  # headers of arrays
    *(b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\x93NUMPY", b"csr", b"\x80\x04N."),
]
TOKENS = [*PUNCTUATION, *SPACE, *BYTES, *NUMBERS, *JSON, *NAMES, *BINARY]


def mutate(rng, data, most=4):
    """Damage data in one to ``most`` places."""
    for _ in range(rng.randint(1, most)):
        data = rng.choice(DAMAGES)(rng, data)
    return data


def draw_range(rng, data):
    """Return the start and the end of a short part of data."""
    start = rng.randrange(len(data) + 1)
    size = rng.choice([1, 2, 8, 64])
    return start, min(len(data), start + size)


def flip_bit(rng, data):
    start, _ = draw_range(rng, data)
    if start == len(data):
        return data
    flipped = data[start] ^ (1 << rng.randrange(8))
    return data[:start] + bytes([flipped]) + data[start + 1 :]


def change_byte(rng, data):
    start, _ = draw_range(rng, data)
    return data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]


def remove_part(rng, data):
    start, end = draw_range(rng, data)
    return data[:start] + data[end:]


def repeat_part(rng, data):
    start, end = draw_range(rng, data)
    return data[:end] + data[start:]


def truncate(rng, data):
    start, _ = draw_range(rng, data)
    return data[:start]


def insert_token(rng, data):
    start, _ = draw_range(rng, data)
    return data[:start] + rng.choice(TOKENS) + data[start:]


def replace_by_token(rng, data):
    start, end = draw_range(rng, data)
    return data[:start] + rng.choice(TOKENS) + data[end:]


DAMAGES = [
    flip_bit,
    change_byte,
    remove_part,
    repeat_part,
    truncate,
    insert_token,
    replace_by_token,
]


def run_cases(run_case, seconds, first_seed):
    """Run the cases of consecutive seeds until the time is over, and return their number.

    ``SEMMETRICS_FUZZ_SEED=n SEMMETRICS_FUZZ_SECONDS=0`` runs one case again.
    """
    end = time.monotonic() + seconds
    seed = first_seed
    while True:
        try:
            run_case(random.Random(seed))
        except Exception as error:
            pytest.fail(f"SEMMETRICS_FUZZ_SEED={seed}: {type(error).__name__}: {error}")
        seed += 1
        if time.monotonic() >= end:
            return seed - first_seed
