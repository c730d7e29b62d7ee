"""PTB tokens: a caption for every rule, and the Java program beside ours."""

import itertools
import random
import re
import shutil
import string
from importlib.util import find_spec

import pytest
from refusals import refused
from stand_ins import fake_java, fake_pycocoevalcap, without_java, without_pycocoevalcap

from semmetrics.errors import MissingDependencyError
from semmetrics.text import open_tokenizer
from semmetrics.text import ptb as ptb_rules
from semmetrics.text.ptb import RULES, PtbTokenizer, Scanner

# Rule, caption, and what the Java program of pycocoevalcap makes of the caption. A no-break space
# inside a token is written as the Java program writes it.
CASES = [
    ("plain", "", ""),
    ("plain", "   ", ""),
    (
        "plain",
        "A man riding a wave on top of a surfboard.",
        "a man riding a wave on top of a surfboard",
    ),
    (
        "plain",
        "Two dogs, one black and one white, play in the snow!",
        "two dogs one black and one white play in the snow",
    ),
    (
        "plain",
        'A "STOP" sign (red) next to a tree; it\'s raining...',
        "a stop sign -lrb- red -rrb- next to a tree it 's raining",
    ),
    ("plain", "the girl said: 'look at me'", "the girl said look at me"),
    ("plain", "A woman's/man's shoe", "a woman 's / man 's shoe"),
    ("plain", "tv,lamp,and couch in a room .", "tv lamp and couch in a room"),
    ("plain", "A plate with 3 pizzas & 2 cokes on it", "a plate with 3 pizzas & 2 cokes on it"),
    ("plain", "colour of the grey theatre", "colour of the grey theatre"),
    ("plain", "A child   with two  blanks", "a child with two blanks"),
    ("plain", "pizza\tand\xa0beer", "pizza and beer"),
    ("plain", "a café、中文 日本", "a café 、 中文 日本"),
    ("plain", "cat 😀👍🏽 dog", "cat dog"),
    ("plain", "zero\u200bwidth and bell\x07 here", "zero width and bell here"),
    ("plain", "Un perro está aquí. Él corre", "un perro está aquí él corre"),
    ("plain", "собака бежит 12 км", "собака бежит 12 км"),
    ("plain", "dog's' owners' \"dogs\"", "dog 's owners dogs"),
    ("plain", "-lrb- already tokenized -rrb- text .", "-lrb- already tokenized -rrb- text"),
    ("plain", "a train no.5 at 10:30am 1/2 full", "a train no. 5 at 10:30 am 1/2 full"),
    (
        "plain",
        "a 50/50 chance, 10-15 people, 3,000 bikes",
        "a 50/50 chance 10-15 people 3,000 bikes",
    ),
    ("plain", "it's 5'10\" tall", "it 's 5 10 tall"),
    ("plain", "children`s toys ``here''", "children s toys here"),
    ("plain", "the sign reads NO PARKING 8A.M.-6P.M.", "the sign reads no parking 8a.m.-6p m."),
    ("plain", "B&W photo; black&white photo", "b&w photo black & white photo"),
    ("plain", "$5.00/hr, 5$ 20% off!!!", "$ 5.00 / hr 5 $ 20 % off !!!"),
    ("plain", "man/woman / child", "man/woman / child"),
    ("plain", "wii remote's , a tv 's stand", "wii remote 's a tv 's stand"),
    ("plain", "\x96 dash \x85 and \x80 5", "dash and $ 5"),
    ("blanks", "a dog \u2009.com sign", "a dog com sign"),
    ("blanks", "one\u3000 \xa0two", "one two"),
    ("tag", "a <b>red</b> hat", "a <b> red </b> hat"),
    (
        "tag",
        "a photo <img src='cat.jpg' alt=\"a cat\"/> of a cat",
        "a photo <img\xa0src='cat.jpg'\xa0alt=\"a\xa0cat\"/> of a cat",
    ),
    ("tag", "wet <!-- really --> dog", "wet <!--\xa0really\xa0--> dog"),
    (
        "e-mail",
        "a sign says mail bob.smith@farm-shop.co.uk now",
        "a sign says mail bob.smith@farm-shop.co.uk now",
    ),
    (
        "url",
        "a poster of https://zoo.example/cats?id=7 on a wall",
        "a poster of https://zoo.example/cats?id=7 on a wall",
    ),
    ("www", "a van with www.3-zebras.co/fun on it", "a van with www.3-zebras.co/fun on it"),
    ("cannot", "The boy cannot reach it", "the boy can not reach it"),
    ("gonna", "He is gonna jump and wanna swim", "he is gon na jump and wan na swim"),
    ("gotta", "dogs gotta run", "dogs got ta run"),
    ("gimme", "gimme that, lemme see", "gim me that lem me see"),
    ("'tis", "'Tis a ship, 'twas a boat", "'t is a ship 't was a boat"),
    ("before n't", "the cat isn't here and CAN'T come", "the cat is n't here and ca n't come"),
    ("n't", "a cow that doesn't, won't, ain't moving", "a cow that does n't wo n't ai n't moving"),
    ("before 's", "L's hat and D'S coat", "l 's hat and d 's coat"),
    ("before 's", "a sheep that'll sit", "a sheep that 'll sit"),
    ("before ’s", "Cannot’s an odd word", "cannot 's an odd word"),
    ("before ’s", "L’s hat", "l 's hat"),
    (
        "'s",
        "a man's hat and the dogs' bowls, they've it",
        "a man 's hat and the dogs bowls they 've it",
    ),
    ("’s", "a man’s hat; she’ll win", "a man 's hat she 'll win"),
    ("'em", "throw 'em 'til noon 'cause it's hot", "throw 'em 'til noon 'cause it 's hot"),
    ("'n'", "rock 'n' roll, salt'n'pepper", "rock 'n' roll salt 'n' pepper"),
    ("'n", "more'n six", "more 'n six"),
    ("’n", "salt ’n pepper", "salt ’n pepper"),
    ("'90", "a car from '90 in the rain", "a car from '90 in the rain"),
    ("'90s", "a '90s car, an '80s haircut", "a '90s car an '80s haircut"),
    ("initial'word", "a K'nex crane and a M'Lady shirt", "a k'nex crane and a m'lady shirt"),
    ("o'clock", "six o'clock at O'Hare", "six o'clock at o'hare"),
    ("vowel'vowel", "ma'am eats at Hawai'i hallowe'en", "ma'am eats at hawai'i hallowe'en"),
    ("o'o", "a shocked face o'O on a mug", "a shocked face o'o on a mug"),
    ("ol'", "the ol' barn", "the ol' barn"),
    ("ol'", "good Ol’ boys", "good ol’ boys"),
    ("y'all", "Y'all come here", "y' all come here"),
    ("cap'n", "cap'n crunch, c'est bon, dunkin' donuts", "cap'n crunch c'est bon dunkin' donuts"),
    (
        "nor'easter",
        "a li'l dog in a nor'easter eats s'mores",
        "a li'l dog in a nor'easter eats s'mores",
    ),
    ("word", "a caf&eacute; at noon", "a caf&eacute; at noon"),
    ("word", "naïve café owners in Zürich", "naïve café owners in zürich"),
    ("word", "co\xadoperate", "cooperate"),
    (
        "letters and digits",
        "a 4x4 truck, 3D art, the 10th floor",
        "a 4x4 truck 3d art the 10th floor",
    ),
    ("hyphens", "img_20 and dog_cat", "img_20 and dog_cat"),
    ("hyphens", "a crème-brû\xadlée stand", "a crème-brû lée stand"),
    (
        "hyphens",
        "a black-and-white 35-year-old d'Artagnan-like cat",
        "a black-and-white 35-year-old d'artagnan-like cat",
    ),
    ("joined", "a red hat.The dog runs!wow what?no", "a red hat.the dog runs!wow what?no"),
    (
        "domain",
        "a shirt with fresh-fish.com/menu and pies.net/all on it",
        "a shirt with fresh-fish com/menu and pies.net/all on it",
    ),
    ("pro-", "pro- and anti- groups", "pro- and anti- groups"),
    ("sentence end", "a shop of Smith Inc.-5 and Jan.A", "a shop of smith inc. -5 and jan. a"),
    (
        "abbreviation",
        "Mr. Jones on St. James St. in Feb. or Mass. etc.",
        "mr. jones on st. james st. in feb. or mass. etc.",
    ),
    (
        "dots and hyphens",
        "a 1.5-liter jug, 1,000-foot fall, a.m.-style",
        "a 1.5-liter jug 1,000-foot fall a.m.-style",
    ),
    ("acronyms", "a non-U.S. flag", "a non-u.s. flag"),
    ("acronyms", "a pre-i.e.-A mark", "a pre-i.e.-a mark"),
    ("slashes", "a man and/or dog, w/o leash, a/c unit", "a man and/or dog w/o leash a/c unit"),
    ("initials", "J. K. at 5 p.m. in the U.S. near D.C.", "j. k. at 5 p.m. in the u.s. near d.c."),
    ("last initial", "a box of vitamin C. The man", "a box of vitamin c the man"),
    ("last initial", "block B. <b>dogs</b>", "block b. <b> dogs </b>"),
    ("last initial", "building C. Mr. Lee", "building c mr. lee"),
    (
        "stop and comma",
        "a sign with fig., then 10., then ok.;",
        "a sign with fig. then 10. then ok.",
    ),
    ("no. 5", "bus no. 7 and fig.3, pp. 10", "bus no. 7 and fig. 3 pp. 10"),
    ("capitals", "an AT&T phone, R&amp;B band, A+B", "an at&t phone r&b band a+b"),
    ("currency", "US$5 and HK$ 10", "us$ 5 and hk$ 10"),
    ("c++", "a C++ book and a C# book", "a c++ book and a c# book"),
    ("file", "picture 12.jpg, 3.mp3", "picture 12.jpg 3.mp3"),
    ("date", "taken on 4/15-2012", "taken on 4/15-2012"),
    ("fraction", "5 1/2 cups, 2-1/2 inches, 3⁄4", "5\xa01/2 cups 2-1/2 inches 3⁄4"),
    ("number", "-5 degrees, 1,000.50, .25, 10:30, +3", "-5 degrees 1,000.50 .25 10:30 +3"),
    ("raised digits", "12 m²³ box", "12 m ²³ box"),
    (
        "telephone",
        "call (555) 123-4567 or 020 7946 0958",
        "call -lrb-555-rrb-\xa0123-4567 or 020\xa07946\xa00958",
    ),
    ("hashtag", "#throwback to ## dogs", "#throwback to ## dogs"),
    ("at name", "photo by @cat_lover and @@", "photo by @cat_lover and @@"),
    ("!?", "what?! no!!", "what ?! no !!"),
    ("stars", "**** hotel, \\* sign", "**** hotel \\* sign"),
    ("dashes", "a dog ----- running --- fast", "a dog ----- running fast"),
    ("underscores", "a blank ___ here", "a blank ___ here"),
    ("dots", "wait .... now . . .5", "wait now 5"),
    ("-lrb-", "a -LRB- in text", "a -lrb- in text"),
    ("quotes", "”“ and ``x'' ’’", "''`` and x"),
    (
        "entity",
        "cats &amp; dogs &lt; 3 &nbsp; &eacute; &quot;hi&quot;",
        "cats & dogs < 3 &eacute; hi",
    ),
    ("character number", "it&#39;s odd", "it &#39; s odd"),
    ("smiley", "happy :) sad :-( =D <:( face", "happy :-rrb- sad :--lrb- =d <:-lrb- face"),
    ("^_^", "cute ^_^ cat -_-", "cute ^_^ cat -_-"),
    ("(^_^)", "cute (^_^) cat (--)", "cute -lrb-^_^-rrb- cat -lrb----rrb-"),
    ("<<", "go >> there << here", "go >> there << here"),
    (
        "sign",
        "50% [off] {now} ½ £5 5¢ € ♥ ♫ * ~ = + \\ | ^ @ #5",
        "50 % -lsb- off -rsb- -lcb- now -rcb- 1/2 # 5 5 cents $ ♥ ♫ * ~ = + \\ | ^ @ # 5",
    ),
]
NEXT = [
    # A caption's end that depends on the next caption: tokens alone, and before that caption.
    ("a box of vitamin C.", "The dog runs", "c.", "c"),
    ("block B.", "a dog", "b.", "b."),
    ("bus no.", "5 dogs", "no", "no."),
    ("bus no.", "five dogs", "no", "no"),
]
WORDS = (
    *("ABBREVIATION", "APOSTROPHE_WORD", "BEFORE_NUMBER", "ENTITY", "EXTENSION"),
    *("SENTENCE_END", "SPLIT", "STARTER", "TYPEWRITER_WORD"),
)
NAMED = " ".join(str(getattr(ptb_rules, name)) for name in WORDS).lower()
SIGNS = string.punctuation + " '’“”‘–—…½£€\xa0\xad\u200b\t\x07éñ中д\u0301٣😀²‐"


