// The views of the outbox: the operations that are not sent, and one of them.

import { address, data, duration, element, findings, link, links, list, number, request, table, value } from "./elements.js";

/** The most operations of a page, and the most damages that are listed. */
const most = 50, listed = 200;
/** The states by which the list is filtered; failed operations are pending ones. */
const states = ["pending", "sending", "failed", "dead"];

export async function outbox(parameters, isCurrent) {
  const state = parameters.get("state"), after = parameters.get("after");
  const found = { operations: [], damages: new Set(), moreDamages: 0, examined: 0, next: after, counts: null };
  const box = element("div");

  async function read() {
    const page = await request("outbox", { state, after: found.next, limit: most - found.operations.length });
    found.operations.push(...page.operations);
    // Each answer names the faults of the file again.
    for (const damage of page.damages) found.damages.add(damage);
    found.moreDamages += page.moreDamages;
    found.examined += page.examined;
    Object.assign(found, { next: page.next, counts: page.counts });
  }
  const hasMore = () => found.next && found.operations.length < most;
  const draw = () => box.replaceChildren(...parts(found, state, after, hasMore()));
  // An answer reads a limited number of operations: no index has their states.
  async function readOn() {
    while (hasMore() && isCurrent()) {
      await read();
      if (isCurrent()) draw();
    }
  }
  await read();
  draw();
  setTimeout(() => readOn().catch((failure) => box.append(element("p", { class: "bad" }, data(failure.message)))));
  return [
    element("h1", {}, "Outbox"),
    element("p", { class: "quiet" }, "Local changes that the server does not have yet, in the order of their numbers. This page sends nothing."),
    box,
  ];
}

function parts(found, state, after, isReading) {
  const count = `${number(found.operations.length)} ${found.operations.length === 1 ? "operation" : "operations"} of ${number(found.examined)} read`;
  const next = found.next && !isReading && address("outbox", { state, after: found.next });
  return [
    filters(found.counts, state),
    element("p", { class: "quiet" }, count, isReading ? ", reading on …" : ".",
      after ? [" ", element("a", { href: address("outbox", { state }) }, "First page")] : ""),
    ...findings([...found.damages].slice(0, listed), found.moreDamages + Math.max(0, found.damages.size - listed)),
    found.operations.length > 0 ? operationTable(found.operations) : element("p", {}, isReading ? "" : empty(found, state, after)),
    next ? element("p", { class: "pager" }, element("a", { href: next, id: "next", class: "button" }, "Next page"))
      : isReading || found.operations.length === 0 ? "" : element("p", { class: "quiet" }, "These are the last operations."),
  ];
}

function empty(found, state, after) {
  if (found.damages.size + found.moreDamages > 0) return "No operation here is readable.";
  return after || state ? "No operation fits here." : "The outbox is empty.";
}

/** Links to the operations of each state, with their numbers. */
function filters(counts, state) {
  const filter = (name, wanted, count) => element("a", {
    class: "button", href: address("outbox", { state: wanted }), "aria-current": wanted === state ? "true" : null,
  }, name, counts ? ` ${number(count)}` : "");
  return element("div", { class: "filters", role: "group", "aria-label": "Operations by state" },
    filter("all", null, counts?.total), states.map((one) => filter(one, one, counts?.[one])),
    counts ? null : element("span", { class: "bad" }, "The numbers are unreadable."));
}

/** The operations in a table. Those of one record, without a name of it unless they are another one's. */
export function operationTable(operations, record = null) {
  return table(["Operation", "Change", "Record", "Changes", "State", "Attempts", "Last failure"], operations.map((one) => [
    element("td", { class: "first" }, operationLink(one.id)), element("span", { class: "tag " + one.kind }, one.kind),
    element("td", { class: "value" }, record && record.entity === one.entity && record.key === one.key ? "this record" : recordOf(one)),
    element("td", { class: "value" }, summary(one)), element("td", { class: "value" }, stateOf(one)), one.attempts,
    element("td", { class: "value" }, one.failure ? failureOf(one.failure) : ""),
  ]), { class: "operations" });
}

function operationLink(id) {
  return element("a", { href: address("operation", { id }) }, id);
}

function recordOf(one) {
  return [
    element("span", { class: "quiet" }, data(one.entity), " "),
    one.record ? link({ entity: one.entity, key: one.key, id: one.record }) : data(one.key),
    one.hasTemporaryKey ? [" ", element("span", { class: "tag", title: "The server assigns the key." }, "temporary key")] : null,
    one.record ? null : [" ", element("span", { class: "tag bad" }, "unknown entity")],
  ];
}

/** The first changed fields with their values, or the members that are added or removed. */
function summary(one) {
  if (one.relationship) return element("div", {}, element("span", { class: "field" }, data(one.relationship)), ": ", links(one.members, 3, one.memberCount));
  const rest = one.changeCount - one.changes.length;
  return [
    one.changes.map((change) => element("div", {}, element("span", { class: "field" }, data(change.name)), ": ", values(change, 3))),
    rest > 0 ? element("div", { class: "quiet" }, `and ${number(rest)} more`) : null,
  ];
}

/** The value before a change, and the local one. */
function values(change, most) {
  return [change.before ? value(change.before, most) : element("span", { class: "quiet" }, "absent"), " → ", value(change.after, most)];
}

