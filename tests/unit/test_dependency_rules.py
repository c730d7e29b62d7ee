"""Tuples from grammatical relations: a sentence for each rule."""

import pytest

from semmetrics.text.dependency_rules import scene_graph_tuples

# Tagged words | edges (governor, dependent, relation) | tuples
RULES = """
cup/NN red/JJ | 0 1 amod | cup red, cup
cups/NNS two/CD | 0 1 nummod | cups two, cups
cups/NNS one/CD | 0 1 nummod | cups one, cups
cup/NN two/CD | 0 1 nummod | cup
people/NNS lot/NN | 0 1 det:qmod | people lot, people, lot
court/NN tennis/NN | 0 1 compound | court tennis
court/NN green/JJ | 0 1 compound | court
cat/NN mat/NN | 0 1 nmod:in_front_of | cat mat in front of, cat, mat
hat/NN man/NN | 0 1 nmod:poss | man hat have, hat, man
hat/NN day/NN | 0 1 nmod:tmod | hat day tmod, hat, day
man/NN ride/VB horse/NN | 1 0 nsubj 1 2 dobj | man horse ride, man, horse
man/NN ride/VB horse/NN | 0 1 acl 1 2 dobj | man horse ride, man, horse
man/NN pick/VB up/RP cup/NN | 1 0 nsubj 1 2 compound:prt 1 3 dobj | man cup pick up, man, cup
man/NN sit/VB bench/NN | 1 0 nsubj 1 2 nmod:on | man bench sit on, man, bench
man/NN hit/VBN ball/NN | 1 0 nsubjpass 1 2 nmod:agent | ball man hit, man, ball
ball/NN hit/VBN man/NN | 0 1 acl 1 2 nmod:agent | ball man hit, ball, man
man/NN give/VB boy/NN | 1 0 nsubj 1 2 iobj | man boy give, man, boy
man/NN hit/VBN park/NN | 1 0 nsubjpass 1 2 nmod:in | man, park
man/NN smile/VB | 1 0 nsubj | man smile, man
man/NN be/VB | 1 0 nsubj | man
man/NN is/VBZ tall/JJ | 2 0 nsubj 2 1 cop | man tall, man tall, man
this/DT is/VBZ nice/JJ | 2 0 nsubj 2 1 cop | this nice, this nice
cup/NN is/VBZ on/IN table/NN | 3 0 nsubj 3 1 cop 3 2 case | cup table on, cup, table
cup/NN is/VBZ next/JJ to/TO box/NN | 4 0 nsubj 4 1 cop 4 2 case 2 3 mwe | cup box next to, cup, box
he/PRP ride/VB horse/NN | 1 0 nsubj 1 2 dobj | horse
"""


def parse_edges(text):
    fields = text.split()
    edges = []
    for governor, dependent, relation in zip(
        fields[::3], fields[1::3], fields[2::3], strict=True
    ):
        edges.append((int(governor), int(dependent), relation))
    return edges


@pytest.mark.parametrize("rule", RULES.strip().splitlines())
def test_a_relation_becomes_tuples(rule):
    sentence, edges, expected = rule.split(" | ")
    tokens = [token.split("/") for token in sentence.split()]
    words, tags = zip(*tokens, strict=True)

    tuples = scene_graph_tuples(tags, parse_edges(edges), words.__getitem__)

    assert list(map(" ".join, tuples)) == expected.split(", ")
