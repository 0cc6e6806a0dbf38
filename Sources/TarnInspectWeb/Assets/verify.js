// The view of a check of the whole store, with its progress.

import { data, element, findings, number, request, table } from "./elements.js";

export async function verify(parameters, isCurrent) {
  const box = element("div", { "aria-live": "polite" });
  const button = element("button", { class: "main" }, "Check the whole store");
  async function show(start) {
    const state = await request("verify", { start: start ? "yes" : null });
    if (!isCurrent()) return;
    button.disabled = state.phase === "running";
    box.replaceChildren(...parts(state));
    if (state.phase === "running") setTimeout(() => isCurrent() && show(false).catch(failed), 200);
  }
  function failed(failure) {
    button.disabled = false;
    box.replaceChildren(element("p", { class: "bad" }, data(failure.message)));
  }
  button.addEventListener("click", () => show(true).catch(failed));
  await show(false);
  return [
    element("h1", {}, "Verify"),
    element("p", { class: "quiet" }, "Reads every page, row, index entry and counter, as of one commit. It changes nothing."),
    element("p", {}, button), box,
  ];
}

function parts(state) {
  switch (state.phase) {
    case "running": {
      const done = Math.min(state.pages, state.total), share = state.total > 0 ? Math.floor((100 * done) / state.total) : 0;
      return [
        element("progress", { max: Math.max(1, state.total), value: done, "aria-label": "Pages read" }),
        element("p", { class: "quiet" }, `${number(done)} of ${number(state.total)} pages, ${share} %`),
      ];
    }
    case "done":
      return [
        element("p", { class: "result " + (state.isSound ? "good" : "bad"), id: "result" },
          (state.isSound ? "The store is sound" : `${number(state.findingCount)} findings`) + `; ${state.seconds.toFixed(1)} s`),
        ...findings(state.findings),
        table(["Entity", "Records"], Object.entries(state.records).toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => [data(name), count])),
      ];
    case "failed": return [element("p", { class: "bad" }, data(state.failure))];
    default: return [];
  }
}
