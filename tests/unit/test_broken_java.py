"""A program java that is none, is old, or crashes."""

import pytest
from refusals import refused
from stand_ins import fake_java, fake_pycocoevalcap

import semmetrics
from semmetrics.errors import InputError

PREDS = {"a": ["a dog runs"], "b": ["two cats sit"]}
REFS = {"a": ["a big dog runs", "the dog is on grass"], "b": ["cats"]}
FILES = (
    "meteor/meteor-1.5.jar",
    "meteor/data/paraphrase-en.gz",
    "tokenizer/stanford-corenlp-3.4.1.jar",
)
OLD = 'Exception in thread "main" java.lang.UnsupportedClassVersionError: Unsupported major.minor'
BROKEN = {
    "silent": ("#!/bin/sh\nexit 0\n", "after 0 of 3 segments"),
    "fails": (
        f"#!/bin/sh\necho '{OLD}' >&2\nexit 1\n",
        "code 1 after 0 of 3 segments: Exception",
    ),
    "crashes": (
        "#!/bin/sh\nread one\necho 1\nkill -9 $$\n",
        "code -9 after 1 of 3 segments",
    ),
    "odd": ("#!/bin/sh\nread one\necho hello\necho hello\necho hello\n", "is 'hello'"),
    "no program": ("\x00\x01", "METEOR(program=java) could not be started: "),
}


@pytest.mark.parametrize(("script", "problem"), BROKEN.values(), ids=BROKEN)
def test_meteor(monkeypatch, tmp_path, script, problem):
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *FILES)
    fake_java(monkeypatch, tmp_path / "bin", script)
    with pytest.raises(InputError) as caught:
        semmetrics.score(PREDS, REFS, measures="METEOR(program=java)")
    assert problem in str(caught.value)
    assert caught.value.remedy


def test_the_tokenizer(monkeypatch, tmp_path):
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *FILES)
    fake_java(monkeypatch, tmp_path / "bin", "\x00\x01")
    with refused("java-not-started"):
        semmetrics.score(PREDS, REFS, tokenizer="ptb-java", task="captions")
