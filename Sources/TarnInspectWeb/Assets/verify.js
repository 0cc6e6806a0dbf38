// The view of a check of the whole store, with its progress.

import { data, element, findings, isOf, number, request, table } from "./elements.js";

export async function verify(parameters, isCurrent) {
  const box = element("div", { "aria-live": "polite" });
  const button = element("button", { class: "main" }, "Check the whole store");
  async function show(start) {
    const state = await request("verify", { start: start ? "yes" : null });
    // A damaged file may have no overview; its check has a result nevertheless.
    const last = state.phase === "done" ? await request("overview").catch((failure) => ({ failure: failure.message })) : null;
    if (!isCurrent()) return;
    button.disabled = state.phase === "running";
    box.replaceChildren(...parts(state, last).filter((part) => part !== null));
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

/** The commit and the time that a result is about; the store may be another one since. */
function place(state, last) {
  const commit = state.transaction > 0 ? `commit ${number(BigInt(state.sequence))}, ` : "";
  const isOld = last !== null && !isOf(last, state);
  const note = !isOld ? "" : last.failure ? [" The store cannot be read now: ", data(last.failure)] : " The store has changed since.";
  return element("p", { class: isOld ? "bad" : "quiet", id: "place" },
    `As of ${commit}${new Date(1000 * state.began).toTimeString().slice(0, 8)}.`, note);
}

function verdict(state) {
  if (state.isSound) return "The store is sound";
  if (state.findingCount === 0) return "Some parts could not be compared";
  return `${number(state.findingCount)} ${state.findingCount === 1 ? "finding" : "findings"}`;
}

/** The comparisons that were impossible: their parts may have faults that are no finding. */
function notCompared(parts) {
  if (parts.length === 0) return [];
  return [element("section", { class: "damage" }, element("h2", {}, "Not compared"),
    element("ul", {}, parts.map((part) => element("li", {}, data(part)))))];
}

function parts(state, last) {
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
          `${verdict(state)}; ${state.seconds.toFixed(1)} s`),
        place(state, last),
        state.readWithoutLocks ? element("p", { class: "quiet" }, "Read without locks: ", data(state.readWithoutLocks)) : null,
        ...findings(state.findings, state.findingCount - state.findings.length),
        ...notCompared(state.notCompared),
        table(["Entity", "Records"], Object.entries(state.records).toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => [data(name), count])),
      ];
    case "failed": return [element("p", { class: "bad" }, data(state.failure))];
    default: return [];
  }
}
