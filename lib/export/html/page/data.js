// SPDX-License-Identifier: MIT
// Data of the page: base64, decompressed, cut into sections of variable-length numbers.

const UNFINISHED = 1,
  AT_LEAST = 2,
  SAMPLED = 4,
  FAILED = 16;

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text),
    bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function sections(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset),
    found = new Map(),
    utf8 = new TextDecoder();
  for (let at = 0; at < bytes.length;) {
    const n = bytes[at],
      name = utf8.decode(bytes.subarray(at + 1, at + 1 + n));
    const numbers = view.getUint32(at + 1 + n, true),
      length = view.getUint32(at + 5 + n, true);
    at += 9 + n;
    found.set(name, {numbers, bytes: bytes.subarray(at, at + length)});
    at += length;
  }
  return found;
}

// Numbers of a section, into an array of the kind that is asked for. A missing section is none.
function numbers(all, name, Kind) {
  const section = all.get(name);
  if (!section) return new Kind(0);
  const bytes = section.bytes,
    out = new Kind(section.numbers);
  let at = 0;
  for (let i = 0; i < out.length; i++) {
    let byte = bytes[at++],
      n = byte & 127,
      scale = 128;
    while (byte > 127) {
      byte = bytes[at++];
      n += (byte & 127) * scale;
      scale *= 128;
    }
    out[i] = n;
  }
  return out;
}

// A table of spans: a column for each name, and rows {a, b, from, to} that give its span ranges.
function spanTable(all, name, columns) {
  const t = {
    name,
    idle: numbers(all, name + ".idle", Float64Array),
    more: numbers(all, name + ".more", Uint32Array),
    flags: numbers(all, name + ".flags", Uint8Array),
    begin: numbers(all, name + ".begin", Float64Array),
    ns: numbers(all, name + ".ns", Float64Array),
    rows: [],
  };
  for (const column of columns)
    t[column] = numbers(
      all,
      `${name}.${column}`,
      ["since", "wakerNs", "waitNs", "bytes", "sequence"].includes(column) ? Float64Array : Uint32Array,
    );
  const rows = numbers(all, name + ".rows", Uint32Array);
  for (let i = 0, from = 0; i < rows.length; i += 3) {
    const to = from + rows[i + 2];
    for (let k = from + 1; k < to; k++) t.begin[k] += t.begin[k - 1];
    t.rows.push({table: t, a: rows[i], b: rows[i + 1], from, to});
    from = to;
  }
  t.n = t.begin.length;
  return t;
}

// Readings of counters, by thread: {ns, values: [of each counter]}; NaN where there is no number.
function readings(all, n) {
  const rows = numbers(all, "points.rows", Uint32Array),
    ns = numbers(all, "points.ns", Float64Array),
    values = [];
  for (let c = 0; c < n; c++) values.push(numbers(all, `points.value${c}`, Float64Array));
  const out = [];
  for (let i = 0, from = 0; i < rows.length; i++) {
    const to = from + rows[i];
    for (const column of [ns, ...values]) unstep(column, from, to);
    out.push({ns: ns.subarray(from, to), values: values.map((v) => v.subarray(from, to))});
    from = to;
  }
  return out;
}

function unstep(column, from, to) {
  for (let i = from, value = 0; i < to; i++) {
    const coded = column[i] - 1;
    if (coded >= 0) value += coded % 2 ? -(coded + 1) / 2 : coded / 2;
    column[i] = coded >= 0 ? value : NaN;
  }
}

async function readData() {
  const element = byId("data"),
    text = element.textContent.trim();
  element.remove();
  if (typeof DecompressionStream === "undefined")
    throw new Error(tr("this browser cannot inflate data (DecompressionStream): any of 2023 or later can"));
  const all = sections(await inflate(fromBase64(text)));
  const parse = (name) => JSON.parse(new TextDecoder().decode(all.get(name).bytes));
  return {...recordingOf(parse("facts"), all), base: all.has("base") ? baseOf(parse("base")) : null};
}

// The older recording of a comparison: facts only.
function baseOf(facts) {
  for (const path of facts.paths) path.steps = 0;
  return recordingOf(facts, new Map());
}

function recordingOf(facts, all) {
  return {
    facts,
    regions: spanTable(all, "regions", ["what"]),
    counts: facts.counters.map((_, i) => numbers(all, `regions.count${i}`, Float64Array)),
    waits: spanTable(all, "waits", [
      "what",
      "kind",
      "holder",
      "since",
      "site",
      "stack",
      "waker",
      "wakerNs",
      "wakerStack",
      "holderSite",
      "holderStack",
    ]),
    holds: spanTable(all, "holds", ["site"]),
    runs: spanTable(all, "runs", ["what", "cpu"]),
    calls: spanTable(all, "calls", ["what", "peer", "tag", "bytes", "comm", "sequence", "wait", "waitNs", "cause", "site", "stack"]),
    messages: {
      begin: numbers(all, "messages.begin", Float64Array),
      ns: numbers(all, "messages.ns", Float64Array),
      from: numbers(all, "messages.from", Uint32Array),
      to: numbers(all, "messages.to", Uint32Array),
      bytes: numbers(all, "messages.bytes", Float64Array),
      tag: numbers(all, "messages.tag", Uint32Array),
      comm: numbers(all, "messages.comm", Uint32Array),
    },
    path: {
      kind: numbers(all, "path.kind", Uint8Array),
      thread: numbers(all, "path.thread", Uint32Array),
      ns: numbers(all, "path.ns", Float64Array),
      waker: numbers(all, "path.waker", Uint32Array),
      object: numbers(all, "path.object", Uint32Array),
    },
    readings: readings(all, facts.counters.length),
    sampleColumns: {
      rows: numbers(all, "samples.rows", Uint32Array),
      ns: numbers(all, "samples.ns", Float64Array),
      weight: numbers(all, "samples.weight", Float64Array),
      path: numbers(all, "samples.path", Uint32Array),
    },
    callPaths: {
      parent: numbers(all, "functions.parent", Uint32Array),
      function: numbers(all, "functions.function", Uint32Array),
      calls: numbers(all, "functions.calls", Float64Array),
      own: numbers(all, "functions.own", Float64Array),
      rest: numbers(all, "functions.rest", Float64Array),
      recursion: numbers(all, "functions.recursion", Uint8Array),
    },
  };
}
