"""The embedding that ships with the package: its files, its tokenizer, its vectors."""

import hashlib
import json
import shutil

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.embedder import embed_unique
from semmetrics.embed.model_files import DATA, LEVELS, PackedRows
from semmetrics.embed.static import (
    FILES,
    SHARE,
    StaticEmbedder,
    StaticModel,
    Tokenizer,
    normalise,
    split_words,
)
from semmetrics.store.files import file_digest

TEXTS = [
    "car",
    "Traffic light",
    "traffic-light",
    "a man riding a brown horse",
    "",
    "日本",
    "!?",
    "zyzzogeton quxblat",
    "Crème brûlée",
    "dog dog",
    "dog",
    "plant " * 40,
]


@pytest.fixture(scope="module")
def model():
    return StaticEmbedder()


def cosine(model, left, right):
    a, b = model.embed([left, right]).vectors
    return float(a @ b)


class TestFiles:
    def test_together_small_enough_for_the_wheel(self):
        assert sum(path.stat().st_size for path in DATA.iterdir()) <= 16_000_000

    def test_identity_is_the_sha256_of_the_files(self, model):
        whole = hashlib.sha256(
            b"".join((DATA / name).read_bytes() for name in FILES)
        ).hexdigest()
        assert model.identity == f"semmetrics-static-{model.dimension}@{whole[:12]}"
        assert model.metadata["sha256"] == whole

    def test_each_checksum_is_recorded(self, model):
        for name, recorded in model.metadata["files"].items():
            assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == recorded
        assert set(model.metadata["files"]) == set(FILES)

    def test_metadata_says_where_it_comes_from(self, model):
        assert model.metadata["source"]["licence"] == "Apache-2.0"
        assert len(model.metadata["source"]["sha256"]) == 64
        assert 0 < model.threshold < 1
        assert "Princeton" in (DATA / "NOTICE").read_text(encoding="utf-8")

    def test_vocabulary_is_normalised_and_without_repeats(self):
        entries = (DATA / FILES[2]).read_text(encoding="utf-8").splitlines()
        assert len(set(entries)) == len(entries)
        assert all(normalise(entry) == entry.removeprefix("##") for entry in entries)

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            *[(name, None) for name in FILES],
            *[("static.json", text) for text in ("{", "[]", "{}", "null")],
            ("lost line", None),
        ],
    )
    def test_files_that_do_not_fit_are_refused(self, tmp_path, name, text):
        with refused("damaged-model"):
            StaticEmbedder(tmp_path)  # without files
        folder = shutil.copytree(DATA, tmp_path / "model")
        path = folder / "static-vocabulary.txt"
        if name == "lost line":
            path.write_text(path.read_text("utf-8").partition("\n")[2], "utf-8")
        elif name.endswith(".npy"):
            np.save(folder / name, np.zeros(7, np.float32))
        else:
            (folder / name).write_text(text or "only\none\n")
        with refused("damaged-model"):
            StaticEmbedder(folder)


class TestWords:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("Traffic_light", ["traffic", "light"]),
            ("T-shirt", ["t", "shirt"]),
            ("bird's-foot", ["birds", "foot"]),
            ("Bat (Animal)", ["bat", "animal"]),
            ("SMØRREBRØD", ["smorrebrod"]),
            ("Œuf à la coque", ["oeuf", "a", "la", "coque"]),
            ("ＣＡＲ", ["car"]),
            ("Straße", ["strasse"]),
            ("mp3\tplayer\n", ["mp3", "player"]),
            ("кот", []),
            ("", []),
            ("cafe\u0301", ["cafe"]),
            ("caf\u00e9", ["cafe"]),
        ],
    )
    def test_words(self, text, words):
        assert split_words(text) == words


class TestTokenizer:
    @pytest.fixture
    def tokenizer(self):
        return Tokenizer(
            [
                "##s",
                "##x",
                "hot",
                "hot dog",
                "hot dog stand",
                "dog",
                "chain",
                "chainsaw",
                "s",
                "x",
            ]
        )

    def cut(self, tokenizer, text):
        entries = list(tokenizer.numbers)
        return [entries[number] for number in tokenizer(text)]

    @pytest.mark.parametrize(
        ("text", "entries"),
        [
            ("hot dog", ["hot dog"]),
            ("Hot Dog Stand", ["hot dog stand"]),
            ("hot dog dog", ["hot dog", "dog"]),
            ("dog hot", ["dog", "hot"]),
            ("chainsaws", ["chainsaw", "##s"]),
            ("chainss", ["chain", "##s", "##s"]),
            ("sx", ["s", "##x"]),
            ("qs", ["##s"]),
            ("##s", ["s"]),
            ("", []),
        ],
    )
    def test_longest_first(self, tokenizer, text, entries):
        assert self.cut(tokenizer, text) == entries

    def test_long_words_cost_no_more_than_their_beginning(self, tokenizer):
        assert len(tokenizer("s" * 100_000)) == 100