@pytest.fixture(scope="module")
def tokenizer():
    return PtbTokenizer()


@pytest.mark.parametrize(("rule", "caption", "tokens"), CASES)
def test_caption_of_each_rule(tokenizer, rule, caption, tokens):
    assert " ".join(tokenizer.tokens([caption])[0]) == tokens
    assert tokenizer.tokens([caption] * 2) == [[t for t in tokens.split(" ") if t]] * 2


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_rule_is_needed_by_a_caption_of_its_own(rule):
    without = Scanner(other for other in RULES if other is not rule)
    assert any(
        " ".join(without.scan(caption)) != tokens
        for name, caption, tokens in CASES
        if name == rule.name
    )


def test_rules_have_different_names():
    assert len({rule.name for rule in RULES}) == len(RULES)


def glued(rng):
    """A caption of words and signs with and without blanks between."""
    pieces = [word for _, caption, _ in CASES for word in caption.split(" ")]
    pieces += [
        "a",
        "dog",
        "The",
        "C.",
        "no.",
        "5",
        "1/2",
        "Mr.",
        "555",
        "1234",
        ". .",
        "<b>",
        "it's",
    ]
    parts = []
    for _ in range(rng.randint(1, 9)):
        parts.append(rng.choice(pieces))
        parts.append(rng.choice([" ", " ", " ", "", rng.choice(SIGNS)]))
    return "".join(parts)


