"""The parser of captions that needs no Java: its words, its rules, its network, its promises."""

import hashlib
import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interruptions import interruptions

from semmetrics.text.dependency_rules import scene_graph_tuples
from semmetrics.text.lemmas import Lemmas
from semmetrics.text.network import Matrix, Network
from semmetrics.text.offline_parser import (
    _REVISION,
    DATA,
    OfflineParser,
    _TokenVectors,
)
from semmetrics.text.parser_tokens import cut_sentences

CAPTIONS = [
    "A small dog sits on a red sofa.",
    "two men ride horses on the beach",
    "a woman in a blue dress and a boy with a kite",
    "",
    "The cat's bowl is empty! A child doesn't look at it.",
    "a kitchen with a stove, a sink and a refrigerator",
    "Zebras",
    "a man that is holding a frisbee in his hand next to a tree",
    'A (very) old "clock" hangs above 2,000 people.',
    "a plate of food",
]


def _blas():
    return str(np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"])


@pytest.fixture(scope="module")
def parser():
    return OfflineParser()


def _printed(code, environment, *arguments):
    """What a program prints."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def _recipe(*names):
    """Modules of the recipe by which the parser was trained."""
    return [pytest.importorskip(f"embeddings.parsing.{name}") for name in names]


def _parse(parser, caption):
    return next(iter(parser.parse([caption])))


@pytest.mark.parametrize(
    "caption", ["", "   ", "\n\t", ".", "?!", "\U0001f600", "\ud800", "\x00"]
)
def test_a_caption_without_words_has_no_tuples(parser, caption):
    assert _parse(parser, caption) == []


def test_the_identity_is_that_of_weights_and_revision(parser):
    digest = hashlib.sha256(DATA.read_bytes() + _REVISION).hexdigest()
    assert parser.identity == f"offline@{digest[:12]}"


def test_the_weights_are_small():
    assert DATA.stat().st_size < 5e6


def test_every_sum_is_exact():
    # sums of products of two integers up to 127 stay below 2**24, which float32 holds
    with np.load(DATA) as arrays:
        for name in arrays.files:
            if name.endswith(".weight"):
                assert arrays[name].dtype == np.int8
                largest = np.abs(arrays[name].astype(np.int64)).sum(axis=0).max() * 127
                assert largest < 2**24, name


def test_it_needs_neither_torch_nor_java():
    code = (
        "import sys; from semmetrics.text.offline_parser import OfflineParser;"
        "print(list(OfflineParser().parse(['a red car'])), 'torch' in sys.modules)"
    )
    said = _printed(code, {"PYTHONPATH": ":".join(sys.path), "PATH": ""})
    assert said == "[[['car', 'red'], ['car']]] False\n"


def test_a_full_memory_of_words_changes_nothing(parser, monkeypatch):
    expected = list(parser.parse(CAPTIONS))
    monkeypatch.setattr("semmetrics.text.offline_parser._MAX_CACHED_TOKENS", 15)
    small = OfflineParser()
    assert [_parse(small, caption) for caption in CAPTIONS] == expected


@pytest.mark.parametrize(
    ("caption", "sentences"),
    [
        ("A dog's ball.", [["A", "dog", "'s", "ball", "."]]),
        ("it doesn't cannot", [["it", "does", "n't", "can", "not"]]),
        ('a "stop" sign', [["a", "``", "stop", "''", "sign"]]),
        ("a (red) [car]", [["a", "-LRB-", "red", "-RRB-", "-LSB-", "car", "-RSB-"]]),
        ("a -lrb- red -rrb- car", [["a", "-lrb-", "red", "-rrb-", "car"]]),
        ("at 3:30, 1,000 t-shirts", [["at", "3:30", ",", "1,000", "t-shirts"]]),
        ("Mr. Smith in the U.S. now", [["Mr.", "Smith", "in", "the", "U.S.", "now"]]),
        ("Stop! He said. ok", [["Stop", "!"], ["He", "said", "."], ["ok"]]),
        ("five o'clock … well", [["five", "o'clock", "…", "well"]]),
        ("the plate.a spoon", [["the", "plate.a", "spoon"]]),
        ("A cat \U0001f431 \u2028sleeps", [["A", "cat", "sleeps"]]),
    ],
)
def test_tokens(caption, sentences):
    assert cut_sentences(caption) == sentences


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("Dogs", "NNS", "dog"),
        ("dishes", "NNS", "dish"),
        ("ponies", "NNS", "pony"),
        ("glass", "NNS", "glass"),
        ("riding", "VBG", "ride"),
        ("running", "VBG", "run"),
        ("eating", "VBG", "eat"),
        ("carried", "VBN", "carry"),
        ("walks", "VBZ", "walk"),
        ("riding", "NN", "riding"),
        ("red", "JJ", "red"),
        ("sing", "VB", "sing"),
        ("wolves", "NNS", "wolf"),
        ("Texas", "NNP", "texas"),
    ],
)
def test_lemmas(word, tag, lemma):
    assert Lemmas({"N wolves": "wolf"}).of(word, tag) == lemma


RULES = [
    ("cup/NN red/JJ", "0 1 amod", ["cup red", "cup"]),
    ("cups/NNS two/CD", "0 1 nummod", ["cups two", "cups"]),
    ("cups/NNS one/CD", "0 1 nummod", ["cups one", "cups"]),
    ("cup/NN two/CD", "0 1 nummod", ["cup"]),
    ("people/NNS lot/NN", "0 1 det:qmod", ["people lot", "people", "lot"]),
    ("court/NN tennis/NN", "0 1 compound", ["court tennis"]),
    ("court/NN green/JJ", "0 1 compound", ["court"]),
    ("cat/NN mat/NN", "0 1 nmod:in_front_of", ["cat mat in front of", "cat", "mat"]),
    ("hat/NN man/NN", "0 1 nmod:poss", ["man hat have", "hat", "man"]),
    ("hat/NN day/NN", "0 1 nmod:tmod", ["hat day tmod", "hat", "day"]),
    (
        "man/NN ride/VB horse/NN",
        "1 0 nsubj 1 2 dobj",
        ["man horse ride", "man", "horse"],
    ),
    ("man/NN ride/VB horse/NN", "0 1 acl 1 2 dobj", ["man horse ride", "man", "horse"]),
    (
        "man/NN pick/VB up/RP cup/NN",
        "1 0 nsubj 1 2 compound:prt 1 3 dobj",
        ["man cup pick up", "man", "cup"],
    ),
    (
        "man/NN sit/VB bench/NN",
        "1 0 nsubj 1 2 nmod:on",
        ["man bench sit on", "man", "bench"],
    ),
    (
        "man/NN hit/VBN ball/NN",
        "1 0 nsubjpass 1 2 nmod:agent",
        ["ball man hit", "man", "ball"],
    ),
    (
        "ball/NN hit/VBN man/NN",
        "0 1 acl 1 2 nmod:agent",
        ["ball man hit", "ball", "man"],
    ),
    ("man/NN give/VB boy/NN", "1 0 nsubj 1 2 iobj", ["man boy give", "man", "boy"]),
    ("man/NN hit/VBN park/NN", "1 0 nsubjpass 1 2 nmod:in", ["man", "park"]),
    ("man/NN smile/VB", "1 0 nsubj", ["man smile", "man"]),
    ("man/NN be/VB", "1 0 nsubj", ["man"]),
    ("man/NN is/VBZ tall/JJ", "2 0 nsubj 2 1 cop", ["man tall", "man tall", "man"]),
    ("this/DT is/VBZ nice/JJ", "2 0 nsubj 2 1 cop", ["this nice", "this nice"]),
    (
        "cup/NN is/VBZ on/IN table/NN",
        "3 0 nsubj 3 1 cop 3 2 case",
        ["cup table on", "cup", "table"],
    ),
    (
        "cup/NN is/VBZ next/JJ to/TO box/NN",
        "4 0 nsubj 4 1 cop 4 2 case 2 3 mwe",
        ["cup box next to", "cup", "box"],
    ),
    ("he/PRP ride/VB horse/NN", "1 0 nsubj 1 2 dobj", ["horse"]),
]


def _edges(text):
    flat = text.split()
    return [
        (int(g), int(d), r)
        for g, d, r in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
    ]


@pytest.mark.parametrize(("text", "edges", "tuples"), RULES)
def test_rules(text, edges, tuples):
    words, tags = zip(*(token.split("/") for token in text.split()), strict=True)
    found = [
        " ".join(one)
        for one in scene_graph_tuples(tags, _edges(edges), words.__getitem__)
    ]
    assert found == tuples


def test_the_network_computes_what_was_trained():
    torch = pytest.importorskip("torch")
    model_module, pack = _recipe("model", "pack")
    torch.manual_seed(0)
    sizes = model_module.Sizes(words=9, tags=5, labels=6, width=32, inner=64, rank=16)
    model = model_module.Parser(sizes).eval()
    with torch.no_grad():
        for values in model.parameters():
            if values.ndim < 2 or values is model.pair_distances:
                values += 0.1 * torch.randn(values.shape)
        model.governs.bias -= 0.2
    vocabulary = {"words": [*"_abcdefgh"], "tags": [*"tuvwx"], "labels": [*"klmnop"]}
    arrays = pack.pack(model, vocabulary, {})
    network = Network(arrays)
    words = torch.randint(0, 9, (40, 7))
    parts = torch.randint(1, 4096, (40, 7, 6))
    shapes = torch.randint(0, 8, (40, 7))
    vectors = np.stack(
        [
            np.stack(
                [
                    network.vector(int(w), a.tolist(), int(s))
                    for w, a, s in zip(*row, strict=True)
                ]
            )
            for row in zip(words, parts, shapes, strict=True)
        ]
    )
    graphs = network(vectors)
    with torch.no_grad():
        found, tags, pairs, _ = model(
            words, parts, shapes, torch.from_numpy(graphs.tags)
        )
        places = tuple(
            torch.from_numpy(x)
            for x in (graphs.sentence, graphs.governor, graphs.dependent)
        )
        labels = model.relations(found, *places)
    tags = tags.numpy()
    chosen = np.take_along_axis(tags, graphs.tags[..., None], -1)[..., 0]
    assert (
        chosen >= tags.max(-1) - 0.1
    ).all()  # eight bits decide otherwise only between equals
    edges = np.zeros(pairs.shape, bool)
    edges[graphs.sentence, graphs.governor, graphs.dependent] = True
    sure = np.abs(pairs.numpy()) > 0.1
    assert sure.mean() > 0.5
    assert 0 < edges.mean() < 1
    assert (edges == (pairs.numpy() > 0))[sure].all()
    best = labels.numpy().max(-1)
    assert (labels.numpy()[np.arange(len(best)), graphs.label] >= best - 0.1).all()


# What a parser of a very small language would say: caption, tuples, tokens, edges (places from 1).
TINY = [
    ("a red car", [["car", "red"], ["car"]], "a/DT red/JJ car/NN", "3 1 det 3 2 amod"),
    ("a big dog", [["dog", "big"], ["dog"]], "a/DT big/JJ dog/NN", "3 1 det 3 2 amod"),
    ("two cats", [["cat", "two"], ["cat"]], "two/CD cats/NNS", "2 1 nummod"),
    ("two dogs", [["dog", "two"], ["dog"]], "two/CD dogs/NNS", "2 1 nummod"),
    (
        "a cat on a car",
        [["cat", "car", "on"], ["cat"], ["car"]],
        "a/DT cat/NN on/IN a/DT car/NN",
        "2 1 det 5 3 case 5 4 det 2 5 nmod:on",
    ),
    (
        "a dog under a car",
        [["dog", "car", "under"], ["dog"], ["car"]],
        "a/DT dog/NN under/IN a/DT car/NN",
        "2 1 det 5 3 case 5 4 det 2 5 nmod:under",
    ),
    ("", [], "", ""),
]


SMALL = {"width": 32, "heads": 2, "inner": 32, "rank": 16, "dropout": 0}


def _write_parsed(path, rows):
    lines = []
    for caption, tuples, tokens, edges in rows:
        graph = _edges(edges)
        words = [token.split("/") for token in tokens.split()]
        sentence = {
            "tokens": [[word, tag, word.removesuffix("s")] for word, tag in words],
            "basic": [[g, d, r.split(":")[0]] for g, d, r in graph],
            "cc": graph,
        }
        lines.append(
            {
                "caption": caption,
                "tuples": tuples,
                "sentences": [sentence] if words else [],
            }
        )
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in lines) + '{"caption": "cut'
    )


def test_the_recipe_learns_what_it_is_shown(tmp_path, capsys):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    train, pack, sentences = _recipe("train", "pack", "sentences")
    _write_parsed(tmp_path / "parsed.jsonl", TINY)
    captions = list(sentences.read_parsed([tmp_path / "parsed.jsonl"]))
    assert [caption.text for caption in captions] == [row[0] for row in TINY]
    known = [one for caption in captions for one in caption.sentences] * 8
    weights = tmp_path / "weights.pt"
    train.train(known, known[:3], weights, train.Schedule(60, rate=5e-3), **SMALL)
    assert capsys.readouterr().out.splitlines()[-1].startswith("60 ")
    data = tmp_path / "data.npz"
    pack.main([str(weights), str(tmp_path / "parsed.jsonl"), "--out", str(data)])
    learned = OfflineParser(data)
    assert list(learned.parse([row[0] for row in TINY])) == [row[1] for row in TINY]
    # prepositions seen too seldom to have a label of their own are read from the sentence
    labels = train.Vocabulary.of(known).labels
    assert "amod" in labels
    assert "nmod:under" not in labels


def test_captions_are_recombined_by_their_grammar(tmp_path):
    pytest.importorskip("torch")
    recombine, sentences = _recipe("recombine", "sentences")
    _write_parsed(tmp_path / "parsed.jsonl", TINY)
    known = [
        one
        for caption in sentences.read_parsed([tmp_path / "parsed.jsonl"])
        for one in caption.sentences
    ]
    made = list(recombine.recombine(known, 6, seed=1))
    assert made == list(recombine.recombine(known, 6, seed=1))
    assert len({text.lower().strip(" .") for text in made}) == 6
    others = list(recombine.recombine(known, 6, seed=1, without=made[:2]))
    assert not {text.lower() for text in made[:2]} & {text.lower() for text in others}
    known_words = {word for row in TINY for word in row[0].split()}
    for text in made:
        assert set(text.lower().replace(".", "").split()) <= known_words


def test_training_goes_on_with_more_words_and_ends_in_time(tmp_path, capsys):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    train, pack, sentences = _recipe("train", "pack", "sentences")
    known = {}
    for name, rows in (("few", TINY[:2]), ("all", TINY)):
        _write_parsed(tmp_path / f"{name}.jsonl", rows)
        captions = list(sentences.read_parsed([tmp_path / f"{name}.jsonl"]))
        known[name] = [one for caption in captions for one in caption.sentences] * 8
    first, second = tmp_path / "first.pt", tmp_path / "second.pt"
    # the tags and relations of the first round stay
    tags = [
        *known["few"],
        *known["all"][2:4],
    ]
    train.train(tags, [], first, train.Schedule(2), **SMALL)
    train.train(known["all"], [], second, train.Schedule(3, parsing=0.5), start=first)
    capsys.readouterr()
    before, after = (pack.load_model(path)[1] for path in (first, second))
    assert after["words"][: len(before["words"])] == before["words"]
    assert set(after["words"]) == {
        "",
        "a",
        "red",
        "car",
        "big",
        "dog",
        "two",
        "cats",
        "dogs",
        "cat",
        "on",
        "under",
    }
    assert after["counts"][after["words"].index("a")] == 48
    assert (after["tags"], after["labels"]) == (before["tags"], before["labels"])
    average = pytest.importorskip("embeddings.parsing.average")
    both = tmp_path / "both.pt"
    average.main([str(first), "1", str(second), "3", "--out", str(both)])
    states = [pack.load_model(path)[0].state_dict() for path in (first, second, both)]
    expected = (states[0]["tag.weight"] + 3 * states[1]["tag.weight"]) / 4
    assert torch.allclose(states[2]["tag.weight"], expected)
    rows = [state["words.weight"] for state in states]
    word = len(before["words"]) - 1
    assert torch.allclose(rows[2][word], (rows[0][word] + 3 * rows[1][word]) / 4)
    # words of the second alone
    assert torch.allclose(rows[2][word + 1 :], rows[1][word + 1 :])
    assert pack.load_model(both)[1] == after
    train.train(
        known["all"], [], second, train.Schedule(10**6, minutes=1e-9), start=second
    )
    assert capsys.readouterr().out.startswith("1 0 0 s")


def test_rates_fall_to_the_end():
    train = pytest.importorskip("embeddings.parsing.train")
    rates = list(train.Schedule(3, rate=1.0).rates(5))
    assert len(rates) == 15
    assert rates[0] == 1.0
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 0.02


def test_made_captions_go_on_as_others_do(tmp_path):
    pytest.importorskip("torch")
    cross, captions, sentences = _recipe("cross", "captions", "sentences")
    rows = [
        (
            "a red dog sits on the sofa",
            "a/DT red/JJ dog/NN sits/VBZ on/IN the/DT sofa/NN",
        ),
        (
            "two cats play on the red mat",
            "two/CD cats/NNS play/VBP on/IN the/DT red/JJ mat/NN",
        ),
        (
            "the boy runs on the wet sand",
            "the/DT boy/NN runs/VBZ on/IN the/DT wet/JJ sand/NN",
        ),
    ]
    _write_parsed(
        tmp_path / "parsed.jsonl", [(text, [], tokens, "") for text, tokens in rows]
    )
    known = list(sentences.read_parsed([tmp_path / "parsed.jsonl"]))
    texts = {text for text, _ in rows}
    starts, ends = (
        {cut[side] for text in texts if (cut := text.split(" on the "))}
        for side in (0, 1)
    )
    every = {f"{start} on the {end}" for start in starts for end in ends} - texts
    without = {captions.plain("Two cats play on the sofa!")}
    made = list(cross.cross([known], len(every) - 1, words=0, without=without))
    assert set(made) == every - {"two cats play on the sofa"}
    replaced = list(cross.cross([known], 40, words=1, longest=6, without=set()))
    assert replaced == list(cross.cross([known], 40, words=1, longest=6, without=set()))
    assert {len(text.split()) for text in replaced} <= {4, 5, 6}
    own, other = cross.lexicon(known)
    assert set(own["JJ"]) == {"red", "wet"}
    assert "skiing" in other["VBG"]
    assert "skiing" not in other["NNS"]
    pool = {word for words in (*own.values(), *other.values()) for word in words}
    words = {word for text in texts for word in text.split()}
    new = {word for text in replaced for word in text.split()} - words
    assert len(new) > 10
    assert new <= pool


@pytest.mark.parametrize(
    ("rows", "depth", "width"), [(0, 128, 44), (7, 640, 128), (33, 300, 194)]
)
def test_small_products_add_up_to_the_product_of_integers(rows, depth, width):
    rng = np.random.default_rng(rows)
    values, weight = (
        rng.integers(-127, 128, shape).astype(np.float32)
        for shape in ((rows, depth), (depth, width))
    )
    expected = values.astype(np.int64) @ weight.astype(np.int64)
    np.testing.assert_array_equal(Matrix(weight).multiply(values), expected)


_PINNED = {b"2": "871e303d37100a00"}


def test_another_revision_where_captions_get_other_tuples(parser):
    rng = random.Random(0)
    words = "a the two 12 dog dogs man men running Running sits is with of and on in front , . who"
    words += " 's red RED small table t-shirt park quickly there stands zxqv hot-air balloon by at"
    lengths = [rng.randint(1, 60) for _ in range(1500)]
    captions = [" ".join(rng.choices(words.split(), k=length)) for length in lengths]
    found = hashlib.sha256(
        json.dumps(list(parser.parse(captions))).encode()
    ).hexdigest()
    # Parses are kept by the revision: with other tuples it must change, and be pinned with them.
    assert {_REVISION: found[:16]} == _PINNED


# All that the network computes, and what products of floats are by these instructions.
_VALUES = """
from hashlib import sha256
import numpy as np
from semmetrics.text import network as parser_network
from semmetrics.text.offline_parser import OfflineParser
seen, floats = sha256(), np.random.default_rng(0).normal(size=(2, 40, 40)).astype(np.float32)
apply_to_tokens = parser_network.apply_to_tokens
def watched(layer, *values):
    result = apply_to_tokens(layer, *values)
    seen.update(result.tobytes())
    return result
parser_network.apply_to_tokens = watched
captions = [f"a man and {k} dogs on the beach" + " by a car" * k for k in range(30)]
for some in OfflineParser().parse(captions):
    seen.update(repr(some).encode())
product = floats[0] @ floats[1]
print(seen.hexdigest(), sha256(product.tobytes() + np.exp(floats).tobytes()).hexdigest())
"""


def test_parses_do_not_depend_on_the_instructions_of_the_processor():
    found = np.show_config("dicts")["SIMD Extensions"].get("found", [])
    others = {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
    }
    here, there = (
        _printed(_VALUES, {**os.environ, **more}).split() for more in ({}, others)
    )
    if here[1] == there[1]:
        pytest.skip("products of floats are the same with other instructions, too")
    assert here[0] == there[0]


# A thread of OpenBLAS that has nothing more to do spins for some 30 ms before it sleeps.
_THREADS = """
import sys
from time import process_time, sleep, thread_time
from semmetrics.text.offline_parser import OfflineParser
parser = OfflineParser()
list(parser.parse(["a warm start"]))
count, times = map(int, sys.argv[1:])
end = "by the water " * times
captions = [f"a man with {k} dogs stands on the beach {end}" for k in range(count)]
sleep(0.3)
process, thread = process_time(), thread_time()
list(parser.parse(captions))
print((process_time() - process) / (thread_time() - thread))
"""


@pytest.mark.skipif("openblas" not in _blas(), reason="the limit is that of OpenBLAS")
@pytest.mark.parametrize(("count", "times"), [("500", "1"), ("60", "30")])
def test_parsing_takes_one_thread(count, times):
    said = _printed(_THREADS, {**os.environ, "OPENBLAS_NUM_THREADS": "2"}, count, times)
    assert float(said) < 1.15


@pytest.mark.parametrize("code", [_TokenVectors.of, _TokenVectors._add])
def test_words_have_their_vectors_after_an_interruption(code):
    captions = ["a small dog on a red sofa", "two men ride horses", "a dog on horses"]
    expected = list(OfflineParser().parse(captions))

    def start():
        parser = OfflineParser()

        def parse():
            return [next(parser.parse([caption])) for caption in captions]

        return parse

    found = list(interruptions(code.__code__, start))
    assert len(found) > 20
    assert all(one == expected for one in found)


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_text_is_parsed(captions):
    found = list(OfflineParser().parse(captions))
    assert len(found) == len(captions)
    for tuples in found:
        for one in tuples:
            assert 1 <= len(one) <= 3
            assert all(isinstance(slot, str) and slot for slot in one)


def test_tuples_do_not_depend_on_the_other_captions(parser):
    words = " ".join(CAPTIONS).split()
    random = np.random.default_rng(3)
    captions = CAPTIONS + [
        " ".join(random.choice(words, size=random.integers(1, 18))) for _ in range(1500)
    ]
    together = list(parser.parse(captions))
    order = random.permutation(len(captions))
    shuffled = list(OfflineParser().parse([captions[k] for k in order]))
    assert [shuffled[k] for k in np.argsort(order)] == together
    some = random.choice(len(captions), size=100, replace=False)
    assert [_parse(parser, captions[k]) for k in some] == [together[k] for k in some]
