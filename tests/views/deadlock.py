# SPDX-License-Identifier: MIT
"""A deadlock is a graph; a click or a key on a wait shows the stack of the waiter and where the lock was taken."""
import sys
from browser import Browser

work = sys.argv[1]


BOXES = """(what) => [...document.querySelectorAll('#deadlock .graph ' + what)].map((e) => { const g = e.ownerSVGElement.getBoundingClientRect(),
    r = e.getBoundingClientRect(); return [r.left - g.left, r.top - g.top, g.right - r.right, g.bottom - r.bottom, r.left, r.top, r.right, r.bottom]; })"""


def whole(b):
    """The graph is in its place as a whole, with readable text; no node covers another or the label of a wait."""
    assert b.run("[...document.querySelectorAll('#deadlock .graph-place')].every((p) => p.scrollWidth <= p.clientWidth)")
    nodes, labels = b.run(f"({BOXES})('.node rect')"), b.run(f"({BOXES})('.edge text')")
    assert nodes and labels and all(min(box[:4]) >= 0 for box in nodes + labels), (nodes, labels)
    for i, one in enumerate(nodes):
        for other in nodes[i + 1:] + labels:
            apart = one[6] <= other[4] or other[6] <= one[4] or one[7] <= other[5] or other[7] <= one[5]
            assert apart, (one, other)
    assert min(b.run("[...document.querySelectorAll('#deadlock .node text')].map((t) => t.getBoundingClientRect().height)")) >= 9


def stacks(b):
    return b.run("document.querySelector('#deadlock .stacks').innerText")


with Browser() as b:
    b.open(f"{work}/cross_normal.html", "deadlock")
    assert b.run("document.querySelector('#notices').innerText").startswith("1\u00a0deadlock"), b.run("document.querySelector('#notices').innerText")
    first = "document.querySelector('#deadlock .deadly')"
    assert b.run(f"{first}.querySelectorAll('.node.thread').length") == 2
    assert b.run(f"{first}.querySelectorAll('.node.lock').length") == 2
    assert b.run(f"{first}.querySelectorAll('.edge.wait').length") == 2 and b.run(f"{first}.querySelectorAll('.edge.hold').length") == 2
    seen = set()
    for i in range(2):
        b.run(f"{first}.querySelectorAll('.edge.wait')[{i}].dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        words = stacks(b)
        assert words.count("take_both") >= 3 and "holds it" in words and "main.c:" in words, words
        seen.add(words.splitlines()[0])
    assert len(seen) == 2, seen
    # A thread that joins one of them is behind them; the other thread has a name, not an address.
    behind = b.run(f"[...{first}.querySelectorAll('h3')].find((x) => x.textContent === 'Behind them').nextElementSibling.innerText")
    assert "waits for the end of" in behind and "0x" not in behind, behind
    b.run(f"{first}.querySelector('.node.thread').focus()")
    b.key("Enter")
    assert "waits for mutex" in stacks(b)
    assert "inversion" in b.run("document.querySelector('#deadlock').innerText")
    whole(b)
    b.size(390, 900)
    b.frame()
    whole(b)
    b.size(1440, 900)
    b.view("timeline")
    open_ends = b.run("[...upmuReport.model.tables.waits.flags].filter((f) => f & 1).length")
    assert open_ends >= 2, open_ends
    assert not b.complaints(), b.complaints()

    b.open(f"{work}/owner_returned.html", "deadlock")
    assert b.run("document.querySelectorAll('#deadlock .node.gone').length") == 1
    assert "has ended" in b.run("document.querySelector('#deadlock').innerText")
    assert not b.complaints(), b.complaints()
print("deadlocks are shown")
