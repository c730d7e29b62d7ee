"""The parsers of others in docs/measures/spice.md: with stand-ins, and themselves where they are.

The stand-ins give what SceneGraphParser 0.1.0 and FactualSceneGraph 0.7.3 are documented to give.
"""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from shown_parsers import real_scene_graph_parser, run_example

import semmetrics

FACTUAL = "factual_scene_graph.parser.scene_graph_parser"


def stand_in(monkeypatch, name, **members):
    module = ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


def entity(head, *modifiers):
    words = [{"dep": dep, "span": word, "lemma_span": word} for dep, word in modifiers]
    return {"head": head, "lemma_head": head, "modifiers": words}


class Parser:
    """SceneGraphParser's, which gives every caption one graph."""

    def __init__(self, backend, model):
        assert (backend, model) == ("spacy", "en_core_web_sm")
        meta = {"name": "core_web_sm", "version": "3.8.0"}
        self.unwrapped = SimpleNamespace(nlp=SimpleNamespace(meta=meta))

    def parse(self, sentence):
        assert isinstance(sentence, str)
        dogs = entity("Dog", ("det", "the"), ("nummod", "two"), ("amod", "Brown"))
        relation = {"subject": 0, "object": 1, "relation": "on", "lemma_relation": "On"}
        return {"entities": [dogs, entity("beach chair")], "relations": [relation]}


def test_graphs_of_scene_graph_parser_become_tuples(monkeypatch):
    stand_in(monkeypatch, "sng_parser", Parser=Parser)
    parse = run_example("sng_parser")["scene_graph_parser"]
    assert parse(["a", "b"]) == 2 * [
        [
            ("dog",),
            ("beach chair",),
            ("dog", "two"),
            ("dog", "brown"),
            ("dog", "beach chair", "on"),
        ]
    ]


def test_a_score_with_it_is_not_called_spice(monkeypatch):
    pytest.importorskip("pycocoevalcap")
    stand_in(monkeypatch, "sng_parser", Parser=Parser)
    parse = run_example("sng_parser")["scene_graph_parser"]
    (score,) = semmetrics.score(
        {"1": "a dog"}, {"1": ["a dog"]}, measures="SPICE(parser=given)", tuples=parse
    )
    assert score.heading == "SPICE(parser=given)"
    assert "|parser:given|" in score.signature
    assert "|fit:parser-scene_graph_parser@0.1.0,core_web_sm-3.8.0@" in score.signature
    assert score.value == 1


def test_scene_graph_parser_itself():
    captions = ["two brown dogs run across the wet sand", "a man eats a cake", ""]
    assert real_scene_graph_parser()(captions) == [
        [
            ("dog",),
            ("sand",),
            ("dog", "two"),
            ("dog", "brown"),
            ("sand", "wet"),
            ("dog", "sand", "run across"),
        ],
        [("man",), ("cake",), ("man", "cake", "eat")],
        [],
    ]


TEXTS = {
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
}


@pytest.fixture
def text_tuples(monkeypatch):
    class SceneGraphParser:
        def __init__(self, checkpoint_path, device):
            assert checkpoint_path == "lizhuang144/flan-t5-base-VG-factual-sg"

        def parse(self, descriptions, return_text):
            assert return_text
            return descriptions  # the captions of this test are graphs

    stand_in(monkeypatch, FACTUAL, SceneGraphParser=SceneGraphParser)
    return run_example("factual_scene_graph")["factual"]


def test_texts_of_factual_become_tuples(text_tuples):
    assert text_tuples([*TEXTS, "", " "]) == [*TEXTS.values(), [], []]


def test_they_are_those_of_factuals_own_spice(text_tuples):
    own = pytest.importorskip(
        "factual_scene_graph.evaluation.spice_evaluation",
        reason="FactualSceneGraph is not installed",
        exc_type=ImportError,
    )
    for text, found in zip(TEXTS, text_tuples(list(TEXTS)), strict=True):
        theirs = {
            tuple(word for (word,) in one)
            for one in own.get_graph_tuples([text], False)
        }
        assert {(one[0], *reversed(one[1:])) for one in found} == theirs
