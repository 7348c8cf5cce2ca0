// SPDX-License-Identifier: MIT
// Search in the timeline: matching lanes and spans, and navigation between matches.

const RESULTS_MOST = 40;

class Search {
  constructor(timeline) {
    this.t = timeline;
    this.find = null; // {threads, objects, regions}: numbers of what matches
  }

  set(text) {
    this.t.search.value = text;
    this.look(text);
  }

  look(text) {
    const wanted = text.trim().toLowerCase();
    this.find = wanted ? this.matches(wanted) : null;
    this.t.found.textContent = this.find ? this.summary() : "";
    this.t.options.wanted = this.find ? this.filter() : null;
    this.t.arrange();
    if (this.find) this.showResults();
  }

  matches(wanted) {
    const m = this.t.m,
      has = (name) => name.toLowerCase().includes(wanted),
      numbersOf = (list, matches) => new Set(list.map((x, i) => (matches(x) ? i : -1)).filter((i) => i >= 0));
    const frames = numbersOf(m.frames, (f) => has(f[0])),
      sites = numbersOf(m.sites, ([, ...all]) => all.some((f) => frames.has(f)));
    return {
      calls: numbersOf(m.mpi?.names || [], has),
      threads: numbersOf(m.threads, (t) => has(t.label)),
      objects: numbersOf(m.objects, (o) => has(o.title) || has(m.siteText(o.init))),
      regions: numbersOf(m.regions, (r) => has(r.name)),
      sampled: numbersOf(m.samples?.functions || [], ([name]) => has(name)),
      frames,
      sites,
      stacks: numbersOf(m.stacks, ([, ...all]) => all.some((site) => sites.has(site - 1))),
    };
  }

  summary() {
    const {threads, objects, regions} = this.find,
      m = this.t.m,
      functions = this.functionsFound();
    const ns =
      [...objects].reduce((n, i) => n + m.objects[i].waitedNs, 0) + [...regions].reduce((n, i) => n + m.regions[i].wall_ns, 0);
    const words = [
      threads.size && plural(threads.size, "thread"),
      objects.size && plural(objects.size, "lock"),
      regions.size && plural(regions.size, "region"),
      this.find.calls.size && plural(this.callsFound(), "call"),
      functions && plural(functions, "function"),
    ].filter(Boolean);
    return words.length ? words.join(", ") + (ns ? `, ${duration(ns)}` : "") : tr("nothing");
  }

  functionsFound() {
    const m = this.t.m,
      {frames, sampled} = this.find;
    return new Set([...[...frames].map((i) => m.frames[i][0]), ...[...sampled].map((i) => m.samples.functions[i][0])]).size;
  }

  callsFound() {
    const calls = this.t.m.tables.calls;
    return calls.what.reduce((n, what, i) => n + (this.find.calls.has(what - 1) ? calls.more[i] + 1 : 0), 0);
  }

  // If all that matches is of one kind, only its lanes are shown.
  filter() {
    const {threads, objects, regions, frames, sampled} = this.find;
    if (regions.size + frames.size + sampled.size + this.find.calls.size > 0) return null;
    if (threads.size && !objects.size) return (lane) => !lane.thread || threads.has(lane.thread.index);
    if (objects.size && !threads.size) return (lane) => !lane.object || objects.has(lane.object.index);
    return null;
  }

