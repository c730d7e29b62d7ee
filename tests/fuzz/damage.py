"""Damaged files, and cases that follow from their seeds alone."""

import random
import time

import pytest

TOKENS = [
    *(
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b";",
        b"|",
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b" ",
    ),
    *(
        b"\\",
        b"\0",
        b"\xff",
        b"\x80",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\xe2\x80\xa8",
        b"\x1f\x8b",
    ),
    *(
        b"NaN",
        b"Infinity",
        b"-1",
        b"1e999",
        b"1_0",
        b"null",
        b"true",
        b"0.5",
        b"9" * 400,
    ),
    *(
        b"1" * 5000,
        b"[" * 3000,
        b'{"a":' * 3000,
        b'"a":[],"a":[],',
        b"\\ud800",
        b"\\u0000",
    ),
    *(
        b"id",
        b"labels",
        b"scores",
        b"image_id",
        b"annotations",
        b"(9, 9)",
        b"|O",
        b"<U9",
        b"\\x",
    ),
    *(
        b"caption",
        b"references",
        b'"caption":1,',
        b'"a b c d e f",',
        b"\xc2\x85",
        b"\x1c",
        b"\x0c",
    ),
    *(
        b'""',
        b"\n\n",
        b"}\n{",
        b"}{",
        b'"tags":[],',
        b'"x":{"y":1,"y":2},',
        b"007",
        b"1.0",
    ),
    *(b"PK\x03\x04", b"PAR1", b"\x93NUMPY", b"csr", b"\x80\x04N."),
]


def mutate(rng, data, most=4):
    """One or more damages: a flipped bit, a byte, a part cut out, doubled or put in, an end."""
    for _ in range(rng.randint(1, most)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([1, 2, 8, 64]))
        damage = rng.randrange(7)
        if damage == 0 and start < len(data):
            data = (
                data[:start]
                + bytes([data[start] ^ (1 << rng.randrange(8))])
                + data[start + 1 :]
            )
        elif damage == 1:
            data = data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]
        elif damage == 2:
            data = data[:start] + data[end:]
        elif damage == 3:
            data = data[:end] + data[start:]
        elif damage == 4:
            data = data[:start]
        else:
            data = (
                data[:start]
                + rng.choice(TOKENS)
                + data[start if damage == 5 else end :]
            )
    return data


def run_cases(run_case, seconds, first):
    """Run the case of each seed from one on, until the time is over; return how many.

    ``SEMMETRICS_FUZZ_SEED=n SEMMETRICS_FUZZ_SECONDS=0`` runs one case again.
    """
    end, seed = time.monotonic() + seconds, first
    while True:
        try:
            run_case(random.Random(seed))
        except Exception as error:
            pytest.fail(f"SEMMETRICS_FUZZ_SEED={seed}: {type(error).__name__}: {error}")
        seed += 1
        if time.monotonic() >= end:
            return seed - first
