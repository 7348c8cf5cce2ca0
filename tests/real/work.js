// SPDX-License-Identifier: MIT
// Worker threads, the pool behind zlib and crypto, and waits on shared memory; the output is the same in each run.
'use strict';
const { Worker, isMainThread, workerData, parentPort } = require('worker_threads');
const crypto = require('crypto');
const zlib = require('zlib');

if (!isMainThread) {
    const turn = new Int32Array(workerData.shared);
    for (let lap = 0; lap < 50; lap++) {
        const mine = lap * workerData.workers + workerData.number;
        for (let now = Atomics.load(turn, 0); now !== mine; now = Atomics.load(turn, 0)) Atomics.wait(turn, 0, now);
        turn[1] = (turn[1] * 31 + workerData.number) | 0;
        Atomics.store(turn, 0, mine + 1);
        Atomics.notify(turn, 0);
    }
    parentPort.postMessage(workerData.number * workerData.number);
} else {
    const shared = new SharedArrayBuffer(8);
    const workers = 4;
    const text = Buffer.from(Array.from({ length: 40000 }, (_, i) => `${i * 7919}\n`).join(''));
    const squares = Array.from({ length: workers }, (_, number) => new Promise((done, failed) => {
        const worker = new Worker(__filename, { workerData: { shared, workers, number } });
        worker.on('message', done);
        worker.on('error', failed);
    }));
    const packed = Array.from({ length: 8 }, (_, i) => new Promise((done, failed) =>
        zlib.deflate(text.subarray(i * 1000), (error, data) => error ? failed(error) : done(data.length))));
    const keys = Array.from({ length: 8 }, (_, i) => new Promise((done, failed) =>
        crypto.pbkdf2('secret', `salt${i}`, 20000, 16, 'sha256', (error, key) =>
            error ? failed(error) : done(key.toString('hex')))));
    Promise.all([...squares, ...packed, ...keys]).then((all) =>
        console.log(all.join(' '), new Int32Array(shared).join(' ')));
}
