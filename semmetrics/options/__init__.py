"""The options of every function and command, each described once.

The description of an option contains its help, default, choices and the data it applies to. These
things follow from it:

- the keyword of `semmetrics.score` and its type
- the flag of the command line, its help and its completion
- the errors for wrong values and for options that do not apply
- the options that a protocol may set, and the part of a signature that records them

To add an option of `semmetrics.score`, add a field to one of the classes that `keywords.Options`
inherits from, in `measure_options` or `kind_options`. The docstring of `option.Option` lists the
properties of an option. Code reads its value from an attribute of `semmetrics.kinds.options.ResolvedOptions`,
which you also add. To add an option of one command only, add it to `commands.COMMAND_OPTIONS`. Run
``python docs/generate.py`` to update the page of options.
"""

from semmetrics.options.checks import check_options as check_options
from semmetrics.options.checks import flag as flag
from semmetrics.options.checks import hint_of as hint_of
from semmetrics.options.checks import is_on as is_on
from semmetrics.options.checks import is_set as is_set
from semmetrics.options.choices import AGGREGATIONS as AGGREGATIONS
from semmetrics.options.choices import AGREEMENT as AGREEMENT
from semmetrics.options.choices import COLUMNS as COLUMNS
from semmetrics.options.choices import COMMAND_TITLES as COMMAND_TITLES
from semmetrics.options.choices import CORRECTIONS as CORRECTIONS
from semmetrics.options.choices import DECODING as DECODING
from semmetrics.options.choices import FILES_OF_SIDE as FILES_OF_SIDE
from semmetrics.options.choices import FORMAT_OF_EXTENSION as FORMAT_OF_EXTENSION
from semmetrics.options.choices import FORMATS as FORMATS
from semmetrics.options.choices import INTERVALS as INTERVALS
from semmetrics.options.choices import JUDGEMENT_TESTS as JUDGEMENT_TESTS
from semmetrics.options.choices import KINDS as KINDS
from semmetrics.options.choices import OTHER as OTHER
from semmetrics.options.choices import RANKED_BY as RANKED_BY
from semmetrics.options.choices import RECORD_EXTENSIONS as RECORD_EXTENSIONS
from semmetrics.options.choices import RESULT_FORMATS as RESULT_FORMATS
from semmetrics.options.choices import TESTS as TESTS
from semmetrics.options.choices import TITLES as TITLES
from semmetrics.options.choices import VALUE_TESTS as VALUE_TESTS
from semmetrics.options.choices import format_hint as format_hint
from semmetrics.options.commands import COMMAND_OPTIONS as COMMAND_OPTIONS
from semmetrics.options.decoding import clean_number as clean_number
from semmetrics.options.decoding import clean_rule as clean_rule
from semmetrics.options.decoding import decoding_rules as decoding_rules
from semmetrics.options.keywords import Options as Options
from semmetrics.options.names import join_names as join_names
from semmetrics.options.names import split_names as split_names
from semmetrics.options.option import Data as Data
from semmetrics.options.option import Option as Option
from semmetrics.options.output import OUTPUT as OUTPUT
from semmetrics.options.reading import SideReading as SideReading
from semmetrics.options.tables import OPTIONS as OPTIONS
from semmetrics.options.tables import OPTIONS_OF_FUNCTION as OPTIONS_OF_FUNCTION
from semmetrics.options.tables import READING as READING
from semmetrics.options.tables import SHARED_READING as SHARED_READING
from semmetrics.options.tables import SIDED as SIDED
from semmetrics.options.tables import SIDES as SIDES
from semmetrics.options.tables import reading_of as reading_of
