// SPDX-License-Identifier: MIT
// Findings: what costs time that a change of the program could save, one sentence each, with a link to the evidence.

// The parts of a sentence of lib/findings, as the catalogue has them; objects are without their backquotes there.
const FINDING_CLAUSES = [
  "Threads spend %1 of their time waiting for %2, which is held",
  " %1 at a time (at most %2)",
  ", %1 of that time in waits for signals",
  ", %1 of that time in waits for child processes",
  ", %1 of that time in write or fsync",
  ", %1 of that time in %2;",
  "; if it was held half as long, the run would be %1 (%2) shorter",
  "; without that while it is held, the run would be %1 (%2) shorter",
  "Passing %1 on to a waiting thread takes %2 (%3) of the run, %4 each of %5 times, while it is held",
  "; fewer and longer critical sections would save most of that",
  "Threads pass the work on to each other %1 times on the critical path, and waking the next one takes %2 (%3) of the run; more work for each hand-over would save most of that",
  "Threads wait %1 in all at the barrier %2 for the last one to arrive",
  ", which is thread %1 in %2 of %3 rounds",
  "; with equal shares of the work the run would be %1 (%2) shorter",
  "; it works %1, %2 more than the mean",
  "Of %1 threads that were created together, thread %2 works %3, %4 more than the mean, and ends %5 after the first one",
  "On average %1 threads are ready to run and %2 of them have a CPU, so threads on the critical path wait %3 of the run for one; fewer threads would do the same work with fewer switches",
  "Of %1 times that a thread is woken from its wait for %2",
  ", %1 (%2) are in vain: it finds nothing to do and waits again",
  "; %1 broadcasts wake all waiting threads, and a signal, or a condition variable for each condition, would wake those that can continue",
  "; the run would be %1 (%2) shorter",
  "; the run would be as long, with fewer context switches",
  "Deadlock: ",
  "Stalled: ",
  "threads wait for each other to end: ",
  "threads wait for each other: ",
  "a thread waits for a lock that it holds: ",
  "the holder of the lock has ended: ",
  "a thread waits for its own end: ",
  "no thread is left to post the semaphore: ",
  "no thread is left to signal the condition variable: ",
  "no thread is left to arrive at the barrier: ",
  "no thread is left to wake the futex: ",
  "all threads are asleep, and no known event could wake one: ",
  "threads of several processes wait for each other: ",
  "threads cannot continue: ",
  "; and %1 more",
  " waits for the end of thread %1",
  "thread %1",
  " waits for ",
  " in %1",
  " at %1",
];

// A thread with its name, a figure with its unit or an object, and all up to the next clause, where %1, %2, ... of a clause are.
const CLAUSE_PARTS = {
  thread: "(\\d+(?: \\([^)]*\\))?)",
  value: "([\\d.]+(?: (?:%|s|ms|us|ns)(?![a-z]))?|\\u0001\\d+\\u0002|\\w+(?=;))",
  rest: "(.+?)(?=[;:；：]|, \\d|，|$)",
};

function clausePattern(clause) {
  const {thread, value, rest} = CLAUSE_PARTS,
    escaped = clause.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(
    / (in|at) %1$/.test(clause) ? escaped.replace("%1", rest) : escaped.replace(/thread %\d/g, `thread ${thread}`).replace(/%\d/g, value),
    "g",
  );
}

// A sentence in the language of the page. Objects are kept out of it: their names may hold anything.
function findingSentence(text) {
  if (LANGUAGE !== "zh") return text;
  const objects = [];
  let sentence = text.replace(/`[^`]*`/g, (name) => `\u0001${objects.push(name) - 1}\u0002`);
  for (const clause of FINDING_CLAUSES) sentence = sentence.replace(clausePattern(clause), (_, ...found) => tr(clause, ...found));
  return sentence.replace(/\u0001(\d+)\u0002/g, (_, i) => objects[i]);
}

// Text between backquotes is the name of an object.
function findingText(text) {
  return findingSentence(text).split("`").map((part, i) => (i % 2 ? h("code", null, tidy(part, 120)) : tidy(part, 2000)));
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
    tr("Findings"),
    h(
      "ol",
      {class: "findings"},
      found.map((f) =>
        h(
          "li",
          {class: f.kind === "deadlock" ? "bad" : null},
          h("span", null, findingText(f.text), tr(". ")),
          button(f.kind === "deadlock" ? tr("Show the deadlock") : tr("Show in the timeline"), () => showFinding(app, f)),
        ),
      ),
    ),
    h("p", {class: "note"}, tr("Gains are estimates: the same events in the same order, with the change made.")),
  );
}
