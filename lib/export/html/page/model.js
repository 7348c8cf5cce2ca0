// SPDX-License-Identifier: MIT
// Model of the recording: threads with their rows, locks with their queues, names and colors.

const STATUSES = ["not counted", "exact", "scaled", "refused", "unsupported"];
// As the kernel lets threads run; and what the steps of a critical path are.
const RUNS = ["several", "running", "preempted", "blocked"],
  RUNNING = 1,
  PREEMPTED = 2;
const STEP_RUNS = 0,
  STEP_WAKES = 1;
// By enum upmu_frame_kind, as upmu_frame_label(); the last four are how a stack ends.
const FRAME_LABELS = [
  "",
  "",
  tr("signal frame"),
  tr("thread start"),
  tr("PLT stub"),
  tr("generated at run time"),
  tr("left by a tail call"),
  tr("deeper frames were not recorded"),
  tr("callers unknown: the unwinder stopped here"),
  tr("only the call site was recorded"),
  tr("found by scanning code: callers may be wrong or missing"),
];
const WAIT_KINDS = ["mutex", "cond", "sem", "custom", "join", "rwlock", "spin", "barrier", "once", "futex", "sleep", "poll", "signal",
  "read", "write", "child"];
// Waits for something to happen: they are often as they should be, and are drawn paler than waits for a lock.
// Calls that are not about locks have a color for each kind, by the first word of their names.
const CALL_COLORS = {
  sleep: "#868e96",
  poll: "#4c6ef5",
  signal: "#b197fc",
  read: "#22b8cf",
  write: "#f59f00",
  child: "#63762b",
};
const CALM = new Set(["cond", "join", "sem", "barrier", "futex", "sleep", "poll", "signal", "read", "write", "child"]);

const LOCK_COLORS = [
  "#e8590c",
  "#1c7ed6",
  "#ae3ec9",
  "#2f9e44",
  "#e0a100",
  "#0c8599",
  "#d6336c",
  "#6741d9",
  "#66a80f",
  "#a1662f",
  "#f06595",
  "#12b886",
];
const LOCKS_COLORED = 40,
  CALM_COLORED = 12,
  OTHER_COLOR = "#868e96";

// The first ones are chosen by hand; the hues of the others are far apart, in two degrees of lightness.
function lockColor(i) {
  if (i < LOCK_COLORS.length) return LOCK_COLORS[i];
  return hexColor(hue(i), 0.58, i % 2 ? 0.42 : 0.58);
}

// "#rrggbb" of a hue in degrees, saturation and lightness.
function hexColor(degrees, saturation, lightness) {
  const reach = saturation * Math.min(lightness, 1 - lightness),
    part = (n) => {
      const k = (n + degrees / 30) % 12;
      return lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    };
  return `#${[0, 8, 4].map((n) => Math.round(255 * part(n)).toString(16).padStart(2, "0")).join("")}`;
}

