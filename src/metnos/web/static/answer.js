// An answer as people read it: words as words, columns as columns, and what was found as a table.
// Rules: everything is text. A table stands in the place of the columns that the answer has for it; where it has none,
// the answer stays as it is. What is left out is counted.

import { counted, make } from "./metnos.js";

const MOST_ROWS = 200, MOST_COLUMNS = 6, LONGEST_CELL = 300;
const SIZES = new Set(["size", "bytes", "content_size", "first_size", "second_size", "memory_total", "memory_free", "disk", "total", "used", "free"]);
const TIMES = new Set(["modified", "due", "made", "started", "taken", "created"]);
const DULL = new Set(["encoding", "digest_of", "characters", "cut", "asked", "column", "guarded", "of", "kind", "more", "is_dir"]);
const BODIES = new Set(["text", "sentence", "diff", "difference", "content"]);
const COLUMNS = /\S {2,}\S/;

/** The text in blocks: [["words"|"columns", text], …]. One line of columns is columns only among others. */
export function blocks(text) {
  const found = [];
  for (const line of text.replace(/\r\n/g, "\n").split("\n")) {
    const kind = COLUMNS.test(line) ? "columns" : "words";
    if (found.at(-1)?.[0] === kind) found.at(-1)[1].push(line);
    else found.push([kind, [line]]);
  }
  return found.map(([kind, lines]) => [kind, lines.join("\n")]);
}

/** Put an answer into `element`; `entries` is what the last step found, if that is known. */
export function show(element, text, entries = []) {
  const parts = blocks(text.replace(/^\n+|\s+$/g, ""));
  const places = parts.filter(([kind]) => kind === "columns").length;
  const table = places === 1 ? tableOf(entries, homeIn(text, entries)) : null;
  element.replaceChildren(...parts.map(([kind, words]) => {
    if (kind === "words") return words.trim() ? make("p", { class: "words" }, words.replace(/^\n+|\n+$/g, "")) : null;
    return table ?? make("pre", { class: "columns", tabindex: "0", "aria-label": "what was found" }, words);
  }).filter(Boolean));
}

/** What the last step that found something found. */
export function entriesOf(steps) {
  for (const step of [...(steps ?? [])].reverse()) {
    const entries = step?.reply?.entries;
    if (Array.isArray(entries) && entries.length) return entries;
  }
  return [];
}

/** The owner's home, which the answer writes as ~ and the entries write whole; nothing if that cannot be told. */
function homeIn(text, entries) {
  for (const [, rest] of text.matchAll(/~(\/\S+)/g)) {
    const path = entries.map((each) => each?.path).find((each) => typeof each === "string" && each.endsWith(rest));
    if (path && path.length > rest.length) return path.slice(0, -rest.length);
  }
  return "";
}

function tableOf(entries, home) {
  const rows = entries.filter((each) => each && typeof each === "object" && !Array.isArray(each));
  if (rows.length < 2) return null;
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => rows.some((row) => isShort(row[name], name)) && !DULL.has(name) && !BODIES.has(name)).slice(0, MOST_COLUMNS);
  if (!names.length) return null;
  if (names.includes("path") && names.includes("name")) names.splice(names.indexOf("name"), 1); // it is the end of the path
  const figures = new Set(names.filter((name) => rows.every((row) => typeof row[name] === "number" || row[name] === null || row[name] === undefined)));
  const head = make("tr", {}, names.map((name) => make("th", { scope: "col", class: figures.has(name) ? "figure" : "" }, name.replaceAll("_", " "))));
  const body = rows.slice(0, MOST_ROWS).map((row) => make("tr", {}, names.map((name) => make("td", { class: figures.has(name) ? "figure" : "", "data-label": name.replaceAll("_", " ") }, cell(name, row[name], home)))));
  const more = rows.length - MOST_ROWS;
  return make("div", { class: "found" },
    make("div", { class: "scroll", role: "region", "aria-label": "what was found", tabindex: "0" },
      make("table", { class: "rows" }, make("thead", {}, head), make("tbody", {}, body))),
    more > 0 ? make("p", { class: "hint" }, `and ${counted(more, "more entry").replace("entrys", "entries")}`) : null);
}

function isShort(value, name) {
  if (value === null || value === undefined || value === "") return false;
  return typeof value !== "object" && (name === "path" || !String(value).includes("\n"));
}

function cell(name, value, home) {
  if (value === null || value === undefined) return "";
  if (SIZES.has(name) && typeof value === "number") return bytes(value);
  if (TIMES.has(name)) return moment(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = typeof value === "object" ? JSON.stringify(value) : typeof value === "number" ? figure(value) : String(value);
  if (home && text.startsWith(`${home}/`)) return `~${text.slice(home.length)}`;
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}

const figure = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(8))));

function bytes(value) {
  for (const unit of ["bytes", "KB", "MB", "GB"]) {
    if (Math.abs(value) < 1000) return unit === "bytes" ? `${value} ${unit}` : `${value.toFixed(1)} ${unit}`;
    value /= 1000;
  }
  return `${value.toFixed(1)} TB`;
}

function moment(value) {
  const when = new Date(typeof value === "number" ? value * 1000 : value);
  if (Number.isNaN(when.getTime())) return String(value);
  const two = (number) => String(number).padStart(2, "0");
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ${two(when.getHours())}:${two(when.getMinutes())}`;
}
