// SPDX-License-Identifier: MIT
// The live page: a program that is being recorded, each second.

const HISTORY = 60;
const ROUNDED = 0.9995; // what three digits show as 1000 is 1 of the next unit
const token = new URLSearchParams(location.search).get("token");
const waiting = new Map();
const recent = new Map();
let session = null, target = null, number = 0, before = null;

/* One request of the protocol; its reply comes by the event stream. */
function ask(method, params) {
    const id = ++number;
    const reply = new Promise((done, failed) => waiting.set(id, { done, failed }));
    fetch(`/request?token=${token}&session=${session}`, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id, method, params }) })
        .then((answer) => { if (!answer.ok) throw new Error(tr("the server refused: %1", answer.status)); })
        .catch((problem) => { waiting.get(id)?.failed(problem); waiting.delete(id); });
    return reply;
}

function byId(id) {
    return document.getElementById(id);
}

function duration(ns) {
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
        if (ns >= size * ROUNDED)
            return `${(ns / size).toPrecision(3)} ${unit}`;
    return `${Math.round(ns)} ns`;
}

function amount(n) {
    for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]])
        if (n >= size * ROUNDED)
            return `${(n / size).toPrecision(3)} ${unit}`;
    return n >= 10 || n === 0 ? n.toFixed(0) : n.toPrecision(2);
}

const percent = (share) => share === null ? "-" : `${(share * 100).toFixed(1)} %`;

/* The waiting time of the last updates, as a line. */
function curve(key, value) {
    const values = recent.get(key) ?? [];
    values.push(value);
    if (values.length > HISTORY)
        values.shift();
    recent.set(key, values);
    const most = Math.max(...values, 1e-9);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    svg.setAttribute("width", "90");
    svg.setAttribute("height", "16");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", tr("at most %1 per second", duration(most * 1e9)));
    line.setAttribute("points", values.map((v, i) => `${(i * 90) / HISTORY},${15 - (v / most) * 14}`).join(" "));
    svg.append(line);
    return svg;
}

/* `columns`: [title, is a number, class]. Texts become text nodes: names of a program are never markup. */
function table(id, columns, rows) {
    const head = document.createElement("tr");
    for (const [title, isNumber] of columns) {
        const cell = document.createElement("th");
        cell.scope = "col";
        cell.className = isNumber ? "n" : "";
        cell.textContent = title;
        head.append(cell);
    }
    byId(id).replaceChildren(head, ...rows.map((row) => {
        const line = document.createElement("tr");
        row.forEach((value, i) => {
            const cell = document.createElement("td");
            cell.className = columns[i][1] ? "n" : columns[i][2] ?? "";
            cell.append(value);
            line.append(cell);
        });
        return line;
    }));
}

function waitText(wait, now) {
    if (!wait)
        return "";
    const object = wait.type === "call" ? wait.name : `${wait.type} ${wait.name ?? wait.address}`;
    const held = wait.holder === null ? object : wait.kind === "join" ? `${object} ${wait.holder}` : tr("%1, held by %2", object, wait.holder);
    const text = tr("%1, for %2", held, duration(Math.max(0, now - Number(wait.since_ns))));
    return wait.site ? tr("%1, at %2", text, wait.site) : text;
}

function showCounters(top, seconds) {
    byId("counted").hidden = top.counters.length === 0;
    const old = new Map((before?.counters ?? []).map((c) => [c.name, c.total]));
    table("counters", [[tr("Counter"), false], [tr("Per second"), true]], top.counters.map((c) => {
        const was = old.get(c.name);
        const known = c.total.value !== null && was && was.value !== null;
        const shown = /^(task|cpu)-clock/.test(c.name) ? duration : amount;
        return [c.name, known ? (c.total.status === "scaled" ? "~" : "") + shown((Number(c.total.value) - Number(was.value)) / seconds)
            : c.total.value === null ? tr(c.total.status) : ""];
    }));
}

function showLocks(id, title, locks, seconds) {
    table(id, [[title, false, "wide"], [tr("Waiting per second"), true], [tr("Waits/s"), true], [tr("Waiters"), true], [tr("Holder"), true],
        [tr("Total"), true], [tr("Last updates"), false]],
    locks.map((l) => [l.type === "call" ? l.name : `${l.type} ${l.name ?? l.address}`, duration(Number(l.waited_ns) / seconds), amount(l.waits / seconds),
        `${l.waiters}`, l.holder === null ? "" : `${l.holder}`, duration(Number(l.total_ns)),
        curve(`${l.pid} ${l.address} ${l.generation}`, Number(l.waited_ns) / 1e9 / seconds)]));
}

