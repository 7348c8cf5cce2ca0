#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Manual pages of section 3, made from the comments of the public headers.

    man/man3.py OUT     writes OUT/*.3: a page for each group of functions, and a link to it for each function and struct

A group is the functions of one object (upmu_set_...). Structs, enumerations and constants are on the page of the function that
follows them in the header and names them. SOURCE_DATE_EPOCH is the date of the pages.
"""
import datetime
import os
import re
import sys
from pathlib import Path

HEADERS = Path(__file__).resolve().parent.parent / "include" / "upmu"
LIBRARIES = {"upmu.h": "libupmu, -lupmu", "region.h": "libupmu, -lupmu", "overflow.h": "libupmu, -lupmu", "sync.h": "libupmu_sync, -lupmu_sync -lupmu",
             "func.h": "libupmu_func, -lupmu_func -lupmu"}
ANALYSIS = "libupmu_analysis, -lupmu_analysis -lupmu"
# Objects with a page of their own, by the longest prefix; what is left is the group of its first word.
OBJECTS = ("deadlock_inspect", "deadlock_watch", "deadlocks", "overview_path", "overview_object", "overview_thread", "overview",
           "region", "set", "trace", "timeline", "monitor", "control", "snapshot_watch", "snapshot", "subscription", "export", "event", "cpu", "metric", "plan", "sync", "lock",
           "findings")
# Functions without an object.
ALONE = {"strerror": "error", "version": "error", "mark": "region", "diagnose": "diagnosis",
         "row": "timeline", "wait": "overview", "sched": "overview", "object": "trace", "deadlock": "deadlocks",
         "finding": "findings", "frame": "overview", "trigger": "snapshot"}


class Item:
    """A declaration with its comment."""

    def __init__(self, kind, name, code, doc, header):
        self.kind, self.name, self.code, self.doc, self.header = kind, name, code, doc, header
        self.group = None


def plain(doc):
    """The lines of a comment without its stars."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in doc.strip("*").split("\n")]
    lines[0] = lines[0].lstrip()
    return "\n".join(lines).strip("\n").rstrip()


def declarations(header):
    """The file comment, and the items of a header."""
    text = header.read_text()
    text = re.sub(r"/\*\* @cond.*?@endcond \*/", "", text, flags=re.S)
    overview, items, doc, at = "", [], "", 0
    comment = re.compile(r"\s*/\*\*(.*?)\*/", re.S)
    other = re.compile(r"\s*/\*(?!\*).*?\*/", re.S)
    macro = re.compile(r"\s*#define[ \t]+(\w+)(\([^)]*\))?((?:[^\n]*\\\n)*[^\n]*)")
    directive = re.compile(r"\s*#(?:[^\n]*\\\n)*[^\n]*")
    body = re.compile(r"\s*(typedef\s+)?(struct|enum)\s*(\w*)\s*\{(.*?)\n\}\s*(\w*)\s*;", re.S)
    function = re.compile(r"\s*UPMU_API\s+(?:UPMU_CHECKED\s+)?([^;{()]*?[\s*])(\w+)\(((?:[^();]|\([^()]*\))*)\)[^;]*;", re.S)
    while at < len(text):
        m = comment.match(text, at)
        if m:
            doc = plain(m.group(1))
            if "@file" in doc:
                overview, doc = re.sub(r"@file\s*", "", doc).strip("\n"), ""
            at = m.end()
            continue
        m = other.match(text, at)
        if m:
            at = m.end()
            continue
        m = macro.match(text, at)
        if m:
            if doc and not m.group(1).endswith("_"):
                items.append(Item("macro", m.group(1), m.group(2) or "", doc, header.name))
            doc, at = "", m.end()
            continue
        m = directive.match(text, at)
        if m:
            at = m.end()
            continue
        m = body.match(text, at)
        if m:
            if m.group(3) not in ("upmu_scope", "upmu_named_scope"):
                items.append(Item(m.group(2), m.group(3), m.group(4), doc, header.name))
            doc, at = "", m.end()
            continue
        m = function.match(text, at)
        if m:
            if not m.group(2).endswith("_"):
                code = (" ".join(m.group(1).split()), [" ".join(a.split()) for a in re.split(r",(?![^(]*\))", m.group(3))])
                items.append(Item("function", m.group(2), code, doc, header.name))
            doc, at = "", m.end()
            continue
        m = re.compile(r"\s*[^\n]*\n?").match(text, at)
        if not re.match(r"\s*(struct \w+;)", m.group()):
            doc = "" if m.group().strip() else doc
        else:
            doc = ""
        at = max(m.end(), at + 1)
    return overview, items


