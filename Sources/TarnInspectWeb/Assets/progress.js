// The view of the progress of syncs: of each endpoint, of the lists of one, and what belongs to no endpoint.

import { address, data, duration, element, findings, number, request, table } from "./elements.js";

export async function progress(parameters) {
  return parameters.get("endpoint") ? lists(parameters) : endpoints(parameters);
}

async function endpoints(parameters) {
  const found = await request("progress", { after: parameters.get("after") });
  const failures = new Map(found.failures.filter((one) => one.isOfScan).map((one) => [one.name, one.failure]));
  const next = found.next && address("progress", { after: found.next });
  const isEmpty = found.endpoints.length === 0;
  return [
    element("h1", {}, "Progress"),
    element("p", { class: "quiet" }, "The scans of each endpoint, as the store has them. The description may have other endpoints, and an endpoint other lists, which were never scanned."),
    ...findings(found.damages, found.moreDamages),
    isEmpty ? element("p", {}, parameters.get("after") ? "No further endpoint was scanned." : "No endpoint was scanned.")
      : table(["Endpoint", "State", "Last complete scan", "Age", "Pages", "Records", "Notes"], found.endpoints.map((one) => row(one, failures.get(one.name)))),
    next ? element("p", { class: "pager" }, element("a", { href: next, id: "next", class: "button" }, "Next page"))
      : isEmpty ? null : element("p", { class: "quiet" }, "These are the last endpoints."),
    failed(found.failures), servers(found), syncs(found.syncs),
    found.areNotesWhole ? null : element("p", { class: "quiet" }, "There are other syncs or failures, which are not listed."),
    found.members === undefined ? null
      : element("p", { class: "quiet" }, `Scans with a rule for orphans have noted ${number(found.members)} ${found.members === 1 ? "record" : "records"}.`),
  ];
}

function row(one, failure) {
  const isOne = one.list !== undefined, lists = `${number(one.lists)}${one.isWhole ? "" : " or more"} lists`;
  return [
    element("td", { class: "first" }, element("a", { href: address("progress", { endpoint: one.id, name: one.name }) }, data(one.name)),
      isOne ? null : element("span", { class: "quiet" }, ` ${number(one.completeLists)} of ${lists} complete`)),
    state(one, failure), one.completedAt ?? "", element("td", { class: "number" }, one.age === undefined ? "" : duration(one.age)),
    element("td", { class: "number" }, sum(one, one.pages)), element("td", { class: "number" }, sum(one, one.records)),
    element("td", { class: "value" }, notes(one, failure)),
  ];
}

/** A sum of the lists that were read; nothing if it is unknown. */
function sum(one, count) {
  return count === undefined ? "" : number(count) + (one.isWhole ? "" : " or more");
}

/** The state of an endpoint, as `tarn status` has it. The store does not know whether a process scans it now. */
function state(one, failure) {
  if (failure) return element("span", { class: "bad" }, "failed");
  if (one.unfinished) return "under way or interrupted";
  if (one.completeLists < one.lists) return "not complete";
  // An endpoint with too many lists, or with unreadable ones, has others of which nothing is known.
  if (!one.isWhole) return one.lists > 0 ? "complete as far as it was read" : "unknown";
  return element("span", { class: "good" }, "complete");
}

function notes(one, failure) {
  const unfinished = one.unfinished, lists = (count) => `${number(count)} ${count === 1 ? "list" : "lists"}`;
  return [
    unfinished ? line(`${pages(unfinished)}${one.isWhole ? "" : " or more"} so far; begun ${unfinished.startedAt}`) : null,
    one.list ? listNotes(one.list) : [
      one.cutOffLists > 0 ? line(`${lists(one.cutOffLists)} ended at a limit of the description`) : null,
      one.doubtfulLists > 0 ? line(`${lists(one.doubtfulLists)} ended where the server may have more`) : null,
      one.passedLists > 0 ? line(`${lists(one.passedLists)} passed by because of a failure`) : null,
    ],
    failure ? line(`failed ${duration(failure.age)} ago: `, data(failure.message)) : null,
  ];
}

function line(...children) {
  return element("div", {}, children);
}

function pages(scan) {
  return `${number(scan.pages)} ${scan.pages === 1 ? "page" : "pages"}, ${number(scan.records)} ${scan.records === 1 ? "record" : "records"}`;
}

