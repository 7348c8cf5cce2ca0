// SPDX-License-Identifier: MIT
// Search in the timeline: matching lanes and spans, and navigation between matches.

class Search {
  constructor(timeline) {
    this.t = timeline;
    this.find = null; // {threads, objects, regions}: numbers of what matches
  }

  look(text) {
    const wanted = text.trim().toLowerCase(),
      has = (name) => name.toLowerCase().includes(wanted);
    this.find = null;
    this.t.found.textContent = "";
    this.t.options.wanted = null;
    if (wanted) {
      this.find = {
        threads: new Set(this.t.m.threads.filter((t) => has(t.label)).map((t) => t.index)),
        objects: new Set(
          this.t.m.objects.filter((o) => has(o.title) || has(this.t.m.siteText(o.init))).map((o) => o.index),
        ),
        regions: new Set(
          this.t.m.regions
            .map((r, i) => [r, i])
            .filter(([r]) => has(r.name))
            .map(([, i]) => i),
        ),
      };
      const {threads, objects, regions} = this.find,
        sums =
          [...objects].reduce((n, i) => n + this.t.m.objects[i].waited, 0) +
          [...regions].reduce((n, i) => n + this.t.m.regions[i].ns, 0);
      this.t.found.textContent =
        threads.size + objects.size + regions.size === 0
          ? "nothing"
          : [
              threads.size && plural(threads.size, "thread"),
              objects.size && plural(objects.size, "lock"),
              regions.size && plural(regions.size, "region"),
            ]
              .filter(Boolean)
              .join(", ") + (sums ? `, ${duration(sums)}` : "");
      if (threads.size && !objects.size && !regions.size)
        this.t.options.wanted = (lane) => !lane.thread || threads.has(lane.thread.index);
      if (objects.size && !regions.size && !threads.size)
        this.t.options.wanted = (lane) => !lane.object || objects.has(lane.object.index);
    }
    this.t.arrange();
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

  isDimObject(object) {
    return this.find !== null && this.find.objects.size > 0 && !this.find.objects.has(object.index);
  }

  // Whether a span is not what is searched for.
  isDim(t, i, row) {
    const f = this.find;
    if (!f || (row && t.name !== "holds" && f.threads.has(row.a))) return false;
    if (f.objects.size + f.regions.size === 0) return row ? !f.threads.has(row.a) : false;
    if (t.name === "holds") return row ? !f.objects.has(row.a) : false;
    return !(t.name === "regions" ? f.regions : f.objects).has(t.what[i] - 1);
  }
}