def group_of(name):
    words = name[len("upmu_"):]
    for prefix in OBJECTS:
        if words == prefix or words.startswith(prefix + "_"):
            return "upmu_" + prefix
    first = words.split("_")[0]
    return "upmu_" + ALONE.get(first, first)


def assign(items):
    """Give each item its group."""
    functions = [i for i in items if i.kind == "function"]
    for f in functions:
        f.group = "upmu_arrow" if f.header == "arrow.h" else group_of(f.name)
    for n, item in enumerate(items):
        if item.kind == "function":
            continue
        later = [f for f in items[n:] if f.kind == "function"]
        users = [f for f in functions if item.name and re.search(rf"\b{item.name}\b", " ".join(f.code[1]) + f.doc)]
        own = "upmu_" + next((p for p in OBJECTS if item.name.startswith("upmu_" + p)), "")
        if item.kind == "macro" and item.name.startswith("UPMU_SYNC"):
            own = "upmu_sync"
        same = [f for f in functions if f.group == own]
        item.group = (users or later[:1] or same or functions[-1:])[0].group if functions else "upmu_api"


# -------------------------------------------------------------------------------------------------------------- roff

def escape(text):
    """Text of one line."""
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e"))


def running(text):
    """Running text: a sentence per line, as mdoc asks for."""
    sentences = re.sub(r"([.!?][\")]*)\s+(?=[^\s])", r"\1\n", " ".join(text.split()))
    return "\n".join(escape(line) for line in sentences.split("\n"))


def argument(text):
    """One argument of a macro."""
    return '"' + escape(text).replace('"', '""') + '"'


def prose(text, out):
    """Paragraphs, lists and indented code of a comment, without its tags."""
    begun = False
    for block in filter(str.strip, re.split(r"\n[ \t]*\n", text)):
        lines = block.split("\n")
        if any(line.startswith("  ") for line in lines) and not any(re.match(r" +- ", line) for line in lines):
            out += [".Bd -literal -offset indent"] + [escape(line) for line in lines] + [".Ed"]
        else:
            if begun:
                out.append(".Pp")
            head, *points = re.split(r"(?:^|\n) +- ", block)
            if head.strip():
                out.append(running(head))
            if points:
                out.append(".Bl -bullet -compact")
                for point in points:
                    out += [".It", running(point)]
                out.append(".El")
        begun = True


def tags(doc):
    """(text, [(parameter, text)], return text)"""
    parts = re.split(r"\s*@(param|return)\s+", doc)
    text, parameters, returned = parts[0], [], ""
    for tag, value in zip(parts[1::2], parts[2::2]):
        if tag == "return":
            returned = value
        else:
            name, _, rest = value.partition(" ")
            parameters.append((name, " ".join(rest.split())))
    return text, parameters, returned


def function_page(f, out):
    text, parameters, returned = tags(f.doc)
    out.append(f".Ss {f.name}")
    prose(text, out)
    if parameters:
        out.append(".Bl -tag -width Ds")
        for name, meaning in parameters:
            out += [f".It Fa {name}", running(meaning)]
        out.append(".El")
    if returned:
        out.append(".Pp")
        out.append(running("Returns " + returned))


FIELD = re.compile(r"(?:/\*\*(?P<before>(?!<).*?)\*/\s*)?(?P<code>[^;/]+(?:/(?!\*)[^;/]+)*?)\s*;[ \t]*(?:\n\s*)?(?:/\*\*<(?P<after>.*?)\*/)?", re.S)


