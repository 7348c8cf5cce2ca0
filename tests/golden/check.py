# SPDX-License-Identifier: MIT
"""Compares every CPU's table, as `upmu list --cpu` shows it, with the facts the tables were made from.

    check.py UPMU FOLDER

In FOLDER: unified.csv has one line for each vendor-neutral name and each column of the survey; columns.csv says which
CPUs a column speaks of; differs.csv has the cells in which CPUs (* = all) are other than their column says, with the reason;
native.csv has the CPUs' own names; codes.csv has the kernel's generic ids with the machine code that the kernel makes of each
(empty: not known), and raw codes that have a meaning but no name of the CPU's own. A cell of type formula has the sum in
`config`. Families that the survey did not cover have files of their own below families/: MAKER.csv with some cells of each,
MAKER.native.csv with all of their own names. Prints each difference; exit status 1 if there is any.
"""
import csv
import glob
import json
import subprocess
import sys

upmu, folder = sys.argv[1:]
NONE = ("absent", None, None)
faults = 0


def fault(text):
    global faults
    faults += 1
    print(text)


def rows(name):
    with open(f"{folder}/{name}", newline="") as file:
        return list(csv.DictReader(file))


def rows_of_families(native):
    names = [n[len(folder) + 1:] for n in sorted(glob.glob(f"{folder}/families/*.csv"))]
    return [row for n in names if n.endswith(".native.csv") == native for row in rows(n)]


def listed(cpu, *options):
    out = subprocess.run([upmu, "list", "--cpu", cpu, "--json", *options], stdout=subprocess.PIPE, check=True).stdout
    return {e["name"]: e for e in json.loads(out)["events"]}


def found(event):
    """What the library says of an event: its grade, its generic id and its raw code."""
    if event is None or event["match"] == "absent":
        return NONE
    if event["formula"]:
        return event["match"], None, None
    if event["encoding"].startswith("software:"):
        return event["match"], "software:0x%x" % event["config"], None
    return event["match"], event["generic"], event["raw_encoding"]


def agrees(row, event):
    grade, generic, code = found(event)
    if row["type"] == "none":
        return grade == "absent"
    if row["type"] == "formula":
        return grade == row["grade"] and event["formula"] == row["config"] and code is None
    if grade != row["grade"]:
        return False
    if row["type"] == "raw":
        return code == int(row["config"], 16)
    programmed = event["encoding"].split(" ")[0]
    wanted = "%s:%s" % (row["type"], row["config"])
    return generic == wanted and programmed == wanted


def compare_unified(cpus):
    differs = {(cpu, r["name"]): r for r in rows("differs.csv") for cpu in r["cpus"].split()}
    used = set()
    compared = 0
    for row in rows("unified.csv"):
        for cpu in cpus[row["column"]]:
            who = "*" if ("*", row["name"]) in differs else cpu
            wanted = differs.get((who, row["name"]))
            event = tables[cpu].get(row["name"])
            compared += 1
            if wanted:
                used.add((who, row["name"]))
                if who != "*" and agrees(row, event):
                    fault(f"{cpu} {row['name']}: differs.csv speaks of a difference that is none")
                if not wanted["why"]:
                    fault(f"{cpu} {row['name']}: differs.csv gives no reason")
            if not agrees(wanted or row, event):
                fault(f"{cpu} {row['name']}: {found(event)} for {(wanted or row)}")
    for key in differs.keys() - used:
        fault(f"differs.csv: nobody has {key}")
    return compared


def compare_families():
    """Cells of families that the survey did not cover."""
    compared = 0
    for row in rows_of_families(native=False):
        for cpu in row["cpus"].split():
            compared += 1
            event = tables[cpu].get(row["name"])
            if not agrees(row, event):
                fault(f"{cpu} {row['name']}: {found(event)} for {row}")
    return compared


def compare_native():
    wanted = {}
    for row in rows("native.csv") + rows_of_families(native=True):
        for cpu in row["cpus"].split():
            wanted.setdefault(cpu, {})["native::" + row["name"]] = int(row["code"], 16)
    for cpu in tables:
        have = {n: e["config"] for n, e in listed(cpu, "--native").items()} if cpu in wanted else {}
        for name in sorted(have.keys() | wanted.get(cpu, {}).keys()):
            if have.get(name) != wanted.get(cpu, {}).get(name):
                fault(f"{cpu} {name}: {have.get(name)} for {wanted[cpu].get(name)}")
    return sum(len(names) for names in wanted.values())


def compare_codes():
    """Each id and each code belongs to some name, and an id that is programmed becomes the code."""
    compared = 0
    for row in rows("codes.csv"):
        key = "%s:%s" % (row["type"], row["config"])
        code = int(row["code"], 16) if row["code"] else None
        for cpu in row["cpus"].split():
            compared += 1
            there = [e for e in tables[cpu].values() if e["match"] != "absent"]
            if row["type"] == "raw":
                if not any(e["raw_encoding"] == code for e in there):
                    fault(f"{cpu} {key}: no name has this code")
                continue
            named = [e for e in there if e["generic"] == key]
            if not named:
                fault(f"{cpu} {key}: no name has this id")
            for e in named:
                if code is not None and e["encoding"].split(" ")[0] == key and e["raw_encoding"] != code:
                    fault(f"{cpu} {e['name']}: {key} becomes {e['raw_encoding']} and not {code}")
    return compared


def all_cpus():
    out = subprocess.run([upmu, "list", "--cpus", "--json"], stdout=subprocess.PIPE, check=True).stdout
    return [c["name"] for c in json.loads(out)["cpus"]]


cpus = {r["column"]: r["cpus"].split() for r in rows("columns.csv")}
surveyed = {cpu for column in cpus.values() for cpu in column}
surveyed |= {cpu for row in rows_of_families(native=False) for cpu in row["cpus"].split()}
tables = {cpu: listed(cpu) for cpu in surveyed}
# Nothing to compare with: CPUs of which the survey found no codes.
for cpu in set(all_cpus()) ^ surveyed ^ {"generic", "sunway", "loongson2k"}:
    fault(f"{cpu}: in the library or in columns.csv, not in both")
cells, names, codes = compare_unified(cpus) + compare_families(), compare_native(), compare_codes()
print(f"{cells} cells, {names} native names and {codes} codes compared, {faults} differ")
sys.exit(1 if faults or cells < 1050 or names < 2500 or codes < 800 else 0)