// Relative luminance of a color of three parts from 0 to 255, as WCAG has it.
function luminance(parts) {
  const [r, g, b] = parts.map((n) => (n / 255 <= 0.04045 ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function hue(n) {
  return (n * 137.508) % 360;
}

function threadColor(i, dark) {
  return dark ? hexColor(hue(i + 3), 0.34, 0.52) : hexColor(hue(i + 3), 0.44, 0.68);
}

function textHash(text) {
  let n = 2166136261;
  for (let i = 0; i < text.length; i++) n = Math.imul(n ^ text.charCodeAt(i), 16777619) >>> 0;
  return n;
}

function regionColor(name, dark) {
  const n = textHash(name);
  return `hsl(${n % 360} ${dark ? "22% 30%" : "46% 86%"})`;
}

// Waited in all: what had not ended counts as long as it lasted.
function waited(wait) {
  return wait.total_ns + wait.unfinished_ns;
}

function waitCount(wait) {
  return wait.count + wait.unfinished;
}

class Model {
  constructor(data) {
    Object.assign(this, data.facts);
    // What the timeline holds.
    this.shown = this.window
      ? {from: this.window[0], to: Math.min(this.window[1] || this.length, this.length)}
      : {from: 0, to: this.length};
    this.tables = {regions: data.regions, waits: data.waits, holds: data.holds, runs: data.runs};
    this.regionCounts = data.counts;
    this.readings = data.readings;
    this.nameThreads();
    this.nameObjects();
    this.placeRows();
    this.sampleColors = new Map();
    if (this.samples) placeSamples(this, data);
    if (this.functions) placeFunctions(this, data);
    if (this.mpi) placeCalls(this, data);
    this.placeSteps(data.path);
    if (this.mpi) placeJobPaths(this);
    this.marksByThread();
  }

  // The program of a process where there are several; "" where ranks of MPI have names.
  program(process) {
    return this.processes.length > 1 && !this.mpi ? tidy(baseName(this.processes[process].command.split(" ")[0]), 60) : "";
  }

  // When the recording of a process was stopped: [[begin, nanoseconds], ...].
  stops(process) {
    return this.processes[process].stops || [];
  }

  nameThreads() {
    this.threads.forEach((t, i) => {
      t.index = i;
      if (t.label === `main ${t.tid}` && this.program(t.process)) t.label = `${this.program(t.process)} ${t.tid}`;
      t.label = tidy(t.label.replace(/^thread (\d+)$/, (_, tid) => tr("thread %1", tid)), 80);
      t.waitRows = [];
      t.regionRows = [];
      t.holdRows = [];
      t.runRows = [];
      t.marks = [];
    });
    if (this.mpi) nameRanks(this);
    this.byTid = new Map(this.threads.map((t) => [`${t.process}.${t.tid}`, t]));
  }

  nameObjects() {
    this.objects.forEach((o, i) => {
      o.index = i;
      const ends = o.peer && this.byTid.get(`${o.process}.${o.peer}`);
      const name = o.name || o.peer || o.address || "0x0";
      o.call = o.type === "call";
      o.title = ends ? tr("end of %1", ends.label) : tidy(o.call ? name : o.type === "thread" ? tr("thread %1", name) : `${o.type} ${name}`, 120);
      if (o.call && this.program(o.process)) o.title += ` \u00b7 ${this.program(o.process)}`;
      if (this.mpi?.ofProcess.has(o.process) && !o.call && !ends) o.title += ` \u00b7 ${this.mpi.ofProcess.get(o.process).label}`;
      // A semaphore with holds is used as a lock.
      o.calm = (CALM.has(o.type) && !(o.holds + o.partial_holds > 0)) || o.type === "thread" || o.call;
      o.waitedNs = waited(o.waits);
      o.color = (o.call && CALL_COLORS[name.split(" ")[0]]) || OTHER_COLOR;
      o.holdRows = [];
    });
    // Locks come first: they are what one looks for. Ends of threads need no color.
    const waitedFor = this.objects.filter((o) => waitCount(o.waits) > 0 && o.type !== "thread" && !o.call);
    const locks = waitedFor.filter((o) => !o.calm).slice(0, LOCKS_COLORED),
      calm = waitedFor.filter((o) => o.calm).slice(0, CALM_COLORED);
    [...locks, ...calm].forEach((o, i) => {
      o.color = lockColor(i);
    });
    this.byAddress = new Map();
    for (const o of this.objects.filter((x) => x.address)) {
      const key = `${o.process}.${o.address}`;
      if (!this.byAddress.has(key) || this.byAddress.get(key).generation < o.generation) this.byAddress.set(key, o);
    }
  }

  placeRows() {
    for (const row of this.tables.waits.rows) this.threads[row.a].waitRows.push(row);
    for (const row of this.tables.regions.rows) this.threads[row.a].regionRows.push(row);
    for (const row of this.tables.holds.rows) {
      this.objects[row.a].holdRows.push(row);
      this.threads[row.b].holdRows.push(row);
    }
    for (const row of this.tables.runs.rows) this.threads[row.a].runRows.push(row);
    for (const t of this.threads) {
      t.waitRows.sort((x, y) => x.b - y.b);
      t.regionRows.sort((x, y) => x.b - y.b);
    }
  }

  // The steps of the critical path of each process, one after the other without a gap.
  placeSteps({kind, thread, ns, waker, object}) {
    let at = 0;
    this.paths.forEach((path, i) => {
      path.process = i;
    });
    for (const path of this.paths) {
      const from = at,
        begin = new Float64Array(path.steps);
      for (let i = 0, now = path.begin - path.early; i < path.steps; i++) {
        begin[i] = now;
        now += ns[from + i];
      }
      at += path.steps;
      const part = (column) => column.subarray(from, at);
      path.row = {begin, kind: part(kind), thread: part(thread), ns: part(ns), waker: part(waker), object: part(object)};
    }
  }

  marksByThread() {
    for (const mark of this.marks) this.threads[mark[1]].marks.push(mark);
  }

  object(rankPlusOne) {
    return rankPlusOne ? this.objects[rankPlusOne - 1] : null;
  }

  thread(rankPlusOne) {
    return rankPlusOne ? this.threads[rankPlusOne - 1] : null;
  }

  // A frame as {name, file, line, module}.
  frame(i) {
    const [name, file, line, module, before, distance, wrapper] = this.frames[i];
    return {
      name,
      file,
      line,
      module,
      wrapper: Boolean(wrapper),
      remark: before ? tr("no name; %1 after %2", `0x${distance.toString(16)}`, tidy(before, 90)) : "",
    };
  }

  // The frames at a site, the innermost first.
  siteFrames(site) {
    if (!site) return [];
    const [kind, ...frames] = this.sites[site - 1];
    return frames.map((i, k) => {
      const f = this.frame(i),
        outermost = k + 1 === frames.length;
      return {...f, remark: f.remark || (outermost ? FRAME_LABELS[kind] : tr("inlined"))};
    });
  }

  // The frame at a site that matters: the first one outside of wrappers.
  siteFrame(site) {
    const frames = this.siteFrames(site);
    return frames.find((frame) => !frame.wrapper) || frames[0] || null;
  }

  // Where a stack leaves wrappers; `site` without one.
  userSite(site, stack) {
    if (!stack) return site;
    const [, ...sites] = this.stacks[stack - 1];
    return sites.find((s) => this.siteFrames(s).some((frame) => !frame.wrapper)) ?? site;
  }

  siteFunction(site) {
    return this.siteFrame(site)?.name || "";
  }

  // "function file.c:12"; "" if not recorded.
  siteText(site) {
    const f = this.siteFrame(site);
    if (!f) return "";
    return tidy(f.name, 90) + (f.file ? ` ${tidy(baseName(f.file), 60)}:${f.line}` : "");
  }

  // All frames of a stack with what was inlined, the innermost first.
  stackFrames(stack) {
    if (!stack) return [];
    const [, ...sites] = this.stacks[stack - 1];
    return sites.flatMap((site) => this.siteFrames(site));
  }

  // Note at the outer end of a stack.
  stackEnd(stack) {
    return stack ? FRAME_LABELS[this.stacks[stack - 1][0]] : "";
  }

  // How many wait for an object over time: {t, n}, a step function. Made when it is first asked for.
  queue(object) {
    if (object.queue) return object.queue;
    const w = this.tables.waits,
      begins = [],
      ends = [];
    for (let i = 0; i < w.n; i++) {
      if (w.what[i] !== object.index + 1) continue;
      begins.push(w.begin[i]);
      ends.push(w.begin[i] + w.ns[i]);
    }
    object.queue = steps(Float64Array.from(begins).sort(), Float64Array.from(ends).sort());
    return object.queue;
  }

  // A counter added up over all threads, as a function of time: {t, v}, made when it is first asked for. Between two
  // readings of a thread what it counted is spread evenly.
  counterCurve(c) {
    this.curves = this.curves || [];
    if (!this.curves[c]) this.curves[c] = addUp(this.readings.map((r) => ({t: r.ns, v: r.values[c]})));
    return this.curves[c];
  }
}

function steps(begins, ends) {
  const t = new Float64Array(begins.length * 2),
    n = new Int32Array(begins.length * 2);
  let b = 0,
    e = 0,
    depth = 0;
  for (let i = 0; i < t.length; i++) {
    const starts = b < begins.length && begins[b] <= ends[e];
    t[i] = starts ? begins[b++] : ends[e++];
    depth += starts ? 1 : -1;
    n[i] = depth;
  }
  return {t, n};
}

// The sum of curves that are straight between their points: sort where slopes change, then walk along.
function addUp(curves) {
  const at = [],
    change = [];
  for (const {t, v} of curves) {
    for (let i = 1; i < t.length; i++) {
      const slope = (v[i] - v[i - 1]) / (t[i] - t[i - 1]);
      if (!(slope >= 0) || !Number.isFinite(slope)) continue; // no number, or both readings at once
      at.push(t[i - 1], t[i]);
      change.push(slope, -slope);
    }
  }
  const order = Uint32Array.from(at.keys()).sort((x, y) => at[x] - at[y]);
  const t = new Float64Array(order.length),
    v = new Float64Array(order.length);
  let slope = 0;
  for (let k = 0; k < order.length; k++) {
    t[k] = at[order[k]];
    v[k] = k === 0 ? 0 : v[k - 1] + slope * (t[k] - t[k - 1]);
    slope += change[order[k]];
  }
  return {t, v};
}

function curveAt({t, v}, ns) {
  const i = above(t, ns, 0, t.length);
  if (i === 0) return 0;
  if (i === t.length) return v[i - 1];
  return v[i - 1] + ((v[i] - v[i - 1]) * (ns - t[i - 1])) / (t[i] - t[i - 1]);
}
