# SPDX-License-Identifier: MIT
"""cookbook.py TREE UPMU: what docs/guide/cookbook.md shows is compiled and run, and its output compared.

A C block is saved under the name in the paragraph before it. In a console block a line "$ COMMAND" is run, and the lines behind it
are its output: numbers, addresses, units and the width of columns may differ, "..." stands for any lines or the rest of one.
On a loaded machine another finding may be the first one: the page is tried up to three times.
"""
import os
import re
import subprocess
import sys
import tempfile


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


def run(text, upmu):
    """Runs the page; the number of commands with other results."""
    ran = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.symlink(upmu, f"{scratch}/upmu")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("UPMU_")} | {
            "PATH": f"{scratch}:{os.environ['PATH']}", "LC_ALL": "C"}
        os.mkdir(f"{scratch}/work")
        for before, language, block in re.findall(r"([^\n]*)\n\n```(c|console)\n(.*?)\n```", text, re.S):
            if language == "c":
                name = re.search(r"as `(\w+\.c)`", before).group(1)
                with open(f"{scratch}/work/{name}", "w", encoding="utf-8") as file:
                    file.write(block + "\n")
                continue
            for command, wanted in commands(block):
                result = subprocess.run(command, shell=True, cwd=f"{scratch}/work", env=environment, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=250, check=False)
                lines = [line for line in result.stdout.split("\n") if line.strip()]
                ran += 1
                if result.returncode != 0 or (wanted is not None and not matches([w for w in wanted if w.strip()], lines)):
                    failed += 1
                    print(f"FAILED: {command} ended with {result.returncode} and printed:\n{result.stdout}")
    assert ran >= 9, f"only {ran} commands found"
    print(f"{ran} commands, {failed} with other results than the page")
    return failed


def main():
    tree, upmu = sys.argv[1:]
    text = open(f"{tree}/docs/guide/cookbook.md", encoding="utf-8").read()
    return 0 if any(run(text, upmu) == 0 for _ in range(3)) else 1


if __name__ == "__main__":
    sys.exit(main())
