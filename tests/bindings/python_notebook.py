# SPDX-License-Identifier: MIT
"""python_notebook.py NOTEBOOK: runs its code cells in order, as Jupyter does, and looks at what they made of the recording."""
import json
import sys

import matplotlib

matplotlib.use("Agg")
with open(sys.argv[1], encoding="utf-8") as file:
    notebook = json.load(file)
assert notebook["nbformat"] == 4
names = {}
for cell in notebook["cells"]:
    assert cell["cell_type"] in ("markdown", "code") and cell.get("outputs", []) == [], "a cell with stored output"
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)  # pylint: disable=exec-used
import matplotlib.pyplot  # noqa: E402

assert "the till" in set(names["top"].name), names["top"]
assert len(names["top"]) == len(matplotlib.pyplot.figure(1).axes[0].patches) >= 2
assert len(matplotlib.pyplot.figure(2).axes[0].collections) == names["waits"].thread.nunique() >= 2
assert names["counts"]["lock-block"] >= 1, names["counts"]
