"""``semmetrics score``: embeddings, taxonomies, matches, the worst items."""

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from refusals import is_refusal

import semmetrics
from semmetrics.embed import lookup
from semmetrics.embed.embedder import CallableEmbedder
from semmetrics.embed.open import open_embedding
from semmetrics.options import OPTIONS

LISTS = ("a.json", "gt.json")
BOTH = ("a.json", "b.json", "gt.json")
# Cosines: cat-dog 0.8, cat-cow 0.6, dog-cow 0.96, dog-bird 0.6, cow-bird 0.8, cat-bird 0.
VECTORS = {"cat": (1, 0), "dog": (0.8, 0.6), "cow": (0.6, 0.8), "bird": (0, 1), "unknown": (-1, 0)}
KINDS = {"cat": "mammal", "dog": "mammal", "cow": "mammal", "bird": "animal", "mammal": "animal"}
NEAR = "SemF1(threshold=0.7)"
ROWS = [
    ("1", 1, "cat", "cat", 1.0),
    ("1", 2, "cow", None, 0.6),
    ("2", 1, "dog", "dog", 1.0),
    ("2", None, None, "bird", None),
    ("3", 1, "cat", None, None),
    ("4", 1, "dog", "cat", 0.8),  # the first unused reference above the threshold
    ("4", 2, "cat", "dog", 0.8),
]