/** The state of an operation, and why it is not sent now. */
function stateOf(one) {
  const notes = [];
  if (one.state === "pending" && one.failure) notes.push("failed");
  if (one.isAccepted) notes.push("accepted by the server, which has not named its key");
  if (one.mayHaveArrived) notes.push("an attempt may have reached the server");
  if (one.state === "pending" && one.pause !== undefined) notes.push(`next attempt in ${duration(one.pause)}`);
  return [
    one.state, notes.map((note) => ", " + note), one.waits.length > 0 || !one.areWaitsWhole ? [element("br"), waits(one)] : null,
  ];
}

/** The operations that must end before. */
function waits(one) {
  const shown = one.waits.map((wait, index) => [
    index > 0 ? ", " : "", operationLink(wait.id), wait.isDead ? " (dead)" : "",
  ]);
  if (shown.length === 0) return "may wait for others: the outbox was not read to its end";
  return ["waits for ", shown, one.areWaitsWhole ? "" : " and perhaps others"];
}

function failureOf(failure) {
  return [failure.status ? `${failure.status} ` : "", element("span", { class: "quiet" }, data(failure.kind)), " ", data(failure.message)];
}

const reasons = {
  sameRecord: "an earlier change of the same record", creation: "it creates a record that this one refers to",
  deletion: "it refers to a record that this one deletes",
};

export async function operation(parameters) {
  const found = await request("operation", { id: parameters.get("id") }), one = found.operation;
  if (!one) {
    const text = found.isUnreadable ? "The operation is unreadable, or a damaged page is on the way to it."
      : "The outbox has no such operation: it was sent or discarded, or it never existed.";
    return [heading(found.id), element("p", { class: "bad" }, text), ...findings(found.damages, found.moreDamages)];
  }
  return [
    heading(found.id),
    element("p", {}, element("span", { class: "tag " + one.kind }, one.kind), " ", recordOf(one)),
    ...findings(found.damages, found.moreDamages),
    element("div", { class: "columns" },
      element("div", {}, changes(one), members(one), deleted(one)),
      element("div", {}, sending(one), waiting(one), failed(one.failure))),
  ];
}

function heading(id) {
  return element("h1", { "data-title": `Operation ${id}` }, element("a", { href: address("outbox") }, "Outbox"), ` operation ${id}`);
}

function changes(one) {
  if (one.changeCount === 0) return null;
  const rest = one.changeCount - one.changes.length;
  const fates = new Map([
    ...(one.serverFields ?? []).map((name) => [name, "left to the server"]), ...(one.unsent ?? []).map((name) => [name, "not sent"]),
  ]);
  return element("section", {}, element("h2", {}, "Changed fields"),
    table(["Field", "Before", "Local value"], one.changes.map((change) => [
      element("td", {}, element("span", { class: "field" }, data(change.name)), fates.has(change.name) ? [" ", element("span", { class: "tag" }, fates.get(change.name))] : null),
      element("td", { class: "value" }, change.before ? value(change.before, 20) : element("span", { class: "quiet" }, "absent")),
      element("td", { class: "value" }, value(change.after, 20)),
    ])),
    rest > 0 ? element("p", { class: "quiet" }, `${number(rest)} more are not listed.`) : null);
}

function members(one) {
  if (!one.relationship) return null;
  return element("section", {}, element("h2", {}, one.kind === "add" ? "Added members" : "Removed members"),
    list([[element("span", { class: "field" }, data(one.relationship)), element("span", {}, links(one.members, 200, one.memberCount))]]));
}

function deleted(one) {
  if (!one.deleted) return null;
  return element("section", {}, element("h2", {}, "Record before its deletion"),
    list(one.deleted.map((field) => [element("span", { class: "field" }, data(field.name)), value(field, 20)])),
    one.deletedCount > one.deleted.length ? element("p", { class: "quiet" }, `${number(one.deletedCount - one.deleted.length)} more are not listed.`) : null);
}

function sending(one) {
  const text = (given) => (given === undefined ? null : data(given));
  return element("section", {}, element("h2", {}, "Sending"), list([
    ["State", element("span", {}, stateOf({ ...one, waits: [], areWaitsWhole: true }))], ["Attempts", number(one.attempts)],
    ["Queued", one.queuedAt], ["Last attempt", one.attemptedAt],
    ["Next attempt", one.notBefore ? `${one.notBefore}, in ${duration(one.pause)}` : null],
    ["Idempotency key", element("span", { class: "field" }, one.idempotencyKey)],
    ["Created at", text(one.location)], ["Based on ETag", text(one.etag)], ["Based on the version of", text(one.lastModified)],
    ["Also refers to", one.relatedCount > 0 ? element("span", {}, links(one.related, 200, one.relatedCount)) : null],
  ]));
}

function waiting(one) {
  if (one.waits.length === 0 && one.areWaitsWhole) return null;
  return element("section", {}, element("h2", {}, "Waits for"),
    one.waits.length > 0 ? table(["Operation", "State", "Reason"], one.waits.map((wait) => [
      operationLink(wait.id), wait.isDead ? "dead: only a retry or a discard ends the wait" : "queued", reasons[wait.reason] ?? wait.reason,
    ])) : null,
    one.areWaitsWhole ? null : element("p", { class: "quiet" }, "It may wait for others: the outbox was not read to its end."));
}

function failed(failure) {
  if (!failure) return null;
  return element("section", {}, element("h2", {}, "Last failure"), list([
    ["Time", failure.at], ["Kind", data(failure.kind)], ["Status", failure.status ? String(failure.status) : null],
    ["Message", data(failure.message)], ["Answer", failure.excerpt ? data(failure.excerpt) : null],
  ]));
}
