#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""translations.py TREE: the Chinese README and guide are in step with the English ones.

Each English page has a Chinese one with the same headings (their levels), lists, samples, tables of the same size, the same
`code` words and pictures; and no Chinese page is left without an English one. A link leads to the Chinese page where there is one.
"""
import difflib
import os
import re
import sys

tree = sys.argv[1]
chinese = f"{tree}/docs/zh"


def pages():
    """Pairs of paths: English, Chinese."""
    yield f"{tree}/README.md", f"{chinese}/README.md"
    yield f"{tree}/docs/guide.md", f"{chinese}/guide.md"
    for name in sorted(os.listdir(f"{tree}/docs/guide")):
        yield f"{tree}/docs/guide/{name}", f"{chinese}/guide/{name}"


PAIRS = dict(pages())


def target(page, link):
    """What a link leads to, as the English page's path, so that both languages can be compared."""
    if re.match(r"[a-z]+:", link):
        return link
    path = os.path.normpath(os.path.join(os.path.dirname(page), link.split("#")[0])) if link.split("#")[0] else page
    back = {zh: en for en, zh in PAIRS.items()}
    if page == f"{chinese}/README.md" and path == f"{tree}/README.md":  # each README links to the other language
        return path
    if path in PAIRS and page.startswith(chinese):
        return f"{link}: leads to the English page"
    return back.get(path, path)


def outline(page):
    """A line for each part that both languages share."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    lines, inside, rows = [], False, 0
    for line in text.splitlines():
        fence = re.match(r" *```", line)
        if fence or inside:
            lines.append(line)
            inside = inside != bool(fence)
            continue
        if line.startswith("    ") and not re.match(r" *([-*]|\d+\.) ", line):
            lines.append(line.rstrip())
            continue
        heading = re.match(r"#+ ", line)
        if heading:
            lines.append(heading.group() + "heading")
        if re.match(r" *([-*]|\d+\.) ", line):
            lines.append("item")
        rows = rows + 1 if line.startswith("|") else 0
        if rows:
            lines.append(f"row {rows} of {line.count('|') - line.count(chr(92) + '|')} bars")
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
    words = sorted(set(re.findall(r"`([^`\n]+)`", prose)))
    links = sorted({target(page, link) for link in re.findall(r"\]\(([^)\s]+)\)", prose)})
    return lines + ["words:"] + words + ["links:"] + links


wrong = []
for english, page in PAIRS.items():
    name = os.path.relpath(page, tree)
    if not os.path.exists(page):
        wrong.append(f"{name}: does not exist, though {os.path.relpath(english, tree)} does")
        continue
    differs = list(difflib.unified_diff(outline(english), outline(page), os.path.relpath(english, tree), name, lineterm="", n=1))
    wrong += differs
for folder, _, names in os.walk(chinese):
    for name in names:
        if name.endswith(".md") and os.path.join(folder, name) not in PAIRS.values():
            wrong.append(f"{os.path.relpath(os.path.join(folder, name), tree)}: no English page has this name")
print("\n".join(wrong) if wrong else f"{len(PAIRS)} pages are in step")
sys.exit(bool(wrong))
