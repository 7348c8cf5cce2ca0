# SPDX-License-Identifier: MIT
"""Contrast of all text in all views, light, dark and on paper: at least 4.5 to 1; nothing is wider than a narrow screen. Arguments:
the folder with the pages, and their names."""
import sys
from browser import Browser

work = sys.argv[1]

# Texts that are seen, whose contrast to what is behind them is too low: [text, contrast, color, background].
LOW = """(() => {
    const parse = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; };
    const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
    const light = (c) => { const [r, g, b] = c.slice(0, 3).map((n) => n / 255).map((n) => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = (e) => { const layers = []; for (let x = e; x; x = x.parentElement) layers.push(parse(getComputedStyle(x).backgroundColor));
        return layers.reduceRight((below, layer) => over(layer, below), [255, 255, 255, 1]); };
    const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let n = 0;
    while (walk.nextNode()) {
        const e = walk.currentNode.parentElement, style = getComputedStyle(e);
        if (!walk.currentNode.data.trim() || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(e.tagName) || !e.checkVisibility()) continue;
        const back = behind(e), ink = over(parse(style.color), back), [a, b] = [light(ink), light(back)].sort((x, y) => y - x),
            contrast = (a + 0.05) / (b + 0.05);
        n++;
        if (contrast < 4.5) found.push([walk.currentNode.data.slice(0, 40), contrast, style.color, back.join()]);
    }
    return [n, found]; })()"""


def all_readable(b, where):
    n, low = b.run(LOW)
    assert n >= 8 and not low, (where, n, low[:8])


def inks(b):
    """Labels on the canvases: of all locks, threads and the page's own color."""
    fills = b.run("""[...upmuReport.recording.objects.map((o) => o.color), ...["#e0a100", "#66a80f", "#868e96", "#777777", "#767676", "#ffffff", "#000000"],
        getComputedStyle(document.documentElement).getPropertyValue("--accent").trim()]""")
    def light(color):
        parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b_ = [n / 12.92 if n <= 0.04045 else ((n + 0.055) / 1.055) ** 2.4 for n in parts]
        return 0.2126 * r + 0.7152 * g + 0.0722 * b_
    for fill in set(fills):
        ink = b.run(f"upmuReport.ink('{fill}')")
        high, low = sorted((light(fill), light(ink)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (fill, ink)


def details(b, where):
    """What is beside the timeline: an event, a lane, found functions, the critical path."""
    for show in ("t.choose(upmuReport.recording.tables.waits.rows[0], upmuReport.recording.tables.waits.rows[0].from)",
                 "t.showLane(t.layout.lanes.find((l) => l.thread))", "t.searching.set('m')", "(t.searching.set(''), t.setPath(true))",
                 "(t.help.hidden = false)", "(t.help.hidden = true, t.setPath(false))"):
        b.run(f"((t) => {{ {show}; }})(upmuReport.timeline)")
        all_readable(b, (*where, show))


def narrow(b):
    """On a telephone no view is wider than the screen."""
    b.size(390, 844)
    for view in b.run("[...document.querySelectorAll('[role=tab]:not([hidden])')].map((t) => t.dataset.view)"):
        b.view(view)
        assert b.run("document.documentElement.scrollWidth") <= 390, (view, b.run("document.documentElement.scrollWidth"))
    b.size(1440, 900)


def paper(b):
    """From a dark page, paper is light: its text and its canvases; afterwards the page is dark again."""
    corner = "[...document.querySelector('#overview canvas').getContext('2d').getImageData(1, 1, 1, 1).data].slice(0, 3).join()"
    b.view("overview")
    b.dark(True)
    b.frame()
    b.frame()
    dark = b.run(corner)
    b.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    b.run("window.dispatchEvent(new Event('beforeprint'))")
    assert b.run(corner) == "255,255,255" != dark, (dark, b.run(corner))
    all_readable(b, "paper")
    cut = b.run("[...document.querySelectorAll('main, #overview, .table, .matrix')].filter((e) => e.checkVisibility() && e.scrollHeight > e.clientHeight + 2).length")
    assert cut == 0, "something is cut off on paper"
    b.size(720, 1000)
    for view in ("overview", "deadlock", "regions"):
        b.run("window.dispatchEvent(new Event('afterprint'))")
        b.view(view)
        b.run("window.dispatchEvent(new Event('beforeprint'))")
        assert b.run("document.documentElement.scrollWidth") <= 720, (view, b.run("document.documentElement.scrollWidth"))
    b.size(1440, 900)
    b.view("overview")
    b.run("window.dispatchEvent(new Event('afterprint'))")
    assert b.run(corner) == dark
    b.call("Emulation.setEmulatedMedia", media="", features=[])


with Browser() as b:
    for name in sys.argv[2:]:
        b.open(f"{work}/{name}.html")
        for dark in (False, True):
            b.dark(dark)
            inks(b)
            for view in b.run("[...document.querySelectorAll('[role=tab]:not([hidden])')].map((t) => t.dataset.view)"):
                b.view(view)
                all_readable(b, (name, view, dark))
                if view == "timeline":
                    details(b, (name, dark))
    narrow(b)
    paper(b)
    assert not b.complaints(), b.complaints()
print("all text can be read, on screens and on paper")
