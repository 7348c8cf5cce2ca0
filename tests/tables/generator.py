# SPDX-License-Identifier: MIT
"""Runs the generator of event tables on rows that must be taken and on rows that must fail.

    generator.py GENERATOR [CC INCLUDE...]

A row that fails must do so with the file, the line and the reason, and leave no table behind.
"""
import os
import re
import subprocess
import sys
import tempfile

generator, *compiler = sys.argv[1:]
HEADER = "event,match,encoding,counters,near,note,source"
NATIVE = "name,encoding,counters,meaning,source,families"
PRESETS = "preset,match,formula,note"
faults = 0


def fault(text):
    global faults
    faults += 1
    print("FAIL: " + text)


def generate(folder, files):
    """Exit status, errors and whether the tables were written. A file is its lines."""
    paths = []
    for name, lines in files.items():
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w") as file:
            file.write("".join(line + "\n" for line in lines))
    source, header = os.path.join(folder, "event_tables.c"), os.path.join(folder, "event_tables.h")
    run = subprocess.run([generator, source, header, *paths], stderr=subprocess.PIPE, text=True, timeout=10)
    return run.returncode, run.stderr.replace(folder + "/", ""), os.path.exists(source) or os.path.exists(header)


def must_fail(what, files, *wanted):
    with tempfile.TemporaryDirectory() as folder:
        status, errors, written = generate(folder, files)
    have = errors.splitlines()
    if status != 1 or written:
        fault(f"{what}: status {status}, tables {'' if written else 'not '}written: {errors}")
    if len(have) != len(wanted) or any(not h.startswith(w) for h, w in zip(have, wanted)):
        fault(f"{what}: '{errors}' for {wanted}")


def with_texts(source):
    """The generated source, its references to texts replaced by the texts."""
    texts = {at: text for text, at in re.findall(r'^    ("[^\n]*)\\0" /\* (\d+) \*/$', source, re.M)}
    reference = r"(\.(?:name|why|source|formula|near|meaning|papi) = )(\d+)"
    return re.sub(reference, lambda m: m[1] + texts[m[2]] + '"', source)


def must_pass(what, files, *wanted):
    with tempfile.TemporaryDirectory() as folder:
        status, errors, _ = generate(folder, files)
        if status != 0 or errors:
            fault(f"{what}: status {status}, {errors}")
            return
        with open(os.path.join(folder, "event_tables.c")) as file:
            text = with_texts(file.read())
        for w in wanted:
            if w not in text:
                fault(f"{what}: no '{w}' in the table:\n{text}")
        if compiler:
            command = [compiler[0], "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I" + folder]
            os.mkdir(os.path.join(folder, "arch"))
            os.rename(os.path.join(folder, "event_tables.h"), os.path.join(folder, "arch", "event_tables.h"))
            command += ["-I" + i for i in compiler[1:]] + [os.path.join(folder, "event_tables.c")]
            if subprocess.run(command).returncode != 0:
                fault(f"{what}: the table does not compile")


def row_fails(row, *wanted, native=()):
    """A row between two good ones; errors are those of line 3."""
    files = {"cpu.csv": [HEADER, "branches,exact,hw:4,,,,manual@1", row, "uops-retired,exact,raw:0x1,,,,manual@1"]}
    if native:
        files["cpu.native.csv"] = [NATIVE, *native]
    must_fail(row, files, *["cpu.csv:3: " + w for w in wanted])


