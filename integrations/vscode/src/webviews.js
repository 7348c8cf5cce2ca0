// SPDX-License-Identifier: MIT
// What the webviews hold: the live view, and the HTML report with links that open lines.
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const path = require("path");
const { text, isChinese } = require("./texts");

const LIVE_TEXTS = ["Thread", "Id", "Running", "Blocked", "SwitchesRate", "WaitsRate", "WaitsFor", "Where", "Lock", "Type", "Waiters", "Holder"];

function live() {
    const texts = JSON.stringify(Object.fromEntries(LIVE_TEXTS.map((name) => [name, text(name)]))).replace(/</g, "\\u003c");
    const nonce = crypto.randomBytes(16).toString("hex");
    return fs.readFileSync(path.join(__dirname, "live.html"), "utf8").replaceAll("@NONCE@", nonce).replace("@TEXTS@", () => texts);
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

module.exports = { live, page, lineOf };
