// SPDX-License-Identifier: MIT
// Drawing of the timeline lanes.
// Spans narrower than a pixel are merged in it: the longest one gives the color, the part of the pixel they cover the opacity.

const STRENGTHS = 5,
  STOP_DASH_PX = 7;

// Colors as numbers of an ImageData, by their names in CSS.
const colorNumbers = new Map();

function colorNumber(fill) {
  return entry(colorNumbers, fill, () => {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = fill;
    const rgb = parseInt(context.fillStyle.slice(1), 16);
    return ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16);
  });
}

// The pixels of a strip, which are painted at once: a call for each would take most of a picture's time.
class PixelLine {
  constructor(width) {
    this.canvas = document.createElement("canvas");
    this.canvas.width = width;
    this.canvas.height = 1;
    this.context = this.canvas.getContext("2d", {willReadFrequently: true});
    this.image = this.context.createImageData(width, 1);
    this.colors = new Uint32Array(this.image.data.buffer);
  }

  begin(left) {
    this.left = left;
    this.low = this.colors.length;
    this.high = -1;
  }

  put(x, fill, alpha) {
    const at = x - this.left;
    if (at < 0 || at >= this.colors.length) return;
    this.colors[at] = colorNumber(fill) | (Math.round(alpha * 255) << 24);
    this.low = Math.min(this.low, at);
    this.high = Math.max(this.high, at);
  }

  draw(c, y, height) {
    const n = this.high - this.low + 1;
    if (n <= 0) return;
    this.context.putImageData(this.image, 0, 0, this.low, 0, n, 1);
    c.imageSmoothingEnabled = false;
    c.drawImage(this.canvas, this.low, 0, n, 1, this.left + this.low, y, n, height);
    this.colors.fill(0, this.low, this.high + 1);
  }
}

let pixelLineCache = null;

function pixelLine(left, width) {
  const wanted = Math.ceil(width) + 2;
  if (!pixelLineCache || pixelLineCache.colors.length < wanted) pixelLineCache = new PixelLine(wanted);
  pixelLineCache.begin(Math.floor(left) - 1);
  return pixelLineCache;
}

class Pen {
  constructor(context, view, left, width) {
    this.c = context;
    this.left = left;
    this.width = width;
    this.from = view.from;
    this.to = view.to;
    this.scale = width / (view.to - view.from);
  }

  x(ns) {
    return this.left + (ns - this.from) * this.scale;
  }

  // Draws a row; look(i) gives {fill, text(), alpha}.
  row(row, y, height, look) {
    const {begin, ns, idle} = row.table,
      c = this.c;
    const first = Math.max(row.from, above(begin, this.from, row.from, row.to) - 1);
    let pixel = -1,
      cover = 0,
      longest = -1;
    const line = pixelLine(this.left, this.width);
    const flushPixel = () => {
      if (longest < 0) return;
      const seen = look(longest),
        strength = Math.max(1, Math.min(STRENGTHS, Math.ceil(cover * STRENGTHS)));
      line.put(pixel, seen.fill, (seen.alpha ?? 1) * (0.28 + (0.72 * strength) / STRENGTHS));
      longest = -1;
      cover = 0;
    };
    const addTiny = (at, time, i) => {
      if (at !== pixel) flushPixel();
      pixel = at;
      cover += time * this.scale;
      if (longest < 0 || ns[i] > ns[longest]) longest = i;
    };
    const add = (i) => {
      const x0 = this.left + (begin[i] - this.from) * this.scale,
        x1 = x0 + ns[i] * this.scale;
      if (x1 < this.left) return;
      if (x1 - x0 < 1.5 && !(row.table.flags[i] & UNFINISHED)) {
        addTiny(Math.floor(x0), ns[i] - idle[i], i);
        return;
      }
      flushPixel();
      const seen = look(i),
        beyond = seen.open ? Math.max(x1, x0 + 12) + 8 : x1,
        shown = Math.min(beyond, this.left + this.width + 2);
      this.block(
        {...seen, open: seen.open && shown === beyond},
        Math.max(x0, this.left - 2),
        shown,
        y,
        height,
        ns[i] > 0 ? 1 - idle[i] / ns[i] : 1,
      );
    };
    const bins = first < row.to ? binsFor(row, this.scale) : null;
    if (!bins) for (let i = first; i < row.to && begin[i] < this.to; i++) add(i);
    else this.rowOfBins(row, bins, first, add, addTiny);
    flushPixel();
    c.globalAlpha = 1;
    line.draw(c, y, height);
  }

