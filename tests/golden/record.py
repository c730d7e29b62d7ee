"""Record the results of the golden cases: ``python -m tests.golden.record [GROUP...]``.

The difference of the files in ``data`` shows the effect of a change of the package.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from golden.cases import GROUPS
from golden.harness import DATA, folder_of_inputs, save
from golden.inputs import write_inputs


def record(groups: list[str]) -> None:
    """Run the cases of these groups, and write their results."""
    DATA.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        folder_of_inputs(Path(folder).resolve(), write_inputs),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        for group in groups:
            save(group, {case.name: case.run() for case in GROUPS[group]})
            print(f"{group}: {len(GROUPS[group])} cases")


if __name__ == "__main__":
    record(sys.argv[1:] or list(GROUPS))
