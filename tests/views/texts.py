# SPDX-License-Identifier: MIT
"""The catalogue of messages (data/texts): each text of the page is in it, and nothing else; both languages have the same %1, %2;
the sentences of the findings are those that lib/findings writes. Argument: the source tree."""
import json
import pathlib
import re
import sys

tree = pathlib.Path(sys.argv[1])
STRING = r'"(?:[^"\\\n]|\\.)*"'
ENTRY = re.compile(rf"(?:UPMU_TEXT\(\w+,\s*|PAGE_TEXT\()((?:{STRING}\s*)+),\s*((?:{STRING}\s*)+)\)\n")


def joined(literals):
    return "".join(json.loads(x) for x in re.findall(STRING, literals))


def catalogue(*names):
    texts = {}
    for name in names:
        source = (tree / "data/texts" / name).read_text(encoding="utf-8")
        found = ENTRY.findall(source)
        assert len(found) == len(re.findall(r"^(?:UPMU|PAGE)_TEXT\(", source, re.M)), f"{name}: an entry cannot be read"
        for english, chinese in ((joined(a), joined(b)) for a, b in found):
            assert english not in texts, f"{name}: twice: {english}"
            assert re.search("[\u3001-\u9fff\uff01-\uff5e]", chinese) or not re.search("[A-Za-z]{2}", english), f"no Chinese: {english}"
            assert sorted(set(re.findall(r"%\d", english))) == sorted(set(re.findall(r"%\d", chinese))), f"%n differ: {english}"
            texts[english] = chinese
    return texts


def sources(folder):
    return {p.name: p.read_text(encoding="utf-8") for p in sorted((tree / folder).glob("*.js")) + sorted((tree / folder).glob("*.html"))}


def used(pages):
    """Keys given to tr() and plural() as they are, and all strings of the page."""
    keys, strings = set(), set()
    for name, text in pages.items():
        if name.endswith(".html"):
            strings |= {x.strip().replace("&amp;", "&").replace("&hellip;", "\u2026") for x in re.findall(r">([^<>]+)<", text)}
            strings |= set(re.findall(r'(?:aria-label|title)="([^"]+)"', text))
            continue
        keys |= {json.loads(x) for x in re.findall(rf"\btr\(\s*({STRING})", text)}
        for both in re.findall(rf"\btr\([^\"`]*\? ({STRING}) : ({STRING})", text):
            keys |= {json.loads(x) for x in both}
        keys |= {f"%1 {x}" for x in re.findall(r'plural\((?:[^",]|,(?! "))*, "(\w+)"', text)}
        strings |= {json.loads(x) for x in re.findall(STRING, text) if not re.search(r"\\x|\\u\{", x)}
    return keys, strings | keys


def findings():
    """Words of the sentences' templates that lib/findings does not have."""
    written = "".join(joined(x) + "\n" for p in sorted((tree / "lib/findings").glob("*.c"))
                      for x in re.findall(rf"(?:{STRING}\s*(?:PRI\w+\s*)?)+", p.read_text(encoding="utf-8")))
    written = re.sub(r"%(?:\.1f|\.\*f|llu|ld|zu|s|)", "%", written)
    clauses = re.search(r"FINDING_CLAUSES = \[(.*?)\];", (tree / "lib/export/html/page/findings.js").read_text(encoding="utf-8"), re.S)
    for clause in (json.loads(x) for x in re.findall(STRING, clauses[1])):
        for part in re.split(r"%\d", clause):
            part = part.removesuffix(": ") if "%" not in clause else part
            for word in re.findall(r"\b[A-Za-z]{3,}\b", part):
                assert re.search(rf"\b{word}\b", written), f"lib/findings has no such sentence: {clause}: {word}"


def missing(keys, texts):
    return sorted(k for k in keys - texts.keys() if re.search("[A-Za-z]", k))


def headlines():
    """Sentences of deadlocks that the live page translates are those that the command writes."""
    written = (tree / "tools/upmu/deadlock/deadlock_names.c").read_text(encoding="utf-8")
    source = (tree / "tools/upmu/serve/page/deadlocks.js").read_text(encoding="utf-8")
    for line in (json.loads(x) for x in re.findall(STRING, re.search(r"HEADLINES = \[(.*?)\];", source, re.S)[1])):
        end = re.sub(r"^(%1 )?threads? (waits?|and) ?", "", line)
        assert end in written.replace('"\n                             "', ""), f"deadlock_names.c has no such headline: {line}"


shared, page, live, plugin = (catalogue(*{"common.inc", x}) for x in ("common.inc", "page.inc", "live.inc", "plugin.inc"))
assert len(page) > 400 and len(plugin) > 80 and len(shared) > 10 and len(live) > 60, (len(page), len(plugin), len(shared), len(live))
extension = catalogue("common.inc", "plugin.inc", "vscode.inc")  # none of them twice
names = set(re.findall(r"UPMU_TEXT\((\w+)", "".join((tree / "data/texts" / x).read_text(encoding="utf-8") for x in ("common.inc", "plugin.inc", "vscode.inc"))))
scripts = sources("integrations/vscode/src").values()
wanted = {x for text in scripts for x in re.findall(r'\btext\("(\w+)"', text)}
wanted |= set(re.findall(r'"%(\w+)%"', (tree / "integrations/vscode/package.json").read_text(encoding="utf-8")))
assert wanted and wanted <= names, f"not in the catalogue: {wanted - names}"
own = set(re.findall(r"UPMU_TEXT\((\w+)", (tree / "data/texts/vscode.inc").read_text(encoding="utf-8")))
assert own <= wanted, f"in the catalogue, but not in the extension: {own - wanted}"
both = ((page.keys() & plugin.keys()) | (live.keys() & plugin.keys())) - shared.keys()
assert not both, f"these belong into common.inc: {both}"
keys, strings = used(sources("tools/upmu/serve/page"))
assert not missing(keys, live), f"not in the catalogue: {missing(keys, live)}"
unused = sorted(k for k in live.keys() - shared.keys() - strings if k not in ("scaled", "not counted", "refused", "unsupported"))
assert not unused, f"in the catalogue, but not in the live page: {unused}"
headlines()
keys, strings = used(sources("lib/export/html/page"))
assert not missing(keys, page), f"not in the catalogue: {missing(keys, page)}"
unused = sorted(k for k in page.keys() - shared.keys() if k not in strings and not re.match(r"(regions|waits|holds|switches|counters|MPI calls) shorter than %1$", k)
                and k not in ("breakable", "wakeable", "certain", "stalled", "inversion", "gated", "one-thread", "ordered", "broken"))
assert not unused, f"in the catalogue, but not in the page: {unused}"
findings()
print(f"{len(page)} texts of the page and {len(live)} of the live page in two languages")
