# SPDX-License-Identifier: MIT
"""The data of a page, as html_pack.c and html_columns.c write it."""
import base64
import json
import re
import zlib


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            text = re.search(r'id="data">([^<]*)<', f.read()).group(1)
        data = zlib.decompress(base64.b64decode(text))
        self.sections = {}
        at = 0
        while at < len(data):
            n = data[at]
            name = data[at + 1:at + 1 + n].decode()
            count, length = (int.from_bytes(data[at + 1 + n + k:at + 5 + n + k], "little") for k in (0, 4))
            at += 9 + n
            self.sections[name] = (count, data[at:at + length])
            at += length
        self.facts = json.loads(self.sections["facts"][1])

    def numbers(self, name):
        count, data = self.sections[name]
        out, n, shift = [], 0, 0
        for byte in data:
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                out.append(n)
                n = shift = 0
        assert len(out) == count and shift == 0, (name, len(out), count)
        return out

    def spans(self, table):
        """(row a, row b, begin, length, how many, how long they take, flags) of each span."""
        names = [f"{table}.{c}" for c in ("begin", "ns", "idle", "more", "flags")]
        columns = list(zip(*(self.numbers(n) for n in names)))
        rows, at, out = self.numbers(f"{table}.rows"), 0, []
        for i in range(0, len(rows), 3):
            begin = 0
            for step, ns, idle, more, flags in columns[at:at + rows[i + 2]]:
                begin += step
                out.append((rows[i], rows[i + 1], begin, ns, more + 1, ns - idle, flags))
            at += rows[i + 2]
        assert at == len(columns)
        return out
