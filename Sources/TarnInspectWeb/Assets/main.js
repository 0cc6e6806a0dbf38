// The page: the view that the part of the address behind `#/` names, and the keys.

import { data, element, plain, request } from "./elements.js";
import { changes } from "./changes.js";
import { operation, outbox } from "./outbox.js";
import { name, overview } from "./overview.js";
import { pages } from "./pages.js";
import { progress } from "./progress.js";
import { record } from "./record.js";
import { records } from "./records.js";
import { responses } from "./responses.js";
import { schema } from "./schema.js";
import { verify } from "./verify.js";

const views = { "": overview, records, record, outbox, operation, progress, responses, changes, schema, pages, verify };
/** The views that the navigation shows as current for those that it does not have. */
const parents = { record: "records", operation: "outbox" };
/** The longest part of a title, in UTF-16 units. */
const longest = 80;
let current = 0, store = "";

async function show() {
  const run = (current += 1);
  const [wanted, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const isKnown = Object.hasOwn(views, wanted);
  for (const one of document.querySelectorAll("nav a")) {
    // Without a value, the attribute means "no".
    if (one.getAttribute("href") === "#/" + (Object.hasOwn(parents, wanted) ? parents[wanted] : wanted)) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  let parts;
  try {
    parts = await (isKnown ? views[wanted] : overview)(new URLSearchParams(query ?? ""), () => run === current);
  } catch (failure) {
    parts = [element("h1", { class: "bad" }, "This view failed"), element("p", {}, data(failure.message))];
  }
  // Another view was opened meanwhile.
  if (run !== current) return;
  const view = document.getElementById("view");
  view.replaceChildren(...parts.flat(Infinity).filter((part) => part !== null && part !== undefined));
  describe();
  view.dataset.view = isKnown && wanted ? wanted : "overview";
  // The number tells a program that drives the page which address the view belongs to.
  view.dataset.run = run;
  view.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Names the view and the store in the title: the names of tabs, of bookmarks and of the steps back are titles. */
function describe() {
  const parts = [document.querySelector("main h1")?.dataset.title ?? document.querySelector("main h1")?.textContent, store];
  document.title = [...new Set(parts.filter(Boolean).map(shortened)), "Tarn inspector"].join(" · ");
}

function shortened(text) {
  return text.length > longest ? text.slice(0, longest) + "…" : text;
}

function move(step) {
  const rows = [...document.querySelectorAll("main tbody tr")];
  const index = rows.findIndex((row) => row.classList.contains("current"));
  rows[index]?.classList.remove("current");
  const next = rows[Math.max(0, Math.min(rows.length - 1, index + step))];
  next?.classList.add("current");
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

function toggleKeys() {
  const dialog = document.getElementById("keys");
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

const keys = {
  o: () => (location.hash = "#/"),
  e: () => (location.hash = "#/records"),
  x: () => (location.hash = "#/outbox"),
  g: () => (location.hash = "#/progress"),
  r: () => (location.hash = "#/responses"),
  c: () => (location.hash = "#/changes"),
  s: () => (location.hash = "#/schema"),
  p: () => (location.hash = "#/pages"),
  v: () => (location.hash = "#/verify"),
  j: () => move(1),
  k: () => move(-1),
  n: () => document.getElementById("next")?.click(),
  u: () => history.back(),
  Enter: () => document.querySelector("main tr.current a")?.click(),
  "/": () => document.querySelector("main input[type=search]")?.focus(),
  "?": toggleKeys,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.nodeName)) return;
  // Enter on a link or a button is theirs.
  if (event.key === "Enter" && /^(A|BUTTON|SUMMARY)$/.test(event.target.nodeName)) return;
  const action = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
  if (!action) return;
  event.preventDefault();
  action();
});
document.getElementById("help").addEventListener("click", toggleKeys);
addEventListener("hashchange", show);
show();
request("overview").then(({ path }) => {
  store = plain(name(path));
  document.getElementById("store").replaceChildren(data(name(path)));
  describe();
}, () => {});
