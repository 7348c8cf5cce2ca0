# SPDX-License-Identifier: MIT
"""The pictures of docs/gallery.md. Arguments: the folder of demo.html, rocksdb.html and deadlock.html, and the one for the pictures."""
import sys
from browser import Browser

pages, images = sys.argv[1:]

# The third wait of the writer, with some of what is before and after it.
A_WAIT = """(() => {
    const t = upmuReport.timeline, rows = t.m.threads.find((x) => x.label.startsWith("writer")).waitRows,
        row = rows.find((r) => r.to > r.from + 3), begin = row.table.begin[row.from + 3];
    t.show(begin - 6e8, begin + 6e8);
    t.choose(row, row.from + 3);
})()"""


def taken(b, name, page, view, height, before=""):
    b.size(1360, height)
    b.open(f"{pages}/{page}.html", f"{view}?lang=en")
    if before:
        b.run(before)
    b.frame()
    b.shot(f"{images}/{name}.png")


with Browser() as b:
    b.dark(False)
    taken(b, "overview", "rocksdb", "overview", 900)
    taken(b, "timeline", "demo", "timeline", 820, A_WAIT)
    taken(b, "deadlock", "deadlock", "deadlock", 760)
    taken(b, "functions", "rocksdb", "regions", 760)
    assert not b.complaints(), b.complaints()
