"""Document frequencies, and matrices of captions."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from golden.harness import Case, attempt, call, plain, with_files
from golden.inputs import CANDIDATES, REFERENCES
from golden.names import spelled

import semmetrics

_TEXTS, _REFS = list(CANDIDATES.values()), list(REFERENCES.values())


def _fit(*args: Any, **options: Any) -> Any:
    return attempt(semmetrics.fit_document_frequencies, *args, **options)


def _frequencies(found: Any) -> Any:
    if isinstance(found, dict):
        return found
    return {
        "documents": found.documents,
        "log": found.log_documents,
        "made": [found.tokenizer, found.stem],
        "hash": found.hash,
        "number": len(found),
        "counts": {
            " ".join(gram): count
            for gram, count in sorted(found.as_dict().items())[:40]
        },
    }


def _merged() -> Any:
    one, other = _fit(_REFS[:2], "whitespace"), _fit(_REFS[2:], "whitespace")
    whole = _fit(_REFS, "whitespace")
    return {
        "merged": _frequencies(one + other),
        "the same": (one + other).hash == whole.hash == (other + one).hash,
        "of other tokens": attempt(lambda: one + _fit(_REFS[2:], "13a")),
        "of other stems": attempt(
            lambda: one + _fit(_REFS[2:], "whitespace", "porter")
        ),
    }


def _kept() -> Any:
    made = {}
    for name in ("df.npz", "df.json", "df.other"):
        _fit(_REFS, "13a", "porter").save(name)
        made[name] = _frequencies(semmetrics.DocumentFrequencies.load(name))
        Path(name).unlink()
    odd = semmetrics.DocumentFrequencies.from_counts(
        {("a b",): 1, ("c",): 2}, documents=2
    )
    made["a blank in JSON"] = attempt(odd.save, "df.json")
    made["nowhere"] = attempt(odd.save, "nowhere/df.npz")
    return made


def _blocks(**options: Any) -> Any:
    return [
        [start, plain(block)]
        for start, block in semmetrics.caption_blocks(_REFS, _TEXTS, **options)
    ]


class _StoppedError(Exception):
    """What stops a run."""


def _stop(done: int, total: int) -> None:
    raise _StoppedError


def _matrix_file() -> Any:
    seen: list[Any] = []
    options: dict[str, Any] = {"memory": 16 * len(_TEXTS) * 2, "out": "phi.npy"}
    with suppress(_StoppedError):
        semmetrics.caption_matrix(_REFS, _TEXTS, progress=_stop, **options)
    made = {
        "unfinished": sorted(path.name for path in Path().glob("phi*")),
        "other blocks": attempt(
            semmetrics.caption_matrix, _REFS, _TEXTS, out="phi.npy"
        ),
        "other captions": attempt(
            semmetrics.caption_matrix, _REFS, _TEXTS[:-1], **options
        ),
        "other type": attempt(
            semmetrics.caption_matrix, _REFS, _TEXTS, out="phi.npy", dtype="float32"
        ),
    }
    options["progress"] = lambda *done: seen.append(done)
    found = semmetrics.caption_matrix(_REFS, _TEXTS, **options)
    made |= {
        "shape": list(found.shape),
        "writeable": found.flags.writeable,
        "progress": plain(seen),
        "equal": bool((found == semmetrics.caption_matrix(_REFS, _TEXTS)).all()),
    }
    del found
    again = semmetrics.caption_matrix(_REFS, _TEXTS[:-1], out="phi.npy", resume=False)
    return made | {
        "again": attempt(semmetrics.caption_matrix, _REFS, _TEXTS, **options),
        "anew": list(again.shape),
    }


def _without_matrix() -> Any:
    made = with_files(_matrix_file)
    made["files"] = sorted(made["files"])
    return made


def _locked() -> Any:
    """A matrix that another run is writing."""
    import fcntl

    def run() -> Any:
        with Path("phi.npy.blocks").open("ab") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            return {
                "gives": attempt(
                    semmetrics.caption_matrix, _REFS, _TEXTS, out="phi.npy"
                )
            }

    return {**with_files(run), "files": None}


_FITS = [
    *(
        Case(f"frequencies {name}", lambda a=args: _frequencies(_fit(*a)))
        for name, args in {
            "by default": (_REFS,),
            "of words": (_REFS, "whitespace"),
            "13a": (_REFS, "13a"),
            "of stems": (_REFS, "ptb", "porter"),
            "of no tokenizer": (_REFS, "none"),
            "of no stems": (_REFS, "ptb", "snowball"),
            "of nothing": ([],),
            "of gaps": ([[], ["a"]],),
            "of texts": (["a cat"],),
        }.items()
    ),
    Case("frequencies merged", _merged),
    Case("frequencies kept", lambda: with_files(_kept)),
    *(
        Case(
            f"counts {name}",
            lambda c=counts, d=documents: _frequencies(
                attempt(semmetrics.DocumentFrequencies.from_counts, c, documents=d)
            ),
        )
        for name, counts, documents in [
            ("by hand", {("a",): 2, ("a", "b"): 1}, 3),
            ("too many", {("a",): 4}, 3),
            ("negative", {("a",): -1}, 3),
            ("none", {}, 0),
            ("of nothing", {("a",): 0}, 3),
            ("of no n-gram", {(): 1}, 3),
            ("of halves", {("a",): 1.5}, 3),
        ]
    ),
    *(
        call(f"matrix {name}", semmetrics.caption_matrix, refs, texts, **options)
        for name, refs, texts, options in [
            ("by default", _REFS, _TEXTS, {}),
            ("of CIDEr", _REFS, _TEXTS, {"measure": "CIDEr"}),
            ("of stems", _REFS, _TEXTS, {"measure": "CIDEr-D(stem=porter,sigma=3)"}),
            (
                "in float32",
                _REFS,
                _TEXTS,
                {"dtype": "float32", "tokenizer": "whitespace"},
            ),
            ("in float16", _REFS, _TEXTS, {"dtype": "float16"}),
            ("of frequencies", _REFS, _TEXTS, {"doc_freq": "frequencies.json"}),
            ("of BLEU", _REFS, _TEXTS, {"measure": "BLEU-1"}),
            (
                "of rows",
                _REFS,
                _TEXTS,
                {"measure": spelled("CIDEr-D({counted_on}=rows)")},
            ),
            ("of two measures", _REFS, _TEXTS, {"measure": "CIDEr-D CIDEr"}),
            ("of no references", [[], ["a"]], _TEXTS, {}),
            ("of no captions", _REFS, [], {}),
            ("of nothing", [], [], {}),
            ("of texts", ["a cat"], ["a cat"], {}),
            ("of numbers", [["a cat"]], [3], {}),
        ]
    ),
    *(
        call(f"best {name}", semmetrics.caption_top_k, _REFS, _TEXTS, k, **options)
        for name, k, options in [
            ("2", 2, {}),
            ("2 images", 2, {"axis": "images"}),
            ("all", 6, {}),
            ("none", 0, {}),
            ("too many", 7, {}),
            ("no such axis", 1, {"axis": "rows"}),
            ("2 in small blocks", 2, {"memory": 100, "axis": "images"}),
            ("of CIDEr", 3, {"measure": "CIDEr", "tokenizer": "13a"}),
        ]
    ),
    Case("blocks", lambda: _blocks(memory=16 * 6 * 4)),
    Case("a block", lambda: _blocks(dtype="float32")),
    Case("a matrix in a file", _without_matrix),
    Case("a matrix that is being written", _locked, needs=("fcntl",)),
]

GROUPS = {"fits": _FITS}