  // Bins of tiny spans at once, the spans of other bins one by one.
  rowOfBins(row, bins, first, add, addTiny) {
    const {begin, ns} = row.table,
      {from, cover, longest, open} = bins;
    let b = Math.max(0, Math.min(bins.n - 1, Math.floor((begin[first] - bins.origin) / bins.width)));
    while (b > 0 && from[b] > first) b--;
    for (; b < bins.n && from[b] < row.to && begin[from[b]] < this.to; b++) {
      const i = from[b],
        x = this.left + (begin[i] - this.from) * this.scale;
      if (from[b + 1] === i) continue;
      if (ns[longest[b]] * this.scale < 1.5 && !open[b] && x >= this.left) addTiny(Math.floor(x), cover[b], longest[b]);
      else for (let k = i; k < from[b + 1] && begin[k] < this.to; k++) add(k);
    }
  }

  block(seen, x0, x1, y, height, density) {
    const c = this.c,
      gap = x1 - x0 > 4 ? 0.6 : 0;
    c.globalAlpha = (seen.alpha ?? 1) * (0.35 + 0.65 * density);
    c.fillStyle = seen.fill;
    c.fillRect(x0, y, x1 - x0 - gap, height);
    c.globalAlpha = 1;
    if (seen.open) this.openEnd(x1, y, height);
    if (height < 11 || x1 - x0 < 24 || !seen.text) return;
    const text = fitted(c, seen.text(), x1 - Math.max(x0, this.left) - 9);
    c.fillStyle = seen.ink;
    if (text) c.fillText(text, Math.max(x0, this.left) + 5, y + height / 2 + 0.5);
  }

  // Unfinished spans continue beyond the end of the recording, and has a red border there.
  openEnd(x, y, height) {
    this.c.fillStyle = theme().bad;
    this.c.fillRect(x - 3, y, 3, height);
  }
}

// ---------------------------------------------------------------------------------------- looks of spans

// Black or white, by the contrast to a fill "#rrggbb": at least 4.58 to 1 with one of them.
function inkOn(fill) {
  const light = luminance([1, 3, 5].map((i) => parseInt(fill.slice(i, i + 2), 16)));
  return (light + 0.05) * (light + 0.05) > 0.05 * 1.05 ? "#000000" : "#ffffff";
}

function waitLook(m, dim) {
  const w = m.tables.waits,
    t = theme();
  return (i) => {
    const o = m.object(w.what[i]),
      fill = o ? o.color : OTHER_COLOR,
      calm = o ? o.calm : CALM.has(WAIT_KINDS[w.kind[i]]),
      holder = m.thread(w.holder[i]);
    const alpha = (calm ? 0.3 : 1) * (dim(w, i) ? 0.15 : 1),
      what = o ? o.title : tr("several");
    return {
      fill,
      alpha,
      ink: calm ? t.ink : inkOn(fill),
      open: w.flags[i] & UNFINISHED,
      text: () => (w.more[i] ? `${count(w.more[i] + 1)}\u00d7 ` : "") + what + (holder ? ` \u2190 ${holder.label}` : ""),
    };
  };
}

function heldLook(m, dim) {
  const holds = m.tables.holds;
  return (object) => (i) => ({
    fill: object.color,
    alpha: dim(holds, i, object) ? 0.15 : 0.95,
    open: holds.flags[i] & UNFINISHED,
  });
}

function holderLook(m, dim) {
  const holds = m.tables.holds,
    t = theme();
  return (thread, object) => {
    const fill = threadColor(thread.index, t.dark),
      ink = inkOn(fill);
    return (i) => ({
      fill,
      alpha: dim(holds, i, object) ? 0.15 : 1,
      ink,
      open: holds.flags[i] & UNFINISHED,
      text: () => (holds.more[i] ? `${count(holds.more[i] + 1)}\u00d7 ` : "") + thread.label,
    });
  };
}

function regionLook(m, dim) {
  const r = m.tables.regions,
    t = theme();
  return (i) => {
    const region = r.what[i] ? m.regions[r.what[i] - 1] : null,
      name = region ? tidy(region.name, 120) : tr("several");
    return {
      fill: region ? regionColor(region.name, t.dark) : t.faint,
      alpha: dim(r, i) ? 0.2 : 1,
      ink: t.ink,
      open: r.flags[i] & UNFINISHED,
      text: () => (r.more[i] ? `${count(r.more[i] + 1)}\u00d7 ` : "") + name,
    };
  };
}

function runLook(m) {
  const r = m.tables.runs,
    t = theme();
  const looks = [{fill: t.run, alpha: 0.7}, {fill: t.run}, {fill: t.warn}, {fill: t.run, alpha: 0}];
  return (i) => looks[r.what[i]] || looks[0];
}

// -------------------------------------------------------------------------------------------------- lanes

