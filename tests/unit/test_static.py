"""The embedding that ships with the package: its files, its tokenizer, its vectors."""

import hashlib
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.static import DATA, FILES, PackedRows, StaticEmbedder, normalise
from semmetrics.store.files import file_digest


@pytest.fixture(scope="module")
def model():
    return StaticEmbedder()


class TestFiles:
    def test_together_small_enough_for_the_wheel(self):
        assert sum(path.stat().st_size for path in DATA.iterdir()) <= 16_000_000

    def test_each_checksum_is_recorded(self, model):
        for name, recorded in model.metadata["files"].items():
            assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == recorded
        assert set(model.metadata["files"]) == set(FILES)

    def test_vocabulary_is_normalised_and_without_repeats(self):
        entries = (DATA / FILES[2]).read_text(encoding="utf-8").splitlines()
        assert len(set(entries)) == len(entries)
        assert all(normalise(entry) == entry.removeprefix("##") for entry in entries)

    def test_loads_without_torch_and_scipy(self):
        code = (
            "import sys; from semmetrics.embed.static import StaticEmbedder;"
            "StaticEmbedder().embed(['a cat']);"
            "assert not {'torch', 'scipy', 'gensim', 'transformers'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    @pytest.mark.parametrize("name", FILES)
    def test_files_of_different_models_are_refused(self, tmp_path, name):
        folder = shutil.copytree(DATA, tmp_path / "model")
        if name.endswith(".txt"):
            (folder / name).write_text("only\none\n")
        else:
            np.save(folder / name, np.zeros(7, np.float32))
        with refused("damaged"):
            StaticEmbedder(folder)

    def test_metadata_that_is_no_json_is_an_input_error(self, tmp_path):
        folder = shutil.copytree(DATA, tmp_path / "model")
        (folder / "static.json").write_text("{")
        with refused("damaged"):
            StaticEmbedder(folder)

    @pytest.mark.parametrize("text", ["[]", "{}", "null"])
    def test_metadata_of_another_form_are_refused(self, tmp_path, text):
        folder = shutil.copytree(DATA, tmp_path / "model")
        (folder / "static.json").write_text(text)
        with refused("damaged"):
            StaticEmbedder(folder)

    def test_a_vocabulary_that_lost_a_line_is_refused(self, tmp_path):
        folder = shutil.copytree(DATA, tmp_path / "model")
        path = folder / "static-vocabulary.txt"
        path.write_text(path.read_text("utf-8").partition("\n")[2], "utf-8")
        with refused("damaged"):
            StaticEmbedder(folder)


class TestWords:
    def test_composed_and_decomposed_accents_are_one(self):
        assert normalise("cafe\u0301") == normalise("caf\u00e9") == "cafe"


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