class TestVectors:
    def test_known_and_unknown(self, model):
        found = model.embed(TEXTS)
        assert (found.vectors.dtype, found.known.dtype) == (np.float32, bool)
        assert (found.vectors.shape, found.truncated) == (
            (len(TEXTS), model.dimension),
            0,
        )
        unknown = [
            text for text, known in zip(TEXTS, found.known, strict=True) if not known
        ]
        assert unknown == ["", "日本", "!?"]
        length = np.linalg.norm(found.vectors.astype(np.float64), axis=1)
        np.testing.assert_allclose(length, found.known, atol=1e-6)
        assert model.embed([]).vectors.shape == (0, model.dimension)

    def test_rows_do_not_depend_on_the_batch(self, model):
        entries = (DATA / FILES[2]).read_text(encoding="utf-8").splitlines()[::7]
        many = (
            TEXTS
            + entries
            + [f"{a} {b}" for a, b in zip(entries, entries[5:], strict=False)]
        )
        together = model.embed(many).vectors
        order = np.random.default_rng(1).permutation(len(many))
        shuffled = model.embed([many[place] for place in order]).vectors
        np.testing.assert_array_equal(shuffled, together[order])
        for place in (*range(len(TEXTS)), 100, 9000, len(many) - 1):
            np.testing.assert_array_equal(
                model.embed([many[place]]).vectors[0], together[place]
            )

    def test_repeated_texts_are_embedded_once(self, model):
        np.testing.assert_array_equal(
            embed_unique(model, ["car", "dog", "car"]).vectors,
            model.embed(["car", "dog", "car"]).vectors,
        )

    def test_spelling_does_not_matter(self, model):
        one = model.embed(["Traffic light", "traffic_light", "TRAFFIC-LIGHT"]).vectors
        np.testing.assert_array_equal(one, one[[0, 0, 0]])

    @pytest.mark.parametrize(
        ("label", "near", "far"),
        [
            ("car", "automobile", "tree"),
            ("sofa", "couch", "airplane"),
            ("garbage can", "trash can", "violin"),
            ("cell phone", "mobile phone", "banana"),
            ("aeroplane", "airplane", "sheep"),
            ("diningtable", "dining table", "horse"),
            ("tvmonitor", "television", "cow"),
            ("Café", "coffee shop", "tractor"),
        ],
    )
    def test_synonyms_are_nearer(self, model, label, near, far):
        assert cosine(model, label, near) > model.threshold > cosine(model, label, far)

    def test_texts_outside_the_vocabulary(self, model):
        text = "small brown dogs on the grass"
        assert cosine(model, text, "dog") > cosine(model, text, "car") + 0.1


class TestArithmetic:
    """On a model small enough to work out by hand."""

    entries = ("##s", "dog", "hot dog", "cat")
    rows = np.array([[2, 0], [0, 2], [1, 1], [8, 0], [0, 4]], np.float32)
    mean = np.array([1, 1], np.float32)

    @pytest.mark.parametrize(
        ("text", "vector"),
        [
            ("dog", [3, 1]),
            ("hot dog", [1, 3]),  # one entry is its own vector
            ("dogs", [9, 5]),  # several are parts over the root of half their number
            ("dog dog dogs", [1 + 8 / 2**0.5, 1 + 12 / 2**0.5]),
            # without a part, a share of its vector
            (
                "dog cat",
                [1 + SHARE, 5 + SHARE],
            ),
        ],
    )
    def test_entries_add_up(self, text, vector):
        made = StaticModel(self.entries, self.rows, self.mean)
        np.testing.assert_allclose(
            made.embed([text]).vectors[0],
            np.array(vector) / np.linalg.norm(vector),
            rtol=1e-6,
        )

    def test_packed_rows(self):
        table = np.zeros(2, dtype=[("scale", np.float16), ("codes", np.uint8, 2)])
        table["scale"] = [2, 0.5]
        table["codes"] = [[0x0F, 0x78], [0x12, 0x34]]
        expected = np.stack([2 * LEVELS[[0, 15, 7, 8]], 0.5 * LEVELS[[1, 2, 3, 4]]])
        np.testing.assert_array_equal(PackedRows(table)[np.array([0, 1])], expected)


class TestRecipe:
    def test_checksum_is_of_the_bytes_in_order(self, tmp_path):
        (tmp_path / "a").write_bytes(b"one")
        (tmp_path / "b").write_bytes(b"two")
        digest = file_digest(tmp_path / "a", tmp_path / "b")
        assert digest == hashlib.sha256(b"onetwo").hexdigest()

    def test_packing_loses_little_and_is_described(self, tmp_path):
        pack = pytest.importorskip("embeddings.pack")
        rows = np.random.default_rng(0).normal(size=(50, 64)).astype(np.float32)
        pack.write(tmp_path, ["##s", "dog"], rows[:3], rows[0])
        told = {"name": "n", "dimension": 64, "entries": 2, "threshold": 0.5}
        pack.describe(tmp_path, told)
        described = json.loads((tmp_path / "static.json").read_text())
        assert described["sha256"] == file_digest(*(tmp_path / name for name in FILES))
        assert StaticEmbedder(tmp_path).identity == f"n-64@{described['sha256'][:12]}"
        table = pack.four_bits(rows)
        error = PackedRows(table)[np.arange(50)] - rows
        assert np.square(error).sum() < 0.012 * np.square(rows).sum()

    def test_best_thresholds_and_auc(self):
        measures = pytest.importorskip("embeddings.measures")
        values = np.array([0.9, 0.8, 0.4, 0.2])
        same = np.array([True, True, False, False])
        assert measures.auc(values, same) == 1
        assert measures.best_f1(values, same) == (pytest.approx(0.6), 1)
        assert measures.youden(values, same) == (pytest.approx(0.6), 1)
        assert measures.auc(np.zeros(4), same) == 0.5