/** What is known about one list, besides its state and its numbers. */
function listNotes(one) {
  const values = [
    ["the next scan requests what changed since ", one.since], ["this scan has begun with ", one.begunSince],
    ["it has found ", one.seen], ["at its first interruption it had found ", one.heldSince],
  ];
  return [
    one.position ? line("next page: ", data(one.position)) : null,
    values.map(([text, value]) => (value === undefined ? null : line(text, element("span", { class: "field" }, data(value))))),
    one.skipped > 0 ? line(`${number(one.skipped)} elements without a usable key`) : null,
    one.isCutOff ? line("ended at a limit of the description: the server has more") : null,
    one.mayEndAtLimit ? line("ended where the server may have more") : null,
    one.isKnownEmpty ? line("the list was empty") : null,
    one.hasOrphans ? line("orphans are still to be looked for") : null,
    one.members === undefined ? null
      : line(`${number(one.members)}${one.areMembersWhole ? "" : " or more"} ${one.members === 1 ? "record" : "records"} noted for the rule for orphans`),
    one.failure ? line(passed(one.failure)) : null,
  ];
}

/** The reason why the last sync has passed by a list. */
function passed(failure) {
  if (failure.text) return ["passed by: ", data(failure.kind), " ", data(failure.text)];
  // These are no failures.
  if (failure.kind === "lacking") return "not requested: its parent record has no value for the path any more";
  return ["a rule for responses has passed over it: ", data(failure.kind)];
}

function failed(failures) {
  if (failures.length === 0) return null;
  return element("section", {}, element("h2", {}, "Failures of the last attempts"),
    table(["Of", "Kind", "Time", "Age", "Message"], failures.map((one) => [
      data(one.name), one.isOfScan ? "scan" : "request", one.failure.at, element("td", { class: "number" }, duration(one.failure.age)),
      element("td", { class: "value" }, data(one.failure.message)),
    ])));
}

function servers(found) {
  if (found.servers.length === 0) return null;
  return element("section", {}, element("h2", {}, "Limits of servers"),
    table(["Server", "Remaining requests", "Pause"], found.servers.map((one) => [
      element("td", { class: "value" }, data(one.origin), one.hasCredentials ? element("span", { class: "quiet" }, " with credentials") : null),
      element("td", { class: "value" }, one.limits.map((limit) => line(
        limit.name ? [data(limit.name), ": "] : "", number(limit.remaining), limit.resetsAt ? ` until ${limit.resetsAt}${left(limit.reset)}` : "")),
      one.limits.length === 0 ? element("span", { class: "quiet" }, "no limit") : null, one.moreLimits > 0 ? line(`and ${number(one.moreLimits)} more`) : null),
      one.pausedUntil ? `until ${one.pausedUntil}${left(one.pause)}` : "",
    ])),
    found.moreServers > 0 ? element("p", { class: "quiet" }, `${number(found.moreServers)} more are not listed.`) : null);
}

function left(seconds) {
  return seconds > 0 ? `, in ${duration(seconds)}` : ", which is over";
}

function syncs(found) {
  if (found.length === 0) return null;
  return element("section", {}, element("h2", {}, "Syncs"),
    table(["Sync", "State", "Begun", "Continued", "Last complete"], found.map((one) => [
      element("td", { class: "value" }, syncName(one)), one.state === "complete" ? "complete" : "under way or interrupted",
      one.startedAt, one.continuedAt ?? "", one.completedAt ?? "",
    ])));
}

/** The endpoints of a sync: `*` is the name of one over all. */
function syncName(one) {
  if (one.name === "*") return "all endpoints";
  return [data(one.name.replace(/^\* /, "")), one.isNameCut ? " …" : ""];
}

async function lists(parameters) {
  const endpoint = parameters.get("endpoint"), name = parameters.get("name") ?? "";
  const found = await request("lists", { endpoint, after: parameters.get("after") });
  const next = found.next && address("progress", { endpoint, name, after: found.next });
  return [
    element("h1", { "data-title": `Progress ${name}` }, element("a", { href: address("progress") }, "Progress"), " ", data(name)),
    element("p", { class: "quiet" }, "The lists of the endpoint: one for each parent record and each set of parameters."),
    ...findings(found.damages, found.moreDamages),
    found.lists.length === 0 ? element("p", {}, "The store has no list here.")
      : table(["List", "State", "Last complete scan", "Age", "Pages", "Records", "Begun", "Notes"], found.lists.map((one) => [
        element("td", { class: "value" }, data(one.name), one.isNameCut ? element("span", { class: "quiet" }, " …") : null),
        one.state === "complete" ? element("span", { class: "good" }, "complete") : "under way or interrupted",
        one.completedAt ?? "", element("td", { class: "number" }, one.age === undefined ? "" : duration(one.age)),
        one.pages, one.records, one.startedAt, element("td", { class: "value" }, listNotes(one)),
      ])),
    next ? element("p", { class: "pager" }, element("a", { href: next, id: "next", class: "button" }, "Next page"))
      : found.lists.length === 0 ? null : element("p", { class: "quiet" }, "These are the last lists."),
  ];
}
