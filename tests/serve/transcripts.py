# SPDX-License-Identifier: MIT
"""Golden transcripts against a server: each reply as it was recorded, and each line valid by the schema.

transcripts.py UPMU SCHEMA RECORDING WORK FILE...
"""
import json
import subprocess
import sys

import jsonschema

upmu, schema_file, recording, work, *files = sys.argv[1:]
schema = json.load(open(schema_file))
jsonschema.Draft202012Validator.check_schema(schema)


def validator(part):
    return jsonschema.Draft202012Validator({"$schema": schema["$schema"], "$ref": "#/$defs/" + part, "$defs": schema["$defs"]})


def matches(wanted, found):
    """Equal with members in the same order, where "*" is anything."""
    if wanted == "*":
        return True
    if isinstance(wanted, dict):
        return isinstance(found, dict) and list(wanted) == list(found) and all(matches(wanted[k], found[k]) for k in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(matches, wanted, found))
    return type(wanted) is type(found) and wanted == found


def check(file):
    server = subprocess.Popen([upmu, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    method = None
    n = 0
    for line in open(file, encoding="utf-8"):
        line = line.replace("$DIR", recording).replace("$WORK", work).rstrip("\n")
        if line.startswith(">"):
            server.stdin.write(line[2:].encode() + b"\n")
            server.stdin.flush()
            try:
                request = json.loads(line[2:])
                method = request["method"] if validator("request").is_valid(request) else None
            except (ValueError, TypeError, KeyError):
                method = None
        elif line.startswith("<"):
            reply = server.stdout.readline()
            assert reply.endswith(b"\n") and len(reply) <= 1 << 20, reply
            found = json.loads(reply)
            assert matches(json.loads(line[2:]), found), f"{file}:\n wanted {line[2:]}\n found  {reply.decode()}"
            validator("reply").validate(found)
            if "result" in found:
                assert method, f"{file}: a request that the schema refuses has a result: {line}"
                validator("results/" + method).validate(found["result"])
            n += 1
    rest, _ = server.communicate()
    assert rest == b"" and server.returncode == 0, (rest, server.returncode)
    return n


for file in files:
    assert check(file) > 10, file
