"""Tables with another delimiter, tables in .txt files, and first lines that are no header."""

from __future__ import annotations

import io

import pytest
from refusals import refused

import semmetrics
from semmetrics import ReadOptions, as_captions, as_labels
from semmetrics.data.source import SMALL
from semmetrics.scale.stream import score_stream

FLICKR30K = 'image_name| comment_number| comment\n1.jpg| 0| Two men, a dog .\n2.jpg| 0| A "big" cat\n'


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
@pytest.mark.parametrize("name", ["gt.csv", "gt.tsv", "gt.txt"])
def test_the_header_tells_the_delimiter(delimiter, name, tmp_path):
    text = "image,labels,score\na,cat,0.5\na,dog,0.25\nb,bus,1\n".replace(
        ",", delimiter
    )
    found = as_labels(write(tmp_path, name, text))
    assert list(found.ids) == ["a", "b"]
    assert found.to_list() == [["cat", "dog"], ["bus"]]
    assert found.side.scores.tolist() == [0.5, 0.25, 1.0]


def test_the_delimiter_is_shown_and_can_be_named(tmp_path):
    path = write(tmp_path, "gt.csv", "image;labels\na;x,y\n")
    assert as_labels(path).understood.endswith("cells separated by ';'")
    assert as_labels(path, options=ReadOptions(delimiter=";")).to_list() == [["x,y"]]
    with refused("other-delimiter", where=f"{path}, line 1"):
        as_labels(path, options=ReadOptions(delimiter=","))
    usual = write(tmp_path, "usual.csv", "image,labels\na,x;y\n")
    assert as_labels(usual).to_list() == [["x;y"]]
    assert "separated" not in as_labels(usual).understood


def test_a_matrix_with_semicolons(tmp_path):
    path = write(tmp_path, "gt.csv", "id;cat;dog\na;1;0\nb;1;1\n")
    assert as_labels(path).to_list() == [["cat"], ["cat", "dog"]]


def test_results_of_flickr30k(tmp_path):
    path = write(tmp_path, "results.csv", FLICKR30K)
    found = as_captions(path)
    assert list(found.ids) == ["1.jpg", "2.jpg"]
    assert [text.strip() for (text,) in found.to_list()] == [
        "Two men, a dog .",
        'A "big" cat',
    ]
    # its line 20,000 lacks a delimiter
    path = write(tmp_path, "results.csv", FLICKR30K + "3.jpg| 4   A dog runs .\n")
    with refused("wrong-width", where=f"{path}, line 4"):
        as_captions(path)


def test_captions_of_kaggle(tmp_path):
    path = write(
        tmp_path,
        "captions.txt",
        'image,caption\n1.jpg,a dog runs\n1.jpg,"a dog, a cat"\n',
    )
    found = as_captions(path)
    assert (list(found.ids), found.to_list()) == (
        ["1.jpg"],
        [["a dog runs", "a dog, a cat"]],
    )
    assert semmetrics.validate(path)["captions"] == 2
    plain = as_captions(path, options=ReadOptions(format="txt"))
    assert plain.to_list()[0] == ["image,caption"]


@pytest.mark.parametrize(
    "text",
    [
        "a dog, running\nimage, text and more\n",
        "image of a caption, text\na dog\n",
        "caption\na dog\n",
        "2 dogs run\n3 cats\n",
        '[CLS] a dog\n["a dog\n{a dog}\n',
        "1.jpg is a picture\na dog\n",
        "3\ta dog\ntwo\tcats\n",
        "a man\ttwo men\na cat\tthe cat\n",
    ],
)
def test_plain_text_stays_plain(text, tmp_path):
    found = as_captions(write(tmp_path, "captions.txt", text))
    assert [part for item in found.to_list() for part in item] == text.replace(
        "\t", "\n"
    ).split("\n")[:-1]


