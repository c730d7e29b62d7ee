"""Put on record what the golden tests hold: ``python -m tests.golden.record [GROUP...]``.

What a change of the package changes is then the difference of the files in ``data``.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from golden.cases import GROUPS
from golden.harness import DATA, folder_of_inputs, save
from golden.inputs import write_inputs


def record(groups: list[str]) -> None:
    """Run the cases of these groups and write what they give."""
    DATA.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        folder_of_inputs(Path(folder).resolve(), write_inputs),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        for group in groups:
            start = time.perf_counter()
            results = {}
            for case in GROUPS[group]:
                try:
                    results[case.name] = case.run()
                except Exception as error:
                    raise RuntimeError(f"{group}: {case.name}") from error
            save(group, results)
            print(
                f"{group}: {len(GROUPS[group])} cases, {time.perf_counter() - start:.1f} s"
            )


if __name__ == "__main__":
    record(sys.argv[1:] or list(GROUPS))
