// SPDX-License-Identifier: MIT
// Formats of numbers, times and names.

const NS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "\u00b5s"],
  [1, "ns"],
];

// Four digits: 1.234 s, 12.34 ms, 123.4 us.
function duration(ns) {
  if (ns === null || ns === undefined || Number.isNaN(ns)) return "\u2013";
  if (ns === 0) return "0";
  const [unit, word] = NS.find(([size]) => Math.abs(ns) >= size) || NS[3];
  const n = ns / unit;
  const digits = unit === 1 ? 0 : Math.abs(n) >= 100 ? 1 : Math.abs(n) >= 10 ? 2 : 3;
  return n.toFixed(digits) + "\u202f" + word;
}

// A moment on an axis whose marks are `step` apart.
function moment(ns, step) {
  const [unit, word] =
    NS.find(([size]) => (step >= size / 2 ? true : Math.abs(ns) >= size && step >= size / 1e4)) || NS[3];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return (ns / unit).toFixed(digits) + "\u202f" + word;
}

// A moment to the nanosecond, in seconds: 1.234 567 890 s.
function exact(ns) {
  const text = (Math.round(ns) / 1e9).toFixed(9);
  return text.replace(/(\.\d{3})(\d{3})(\d{3})$/, "$1\u2009$2\u2009$3") + "\u202fs";
}

// When a recording was made, as is usual where it is read.
function localTime(ns) {
  return new Date(ns / 1e6).toLocaleString(LANGUAGE === "zh" ? "zh-CN" : undefined);
}

function count(n) {
  if (n === null || n === undefined) return "\u2013";
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

function percent(part, whole) {
  if (!(whole > 0)) return "\u2013";
  const p = (100 * part) / whole;
  return (p > 0 && p < 0.1 ? "<0.1" : p.toFixed(1)) + "\u202f%";
}

// A counter in its unit, with its status.
function counted({value, status}, counter) {
  if (value === null) return tr(status);
  return (status === "scaled" ? "~" : "") + (counter && counter.unit === "ns" ? duration(value) : count(value));
}

function rate(perSecond, counter) {
  if (counter.unit === "ns") return tr("%1 CPUs", (perSecond / 1e9).toFixed(2));
  const [size, word] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ].find(([s]) => perSecond >= s) || [1, ""];
  return (perSecond / size).toFixed(perSecond / size >= 100 ? 0 : 1) + "\u202f" + word + "/s";
}

// Names may hold anything: what has no form of its own, or would turn the text around, is shown as a sign. Long ones lose
// their middle.
function tidy(text, most = 200) {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");
  if (clean.length <= most) return clean;
  return clean.slice(0, Math.ceil(most * 0.7)) + "\u2026" + clean.slice(-Math.floor(most * 0.25));
}

function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

function plural(n, one, many) {
  return LANGUAGE === "zh" ? tr(`%1 ${one}`, count(n)) : `${count(n)}\u00a0${n === 1 ? one : many || one + "s"}`;
}

// The first index in a sorted array from `from` to `to` whose value is above `value`.
function above(array, value, from, to) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (array[middle] > value) to = middle;
    else from = middle + 1;
  }
  return from;
}
