// SPDX-License-Identifier: MIT
// A stand-in for the editor's API: it keeps what the extension does with it, and gives what a user would.
"use strict";

function create() {
    const editor = { commands: new Map(), contexts: {}, problems: new Map(), panels: [], messages: [], opened: [], bar: null, executed: [], settings: {} };
    const nothing = { dispose() {} };
    const Range = class { constructor(line, column, endLine, endColumn) { Object.assign(this, { line, column, endLine, endColumn }); } };
    const api = {
        env: { language: "en" },
        Range,
        Location: class { constructor(uri, range) { Object.assign(this, { uri, range }); } },
        Diagnostic: class { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } },
        DiagnosticRelatedInformation: class { constructor(location, message) { Object.assign(this, { location, message }); } },
        ThemeColor: class { constructor(id) { this.id = id; } },
        DiagnosticSeverity: { Error: 0, Warning: 1 },
        StatusBarAlignment: { Left: 1 },
        ViewColumn: { One: 1, Beside: -2 },
        Uri: { file: (path) => ({ fsPath: path, scheme: "file" }) },
        languages: {
            createDiagnosticCollection: () => ({
                clear: () => editor.problems.clear(),
                set: (uri, all) => editor.problems.set(uri.fsPath, all),
                dispose() {},
            }),
        },
        workspace: { workspaceFolders: undefined, getConfiguration: () => ({ get: (name) => editor.settings[name] }) },
        commands: {
            registerCommand: (name, run) => { editor.commands.set(name, run); return nothing; },
            executeCommand: async (name, ...given) => {
                if (name === "setContext")
                    editor.contexts[given[0]] = given[1];
                else if (editor.commands.has(name))
                    return editor.commands.get(name)(...given);
                else
                    editor.executed.push(name);
            },
        },
        window: {
            createStatusBarItem: () => (editor.bar = { show() {}, dispose() {} }),
            showErrorMessage: async (message) => { editor.messages.push(message); },
            showInformationMessage: async (message) => { editor.messages.push(message); },
            showTextDocument: async (uri, how) => { editor.opened.push({ file: uri.fsPath, line: how.selection.line + 1 }); },
            createWebviewPanel: (type, title) => {
                const panel = { type, title, posted: [], ended: [], reveal() {} };
                panel.webview = {
                    postMessage: (message) => panel.posted.push(message),
                    onDidReceiveMessage: (receive) => { panel.receive = receive; return nothing; },
                };
                panel.onDidDispose = (run) => { panel.ended.push(run); return nothing; };
                panel.dispose = () => { editor.panels.splice(editor.panels.indexOf(panel), 1); panel.ended.forEach((run) => run()); };
                editor.panels.push(panel);
                return panel;
            },
        },
    };
    return { editor, api };
}

module.exports = { create };
