# SPDX-License-Identifier: MIT
"""The page in Chinese: chosen by the browser's language, by the address and by its switch; no English text is left, in elements,
attributes and canvases. Arguments: the folder with the pages, and their names."""
import re
import sys
from browser import Browser

work = sys.argv[1]

# Every text that a canvas was asked to draw.
CANVAS = """globalThis.drawn = new Set(); const paint = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { drawn.add(String(text)); return paint.call(this, text, ...at); };"""
# Texts of all elements, shown or not, and what is read out of them or shown beside them.
TEXTS = """(() => { const found = new Set(drawn), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) if (!['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(walk.currentNode.parentElement.tagName) && walk.currentNode.parentElement.id !== 'language')
        found.add(walk.currentNode.data);
    for (const e of document.querySelectorAll('[title], [aria-label], [placeholder]'))
        for (const name of ['title', 'aria-label', 'placeholder']) if (e.hasAttribute(name)) found.add(e.getAttribute(name));
    return [...found]; })()"""
# Names of the recording: of the program, its machine, and the counters.
NAMES = """(() => { const found = new Set(), sides = [upmuReport.recording, upmuReport.base].filter(Boolean), add = (...all) => all.forEach((x) => x && found.add(String(x)));
    for (const m of sides) {
        for (const t of m.threads) add(t.label, t.name);
        for (const o of m.objects) add(o.title, o.name, o.group, o.address);
        for (const [name, file, , module, before] of m.frames) add(name, before, ...[file, module].filter(Boolean).flatMap((x) => [x, x.slice(x.lastIndexOf('/') + 1)]));
        for (const r of m.regions) add(r.name);
        for (const f of m.functions?.list || []) add(f.name, f.at, f.module);
        for (const mark of m.marks) add(mark[2]);
        for (const c of m.counters) add(c.name, c.summary);
        for (const p of m.processes) add(p.command, p.command.split(' ')[0].split('/').pop(), p.host, p.kernel);
        for (const d of m.deadlocks.items || []) add(d.ownerName, ...d.threads.map((t) => t.name));
        add(m.version); }
    return [...found]; })()"""
# Kinds of waits and objects, as POSIX calls them; commands, keys, files and units.
WORDS = """mutex cond sem custom join rwlock spin barrier once futex sleep poll signal read write child call thread qmutex qrwlock libupmu upmu
report DIR CPU MHz CLOCK_MONOTONIC_RAW exec PLT JavaScript Shift Enter Escape Esc docs guide md ns ms us""".split()


def leftovers(b):
    """Runs of Latin letters that are neither names nor such words."""
    names = sorted(b.run(NAMES), key=len, reverse=True)
    left = {}
    for text in b.run(TEXTS):
        # Of a name or word that is cut off there is a begin.
        begin = text.partition("\u2026")[0] if "\u2026" in text else ""
        cut = next((begin[i:] for i in range(len(begin)) if any(name.startswith(begin[i:]) for name in names + WORDS)), "")
        rest = text.replace(cut + "\u2026", " ")
        for name in names:
            rest = rest.replace(name, " ")
        words = [w for w in re.findall(r"[A-Za-z_][A-Za-z_]+", re.sub(r"0x[0-9a-f]+", " ", rest)) if w not in WORDS]
        if words:
            left[text] = words
    return left


def all_chinese(b, where):
    left = leftovers(b)
    assert not left, (where, list(left.items())[:12])
    assert not b.run("[...upmuReport.untranslated]"), (where, b.run("[...upmuReport.untranslated]"))


def timeline(b, where):
    """What is beside the lanes: events of all tables, lanes, what was found, a measured stretch, the critical path, the keys."""
    shows = ["t.next(1)", "t.showLane(t.layout.lanes.find((l) => l.thread))", "t.showLane(t.layout.lanes.find((l) => l.object) || t.layout.lanes.find((l) => l.thread))",
             "t.searching.set('m')", "t.searching.set('no such name')", "t.searching.set('')", "(t.range = {a: 0, b: t.end}, t.showRange())", "t.choose(null)",
             "(t.path_button.hidden || t.setPath(true))", "(t.path_button.hidden || document.querySelector('.side .button').click())", "t.setPath(false)",
             "(t.help.hidden = false)", "t.setOption('busy', true)", "t.setOption('dense', !t.options.dense)"]
    for name in ("waits", "holds", "regions"):
        shows += [f"((r) => r && t.choose(r, {at}))(t.m.tables.{name}.rows[0])" for at in ("r.from", "r.to - 1")]
    for show in shows:
        b.run(f"((t) => {{ {show}; }})(upmuReport.timeline)")
        b.frame()
        all_chinese(b, (*where, show))


def page(b, name):
    b.open(f"{work}/{name}.html", "overview?lang=zh")
    assert b.run("document.documentElement.lang") == "zh-CN"
    for view in b.run("[...document.querySelectorAll('[role=tab]:not([hidden])')].map((t) => t.dataset.view)"):
        b.view(view)
        all_chinese(b, (name, view))
        if view == "timeline":
            timeline(b, (name,))
        if view == "events":
            b.run("document.querySelectorAll('#events .bar-tools .button').forEach((x) => x.click())")
            all_chinese(b, (name, "events", "other kinds"))
        if view in ("regions", "compare"):
            for i in range(b.run(f"document.querySelectorAll('#{view} .bar-tools .button').length")):
                b.run(f"document.querySelectorAll('#{view} .bar-tools .button')[{i}].click()")
                b.frame()
                all_chinese(b, (name, view, i))
    b.run("upmuReport.showCut(0, upmuReport.recording.length / 2)")
    b.frame()
    all_chinese(b, (name, "a part of the recording"))
    assert not b.complaints(), b.complaints()


