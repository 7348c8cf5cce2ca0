# SPDX-License-Identifier: MIT
"""site.py TREE: the HTML pages of the documentation: balanced elements, links and their targets, no Markdown left, nothing from elsewhere."""
import os
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

EMPTY = {"meta", "img", "br", "hr", "link", "col", "input"}


class Checked(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.ids, self.links, self.headings, self.text = [], set(), [], 0, []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        self.headings += tag in ("h1", "h2", "h3", "h4")
        self.links += [(tag, attrs[key]) for key in ("href", "src") if key in attrs]
        if tag not in EMPTY:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if tag in EMPTY:
            return
        assert self.stack and self.stack[-1] == tag, (tag, self.stack[-3:], self.getpos())
        self.stack.pop()

    def handle_data(self, data):
        if not {"pre", "code", "style"} & set(self.stack):
            self.text.append(data)


def main():
    tree = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        out, man3 = Path(scratch, "site"), Path(scratch, "man3")
        subprocess.run([sys.executable, tree / "man/man3.py", man3], check=True)
        subprocess.run([sys.executable, tree / "docs/site.py", out, man3], check=True)
        pages = {}
        for file in out.rglob("*.html"):
            pages[file] = Checked()
            try:
                pages[file].feed(file.read_text(encoding="utf-8"))
                assert not pages[file].stack, pages[file].stack
            except AssertionError as problem:
                sys.exit(f"{file.relative_to(out)}: {problem}")
        links = 0
        for file, page in pages.items():
            if file.parent.name != "man":
                left = [text for text in page.text if "](" in text or "**" in text or "```" in text or "| --- " in text]
                assert not left, (file, left[:3])
            for tag, url in page.links:
                if url.startswith(("http:", "https:", "mailto:")):
                    assert tag == "a", f"{file}: {url} is loaded from elsewhere"
                    continue
                path, _, part = url.partition("#")
                target = Path(os.path.normpath(file.parent / path)) if path else file
                assert target.exists(), f"{file.relative_to(out)}: no {url}"
                assert not part or target.suffix != ".html" or part in pages[target].ids, f"{file.relative_to(out)}: no part {url}"
                links += 1
        for source in (tree / "docs").rglob("*.md"):
            fenced, wanted = False, 0
            for line in source.read_text(encoding="utf-8").split("\n"):
                fenced ^= line.startswith("```")
                wanted += not fenced and line.startswith("#") and line.lstrip("#").startswith(" ")
            page = pages[(out / source.relative_to(tree / "docs")).with_suffix(".html")]
            assert page.headings == wanted, (source, page.headings, wanted)
        shown = {os.path.normpath(url) for tag, url in pages[out / "gallery.html"].links if tag == "img"}
        missing = {image.relative_to(tree / "docs").as_posix() for image in (tree / "docs/images").rglob("*.*")} - shown
        assert not missing, f"docs/gallery.md does not show {', '.join(sorted(missing))}"
        assert len(pages) >= 40 and links >= 300, (len(pages), links)
        print(f"{len(pages)} pages, {links} links")


main()