def rows_that_pass():
    must_pass("every encoding", {
        "base.csv": ["# set", HEADER, "cycles,exact,hw:0=0x3c,fixed1|0-3,,,manual@1",
                     "stores,exact,raw:0x82d0,0|2,,,manual@1"],
        "cpu.csv": [
            "# a comment, with a comma", "# base: base", "# source: manual@2", HEADER,
            "branches,exact,hw:4,any,,,", "dtlb-load-miss,approximate,cache:0x010003=0xe08,,,\"walks, completed\",",
            "dtlb-miss,approximate,= dtlb-load-miss + 2*Other.Name - dtlb-store-miss,,,a sum,",
            "dtlb-store-miss,approximate,raw:0x149/config1=0x2,,,\"a \"\"quote\"\"\",manual@3",
            "l1d-load-miss,absent,none,,stores branches,none is documented,"],
        "cpu.native.csv": ["# source: manual@2", NATIVE, "Other.NAME,raw:0x10,,,,"],
        "other.csv": [HEADER], "other.native.csv": [NATIVE, "MISSING.NAME,raw:0x2,,,manual@2,"],
        "cpu.presets.csv": ["# families: cpu other", PRESETS, "PAPI_BR_NTK,exact,MISSING.NAME,", "PAPI_BR_NTK,approximate,other.name,about"],
    }, '.config = 0x0, .config1 = 0x0, .raw_encoding = UINT64_C(0x3c), .counters = 0x200000f, .kind = 1',
        '.counters = 0xffffff', '.counters = 0x5', '.why = "walks, completed", .source = "manual@2"',
        '.config1 = 0x2', '.why = "a \\"quote\\"", .source = "manual@3"',
        '.formula = "dtlb-load-miss + 2*Other.Name - dtlb-store-miss"', '.near = "stores branches"', '.n_events = 7',
        '.name = "Other.NAME", .meaning = "", .config = 0x10, .config1 = 0x0, .counters = 0x0',
        '.papi = "PAPI_BR_NTK", .formula = "MISSING.NAME", .match = 1, .why = ""', '.n_natives = 1', '.n_presets = 1')
    must_pass("a family without rows", {"empty.csv": [HEADER]}, "arch_table_empty = {.events = 0, .n_events = 0,")


def shapes_that_fail():
    good = "cycles,exact,hw:0,,,,manual@1"
    must_fail("another header", {"cpu.csv": ["event,rating"]}, "cpu.csv:1: the header must be: " + HEADER)
    must_fail("no header", {"cpu.csv": ["# nothing"]}, "cpu.csv: has no header line")
    must_fail("a name that is no key", {"CPU.csv": [HEADER]}, "CPU.csv: the file must be named")
    must_fail("the wrong order", {"cpu.csv": [HEADER, "stores,exact,raw:0x1,,,,m@1", good]},
              "cpu.csv:3: 'cycles' is out of order: it comes before 'stores'")
    must_fail("a row twice", {"cpu.csv": [HEADER, good, good]}, "cpu.csv:3: 'cycles' is there twice")
    must_fail("a base that is not there", {"cpu.csv": ["# base: other", HEADER, good]},
              "cpu.csv:1: there is no family 'other' to be the base")
    must_fail("a circle", {"a.csv": ["# base: b", HEADER], "b.csv": ["# base: a", HEADER]},
              "a.csv: its bases form a circle")
    must_fail("a row of the base again", {"a.csv": [HEADER, good], "b.csv": ["# base: a", HEADER, good]},
              "b.csv:3: cycles: the row repeats that of its base a")
    must_fail("two errors", {"cpu.csv": [HEADER, "cycles,right,hw:0,,,,m@1", "stores,exact,raw:1,,,,m@1"]},
              "cpu.csv:2: match must be", "cpu.csv:3: raw: needs 0x")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([generator, folder + "/c", folder + "/h", folder + "/none.csv"], stderr=subprocess.PIPE)
        if run.returncode != 1 or b"none.csv: cannot be opened" not in run.stderr:
            fault(f"a file that is not there: {run}")


