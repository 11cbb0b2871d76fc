// The page of the mnestome: filters, search, months, the panel beside the picture and the list below it.
// Rules: everything that the picture shows, the list says in words; whatever can be pointed at can be reached by keys.
// Names come from outside and are only ever put in as text.

import { ago, complain, counted, get, make, toast } from "./metnos.js";
import { Picture } from "./graph_draw.js";
import { hands } from "./graph_hands.js";

const $ = (id) => document.getElementById(id);
const page = $("graph"), stage = $("stage"), sieve = $("sieve"), panel = $("panel"), live = $("said"), month = $("month");
const DAY = 86400000, LISTED = 50, NARROW = matchMedia("(max-width: 64rem)");
let data = { nodes: [], mnests: [], states: [], tags: [] }, chosen = {}, focused = null, listed = LISTED, picture = null;

// -- what the server sends, unpacked

function unpack({ states, tags, sets, nodes, mnests, total }) {
  const names = nodes.map(([name]) => name), tagged = sets.map((each) => each.map((tag) => tags[tag]));
  return {
    states, tags, total,
    nodes: nodes.map(([name, state, purpose, traffic, x, y]) => ({ name, state, purpose, traffic, x, y })),
    mnests: mnests.map(([id, from, to, state, weight, uses, day, set]) => ({
      id, source: names[from], target: names[to], state: states[state][0], word: states[state][1], rank: state, weight: weight / 1000, uses, day, tags: tagged[set],
    })).sort((one, two) => two.weight - one.weight || one.id.localeCompare(two.id)),
  };
}

// -- what is shown

const asked = () => new FormData(sieve);
function filter() {
  const form = asked(), states = new Set(form.getAll("state")), tag = form.get("tag"), least = Number(form.get("min_weight") || 0), days = Number(form.get("days") || 0);
  const since = days ? (month.value === month.max ? Date.now() : Date.parse(`${months[month.value]}-28`)) / DAY - days : -Infinity;
  return (each) => states.has(each.state) && each.weight >= least && (!tag || each.tags.includes(tag)) && each.day >= since;
}
function sought() {
  const text = String(asked().get("q") ?? "").trim().toLowerCase();
  if (!text) return null;
  const names = data.nodes.map((each) => each.name);
  return names.find((name) => name.toLowerCase() === text) ?? names.find((name) => name.toLowerCase().startsWith(text)) ?? names.find((name) => name.toLowerCase().includes(text)) ?? null;
}
function sift({ keep = false } = {}) {
  if (!keep) listed = LISTED;
  const passes = filter(), found = sought();
  const shown = data.mnests.filter(passes);
  if (picture) {
    picture.seen = { mnests: passes, found, chosen };
    picture.sift();
  }
  $("least").textContent = Number(asked().get("min_weight") || 0).toFixed(2);
  count(shown);
  list(found ? shown.filter((each) => each.source === found || each.target === found) : shown, found);
}
function count(shown) {
  const names = new Set(shown.flatMap((each) => [each.source, each.target]));
  const of = data.total > shown.length ? ` of ${data.total.toLocaleString("en")}` : "";
  $("shown").textContent = `${shown.length.toLocaleString("en")}${of} ${data.total === 1 ? "mnest" : "mnests"} between ${counted(names.size, "executor")}`;
  $("nothing").hidden = shown.length > 0;
}

// -- the list, which says the same

