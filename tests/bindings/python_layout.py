# SPDX-License-Identifier: MIT
"""The declarations of the Python package against the headers: text, and sizes and offsets as the compiler has them.

    python_layout.py GENERATOR DIR COMPILER FLAGS...
"""
import ctypes
import subprocess
import sys
from pathlib import Path

from upmu import _declarations as c


def members(struct):
    """(name, offset, size) of the members, those of unions too."""
    for name, kind in struct._fields_:
        if name in getattr(struct, "_anonymous_", ()):
            yield from ((n, getattr(struct, n).offset, ctypes.sizeof(k)) for n, k in kind._fields_)
        else:
            yield name, getattr(struct, name).offset, ctypes.sizeof(kind)


def main(generator, folder, compiler, *flags):
    subprocess.run([sys.executable, generator, "--check"], check=True)
    headers = Path(generator).parents[2] / "include" / "upmu"
    lines = [f"#include <upmu/{p.name}>" for p in sorted(headers.glob("*.h")) if p.name != "region_disabled.h"]
    lines += ["#include <stdio.h>", "#define M(s, m) printf(#s \".\" #m \" %zu %zu\\n\", offsetof(struct s, m), sizeof(((struct s *)0)->m))",
              "#define C(n) printf(#n \" %llu\\n\", (unsigned long long)(n))", "int main(void)", "{"]
    for name, struct in c.STRUCTS.items():
        lines += [f'printf("{name} %zu\\n", sizeof(struct {name}));'] + [f"M({name}, {m});" for m, _, _ in members(struct)]
    constants = {name: value for name, value in vars(c).items() if name.startswith("UPMU_")}
    lines += [f"C({name});" for name in constants] + ["return 0;", "}"]
    source, program = Path(folder) / "layout.c", Path(folder) / "layout"
    source.write_text("\n".join(lines) + "\n")
    subprocess.run([compiler, *flags, str(source), "-o", str(program)], check=True)
    theirs = subprocess.run([str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    ours = []
    for name, struct in c.STRUCTS.items():
        ours += [f"{name} {ctypes.sizeof(struct)}"] + [f"{name}.{m} {at} {size}" for m, at, size in members(struct)]
    ours += [f"{name} {value % 2**64}" for name, value in constants.items()]
    wrong = [f"C has {a}, Python {b}" for a, b in zip(theirs, ours) if a != b]
    assert len(ours) == len(theirs) > 900 and not wrong, "\n".join(wrong)
    print(f"{len(ours)} sizes, offsets and constants are the same")


main(*sys.argv[1:])
