# SPDX-License-Identifier: MIT
"""Names with markup, control characters and endless lengths are shown as text, and nothing of them runs."""
import sys
from browser import Browser

with Browser() as b:
    b.open(f"{sys.argv[1]}/nasty.html")
    for view in ("timeline", "deadlock", "regions", "overview"):
        b.view(view)
    words = b.run("document.body.textContent")
    assert "</text><script>alert(1)</script>" in words and "'); drop(\"x\"); //" in words, words[:3000]
    assert b.run("document.querySelectorAll('main script, main b > script, main iframe, main img').length") == 0
    assert b.run("document.scripts.length") == 1, "only the page's own script is left"
    # Nothing is drawn that would move what stands around it: no control character, no change of direction.
    shown = b.run("document.querySelector('main').innerText")
    assert not any(ord(c) < 32 and c not in "\n\t" or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for c in shown)
    # A name of hundreds of letters is no wider than the window.
    assert b.run("document.documentElement.scrollWidth") <= 1440
    b.view("timeline")
    box = b.run("(() => { const r = upmuReport.timeline.screen.canvas.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()")
    for i in range(8):
        b.click(box[0] + box[2] * 0.97, box[1] + 40 + i * 12)
    for word in ("alert(1)", "two", "not utf-8"):
        b.run(f"(() => {{ const s = upmuReport.timeline.search; s.value = '{word}'; s.dispatchEvent(new Event('input')); }})()")
        b.frame()
        assert "nothing" not in b.run("document.querySelector('.found').innerText"), word
    assert not b.complaints(), b.complaints()
print("names are names")
