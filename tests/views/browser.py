# SPDX-License-Identifier: MIT
"""Chromium without a screen, steered over two pipes with its own protocol (DevTools): no package beside Debian's needed."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"]


def find():
    """The path of a Chromium, or None."""
    for name in (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        if name and shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    def __init__(self, width=1440, height=900, patience=120):
        self.patience = patience
        self.profile = tempfile.mkdtemp(prefix="upmu-views-")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        # The browser reads at 3 and writes at 4, wherever the pipes are now.
        def place():
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        for fd in (to_read, to_write):
            os.set_inheritable(fd, True)
        self.process = subprocess.Popen([find(), *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self.profile}",
                                         f"--window-size={width},{height}", "about:blank"], close_fds=False,
                                        preexec_fn=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "TMPDIR": self.profile})  # killed, it leaves files there
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.back, 1 << 20)
            if not part:
                raise RuntimeError("the browser is gone")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, on):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def run(self, script):
        """The value of an expression in the page; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def leave(self, script):
        """Run a script that leads to another page, and wait until that is loaded: meanwhile an expression may get no answer."""
        self.call("Runtime.evaluate", expression=f"setTimeout(() => {{ {script} }}, 50)")
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def until(self, script):
        end = time.monotonic() + self.patience
        while time.monotonic() < end:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.05)
        raise RuntimeError(f"in {self.patience} s it did not come: {script}")

    def open(self, path, view="overview"):
        """Open a report and wait until its view stands."""
        self.events = []
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}#{view}")
        self.until("document.documentElement?.dataset.ready === '1' || document.querySelector('#busy .bad') !== null")
        self.frame()

    def view(self, name):
        self.run(f"document.getElementById('tab-{name}').click()")
        self.frame()

    def frame(self):
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def key(self, key):
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, modifiers=0):
        self.mouse("mousePressed", x, y, button="left", clickCount=1, modifiers=modifiers)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1, modifiers=modifiers)
        self.frame()

    def drag(self, x0, y0, x1, y1, modifiers=0):
        self.mouse("mousePressed", x0, y0, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        for i in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 5, y0 + (y1 - y0) * i / 5, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1, modifiers=modifiers)
        self.frame()

    def wheel(self, x, y, by, modifiers=0):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by, modifiers=modifiers)
        self.frame()

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self):
        """What the page threw, logged as an error, asked of a network, or asked the user."""
        self.run("0")
        bad = []
        for e in self.events:
            method, p = e.get("method"), e.get("params", {})
            if method == "Runtime.exceptionThrown":
                bad.append(p["exceptionDetails"].get("exception", {}).get("description") or p["exceptionDetails"]["text"])
            elif method == "Log.entryAdded" and p["entry"]["level"] == "error":
                bad.append(p["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                bad.append("dialog: " + p["message"])
            elif method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:", "about:", "blob:")):
                bad.append("network: " + p["request"]["url"])
        return bad