def noise(rng):
    """A string of few different characters, so that rules meet."""
    alphabet = [rng.choice(string.ascii_letters), rng.choice(string.digits), rng.choice(" a.T")]
    alphabet += rng.sample(SIGNS, rng.randint(1, 4))
    return "".join(rng.choices(alphabet, k=rng.randint(1, 14)))


def strings(seed, number):
    rng = random.Random(seed)
    return [rng.choice((glued, noise))(rng) for _ in range(number)]


def test_words_looked_up_give_what_the_whole_caption_gives():
    captions = strings(0, 4000)
    tokenizer, scanner = PtbTokenizer(), Scanner()
    expected = [scanner.scan(caption) for caption in captions]
    assert tokenizer.tokens(captions) == expected
    assert tokenizer.tokens(captions) == expected  # now from what was kept


TOUCHY = ["", "no.", "Fig.", "-no.", "C.", "(C.", "'emC.", "a.m.", "The", "Mr.", "5", "12", "555"]
TOUCHY += [
    "(555)",
    "+44",
    "1/2",
    "<a",
    "b>",
    "<b>",
    ".",
    "dog.",
    "Inc.",
    "http://a.b",
    "a@b",
    "'90",
]


def test_neighbours_that_make_one_token_or_end_one():
    tokenizer, scanner = PtbTokenizer(), Scanner()
    tokenizer.tokens(TOUCHY)
    captions = [" ".join(three) for three in itertools.product(TOUCHY, repeat=3)]
    assert tokenizer.tokens(captions) == [scanner.scan(caption) for caption in captions]


