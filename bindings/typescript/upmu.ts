// SPDX-License-Identifier: MIT
/**
 * Client of `upmu serve`: record and watch programs, detect deadlocks, and page through the facts of a recording.
 *
 *     import { Client } from "./upmu";
 *     const client = await Client.open();
 *     const target = await client.start(["./server"]);
 *     for await (const top of client.updates(target, 1))
 *         console.log(top.locks.slice(0, 3));
 *     await client.close();
 *
 * The protocol is in docs/protocol.md. This file needs Node's own modules only and can be copied.
 */
import { ChildProcess, spawn } from "child_process";
import { Socket, connect } from "net";
import { Readable, Writable } from "stream";
import { resolve } from "path";

export const PROTOCOL = "1.0";

/** An object of the protocol. Whole numbers of more than 15 digits are bigint. */
export type Facts = { [member: string]: any };

/** What the server sends without a request: `update` or `end`. */
export interface Notice {
    method: string;
    params: Facts;
}

/** Parameters of `start`. */
export interface StartOptions {
    cwd?: string;
    env?: string[];
    mode?: string;
    events?: string;
    output?: string;
    paused?: boolean;
    sched?: boolean;
}

/** An error reply: `kind` is one word ("params", "failed", "canceled", ...), `remedy` a sentence or null. */
export class ProtocolError extends Error {
    readonly code: number;
    readonly kind: string;
    readonly remedy: string | null;

    constructor(error: Facts) {
        super(error.message);
        this.code = error.code;
        this.kind = error.name;
        this.remedy = error.remedy;
    }
}

interface Waiting {
    resolve(result: any): void;
    reject(error: Error): void;
}

/** Numbers beyond 2^53 are texts in the protocol. Names stay texts. */
function numbers(value: any, key = ""): any {
    if (typeof value === "string" && key !== "name" && /^-?\d{16,}$/.test(value))
        return BigInt(value);
    if (Array.isArray(value))
        return value.map((item) => numbers(item));
    if (value === null || typeof value !== "object")
        return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, numbers(item, name)]));
}

/** A connection: to a server of its own, or to the socket of a running one. */
export class Client {
    /** The result of `hello`. */
    server: Facts = {};
    private number = 0;
    private buffer: string[] = [];
    private ended: Error | null = null;
    private readonly waiting = new Map<number, Waiting>();
    private readonly listeners = new Map<number, (notice: Notice | Error) => void>();
    private readonly early = new Map<number, Notice[]>();

    private constructor(private readonly input: Readable, private readonly output: Writable,
                        private readonly process: ChildProcess | null) {
        input.setEncoding("utf8");
        input.on("data", (part: string) => this.read(part));
        for (const stream of [input, output])
            stream.on("error", (error: Error) => this.fail(error));
        input.on("close", () => this.fail(new Error("the server has ended the connection")));
    }

    /** Connects to the socket at `path`, or starts `command` as a server of its own. */
    static async open(path?: string, command = ["upmu", "serve", "--stdio"]): Promise<Client> {
        let client: Client;
        if (path !== undefined) {
            const socket: Socket = connect(path);
            client = new Client(socket, socket, null);
        } else {
            const server = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
            client = new Client(server.stdout, server.stdin, server);
            server.on("error", (error) => client.fail(error));
        }
        client.server = await client.request("hello", { protocol: PROTOCOL, client: "typescript" });
        return client;
    }

    /** Ends the connection. Programs that were started continue, and so do their recordings. */
    async close(): Promise<void> {
        const server = this.process;
        const gone = new Promise<void>((done) => {
            if (!server || server.exitCode !== null || server.signalCode !== null)
                done();
            else
                server.once("exit", () => done());
        });
        this.output.end();
        if (!server)
            this.input.destroy();
        await gone;
    }

    /** Sends a request without waiting; `id` is for cancel(). */
    send(method: string, params: Facts = {}): { id: number; result: Promise<any> } {
        const id = ++this.number;
        const result = new Promise<any>((done, failed) => {
            if (this.ended)
                failed(this.ended);
            else
                this.waiting.set(id, { resolve: done, reject: failed });
        });
        if (!this.ended)
            this.output.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
        return { id, result };
    }

    /** Sends a request. Rejects with ProtocolError, or an Error if the connection has ended. */
    request(method: string, params: Facts = {}): Promise<any> {
        return this.send(method, params).result;
    }

