// SPDX-License-Identifier: MIT
// The extension with a stand-in for the editor, the real `upmu serve` (UPMU) and a program with a contention and a deadlock (TILL):
// start, live view, deadlock while it hangs, stop, page, lines that open, attach without a recorder with its samples. Argument: a folder to write in.
"use strict";
const assert = require("assert");
const fs = require("fs");
const Module = require("module");
const vm = require("vm");
const { spawn } = require("child_process");
const { create } = require("./editor");

const [folder] = process.argv.slice(2);
const { UPMU, TILL } = process.env;
const { editor, api } = create();
const load = Module._load;
Module._load = (request, ...more) => (request === "vscode" ? api : load(request, ...more));
const { activate, deactivate } = require("../src/extension");
const { words } = require("../src/processes");
const { lineOf } = require("../src/webviews");
const { speak, text } = require("../src/texts");

async function until(condition, what) {
    for (const end = Date.now() + 120000; !condition();) {
        assert(Date.now() < end, `not reached: ${what}; messages: ${editor.messages.join(" ")}`);
        await new Promise((done) => setTimeout(done, 20));
    }
}

const context = { subscriptions: [], globalStorageUri: { fsPath: `${folder}/storage` }, workspaceState: { get: () => "", update: async () => undefined } };
const panel = (type) => editor.panels.find((p) => p.type === type);
const problems = (severity) => [...editor.problems].flatMap(([file, all]) => all.filter((d) => d.severity === severity).map((d) => ({ file, ...d })));
const run = (name, ...given) => api.commands.executeCommand(`upmu.${name}`, ...given);

function deadlock() {
    const found = problems(api.DiagnosticSeverity.Error).filter((d) => d.message.startsWith("Deadlock: thread"));
    assert(found.length >= 2 && found.every((d) => d.file.endsWith("till.c") && d.range.line > 0), JSON.stringify(found));
    return found;
}

/* What the live view shows of an update, by its own script. */
function shown(html, top) {
    const element = () => ({ textContent: "", append() {}, replaceChildren() {}, addEventListener() {}, children: [] });
    const elements = { texts: { textContent: /id="texts">(.*)<\/script>/.exec(html)[1] } };
    let receive;
    vm.runInNewContext(/<script nonce="[0-9a-f]+">([^]*?)<\/script>/.exec(html)[1], {
        acquireVsCodeApi: () => ({}),
        document: { getElementById: (id) => (elements[id] ??= element()), createElement: element },
        window: { addEventListener: (_, run) => { receive = run; } },
    });
    receive({ data: top });
    return elements;
}

async function recorded() {
    const flag = `${folder}/flag`;
    assert.deepStrictEqual([editor.contexts["upmu.canStart"], editor.contexts["upmu.canStop"]], [true, false]);
    await run("start", `'${TILL}' ${flag}`);
    assert.strictEqual(editor.messages.length, 0, editor.messages.join(" "));
    const [pid] = editor.bar.text.match(/\d+$/);
    assert.strictEqual(editor.bar.text, `upmu: recording ${pid}`);
    assert.deepStrictEqual([editor.contexts["upmu.canStart"], editor.contexts["upmu.canStop"]], [false, true]);
    const updates = () => panel("upmu.live").posted;
    await until(() => updates().some((top) => top.locks.some((lock) => lock.name === "till" && lock.waits > 0)), "the lock in the live view");
    assert(updates().some((top) => top.threads.some((thread) => thread.name === "clerk")));
    const live = panel("upmu.live").webview.html, last = { ...updates().at(-1), running: true };
    assert.strictEqual(shown(live, { ...last, stopped_processes: 1 }).stopped.textContent, text("LiveStopped"));
    assert.strictEqual(shown(live, { ...last, stopped_processes: 0 }).stopped.textContent, "");
    fs.writeFileSync(flag, "");
    await until(() => editor.bar.text === "upmu: deadlock", "the deadlock");
    const [first] = deadlock();
    assert(first.relatedInformation.some((at) => at.message.includes("acquired at both till.c:")), JSON.stringify(first));
    process.kill(Number(pid), 0); // it hangs
    assert.strictEqual(fs.readdirSync(`${folder}/storage`).length, 1);
    await run("stop");
    await until(() => panel("upmu.page"), "the page");
    process.kill(Number(pid), 0); // only recording has stopped
    deadlock();
    assert(problems(api.DiagnosticSeverity.Warning).some((d) => d.message.includes("till") && d.file.endsWith("till.c")));
    const { html } = panel("upmu.page").webview;
    assert(html.indexOf("acquireVsCodeApi") < html.indexOf("const CHINESE") && html.includes("editor=ide"), "the page has no link to the editor");
    await panel("upmu.page").receive({ address: `upmu-edit:${encodeURI(first.file)}?line=33` });
    await panel("upmu.live").receive({ open: { file: first.file, line: 34 } });
    assert.deepStrictEqual(editor.opened, [{ file: first.file, line: 33 }, { file: first.file, line: 34 }]);
    process.kill(Number(pid), "SIGKILL");
    return flag;
}

