# SPDX-License-Identifier: MIT
"""Exports read as the tools they are for read them. Each function returns something plain to ask questions of."""
import csv, json, re, xml.dom.minidom


def text(path):
    return open(path, encoding="utf-8", newline="").read()


def chrome(path):
    """Spans (name, begin us, end us, tid, args) of a trace that is sorted, balanced and has a time in each event."""
    events = json.loads(text(path))["traceEvents"]
    open_, spans, last, names = {}, [], 0.0, {}
    for e in events:
        assert "ts" in e and "pid" in e and "tid" in e, e
        if e["ph"] == "M":
            names[e["tid"]] = e["args"]["name"]
            continue
        assert e["ts"] >= last, ("not sorted", e)
        last = e["ts"]
        stack = open_.setdefault((e["pid"], e["tid"]), [])
        if e["ph"] == "B":
            stack.append(e)
        elif e["ph"] == "E":
            begin = stack.pop()
            spans.append((begin["name"], begin["ts"], e["ts"], e["tid"], {**begin.get("args", {}), **e.get("args", {})}))
        else:
            assert e["ph"] in "iC", e
    assert not any(open_.values()), open_
    return spans, names, events


def perfetto(path):
    """The same in ns of the text protoc makes of a Perfetto trace: balanced per track, every name and flow known."""
    names, tracks, open_, spans, flows, ended = {}, {}, {}, [], set(), set()
    for packet in text(path).split("packet {")[1:]:
        for iid, name in re.findall(r'event_names \{\s*iid: (\d+)\s*name: "((?:[^"\\]|\\.)*)"', packet):
            names[iid] = name
        if "track_descriptor" in packet:
            uuid = re.search(r"uuid: (\d+)", packet).group(1)
            parent = re.search(r"parent_uuid: (\d+)", packet)
            assert not parent or parent.group(1) in tracks, packet
            tracks[uuid] = packet
            continue
        kind = re.search(r"type: TYPE_(\w+)", packet).group(1)
        track = re.search(r"track_uuid: (\d+)", packet).group(1)
        when = int(re.search(r"timestamp: (\d+)", packet).group(1))
        assert track in tracks, packet
        iid = re.search(r"name_iid: (\d+)", packet)
        assert not iid or iid.group(1) in names, packet
        if kind == "SLICE_BEGIN":
            open_.setdefault(track, []).append((names[iid.group(1)], when))
        elif kind == "SLICE_END":
            name, begin = open_[track].pop()
            spans.append((name, begin, when, track, packet))
        flows.update(re.findall(r"\bflow_ids: (\d+)", packet))
        ended.update(re.findall(r"terminating_flow_ids: (\d+)", packet))
    assert not any(open_.values()), open_
    assert ended <= flows, "an arrow ends that never began"
    return spans, ended


def folded(path):
    """{path: ns}"""
    lines = [line.rsplit(" ", 1) for line in text(path).splitlines()]
    assert all(len(line) == 2 and line[1].isdigit() for line in lines), lines
    return {tuple(p.split(";")): int(n) for p, n in lines}


def speedscope(path):
    """{(thread, frame, ...): ns}"""
    d = json.loads(text(path))
    sums = {}
    for p in d["profiles"]:
        assert p["type"] == "sampled" and p["unit"] == "nanoseconds" and len(p["samples"]) == len(p["weights"])
        assert p["endValue"] == sum(p["weights"])
        for stack, weight in zip(p["samples"], p["weights"]):
            key = (p["name"], *(d["shared"]["frames"][i]["name"] for i in stack))
            sums[key] = sums.get(key, 0) + weight
    return sums