function drawThread(pen, m, lane, y, looks) {
  const c = pen.c,
    t = theme(),
    state = lane.strips[0],
    x0 = Math.max(pen.left, pen.x(lane.thread.begin)),
    x1 = Math.min(pen.left + pen.width, pen.x(lane.thread.end));
  const thin = Math.max(2, Math.round(state.height / 3)),
    at = y + state.y + (state.height - thin) / 2;
  c.fillStyle = t.run;
  if (lane.thread.runRows.length > 0) {
    // Recorded scheduler states are drawn; a hair for the rest of the thread's life.
    c.fillRect(x0, y + state.y + Math.floor(state.height / 2), Math.max(0, x1 - x0), 1);
    for (const row of lane.thread.runRows) pen.row(row, at, thin, looks.run);
  } else if (x1 > x0) c.fillRect(x0, at, Math.max(1, x1 - x0), thin);
  drawStops(pen, m, lane.thread, y + state.y, state.height);
  for (const strip of lane.strips) {
    for (const row of strip.rows) {
      const look =
        strip.kind === "state" ? looks.wait : strip.kind === "call" ? looks.call : strip.kind === "held" ? looks.held(m.objects[row.a]) : looks.region;
      if (strip.kind === "state") clearBehind(pen, row, y + strip.y, strip.height, t.lane);
      pen.row(row, y + strip.y, strip.height, look);
    }
    if (strip.kind === "sample") drawSamples(pen, m, lane.thread, y + strip.y, strip.height, looks.isDimSample);
    if (strip.kind === "call") drawStalls(pen, lane.thread, y + strip.y, strip.height);
  }
  for (const [ns] of lane.thread.marks) {
    const x = pen.x(ns);
    if (x < pen.left || x > pen.left + pen.width) continue;
    c.fillStyle = t.accent;
    c.beginPath();
    c.moveTo(x - 4, y + 1);
    c.lineTo(x + 4, y + 1);
    c.lineTo(x, y + 8);
    c.fill();
  }
}

// While recording was stopped a thread has no state, but waits that began before.
function drawStops(pen, m, thread, y, height) {
  const c = pen.c,
    end = pen.left + pen.width;
  for (const [begin, ns] of m.stops(thread.process)) {
    const x0 = Math.max(pen.left, pen.x(Math.max(begin, thread.begin))),
      x1 = Math.min(end, pen.x(Math.min(begin + ns, thread.end)));
    if (x1 <= x0) continue;
    c.fillStyle = theme().lane;
    c.fillRect(x0, y, x1 - x0, height);
    c.fillStyle = theme().faint;
    for (let x = Math.ceil(x0 / STOP_DASH_PX) * STOP_DASH_PX; x < x1; x += STOP_DASH_PX) c.fillRect(x, y + height / 2 - 1, Math.min(2, x1 - x), 2);
  }
}

// Clears what is drawn below the waits of a row: a thread does not run while it waits, and waits are partly transparent.
// Merged spans of several waits with time between them are left: the thread ran there.
function clearBehind(pen, row, y, height, fill) {
  const {begin, ns, idle} = row.table,
    end = pen.left + pen.width;
  pen.c.fillStyle = fill;
  for (let i = Math.max(row.from, above(begin, pen.from, row.from, row.to) - 1); i < row.to && begin[i] < pen.to; i++) {
    const x0 = Math.max(pen.left, pen.x(begin[i])),
      x1 = Math.min(end, pen.x(begin[i] + ns[i]));
    if (idle[i] === 0 && ns[i] * pen.scale >= 1.5 && x1 > x0) pen.c.fillRect(x0, y, x1 - x0, height);
  }
}

function drawObject(pen, m, lane, y, looks) {
  for (const strip of lane.strips) {
    if (strip.kind === "queue") drawQueue(pen, m.queue(lane.object), y + strip.y, strip.height, lane.object.color);
    for (const row of strip.rows) pen.row(row, y + strip.y, strip.height, looks.holder(m.threads[row.b], lane.object));
  }
}

// How many wait, the most of each pixel.
function drawQueue(pen, {t, n}, y, height, fill) {
  let most = 1;
  for (let i = 0; i < n.length; i++) most = Math.max(most, n[i]);
  const c = pen.c;
  c.fillStyle = fill;
  c.globalAlpha = 0.5;
  const end = pen.left + pen.width,
    bar = (x0, x1, waiters) => {
      if (waiters > 0) c.fillRect(x0, y + height * (1 - waiters / most), x1 - x0, (height * waiters) / most);
    };
  // `top` is the most in the pixel at x0; from the next pixel on it is `level`.
  let i = above(t, pen.from, 0, t.length),
    level = i > 0 ? n[i - 1] : 0,
    x0 = pen.left,
    top = level;
  for (; i < t.length && t[i] < pen.to; i++) {
    const x = Math.floor(pen.x(t[i]));
    if (x > x0) {
      bar(x0, x0 + 1, top);
      bar(x0 + 1, x, level);
      x0 = x;
      top = level;
    }
    level = n[i];
    top = Math.max(top, level);
  }
  bar(x0, Math.min(end, x0 + 1), top);
  bar(x0 + 1, end, level);
  c.globalAlpha = 1;
}

