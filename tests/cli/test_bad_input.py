"""Bad input: one clear error with place and remedy, exit code 2, nothing on standard output."""

from refusals import is_refusal


def test_wrong_options(refused, files):
    pair = ("score", "a.json", "gt.json")
    for arguments, expected in (
        (("-m", " "), "nothing-given"),
        (("-m", "F1 F1"), "twice"),
        (("--protocol", "kubani"), "did you mean kubany2020?"),
        (("--protocol", "kubany2020", "-m", "F1"), "--protocol"),
        (("--protocol", "kubany2020", "--missing", "empty"), "missing"),
        (("--protocol", "kubany2020", "--threshold", "0.5"), "fixed-by"),
        (("--top-k", "0"), "cutoff"),
        (("--top-k", "1,x"), "cutoff"),
        (("--top-k", "1,1"), "distinct"),
        (("--threshold", "high"), "decoding rule"),
        (("--decode", "magic"), "decoding rule"),
        (("--normalize", "upper"), "bad-option"),
        (("--missing", "maybe"), "--missing"),
        (("--task", "sounds"), "--task"),
        (("--format", "xml"), "--format"),
        (("--input-format", "xml"), "xml"),
        (("--delimiter", "ab"), "delimiter"),
        (("--ci", "--level", "2"), "level"),
        (("--ci", "--resamples", "1"), "resamples"),
        (("--ci", "--seed", "-1"), "seed"),
        (("--digits", "99"), "--digits"),
        (("--ignore", "@none.txt"), "none.txt"),
        (("--weights", "none.json"), "none.json"),
        (("--set-size-probs", "none.npy"), "none.npy"),
        (("--speed",), "--speed"),
    ):
        assert is_refusal(refused(*pair, *arguments), expected), arguments