def word2vec(name, vectors):
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in vectors.items()]
    Path(name).write_text(f"{len(lines)} 2\n" + "\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def vectors(files):
    """The working directory, with word vectors, a matrix of the same, and a taxonomy."""
    word2vec("words.vec", VECTORS)
    np.save("matrix.npy", np.array(list(VECTORS.values()), np.float32))
    Path("matrix.txt").write_text("\n".join(VECTORS) + "\n", encoding="utf-8")
    Path("kinds.json").write_text(json.dumps(KINDS), encoding="utf-8")
    return files


def entries(text):
    return {entry["heading"]: entry for entry in json.loads(text)}


def api(systems, **options):
    return semmetrics.score_systems(systems, "gt.json", **options).to_dicts()


# ---- embeddings -------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["words.vec", "word2vec:words.vec", "matrix:matrix.npy"])
def test_an_embedding_is_what_the_api_takes(ok, vectors, spec):
    found = ok("score", *LISTS, "-m", f"{NEAR} WMD", "--embedding", spec, "--format", "json")
    assert json.loads(found) == api({"a": "a.json"}, measures=[NEAR, "WMD"], embedding=spec)
    # 1: 2/3, 2: 2/3, 3: 0, 4: 1
    assert entries(found)[NEAR]["value"] == pytest.approx((2 / 3 + 2 / 3 + 0 + 1) / 4)


def test_several_embeddings_by_name(ok, vectors):
    measures = [NEAR, "SemF1(threshold=0.7,embedding=m)"]
    given = ("--embedding", "words.vec", "--embedding", "m=matrix:matrix.npy")
    found = ok("score", *BOTH, "-m", " ".join(measures), *given, "--format", "json")
    embedding = {"default": "words.vec", "m": "matrix:matrix.npy"}
    systems = {"a": "a.json", "b": "b.json"}
    assert json.loads(found) == api(systems, measures=measures, embedding=embedding)
    identities = {entry["signature"].partition("|emb:")[2] for entry in json.loads(found)}
    assert len(identities) == 2


def test_without_an_embedding_the_model_of_the_package_is_used(ok, files):
    entry = entries(ok("score", *LISTS, "-m", "SemF1", "--format", "json"))
    (entry,) = entry.values()
    assert f"|emb:{open_embedding('static').identity}|" in entry["signature"]
    assert "thr:auto" not in entry["signature"]


def test_a_file_with_an_equals_sign(ok, vectors):
    shutil.copy("words.vec", "a=b.vec")
    found = ok("score", *LISTS, "-m", NEAR, "--embedding", "./a=b.vec", "--format", "json")
    assert json.loads(found)[0]["value"] == pytest.approx(7 / 12)


def test_unknown_labels_and_how_they_are_looked_up(run, vectors):
    few = {word: vector for word, vector in VECTORS.items() if word not in ("cow", "bird")}
    word2vec("few.vec", few)
    arguments = ("score", *LISTS, "-m", "SemF1(threshold=0.7)@2", "--embedding", "few.vec")
    for policy in ("unknown", "skip", "zero"):
        result = run(*arguments, "--oov", policy, "--lookup", "exact", "--format", "json")
        expected = api({"a": "a.json"}, measures=["SemF1(threshold=0.7)@2"], embedding="few.vec",
                       oov=policy, lookup="exact")  # fmt: skip
        assert json.loads(result.stdout) == expected
        assert f"|lookup:exact|oov:{policy}|" in expected[0]["signature"]
        assert "a: 2 distinct terms unknown to few-2@" in result.stderr


def test_a_limit_reads_the_first_words_only(ok, run, refused, vectors):
    asked = ("score", *LISTS, "-m", NEAR, "--format", "json")
    found = ok(*asked, "--embedding", "words.vec", "--max-words", 2)
    expected = api({"a": "a.json"}, measures=[NEAR], embedding="words.vec", max_words=2)
    assert json.loads(found) == expected
    assert entries(found) != entries(ok(*asked, "--embedding", "words.vec"))
    (entry,) = expected
    again = run("score", *LISTS, "--rescore", entry["signature"], "--format", "json",
                "--embedding", "words.vec", "--max-words", 2)  # fmt: skip
    assert json.loads(again.stdout) == expected
    assert "warning" not in again.stderr
    assert refused(*asked, "--max-words", 2).code == "not-applicable"
    said = run("score", *LISTS, "-m", "F1", "--max-words", 2, "--device", "cuda").stderr
    assert "--max-words has no effect" in said
    assert "--device has no effect" in said


def test_the_device_of_models_that_read_text(ok, refused, vectors):
    asked = ("score", *LISTS, "-m", NEAR, "--embedding", "words.vec")
    assert ok(*asked, "--device", "cpu") == ok(*asked)
    assert refused(*asked, "--device", "gpu").code == "missing-package"
    message = refused(
        "embed", "coverage", "--embedding", "words.vec", "--device", "cuda", "gt.json"
    )
    assert message.code == "not-applicable"


def test_unknown_labels_of_the_first_words(ok, vectors):
    few = ok("embed", "coverage", "--embedding", "words.vec", "--max-words", 1, "gt.json")
    assert "unknown in gt: " in few
    assert "unknown in gt: " not in ok("embed", "coverage", "--embedding", "words.vec", "gt.json")


def test_the_choices_are_those_of_the_lookup():
    choices = OPTIONS["lookup"].choices, OPTIONS["oov"].choices
    assert choices == (lookup.LOOKUPS, lookup.OOV)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--embedding", "none.vec"], ["'none.vec'", "no such file", "sbert:none.vec"]),
        (["--embedding", "word2vec:none.vec"], ["none.vec"]),
        (["--embedding", "word2vec-googlenews-300"], ["semmetrics embed fetch"]),
        (["--embedding", "m=matrix.npy", "--embedding", "m=words.vec"], ["repeated-spec"]),
        (["--embedding", "matrix.npy", "--embedding", "words.vec"], ["repeated-spec"]),
        (["--embedding", "my words=words.vec"], ["bad-spec"]),
        (["--embedding", "=words.vec"], ["bad-spec"]),
        (["--embedding", "m="], ["bad-spec"]),
        (["--embedding", ""], ["bad-spec"]),
        (["--embedding", "kinds.json"], ["kinds.json"]),
        (["--oov", "none"], ["--oov", "BadParameter"]),
        (["--lookup", "all"], ["--lookup", "BadParameter"]),
        (["--lookup", "words"], ["reads text"]),
        (["--taxonomy", "none.json"], ["none.json", "no such file"]),
        (["--embedding", "words.vec", "-o", "words.vec"], ["output-is-input"]),
        (["--embedding", "word2vec:words.vec", "-o", "words.vec"], ["output-is-input"]),
        (["--taxonomy", "kinds.json", "--matches", "kinds.json"], ["output-is-input"]),
    ],
)  # fmt: skip
def test_bad_options(refused, vectors, arguments, expected):
    before = Path("words.vec").read_bytes()
    message = refused("score", *LISTS, "-m", "SemF1", *arguments)
    for part in expected:
        assert is_refusal(message, part)
    assert Path("words.vec").read_bytes() == before


