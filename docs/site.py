#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documentation as HTML pages that need no network: guide, gallery, cookbook, formats, and the manual.

    docs/site.py OUT [MAN3]     OUT/index.html is the first page; manual pages are made by mandoc, where it is installed, from man/ and the
                                folder MAN3 that man/man3.py has written
"""
import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STYLE = """body{max-width:60em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif;color:#222}
pre{background:#f4f4f4;padding:.7em;overflow-x:auto}code{background:#f4f4f4;font-size:.95em}pre code{background:none}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #ccc;padding:.25em .6em;text-align:left;
vertical-align:top}a{color:#0645ad}img{max-width:100%}nav{border-bottom:1px solid #ccc;padding-bottom:.5em}"""


def anchor(title):
    """The id of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]|\]\([^)]*\)|\[", "", title)).strip().lower().replace(" ", "-")


class Page:
    """A Markdown file as HTML: what the documents of this repository use, and no more."""

    def __init__(self, source, target, pages):
        self.source, self.target, self.pages = source, target, pages

    def link(self, url):
        if re.match(r"\w+:", url) or url.startswith("#"):
            return url
        path, _, part = url.partition("#")
        file = (self.source.parent / path).resolve()
        if file in self.pages:
            up = "../" * (len(self.target.parts) - 1)
            return up + self.pages[file].as_posix() + ("#" + part if part else "")
        return None

    def inline(self, text):
        codes = []

        def keep(match):
            codes.append(f"<code>{html.escape(match.group(2).strip())}</code>")
            return f"\0{len(codes) - 1}\0"

        def anchored(match):
            bang, words, url = match.groups()
            url = self.link(html.unescape(url))
            if url is None:  # a file of the source tree, which the site does not have
                return words
            return f'<img src="{html.escape(url)}" alt="{words}">' if bang else f'<a href="{html.escape(url)}">{words}</a>'

        text = html.escape(re.sub(r"(`+)(.+?)\1", keep, text), quote=False)
        text = re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", anchored, text)
        text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
        text = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)", r"<em>\1</em>", text)
        return re.sub("\0(\\d+)\0", lambda m: codes[int(m.group(1))], text)

    def table(self, lines):
        rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
        cells = lambda row, tag: "".join(f"<{tag}>{self.inline(cell)}</{tag}>" for cell in row)
        body = "".join(f"<tr>{cells(row, 'td')}</tr>\n" for row in rows[2:])
        return f"<table><tr>{cells(rows[0], 'th')}</tr>\n{body}</table>"

    def items(self, lines):
        tag = "ol" if re.match(r"\d", lines[0]) else "ul"
        text = "\n".join(lines)
        found = re.split(r"^(?:[-*]|\d+\.) +", text, flags=re.M)[1:]
        return f"<{tag}>" + "".join(f"<li>{self.inline(' '.join(item.split()))}</li>\n" for item in found) + f"</{tag}>"

    def block(self, lines):
        first = lines[0]
        if first.startswith("#"):
            level = len(first) - len(first.lstrip("#"))
            title = first[level:].strip()
            return f'<h{level} id="{html.escape(anchor(title))}">{self.inline(title)}</h{level}>'
        if first.startswith("    "):
            return "<pre><code>" + html.escape("\n".join(line[4:] for line in lines)) + "</code></pre>"
        if first.startswith("|"):
            return self.table(lines)
        if re.match(r"(?:[-*]|\d+\.) ", first):
            return self.items(lines)
        if first.startswith("<"):
            return "" if first.startswith("<!--") else "\n".join(lines)
        return f"<p>{self.inline(' '.join(lines))}</p>"

    def body(self):
        out, lines, fence = [], [], None
        kind = lambda line: "code" if line.startswith("    ") else "table" if line.startswith("|") else "heading" if re.match("#+ ", line) \
            else "text"

        def flush():
            while lines and not lines[-1].strip():
                lines.pop()
            if lines:
                out.append(self.block(lines))
            lines.clear()

        for line in self.source.read_text(encoding="utf-8").split("\n"):
            if fence is not None:
                if line.startswith("```"):
                    out.append("<pre><code>" + html.escape("\n".join(fence)) + "</code></pre>")
                    fence = None
                else:
                    fence.append(line)
            elif line.startswith("```"):
                flush()
                fence = []
            elif not line.strip():
                if lines and kind(lines[0]) == "code":
                    lines.append(line)
                else:
                    flush()
            else:
                in_list = lines and re.match(r"(?:[-*]|\d+\.) ", lines[0])
                if lines and (kind(line) == "heading" or (kind(line) != kind(lines[0]) and not in_list)
                              or (not in_list and re.match(r"[-*] ", line) and kind(lines[0]) == "text")):
                    flush()
                lines.append(line)
                if kind(line) == "heading":
                    flush()
        flush()
        return "\n".join(out)


def write(out, target, title, body):
    file = out / target
    file.parent.mkdir(parents=True, exist_ok=True)
    up = "../" * (len(target.parts) - 1)
    links = [("index.html", "libupmu"), ("guide.html", "Guide"), ("guide/cookbook.html", "Cookbook"), ("gallery.html", "Gallery"),
             ("zh/guide.html", "中文"),
             ("man/index.html", "Manual")]
    nav = " · ".join(f'<a href="{up}{url}">{name}</a>' for url, name in links)
    file.write_text(f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n<style>{STYLE}</style></head>\n'
                    f"<body><nav>{nav}</nav>\n{body}\n</body></html>\n", encoding="utf-8")


def manual(out, folders):
    """Manual pages, and their list. Links of section 3 (.so) become links to the page."""
    names = {}
    for file in sorted(file for folder in folders for file in folder.glob("*.[13]")):
        so = re.match(r"\.so man3/(\S+)", file.read_text(encoding="utf-8"))
        names[file.name] = so.group(1) if so else file.name
        if so or not shutil.which("mandoc"):
            continue
        page = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", str(file)], check=True, capture_output=True, text=True).stdout
        write(out, Path("man") / (file.name + ".html"), file.name, page)
    items = "".join(f'<li><a href="{html.escape(page)}.html">{html.escape(name)}</a></li>\n' if shutil.which("mandoc") else
                    f"<li>{html.escape(name)}</li>\n" for name, page in names.items())
    write(out, Path("man/index.html"), "Manual", f"<h1>Manual</h1>\n<ul>{items}</ul>")


def main():
    out = Path(sys.argv[1])
    docs = ROOT / "docs"
    pages = {file.resolve(): file.relative_to(docs).with_suffix(".html") for file in docs.rglob("*.md")}
    pages[(ROOT / "README.md").resolve()] = Path("index.html")
    pages[(ROOT / "CHANGELOG.md").resolve()] = Path("changelog.html")
    for image in [*docs.rglob("*.png"), *docs.rglob("*.svg"), *docs.rglob("*.json")]:
        pages[image.resolve()] = image.relative_to(docs)
        (out / image.relative_to(docs)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(image, out / image.relative_to(docs))
    for source, target in pages.items():
        if source.suffix == ".md":
            title = re.search(r"^# (.*)", source.read_text(encoding="utf-8"), re.M)
            write(out, target, title.group(1) if title else source.stem, Page(source, target, pages).body())
    manual(out, [ROOT / "man", *map(Path, sys.argv[2:])])


if __name__ == "__main__":
    main()
