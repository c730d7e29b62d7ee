"""Other parsers that docs/measures/spice.md shows: stand-ins, and the real ones.

The stand-ins return what SceneGraphParser 0.1.0 and FactualSceneGraph 0.7.3 document.
"""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from shown_parsers import real_scene_graph_parser, run_example

import semmetrics


def install(monkeypatch, name, **members):
    module = ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


def entity(head, *modifiers):
    words = []
    for relation, word in modifiers:
        words.append({"dep": relation, "span": word, "lemma_span": word})
    return {"head": head, "lemma_head": head, "modifiers": words}


class SceneGraphParser:
    """Returns the same graph for every caption."""

    def __init__(self, backend, model):
        assert (backend, model) == ("spacy", "en_core_web_sm")
        meta = {"name": "core_web_sm", "version": "3.8.0"}
        self.unwrapped = SimpleNamespace(nlp=SimpleNamespace(meta=meta))

    def parse(self, sentence):
        assert isinstance(sentence, str)
        dogs = entity("Dog", ("det", "the"), ("nummod", "two"), ("amod", "Brown"))
        relation = {"subject": 0, "object": 1, "relation": "on", "lemma_relation": "On"}
        return {"entities": [dogs, entity("beach chair")], "relations": [relation]}


@pytest.fixture
def scene_graph_parser(monkeypatch):
    install(monkeypatch, "sng_parser", Parser=SceneGraphParser)
    return run_example("sng_parser")["scene_graph_parser"]


def test_graphs_of_scene_graph_parser_become_tuples(scene_graph_parser):
    objects = [("dog",), ("beach chair",)]
    attributes = [("dog", "two"), ("dog", "brown")]
    relations = [("dog", "beach chair", "on")]

    assert scene_graph_parser(["a", "b"]) == [objects + attributes + relations] * 2


def test_a_score_with_another_parser_is_not_called_spice(scene_graph_parser):
    pytest.importorskip("pycocoevalcap")

    (score,) = semmetrics.score(
        {"1": "a dog"},
        {"1": ["a dog"]},
        measures="SPICE(parser=given)",
        tuples=scene_graph_parser,
    )

    assert score.heading == "SPICE(parser=given)"
    assert "|parser:given|" in score.signature
    parser = "parser-scene_graph_parser@0.1.0,core_web_sm-3.8.0@"
    assert f"|fit:{parser}" in score.signature
    assert score.value == 1


def test_the_real_scene_graph_parser_has_the_documented_tuples():
    parse = real_scene_graph_parser()

    dogs, man, empty = parse(
        ["two brown dogs run across the wet sand", "a man eats a cake", ""]
    )

    assert dogs[:2] == [("dog",), ("sand",)]
    assert dogs[2:5] == [("dog", "two"), ("dog", "brown"), ("sand", "wet")]
    assert dogs[5:] == [("dog", "sand", "run across")]
    assert man == [("man",), ("cake",), ("man", "cake", "eat")]
    assert empty == []


# Texts of FactualSceneGraph, and their tuples
FACTUAL = {
    "( dog , is , brown ) , ( dog , run across , sand )": [
        ("dog",),
        ("dog", "brown"),
        ("dog",),
        ("sand",),
        ("dog", "sand", "run across"),
    ],
    "( dogs , is , 2 ) , ( sand )": [("dogs",), ("dogs", "2"), ("sand",)],
    "( dog )": [("dog",)],
    "dog": [("dog",)],
    "( dog , wet )": [("dog",), ("dog", "wet")],
    "( man , sit , next to , dog )": [
        ("man",),
        ("dog",),
        ("man", "dog", "sit next to"),
    ],
    "": [],
    " ": [],
}


@pytest.fixture
def factual(monkeypatch):
    class SceneGraphParser:
        """Returns the captions, which are graphs."""

        def __init__(self, checkpoint_path, device):
            assert checkpoint_path == "lizhuang144/flan-t5-base-VG-factual-sg"

        def parse(self, descriptions, return_text):
            assert return_text
            return descriptions

    module = "factual_scene_graph.parser.scene_graph_parser"
    install(monkeypatch, module, SceneGraphParser=SceneGraphParser)
    return run_example("factual_scene_graph")["factual"]


@pytest.mark.parametrize(("text", "tuples"), FACTUAL.items())
def test_texts_of_factual_become_tuples(factual, text, tuples):
    assert factual([text]) == [tuples]


@pytest.mark.parametrize("text", list(FACTUAL)[:-2])
def test_tuples_are_those_of_factuals_own_spice(factual, text):
    own = pytest.importorskip(
        "factual_scene_graph.evaluation.spice_evaluation",
        reason="FactualSceneGraph is not installed",
        exc_type=ImportError,
    )

    ours = {(raw[0], *reversed(raw[1:])) for raw in factual([text])[0]}

    theirs = own.get_graph_tuples([text], False)
    assert ours == {tuple(word for (word,) in raw) for raw in theirs}
