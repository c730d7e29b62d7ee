"""The recipe by which the offline parser was trained, on a tiny language."""

from __future__ import annotations

import json

import pytest

from semmetrics.text.offline_parser import OfflineParser

torch = pytest.importorskip("torch")
average = pytest.importorskip("embeddings.parsing.average")
captions = pytest.importorskip("embeddings.parsing.captions")
cross = pytest.importorskip("embeddings.parsing.cross")
pack = pytest.importorskip("embeddings.parsing.pack")
recombine = pytest.importorskip("embeddings.parsing.recombine")
sentences = pytest.importorskip("embeddings.parsing.sentences")
train = pytest.importorskip("embeddings.parsing.train")

SIZES = {"width": 32, "heads": 2, "inner": 32, "rank": 16, "dropout": 0}
# Caption | tuples | tagged words | edges, with places from 1
LANGUAGE = """
a red car | car red, car | a/DT red/JJ car/NN | 3 1 det 3 2 amod
a big dog | dog big, dog | a/DT big/JJ dog/NN | 3 1 det 3 2 amod
two cats | cat two, cat | two/CD cats/NNS | 2 1 nummod
two dogs | dog two, dog | two/CD dogs/NNS | 2 1 nummod
a cat on a car | cat car on, cat, car | a/DT cat/NN on/IN a/DT car/NN | 2 1 det 5 3 case 5 4 det 2 5 nmod:on
a dog under a car | dog car under, dog, car | a/DT dog/NN under/IN a/DT car/NN | 2 1 det 5 3 case 5 4 det 2 5 nmod:under
"""


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    torch.set_num_threads(1)


def to_json(row):
    """Return a row as a line of a file of parsed captions."""
    caption, tuples, tokens, edges = map(str.strip, row.split("|"))
    words = []
    for token in tokens.split():
        word, tag = token.split("/")
        words.append([word, tag, word.removesuffix("s")])
    fields = edges.split()
    basic = []
    collapsed = []
    for governor, dependent, relation in zip(
        fields[::3], fields[1::3], fields[2::3], strict=True
    ):
        basic.append([int(governor), int(dependent), relation.partition(":")[0]])
        collapsed.append([int(governor), int(dependent), relation])
    sentence = {"tokens": words, "basic": basic, "cc": collapsed}
    raw_tuples = [raw.split() for raw in tuples.split(", ")]
    return json.dumps(
        {"caption": caption, "tuples": raw_tuples, "sentences": [sentence]}
    )


@pytest.fixture
def read_rows(tmp_path):
    """Write rows to a file of parsed captions, whose last line is cut off; read them."""

    def read(rows):
        path = tmp_path / "parsed.jsonl"
        lines = [to_json(row) + "\n" for row in rows]
        path.write_text("".join(lines) + '{"caption": "cut')
        return list(sentences.read_parsed([path]))

    return read


@pytest.fixture
def parsed(read_rows):
    return read_rows(LANGUAGE.strip().splitlines())


def sentences_of(parsed):
    return [caption.sentences[0] for caption in parsed]


def test_a_trained_parser_gives_the_tuples_it_has_seen(parsed, tmp_path, capsys):
    weights = tmp_path / "weights.pt"
    data = tmp_path / "data.npz"
    known = sentences_of(parsed) * 8

    train.train(known, known[:3], weights, train.Schedule(60, rate=5e-3), **SIZES)
    pack.main([str(weights), str(tmp_path / "parsed.jsonl"), "--out", str(data)])

    assert "\n60 " in capsys.readouterr().out
    tuples = list(OfflineParser(data).parse([caption.text for caption in parsed]))
    assert tuples == [caption.tuples for caption in parsed]


def test_rare_prepositions_have_no_label(parsed):
    labels = train.Vocabulary.of(sentences_of(parsed) * 8).labels

    assert "amod" in labels
    assert "nmod:under" not in labels