function drawCounter(pen, m, lane, y) {
  const c = pen.c,
    t = theme(),
    curve = m.counterCurve(lane.number),
    strip = lane.strips[0],
    n = Math.floor(pen.width / 2);
  const rates = new Float64Array(n),
    step = (pen.to - pen.from) / n;
  let before = curveAt(curve, pen.from),
    most = 0;
  for (let i = 0; i < n; i++) {
    const now = curveAt(curve, pen.from + (i + 1) * step);
    rates[i] = ((now - before) / step) * 1e9;
    before = now;
    most = Math.max(most, rates[i]);
  }
  c.fillStyle = t.accent;
  c.globalAlpha = 0.55;
  for (let i = 0; i < n && most > 0; i++)
    c.fillRect(
      pen.left + i * 2,
      y + strip.y + strip.height * (1 - rates[i] / most),
      2,
      (strip.height * rates[i]) / most,
    );
  c.globalAlpha = 1;
  const text = most > 0 ? tr("%1 at most", (lane.counter.scaled ? "~" : "") + rate(most, lane.counter)) : tr("no readings here");
  c.fillStyle = t.lane;
  c.globalAlpha = 0.8;
  c.fillRect(pen.left + 4, y + 3, c.measureText(text).width + 8, 15);
  c.globalAlpha = 1;
  c.fillStyle = t.dim;
  c.fillText(text, pen.left + 8, y + 11);
}

// A label, its color and a note in the gutter.
// Threads that do not live in the view are dimmed.
function drawLabel(c, lane, y, active, view) {
  const t = theme(),
    absent = lane.thread && (lane.thread.end < view.from || lane.thread.begin > view.to);
  c.fillStyle = active ? t.select : t.panel;
  c.fillRect(0, y, GUTTER, lane.height);
  c.fillStyle = lane.thread ? threadColor(lane.thread.index, t.dark) : lane.object ? lane.object.color : t.accent;
  if (lane.kind !== "counter") c.fillRect(0, y + 2, 4, lane.height - 4);
  const two = lane.note && lane.height >= 34,
    middle = y + Math.min(lane.height, 44) / 2;
  c.fillStyle = absent ? t.dim : t.ink;
  c.fillText(fitted(c, lane.title, GUTTER - 20), 12, two ? middle - 7 : middle);
  c.fillStyle = t.dim;
  if (two) c.fillText(fitted(c, lane.note, GUTTER - 20), 12, middle + 8);
}

function drawHead(c, lane, y, width) {
  const t = theme();
  c.fillStyle = t.shade;
  c.fillRect(0, y, width, lane.height);
  c.fillStyle = t.dim;
  c.font = `600 11px ${t.font}`;
  c.fillText(`${lane.open ? "\u25be" : "\u25b8"}  ${lane.title}`, 10, y + lane.height / 2);
  const wide = c.measureText(`${lane.open ? "\u25be" : "\u25b8"}  ${lane.title}`).width;
  c.font = `11px ${t.font}`;
  c.fillText(lane.note, 18 + wide, y + lane.height / 2);
}

// ------------------------------------------------------------------------------------------------- arrows

// From the lane of the thread that ended a wait, when it did, to the waiter.
function drawArrow(pen, x0, y0, x1, y1, strong) {
  const c = pen.c,
    t = theme(),
    bend = Math.max(14, Math.min(60, Math.abs(x1 - x0) / 2));
  c.strokeStyle = c.fillStyle = strong ? t.accent : t.ink;
  c.globalAlpha = strong ? 1 : 0.42;
  c.lineWidth = strong ? 2 : 1;
  c.beginPath();
  c.moveTo(x0, y0);
  c.bezierCurveTo(x0 + bend / 3, y0 + (y1 - y0) * 0.55, x1 - bend / 3, y1 - (y1 - y0) * 0.55, x1, y1);
  c.stroke();
  const up = y1 < y0 ? 1 : -1;
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x1 - 3.5, y1 + up * 6);
  c.lineTo(x1 + 3.5, y1 + up * 6);
  c.fill();
  c.globalAlpha = 1;
}
