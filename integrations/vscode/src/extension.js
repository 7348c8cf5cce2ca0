// SPDX-License-Identifier: MIT
// The extension: commands, status bar, problems and webviews over a session of the protocol.
"use strict";
const fs = require("fs");
const path = require("path");
const vscode = require("vscode");
const { Client } = require("../out/upmu.js");
const { ofDeadlocks, ofReport } = require("./diagnostics");
const { list, words } = require("./processes");
const { Session } = require("./session");
const { speak, text } = require("./texts");
const { functions, live, page, lineOf } = require("./webviews");

class Extension {
    constructor(context) {
        this.context = context;
        this.problems = vscode.languages.createDiagnosticCollection("upmu");
        this.bar = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 0);
        this.bar.command = "upmu.menu";
        this.panels = new Map();
        this.deadlocked = false;
        this.session = new Session(() => Client.open(undefined, [this.setting("command"), "serve", "--stdio"]));
        this.session.on("state", () => this.showState());
        this.session.on("update", (top) => this.panels.get("live")?.webview.postMessage(plain(top)));
        this.session.on("detected", (rows) => this.showDeadlocks(rows));
        this.session.on("report", (report) => this.showReport(report));
        this.session.on("failed", (message) => vscode.window.showErrorMessage(`upmu: ${message}`));
        const commands = { start: this.start, attach: this.attach, open: this.openRecording, stop: this.stop, detect: this.detect,
            live: this.showLive, page: this.showPage, menu: this.menu };
        context.subscriptions.push(this.problems, this.bar,
            ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`upmu.${name}`, (...given) => run.apply(this, given))));
        this.showState();
        this.bar.show();
    }

    setting(name) {
        return vscode.workspace.getConfiguration("upmu").get(name);
    }

    /* Commands ask only for what they are not given. */
    async start(given) {
        const before = this.context.workspaceState.get("program", "");
        const line = given ?? await vscode.window.showInputBox({ prompt: text("AskCommand"), value: before });
        const command = line ? words(line) : null;
        if (line && !command)
            vscode.window.showErrorMessage(text("BadArguments"));
        if (!command || command.length === 0)
            return;
        await this.context.workspaceState.update("program", line);
        const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
        this.begin();
        await this.session.start(command, { output: this.newRecording(), mode: this.setting("mode"), ...(this.setting("events") && { events: this.setting("events") }),
            ...(folder && { cwd: folder }) });
    }

    /* A directory of the workspace's storage that does not exist. */
    newRecording() {
        const storage = (this.context.storageUri ?? this.context.globalStorageUri).fsPath;
        fs.mkdirSync(storage, { recursive: true });
        return path.join(storage, `recording-${new Date().toISOString().replace(/[:.]/g, "-")}`);
    }

    async attach(given) {
        const pid = given ?? (await vscode.window.showQuickPick(
            list().map((process) => ({ label: String(process.pid), description: process.command })),
            { placeHolder: text("AskProcess"), matchOnDescription: true }))?.label;
        if (pid === undefined)
            return;
        this.begin();
        await this.session.attach(Number(pid), this.newRecording());
    }

    async openRecording(given) {
        const directory = given ?? (await vscode.window.showOpenDialog({ canSelectFolders: true, canSelectFiles: false }))?.[0]?.fsPath;
        if (!directory)
            return;
        this.begin();
        await this.session.attach(directory);
    }

    begin() {
        this.problems.clear();
        this.deadlocked = false;
        this.panels.get("page")?.dispose();
    }

    stop() {
        return this.session.stop();
    }

    detect() {
        return this.session.detect();
    }

    async menu() {
        const { session } = this;
        const offered = [[session.canStart, "start", "Start"], [session.canStart, "attach", "Attach"], [session.canStart, "open", "OpenRecording"],
            [session.canStop, "stop", "Stop"], [session.canDetect, "detect", "Detect"], [true, "live", "ShowLive"], [session.report, "page", "ShowPage"]];
        const titles = { Start: text("Start"), Attach: text("Attach"), OpenRecording: text("OpenRecording"), Stop: text("Stop"),
            Detect: text("Detect"), ShowLive: text("ShowLive"), ShowPage: text("ShowPage") };
        const picked = await vscode.window.showQuickPick(offered.filter(([can]) => can).map(([, command, title]) => ({ label: titles[title], command })));
        if (picked)
            await vscode.commands.executeCommand(`upmu.${picked.command}`);
    }

    /* ----------------------------------------------------------------------------------------------- what is shown */

    showState() {
        const { state, pid, canStart, canStop, canDetect, report } = this.session;
        this.bar.text = this.deadlocked ? text("BarDeadlock")
            : state === "recording" ? text("BarRecording", pid)
            : state === "attached" ? text("BarAttached", pid)
            : state === "starting" || state === "stopping" ? text("BarBusy") : "upmu";
        this.bar.tooltip = text("Menu");
        this.bar.backgroundColor = this.deadlocked ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
        for (const [key, value] of Object.entries({ canStart, canStop, canDetect, hasReport: Boolean(report) }))
            vscode.commands.executeCommand("setContext", `upmu.${key}`, value);
        if (state === "recording" || state === "attached")
            this.showLive();
    }

    showDeadlocks(rows) {
        this.deadlocked = rows.length > 0;
        this.setProblems(ofDeadlocks(rows));
        this.showState();
        if (this.deadlocked)
            vscode.commands.executeCommand("workbench.actions.view.problems");
        else
            vscode.window.showInformationMessage(text("NoDeadlock"));
    }

    showReport(report) {
        if (!report.functions) {
            this.deadlocked = report.deadlocks.length > 0;
            this.setProblems(ofReport(report));
        }
        this.showState();
        return this.showPage();
    }

    setProblems(found) {
        const files = new Map();
        for (const problem of found) {
            const severity = problem.isError ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
            const diagnostic = new vscode.Diagnostic(lineRange(problem.line), problem.message, severity);
            diagnostic.source = "upmu";
            diagnostic.relatedInformation = problem.related.map((at) =>
                new vscode.DiagnosticRelatedInformation(new vscode.Location(vscode.Uri.file(at.file), lineRange(at.line)), at.message));
            files.set(problem.file, [...(files.get(problem.file) || []), diagnostic]);
        }
        this.problems.clear();
        for (const [file, all] of files)
            this.problems.set(vscode.Uri.file(file), all);
    }

    panel(name, title, html) {
        let panel = this.panels.get(name);
        if (!panel) {
            panel = vscode.window.createWebviewPanel(`upmu.${name}`, title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
                { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [] });
            panel.onDidDispose(() => this.panels.delete(name));
            panel.webview.onDidReceiveMessage((message) => openLine(lineOf(message)));
            panel.webview.html = html();
            this.panels.set(name, panel);
        }
        panel.reveal(undefined, true);
    }

    showLive() {
        this.panel("live", text("Live"), live);
    }

    async showPage() {
        try {
            const file = await this.session.page();
            const { functions: rows } = this.session.report;
            this.panel("page", text("Page"), () => (rows ? functions(plain(rows), file) : page(file)));
        } catch (error) {
            vscode.window.showErrorMessage(`upmu: ${error.message}`);
        }
    }
}

function lineRange(line) {
    return new vscode.Range(line - 1, 0, line - 1, Number.MAX_SAFE_INTEGER);
}

async function openLine(at) {
    if (at)
        await vscode.window.showTextDocument(vscode.Uri.file(at.file), { selection: new vscode.Range(at.line - 1, 0, at.line - 1, 0), viewColumn: vscode.ViewColumn.One });
}

/* Messages to a webview are JSON, which has no bigint. */
function plain(value) {
    return JSON.parse(JSON.stringify(value, (_, item) => (typeof item === "bigint" ? Number(item) : item)));
}

let extension = null;

function activate(context) {
    speak(vscode.env.language);
    extension = new Extension(context);
}

/* Programs that were started continue, and so do their recordings. */
async function deactivate() {
    await extension?.session.close();
    extension = null;
}

module.exports = { activate, deactivate };
