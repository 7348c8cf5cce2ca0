# SPDX-License-Identifier: MIT
"""Client of `upmu serve`: record and watch programs, detect deadlocks, and page through the facts of a recording.

    from upmu.client import Client
    with Client() as client:
        target = client.start(["./server"])
        for update in client.updates(target, seconds=1):
            print(update["locks"][:3])

The protocol is in docs/protocol.md. This file needs Python's own modules only and can be copied.
"""
import json
import os
import select
import socket
import subprocess
import time

PROTOCOL = "1.0"


class ProtocolError(Exception):
    """An error reply: `name` is one word ("params", "failed", "canceled", ...), `remedy` a sentence or None."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.name, self.remedy = error["code"], error["name"], error["remedy"]


class Ended(ProtocolError):
    """The server has closed the connection."""

    def __init__(self):
        super().__init__({"code": 0, "name": "ended", "message": "the server has ended the connection", "remedy": None})


def _numbers(value):
    """Whole numbers beyond 2^53 are strings in the protocol: those of time and of large counts become numbers again."""
    if isinstance(value, dict):
        return {key: int(item) if isinstance(item, str) and key != "name" and len(item) > 15 and item.lstrip("-").isdigit()
                else _numbers(item) for key, item in value.items()}
    return [_numbers(item) for item in value] if isinstance(value, list) else value


class Client:
    """A connection: to a server of its own (`command`), or to the socket of a running one. For one thread."""

    def __init__(self, path=None, command=("upmu", "serve", "--stdio"), timeout=60):
        self.timeout, self.notices, self.replies, self._buffer, self._number = timeout, [], {}, b"", 0
        self._process = self._socket = None
        if path is not None:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(path)
            self._in = self._out = self._socket.fileno()
        else:
            self._process = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
            self._in, self._out = self._process.stdout.fileno(), self._process.stdin.fileno()
        try:
            self.server = self.request("hello", protocol=PROTOCOL, client="python")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the connection. Programs that were started continue, and so do their recordings."""
        if self._socket:
            self._socket.close()
            self._socket = None
        if self._process:
            self._process.stdin.close()
            try:
                self._process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process.stdout.close()
            self._process = None

    # ---------------------------------------------------------------------------------------------- messages

    def send(self, method, **params):
        """Sends a request without waiting. Returns its id, for reply() and cancel()."""
        self._number += 1
        data = json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}).encode() + b"\n"
        while data:
            data = data[os.write(self._out, data):]
        return self._number

    def _read(self, until):
        """One more message, as a reply or a notice; False if the time is over."""
        while b"\n" not in self._buffer:
            if not select.select([self._in], [], [], max(0, until - time.monotonic()))[0]:
                return False
            part = os.read(self._in, 1 << 16)
            if not part:
                raise Ended()
            self._buffer += part
        line, self._buffer = self._buffer.split(b"\n", 1)
        message = json.loads(line)
        if "method" in message:
            self.notices.append(message)
        else:
            self.replies[message["id"]] = message
        return True

    def reply(self, number):
        """The result of a request that was sent. Raises ProtocolError, or TimeoutError."""
        until = time.monotonic() + self.timeout
        while number not in self.replies:
            if not self._read(until):
                raise TimeoutError("the server did not reply")
        message = self.replies.pop(number)
        if "error" in message:
            raise ProtocolError(message["error"])
        return _numbers(message["result"])

    def request(self, method, **params):
        """Sends a request and returns its result."""
        return self.reply(self.send(method, **params))

    def notice(self, seconds=None):
        """The next notice (a dict with "method" and "params"), or None if there is none in that time."""
        until = time.monotonic() + (self.timeout if seconds is None else seconds)
        while not self.notices:
            if not self._read(until):
                return None
        message = self.notices.pop(0)
        return {"method": message["method"], "params": _numbers(message["params"])}

    # ----------------------------------------------------------------------------------------------- methods

    def attach(self, pid=None, dir=None):
        """Attaches to a process, or to the directory of a recording. Returns the number of the target."""
        return self.request("attach", pid=pid, dir=dir and os.path.abspath(dir))["target"]

    def start(self, command, **params):
        """Starts a command and records it. `params`: cwd, env, mode, events, output, paused, sched."""
        return self.request("start", command=list(command), **params)["target"]

    def resume(self, target):
        """Records again: what was started paused, or stopped. Returns the number of processes."""
        return self.request("start", target=target)["started"]

    def stop(self, target):
        """Stops recording; the program continues. Returns the number of processes."""
        return self.request("stop", target=target)["stopped"]

    def status(self, target):
        return self.request("status", target=target)

    def detach(self, target):
        self.request("detach", target=target)

    def detect(self, target):
        """Deadlocks now: `found`, `stalled`, and `rows` as of `upmu deadlock --json`."""
        return self.request("detect", target=target)

    def rows(self, target, view, page=1000):
        """All rows of a view, page by page."""
        start = 0
        while start is not None:
            part = self.request("view", target=target, view=view, **{"from": start, "limit": page})
            yield from part["rows"]
            start = part["next"]

    def overview(self, target):
        return self.request("view", target=target, view="overview")["overview"]

    def export(self, target, format, path=None, **params):
        """Exports to a file. Returns its path; without `path` the file belongs to the server, which removes it at its end."""
        return self.request("export", target=target, format=format, path=path and os.path.abspath(path), **params)["path"]

    def cancel(self, number):
        """Ends a request that was sent. Returns whether it was still running."""
        return self.request("cancel", id=number)["canceled"]

    def updates(self, target, seconds=1, rows=100, events=None):
        """Live updates, as documents of `upmu top --json`, until the program ends."""
        number = self.request("subscribe", target=target, interval_ms=int(seconds * 1000), rows=rows, events=events)["subscription"]
        try:
            while True:
                message = self.notice(seconds + self.timeout)
                if message is None:
                    raise TimeoutError("the server sent no update")
                if message["params"]["subscription"] != number:
                    continue
                if message["method"] == "end":
                    if message["params"]["problem"]:
                        raise ProtocolError({"code": -32000, "name": "failed", "message": message["params"]["problem"],
                                             "remedy": None})
                    return
                yield message["params"]["top"]
        finally:
            if self._socket or self._process:
                self.request("unsubscribe", subscription=number)
