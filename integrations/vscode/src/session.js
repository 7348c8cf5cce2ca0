// SPDX-License-Identifier: MIT
// State of one analysis over the protocol, without the editor.
"use strict";
const { EventEmitter } = require("events");

/*
 * "idle" -> "starting" -> "recording" -> "stopping" -> "stopped", and from there again. "attached" is a process without a
 * recorder: scheduling, deadlocks, and if the kernel permits it, samples (isSampled), whose report has `functions` only.
 * Events: state, update(top), detected(rows), report(report), failed(message).
 */
class Session extends EventEmitter {
    /* `connect`: makes a client of the protocol. */
    constructor(connect) {
        super();
        this.connect = connect;
        this.client = null;
        this.target = 0;
        this.pid = 0;
        this.state = "idle";
        this.isSampled = false;
        this.report = null;
        this.headline = "";
        this.watching = Promise.resolve();
    }

    get canStart() {
        return this.state === "idle" || this.state === "stopped";
    }

    get canStop() {
        return this.state === "recording" || this.state === "attached";
    }

    get canDetect() {
        return this.target > 0 && this.state !== "starting" && this.state !== "stopping";
    }

    setState(state) {
        this.state = state;
        this.emit("state", state);
    }

    /* An error reply leaves the connection as it is; any other error has ended it. */
    failed(error) {
        if (error.kind === undefined) {
            this.client = null;
            this.target = 0;
        }
        this.setState(this.target > 0 && this.report ? "stopped" : "idle");
        this.emit("failed", error.remedy ? `${error.message} (${error.remedy})` : error.message);
    }

    async begin(attach, samples) {
        if (!this.canStart)
            return;
        this.setState("starting");
        this.isSampled = false;
        this.report = null;
        this.headline = "";
        try {
            this.client = this.client || (await this.connect());
            if (this.target > 0)
                await this.client.detach(this.target);
            this.target = 0;
            this.target = await attach(this.client);
            await this.take(await this.client.status(this.target), samples);
        } catch (error) {
            this.failed(error);
        }
    }

    async take(status, samples) {
        this.pid = status.pid;
        if (status.recorded && !status.running) {
            await this.finish();
            return;
        }
        if (status.recorded && status.processes[0].mode === "stopped") // it records from now on
            await this.client.resume(this.target);
        if (!status.recorded && samples)
            await this.sample(samples);
        this.setState(status.recorded ? "recording" : "attached");
        this.watching = this.watch(this.state);
    }

    /* A kernel that refuses leaves the process attached: all else does not depend on samples. */
    async sample(directory) {
        try {
            await this.client.sample(this.target, directory);
            this.isSampled = true;
        } catch (error) {
            if (error.kind === undefined)
                throw error;
            this.emit("failed", error.message);
        }
    }

    start(command, options) {
        return this.begin((client) => client.start(command, options));
    }

    /* A process by its number, or the directory of a recording; `samples`: a directory for those of a process without a recorder. */
    attach(target, samples) {
        return this.begin((client) => client.attach(target), samples);
    }

    /* Updates until stop(), or the end of the process. */
    async watch(state) {
        try {
            for await (const top of this.client.updates(this.target, 1)) {
                if (this.state !== state)
                    return;
                this.emit("update", top);
                const [first] = top.deadlocks;
                if (first && first.headline !== this.headline)
                    this.detect();
                this.headline = first ? first.headline : "";
            }
            if (this.state !== state)
                return;
            if (this.isSampled)
                await this.stop(); // completes the samples
            else
                await this.end(state);
        } catch (error) {
            if (this.state === state)
                this.failed(error);
        }
    }

    /* Stops recording or sampling; the program continues. */
    async stop() {
        const { state } = this;
        if (!this.canStop)
            return;
        this.setState("stopping");
        try {
            if (state === "recording" || this.isSampled)
                await this.client.stop(this.target).catch((error) => { // it may have ended meanwhile
                    if (error.kind !== "failed")
                        throw error;
                });
            await this.end(state);
        } catch (error) {
            this.failed(error);
        }
    }

    async end(state) {
        if (state === "recording" || this.isSampled) {
            await this.finish();
            return;
        }
        await this.client.detach(this.target);
        this.target = 0;
        this.setState("idle");
    }

    async rows(view) {
        const all = [];
        for await (const row of this.client.rows(this.target, view))
            all.push(row);
        return all;
    }

    async finish() {
        this.setState("stopping");
        if (this.isSampled) {
            this.finished({ functions: await this.rows("functions") });
            return;
        }
        const overview = await this.client.overview(this.target);
        const [locks, deadlocks, inversions] = [await this.rows("locks"), await this.rows("deadlocks"), await this.rows("inversions")];
        this.finished({ overview, locks, deadlocks, inversions });
    }

    finished(report) {
        this.report = report;
        this.setState("stopped");
        this.emit("report", report);
    }

    /* Deadlocks now, while the program hangs, or of the recording. */
    async detect() {
        if (!this.canDetect)
            return;
        try {
            const found = await this.client.detect(this.target);
            this.emit("detected", found.rows);
        } catch (error) {
            this.emit("failed", error.message);
        }
    }

    /* The HTML report as a file of the server; of samples their flame graph. */
    page() {
        return this.isSampled ? this.client.export(this.target, "flamegraph", undefined, { of: "samples" }) : this.client.export(this.target, "html");
    }

    async close() {
        const { client } = this;
        this.client = null;
        if (client)
            await client.close();
    }
}

module.exports = { Session };
