// SPDX-License-Identifier: MIT
// Findings: what costs time that a change of the program could save, one sentence each, with a link to the evidence.

// Text between backquotes is the name of an object.
function findingText(text) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", null, tidy(part, 120)) : tidy(part, 2000)));
}

// Where the timeline shows it: the longest example with some time around it.
function findingStretch(m, f) {
  if (f.begin === null) return {};
  const margin = Math.max(1000, (f.end - f.begin) / 4);
  return {from: Math.max(m.shown.from, f.begin - margin), to: Math.min(m.shown.to, f.end + margin)};
}

function showFinding(app, f) {
  if (f.kind === "deadlock") return app.show("deadlock");
  const where = findingStretch(app.model, f);
  if (f.object !== null) where.object = f.object;
  else if (f.thread !== null) where.thread = f.thread;
  return app.show("timeline", where);
}

function findingsPanel(app) {
  const found = app.model.findings;
  if (found.length === 0) return null;
  return panel(
    "Findings",
    h(
      "ol",
      {class: "findings"},
      found.map((f) =>
        h(
          "li",
          {class: f.kind === "deadlock" ? "bad" : null},
          h("span", null, findingText(f.text), ". "),
          button(f.kind === "deadlock" ? "Show the deadlock" : "Show in the timeline", () => showFinding(app, f)),
        ),
      ),
    ),
    h("p", {class: "note"}, "Gains are estimates: the same events in the same order, with the change made."),
  );
}