def test_simple_words_are_told_as_by_the_rules():
    letters = [*string.ascii_lowercase]
    spoken = [
        *itertools.chain.from_iterable(itertools.product(letters, repeat=n) for n in (1, 2, 3))
    ]
    bare = ["".join(word) for word in spoken] + re.findall("[a-z]{2,}", NAMED)
    forms = [form(word) for word in bare for form in (str.lower, str.title, str.upper)]
    signs = itertools.cycle(["", *".,;:!?."])
    captions = [word + next(signs) for word in forms]
    captions += [word + "." for word in forms[-900:]]
    scanner = Scanner()
    assert PtbTokenizer().tokens(captions) == [scanner.scan(caption) for caption in captions]


def test_tokens_do_not_depend_on_the_other_captions():
    captions = strings(1, 500)
    together = PtbTokenizer().tokens(captions)
    assert (
        together
        == [PtbTokenizer().tokens([caption])[0] for caption in captions[:40]]
        + (PtbTokenizer().tokens(captions[:39:-1])[::-1])
    )


@pytest.mark.parametrize(("caption", "following", "alone", "before"), NEXT)
def test_next_caption_counts_only_if_asked(caption, following, alone, before):
    both = [caption, following]
    assert PtbTokenizer().tokens(both)[0][-1] == alone
    assert PtbTokenizer(run_on=True).tokens(both)[0][-1] == before


