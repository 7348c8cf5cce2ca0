// SPDX-License-Identifier: MIT
// Texts of the catalogue in the language of the editor, and numbers as text.
"use strict";
const catalogue = require("../out/texts.json");

let chinese = false;

/* `language`: as the editor has it, "zh-cn". */
function speak(language) {
    chinese = language.toLowerCase().startsWith("zh");
}

function isChinese() {
    return chinese;
}

/* With its %1, %2, ... replaced. */
function text(name, ...values) {
    return catalogue[name][chinese ? 1 : 0].replace(/%(\d)/g, (_, n) => values[n - 1]);
}

function duration(ns) {
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]])
        if (ns >= size)
            return `${(ns / size).toPrecision(3)} ${unit}`;
    return `${Math.round(ns)} ns`;
}

module.exports = { speak, isChinese, text, duration };
