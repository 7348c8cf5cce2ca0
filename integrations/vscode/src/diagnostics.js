// SPDX-License-Identifier: MIT
// Facts of the protocol as problems: {file, line, isError, message, related: [{file, line, message}]}.
"use strict";
const { text, duration } = require("./texts");

const LOCKS_MOST = 20;

/* The functions of a stack: of `upmu deadlock --json` one frame each, of `upmu report --json` several for each location. */
function frames(stack) {
    return (stack || []).flatMap((at) => (at.functions || [at]).filter((f) => !f.wrapper));
}

/* The first frame with a source line. */
function line(stack) {
    return frames(stack).find((frame) => frame.file && frame.file.startsWith("/") && frame.line > 0) || null;
}

function label(frame) {
    return frame ? `${frame.function || "?"} ${frame.file.split("/").pop()}:${frame.line}` : "?";
}

function related(stack, message) {
    const at = line(stack);
    return at ? [{ file: at.file, line: at.line, message: message(label(at)) }] : [];
}

function ofThread(thread) {
    const at = line(thread.stack);
    return at && {
        file: at.file,
        line: at.line,
        isError: true,
        message: text("IssueThreadWaits", thread.tid, thread.name || "", thread.description),
        related: [
            ...(thread.holds || []).flatMap((hold) => related(hold.acquired_at, (place) => `${text("Holds", hold.description)}, ${text("AcquiredAt", place)}`)),
            ...frames(thread.stack).filter((frame) => frame.file && frame.line > 0 && frame !== at)
                .map((frame) => ({ file: frame.file, line: frame.line, message: label(frame) })),
        ],
    };
}

function ofDeadlocks(rows) {
    return rows.flatMap((deadlock) => deadlock.threads.map(ofThread)).filter(Boolean);
}

function ofInversion(inversion) {
    const steps = inversion.acquisitions.map((step) => ({ step, at: line(step.stack) })).filter(({ at }) => at);
    return steps.length > 0 && {
        file: steps[0].at.file,
        line: steps[0].at.line,
        isError: false,
        message: text("Inversion", inversion.headline),
        related: steps.map(({ step, at }) => ({ file: at.file, line: at.line, message: `${step.acquires.description} ${label(at)}` })),
    };
}

function ofFinding(finding) {
    const at = line([...(finding.site ? [finding.site] : []), ...(finding.stack || [])]);
    return at && finding.kind !== "deadlock" && { file: at.file, line: at.line, isError: false, message: finding.text, related: [] };
}

/* A warning where the lock was held while others waited for it. */
function ofLock(lock) {
    const { waits, longest } = lock;
    const count = Number(waits.count) + Number(waits.unfinished);
    const at = longest && line([...(longest.holder_site ? [longest.holder_site] : []), ...(longest.holder_stack || [])]);
    return count > 0 && at && {
        file: at.file,
        line: at.line,
        isError: false,
        message: text("IssueContention", count, duration(Number(waits.total_ns) + Number(waits.unfinished_ns)), lock.name || lock.address, label(at)),
        related: related([...(longest.waiter_site ? [longest.waiter_site] : []), ...(longest.waiter_stack || [])], (place) => `${text("WaitsFor")}: ${place}`),
    };
}

function ofReport(report) {
    return [
        ...ofDeadlocks(report.deadlocks),
        ...report.overview.findings.map(ofFinding),
        ...report.locks.map(ofLock).filter(Boolean).slice(0, LOCKS_MOST),
        ...report.inversions.map(ofInversion),
    ].filter(Boolean);
}

module.exports = { ofDeadlocks, ofReport };
