// SPDX-License-Identifier: MIT
// Recorded functions: their call paths for the flame graph, and a table of the functions.

function placeFunctions(model, data) {
  model.functions.paths = data.callPaths;
  model.functions.list = model.functions.list.map(
    ([name, file, line, module, calls, open, inclusive, exclusive, least, most, recursive]) => ({
      name: tidy(name, 200),
      at: file ? `${tidy(baseName(file), 100)}:${line}` : "",
      module: tidy(baseName(module), 100),
      calls,
      open,
      inclusive,
      exclusive,
      least,
      most,
      // Nested calls are in the outermost one's time: there is no mean of it.
      mean: calls && !recursive ? inclusive / calls : null,
    }),
  );
}

// Call paths of all threads together; a path comes after the one that it continues.
function callPaths(m) {
  const {list, paths, rest} = m.functions,
    frames = [[]],
    found = [];
  const add = (path, ns, times) => found.push({frames: path, ns, count: times, thread: "", lock: NO_LOCK}),
    addRest = (path, ns) => ns > 0 && add([...path, {name: tr("short call paths, not on this page"), rest: true}], ns, 0);
  addRest([], rest);
  for (let i = 0; i < paths.own.length; i++) {
    const {name, at, module} = list[paths.function[i]],
      note = [at || module, paths.recursion[i] && tr("recursion")].filter(Boolean).join(", ");
    frames.push([...frames[paths.parent[i]], {name, note}]);
    add(frames[i + 1], paths.own[i], paths.calls[i]);
    addRest(frames[i + 1], paths.rest[i]);
  }
  return found;
}

// What is missing, and what limits the numbers: [how many, text, whether it is lost].
function functionMarks(app, f) {
  const left_out = f.count - f.list.length,
    marks = [
      [f.damages, tr("%1 files of recorded functions could not be read.", count(f.damages)), true],
      [f.lostSpace, tr("%1 calls are lost, for lack of nodes or of space on disk.", count(f.lostSpace)), true],
      [f.lostDepth, tr("%1 calls are lost, nested too deep.", count(f.lostDepth)), true],
      [f.lostThread, tr("%1 calls are lost, of threads without a tree.", count(f.lostThread)), true],
      [f.omitted, tr("%1 call paths of more than 10,000 functions are left out.", count(f.omitted)), true],
      [f.pathsLeftOut, tr("%1 call paths with the shortest times are one gray box for each caller.", count(f.pathsLeftOut))],
      [left_out, tr("%1 functions with the shortest times are left out.", count(left_out))],
      [f.running, tr("%1 processes still ran: functions are as they were then.", count(f.running))],
      [f.skipped, tr("%1 calls of functions that were not selected are in their callers' time.", count(f.skipped))],
      [f.open, tr("%1 calls had not returned, and end with the recording.", count(f.open))],
      [f.left, tr("%1 calls were left without a return: exceptions, longjmp(), ends of threads.", count(f.left))],
      [f.stopped, tr("%1 calls ended because recording was stopped, or other functions were selected.", count(f.stopped))],
      [f.unmatched, tr("%1 returns have no recorded call.", count(f.unmatched))],
    ].filter(([n]) => n > 0);
  if (f.whole || app.cut?.cutTo) marks.unshift([1, tr("Recorded functions are of the whole recording.")]);
  return marks.map(([, text, lost]) => h("p", {class: lost ? "note lost" : "note"}, text));
}

function recordedTable(app, f) {
  const time = (title, key, hint) => ({
    title,
    value: (r) => r[key] ?? -1,
    cell: (r) => duration(r[key]),
    number: true,
    hint,
  });
  return [
    h(
      "p",
      {class: "dim"},
      tr(
        "%1 of %2 in %3, %4, without the recorder's own cost of %5.",
        plural(f.calls, "call"),
        plural(f.count, "function"),
        plural(f.threads, "thread"),
        duration(f.ns),
        duration(f.cost),
      ),
    ),
    functionMarks(app, f),
    table(
      [
        {
          title: tr("Function"),
          value: (r) => r.name,
          cell: (r) => [tidy(r.name, 120), r.at && h("small", {class: "callers"}, r.at)],
          class: "name",
        },
        {title: tr("Module"), value: (r) => r.module, class: "site"},
        {
          title: tr("Calls"),
          value: (r) => r.calls,
          cell: (r) => count(r.calls) + (r.open ? tr(" (%1 never ended)", count(r.open)) : ""),
          number: true,
        },
        time(tr("Inclusive"), "inclusive", tr("from call to return; of nested calls the outermost")),
        time(tr("Exclusive"), "exclusive", tr("without the recorded functions that it called")),
        time(tr("Mean"), "mean", tr("inclusive time of a call; none of recursive functions")),
        time(tr("Shortest"), "least"),
        time(tr("Longest"), "most"),
      ],
      f.list,
      {most: 25, empty: f.started ? tr("No recorded function was called.") : tr("Recording of functions was never started.")},
    ),
  ];
}
