"""``semmetrics score`` computes what ``semmetrics.score`` computes."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import write_json
from cli.data import CAPTIONS, REFERENCES
from stand_ins import without_pycocoevalcap

import semmetrics
from semmetrics.embed import lookup
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.options import OPTIONS

# Cosines: cat-dog 0.8, cat-cow 0.6, dog-cow 0.96, dog-bird 0.6, cow-bird 0.8, cat-bird 0.
VECTORS = {
    "cat": (1, 0),
    "dog": (0.8, 0.6),
    "cow": (0.6, 0.8),
    "bird": (0, 1),
    "unknown": (-1, 0),
}


@pytest.fixture
def inputs(files):
    """Add weights, word vectors and document frequencies to the small files."""
    lines = [f"{word} {x} {y}" for word, (x, y) in VECTORS.items()]
    Path("words.vec").write_text("\n".join(["5 2", *lines, ""]), encoding="utf-8")
    Path("matrix.txt").write_text("\n".join(VECTORS), encoding="utf-8")
    np.save("matrix.npy", np.array(list(VECTORS.values()), np.float32))
    write_json(weights={"1": 2, "2": 0.5})
    fit_document_frequencies([*REFERENCES.values(), ["a mat"]]).save("df.npz")


def score_with_python(preds, gts, **options):
    """Return the scores of Python, with the name of the system as the program has it."""
    systems = {Path(preds).stem: preds}
    return semmetrics.score_systems(systems, gts, **options).to_dicts()


SEMANTIC = ["SemF1(threshold=0.7)", "WMD"]


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("-m F1 --top-k 1,2", {"measures": ["F1"], "top_k": [1, 2]}),
        (
            "--protocol kubany2020 --top-k 2 --classes classes.txt",
            {"protocol": "kubany2020", "top_k": 2, "classes": "classes.txt"},
        ),
        (
            "--ci --resamples 20 --seed 7 --level 0.9",
            {"ci": True, "resamples": 20, "seed": 7, "level": 0.9},
        ),
        ("--ignore cow --ignore dog", {"ignore": ["cow", "dog"]}),
        (
            "-m 'SemF1(threshold=0.7) WMD' --embedding words.vec",
            {"measures": SEMANTIC, "embedding": "words.vec"},
        ),
        (
            "-m 'SemF1(threshold=0.7) WMD' --embedding matrix:matrix.npy",
            {"measures": SEMANTIC, "embedding": "matrix:matrix.npy"},
        ),
    ],
)
def test_scores_of_labels_equal_those_of_python(scores, inputs, line, options):
    expected = score_with_python("a.json", "gt.json", **options)

    assert scores(f"score a.json gt.json {line}") == expected


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("--threshold 0.15,best", {"decode": ["threshold:0.15", "threshold:best"]}),
        (
            "--decode cumulative:0.5 --threshold 0.5 --keep-at-least 1",
            {"decode": ["cumulative:0.5", "threshold:0.5"], "keep_at_least": 1},
        ),
    ],
)
def test_scores_of_ranked_labels_equal_those_of_python(scores, inputs, line, options):
    measures = ["F1", "MicroF1"]
    expected = score_with_python("b.json", "gt.json", measures=measures, **options)

    assert scores(f"score -m 'F1 MicroF1' b.json gt.json {line}") == expected


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("-m NGSM -m 'CIDEr(df=rows)'", {"measures": ["NGSM", "CIDEr(df=rows)"]}),
        (
            "--tokenizer whitespace --score-references",
            {"tokenizer": "whitespace", "score_references": True},
        ),
        ("--weights weights.json", {"weights": {"1": 2, "2": 0.5}}),
        ("--doc-freq df.npz", {"doc_freq": "df.npz"}),
    ],
)
def test_scores_of_captions_equal_those_of_python(
    scores, inputs, monkeypatch, line, options
):
    without_pycocoevalcap(monkeypatch)
    expected = score_with_python("captions.json", "references.json", **options)

    assert scores(f"score captions.json references.json {line}") == expected


@pytest.fixture
def matrices(files):
    """Write the scores of two systems, the truth and the probabilities of set sizes."""
    generator = np.random.default_rng(3)
    np.save("s.npy", generator.random((5, 4)))
    np.save("t.npy", generator.random((5, 4)))
    np.save("g.npy", generator.integers(0, 2, (5, 4)))
    np.save("sizes.npy", generator.dirichlet(np.ones(3), 5))


CARDINALITY = "--classes classes.txt --decode cardinality"


def test_scores_of_a_matrix_equal_those_of_python(scores, matrices):
    found = scores("score s.npy g.npy --classes classes.txt")

    assert found == score_with_python("s.npy", "g.npy", classes="classes.txt")
    headings = [score["heading"] for score in found]
    assert headings == ["mAP", "LRAP", "RankingLoss", "CoverageError"]


@pytest.mark.parametrize("repeats", [1, 2])
def test_set_sizes_are_given_once_or_for_each_system(scores, matrices, repeats):
    sizes = ["--set-size-probs", "sizes.npy"] * repeats

    found = scores(f"score -m F1 {CARDINALITY} s.npy t.npy g.npy", *sizes)

    assert (
        found
        == semmetrics.score_systems(
            {"s": "s.npy", "t": "t.npy"},
            "g.npy",
            measures=["F1"],
            classes="classes.txt",
            decode="cardinality",
            set_size_probs="sizes.npy",
        ).to_dicts()
    )


def test_two_set_sizes_for_three_systems_are_an_error(refused, matrices):
    sizes = ["--set-size-probs", "sizes.npy"] * 2

    refusal = refused(f"score -m F1 {CARDINALITY} s.npy t.npy b.json g.npy", *sizes)

    assert refusal.code == "wrong-count"


def test_a_sweep_decodes_with_set_sizes(ok, matrices):
    text = ok(
        f"sweep s.npy g.npy --thresholds 0.4 {CARDINALITY} --set-size-probs sizes.npy "
        "--format json"
    )

    (score,) = semmetrics.score(
        "s.npy",
        "g.npy",
        measures="SemF1(threshold=0.4)",
        classes="classes.txt",
        decode="cardinality",
        set_size_probs="sizes.npy",
    )
    assert json.loads(text)["measures"][0]["values"] == [score.value]


def test_the_choices_of_lookups_are_those_of_the_module():
    assert OPTIONS["lookup"].choices == lookup.LOOKUPS
    assert OPTIONS["oov"].choices == lookup.OOV


@pytest.mark.parametrize("tokenizer", ["ptb", "13a", "whitespace"])
def test_unusual_captions_are_scored(scores, files, tokenizer):
    write_json(
        preds={
            "1": "猫が😀 好き",
            "2": "a\x00b \x1b \u200d",
            "3": "cat " * 100_000,
            "4": "",
            "5": "ÉCOLE",
        },
        gts={
            "1": ["猫が😀 好き"],
            "2": ["a\x00b"],
            "3": ["a cat"],
            "4": ["x"],
            "5": ["école"],
        },
    )

    found = scores(
        "score preds.json gts.json --per-item items.jsonl --tokenizer", tokenizer
    )

    for score in found:
        assert 0 <= score["value"] <= 10
    lines = Path("items.jsonl").read_text(encoding="utf-8").splitlines()
    rouge = [json.loads(line)["ROUGE-L"] for line in lines]
    is_lower_case = tokenizer == "ptb"
    assert [rouge[0], rouge[3], rouge[4]] == [1, 0, is_lower_case]


def test_the_kind_of_standard_input_is_inferred(scores, files):
    found = scores("score - references.json", stdin=json.dumps(CAPTIONS))

    expected = scores("score captions.json references.json")
    assert [score["value"] for score in found] == [score["value"] for score in expected]


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ("--seed 3", "--seed has no effect without --ci"),
        ("--percent --format json", "full precision"),
    ],
)
def test_a_note_reports_options_without_effect(run, files, options, note):
    assert note in run(f"score a.json gt.json {options}").stderr


@pytest.mark.parametrize(
    ("measure", "lines"),
    [
        ("-m LRAP", "  0.2500  1\n    predicted  dog, bird, cow, cat\n"),
        (
            "-m F1 --threshold 0.5",
            "  0.0000  1\n    predicted  dog, bird\n    true       cat\n",
        ),
    ],
)
def test_the_worst_rows_of_a_matrix_have_the_names_of_classes(
    ok, files, measure, lines
):
    np.save("s.npy", np.array([[0.9, 0.2, 0.4, 0.1], [0.1, 0.8, 0.7, 0.3]]))
    np.save("g.npy", np.array([[1, 0, 0, 0], [1, 0, 0, 0]]))

    text = ok(f"score s.npy g.npy --classes classes.txt --worst 1 {measure}")

    assert lines in text


def test_a_protocol_without_any_score_is_an_error(run, files):
    # given a protocol for which options are missing
    np.save("s.npy", np.eye(3))
    np.save("g.npy", np.arange(3))

    # then the program fails, and names the options
    result = run("score --protocol xian2018 s.npy g.npy")
    assert result.exit_code == 2
    assert "--unseen" in result.stderr
