"""Files: paths, compression, encodings, damage and sizes."""

from semmetrics.messages.message import Message

MESSAGES = {
    "missing-file": Message("no such file", "{remedy}"),
    "is-folder": Message("this is a folder", "Give a file in it."),
    "missing-folder": Message("no such folder", "Check the path."),
    "not-a-file": Message(
        "this is not a regular file",
        "Give a file in an existing folder.",
    ),
    "unreadable": Message(
        "the file cannot be read: {why}",
        "Check the path and its permissions.",
    ),
    "unwritable": Message(
        "the file cannot be written: {why}",
        "Check the folder and the free space.",
    ),
    "exists": Message("this path already exists", "Choose another path, or remove it."),
    "empty-file": Message("the file is empty (0 bytes)", "Check how it was written."),
    "not-utf8": Message(
        "byte {byte} (from 0) is not valid {codec}",
        "Save the file as UTF-8.",
    ),
    "damaged": Message(
        "the file is damaged or truncated: {why}",
        "Write or copy it again.",
    ),
    "damaged-model": Message(
        "a file of the model is missing or damaged ({why})",
        "Reinstall semmetrics. If the model is your own, copy its folder again.",
    ),
    "too-large": Message("the contents exceed {limit} bytes", "Raise {opt:max_bytes}."),
    "line-too-long": Message(
        "a line exceeds {limit} bytes",
        "Check the line endings, or raise {opt:max_line_bytes}.",
    ),
    "unknown-extension": Message(
        "the extension {ending!r} does not name a format",
        "Use one of {known}{instead:or set}.",
    ),
    "wrong-format": Message("cannot read {what} from {format}", "Use {wanted}."),
    "workbook": Message(
        "the file is an Excel workbook, despite its extension",
        "Save it as CSV (UTF-8).",
    ),
    "web-page": Message(
        "the file is a web page (HTML), perhaps an error message",
        "Download the data again.",
    ),
    "lfs-pointer": Message(
        "the file is a Git LFS pointer, not the data",
        "Run `git lfs pull`.",
    ),
    "not-gzip": Message("the file is not gzip-compressed", "Rename it without .gz."),
    "bad-character": Message(
        "the text contains {what}",
        "Remove it, and save the file as UTF-8.",
    ),
    "out-of-memory": Message(
        "not enough memory",
        "Give fewer items at once, or use a larger machine.",
    ),
    "carriage-returns": Message(
        "the lines end with a carriage return only",
        "Save the file with line feeds.",
    ),
    "not-json": Message(
        "this is not valid JSON: {why}", "{fix:else Correct the JSON.}"
    ),
    "json-lines": Message(
        "this is not valid JSON: {why}",
        "If each line is an object, name the file .jsonl.",
    ),
    "not-csv": Message(
        "this is not valid CSV: {why}",
        "Put the cell in quotes and double each quote in it, or check {opt:delimiter}.",
    ),
    "joined-rows": Message(
        "a quote starts a cell that spans several lines which look like rows",
        "If the quote is part of the text, put the cell in quotes and double the "
        "quote.",
    ),
    "wrong-content": Message("expected {wanted}, got {value}", "Write {example}."),
}