def test_a_measure_that_names_an_embedding_that_is_not_given(refused, vectors):
    message = refused(
        "score", *LISTS, "-m", "SemF1(embedding=bert)", "--embedding", "m=words.vec"
    )  # fmt: skip
    assert message.code == "unknown-name"
    assert message.code == "unknown-name"


def test_a_model_is_asked_once_for_a_text(run, vectors, monkeypatch, tmp_path):
    asked = []

    def slow(name, **_):
        def embed(texts):
            asked.extend(texts)
            return [[float(len(text)), 1.0] for text in texts]

        return CallableEmbedder(embed, name=name, version="1")

    monkeypatch.setattr("semmetrics.embed.sentence_models.SentenceEmbedder", slow)
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    for command in ("score", "score", "sweep"):
        done = run(command, *LISTS, "-m", "SemF1", "--embedding", "sbert:slow", "--cache")
        assert (done.exit_code, "no effect" in done.stderr) == (0, False)
    Path("pairs.csv").write_text("a,b,same\ncat,cow,1\ncat,bird,0\n", encoding="utf-8")
    done = run("calibrate", "--pairs", "pairs.csv", "--embedding", "sbert:slow", "--cache")
    assert (done.exit_code, asked.count("cow")) == (0, 1)
    assert (tmp_path / "home" / "embeddings.sqlite").exists()


def test_an_unknown_label_as_an_error_names_it(refused, vectors):
    word2vec("few.vec", {word: VECTORS[word] for word in ("cat", "dog", "bird")})
    message = refused(
        "score", *LISTS, "-m", "SemF1", "--embedding", "few.vec", "--oov", "error"
    )  # fmt: skip
    assert message.code == "unknown-terms"


def test_options_without_effect_are_said(run, vectors):
    arguments = ("score", *LISTS, "-m", "F1", "--embedding", "words.vec", "--oov", "skip")
    said = run(*arguments, "--taxonomy", "kinds.json").stderr
    for option in ("--oov", "--taxonomy"):
        assert f"{option} has no effect: no measure here" in said
    assert "1 embedding not used by any measure here: 'default'" in said
    said = run("score", *LISTS, "-m", NEAR, "--embedding", "m=words.vec").stderr
    assert "1 embedding not used by any measure here: 'm'" in said
    for chosen in ((), ("--embedding", "words.vec")):
        said = run("score", *LISTS, "-m", NEAR, *chosen, "--cache").stderr
        assert said.count("--cache has no effect: no embedding in use is slower than it") == 1
    Path("pairs.csv").write_text("a,b,same\ncat,cow,1\ncat,bird,0\n", encoding="utf-8")
    for command in (
        ("score", "-m", "F1", *LISTS),
        ("sweep", *LISTS),
        ("calibrate", "--holdout", "1", *LISTS),
        ("calibrate", "--pairs", "pairs.csv"),
    ):
        assert run(*command, "--cache").stderr.count("no embedding in use is slower") == 1
    said = run("score", *LISTS, "-m", f"{NEAR} hF", *arguments[5:], "--taxonomy", "kinds.json")
    assert "no effect" not in said.stderr


# ---- taxonomies -------------------------------------------------------------------------------


def test_a_taxonomy(ok, vectors):
    found = entries(ok("score", *LISTS, "-m", "hF LCADistance", "--taxonomy", "kinds.json",
                       "--format", "json"))  # fmt: skip
    # with ancestors and without the root: {cat cow mammal} {cat mammal}; {dog mammal}
    # {dog mammal bird}; {cat mammal} {}; {dog cat mammal} {cat dog mammal}
    assert found["hF"]["value"] == pytest.approx(2 * (2 + 2 + 0 + 3) / (10 + 8))
    expected = api({"a": "a.json"}, measures=["hF", "LCADistance"], taxonomy=KINDS)
    assert list(found.values()) == expected


