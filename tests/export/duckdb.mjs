// SPDX-License-Identifier: MIT
// The queries of the guide in DuckDB, on rows that Apache Arrow's own reader has read; then on the same rows as Parquet.
//
//     node duckdb.mjs PAGE PARQUET FILE...
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import assert from 'node:assert';

const require = createRequire(import.meta.url);
const {tableFromIPC} = require('apache-arrow');
const {DuckDBInstance} = require('@duckdb/node-api');
const [page, parquet, ...files] = process.argv.slice(2);
const TYPES = {Utf8: 'VARCHAR', Int32: 'INTEGER', Uint32: 'UINTEGER', Int64: 'BIGINT', Uint64: 'UBIGINT'};
const queries = [...readFileSync(page, 'utf8').matchAll(/```sql\n([\s\S]*?)```/g)].map((m) => m[1]);
assert.equal(queries.length, 10);

const db = await (await DuckDBInstance.create(':memory:')).connect();
const tables = files.map((file) => tableFromIPC(readFileSync(file)));
const fields = tables[0].schema.fields;
await db.run(`CREATE TABLE rows (${fields.map((f) => `"${f.name}" ${TYPES[f.type]}`).join(', ')})`);
const literal = (v) => (v === null ? 'NULL' : typeof v === 'string' ? `'${v.replaceAll("'", "''")}'` : String(v));
for (const table of tables) {
    const rows = [...table].map((row) => `(${fields.map((f) => literal(row[f.name])).join(', ')})`);
    assert.equal(rows.length, table.numRows);
    await db.run(`INSERT INTO rows VALUES ${rows.join(', ')}`);
}
// The same run by another build on another host, three times as slow.
await db.run(`INSERT INTO rows SELECT * REPLACE ('0000' AS build, 'another' AS host) FROM rows`);
await db.run(`UPDATE rows SET duration_ns = duration_ns * 3 WHERE build <> '0000'`);

async function answers() {
    const all = [];
    for (const query of queries)
        all.push((await db.runAndReadAll(query)).getRowObjectsJson());
    return all;
}

const [locks, lines, , hosts, slower, , , inside, pairs, never] = await answers();
// Calls such as a sleep are no locks, however long they take; on a loaded machine the barrier takes longer.
assert.ok(locks.some((row) => row.lock === 'the till') && locks.every((row) => row.lock !== 'sleep'), JSON.stringify(locks));
assert.ok(lines.some((row) => row.lock === 'the till' && row.holder_thread === 'keeper'), JSON.stringify(lines));
assert.equal(hosts[1].host, 'another');
assert.ok(slower.length > 0 && slower.every((row) => Math.abs(row.ratio - 3) < 0.01), JSON.stringify(slower));
assert.ok(inside.some((row) => row.lock === 'the till' && row.region === '(thread)'), JSON.stringify(inside));
assert.ok(pairs.some((row) => row.thread === 'customer' && row.holder_thread === 'keeper'), JSON.stringify(pairs));
assert.deepEqual(never, []);

const count = async () => (await db.runAndReadAll('SELECT count(*) AS n, sum(duration_ns) AS ns FROM rows')).getRowObjectsJson();
const before = await count();
await db.run(`COPY rows TO '${parquet}'`);
await db.run(`DROP TABLE rows; CREATE VIEW rows AS FROM '${parquet}'`);
assert.deepEqual(await count(), before);
assert.deepEqual((await answers())[0], locks);
console.log(`10 queries answered from a table and from Parquet, ${before[0].n} rows`);