/* While recording is stopped there is nothing about locks to show. Without a recorder the number is null. */
function stopped(top) {
    const n = Number(top.stopped_processes ?? 0);
    const all = new Set(top.threads.map((t) => t.pid)).size;
    return n === 0 || !top.running ? "" : n >= all ? tr(", recording is stopped") : tr(", recording of some processes is stopped");
}

function show(top, dropped) {
    const seconds = Math.max(Number(top.interval_ns) / 1e9, 1e-9), now = Number(top.time_ns);
    byId("state").textContent = tr(top.running ? "running, %1 threads, %2 events/s" : "ended, %1 threads, %2 events/s", top.all_threads,
        amount(Number(top.events) / seconds)) + (dropped ? tr(", %1 updates left out", dropped) : "") + (Number(top.missed_packets) ? tr(", events missed") : "")
        + stopped(top);
    byId("deadlocks").replaceChildren(...top.deadlocks.map((d) => {
        const box = document.createElement("div");
        box.append(tr("Deadlock in process %1: %2", d.pid, deadlockHeadline(d.headline)), ...d.threads.map((t) => {
            const line = document.createElement("div");
            line.textContent = deadlockThread(t.text);
            return line;
        }));
        return box;
    }));
    showCounters(top, seconds);
    table("threads", [[tr("Thread"), false], [tr("Id"), true], [tr("On CPU"), true], [tr("Preempted"), true], [tr("Blocked"), true],
        [tr("Switches/s"), true], [tr("Involuntary/s"), true], [tr("Waiting"), true], [tr("Waits for"), false, "wide"]],
    top.threads.map((t) => [t.name ?? "", `${t.tid}`, percent(t.running), percent(t.preempted), percent(t.blocked),
        t.voluntary === null ? "-" : amount((t.voluntary + t.involuntary) / seconds), t.involuntary === null ? "-" : amount(t.involuntary / seconds),
        percent(Number(t.waited_ns) / 1e9 / seconds), waitText(t.waits_for, now)]));
    const isIdle = (l) => l.type === "call" || l.type === "thread";
    showLocks("locks", tr("Lock"), top.locks.filter((l) => !isIdle(l)), seconds);
    showLocks("idle", tr("Call or thread"), top.locks.filter(isIdle), seconds);
    before = top;
    document.documentElement.dataset.updates = Number(document.documentElement.dataset.updates ?? 0) + 1;
}

function fail(problem) {
    byId("state").textContent = problem.message;
}

async function begin() {
    try {
        const hello = await ask("hello", { protocol: "1.0", client: "page" });
        target = hello.target;
        const status = await ask("status", { target });
        byId("title").textContent = tr("upmu top: process %1", status.pid);
        document.title = byId("title").textContent;
        byId("stop").disabled = false;
        await ask("subscribe", { target, events: new URLSearchParams(location.search).get("events") });
    } catch (problem) {
        fail(problem);
    }
}

byId("stop").addEventListener("click", async () => {
    byId("stop").disabled = true;
    try {
        byId("state").textContent = tr("making the report");
        await ask("stop", { target });
        const report = await ask("export", { target, format: "html" });
        location.assign(`/report/${report.path.split("/").pop()}?token=${token}${location.hash}`);
    } catch (problem) {
        fail(problem);
        byId("stop").disabled = false;
    }
});

translatePage();
byId("language").addEventListener("click", () => speak(LANGUAGE === "zh" ? "en" : "zh"));
const stream = new EventSource(`/events?token=${token}`);
stream.addEventListener("session", (event) => {
    session = event.data;
    begin();
});
stream.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    if (message.method === "update") {
        show(message.params.top, Number(message.params.dropped));
    } else if (message.method === "end") {
        if (message.params.problem)
            fail({ message: message.params.problem });
    } else {
        const one = waiting.get(message.id);
        waiting.delete(message.id);
        if (message.error)
            one?.failed(new Error(message.error.message));
        else
            one?.done(message.result);
    }
});
stream.addEventListener("error", () => {
    stream.close();
    fail({ message: tr("the connection has ended") });
});