@pytest.fixture
def two_rounds(parsed, tmp_path, capsys):
    """Weights of a round with few words and of a second round that continues it."""
    first = tmp_path / "first.pt"
    second = tmp_path / "second.pt"
    known = sentences_of(parsed) * 8
    colours = [sentence for sentence in known if len(sentence.words) == 3]
    train.train([*colours, *known[2:4]], [], first, train.Schedule(2), **SIZES)
    schedule = train.Schedule(3, parsing=0.5)
    train.train(known, [], second, schedule, start=first)
    capsys.readouterr()
    return first, second


def test_a_second_round_adds_words_and_keeps_tags_and_labels(two_rounds):
    first, second = (pack.load_model(path)[1] for path in two_rounds)

    n_words = len(first["words"])
    assert second["words"][:n_words] == first["words"]
    assert {"cat", "on", "under"} <= set(second["words"][n_words:])
    assert second["counts"][second["words"].index("a")] == 48
    assert second["tags"] == first["tags"]
    assert second["labels"] == first["labels"]


def test_training_ends_in_time(parsed, two_rounds, capsys):
    schedule = train.Schedule(10**6, minutes=1e-9)

    train.train(sentences_of(parsed), [], two_rounds[1], schedule, start=two_rounds[1])

    assert capsys.readouterr().out.startswith("1 0 0 s")


def test_weights_are_averaged_by_word(two_rounds, tmp_path):
    first, second = two_rounds
    both = tmp_path / "both.pt"

    average.main([str(first), "1", str(second), "3", "--out", str(both)])

    old, new, mean = (
        pack.load_model(path)[0].state_dict() for path in (first, second, both)
    )
    expected = (old["tag.weight"] + 3 * new["tag.weight"]) / 4
    assert torch.allclose(mean["tag.weight"], expected)
    n_words = len(old["words.weight"])
    expected = (old["words.weight"] + 3 * new["words.weight"][:n_words]) / 4
    assert torch.allclose(mean["words.weight"][:n_words], expected)
    only_in_second = new["words.weight"][n_words:]
    assert torch.allclose(mean["words.weight"][n_words:], only_in_second)


def test_captions_are_recombined_by_their_grammar(parsed):
    known = sentences_of(parsed)

    texts = list(recombine.recombine(known, 6, seed=1))

    assert texts == list(recombine.recombine(known, 6, seed=1))
    assert len({text.lower().strip(" .") for text in texts}) == 6
    words = set(" ".join(texts).lower().replace(".", "").split())
    assert words <= set(" ".join(caption.text for caption in parsed).split())


# Captions with a common middle, for crossing
SCENES = [
    "a red dog sits on the sofa | | a/DT red/JJ dog/NN sits/VBZ on/IN the/DT sofa/NN |",
    "two cats play on the red mat | | two/CD cats/NNS play/VBP on/IN the/DT red/JJ mat/NN |",
    "the boy runs on the wet sand | | the/DT boy/NN runs/VBZ on/IN the/DT wet/JJ sand/NN |",
]


def test_captions_are_crossed_at_their_common_words(read_rows):
    parsed = read_rows(SCENES)
    without = {captions.plain("Two cats play on the sofa!")}

    texts = list(cross.cross([parsed], 5, words=0, without=without))

    assert sorted(texts) == [
        "a red dog sits on the red mat",
        "a red dog sits on the wet sand",
        "the boy runs on the red mat",
        "the boy runs on the sofa",
        "two cats play on the wet sand",
    ]


def test_words_of_crossed_captions_are_replaced_by_their_tag(read_rows):
    parsed = read_rows(SCENES)

    texts = list(cross.cross([parsed], 40, words=1, longest=6, without=set()))

    assert texts == list(cross.cross([parsed], 40, words=1, longest=6, without=set()))
    assert {len(text.split()) for text in texts} <= {4, 5, 6}
    own_words, other_words = cross.lexicon(parsed)
    assert set(own_words["JJ"]) == {"red", "wet"}
    assert "skiing" in other_words["VBG"]
    assert "skiing" not in other_words["NNS"]
    lexicon = set().union(*own_words.values(), *other_words.values())
    scene_words = set(" ".join(caption.text for caption in parsed).split())
    new_words = set(" ".join(texts).split()) - scene_words
    assert len(new_words) > 10
    assert new_words <= lexicon
