// SPDX-License-Identifier: MIT
// Makes what the extension needs of other folders: its texts of the catalogue data/texts, and the client bindings/typescript as
// JavaScript. TSC is the compiler; without it node_modules, then PATH is searched.
"use strict";
const fs = require("fs");
const path = require("path");
const { execFileSync } = require("child_process");

const root = path.join(__dirname, "..", "..");
const LITERALS = String.raw`((?:"(?:[^"\\]|\\.)*"\s*)+)`;

/* {name: [English, Chinese]} of one file of the catalogue. */
function catalogue(file) {
    const source = fs.readFileSync(path.join(root, "data", "texts", file), "utf8");
    const joined = (literals) => [...literals.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => JSON.parse(`"${text}"`)).join("");
    const entries = source.matchAll(new RegExp(String.raw`UPMU_TEXT\((\w+),\s*${LITERALS},\s*${LITERALS}\)`, "g"));
    return Object.fromEntries([...entries].map(([, name, english, chinese]) => [name, [joined(english), joined(chinese)]]));
}

function writeTexts() {
    const all = Object.assign({}, ...["common.inc", "plugin.inc", "vscode.inc"].map(catalogue));
    const manifest = fs.readFileSync(path.join(__dirname, "package.json"), "utf8");
    const wanted = [...manifest.matchAll(/"%(\w+)%"/g)].map(([, name]) => name);
    for (const name of wanted.filter((key) => !all[key]))
        throw new Error(`package.json: the catalogue has no text ${name}`);
    for (const [file, language] of [["package.nls.json", 0], ["package.nls.zh-cn.json", 1]])
        fs.writeFileSync(path.join(__dirname, file), JSON.stringify(Object.fromEntries(wanted.map((name) => [name, all[name][language]])), null, 4) + "\n");
    fs.writeFileSync(path.join(__dirname, "out", "texts.json"), JSON.stringify(all));
}

function compileClient() {
    const own = path.join(__dirname, "node_modules", ".bin", "tsc");
    const tsc = process.env.TSC || (fs.existsSync(own) ? own : "tsc");
    const client = path.join(__dirname, "out", "upmu.js");
    fs.rmSync(client, { force: true });
    try {
        execFileSync(tsc, ["--target", "es2020", "--module", "commonjs", "--skipLibCheck", "--outDir", path.join(__dirname, "out"),
            path.join(root, "bindings", "typescript", "upmu.ts")], { stdio: "pipe" });
    } catch (error) {
        if (!fs.existsSync(client))
            throw error;
        console.log("the client is compiled; without @types/node its types are not checked");
    }
}

fs.mkdirSync(path.join(__dirname, "out"), { recursive: true });
writeTexts();
compileClient();
