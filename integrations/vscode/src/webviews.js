// SPDX-License-Identifier: MIT
// What the webviews hold: the live view, and the HTML report with links that open lines.
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");
const { text, isChinese, duration } = require("./texts");

const LIVE_TEXTS = ["Thread", "Id", "Running", "Blocked", "SwitchesRate", "WaitsRate", "WaitsFor", "Where", "Lock", "Type", "Waiters", "Holder", "LiveStopped",
    "LivePartlyStopped"];

const FUNCTIONS_TEXTS = ["OwnShare", "WithCallees", "Samples", "Function", "Where"];

function inScript(value) {
    return JSON.stringify(value).replace(/</g, "\\u003c");
}

/* A page of this folder, with what it names between two @; scripts run that have the nonce. */
function template(file, nonce, values) {
    const all = { NONCE: nonce, ...values };
    return fs.readFileSync(path.join(__dirname, file), "utf8").replace(/@([A-Z]+)@/g, (_, name) => all[name]);
}

function newNonce() {
    return crypto.randomBytes(16).toString("hex");
}

function texts(names) {
    return inScript(Object.fromEntries(names.map((name) => [name, text(name)])));
}

function live() {
    return template("live.html", newNonce(), { TEXTS: texts(LIVE_TEXTS) });
}

/* Sampled functions, above the flame graph that the server has written to `file`. */
function functions(rows, file) {
    const samples = rows.reduce((sum, row) => sum + row.self_samples, 0), weight = rows.reduce((sum, row) => sum + row.self_weight, 0);
    const graph = fs.readFileSync(file, "utf8"), nonce = newNonce();
    return template("functions.html", nonce, {
        TEXTS: texts(FUNCTIONS_TEXTS),
        ROWS: inScript(rows),
        TOTALS: inScript(text("SampleTotals", samples, duration(weight))),
        GRAPH: graph.slice(graph.indexOf("<svg")).replace("<script>", `<script nonce="${nonce}">`),
    });
}

/* Before the page's own script: its language, and that an editor opens its lines. */
function pagePrelude() {
    return `<script>
location.hash = "#overview?lang=${isChinese() ? "zh" : "en"}&editor=ide";
const editorApi = acquireVsCodeApi();
document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='upmu-edit:']");
    if (!link)
        return;
    event.preventDefault();
    event.stopPropagation();
    editorApi.postMessage({ address: link.getAttribute("href") });
}, true);
</script>`;
}

/* The report that the server has written to `file`. */
function page(file) {
    const html = fs.readFileSync(file, "utf8");
    const at = html.indexOf("<style>");
    return html.slice(0, at) + pagePrelude() + html.slice(at);
}

/* {file, line} of a message of a webview; null if it is none. */
function lineOf(message) {
    if (message.open)
        return message.open;
    const [, file, line] = /^upmu-edit:(\/[^?]*)\?line=(\d+)$/.exec(message.address || "") || [];
    return file ? { file: decodeURI(file), line: Number(line) } : null;
}

module.exports = { functions, live, page, lineOf };
