"""CSV and TSV: delimiters, headers, quotes, and tables and lines in .txt files."""

import time
from pathlib import Path

import pytest
from reading import saved
from refusals import refused

import semmetrics
from semmetrics import ReadOptions, as_captions, as_labels
from semmetrics.data.csv_rows import first_row
from semmetrics.data.source import Source

# Delimiters


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
@pytest.mark.parametrize("name", ["gt.csv", "gt.tsv", "gt.txt"])
def test_the_header_tells_the_delimiter(tmp_path, delimiter, name):
    text = "image,labels,score\na,cat,0.5\na,dog,0.25\nb,bus,1\n"
    path = saved(tmp_path, name, text.replace(",", delimiter))

    lists = as_labels(path)

    assert list(lists.ids) == ["a", "b"]
    assert lists.to_list() == [["cat", "dog"], ["bus"]]
    assert lists.side.scores.tolist() == [0.5, 0.25, 1.0]


def test_an_unusual_delimiter_is_shown(tmp_path):
    semicolons = saved(tmp_path, "semicolons.csv", "image;labels\na;x,y\n")
    commas = saved(tmp_path, "commas.csv", "image,labels\na,x;y\n")

    assert as_labels(semicolons).understood.endswith("cells separated by ';'")
    assert as_labels(semicolons).to_list() == [["x,y"]]
    assert "separated" not in as_labels(commas).understood


def test_an_option_sets_the_delimiter(tmp_path):
    path = saved(tmp_path, "gt.csv", "image;labels\na;x,y\n")

    assert as_labels(path, options=ReadOptions(delimiter=";")).to_list() == [["x,y"]]
    with refused("other-delimiter", where=f"{path}, line 1"):
        as_labels(path, options=ReadOptions(delimiter=","))


@pytest.mark.parametrize("size", [2**21, 16])
def test_the_number_of_split_cells_is_shown(tmp_path, monkeypatch, size):
    monkeypatch.setattr("semmetrics.data.source.MAX_SMALL_BYTES", size)
    path = saved(tmp_path, "p.csv", 'id,labels\na,"cat,dog"\nb,ox\nc,\n')
    whole_cells = saved(tmp_path, "whole.csv", "id,labels\na,cat\n")
    options = ReadOptions(label_delimiter=",")

    lists = as_labels(path, options=options)

    assert lists.to_list() == [["cat", "dog"], ["ox"], []]
    assert lists.understood.endswith("split at ',' in 1 of 3 rows")
    whole = as_labels(whole_cells, options=options)
    assert whole.understood.endswith("split at ',' in 0 of 1 row")


# Headers


@pytest.mark.parametrize(
    ("head", "is_read"),
    [(b"id,label\na,x\n", False), (b'id,"la', True), (b'"i\nd",label\na,', False)],
)
def test_the_whole_file_is_read_only_for_a_long_header(monkeypatch, head, is_read):
    chunks = []

    def read_chunks(self):
        chunks.append(b'id,"label"\n')
        yield from chunks

    monkeypatch.setattr(Source, "chunks", read_chunks)
    source = Source("gt.csv", head, ".csv", path=Path("gt.csv"))

    header = first_row(source, ReadOptions())

    assert header[1] == "label"
    assert bool(chunks) == is_read


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
def test_a_first_line_that_is_not_a_header_is_an_error(tmp_path, text, code):
    path = saved(tmp_path, "gt.csv", text)

    with refused(code, where=f"{path}, line 1"):
        as_labels(path)


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        ("id,label\na,x\n", {"score_column": "p"}, "missing-column"),
        ("id,x,x\na,b,c\n", {"label_column": "x"}, "duplicate-column"),
    ],
)
def test_a_chosen_column_must_occur_once(tmp_path, text, options, code):
    path = saved(tmp_path, "gt.csv", text)

    with refused(code, where=f"{path}, line 1"):
        as_labels(path, options=ReadOptions(**options))


def test_numbers_for_correlations_need_a_header(tmp_path):
    path = saved(tmp_path, "rows.csv", "a,b,0.5\nb,c,0.25\n")

    with refused("number-in-header", where=f"{path}, line 1"):
        semmetrics.correlate(path, path)


# Quotes


def test_captions_may_have_several_lines(tmp_path):
    text = 'id,caption\n7.jpg,"a dog, running\nand then, a bus"\n8.jpg,"two\nlines"\n'

    captions = as_captions(saved(tmp_path, "p.csv", text))

    assert captions.to_list() == [["a dog, running\nand then, a bus"], ["two\nlines"]]


@pytest.mark.parametrize(
    "caption", ["a dog\n8.jpg", "a dog\n8.jpg,a bus,a car", "a dog\n8,a bus"]
)
def test_a_caption_whose_lines_do_not_look_like_rows_is_one_caption(tmp_path, caption):
    path = saved(tmp_path, "p.csv", f'id,caption\n7.jpg,"{caption}"\n')

    assert as_captions(path).to_list() == [[caption]]


