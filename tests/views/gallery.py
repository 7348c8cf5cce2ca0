# SPDX-License-Identifier: MIT
"""The pictures of docs/gallery.md. Arguments: the folder of demo.html, rocksdb.html and deadlock.html, and the one for the pictures."""
import sys
from browser import Browser

pages, images = sys.argv[1:]

# A wait in the middle that another thread has ended, and that is long enough to be read; with some of what is before and after.
WAIT = """(() => {
    const m = upmuReport.model, of = (t) => Array.from({length: m.waitCount ? m.waitCount(t) : 0}, (_, i) => i);
    return of(m.threads[0]).length;
})()"""


def taken(b, name, page, view, height, before=""):
    b.size(1360, height)
    b.open(f"{pages}/{page}.html", f"{view}{'&' if '?' in view else '?'}lang=en")
    if before:
        b.run(before)
        b.frame()
    b.frame()
    b.shot(f"{images}/{name}.png")


with Browser() as b:
    b.dark(False)
    taken(b, "overview", "rocksdb", "overview", 900)
    taken(b, "timeline", "demo", "timeline", 820)
    taken(b, "deadlock", "deadlock", "deadlock", 760)
    taken(b, "functions", "rocksdb", "regions", 760)
    assert not b.complaints(), b.complaints()
