# SPDX-License-Identifier: MIT
"""axe-core finds nothing wrong in any view, light, dark and narrow, in both languages. Arguments: axe-core's script, the folder with
the pages, and their names."""
import os
import sys
from browser import Browser

script = open(sys.argv[1], encoding="utf-8").read()
RUN = """axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => [v.id, v.help, v.nodes.length, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160))]))"""
# (dark, width) by language: each value of the three occurs; EVERY=1 for all eight combinations.
FORMS = {"en": ((False, 1440),), "zh": ((True, 390),)}
EVERY = os.environ.get("EVERY")
if EVERY:
    FORMS = dict.fromkeys(FORMS, ((False, 1440), (True, 1440), (False, 390), (True, 390)))
TIMELINE = ("t.next(1)", "t.showLane(t.layout.lanes.find((l) => l.thread))", "t.searching.set('m')", "(t.searching.set(''), t.setPath(true))",
            "(t.help.hidden = false)", "(t.range = {a: 0, b: t.end}, t.showRange())")
# Of a comparison, which has the other views of the first page; and what is shown in the timeline, of the first page: EVERY=1 for all.
COMPARED = ("overview", "compare")


def clean(b, where):
    found = b.run(RUN)
    for one in found:
        print(where, one)
    return len(found)


def view(b, name, shown, where):
    b.view(shown)
    bad = clean(b, where)
    for show in TIMELINE if shown == "timeline" and (EVERY or name == sys.argv[3]) else ():
        b.run(f"((t) => {{ {show}; }})(upmuReport.timeline)")
        b.frame()
        bad += clean(b, (*where, show))
    return bad


def page(b, name, language):
    bad = 0
    b.open(f"{sys.argv[2]}/{name}.html", f"overview?lang={language}")
    b.run(script + ";0")
    views = b.run("[...document.querySelectorAll('[role=tab]:not([hidden])')].map((t) => t.dataset.view)")
    if not EVERY and "compare" in views:
        views = [v for v in views if v in COMPARED]
    for shown in views:
        for dark, width in FORMS[language]:
            b.dark(dark)
            b.size(width, 900)
            bad += view(b, name, shown, (name, language, shown, "dark" if dark else "light", width))
    return bad


with Browser() as b:
    b.run(script + ";0")
    version = b.run("axe.version")
    bad = sum(page(b, name, language) for name in sys.argv[3:] for language in FORMS)
    assert bad == 0, f"{bad} violations"
print(f"axe-core {version} finds no violation")
