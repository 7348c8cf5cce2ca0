#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doc_links.py TREE: each relative link of the Markdown files leads to a file, and each anchor to a heading."""
import os
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)


def prose(path):
    with open(path, encoding="utf-8") as file:
        return FENCE.sub("", file.read())


def anchors(path):
    """The anchors of a file as GitHub and GitLab make them from headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", prose(path), re.M):
        text = re.sub(r"\]\([^)]*\)", "", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return found


def documents(tree):
    """The Markdown files of the tree, builds left out."""
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(f for f in folders if f != "build" and not f.startswith("."))
        for file in sorted(files):
            if file.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, file), tree)


def main(tree):
    links, broken = 0, 0
    for name in documents(tree):
        document = os.path.join(tree, name)
        for target in LINK.findall(prose(document)):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            path, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
            if not os.path.exists(file):
                print("%s: no file for the link %s" % (name, target))
                broken += 1
            elif anchor and anchor not in anchors(file):
                print("%s: no heading for the link %s" % (name, target))
                broken += 1
    print("%d links, %d of them broken" % (links, broken))
    return 1 if broken or links == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