def rows_that_fail():
    row_fails("cycle,exact,hw:0,,,,m@1", "'cycle' is no vendor-neutral event")
    row_fails("context-switches,exact,raw:0x3,,,,m@1", "'context-switches' is no vendor-neutral event")
    row_fails("cpu-cycles,exact,hw:0,,,,m@1", "'cpu-cycles' is no vendor-neutral event")
    row_fails("cycles,Exact,hw:0,,,,m@1", "match must be exact, approximate or absent")
    row_fails("cycles,exact,hw:0,,,,", "cycles: the source is missing")
    row_fails("cycles,exact,hw:0,,,a note,m@1", "cycles: approximate and absent rows need a note, exact ones have none")
    row_fails("cycles,approximate,hw:0,,,,m@1", "cycles: approximate and absent rows need a note")
    row_fails("cycles,absent,none,,,,", "cycles: approximate and absent rows need a note")
    row_fails("cycles,absent,none,,,not there,m@1", "cycles: an absent row has no counters and no source")
    row_fails("cycles,absent,none,0-3,,not there,", "cycles: an absent row has no counters and no source")
    row_fails("cycles,absent,hw:0,,,not there,", "cycles: the encoding is none for absent rows")
    row_fails("cycles,exact,none,,,,m@1", "cycles: the encoding is none for absent rows")
    row_fails("cycles,exact,hw:0,,branches,,m@1", "cycles: near is for absent rows")
    row_fails("cycles,absent,none,,loads,not there,", "cycles: 'loads' is near, but cpu has no such event")
    row_fails("cycles,absent,none,,branches cycles,not there,", "cycles: 'cycles' is near, but cpu has no such event")
    row_fails("cycles,exact,hw:0,,,", "6 cells for 7 columns")
    row_fails("cycles,approximate,hw:0,,,one, two,m@1", "8 cells for 7 columns")
    row_fails('cycles,approximate,hw:0,,,"one,m@1', "a quoted cell does not end")
    row_fails('cycles,approximate,hw:0,,,o"n"e,m@1', "a quote inside a cell that is not quoted")
    for code in ("hw:10", "hw:", "hw:0=60", "hw:0=0x3c ", "cache:0x7", "cache:0x300", "cache:0x20000", "cache:3",
                 "raw:c0", "raw:0x", "raw:0xc0/config2=0x1", "raw:0x1ffffffffffffffff", "sw:0", "0xc0", ""):
        row_fails(f"cycles,exact,{code},,,,m@1", {"hw": "hw:", "cache": "cache:", "raw": "raw:"}.get(
            code.split(":")[0] if ":" in code and code != "hw:0=60" and code != "hw:0=0x3c " else "",
            "the raw code behind" if "=" in code else "encoding must be"))
    for counters in ("4-2", "24", "fixed8", "0-", "|", "0|", "all", "0,1"):
        if "," not in counters:
            row_fails(f"cycles,exact,hw:0,{counters},,,m@1", "counters must be parts joined by |")


def formulas_that_fail():
    native = ["A.B,raw:0x1,,,m@1,"]
    for formula, wrong in (
            ("= ", "the formula must begin with a term"), ("=  + branches", "the formula must begin with a term"),
            ("= branches+A.B", "cycles: 'branches+A.B': cpu has no event of this name"),
            ("= branches +", "terms of a formula are joined"), ("= branches + ", "a formula is terms"),
            ("= branches * 2", "terms of a formula are joined"), ("= 0*branches", "the weight of a term"),
            ("= -1*branches", "the weight of a term"), ("= 1025*branches", "the weight of a term"),
            ("= 1.5*branches", "the weight of a term"), ("= 2*3*branches", "a formula is terms"),
            ("= branches + loads", "cycles: 'loads': cpu has no event of this name"),
            ("= A.B + A.C", "cycles: 'A.C': cpu has no event of this name"),
            ("= cycles", "cycles: 'cycles': cpu has it as a formula itself")):
        row_fails(f"cycles,exact,{formula},,,,m@1", wrong, native=native)
    row_fails("cycles,exact,= branches,0-3,,,m@1", "cycles: a formula has no counters of its own")
    must_fail("a term that is absent",
              {"cpu.csv": [HEADER, "branches,absent,none,,,no,", "cycles,exact,= branches,,,,m@1"]},
              "cpu.csv:3: cycles: 'branches': cpu lacks the event")


DEFAULTS = "event,formula,near,note"


def defaults_that_pass():
    def table(rows, defaults, directives=()):
        return {"cpu.csv": [*directives, HEADER, *rows], "defaults.csv": [DEFAULTS, *defaults]}
    loads, stores = "loads,exact,raw:0x1,,,,m@1", "stores,approximate,raw:0x2,,,about,m@1"
    both = ["loads-stores,loads + stores,loads stores | loads,"]
    must_pass("a sum", table([loads, stores.replace("approximate", "exact").replace("about", "")], both),
              '.kind = 4, .match = 1, .why = "", .source = "the sources of its terms", .formula = "loads + stores"')
    must_pass("a sum of what is not exact", table([loads, stores], both), '.kind = 4, .match = 2, .why = "the sum of')
    must_pass("no sum of one code", table([loads, stores.replace("0x2", "0x1")], both),
              '.name = "loads-stores"', '.kind = 0, .match = 0, .why = "no event of this core is known to count it"',
              '.near = "loads stores"')
    must_pass("no sum of a part", table([loads], both), '.kind = 0, .match = 0', '.near = "loads"')
    must_pass("a row of its own", table([loads, "loads-stores,exact,raw:0x3,,,,m@1", stores], both), ".n_events = 3",
              ".config = 0x3")
    must_pass("the reason of the family", table([loads], both, ["# absent: not listed"]), '.why = "not listed"')
    must_pass("the reason of the event", table([loads], ["stores,,,never"], ["# absent: not listed"]),
              '.why = "never"', '.near = ""')
    must_pass("perf's reason of the family", table([loads], ["stores,,,never"], ["# absent-perf: not mapped"]),
              '.why = "not mapped"')
    must_pass("a near event for an absent row", table([loads, "stores,absent,none,,,gone,"], ["stores,,cycles | loads,"]),
              '.why = "gone", .source = "", .formula = "", .near = "loads"')
    must_pass("a sum that is near", table([loads, stores], [*both, "uops-retired,,loads-stores | loads,"]),
              '.near = "loads-stores"')
    must_pass("the reason of the base", {
        "base.csv": ["# absent: not listed", HEADER, loads], "cpu.csv": ["# base: base", HEADER],
        "defaults.csv": [DEFAULTS, *both]}, '.why = "not listed"')


