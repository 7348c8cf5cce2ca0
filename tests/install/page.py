# SPDX-License-Identifier: MIT
"""page.py SOURCE TREE LIBDIR PAGE [LANGUAGE]: the programs of a page of the guide are saved, compiled and run, and their output compared.

As a new user has it: from the page alone, with the installed TREE. A program is saved under the name that the paragraph before it ends
with. In a console block a line "$ COMMAND" is run, and the lines behind it are its output: numbers, addresses, units and the width of
columns may differ, "..." stands for any lines or the rest of one. With LANGUAGE, of the programs only those in it, each with the
console block behind it. On a loaded machine another finding may be the first one: the page is tried up to three times.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Language: extension of its files, and the programs that its commands need (with their Debian packages).
LANGUAGES = {"c": ("c", {"cc": "gcc"}), "cpp": ("cpp", {"c++": "g++"}), "fortran": ("f90", {"gfortran": "gfortran"}),
             "python": ("py", {}), "go": ("go", {"go": "golang-go"}), "rust": ("rs", {"rustc": "rustc", "bindgen": "bindgen"}),
             "lua": ("lua", {"luajit": "luajit"})}


def skip(reason):
    print(f"skipped, because {reason}")
    sys.exit(77)


def plain(line):
    """A line without what differs from run to run."""
    line = re.sub(r"0x[0-9a-f]+", "H", re.sub(r"\S*/(?=\w+\.c:)", "", line))
    line = re.sub(r"\d[\d.,]*", "N", line)
    return " ".join(re.sub(r"N (ns|us|ms|s|B|KiB|MiB)\b", "N U", line).split())


def same(wanted, line):
    wanted, line = plain(wanted), plain(line)
    return line.startswith(wanted[:-3].rstrip()) if wanted.endswith("...") else wanted == line


def matches(wanted, lines):
    """Whether the lines are what is wanted."""
    if not wanted:
        return not lines
    if wanted[0] == "...":
        return any(matches(wanted[1:], lines[i:]) for i in range(len(lines) + 1))
    return bool(lines) and same(wanted[0], lines[0]) and matches(wanted[1:], lines[1:])


def commands(block):
    """(command, lines of output or None) of a console block."""
    found = []
    for line in block.split("\n"):
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return [(command, lines or None) for command, lines in found]


def blocks(text, only):
    """(file name or None, block) of the page in order: programs to be saved, and console blocks."""
    chosen = not only
    for before, language, block in re.findall(r"([^\n]*)\n\n```(\w+)\n(.*?)\n```", text, re.S):
        if language in LANGUAGES:
            name = re.search(rf"`(\w+\.{LANGUAGES[language][0]})`[^`]*:$", before)
            assert name, f"a program without a file name, behind: {before}"
            chosen = not only or language == only
            if chosen:
                yield name.group(1), block
        elif language == "console" and chosen:
            yield None, block


def python_with_pandas():
    """Path of an interpreter that has the packages of the page on columns."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import numpy, pandas"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return skip("pandas is not installed (Debian: python3-pandas)")


def environment(source, tree, libdir, scratch):
    """Variables of a user who has installed the tree in a folder of its own."""
    lib = f"{tree}/{libdir}"
    return {k: v for k, v in os.environ.items() if not k.startswith("UPMU_")} | {
        "PATH": f"{scratch}/bin:{tree}/bin:{os.environ['PATH']}", "LC_ALL": "C", "HOME": scratch, "LD_LIBRARY_PATH": lib,
        "LIBRARY_PATH": lib, "PKG_CONFIG_PATH": f"{lib}/pkgconfig", "UPMU_LIBRARY": lib, "PYTHONPATH": f"{source}/bindings/python",
        "PYTHONDONTWRITEBYTECODE": "1", "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup"))}


def run(page, only, variables):
    """Runs the page in the folder HOME of the variables; the number of commands with other results."""
    ran = failed = 0
    work = f"{variables['HOME']}/work"
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    for name, block in blocks(page, only):
        if name:
            with open(f"{work}/{name}", "w", encoding="utf-8") as file:
                file.write(block + "\n")
            continue
        for command, wanted in commands(block):
            result = subprocess.run(command, shell=True, cwd=work, env=variables, text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, timeout=250, check=False)
            lines = [line for line in result.stdout.split("\n") if line.strip()]
            ran += 1
            if result.returncode != 0 or (wanted is not None and not matches([w for w in wanted if w.strip()], lines)):
                failed += 1
                print(f"FAILED: {command} ended with {result.returncode} and printed:\n{result.stdout}")
    assert ran >= (1 if only else 2), f"the page has {ran} commands only"
    print(f"{ran} commands, {failed} with other results than the page")
    return failed


def main():
    source, tree, libdir, name = sys.argv[1:5]
    only = sys.argv[5] if len(sys.argv) > 5 else None
    with open(f"{source}/docs/{name}", encoding="utf-8") as file:
        page = file.read()
    for language in {only} if only else set(re.findall(r"^```(\w+)$", page, re.M)) & set(LANGUAGES):
        for program, package in LANGUAGES[language][1].items():
            if not shutil.which(program):
                skip(f"{program} is not installed (Debian: {package})")
    with tempfile.TemporaryDirectory() as scratch:
        os.mkdir(f"{scratch}/bin")
        if "pandas" in page and "```python" in page:
            os.symlink(python_with_pandas(), f"{scratch}/bin/python3")
        variables = environment(source, tree, libdir, scratch)
        return 0 if any(run(page, only, variables) == 0 for _ in range(3)) else 1


if __name__ == "__main__":
    sys.exit(main())
