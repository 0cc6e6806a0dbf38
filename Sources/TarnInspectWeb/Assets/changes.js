// The view of the change log: the newest commits, as they come, or those after a commit.

import { address, data, element, findings, link, request, table } from "./elements.js";

/** The milliseconds between two looks at the log. */
const interval = 1000;

export async function changes(parameters, isCurrent) {
  const box = element("div");
  const wanted = parameters.get("since");
  let shown = "";
  async function show() {
    const log = await request("changes", { since: wanted });
    if (!isCurrent()) return;
    // A live view is drawn again only after a commit.
    if (log.newest + log.trimmed !== shown) {
      shown = log.newest + log.trimmed;
      box.replaceChildren(...part(log, wanted));
    }
    if (wanted === null) setTimeout(() => isCurrent() && show().catch(failed), interval);
  }
  // The program was ended, or the store was removed: the last answer stays.
  function failed(failure) {
    box.prepend(element("p", { class: "bad" }, "No longer live: ", data(failure.message)));
  }
  await show();
  return [
    element("h1", {}, "Changes", wanted === null ? element("span", { class: "live" }, "live") : ""),
    box,
  ];
}

function part(log, wanted) {
  const since = BigInt(log.since), older = since > 20n ? since - 20n : 0n;
  const last = log.changes.at(-1)?.sequence;
  return [
    element("p", { class: "quiet" }, `Commits after ${log.since}; the newest is ${log.newest}. `,
      since > 0n ? element("a", { href: address("changes", { since: older.toString() }) }, "Older") : "",
      wanted === null ? "" : [" ", element("a", { href: address("changes") }, "Newest, live")]),
    ...(BigInt(log.trimmed) > since ? [element("p", {}, `The log begins after commit ${log.trimmed}: older changes were trimmed.`)] : []),
    ...findings(log.damages),
    log.changes.length === 0 ? element("p", {}, "These commits changed no record.") :
      table(["Commit", "Operation", "Entity", "Record", "Fields"], log.changes.map((one) => [
        one.sequence, element("span", { class: "tag " + one.operation.replace(/[^a-z]/g, "") }, one.operation), data(one.entity), link(one),
        element("td", { class: "value" }, data((one.fields ?? []).join(", "))),
      ])),
    log.hasMore ? element("p", { class: "pager" },
      element("a", { id: "next", class: "button", href: address("changes", { since: (BigInt(last) - 1n).toString() }) }, "From the last commit shown")) : "",
  ];
}
