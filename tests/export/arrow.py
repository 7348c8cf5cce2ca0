# SPDX-License-Identifier: MIT
"""A reader of Arrow IPC streams, strict about the encoding, and checks of the format `arrow` with it.

    arrow.py rows FILE JSONL     the rows against the same recording as JSON lines
    arrow.py sql FILE PAGE       the queries of the guide, on SQLite
"""
import json
import re
import sqlite3
import struct
import sys


class Table:
    """A table of a FlatBuffer: every offset within the buffer and aligned, as verifiers of other libraries demand."""

    def __init__(self, data, at):
        assert at % 4 == 0 and at + 4 <= len(data), at
        self.data, self.at = data, at
        vtable = at - struct.unpack_from("<i", data, at)[0]
        assert vtable % 2 == 0 and 0 <= vtable <= len(data) - 4, vtable
        size, self.size = struct.unpack_from("<HH", data, vtable)
        assert size >= 4 and size % 2 == 0 and vtable + size <= len(data) and at + self.size <= len(data)
        self.slots = struct.unpack_from(f"<{(size - 4) // 2}H", data, vtable + 4)

    def field(self, i, kind, default=0):
        slot = self.slots[i] if i < len(self.slots) else 0
        if slot == 0:
            return default
        width = struct.calcsize(kind)
        assert slot + width <= self.size and (self.at + slot) % width == 0, (i, kind)
        return struct.unpack_from("<" + kind, self.data, self.at + slot)[0]

    def target(self, i):
        """Where a reference leads; None if it is absent."""
        offset = self.field(i, "I", None)
        return None if offset is None else self.at + self.slots[i] + offset

    def table(self, i):
        return Table(self.data, self.target(i))

    def string(self, i):
        at = self.target(i)
        n, = struct.unpack_from("<I", self.data, at)
        assert self.data[at + 4 + n] == 0
        return self.data[at + 4:at + 4 + n].decode()

    def tables(self, i):
        at = self.target(i)
        n, = struct.unpack_from("<I", self.data, at)
        places = [at + 4 + 4 * k for k in range(n)]
        return [Table(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]

    def pairs(self, i):
        """A vector of structs of two 64-bit numbers."""
        at = self.target(i)
        n, = struct.unpack_from("<I", self.data, at)
        assert (at + 4) % 8 == 0
        return [struct.unpack_from("<qq", self.data, at + 4 + 16 * k) for k in range(n)]


def messages(data):
    """(header, body) of each message up to the end of the stream."""
    at = 0
    while True:
        assert at % 8 == 0
        mark, size = struct.unpack_from("<II", data, at)
        assert mark == 0xffffffff
        if size == 0:
            assert at + 8 == len(data), "bytes after the end"
            return
        assert size % 8 == 0
        head = data[at + 8:at + 8 + size]
        message = Table(head, struct.unpack_from("<I", head)[0])
        assert message.field(0, "h") == 4  # version 5
        body = message.field(3, "q")
        at += 8 + size
        assert body % 8 == 0 and at + body <= len(data)
        yield message, data[at:at + body]
        at += body


def bits(data, n):
    return [data[i // 8] >> i % 8 & 1 for i in range(n)] if data else [1] * n


def column(field, rows, nulls, buffers):
    kind = field.field(2, "B")
    present = bits(next(buffers), rows)
    assert present.count(0) == nulls
    if kind == 5:  # text
        offsets = struct.unpack(f"<{rows + 1}i", next(buffers))
        text = next(buffers)
        assert offsets[0] == 0 and offsets[-1] == len(text) and list(offsets) == sorted(offsets)
        values = [text[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    else:
        assert kind == 2
        width, signed = field.table(3).field(0, "i"), field.table(3).field(1, "B")
        letter = {(32, 1): "i", (32, 0): "I", (64, 1): "q", (64, 0): "Q"}[width, signed]
        values = struct.unpack(f"<{rows}{letter}", next(buffers))
    return [v if p else None for v, p in zip(values, present)]


def read(path):
    """(names, {name: values}, number of batches)"""
    with open(path, "rb") as file:
        data = file.read()
    stream = messages(data)
    head, body = next(stream)
    assert head.field(1, "B") == 1 and not body
    fields = head.table(2).tables(1)
    names = [f.string(0) for f in fields]
    assert all(f.field(1, "B") == 1 and f.tables(5) == [] for f in fields) and len(set(names)) == len(names)
    columns, batches = {name: [] for name in names}, 0
    for message, body in stream:
        assert message.field(1, "B") == 3
        batch = message.table(2)
        rows, nodes, places = batch.field(0, "q"), batch.pairs(1), batch.pairs(2)
        assert all(length == rows for length, _ in nodes) and len(nodes) == len(fields)
        assert all(offset % 8 == 0 and offset + n <= len(body) for offset, n in places)
        buffers = iter([body[offset:offset + n] for offset, n in places])
        for name, field, (_, nulls) in zip(names, fields, nodes):
            columns[name] += column(field, rows, nulls, buffers)
        assert next(buffers, None) is None
        batches += 1
    return names, columns, batches


def check_rows(path, jsonl):
    names, columns, batches = read(path)
    with open(jsonl, encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    rows = [dict(zip(names, values)) for values in zip(*columns.values())]
    begins = {"lock-block", "cond-wait", "thread-join", "barrier-arrive", "futex-wait", "call-block"}
    ends = {"lock-acquired", "cond-wake", "thread-joined", "barrier-leave", "futex-woken", "call-return", "begin", "end"}
    passed = [e for e in events if (e["kind"], e["result"] if "result" in e else 0) == ("barrier-leave", -1)]  # no waits: the last to arrive
    assert sum(r["kind"] == "wait" for r in rows) == sum(e["kind"] in begins for e in events) - len(passed) > 0
    assert sum(r["kind"] == "region" for r in rows) == sum(e["kind"] == "begin" for e in events)
    rest = [r for r in rows if r["kind"] not in ("wait", "region")]
    others = [e for e in events if e["kind"] not in begins | ends or e in passed]
    assert [(r["kind"], r["begin_ns"], r["tid"]) for r in rest] == [(e["kind"], e["time_ns"], e["tid"]) for e in others]
    assert [(r["name"], r["peer"]) for r in rest] == [(e.get("text"), e.get("peer")) for e in others]
    waits = {(r["begin_ns"], r["tid"]): r for r in rows if r["kind"] == "wait"}
    lasts = {(e["tid"], e["address"]) for e in passed}
    for e in events:
        if e["kind"] in begins:
            if (e["time_ns"], e["tid"]) not in waits and (e["tid"], e.get("address")) in lasts:
                continue
            wait = waits[e["time_ns"], e["tid"]]
            address = int(e["address"], 16) if "address" in e else None
            assert wait["address"] == address and (wait["duration_ns"] >= 0), wait
            assert (address is None) == (e["kind"] == "call-block") and (address or wait["object"]), (wait, e)
            assert e["kind"] != "lock-block" or wait["holder"] == e.get("peer"), (wait, e)
            assert e["kind"] != "lock-block" or (wait["holder_site"] or "") == e.get("holder_site", "")
            assert wait["function"] and wait["function"] in e["site"] and f":{wait['line']}" in e["site"]
    assert len({(r["host"], r["command"], r["build"], r["pid"]) for r in rows}) == 1 and re.fullmatch("[0-9a-f]{16,}", rows[0]["build"])
    counters = [n for n in names if n.endswith(" status")]
    assert len(counters) == 2, counters
    for r in rows:
        for status in counters:
            assert (r[status[:-7]] is not None) == (r[status] in ("exact", "scaled")), r
            assert (r[status] is not None) == (r["kind"] == "region"), r
    print(f"{len(rows)} rows in {batches} batches")


def check_sql(path, page):
    """Each query runs, and answers what is known of the scene: `keeper` holds `the till`, `customer` waits 50 ms for it."""
    names, columns, _ = read(path)
    with open(page, encoding="utf-8") as file:
        queries = re.findall(r"```sql\n(.*?)```", file.read(), re.S)
    assert len(queries) == 10
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE rows (%s)" % ", ".join(f'"{n}"' for n in names))
    marks = ", ".join("?" * len(names))

    def add(changed):
        # An address needs all 64 bits only in the kernel.
        db.executemany(f"INSERT INTO rows VALUES ({marks})", ([changed.get(n, v) for n, v in zip(names, row)] for row in zip(*columns.values())))
    add({})
    add({"build": "0000", "host": "another"})
    db.execute("UPDATE rows SET duration_ns = duration_ns * 3 WHERE build <> '0000'")
    answers = []
    for query in queries:
        answer = db.execute(query)
        answers.append([dict(zip((d[0] for d in answer.description), row)) for row in answer.fetchall()])
    locks, lines, blocked, hosts, slower, spread, regions, inside, pairs, never = answers
    assert "sleep" not in {row["lock"] for row in locks}, locks
    assert "the till" in {row["lock"] for row in locks} and len({row["build"] for row in locks}) == 2, locks
    till = next(row for row in lines if row["lock"] == "the till")
    assert till["holder_thread"] == "keeper" and till["waits"] == 2 and till["total_ms"] >= 200, till
    assert {"customer", "main"} <= {row["thread"] for row in blocked}, blocked
    assert [row["host"] for row in hosts][1] == "another", hosts
    assert all(abs(row["ratio"] - 3) < 0.01 for row in slower) and slower, slower
    assert all(row["power_of_ten_ns"] >= 7 for row in spread if row["lock"] == "the till"), spread
    assert {row["region"] for row in regions} >= {"(thread)"}, regions
    assert any(row["lock"] == "the till" and row["region"] == "(thread)" for row in inside), inside
    assert {(row["thread"], row["holder_thread"]) for row in pairs} >= {("customer", "keeper")}, pairs
    assert never == [], never
    print("10 queries answered")


if __name__ == "__main__":
    {"rows": check_rows, "sql": check_sql}[sys.argv[1]](*sys.argv[2:])