const TONES = { active: "good", decaying: "warn", proto: "cool" };
function row(each) {
  const cell = (label, ...inside) => make("td", { data: { label } }, ...inside);
  const link = make("a", { href: `/mnestome/${encodeURIComponent(each.id)}`, data: { mnest: each.id } }, `${each.source} → ${each.target}`);
  return make("tr", {}, cell("What feeds what", link), cell("State", make("span", { class: `badge ${TONES[each.state] ?? ""}` }, each.word)),
    make("td", { class: "figure", data: { label: "Weight" } }, each.weight.toFixed(2)), make("td", { class: "figure", data: { label: "Uses" } }, String(each.uses)),
    cell("Last used", each.day < 0 || each.state === "seed" ? make("span", { class: "hint" }, "not yet") : ago(new Date(each.day * DAY).toISOString())), cell("Tags", each.tags.join(", ")));
}
function list(shown, found) {
  $("rows").replaceChildren(...shown.slice(0, listed).map(row));
  $("rows-more").hidden = shown.length <= listed;
  $("rows-said").textContent = `${found ? `With ${found}: ` : ""}${shown.length > listed ? `the ${listed} heaviest of ${shown.length.toLocaleString("en")}` : counted(shown.length, "mnest")}`;
}
$("rows-more").addEventListener("click", () => { listed += 200; sift({ keep: true }); });
$("rows").addEventListener("click", (event) => {
  const link = event.target.closest("[data-mnest]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose({ mnest: link.dataset.mnest }, { focus: true });
});

// -- the panel

let asking = null;
function choose(what, { focus = false } = {}) {
  chosen = what;
  asking?.abort();
  if (what.node) showNode(what.node);
  else if (what.mnest) showMnest(what.mnest);
  else close();
  sift({ keep: true });
  if (focus) panel.focus();
}
function close() {
  panel.hidden = true;
  page.classList.remove("beside");
  chosen = {};
}
function open(...inside) {
  panel.replaceChildren(make("button", { type: "button", class: "quiet small close", "aria-label": "Close", on: { click: () => { choose({}); stage.focus(); } } }, "✕"), ...inside);
  panel.hidden = false;
  page.classList.add("beside");
  panel.scrollTop = 0;
  if (NARROW.matches) panel.scrollIntoView({ block: "nearest" });
}
const KINDS = { wished: "wished for: it does not exist yet", request: "what you ask for, before any executor", gone: "an executor that is gone" };
function showNode(name) {
  const node = data.nodes.find((each) => each.name === name), passes = filter();
  const of = (side) => data.mnests.filter((each) => each[side] === name && passes(each));
  const gives = of("source"), takes = of("target"), real = node && !(node.state in KINDS);
  focused = name;
  open(make("h2", {}, make("code", {}, name)), make("p", { class: "hint" }, KINDS[node?.state] ?? `executor, ${node?.state || "unknown"}`),
    node?.purpose ? make("p", {}, node.purpose) : null,
    make("p", { class: "hint" }, `Traffic ${node?.traffic.toFixed(2) ?? 0} · gives to ${gives.length} · takes from ${takes.length}`),
    around("Gives to", gives, "target"), around("Takes from", takes, "source"),
    real ? make("p", {}, make("a", { class: "button small", href: `/executors/${encodeURIComponent(name)}` }, "The executor")) : null);
  say(`${name}, ${KINDS[node?.state] ?? node?.state}. Gives to ${gives.length}, takes from ${takes.length}.`);
}
function around(title, mnests, side) {
  if (!mnests.length) return null;
  const most = 12, one = (each) => make("li", {}, make("button", { type: "button", class: "quiet small", on: { click: () => choose({ mnest: each.id }, { focus: true }) } }, each[side]),
    make("span", { class: "hint inline" }, `${each.weight.toFixed(2)}, ${each.word}`));
  return make("div", {}, make("h3", {}, title), make("ul", { class: "around" }, mnests.slice(0, most).map(one)), mnests.length > most ? make("p", { class: "hint" }, `and ${mnests.length - most} lighter ones: see the list`) : null);
}
async function showMnest(id) {
  const each = data.mnests.find((one) => one.id === id);
  open(make("p", { class: "hint", "aria-busy": "true" }, "…"));
  asking = new AbortController();
  try {
    const answer = await fetch(`/mnestome/${encodeURIComponent(id)}/panel`, { signal: asking.signal, credentials: "same-origin" });
    if (!answer.ok) throw new Error(answer.status === 404 ? "It is not there any more." : "It cannot be shown now.");
    // Our own server made and escaped this part, as it does the page itself.
    const part = new DOMParser().parseFromString(await answer.text(), "text/html").body;
    open(...part.childNodes);
    if (each) say(`${each.source} feeds ${each.target}, ${each.word}, weighs ${each.weight.toFixed(2)}.`);
  } catch (error) {
    if (error.name !== "AbortError") { choose({}); complain(error); }
  }
}
panel.addEventListener("click", (event) => {
  const link = event.target.closest("[data-node]");
  if (link && data.nodes.some((each) => each.name === link.dataset.node)) { event.preventDefault(); choose({ node: link.dataset.node }, { focus: true }); picture?.reveal(link.dataset.node); }
});
function say(text) { live.textContent = text; }

// -- filters act at once

let later = 0;
sieve.addEventListener("input", () => { cancelAnimationFrame(later); later = requestAnimationFrame(() => { sift(); const found = sought(); if (found) picture?.reveal(found); }); });
sieve.addEventListener("submit", (event) => {
  event.preventDefault();
  const found = sought();
  if (found) { choose({ node: found }); picture?.face(found); } else if (asked().get("q")) toast("No executor is called so.");
});
sieve.addEventListener("reset", () => setTimeout(() => { choose({}); picture?.fit(); }));

// -- months

const months = JSON.parse(page.dataset.months);
function monthWord() { return months[month.value] || "now"; }
let turning = 0;
month.addEventListener("input", () => {
  $("month-word").textContent = monthWord();
  month.setAttribute("aria-valuetext", monthWord());
  clearTimeout(turning);
  turning = setTimeout(load, 120);
});

async function load() {
  const wanted = months[month.value] ?? "";
  try {
    const found = await get(`/mnestome/graph${wanted ? `?month=${encodeURIComponent(wanted)}` : ""}`);
    if (wanted !== (months[month.value] ?? "")) return;
    data = unpack(found);
  } catch (error) { complain(error); return; }
  fill();
  if (picture) picture.seen = { mnests: filter(), found: sought(), chosen };
  picture?.show(data);
  if (chosen.node && !data.nodes.some((each) => each.name === chosen.node)) close();
  sift();
  stage.removeAttribute("aria-busy");
  page.dataset.ready = wanted || "now";
}
function fill() {
  const tag = sieve.elements.tag, was = tag.value;
  tag.replaceChildren(make("option", { value: "" }, "any"), ...data.tags.toSorted().map((each) => make("option", { value: each, selected: each === was }, each)));
  $("names").replaceChildren(...data.nodes.map((each) => make("option", { value: each.name })));
  for (const box of sieve.querySelectorAll("[data-count]")) box.textContent = data.mnests.filter((each) => each.state === box.dataset.count).length.toLocaleString("en");
}

// -- keys

const KEYS = { "+": () => picture.zoom(1.5), "=": () => picture.zoom(1.5), "-": () => picture.zoom(1 / 1.5), 0: () => picture.fit() };
stage.addEventListener("keydown", (event) => {
  if (!picture || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow")) {
    const [x, y] = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] }[event.key];
    if (event.shiftKey) picture.moveBy(x, y);
    else {
      const next = picture.beyond(chosen.node ?? focused ?? "", event.key);
      if (next) { choose({ node: next }); picture.reveal(next); }
    }
  } else if (event.key === "Enter" && chosen.node) panel.focus();
  else if (event.key in KEYS) KEYS[event.key]();
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea, dialog")) return;
  if (event.key === "Escape" && !panel.hidden) { choose({}); stage.focus(); }
  if (event.key === "/") { event.preventDefault(); sieve.elements.q.focus(); }
});
for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => picture && { in: () => picture.zoom(1.5), out: () => picture.zoom(1 / 1.5), fit: () => picture.fit() }[button.dataset.view]());

function point({ node, mnest }) {
  const each = mnest && data.mnests.find((one) => one.id === mnest);
  stage.classList.toggle("pointed", Boolean(node || each));
  $("pointed").textContent = node ?? (each ? `${each.source} → ${each.target} · ${each.weight.toFixed(2)} · ${each.word}` : "");
}

picture = new Picture(stage, { point });
hands(picture, { choose });
export { picture };
await load();
