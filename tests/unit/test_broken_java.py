"""A program java that is none, is old, or crashes: listed under a protocol, otherwise an error."""

import pytest
from refusals import refused
from stand_ins import fake_java, fake_pycocoevalcap

import semmetrics
from semmetrics.errors import InputError

PREDS = {"a": ["a dog runs"], "b": ["two cats sit"]}
REFS = {"a": ["a big dog runs", "the dog is on grass"], "b": ["cats"]}
FILES = ("meteor/meteor-1.5.jar", "meteor/data/paraphrase-en.gz",
         "tokenizer/stanford-corenlp-3.4.1.jar")  # fmt: skip
OLD = 'Exception in thread "main" java.lang.UnsupportedClassVersionError: Unsupported major.minor'
BROKEN = {
    "silent": ("#!/bin/sh\nexit 0\n", "after 0 of 2 segments"),
    "fails": (f"#!/bin/sh\necho '{OLD}' >&2\nexit 1\n", "code 1 after 0 of 2 segments: Exception"),
    "crashes": ("#!/bin/sh\nread one\necho 1\nkill -9 $$\n", "code -9 after 1 of 2 segments"),
    "odd": ("#!/bin/sh\nread one\necho hello\necho hello\n", "is 'hello'"),
    "no program": ("\x00\x01", "METEOR cannot be run: "),
}


@pytest.mark.parametrize(("script", "problem"), BROKEN.values(), ids=BROKEN)
def test_meteor(monkeypatch, tmp_path, script, problem):
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *FILES)
    fake_java(monkeypatch, tmp_path / "bin", script)
    table = semmetrics.score(PREDS, REFS, protocol="coco-caption")
    reasons = {one.heading: one.reason for one in table.not_computed}
    assert reasons.keys() == {"METEOR", "SPICE"}
    assert problem in reasons["METEOR"]
    assert table["CIDEr"].n == 2
    with pytest.raises(InputError) as caught:
        semmetrics.score(PREDS, REFS, measures="METEOR")
    assert str(caught.value) == reasons["METEOR"]
    assert caught.value.remedy


def test_the_program_runs_once_for_a_protocol(monkeypatch, tmp_path):
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *FILES)
    counts = "3 4 1 2 1 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 1 2 2"
    script = f"#!/bin/sh\necho x >> {tmp_path}/runs\nwhile read one; do echo {counts}; done\n"
    fake_java(monkeypatch, tmp_path / "bin", script)
    table = semmetrics.score(PREDS, REFS, protocol="coco-caption")
    assert table["METEOR"].n == 2
    assert [one.heading for one in table.not_computed] == ["SPICE"]
    assert (tmp_path / "runs").read_text() == "x\n"


def test_the_tokenizer(monkeypatch, tmp_path):
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *FILES)
    fake_java(monkeypatch, tmp_path / "bin", "\x00\x01")
    with refused("java-not-started"):
        semmetrics.score(PREDS, REFS, tokenizer="ptb-java", task="captions")
