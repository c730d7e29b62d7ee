"""The tasks: predictions and references of the same items, checked once and then immutable.

Conventions
-----------
Ranks count from 1. If scores or similarities are equal, the rule for ties decides: by ``position``
(the first in the class list or gallery is ranked first), ``optimistic`` (the true class or
positives before others), or ``pessimistic`` (others before them). Positives that are tied with each
other have different ranks under every rule. The prediction of a class may be restricted to some
classes, the *candidates*. A query may rank only the candidates of its *fold*.
"""