def defaults_that_fail():
    for row, wrong in (("load,,,", "'load' is no vendor-neutral event"), ("loads,a +b,,", "terms of a formula are"),
                       ("loads,,stores | loadz,", "loads: near 'loadz' is no vendor-neutral event")):
        must_fail(row, {"cpu.csv": [HEADER], "defaults.csv": [DEFAULTS, row]}, "defaults.csv:2: " + wrong)
    must_fail("a default twice", {"cpu.csv": [HEADER], "defaults.csv": [DEFAULTS, "loads,,,", "loads,,,"]},
              "defaults.csv:3: 'loads' is there twice")


def natives_that_fail():
    cpu = {"cpu.csv": [HEADER], "other.csv": [HEADER]}
    must_fail("a code that is not raw", cpu | {"cpu.native.csv": [NATIVE, "A,hw:0,,,m@1,"]},
              "cpu.native.csv:2: the encoding of a native name is raw:")
    must_fail("no source", cpu | {"cpu.native.csv": [NATIVE, "A,raw:0x1,,,,"]}, "cpu.native.csv:2: A: the source")
    must_fail("a blank", cpu | {"cpu.native.csv": [NATIVE, "A B,raw:0x1,,,m@1,"]}, "cpu.native.csv:2: 'A B' cannot be")
    must_fail("a family of no file", {"cpu.native.csv": [NATIVE]}, "cpu.native.csv: there is no family 'cpu'")
    must_fail("a family twice", cpu | {"cpu.native.csv": [NATIVE, "A,raw:0x1,,,m@1,", "a,raw:0x2,,,m@1,"]},
              "cpu.native.csv:3: cpu has 'a' twice")
    must_fail("a family that is not the file's", cpu | {"cpu.native.csv": [NATIVE, "A,raw:0x1,,,m@1,other"]},
              "cpu.native.csv:2: family 'other' is not in the file's `# families:`")
    must_fail("another order", cpu | {"cpu.native.csv": [NATIVE, "b,raw:0x1,,,m@1,", "A,raw:0x1,,,m@1,"]},
              "cpu.native.csv:3: 'A' is out of order")


def presets_that_fail():
    cpu = {"cpu.csv": [HEADER], "cpu.native.csv": [NATIVE, "A,raw:0x1,,,m@1,"]}
    for row, wrong in (
            ("BR_NTK,exact,A,", "'BR_NTK' is no preset of PAPI"),
            ("PAPI_BR_NTK,absent,A,", "PAPI_BR_NTK: a preset that the CPU lacks has no row"),
            ("PAPI_BR_NTK,approximate,A,", "PAPI_BR_NTK: approximate rows need a note"),
            ("PAPI_BR_NTK,exact,A,why", "PAPI_BR_NTK: approximate rows need a note"),
            ("PAPI_BR_NTK,exact,B,", "PAPI_BR_NTK: no family of the file has the events")):
        must_fail(row, cpu | {"cpu.presets.csv": [PRESETS, row]}, "cpu.presets.csv:2: " + wrong)


rows_that_pass()
shapes_that_fail()
rows_that_fail()
formulas_that_fail()
defaults_that_pass()
defaults_that_fail()
natives_that_fail()
presets_that_fail()
print(f"{faults} failed")
sys.exit(1 if faults else 0)
