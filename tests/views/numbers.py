# SPDX-License-Identifier: MIT
"""The sums of waits and certain holds in the timeline equal those of the tables. Arguments: pages."""
import sys
from collections import defaultdict
from data import Page

AT_LEAST, SAMPLED, UNFINISHED = 2, 4, 1


def check(path):
    page = Page(path)
    objects, threads = page.facts["objects"], page.facts["threads"]
    holds, waits = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0])
    for a, _, begin, ns, n, busy, flags in page.spans("holds"):
        assert begin + ns <= page.facts["length"], "a hold ends after the trace"
        if flags == 0:
            holds[a][0] += n
            holds[a][1] += busy
    for (a, depth, _, ns, n, busy, _), kind in zip(page.spans("waits"), page.numbers("waits.kind")):
        waits[a][0] += n
        waits[a][1] += busy if depth == 0 else 0
    for i, o in enumerate(objects):
        assert holds[i] == [o["holds"], o["hold_ns"]], (o["type"], o["name"], holds[i], o["holds"], o["hold_ns"])
    for i, t in enumerate(threads):
        ended = sum(w["count"] + w["unfinished"] for w in t["waits"].values())
        assert waits[i] == [ended, t["blocked_ns"]], (t["label"], waits[i], ended, t["blocked_ns"])
    regions = sum(n for *_, n, _, _ in page.spans("regions"))
    assert regions == sum(r["count"] for r in page.facts["regions"] if r["name"] != "(thread)"), regions
    return sum(n for n, _ in holds.values()), sum(n for n, _ in waits.values()), regions


for path in sys.argv[1:]:
    print(path.rsplit("/", 1)[1], "%d holds, %d waits, %d regions" % check(path))
