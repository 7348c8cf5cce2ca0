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


def pprof(path):
    """({(function, ...): [values]}, sample types), outermost first."""
    t = text(path)
    strings = re.findall(r'^string_table: "((?:[^"\\]|\\.)*)"', t, re.M)
    functions, locations, samples = {}, {}, {}
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
    return samples, types


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
