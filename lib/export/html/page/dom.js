// SPDX-License-Identifier: MIT
// DOM elements, built without parsing markup from text.

function fill(element, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

function replace(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

function setStyle(element, style) {
  for (const [key, value] of Object.entries(style)) {
    if (key.startsWith("--")) element.style.setProperty(key, value);
    else element.style[key] = value;
  }
}

function setAll(element, attributes) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") setStyle(element, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  return element;
}

// h("p", {class: "dim"}, "text", child, ...)
function h(tag, attributes, ...children) {
  return fill(setAll(document.createElement(tag), attributes), children);
}

function svg(tag, attributes, ...children) {
  return fill(setAll(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes), children);
}

function byId(id) {
  return document.getElementById(id);
}

function button(label, onclick, attributes) {
  return h("button", {type: "button", class: "button", onclick, ...attributes}, label);
}

// A table whose columns sort by a click. Column: {title, value(row): what sorts, cell(row): what is shown, number: bool}.
// What is longer than `most` rows comes on demand.
function table(columns, rows, {caption, most = 50, onrow, sort = null, empty = tr("None.")} = {}) {
  if (rows.length === 0) return h("p", {class: "empty"}, empty);
  const state = {column: sort, down: true, shown: most};
  const body = h("tbody"),
    heads = columns.map((c, i) =>
      h(
        "th",
        {scope: "col", class: c.number ? "n" : null, title: c.hint},
        h(
          "button",
          {type: "button", class: "sort", onclick: () => order(i)},
          c.title,
          h("span", {class: "arrow", "aria-hidden": "true"}),
        ),
      ),
    );
  const more = button(
    "",
    () => {
      state.shown = Infinity;
      draw();
    },
    {class: "button more"},
  );
  function order(i) {
    state.down = state.column === i ? !state.down : Boolean(columns[i].number);
    state.column = i;
    draw();
  }
  function sorted() {
    if (state.column === null) return rows;
    const value = columns[state.column].value,
      way = state.down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const x = value(a),
        y = value(b);
      return way * (x < y ? -1 : x > y ? 1 : 0);
    });
  }
  function line(row) {
    const cells = columns.map((c) => h("td", {class: c.number ? "n" : c.class}, c.cell ? c.cell(row) : c.value(row)));
    if (!onrow) return h("tr", null, cells);
    const go = (e) => {
      if (e.type === "click" || e.key === "Enter") onrow(row);
    };
    return h("tr", {class: "link", tabindex: "0", onclick: go, onkeydown: go}, cells);
  }
  function draw() {
    heads.forEach((head, i) =>
      head.setAttribute("aria-sort", state.column !== i ? "none" : state.down ? "descending" : "ascending"),
    );
    body.replaceChildren(...sorted().slice(0, state.shown).map(line));
    more.hidden = rows.length <= state.shown;
    more.textContent = tr("Show all %1", count(rows.length));
  }
  draw();
  return h(
    "div",
    {class: "table"},
    h("table", null, caption ? h("caption", null, caption) : null, h("thead", null, h("tr", null, heads)), body),
    more,
  );
}

// Columns for counters that any of the rows has: each row has `counters`, in the order of the model's.
function counterColumns(m, rows) {
  return m.counters
    .map((c, i) => ({
      title: c.name,
      hint: c.summary,
      number: true,
      any: rows.some((r) => r.counters[i]),
      value: (r) => r.counters[i]?.sum.value ?? -1,
      cell: (r) => (r.counters[i] ? counted(r.counters[i].sum, c) : "\u2013"),
    }))
    .filter((column) => column.any);
}

// All canvases, to be drawn at once for paper.
const canvases = new Set();

function drawCanvases() {
  for (const screen of canvases) {
    if (screen.canvas.isConnected) screen.now();
    else canvases.delete(screen);
  }
}

// A canvas as large as its place on the screen, in device pixels; `draw(context, width, height)` in CSS pixels.
function canvasIn(place, draw, attributes) {
  const canvas = h("canvas", attributes);
  place.append(canvas);
  let asked = false;
  function now() {
    asked = false;
    const box = canvas.getBoundingClientRect(),
      scale = window.devicePixelRatio || 1;
    const width = Math.round(box.width),
      height = Math.round(box.height);
    if (width === 0 || height === 0) return;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const context = canvas.getContext("2d", {alpha: false});
    context.setTransform(scale, 0, 0, scale, 0, 0);
    draw(context, width, height);
  }
  const ask = () => {
    if (!asked) requestAnimationFrame(now);
    asked = true;
  };
  new ResizeObserver(ask).observe(canvas);
  const screen = {canvas, ask, now};
  canvases.add(screen);
  return screen;
}

// Text that fits into `width`, its end cut off; "" where too little of it would be left to be useful.
function fitted(context, text, width) {
  if (width < 8) return "";
  const whole = context.measureText(text).width;
  if (whole <= width) return text;
  if (width < 44) return "";
  let n = Math.floor((text.length * width) / whole) - 1;
  while (n > 1 && context.measureText(text.slice(0, n) + "\u2026").width > width) n--;
  return n < 2 ? "" : text.slice(0, n) + "\u2026";
}
