"""METEOR's words of captions, and its word lists."""

import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from meteor_inputs import UNUSUAL_TOKENS
from oracles import meteor as oracle
from refusals import refused
from stand_ins import METEOR_LISTS, meteor_programs, small_meteor, write_meteor

from semmetrics.text.meteor_words import normalize, read_list

TOKEN = st.sampled_from(UNUSUAL_TOKENS)
SEPARATOR = st.sampled_from(["", "", " "])
TEXT = st.lists(st.tuples(TOKEN, SEPARATOR).map("".join), max_size=9).map("".join)


@given(TEXT)
def test_words_are_the_oracles(text):
    with meteor_programs():
        words = normalize([text, "", text])

    expected = oracle.split(text.replace("|||", ""), ["Mr"], ["No"])
    assert words == [expected, [], expected]


@pytest.fixture
def jar(tmp_path):
    """The jar of word lists, which a test may change."""
    folder = write_meteor(tmp_path / "meteor")
    with small_meteor(folder):
        yield folder / "meteor-1.5.jar"


@pytest.mark.parametrize("name", METEOR_LISTS)
def test_a_word_list_of_another_version_is_an_error(jar, name):
    with zipfile.ZipFile(jar, "w") as archive:
        for listed, lines in METEOR_LISTS.items():
            changed = [*lines, "other"] if listed == name else lines
            archive.writestr(listed, "".join(f"{line}\n" for line in changed))

    with refused("damaged-package") as caught:
        read_list("function/english.words")

    assert name in str(caught.value)


def test_a_jar_that_is_not_an_archive_is_an_error(jar):
    jar.write_bytes(b"no jar")

    with refused("damaged-package"):
        read_list("function/english.words")