def test_synonyms_stand_where_one_of_them_does(ok, vectors):
    Path("two.json").write_text(json.dumps({"1": [["kitty", "cat"]]}), encoding="utf-8")
    Path("one.json").write_text(json.dumps({"1": ["dog"]}), encoding="utf-8")
    arguments = ("-m", "hP", "--taxonomy", "kinds.json", "--format", "json")
    for files in (("two.json", "one.json"), ("one.json", "two.json")):
        assert json.loads(ok("score", *files, *arguments))[0]["value"] == 0.5


def test_the_labels_of_a_taxonomy_are_normalised_too(ok, refused, vectors):
    Path("loud.json").write_text(
        json.dumps({name.upper(): kind.upper() for name, kind in KINDS.items()}), encoding="utf-8"
    )
    arguments = ("score", *LISTS, "-m", "hF", "--taxonomy", "loud.json")
    assert refused(*arguments).code == "outside-taxonomy"
    found = ok(*arguments, "--normalize", "lower", "--format", "json")
    assert json.loads(found)[0]["value"] == pytest.approx(7 / 9)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"cat": "dog", "dog": "cat"}', ["bad.json", "cycle", "cycle"]),
        ('{"cat": "mammal"}', ["outside-taxonomy", "outside-taxonomy"]),
        ("[1]", ["bad.json", "wrong-type"]),
        ("7", ["bad.json", "wrong-type"]),
    ],
)
def test_wrong_taxonomies(refused, vectors, content, expected):
    Path("bad.json").write_text(content, encoding="utf-8")
    message = refused("score", *LISTS, "-m", "hF", "--taxonomy", "bad.json")
    for part in expected:
        assert is_refusal(message, part)
    assert refused("score", *LISTS, "-m", "hF").code == "needs-option"


# ---- matches ----------------------------------------------------------------------------------


def matches(name):
    text = Path(name).read_text(encoding="utf-8")
    if name.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(text)))
    return json.loads(text) if name.endswith(".json") else [*map(json.loads, text.splitlines())]


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_matches_of_one_system(run, vectors, ending):
    name = f"matches.{ending}"
    result = run("score", *LISTS, "-m", f"F1 WMD {NEAR} SemRecall", "--embedding",
                 "matrix:matrix.npy", "--matches", name)  # fmt: skip
    assert result.exit_code == 0
    assert f"{name}: the matches of {NEAR}" in result.stderr
    found = matches(name)
    assert list(found[0]) == ["id", "rank", "prediction", "reference", "similarity"]
    if ending == "csv":
        assert [row["rank"] for row in found] == ["1", "2", "1", "", "1", "1", "2"]
        found = [{key: value or None for key, value in row.items()} for row in found]
        for row in found:
            row["rank"] = row["rank"] and int(row["rank"])
            row["similarity"] = row["similarity"] and float(row["similarity"])
    for row, expected in zip(found, ROWS, strict=True):
        assert tuple(row.values())[:4] == expected[:4]
        assert row["similarity"] == (expected[4] and pytest.approx(expected[4], abs=1e-6))


def test_matches_of_several_systems_and_with_a_cutoff(ok, vectors):
    arguments = ("-m", f"{NEAR}@1", "--embedding", "words.vec", "--matches", "m.jsonl")
    ok("score", *BOTH, *arguments)
    found = matches("m.jsonl")
    assert list(found[0])[:3] == ["id", "system", "rank"]
    assert [(row["id"], row["prediction"], row["reference"]) for row in found
            if row["system"] == "b"] == [
        ("1", "cat", "cat"), ("2", "bird", "bird"), ("2", None, "dog"), ("3", "cat", None),
        ("4", "cat", "cat"), ("4", None, "dog"),
    ]  # fmt: skip
    assert all(row["rank"] in (1, None) for row in found)