@pytest.mark.parametrize(("suffix", "comma"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (['7,"The Scream', '8,a bus"', "9,a cat"], "joined-rows"),
        (['7,"The Scream" hangs', "8,a bus"], "not-csv"),
        (['7,"The Scream', "8,a bus"], "not-csv"),
    ],
)
def test_a_quote_that_does_not_enclose_a_cell_is_an_error(
    tmp_path, suffix, comma, rows, code
):
    text = "\n".join(["image_id,caption", *rows, ""]).replace(",", comma)
    path = saved(tmp_path, f"p.{suffix}", text)

    with refused(code, where=f"{path}, line 2"):
        as_captions(path)


@pytest.mark.parametrize("row", [0, 50_000])
def test_a_quote_in_a_large_table_does_not_make_it_slow(tmp_path, row):
    long_label = "a label that makes a row long " * 2
    rows = [f"{number},{long_label}" for number in range(100_000)]
    rows[row] = f'{row},a 12" pizza'
    path = saved(tmp_path, "gt.csv", "\n".join(["id,label", *rows]))

    start = time.monotonic()
    lists = as_labels(path)

    # It takes half a minute if the quotes are counted again for each line.
    assert time.monotonic() - start < 10
    assert lists.to_list()[row] == ['a 12" pizza']


# Text files of captions

FLICKR30K = (
    'image_name| comment_number| comment\n1.jpg| 0| Two men .\n2.jpg| 0| A "big" cat\n'
)
KAGGLE = 'image,caption\n1.jpg,a dog runs\n1.jpg,"a dog, a cat"\n'


def test_the_results_of_flickr30k_are_a_table(tmp_path):
    captions = as_captions(saved(tmp_path, "results.csv", FLICKR30K))

    assert list(captions.ids) == ["1.jpg", "2.jpg"]
    assert captions.values()[1].strip() == 'A "big" cat'


def test_a_row_of_flickr30k_without_a_delimiter_is_an_error(tmp_path):
    # Line 20,000 of the published file is like this.
    text = f"{FLICKR30K}3.jpg| 4   A dog runs .\n"
    path = saved(tmp_path, "results.csv", text)

    with refused("wrong-width", where=f"{path}, line 4"):
        as_captions(path)


def test_a_text_file_may_be_a_table(tmp_path):
    path = saved(tmp_path, "captions.txt", KAGGLE)

    captions = as_captions(path)
    lines = as_captions(path, options=ReadOptions(format="txt"))

    assert list(captions.ids) == ["1.jpg"]
    assert captions.to_list() == [["a dog runs", "a dog, a cat"]]
    assert lines.to_list()[0] == ["image,caption"]


def test_a_text_file_may_be_larger_than_the_limit_of_a_line(tmp_path):
    path = saved(tmp_path, "captions.txt", "a dog runs\n" * 20)

    captions = as_captions(path, options=ReadOptions(max_line_bytes=10))

    assert len(captions) == 20
    with refused("line-too-long", where=f"{path}, line 1"):
        as_captions(path, options=ReadOptions(max_line_bytes=9))


@pytest.mark.parametrize(
    "text",
    [
        "a dog, running\nimage, text and more\n",
        "image of a caption, text\na dog\n",
        "caption\na dog\n",
        "2 dogs run\n3 cats\n",
        '[CLS] a dog\n["a dog\n{a dog}\n',
        "1.jpg is a picture\na dog\n",
        "a dog\n7\n",
        "route 66\nroute 7\n",
        "42\n",
    ],
)
def test_lines_that_only_look_like_a_table_are_captions(tmp_path, text):
    captions = as_captions(saved(tmp_path, "captions.txt", text))

    assert captions.to_list() == [[line] for line in text.splitlines()]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1.jpg,a dog\n2.jpg,a cat, asleep\n", "ids-in-text"),
        ("a/1.png a dog\n\na/2.png a cat\n", "ids-in-text"),
        ("391\ta dog\n392\ta cat\n", "ids-in-text"),
        ('{"image_id": 1, "caption": "a dog"}\n', "text-is-json"),
        ('["a dog", "a cat"]\n', "text-is-json"),
        ("H-0\t-0.3\ta dog\nH-1\t-0.4\ta cat\n", "fairseq-lines"),
        ("S-0\tein Hund\nT-0\ta dog\nH-0\t-0.3\ta dog\n", "fairseq-lines"),
        ("1\n0\n1\n", "numbers-in-text"),
        ("1 0 0 1 \n0 0 1 0 \n", "numbers-in-text"),
        ("2008_02 -1\n2008_03  1\n", "numbers-in-text"),
    ],
)
def test_lines_that_are_not_captions_are_an_error(tmp_path, text, code):
    path = saved(tmp_path, "captions.txt", text)

    with refused(code, where=f"{path}, line 1"):
        as_captions(path)


@pytest.mark.parametrize("text", ["1.jpg,a dog\n2.jpg,a cat\n", "1\n0\n1\n"])
def test_an_option_reads_all_lines_as_captions(tmp_path, text):
    path = saved(tmp_path, "captions.txt", text)

    captions = as_captions(path, options=ReadOptions(format="txt"))

    assert captions.values() == text.splitlines()
