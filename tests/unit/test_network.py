"""The offline parser's network: exact products, and the values of the trained model."""

import numpy as np
import pytest

from semmetrics.text.network import Matrix, Network
from semmetrics.text.offline_parser import DATA


@pytest.mark.parametrize(
    ("n_rows", "depth", "width"), [(0, 128, 44), (7, 640, 128), (33, 300, 194)]
)
def test_products_are_those_of_integers(n_rows, depth, width):
    rng = np.random.default_rng(n_rows)
    values = rng.integers(-127, 128, (n_rows, depth))
    weight = rng.integers(-127, 128, (depth, width))

    product = Matrix(weight.astype(np.float32)).multiply(values.astype(np.float32))

    np.testing.assert_array_equal(product, values @ weight)


def test_sums_of_the_weights_are_exact_in_single_precision():
    with np.load(DATA) as arrays:
        weights = [arrays[name] for name in arrays.files if name.endswith(".weight")]

    assert weights
    for weight in weights:
        assert weight.dtype == np.int8
        largest_sum = np.abs(weight.astype(np.int64)).sum(axis=0).max() * 127
        assert largest_sum < 2**24


@pytest.fixture(scope="module")
def model():
    """A model of the recipe with random weights."""
    torch = pytest.importorskip("torch")
    recipe = pytest.importorskip("embeddings.parsing.model")
    torch.manual_seed(0)
    sizes = recipe.Sizes(words=9, tags=5, labels=6, width=32, inner=64, rank=16)
    model = recipe.Parser(sizes).eval()
    with torch.no_grad():
        for values in model.parameters():
            if values.ndim < 2 or values is model.pair_distances:
                values += 0.1 * torch.randn(values.shape)
        model.governs.bias -= 0.2
    return model


def token_vectors(network, words, parts, shapes):
    """Return the vectors of tokens, shape (sentences, tokens, width)."""
    vectors = []
    for place in np.ndindex(words.shape):
        vectors.append(
            network.vector(int(words[place]), parts[place].tolist(), int(shapes[place]))
        )
    return np.reshape(vectors, (*words.shape, -1))


def test_the_network_decides_as_the_trained_model(model):
    """Its eight bits decide otherwise only between nearly equal values."""
    torch = pytest.importorskip("torch")
    pack = pytest.importorskip("embeddings.parsing.pack")
    vocabulary = {"words": [*"_abcdefgh"], "tags": [*"tuvwx"], "labels": [*"klmnop"]}
    network = Network(pack.pack(model, vocabulary, {}))
    words = torch.randint(0, 9, (40, 7))
    parts = torch.randint(1, 4096, (40, 7, 6))
    shapes = torch.randint(0, 8, (40, 7))

    graphs = network(
        token_vectors(network, words.numpy(), parts.numpy(), shapes.numpy())
    )

    places = (graphs.sentence, graphs.governor, graphs.dependent)
    with torch.no_grad():
        hidden, tags, pairs, _ = model(
            words, parts, shapes, torch.from_numpy(graphs.tags)
        )
        labels = model.relations(hidden, *map(torch.from_numpy, places)).numpy()
    chosen_tags = np.take_along_axis(tags.numpy(), graphs.tags[..., None], -1)
    assert (chosen_tags[..., 0] >= tags.numpy().max(-1) - 0.1).all()
    is_edge = np.zeros(pairs.shape, bool)
    is_edge[places] = True
    is_sure = np.abs(pairs.numpy()) > 0.1
    assert is_sure.mean() > 0.5
    assert 0 < is_edge.mean() < 1
    np.testing.assert_array_equal(is_edge[is_sure], pairs.numpy()[is_sure] > 0)
    chosen_labels = labels[np.arange(len(labels)), graphs.label]
    assert (chosen_labels >= labels.max(-1) - 0.1).all()