/* Samples of a process without a recorder: the line that its threads spend their time at, and the flame graph. */
async function sampled(folder) {
    const program = spawn(TILL, [`${folder}/contends`], { stdio: "ignore" });
    try {
        panel("upmu.live").posted.length = 0;
        await run("attach", program.pid);
        assert.strictEqual(editor.messages.length, 0, editor.messages.join(" "));
        await until(() => panel("upmu.live").posted.length >= 3, "updates of the live view");
        await run("stop");
        await until(() => panel("upmu.page"), "the sampled functions");
        process.kill(program.pid, 0); // only sampling has stopped
        const { html } = panel("upmu.page").webview;
        const [, rows] = JSON.parse(/id="data">(.*)<\/script>/.exec(html)[1]);
        const work = rows.find((row) => row.name === "work");
        assert(work && work.self_samples > 0 && work.file.endsWith("till.c") && work.line > 0, JSON.stringify(rows.slice(0, 5)));
        assert(/<svg[^]*work[^]*<script nonce="[0-9a-f]+">/.test(html) && !/@[A-Z]+@/.test(html), "no flame graph");
        await panel("upmu.page").receive({ open: { file: work.file, line: work.line } });
        assert.deepStrictEqual(editor.opened.pop(), { file: work.file, line: work.line });
    } finally {
        program.kill("SIGKILL");
    }
}

/* The flag is there: this one deadlocks at once. */
async function attached(flag) {
    const program = spawn(TILL, [flag], { stdio: "ignore" });
    try {
        panel("upmu.live").posted.length = 0;
        await run("attach", program.pid);
        assert.strictEqual(editor.bar.text, `upmu: attached to ${program.pid}`);
        await until(() => panel("upmu.live").posted.some((top) => top.threads.filter((t) => t.waits_for && t.waits_for.kind === "futex").length >= 2),
            "threads that wait for a futex");
        for (const end = Date.now() + 120000; editor.problems.size === 0;) { // until both of its threads wait for each other
            assert(Date.now() < end, "no deadlock by process id");
            await run("detect");
        }
        editor.messages.length = 0; // that none was found before
        deadlock();
        await run("stop");
        await until(() => panel("upmu.page")?.webview.html.includes("<svg"), "the flame graph of a program that hangs");
        assert.strictEqual(editor.contexts["upmu.canStart"], true);
    } finally {
        program.kill("SIGKILL");
    }
}

async function refusals() {
    await run("attach", 2 ** 22 - 1);
    assert(editor.messages.length === 1 && editor.contexts["upmu.canStart"], editor.messages.join(" "));
    await run("start", "'unfinished");
    assert.strictEqual(editor.messages.pop(), text("BadArguments"));
    await deactivate();
    editor.settings.command = "/nonexistent/upmu";
    activate(context);
    await run("start", TILL);
    assert(editor.messages.pop().includes("ENOENT"));
}

function pieces() {
    assert.deepStrictEqual(words(`a  "b c" 'd"e' f\\ g ""`), ["a", "b c", 'd"e', "f g", ""]);
    assert.strictEqual(words("'open"), null);
    assert.deepStrictEqual(lineOf({ address: "upmu-edit:/a%20b/c.c?line=7" }), { file: "/a b/c.c", line: 7 });
    assert.strictEqual(lineOf({ address: "file:///a?line=7" }), null);
    const manifest = ["package.nls.json", "package.nls.zh-cn.json"].map((file) => JSON.parse(fs.readFileSync(`${__dirname}/../${file}`, "utf8")));
    assert(manifest[0].Start === "Start..." && /[\u4e00-\u9fff]/.test(manifest[1].Start));
    speak("zh-cn");
    assert(/[\u4e00-\u9fff]/.test(text("BarRecording", 1)));
    speak("en");
}

async function main() {
    editor.settings = { command: UPMU, mode: "holders", events: "" };
    pieces();
    activate(context);
    const flag = await recorded();
    await sampled(folder);
    await attached(flag);
    await refusals();
    await deactivate();
}

main().then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
});