def test_run_on_has_its_own_name():
    assert PtbTokenizer().name == "ptb"
    assert PtbTokenizer(run_on=True).name == "ptb-run-on"


@pytest.mark.parametrize("separator", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\u2028", "\u2029"])
def test_line_separators_are_blanks(tokenizer, separator):
    caption = f"a dog{separator}runs 5{separator}1/2"
    assert tokenizer.tokens([caption]) == tokenizer.tokens(
        [caption.replace(separator, " " * len(separator))]
    )


def test_every_character_is_taken(tokenizer):
    captions = [f"a{chr(code)}b {chr(code)} {chr(code)}1" for code in range(0x11000)]
    tokens = tokenizer.tokens(captions)
    assert all(isinstance(token, str) and token for caption in tokens for token in caption)
    assert tokens[0x1F] == ["a", "b", "1"]
    assert tokens[0xD800] == ["a", "b", "1"]
    assert tokens[0x10000] == ["a", "b", "1"]


HARD = [
    "a dog ",
    "a,",
    "a!",
    "é.",
    "%.",
    "1a.",
    "<a ",
    "<!a ",
    "a@",
    "a-",
    "C. ",
    "1,",
    "a/",
    "&",
    "'",
]
HARD += ['<a b="', "www.", "http://", "\xad", "#", "(", "((", ". ", "a_", "a'", "5 ", "don't "]


@pytest.mark.parametrize("piece", HARD)
def test_long_captions_take_linear_time(tokenizer, piece):
    # Quadratic time would be minutes here.
    count = 100_000 if piece.endswith(" ") else 30_000
    assert tokenizer.tokens([piece * count]) == tokenizer.tokens([piece * count])


def test_long_caption_has_all_its_words(tokenizer):
    caption = "The dog's ball isn't red. " * 20_000
    assert (
        tokenizer.tokens([caption])[0] == ["the", "dog", "'s", "ball", "is", "n't", "red"] * 20_000
    )


def test_memory_of_words_is_bounded():
    tokenizer = PtbTokenizer()
    words = map("q".join, itertools.product(string.ascii_lowercase, repeat=4))
    captions = [f"{word} dog's." for word in itertools.islice(words, 250_000)]
    assert tokenizer.tokens(captions) == [[c.split(" ")[0], "dog", "'s"] for c in captions]
    assert len(tokenizer._alone) <= 200_000


def test_caption_that_is_no_string_is_refused(tokenizer):
    with refused("wrong-type"):
        tokenizer.tokens(["a dog", None])
    with refused("wrong-type"):
        tokenizer.tokens("a dog")


@pytest.fixture(scope="module")
def java():
    if find_spec("pycocoevalcap") is None:
        pytest.skip("pycocoevalcap is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    return open_tokenizer("ptb-java")


def apart(java, captions):
    """Tokens of each caption before a line that changes none."""
    lines = [line for caption in captions for line in (caption, "dog")]
    return java.tokens(lines)[::2]


def test_java_gives_the_cases(java):
    captions = [caption for _, caption, _ in CASES]
    assert [" ".join(tokens) for tokens in apart(java, captions)] == [case[2] for case in CASES]


@pytest.mark.parametrize("seed", range(5))
def test_java_gives_the_same_tokens(java, tokenizer, seed):
    captions = strings(f"java {seed}", 2000)
    theirs = apart(java, captions)
    ours = tokenizer.tokens(captions)
    wrong = [trio for trio in zip(captions, theirs, ours, strict=True) if trio[1] != trio[2]]
    assert len(wrong) <= 2, wrong[:5]


@pytest.mark.parametrize(("caption", "following", "alone", "before"), NEXT)
def test_java_reads_on(java, caption, following, alone, before):
    assert java.tokens([caption, following])[0][-1] == before
    assert java.tokens([caption, "dog", following])[0][-1] == alone


def test_java_keeps_captions_apart_at_odd_line_ends(java):
    captions = ["a\u2028dog", "two\x0bcats", "a\rbird", "one\ud800fish", ""]
    expected = [["a", "dog"], ["two", "cats"], ["a", "bird"], ["one", "fish"], []]
    assert java.tokens(captions) == expected
    assert java.tokens([]) == []


def test_missing_package_is_named(monkeypatch):
    without_pycocoevalcap(monkeypatch)
    with pytest.raises(MissingDependencyError, match=r"semmetrics\[captions\]"):
        open_tokenizer("ptb-java")


JAR = "tokenizer/stanford-corenlp-3.4.1.jar"


def test_missing_jar_is_named(monkeypatch, tmp_path):
    fake_pycocoevalcap(monkeypatch, tmp_path)
    with refused("incomplete-package"):
        open_tokenizer("ptb-java")


def test_missing_java_is_named(monkeypatch, tmp_path):
    fake_pycocoevalcap(monkeypatch, tmp_path, JAR)
    without_java(monkeypatch, tmp_path)
    with refused("needs-java"):
        open_tokenizer("ptb-java")


def broken_tokenizer(monkeypatch, folder, script):
    fake_pycocoevalcap(monkeypatch, folder, JAR)
    fake_java(monkeypatch, folder / "bin", f"#!/bin/sh\n{script}\n")
    return open_tokenizer("ptb-java")


def test_failure_of_java_is_told(monkeypatch, tmp_path):
    broken = broken_tokenizer(monkeypatch, tmp_path, "echo no main class >&2; exit 3")
    with refused("java-failed"):
        broken.tokens(["a dog"])


def test_missing_lines_of_java_are_told(monkeypatch, tmp_path):
    broken = broken_tokenizer(monkeypatch, tmp_path, "echo a dog")
    with refused("wrong-count"):
        broken.tokens(["a dog", "a cat", "a bird"])
