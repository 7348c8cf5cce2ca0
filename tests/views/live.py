# SPDX-License-Identifier: MIT
"""upmu top --serve in Chromium: it changes while the program runs, shows a deadlock, asks no other host, and Stop opens the report;
and what its server refuses.

live.py UPMU SCENE CORPUS WORK [AXE]
"""
import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.parse

from browser import Browser

upmu, scene, corpus, work = sys.argv[1:5]
axe = sys.argv[5] if len(sys.argv) > 5 else None  # axe-core's script, where it is installed


def wait_for(condition, what):
    until = time.monotonic() + 120
    while not (value := condition()):
        assert time.monotonic() < until, "not in time: " + what
        time.sleep(0.02)
    return value


@contextlib.contextmanager
def record(name, *command):
    """A recorded program: its process id. It ends with the block, also by a failed assertion."""
    recorder = subprocess.Popen([upmu, "record", "-o", f"{work}/{name}", "--", *command], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def begun():
        with open(f"/proc/{recorder.pid}/task/{recorder.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        return children and subprocess.run([upmu, "ctl", children[0], "status"], check=False, capture_output=True).returncode == 0 and int(children[0])
    pid = None
    try:
        pid = wait_for(begun, "the recording of " + name)
        yield pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid or recorder.pid, signal.SIGKILL)
        recorder.wait()


def refusals(url):
    """Without the token, by another name, from another page, or out of the folder: nothing."""
    parts = urllib.parse.urlparse(url)

    def ask(method, path, body=None, **headers):
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        status, text = answer.status, answer.read()
        connection.close()
        return status, text, answer.headers

    token = parts.query
    assert ask("GET", "/")[0] == 403 and ask("GET", "/?token=")[0] == 403 and ask("GET", f"/?{token}0")[0] == 403
    assert ask("GET", f"/?{token[:-1]}{'0' if token[-1] != '0' else '1'}")[0] == 403
    assert ask("GET", f"/?{token}", Host="example.com")[0] == 403
    assert ask("GET", f"/?{token}", Origin="http://example.com")[0] == 403
    status, page, headers = ask("GET", f"/?{token}")
    assert status == 200 and b"<!DOCTYPE html>" in page and "default-src 'none'" in headers["Content-Security-Policy"]
    for path in ("/report/../secret", "/report/", "/report/.", "/report/%2e%2e", "/nothing"):
        assert ask("GET", f"{path}?{token}")[0] == 404, path
    assert ask("POST", f"/request?{token}&session=none", b"{}")[0] == 404
    assert ask("PUT", f"/?{token}")[0] == 404
    # An event stream as the page has it, by hand.
    stream = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    stream.request("GET", f"/events?{token}")
    events = stream.getresponse()
    assert events.status == 200 and events.readline() == b"event: session\n"
    session = events.readline().split()[1].decode()
    events.readline()

    def request(method, **params):
        body = json.dumps({"id": 1, "method": method, "params": params}).encode()
        assert ask("POST", f"/request?{token}&session={session}", body)[0] == 202
        line = events.readline()
        events.readline()
        return json.loads(line[6:])

    for method, params in (("start", {"command": ["true"]}), ("attach", {"pid": 1}), ("detach", {"target": 1}),
                           ("export", {"target": 1, "format": "csv", "path": f"{work}/out"})):
        assert request(method, **params)["error"]["name"] == "denied", method
    assert request("hello")["result"]["target"] == 1
    stream.close()


@contextlib.contextmanager
def serve(*words, end):
    """The address of a server, which has to end by the signal `end`."""
    with subprocess.Popen([upmu, "top", "--serve", *words], stdout=subprocess.PIPE, text=True) as top:
        try:
            yield top.stdout.readline().strip()
            top.send_signal(end)
            assert top.wait(120) == 0
        finally:
            top.kill()


def open_page(browser, url):
    browser.events = []
    browser.call("Page.navigate", url=url)
    browser.until("Number(document.documentElement?.dataset.updates ?? 0) >= 2")


# Names of the program and its counters, kinds of objects, functions with their files, and units.
WORDS = r"[\w:]+ \w+\.c:\d+|upmu|top|mutex|cond|sem|join|thread|the till|customer|sleep|clock_nanosleep|task-clock|main|scene|two::a|two::b|CPU|0x[0-9a-f]+|[\w.-]+\+0x[0-9a-f]+|\d(?:\.\d+)? ?[kMGmun]?s?"


def chinese(browser, where):
    """The switch makes the page Chinese, and leaves no English; and back."""
    browser.leave("document.getElementById('language').click()")
    browser.until("document.documentElement?.lang === 'zh-CN' && Number(document.documentElement.dataset.updates ?? 0) >= 2")
    left = browser.run("[...document.querySelectorAll('th, h2, button:not(#language), #state, #deadlocks, td.wide:last-child, #title')].map((e) => e.innerText).join('\\n')")
    names = browser.run("[...document.querySelectorAll('#threads td:first-child, #locks td:first-child, #idle td:first-child, #counters td:first-child')].map((e) => e.innerText)")
    text = left
    left = re.sub(WORDS, " ", left)
    for name in filter(None, names):
        left = left.replace(name, " ")
    english = re.findall("[A-Za-z]{2,}", left)
    assert not english, (where, english, left)
    assert re.search("[\u4e00-\u9fff]{2}", left)
    browser.shot(f"{work}/{where}-zh.png")
    browser.leave("document.getElementById('language').click()")
    browser.until("document.documentElement?.lang === 'en' && Number(document.documentElement.dataset.updates ?? 0) >= 2")
    return text


def accessible(browser):
    """axe-core finds nothing wrong, light, dark and narrow."""
    if axe:
        with open(axe, encoding="utf-8") as script:
            browser.run(script.read() + ";0")
        for dark, width in ((False, 1440), (True, 1440), (True, 390), (False, 390)):
            browser.dark(dark)
            browser.size(width, 900)
            found = browser.run("axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)]))")
            assert found == [], (dark, width, found)
        browser.dark(False)
        browser.size(1440, 900)


def live(browser, pid):
    for address in ("0.0.0.0:0", "192.0.2.1:80", "x", "65536", "example.com:80"):
        refused = subprocess.run([upmu, "top", "--serve=" + address, "-p", str(pid)], check=False, capture_output=True, text=True)
        assert refused.returncode == 1 and "is not an address" in refused.stderr, (address, refused)
    with serve("-e", "task-clock", "-p", str(pid), end=signal.SIGINT) as url:
        stops(browser, url, pid)
        watch(browser, url)
        os.kill(pid, 0)  # the program continues, and it can be recorded again
        assert subprocess.run([upmu, "ctl", str(pid), "start"], check=False).returncode == 0


def stops(browser, url, pid):
    """The line of the state has that recording is stopped, and not once it is started again."""
    open_page(browser, url)
    assert "stopped" not in browser.run("document.getElementById('state').textContent")
    assert subprocess.run([upmu, "ctl", str(pid), "stop"], check=False, stdout=subprocess.DEVNULL).returncode == 0
    browser.until("document.getElementById('state').textContent.endsWith(', recording is stopped')")
    chinese(browser, "stopped")
    assert subprocess.run([upmu, "ctl", str(pid), "start"], check=False, stdout=subprocess.DEVNULL).returncode == 0
    browser.until("!document.getElementById('state').textContent.includes('stopped')")


def watch(browser, url):
    """The page from its first update to the report."""
    assert url.startswith("http://127.0.0.1:"), url
    refusals(url.split("&")[0])
    open_page(browser, url)
    browser.until("document.getElementById('threads').textContent.includes('customer')")
    browser.until("document.getElementById('locks').textContent.includes('mutex the till')")
    browser.until("document.getElementById('idle').textContent.includes('sleep')")
    assert "sleep" not in browser.run("document.getElementById('locks').textContent")
    browser.until("/held by \\d+/.test(document.getElementById('threads').textContent)")
    browser.until("document.getElementById('counters').textContent.includes('task-clock')")
    assert browser.run("document.getElementById('deadlocks').textContent") == ""
    browser.until("document.querySelector('#locks polyline').getAttribute('points').split(' ').length >= 2")
    seen = browser.run("document.documentElement.dataset.updates")
    browser.until(f"Number(document.documentElement.dataset.updates) > {seen}")
    assert browser.run("[duration(999999999), duration(999400), amount(999999), amount(999)]") == ["1.00 s", "999 us", "1.00 M", "999"]
    for width in (390, 1440):
        browser.size(width, 900)
        assert browser.run("document.documentElement.scrollWidth <= window.innerWidth"), f"wider than {width}"
    browser.shot(f"{work}/live.png")
    accessible(browser)
    chinese(browser, "waits")
    browser.run("document.getElementById('stop').click()")
    browser.until("location.pathname.startsWith('/report/') && document.documentElement?.dataset.ready === '1'")
    assert "the till" in browser.run("document.body.textContent")
    own = url.split("/?")[0]
    foreign = [c for c in browser.complaints() if not c.startswith("network: " + own)]
    assert not foreign, foreign


def deadlocked(browser, pid):
    with serve("-p", str(pid), end=signal.SIGTERM) as url:
        browser.call("Page.navigate", url=url)
        browser.until("document.getElementById('deadlocks')?.textContent.includes('2 threads wait for each other')")
        assert browser.run("getComputedStyle(document.getElementById('deadlocks')).backgroundColor") == "rgb(164, 14, 38)"
        browser.shot(f"{work}/deadlock.png")
        assert "2 \u4e2a\u7ebf\u7a0b\u4e92\u76f8\u7b49\u5f85" in chinese(browser, "deadlock")


with Browser() as chromium:
    with record("busy", scene, "busy", "600000") as running:
        live(chromium, running)
    with record("stuck", corpus, "cross_normal", f"{work}/stuck.pid") as stuck:
        deadlocked(chromium, stuck)