def test_matches_count_what_the_score_counts(ok, vectors):
    arguments = ("-m", "SemPrecision SemRecall", "--matches", "m.jsonl", "--format", "json")
    ok("score", *LISTS, *arguments)
    found = matches("m.jsonl")
    table = semmetrics.score("a.json", "gt.json", measures=["SemPrecision(no_prediction=nan)"])
    for place, name in enumerate(table.scores[0].ids):
        rows = [row for row in found if row["id"] == name and row["rank"] is not None]
        share = sum(row["reference"] is not None for row in rows) / len(rows)
        assert table.scores[0].items[place] == pytest.approx(share)


def test_matches_need_a_semantic_measure_and_an_ending(refused, vectors):
    message = refused("score", *LISTS, "-m", "F1 WMD", "--matches", "m.csv", "--per-item", "i.csv")
    assert "--matches: no measure here has matches" in message
    assert not Path("m.csv").exists()
    assert not Path("i.csv").exists()
    refused("score", *LISTS, "--protocol", "kubany2020", "--matches", "m.csv")
    assert refused("score", *LISTS, "-m", "SemF1", "--matches", "m.txt").code == "wrong-ending"


# ---- the worst items --------------------------------------------------------------------------


def test_the_worst_items(ok, vectors):
    text = ok("score", *LISTS, "-m", f"MacroF1 {NEAR}", "--embedding", "words.vec", "--worst", 2)
    shown = text[text.index(f"lowest {NEAR}\n") :].split("\n\n")[0].split("\n")
    assert shown[1:] == [
        "  0.0000  3",
        "    predicted  cat",
        "    true       nothing",
        "  0.6667  1",
        "    predicted  cat, cow",
        "    true       cat",
    ]


def test_lower_is_better(ok, vectors):
    text = ok(
        "score", *LISTS, "-m", "WMD F1", "--embedding", "words.vec", "--worst", 1, "--percent"
    )
    distance = (1 / 2) * np.sqrt(0.4**2 + 0.8**2)  # half of cat and cow travels from cow to cat
    other = (1 / 2) * np.sqrt(0.8**2 + 0.4**2)
    assert distance == other
    assert f"highest WMD\n  {distance:.2f}  1\n    predicted  cat, cow\n" in text


def test_the_worst_of_several_systems_and_cutoffs(ok, run, vectors):
    arguments = ("score", *BOTH, "-m", "F1@1", "--worst", 1)
    text = ok(*arguments)
    assert "lowest F1@1 of a\n  0.0000  3\n" in text
    assert "lowest F1@1 of b\n  0.0000  3\n" in text
    result = run(*arguments, "--format", "json")
    json.loads(result.stdout)
    assert "semmetrics: lowest F1@1 of b" in result.stderr
    text = ok("score", *LISTS, "-m", "Recall@1", "--worst", 9)
    assert text.count("    predicted  ") == 3  # one item has nothing that is true
    assert "predicted  dog\n" in text


def test_the_worst_of_score_matrices(ok, files):
    np.save("s.npy", np.array([[0.9, 0.2, 0.4, 0.1], [0.1, 0.8, 0.7, 0.3]]))
    np.save("g.npy", np.array([[1, 0, 0, 0], [1, 0, 0, 0]]))
    arguments = ("score", "s.npy", "g.npy", "--classes", "classes.txt", "--worst", 1)
    assert "  0.2500  1\n    predicted  dog, bird, cow, cat\n" in ok(*arguments, "-m", "LRAP")
    text = ok(*arguments, "-m", "F1", "--threshold", 0.5)
    assert "  0.0000  1\n    predicted  dog, bird\n    true       cat\n" in text


def test_worst_needs_item_values(refused, files):
    assert "--worst: no measure here has item values" in refused(
        "score", *LISTS, "-m", "MacroF1", "--worst", 1, "--format", "json", "-o", "out.json"
    )
    assert not Path("out.json").exists()
    assert refused("score", *LISTS, "--worst", 0).code == "BadParameter"


# ---- protocols --------------------------------------------------------------------------------


