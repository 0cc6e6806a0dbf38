// The view of the change log, the newest changes first: live, or the older ones page by page.

import { address, data, element, findings, link, number, request, table } from "./elements.js";

/** The milliseconds between two looks at the log. */
const interval = 1000;

export async function changes(parameters, isCurrent) {
  const before = parameters.get("before"), box = element("div");
  let shown = null, newest = null;
  async function show() {
    const log = await request("changes", { before });
    if (!isCurrent()) return;
    // A live view is drawn again only after a commit.
    const state = [log.incarnation, log.newest, log.trimmed].join(" ");
    if (state !== shown) {
      shown = state;
      replace(box, part(log, before), log.changes.filter((one) => newest !== null && BigInt(one.sequence) > newest).length);
      newest = BigInt(log.newest);
    }
    if (before === null) setTimeout(() => isCurrent() && show().catch(failed), interval);
  }
  // The program was ended, or the store was removed: the last answer stays.
  function failed(failure) {
    live.remove();
    box.prepend(element("p", { class: "bad" }, "No longer live: ", data(failure.message)));
  }
  const live = element("span", { class: "live" }, "live");
  await show();
  return [element("h1", { "data-title": "Changes" }, "Changes", before === null ? live : ""), box];
}

/** Replaces the rows; the current one stays current below those that are new. */
function replace(box, parts, added) {
  const rows = () => [...box.querySelectorAll("tbody tr")];
  const index = rows().findIndex((row) => row.classList.contains("current"));
  const focused = box.contains(document.activeElement) ? document.activeElement : null;
  const links = () => [...box.querySelectorAll("a")];
  // A link keeps the focus: it has the same target, or is the one to the older changes, whose target moves on.
  const isFocused = (link) => (focused.id ? link.id === focused.id : link.hash === focused.hash);
  const place = focused?.nodeName === "A" ? links().filter(isFocused).indexOf(focused) : -1;
  box.replaceChildren(...parts);
  const row = index < 0 ? null : rows()[Math.min(index + added, rows().length - 1)];
  row?.classList.add("current");
  if (!focused) return;
  const same = place < 0 ? [] : links().filter(isFocused);
  (same[Math.min(place, same.length - 1)] ?? row)?.focus({ preventScroll: true });
}

function part(log, before) {
  const isEmpty = log.changes.length === 0, hasFields = log.changes.some((one) => one.fields);
  const heads = ["Commit", "Operation", "Entity", "Record"].concat(hasFields ? ["Fields"] : []);
  const rows = log.changes.map((one) => [
    one.sequence, element("span", { class: "tag " + one.operation.replace(/[^a-z]/g, "") }, one.operation), data(one.entity), link(one),
    ...(hasFields ? [element("td", { class: "value" }, data((one.fields ?? []).join(", ")))] : []),
  ]);
  return [
    element("p", { class: "quiet" }, `The newest commit is ${log.newest}. `, before === null ? "" : element("a", { href: address("changes") }, "Newest changes")),
    ...findings(log.damages, log.moreDamages),
    log.unknown > 0 ? element("p", {}, `${number(log.unknown)} ${log.unknown === 1 ? "change" : "changes"} of entities that the store no longer has: left out.`) : "",
    isEmpty ? element("p", {}, "The log has no change here.") : table(heads, rows),
    log.next ? element("p", { class: "pager" }, element("a", { id: "next", class: "button", href: address("changes", { before: log.next }) }, "Older changes"))
      : BigInt(log.trimmed) > 0n ? element("p", { class: "quiet" }, `The changes up to commit ${log.trimmed} were trimmed.`) : "",
  ];
}
