#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Declarations of the C headers for ctypes: upmu/_declarations.py.

    bindings/python/generate.py          writes the file anew, after a change of include/upmu
    bindings/python/generate.py --check  exit status 1 if it is not what the headers make it

The headers are read as text, so no compiler is needed. The test bindings.python_layout compares sizes and offsets with C's.
"""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADERS = HERE.parent.parent / "include" / "upmu"
OUTPUT = HERE / "upmu" / "_declarations.py"
FILES = sorted(p.name for p in HEADERS.glob("*.h") if p.name != "region_disabled.h")
SCALARS = {"int": "c_int", "unsigned": "c_uint", "long": "c_long", "double": "c_double", "char": "c_char",
           "size_t": "c_size_t", "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64",
           "uint64_t": "c_uint64", "uintptr_t": "c_size_t", "pid_t": "c_int", "void": "None"}
LIBRARY = {"upmu.h": "core", "region.h": "core", "overflow.h": "core", "sync.h": "sync",
           "func.h": None}  # of the functions of a header, None: for instrumented programs only; the others: analysis
SKIPPED = {"upmu_scope", "upmu_named_scope"}  # of the macros UPMU_SCOPE only


class Unknown(Exception):
    pass


def text_of(name):
    """A header without comments, preprocessor lines and inline functions."""
    text = (HEADERS / name).read_text()
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.M)
    return re.sub(r"(?:UPMU_INLINE_|static inline) [^;{]*\{[^}]*(?:\{[^}]*\}[^}]*)*\}", " ", text)


def class_name(c_name):
    return "".join(part[0].upper() + part[1:] for part in c_name.split("_"))


def scalar(kind, stars, structs):
    """The ctypes type of `kind` with so many asterisks."""
    kind = " ".join(w for w in kind.split() if w not in ("const", "enum")).strip()
    if kind.startswith("struct "):
        name = kind.split()[1]
        base = class_name(name) if name in structs else None
        if stars == 0 and not base:
            raise Unknown(kind)
        return base if stars == 0 else f"POINTER({base})" if base and stars == 1 else "c_void_p"
    if kind == "upmu_region_t":
        kind, base = "upmu_region", class_name("upmu_region")
        return f"POINTER({base})" if stars else base
    if kind == "char" and stars == 1:
        return "c_char_p"
    if kind not in SCALARS:
        raise Unknown(kind)
    if stars == 0:
        return SCALARS[kind]
    return "c_void_p" if kind == "void" or stars > 1 else f"POINTER({SCALARS[kind]})"


def declarations(body, structs):
    """(name, type) of the members of a struct or union; an anonymous union is ('', [...])."""
    union = re.search(r"union\s*\{(.*?)\}\s*;", body, re.S)
    if union:
        before, after = body[:union.start()], body[union.end():]
        return declarations(before, structs) + [("", declarations(union.group(1), structs))] + declarations(after, structs)
    out = []
    for line in body.split(";"):
        line = " ".join(line.split())
        if not line:
            continue
        function = re.fullmatch(r"[^(]*\(\*(\w+)\)\(.*\)", line)
        if function:
            out.append((function.group(1), "c_void_p"))
            continue
        kind, names = re.fullmatch(r"((?:const |struct |enum )*\w+)(?: const\b)?\s*(.*)", line).groups()
        for name in names.split(","):
            stars, _, plain, size = re.fullmatch(r"\s*((?:\*\s*(?:const\s*)?)*)(const\s+)?(\w+)(?:\[(\w+)\])?\s*", name).groups()
            kind_of = scalar(kind, stars.count("*"), structs)
            out.append((plain, f"{kind_of} * {size}" if size else kind_of))
    return out


def numbers(body):
    """(name, value) of the constants of an enum."""
    value, out = -1, []
    for item in filter(None, (" ".join(i.split()) for i in body.split(","))):
        name, _, text = (part.strip() for part in item.partition("="))
        value = eval(re.sub(r"(\d)u\b", r"\1", text), {}) if text else value + 1
        out.append((name, value))
    return out


def functions(text, structs):
    """(name, result, [argument types]) of the exported functions."""
    for result, name, arguments in re.findall(
            r"UPMU_API\s+(?:UPMU_CHECKED\s+)?((?:const\s+)?(?:struct\s+)?\w+\s*\**)\s*(\w+)\(((?:[^()]|\([^()]*\))*)\)\s*;", text):
        if name.endswith("_"):
            continue
        types = []
        for argument in re.split(r",(?![^(]*\))", arguments):
            argument = " ".join(argument.split())
            if argument == "void":
                continue
            if "(" in argument:
                types.append("c_void_p")
                continue
            kind, stars = re.match(r"((?:const |struct |enum )*\w+)(?: const\b)?\s*((?:\*\s*(?:const\s*)?)*)", argument).groups()
            types.append(scalar(kind, stars.count("*"), structs))
        stars = result.count("*")
        yield name, scalar(result.replace("*", ""), stars, structs), types


def in_order(structs):
    """The names of the structs, each after those that it has members of."""
    ordered = []

    def add(name):
        for other in re.findall(r"struct (\w+)", structs[name]):
            if other in structs and other != name and other not in ordered:
                add(other)
        if name not in ordered:
            ordered.append(name)

    for name in structs:
        add(name)
    return ordered


def lines():
    yield "# SPDX-License-Identifier: MIT"
    yield "# Written by bindings/python/generate.py from include/upmu; do not edit."
    yield '"""The C API as ctypes declarations: constants, structs, and the functions of each library."""'
    yield "from ctypes import (POINTER, Structure, Union, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32,"
    yield "                    c_uint64, c_void_p)"
    texts = {name: text_of(name) for name in FILES}
    everything = "\n".join(texts.values())
    macros = "\n".join((HEADERS / name).read_text() for name in FILES)
    constants = [c for body in re.findall(r"enum(?:\s+\w+)?\s*\{(.*?)\}\s*;", everything, re.S) for c in numbers(body)]
    constants += [(name, {"UINT32_MAX": 2**32 - 1, "UINT64_MAX": 2**64 - 1}.get(value) if "MAX" in value else int(value))
                  for name, value in re.findall(r"^#define (UPMU_\w+) (UINT\d+_MAX|\d+)$", macros, re.M)]
    yield ""
    for name, value in constants:
        yield f"{name} = {value}"
    found = re.findall(r"(?:typedef )?struct (\w+)\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*(?:upmu_region_t)?;", everything)
    structs = {name: body for name, body in found if name not in SKIPPED}
    for name in in_order(structs):
        members = declarations(structs[name], structs)
        for member, kind in members:
            if member == "":
                yield f"\n\nclass {class_name(name)}Union(Union):\n    _fields_ = ["
                yield from (f'        ("{n}", {k}),' for n, k in kind)
                yield "    ]"
        recursive = any(class_name(name) in kind for member, kind in members if member)
        yield f"\n\nclass {class_name(name)}(Structure):"
        yield f'    """struct {name}"""'
        if recursive:
            yield f"\n\n{class_name(name)}._fields_ = ["
        if any(member == "" for member, _ in members):
            yield '    _anonymous_ = ("of_kind",)'
        indent = "    " if recursive else "        "
        if not recursive:
            yield "    _fields_ = ["
        yield from (f'{indent}("{n or "of_kind"}", {k if n else class_name(name) + "Union"}),' for n, k in members)
        yield "]" if recursive else "    ]"
    yield "\n\n#: The struct of each class, by its C name."
    yield "STRUCTS = {"
    yield from (f'    "{name}": {class_name(name)},' for name in structs)
    yield "}"
    yield "\n#: name: (result, arguments) of the functions of each library."
    yield "FUNCTIONS = {"
    for library in ("core", "sync", "analysis"):
        yield f'    "{library}": {{'
        for file in FILES:
            if LIBRARY.get(file, "analysis") == library:
                for name, result, types in functions(texts[file], structs):
                    yield f'        "{name}": ({result}, [{", ".join(types)}]),'
        yield "    },"
    yield "}"


if __name__ == "__main__":
    made = "\n".join(lines()) + "\n"
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if OUTPUT.read_text() == made else f"{OUTPUT.name} is not of these headers: run bindings/python/generate.py")
    OUTPUT.write_text(made)