def struct_page(s, out):
    out.append(f".Ss struct {s.name}")
    prose(s.doc, out)
    out.append(".Bl -tag -width Ds")
    body = re.sub(r"/\*(?!\*).*?\*/", "", s.code, flags=re.S)
    for m in FIELD.finditer(body):
        code = " ".join(m.group("code").split())
        if "union {" in code or code.startswith("}"):
            code = code.replace("union {", "").replace("}", "").strip()
            if not code:
                continue
        comment = m.group("after") or m.group("before") or ""
        out.append(".It Vt " + argument(code))
        out.append(running(plain(comment)) or "Private to the library.")
    out.append(".El")


CONSTANT = re.compile(r"(?:/\*\*(?P<before>(?!<).*?)\*/\s*)?(?P<name>UPMU_\w+)\s*(?:=\s*(?P<value>[^,/\n}]+?))?\s*(?:,|$|(?=\n|/))[ \t]*(?:\n\s*)?(?:/\*\*<(?P<after>.*?)\*/)?",
                      re.S)


def enum_page(e, out):
    out.append(f".Ss enum {e.name}" if e.name else ".Ss Constants")
    prose(e.doc, out)
    out.append(".Bl -tag -width Ds")
    body = re.sub(r"/\*(?!\*).*?\*/", "", e.code, flags=re.S)
    for m in CONSTANT.finditer(body):
        comment = m.group("after") or m.group("before") or ""
        out.append(f".It Dv {m.group('name')}" + (f" No = {' '.join(m.group('value').split())}" if m.group("value") else ""))
        out.append(running(plain(comment)))
    out.append(".El")


def macro_page(m, out):
    out.append(f".Ss {m.name}{m.code}")
    prose(m.doc, out)


def page(group, items, overview, date):
    functions = [i for i in items if i.kind == "function"]
    header = functions[0].header if functions else items[0].header
    brief = " ".join(overview.split("\n\n")[0].split()).split(". ")[0].rstrip(".").split(": ")[0]
    out = [".\\\" Written by man/man3.py from include/upmu; do not edit.", f".Dd {date}", f".Dt {group.upper()} 3",
           ".Os libupmu", ".Sh NAME"]
    names = [f.name for f in functions] or [items[0].name]
    out += [f".Nm {n} ," for n in names[:-1]] + [f".Nm {names[-1]}", f".Nd {escape(brief[0].lower() + brief[1:])}"]
    out += [".Sh LIBRARY", escape(LIBRARIES.get(header, ANALYSIS)), ".Sh SYNOPSIS"]
    for name in dict.fromkeys(i.header for i in items):
        out.append(f".In upmu/{name}")
    for f in functions:
        result, arguments = f.code
        out += [f".Ft {argument(result)}", f".Fn {f.name} " + " ".join(argument(a) for a in arguments)]
    out.append(".Sh DESCRIPTION")
    prose(overview, out)
    kinds = {"function": function_page, "struct": struct_page, "enum": enum_page, "macro": macro_page}
    for item in items:
        kinds[item.kind](item, out)
    out += [".Sh SEE ALSO", ".Xr upmu 1"]
    return "\n".join(line for line in out if line != "") + "\n"


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 1767225600)), datetime.timezone.utc)
    date = f"{moment:%B} {moment.day}, {moment.year}"
    groups, overviews = {}, {}
    for header in sorted(HEADERS.glob("*.h")):
        if header.name in ("region_disabled.h",):
            continue
        overview, items = declarations(header)
        assign(items)
        for item in items:
            groups.setdefault(item.group, []).append(item)
            overviews.setdefault(item.group, overview)
    for group, items in groups.items():
        (folder / f"{group}.3").write_text(page(group, items, overviews[group], date))
        for item in items:
            if item.name.startswith("upmu_") and item.name != group:
                (folder / f"{item.name}.3").write_text(f".so man3/{group}.3\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