def test_what_a_protocol_cannot_compute_is_one_line_a_reason(ok, vectors):
    text = ok("score", *LISTS, "--protocol", "kubany2020")
    lines = [line for line in text.split("\n") if line.startswith("not computed: ")]
    assert len(lines) == 4
    assert lines[0].startswith("not computed: Accuracy (Semantic), Recall (Semantic), ")
    assert "(@1,3,5) - needs word vectors" in lines[0]
    assert lines[1].startswith("not computed: Fine-Tuned BERT@1,3,5 - needs the sentence model")
    text = ok("score", *LISTS, "--protocol", "kubany2020", "--embedding", "words.vec")
    assert "needs word vectors" not in text
    assert "\nF1 (Semantic)@3 " in text


def test_a_protocol_keeps_its_rules(refused, vectors):
    arguments = ("score", *LISTS, "--protocol", "kubany2020", "--embedding", "words.vec")
    assert "sets oov=unknown" in refused(*arguments, "--oov", "skip")
    assert "sets lookup=kubany2020" in refused(*arguments, "--lookup", "words")


# ---- signatures -------------------------------------------------------------------------------


def again(run, entry, *arguments):
    result = run("score", *LISTS, "--rescore", entry["signature"], "--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    (found,) = json.loads(result.stdout)
    return found, result.stderr


@pytest.mark.parametrize("name", ["SemF1@2", "SemAP", "SoftF1", "WMD(build=text)", "BagSim"])
def test_a_signature_of_the_model_of_the_package(ok, run, files, name):
    (entry,) = json.loads(ok("score", *LISTS, "-m", name, "--format", "json"))
    found, said = again(run, entry)
    assert found["value"] == entry["value"]
    assert found["signature"] == entry["signature"]
    assert "warning" not in said


@pytest.mark.parametrize("given", ["words.vec", "m=words.vec"])
def test_a_signature_with_an_embedding(ok, run, refused, vectors, given):
    measure = "SemF1" if given == "words.vec" else "SemF1(embedding=m)"
    asked = ("-m", measure, "--embedding", given, "--lookup", "exact", "--oov", "skip")
    (entry,) = json.loads(ok("score", *LISTS, *asked, "--format", "json"))
    assert "|thr:0.4|" in entry["signature"]
    for embedding in {given, "words.vec"}:
        found, said = again(run, entry, "--embedding", embedding)
        assert (found["value"], found["signature"]) == (entry["value"], entry["signature"])
        assert "warning" not in said
    message = refused("score", *LISTS, "--rescore", entry["signature"])
    assert "words-2@" in message
    message = refused("score", *LISTS, "--rescore", entry["signature"], "--oov", "zero")
    assert "--oov is part of the signature" in message


def test_another_embedding_than_the_signature_says(ok, run, vectors):
    asked = ("-m", NEAR, "--embedding", "words.vec")
    (entry,) = json.loads(ok("score", *LISTS, *asked, "--format", "json"))
    other = open_embedding("matrix:matrix.npy").identity
    then = open_embedding("words.vec").identity
    _, said = again(run, entry, "--embedding", "matrix:matrix.npy")
    assert f"warning: the embedding differs from the signature's: emb:{other}" in said
    assert f"instead of emb:{then}" in said


def test_another_version_of_the_model_of_the_package(ok, run, files):
    (entry,) = json.loads(ok("score", *LISTS, "-m", "SemF1", "--format", "json"))
    now = open_embedding("static").identity
    old = now.rpartition("@")[0] + "@000000000000"
    found, said = again(run, {"signature": entry["signature"].replace(now, old)})
    assert found["value"] == entry["value"]
    assert f"emb:{now} instead of emb:{old}" in said


def test_signatures_of_a_protocol(ok, run, vectors):
    asked = ("--protocol", "kubany2020", "--top-k", 2, "--embedding", "words.vec")
    for entry in json.loads(ok("score", *LISTS, *asked, "--format", "json")):
        semantic = "|emb:" in entry["signature"]
        found, said = again(run, entry, *(("--embedding", "words.vec") if semantic else ()))
        assert (found["value"], found["signature"]) == (entry["value"], entry["signature"])
        assert "warning" not in said
