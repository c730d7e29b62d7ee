"""Files of word vectors for tests."""

from __future__ import annotations

import io
import zipfile

import numpy as np

WORDS = ["cat", "dog", "Parking_Meter", "naïve", "unknown"]
VECTORS = np.array(
    [[1, 0, 0.5], [0.25, -1, 2], [3, 3, 3], [1e-3, 1e5, -7], [0, 0, 1]], np.float32
)


def binary_file(vectors=VECTORS, *, newlines=False, count=5, width=3):
    """Return word2vec's binary format; the original program ends rows with newlines."""
    parts = [f"{count} {width}\n".encode()]
    for word, row in zip(WORDS, vectors, strict=True):
        parts.append(word.encode() + b" " + row.astype("<f4").tobytes())
        if newlines:
            parts.append(b"\n")
    return b"".join(parts)


def text_file(words=WORDS, vectors=VECTORS, *, header=True, tail=""):
    """Return word2vec's text format, or GloVe's, which has no header."""
    lines = []
    if header:
        lines.append(f"{len(words)} {vectors.shape[1]}")
    for word, row in zip(words, vectors.tolist(), strict=True):
        lines.append(" ".join([word, *map(str, row)]) + tail)
    return "".join(f"{line}\n" for line in lines).encode()


def zip_file(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()