def test_token_files_stay_what_they_are(tmp_path):
    path = write(tmp_path, "tokens.txt", "1.jpg#0\ta dog , a cat\n1.jpg#1\ta dog\n")
    assert as_captions(path).to_list() == [["a dog , a cat", "a dog"]]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1.jpg,a dog\n2.jpg,a cat, asleep\n", "ids-in-text"),
        ("a/1.png a dog\n\na/2.png a cat\n", "ids-in-text"),
        ("391\ta dog\n392\ta cat\n", "ids-in-text"),
        ('{"image_id": 1, "caption": "a dog"}\n', "text-is-json"),
        ('["a dog", "a cat"]\n', "text-is-json"),
        ("H-0\t-0.3\ta dog\nH-1\t-0.4\ta cat\n", "fairseq-lines"),
        (
            "S-0\tein Hund\nT-0\ta dog\nH-0\t-0.3\ta dog\nD-0\t-0.3\ta dog\n",
            "fairseq-lines",
        ),
    ],
)
def test_tables_without_a_header_are_not_plain_text(text, code, tmp_path):
    path = write(tmp_path, "captions.txt", text)
    with refused(code, where=f"{path}, line 1"):
        as_captions(path)
    if code == "ids-in-text":
        lines = as_captions(path, options=ReadOptions(format="txt"))
        assert len(lines) == text.count("\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a.jpg,cat\nb.jpg,dog\n", "no-header"),
        ("a.jpg,1,0\nb.jpg,0,1\n", "no-header"),
        ("# ours\nid,label\na,cat\n", "comment-line"),
        ("sep=;\nid;label\na;cat\n", "comment-line"),
        ("photo;what\na;cat\n", "other-delimiter"),
        ("id,what,score\na,cat,1\n", "missing-column"),
    ],
)
def test_first_lines_that_are_no_header(text, code, tmp_path):
    path = write(tmp_path, "gt.csv", text)
    with refused(code, where=f"{path}, line 1"):
        as_labels(path)


def test_pairs_without_a_header(tmp_path):
    path = write(tmp_path, "phi.csv", "a,b,0.5\nb,c,0.25\n")
    with refused("number-in-header", where=f"{path}, line 1"):
        semmetrics.correlate(path, path)
    path = write(tmp_path, "phi.csv", "image,caption,score\n" + path.read_text())
    assert len(semmetrics.correlate(path, path))


def test_standard_input_with_semicolons(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"image;labels\na;cat\nb;dog\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert as_labels("-").to_list() == [["cat"], ["dog"]]


def test_large_files_and_streams_find_the_same_delimiter(tmp_path):
    rows = [
        f"image number {n};{'a long label ' * 5}{n % 7};{n % 5 / 4}"
        for n in range(30_000)
    ]
    path = write(tmp_path, "gt.csv", "\n".join(["image;labels;score", *rows, ""]))
    assert path.stat().st_size > SMALL
    whole = semmetrics.score(path, path, measures="F1")
    stream = score_stream(str(path), str(path), measures="F1").compute()
    assert whole.to_dict() == stream.to_dict()
    assert "cells separated by ';'" in whole.understood[0]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_quote_that_opens_no_cell(ending, tmp_path):
    sign = "," if ending == "csv" else "\t"
    header = f"image_id{sign}caption\n"
    joined = f'{header}7.jpg{sign}"The Scream\n8.jpg{sign}a bus"\n9.jpg{sign}a cat\n'
    path = tmp_path / f"p.{ending}"
    path.write_text(joined, encoding="utf-8")
    with refused("joined-rows") as caught:
        semmetrics.as_captions(path)
    assert caught.value.where.endswith("line 2")
    for text in ('"The Scream" hangs', '"The Scream'):
        path.write_text(f"{header}7{sign}{text}\n8{sign}a bus\n", encoding="utf-8")
        with refused("not-csv"):
            semmetrics.as_captions(path)


@pytest.mark.parametrize("end", ["\n", ""])
def test_quotes_of_a_large_table(end, tmp_path):
    rows = "".join(f"{number}.jpg,a caption\n" for number in range(100_000))
    path = tmp_path / "p.csv"
    path.write_text(
        f'id,caption\n{rows}x1.jpg,"The Scream\nx2.jpg,a bus"{end}', encoding="utf-8"
    )
    with refused("joined-rows") as caught:
        semmetrics.as_captions(path)
    assert caught.value.where.endswith("line 100002")


def test_captions_of_several_lines(tmp_path):
    path = tmp_path / "p.csv"
    text = 'id,caption\n7.jpg,"a dog, running\nand then, a bus"\n8.jpg,"two\nlines"\n'
    path.write_text(text, encoding="utf-8")
    found = semmetrics.as_captions(path)
    assert found.to_list() == [["a dog, running\nand then, a bus"], ["two\nlines"]]


@pytest.mark.parametrize(
    "lines", ["1\n0\n1\n", "1 0 0 1 \n0 0 1 0 \n", "2008_02 -1\n2008_03  1\n"]
)
def test_numbers_are_no_captions(lines, tmp_path):
    with refused("numbers-in-text") as caught:
        as_captions(write(tmp_path, "Labels_sky.txt", lines))
    assert caught.value.where.endswith("line 1")
    assert (
        len(as_captions(tmp_path / "Labels_sky.txt", options=ReadOptions(format="txt")))
        > 1
    )


def test_captions_with_numbers(tmp_path):
    for text in ("42\n", "2 dogs\n1 cat\n", "a dog\n7\n", "route 66\nroute 7\n"):
        as_captions(write(tmp_path, "p.txt", text))