def firefox(path):
    """({(thread, function, ...): ms}, [marker]) of a profile whose tables fit together; a marker is a dict."""
    d = json.loads(text(path))
    shared, sums, markers = d["shared"], {}, []

    def rows(table):
        assert all(len(column) == table["length"] for name, column in table.items() if name not in ("length", "weightType")), table
        return range(table["length"])

    strings, stacks, frames, functions = shared["stringArray"], shared["stackTable"], shared["frameTable"], shared["funcTable"]
    assert d["meta"]["preprocessedProfileVersion"] == 60
    for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"):
        rows(shared[name])
    assert all(prefix is None or prefix < i for i, prefix in enumerate(stacks["prefix"])), "a parent comes later"
    assert all(source is None or source < shared["sources"]["length"] for source in functions["source"])
    assert all(-1 <= r < shared["resourceTable"]["length"] for r in functions["resource"])
    assert all(strings[shared["sources"]["filename"][s]] for s in functions["source"] if s is not None)
    schemas = {schema["name"]: {field["key"] for field in schema["fields"]} for schema in d["meta"]["markerSchema"]}
    for thread in d["threads"]:
        samples, table = thread["samples"], thread["markers"]
        assert samples["time"] == sorted(samples["time"]) and isinstance(thread["pid"], str)
        for i in rows(samples):
            stack, way = samples["stack"][i], []
            while stack is not None:
                way.append(strings[functions["name"][frames["func"][stacks["frame"][stack]]]])
                stack = stacks["prefix"][stack]
            key = (thread["name"], *reversed(way))
            sums[key] = sums.get(key, 0) + samples["weight"][i]
        for i in rows(table):
            data = table["data"][i]
            assert set(data) - {"type"} <= schemas[data["type"]], data
            markers.append({"thread": thread["name"], "name": strings[table["name"][i]], "begin": table["startTime"][i],
                            "end": table["endTime"][i], "phase": table["phase"][i],
                            "category": d["meta"]["categories"][table["category"][i]]["name"], **data})
    return sums, markers


def otlp(path):
    """{type: {((attribute, value), ..., function, ...): value}}, outermost first, from what protoc decodes."""
    t = text(path)
    tables = {name: re.findall(rf"^  {name} \{{(.*?)^  \}}", t, re.M | re.S)
              for name in ("mapping_table", "location_table", "function_table", "link_table", "attribute_table", "stack_table")}
    strings = re.findall(r'^  string_table: "((?:[^"\\]|\\.)*)"', t, re.M)
    assert strings[0] == "" and all(table[0].strip() == "" for table in tables.values()), "an element 0 is not empty"
    number = lambda key, body: int((re.search(rf"\b{key}: (\d+)", body) or [0, 0])[1])
    names = [strings[number("name_strindex", body)] for body in tables["function_table"]]
    locations = [names[number("function_index", body)] for body in tables["location_table"]]
    stacks = [[locations[int(i)] for i in re.findall(r"location_indices: (\d+)", body)][::-1] for body in tables["stack_table"]]
    attributes = [(strings[number("key_strindex", body)], (re.search(r'string_value: "(.*)"', body) or [0, ""])[1])
                  for body in tables["attribute_table"]]
    profiles = {}
    for profile in re.findall(r"^    profiles \{(.*?)^    \}", t, re.M | re.S):
        sums = profiles.setdefault(strings[number("type_strindex", profile)], {})
        for body in re.findall(r"^      samples \{(.*?)^      \}", profile, re.M | re.S):
            of = tuple(attributes[int(i)] for i in re.findall(r"attribute_indices: (\d+)", body))
            sums[of + tuple(stacks[number("stack_index", body)])] = number("values", body)
    return profiles


def pprof(path):
    """({(function, ...): [values]}, sample types, {(function, ...): {label: text}}), outermost first."""
    t = text(path)
    strings = re.findall(r'^string_table: "((?:[^"\\]|\\.)*)"', t, re.M)
    functions, locations, samples, labels = {}, {}, {}, {}
    number = lambda key, body: int((re.search(rf"\b{key}: (\d+)", body) or [0, 0])[1])
    for body in re.findall(r"^function \{(.*?)^\}", t, re.M | re.S):
        functions[number("id", body)] = strings[number("name", body)]
    for body in re.findall(r"^location \{(.*?)^\}", t, re.M | re.S):
        locations[number("id", body)] = functions[number("function_id", body)]
    types = [strings[number("type", body)] for body in re.findall(r"^sample_type \{(.*?)^\}", t, re.M | re.S)]
    for body in re.findall(r"^sample \{(.*?)^\}", t, re.M | re.S):
        key = tuple(locations[int(i)] for i in re.findall(r"location_id: (\d+)", body))[::-1]
        values = [int(v) for v in re.findall(r"value: (\d+)", body)]
        assert len(values) == len(types), (values, types)
        samples[key] = values
        labels[key] = {strings[int(k)]: strings[int(v)] for k, v in re.findall(r"label \{\s*key: (\d+)\s*str: (\d+)", body)}
    return samples, types, labels


def table(path):
    with open(path, encoding="utf-8", newline="", errors="surrogateescape") as f:
        return list(csv.DictReader(f, strict=True))


def lines(path):
    return [json.loads(line) for line in text(path).splitlines()]


def svg(path):
    """[(name, title)] of the boxes."""
    d = xml.dom.minidom.parseString(open(path, "rb").read())
    return [(g.getAttribute("data-n"), g.getElementsByTagName("title")[0].firstChild.data)
            for g in d.getElementsByTagName("g")]