    private read(part: string): void {
        const lines = part.split("\n");
        this.buffer.push(lines[0]);
        for (const line of lines.slice(1)) {
            this.message(JSON.parse(this.buffer.join("")));
            this.buffer = [line];
        }
    }

    private message(message: Facts): void {
        if (message.method !== undefined) {
            const notice = { method: message.method, params: numbers(message.params) };
            const number = notice.params.subscription;
            const listener = this.listeners.get(number);
            if (listener)
                listener(notice);
            else
                this.early.set(number, [...(this.early.get(number) || []), notice]);
            return;
        }
        const waiting = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (message.error)
            waiting?.reject(new ProtocolError(message.error));
        else
            waiting?.resolve(numbers(message.result));
    }

    private fail(error: Error): void {
        this.ended = this.ended || error;
        this.waiting.forEach((waiting) => waiting.reject(error));
        this.waiting.clear();
        this.listeners.forEach((listener) => listener(error));
        this.listeners.clear();
    }

    /** Attaches to a process (its number), or to the directory of a recording. Returns the number of the target. */
    async attach(target: number | string): Promise<number> {
        const params = typeof target === "number" ? { pid: target } : { dir: resolve(target) };
        return (await this.request("attach", params)).target;
    }

    /** Starts a command and records it. */
    async start(command: string[], options: StartOptions = {}): Promise<number> {
        return (await this.request("start", { command, ...options })).target;
    }

    /** Records again: what was started paused, or stopped. Returns the number of processes. */
    async resume(target: number): Promise<number> {
        return (await this.request("start", { target })).started;
    }

    /** Samples the threads of a process without a recorder, into `output`, until stop(). Returns the directory. */
    async sample(target: number, output?: string): Promise<string> {
        return (await this.request("start", { target, output: output === undefined ? null : resolve(output) })).samples;
    }

    /** Stops recording; the program continues. Returns the number of processes. */
    async stop(target: number): Promise<number> {
        return (await this.request("stop", { target })).stopped;
    }

    status(target: number): Promise<Facts> {
        return this.request("status", { target });
    }

    async detach(target: number): Promise<void> {
        await this.request("detach", { target });
    }

    /** Deadlocks now: `found`, `stalled`, and `rows` as of `upmu deadlock --json`. */
    detect(target: number): Promise<Facts> {
        return this.request("detect", { target });
    }

    /** All rows of a view, page by page. */
    async *rows(target: number, view: string, limit = 1000): AsyncGenerator<Facts> {
        for (let from: number | null = 0; from !== null;) {
            const part: Facts = await this.request("view", { target, view, from, limit });
            yield* part.rows;
            from = part.next;
        }
    }

    async overview(target: number): Promise<Facts> {
        return (await this.request("view", { target, view: "overview" })).overview;
    }

    /** Exports to a file. Returns its path; without `path` the file belongs to the server, which removes it at its end. */
    async export(target: number, format: string, path?: string, options: Facts = {}): Promise<string> {
        const params = { target, format, path: path === undefined ? null : resolve(path), ...options };
        return (await this.request("export", params)).path;
    }

    /** Ends a request that was sent. Returns whether it was still running. */
    async cancel(id: number): Promise<boolean> {
        return (await this.request("cancel", { id })).canceled;
    }

    /** Live updates, as documents of `upmu top --json`, until the program ends. */
    async *updates(target: number, seconds = 1, options: { rows?: number; events?: string } = {}): AsyncGenerator<Facts> {
        const { subscription } = await this.request("subscribe", { target, interval_ms: seconds * 1000, ...options });
        const queue: (Notice | Error)[] = this.early.get(subscription) || [];
        let wake = (): void => undefined;
        this.early.delete(subscription);
        this.listeners.set(subscription, (notice) => {
            queue.push(notice);
            wake();
        });
        let over = false;
        try {
            while (!over) {
                if (queue.length === 0)
                    await new Promise<void>((done) => { wake = done; });
                const notice = queue.shift()!;
                if (notice instanceof Error)
                    throw notice;
                over = notice.method === "end";
                if (over && notice.params.problem)
                    throw new ProtocolError({ code: -32000, name: "failed", message: notice.params.problem, remedy: null });
                if (!over)
                    yield notice.params.top;
            }
        } finally {
            this.listeners.delete(subscription);
            if (!this.ended && !over)
                await this.request("unsubscribe", { subscription });
        }
    }
}
