// SPDX-License-Identifier: MIT
// Work of the TypeScript client with running programs: start, updates, views, errors, a server that ends, a socket.
"use strict";
const assert = require("assert");
const fs = require("fs");
const { spawn } = require("child_process");
const { Client, ProtocolError } = require(process.env.CLIENT);
const { UPMU, SCENE, CORPUS, work } = process.env;
const command = [UPMU, "serve", "--stdio"];

async function until(condition, what) {
    for (const end = Date.now() + 120000; !(await condition());) {
        assert(Date.now() < end, `not reached: ${what}`);
        await new Promise((done) => setTimeout(done, 20));
    }
}

async function refused(kind, promise) {
    await assert.rejects(promise, (error) => error instanceof ProtocolError && error.kind === kind && error.message.length > 5);
}

async function collect(rows) {
    const all = [];
    for await (const row of rows)
        all.push(row);
    return all;
}

async function watched(client) {
    const target = await client.start([SCENE, "busy", "600000"], { output: `${work}/watched` });
    const { pid } = await client.status(target);
    let waits = 0;
    for await (const top of client.updates(target, 0.1)) {
        waits += top.locks.filter((lock) => lock.name === "the till").reduce((sum, lock) => sum + lock.waits, 0);
        if (waits >= 3)
            break;
    }
    assert.strictEqual(await client.stop(target), 1);
    assert.strictEqual(await client.resume(target), 1);
    assert((await collect(client.rows(target, "locks", 1))).some((row) => row.name === "the till"));
    const { totals } = await client.overview(target);
    assert(typeof totals.begin_ns === "bigint" && totals.begin_ns > 2n ** 53n && totals.events > 0);
    process.kill(pid, "SIGKILL");
    await until(async () => !(await client.status(target)).running, "the end of the program");
    const path = await client.export(target, "csv", `${work}/watched.csv`);
    assert(fs.statSync(path).size > 0);
    await refused("params", client.export(target, "no such format", `${work}/none`));
    await client.detach(target);
    await refused("target", client.status(target));
}

/* Updates end with the program. */
async function ended(client) {
    const target = await client.start([SCENE], { output: `${work}/ended` });
    try {
        await collect(client.updates(target, 0.1));
    } catch (error) { // it had ended before
        assert.strictEqual(error.kind, "failed");
    }
}

async function deadlocked(client) {
    const target = await client.start([CORPUS, "cross_normal", `${work}/stuck.pid`], { output: `${work}/deadlocked` });
    await until(async () => (await client.detect(target)).found > 0, "a deadlock");
    process.kill((await client.status(target)).pid, "SIGKILL");
}

async function over_socket() {
    const server = spawn(UPMU, ["serve", "--socket", `${work}/socket`], { stdio: "ignore" });
    await until(() => fs.existsSync(`${work}/socket`), "the socket");
    const client = await Client.open(`${work}/socket`);
    assert.strictEqual(client.server.protocol.split(".")[0], "1");
    const pending = client.request("hello", { protocol: "1.0" });
    await pending;
    server.kill("SIGKILL");
    await assert.rejects(until(async () => { await client.request("hello", { protocol: "1.0" }); return false; }, ""),
        (error) => !(error instanceof ProtocolError));
    await client.close();
}

async function main() {
    const client = await Client.open(undefined, command);
    assert(client.server.views.includes("locks"));
    await refused("method", client.request("no such method"));
    await refused("params", client.request("view", { target: "x" }));
    await watched(client);
    await ended(client);
    await deadlocked(client);
    await client.close();
    await assert.rejects(client.request("hello"));
    await over_socket();
    await assert.rejects(Client.open(undefined, ["/nonexistent"]));
}

main().then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
});