  // What was found, as links, beside the timeline.
  showResults() {
    const m = this.t.m,
      {threads, objects, regions, frames, sampled} = this.find,
      list = (title, numbers, line) =>
        numbers.size > 0 && [
          h("h4", null, title),
          h("ul", {class: "results"}, [...numbers].slice(0, RESULTS_MOST).map((i) => h("li", null, line(i)))),
          numbers.size > RESULTS_MOST ? h("p", {class: "dim"}, tr("%1 more", count(numbers.size - RESULTS_MOST))) : null,
        ];
    this.t.chosen = null;
    this.t.hop = null;
    replace(
      this.t.side,
      h("h3", null, tr("Found")),
      list(tr("Locks"), objects, (i) => [objectLink(m, m.objects[i]), " ", tr("%1 waited", duration(m.objects[i].waitedNs))]),
      list(tr("Threads"), threads, (i) => [threadLink(m, m.threads[i]), " ", tr("%1 waiting", percent(m.threads[i].blocked_ns, m.threads[i].life))]),
      list(tr("Regions"), regions, (i) => `${tidy(m.regions[i].name, 120)}: ${count(m.regions[i].count)}, ${duration(m.regions[i].wall_ns)}`),
      list(tr("Functions"), frames, (i) => {
        const f = m.frame(i),
          ns = this.blockedBelow(i);
        return tr("%1: %2 waited in and below it", tidy(f.name, 120) + (f.file ? ` ${tidy(baseName(f.file), 60)}:${f.line}` : ""), duration(ns));
      }),
      list(tr("Sampled functions"), sampled, (i) => tr("%1: %2", tidy(sampledName(m, i), 120), plural(this.samplesOf(i), "sample"))),
      h("p", {class: "dim"}, tr("Enter goes to the next match in the lanes, Shift and Enter to the one before.")),
    );
  }

  // Blocked time of the stacks that a frame is in.
  blockedBelow(frame) {
    const m = this.t.m,
      inSite = (site) => site > 0 && m.sites[site - 1].slice(1).includes(frame);
    return m.blocked.reduce(
      (sum, [, stack, site, , , ns]) =>
        sum + ((stack ? m.stacks[stack - 1].slice(1).some(inSite) : inSite(site)) ? ns : 0),
      0,
    );
  }

  samplesOf(number) {
    const m = this.t.m;
    return m.threads.reduce((n, t) => n + (t.samples ? t.samples.path.reduce((k, path) => k + (sampledFunction(m, path) === number), 0) : 0), 0);
  }

  // After the last match comes the first. Of matches at one moment the order of the lanes decides.
  next(way) {
    const rows = this.t.layout.lanes.filter((l) => l.thread).flatMap((l) => l.strips.flatMap((s) => s.rows));
    const at = this.t.chosen ? rows.indexOf(this.t.chosen.row) : -1;
    const now = at < 0 ? null : this.t.chosen.row.table.begin[this.t.chosen.index];
    const edge = way > 0 ? -Infinity : Infinity;
    const best = (now !== null && this.from(rows, at, now, way)) || this.from(rows, -1, edge, way);
    if (best) this.t.choose(best.row, best.index);
  }

  from(rows, at, now, way) {
    let best = null;
    rows.forEach((row, k) => {
      const {begin} = row.table;
      // Times are whole numbers: rows of later lanes begin with this moment, those of earlier ones after it.
      const edge = above(begin, k > at || (k === at && way < 0) ? now - 0.5 : now, row.from, row.to);
      for (let i = way > 0 ? edge : edge - 1; i >= row.from && i < row.to; i += way) {
        if (this.isDim(row.table, i, row)) continue;
        const later = best ? way * (begin[i] - best.row.table.begin[best.index]) : -1;
        if (later < 0 || (later === 0 && way < 0)) best = {row, index: i};
        break;
      }
    });
    return best;
  }

  isDimSample(number) {
    return this.find !== null && this.find.sampled.size > 0 && !this.find.sampled.has(number);
  }

  isDimObject(object) {
    return this.find !== null && this.find.objects.size > 0 && !this.find.objects.has(object.index);
  }

  // Whether a span is not what is searched for.
  isDim(t, i, row) {
    const f = this.find;
    if (!f || (row && t.name !== "holds" && f.threads.has(row.a))) return false;
    if (this.isInFunction(t, i)) return false;
    if (f.objects.size + f.regions.size + f.frames.size + f.sampled.size + f.calls.size === 0) return row ? !f.threads.has(row.a) : false;
    if (t.name === "holds") return row ? !f.objects.has(row.a) : false;
    return !(t.name === "regions" ? f.regions : t.name === "calls" ? f.calls : f.objects).has(t.what[i] - 1);
  }

  // Whether a function that is searched for is in the stack of a wait, or at the site of a hold.
  isInFunction(t, i) {
    const f = this.find;
    if (f.frames.size === 0 || t.name === "regions") return false;
    return (t.stack && f.stacks.has(t.stack[i] - 1)) || f.sites.has(t.site[i] - 1);
  }
}