# One sentence of each kind (lib/findings), whose names look like its words.
SENTENCES = """Threads spend 42 % of their time waiting for `held in a`, which is held 3.10 ms at a time (at most 9.00 ms) in Compact(int, char) compaction.cc:210, 98 % of that time in write or fsync; without that while it is held, the run would be 2.80 s (40 %) shorter
Threads spend 42 % of their time waiting for `a`, which is held in f a.c:2; if it was held half as long, the run would be 2.80 s (40 %) shorter
Passing `a` on to a waiting thread takes 1.20 s (30 %) of the run, 8.10 us each of 4000 times, while it is held 1.00 us at a time (at most 2.00 us) at libfoo.so+0x12; fewer and longer critical sections would save most of that
Threads pass the work on to each other 8000 times on the critical path, and waking the next one takes 1.20 s (30 %) of the run; more work for each hand-over would save most of that
Threads wait 1.00 s in all at the barrier `gate` for the last one to arrive, which is thread 12 (stage) in 5 of 5 rounds; it works 301 ms, 188 ms more than the mean; with equal shares of the work the run would be 1.20 s (30 %) shorter
Of 4 threads that were created together, thread 12 (part) works 2.00 s, 1.20 s more than the mean, and ends 1.00 s after the first one; with equal shares of the work the run would be 1.20 s (30 %) shorter
On average 8.0 threads are ready to run and 2.0 of them have a CPU, so threads on the critical path wait 20 % of the run for one; fewer threads would do the same work with fewer switches
Of 480 times that a thread is woken from its wait for `ready` in turner t.c:5, 440 (92 %) are in vain: it finds nothing to do and waits again; 96 broadcasts wake all waiting threads, and a signal, or a condition variable for each condition, would wake those that can continue; the run would be as long, with fewer context switches
Deadlock: threads wait for each other to end: thread 12 (a) waits for the end of thread 13 (part) in f a.c:1; thread 13 waits for the end of thread 12
Deadlock: threads wait for each other: thread 12 (a) waits for `x` in f a.c:1; thread 13 waits for `y` at libfoo.so+0x12; and 3 more
Stalled: all threads are asleep, and no known event could wake one: thread 12 (a) waits for `x`""".splitlines()
NAMES_IN_SENTENCES = ["`held in a`", "Compact(int, char)", "compaction.cc", "libfoo.so", "0x12", "(stage)", "(part)", "(a)", "a.c:", "`gate`", "`ready`", "`a`", "`x`", "`y`", " f ", "turner t.c", "write", "fsync", " read "]


def findings(b):
    for english in SENTENCES:
        chinese = rest = b.run(f"upmuReport.findingSentence({english!r})")
        for name in NAMES_IN_SENTENCES:
            rest = rest.replace(name, " ")
        assert [w for w in re.findall("[A-Za-z]{2,}", rest) if w not in WORDS] == [], chinese
        assert re.findall(r"\d+(?:\.\d+)?", english) and sorted(re.findall(r"\d+", english)) == sorted(re.findall(r"\d+", chinese)), chinese
        assert all(name in chinese for name in re.findall("`[^`]*`", english)), chinese


def choice(b, name):
    """The browser's language, an address, and the switch."""
    path = f"{work}/{name}.html"
    language = "document.documentElement?.lang"
    b.open(path, "")
    assert b.run(language) == "en" and "\u6982\u89c8" not in b.run("document.body.innerText")
    b.open(path, "lang=zh")
    assert b.run(language) == "zh-CN" and b.run("document.body.dataset.view") == "overview"
    b.open(path, "timeline?q=m")
    b.run("document.getElementById('language').click()")
    b.until(f"{language} === 'zh-CN' && document.documentElement?.dataset.ready === '1'")
    assert b.run("document.body.dataset.view") == "timeline" and b.run("upmuReport.timeline.search.value") == "m", b.run("location.hash")
    b.view("overview")
    assert "lang=zh" in b.run("location.hash"), b.run("location.hash")
    b.run("document.getElementById('language').click()")
    b.until(f"{language} === 'en' && document.documentElement?.dataset.ready === '1'")
    agent = b.run("navigator.userAgent")
    b.call("Network.setUserAgentOverride", userAgent=agent, acceptLanguage="zh-CN,zh")
    b.open(path, "")
    assert b.run(language) == "zh-CN" and "lang=" not in b.run("location.hash")
    b.open(path, "overview?lang=en")
    assert b.run(language) == "en"
    b.call("Network.setUserAgentOverride", userAgent=agent, acceptLanguage="en-US")


with Browser() as b:
    b.call("Page.addScriptToEvaluateOnNewDocument", source=CANVAS)
    choice(b, sys.argv[2])
    for each in sys.argv[2:]:
        page(b, each)
    findings(b)
print("every text is Chinese where Chinese is wanted")
