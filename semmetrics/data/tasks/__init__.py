"""The tasks: predictions and references of the same items, checked once and then immutable.

Conventions
-----------
Ranks count from 1. If scores or similarities are equal, the rule for ties decides: by ``position``
(the first in the class list or gallery is ranked first), ``optimistic`` (the true class or
positives before others), or ``pessimistic`` (others before them). Positives that are tied with each
other have different ranks under every rule. The prediction of a class may be restricted to some
classes, the *candidates*. A query may rank only the candidates of its *fold*.
"""

from semmetrics.data.tasks.base import UNUSED_COLUMNS as UNUSED_COLUMNS
from semmetrics.data.tasks.base import Block as Block
from semmetrics.data.tasks.base import LabelAxis as LabelAxis
from semmetrics.data.tasks.base import Step as Step
from semmetrics.data.tasks.base import Task as Task
from semmetrics.data.tasks.base import memoised as memoised
from semmetrics.data.tasks.base import occurring as occurring
from semmetrics.data.tasks.captions import CaptionTask as CaptionTask
from semmetrics.data.tasks.captions import caption_task as caption_task
from semmetrics.data.tasks.captions import item_ids as item_ids
from semmetrics.data.tasks.classes import ALL as ALL
from semmetrics.data.tasks.classes import ClassRanks as ClassRanks
from semmetrics.data.tasks.classes import ClassScores as ClassScores
from semmetrics.data.tasks.classes import ClassTask as ClassTask
from semmetrics.data.tasks.classes import PredictedClasses as PredictedClasses
from semmetrics.data.tasks.labels import FOUND_CLASSES as FOUND_CLASSES
from semmetrics.data.tasks.labels import TAXONOMY as TAXONOMY
from semmetrics.data.tasks.labels import IgnoredLabels as IgnoredLabels
from semmetrics.data.tasks.labels import LabelTask as LabelTask
from semmetrics.data.tasks.labels import Synonyms as Synonyms
from semmetrics.data.tasks.labels import Unverified as Unverified
from semmetrics.data.tasks.retrieval import UNRANKED as UNRANKED
from semmetrics.data.tasks.retrieval import Ranks as Ranks
from semmetrics.data.tasks.retrieval import RetrievalTask as RetrievalTask
