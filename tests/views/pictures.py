# SPDX-License-Identifier: MIT
"""Pictures of every view of a page, light and dark, for people to look at. Arguments: the page, and how the files begin."""
import sys
from browser import Browser

page, to = sys.argv[1:]
with Browser() as b:
    b.open(page)
    for view in ("overview", "timeline", "events", "deadlock", "regions"):
        b.view(view)
        for name, dark in (("light", False), ("dark", True)):
            b.dark(dark)
            b.frame()
            b.frame()
            b.shot(f"{to}-{view}-{name}.png")
            print(f"{to}-{view}-{name}.png")
    assert not b.complaints(), b.complaints()
