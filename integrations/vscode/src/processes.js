// SPDX-License-Identifier: MIT
// Processes of this user, the newest first, and command lines as words.
"use strict";
const fs = require("fs");

function list() {
    const own = process.getuid();
    const all = [];
    for (const name of fs.readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
        try {
            const command = fs.readFileSync(`/proc/${name}/cmdline`, "utf8").replace(/\0/g, " ").trim();
            if (command && Number(name) !== process.pid && fs.statSync(`/proc/${name}`).uid === own)
                all.push({ pid: Number(name), command });
        } catch {
            continue; // it has ended
        }
    }
    return all.sort((a, b) => b.pid - a.pid);
}

/* As a shell splits them, without its expansions; null if a quote has no end. */
function words(line) {
    const found = [];
    let word = null, quote = null;
    for (let i = 0; i < line.length; i++) {
        const c = line[i];
        if (c === "\\" && quote !== "'" && i + 1 < line.length)
            word = (word ?? "") + line[++i];
        else if (quote && c === quote)
            quote = null;
        else if (quote)
            word += c;
        else if (c === "'" || c === '"') {
            quote = c;
            word = word ?? "";
        } else if (!/\s/.test(c))
            word = (word ?? "") + c;
        else if (word !== null) {
            found.push(word);
            word = null;
        }
    }
    if (word !== null)
        found.push(word);
    return quote ? null : found;
}

module.exports = { list, words };
