// What every page has: asking the API, buttons and forms that do, questions before, words after, and counts kept true.
// Rules: whatever comes from outside is put into the page as text, never as markup. Nothing is repeated by itself: a
// request that failed is shown with what to do, and the owner decides. Other scripts import from here.

const token = document.querySelector('meta[name="metnos-token"]')?.content ?? "";

/** What went wrong, in the API's words: `what` happened and how to `fix` it. */
export class Problem extends Error {
  constructor(status, { type = "", what = "", fix = "" } = {}) {
    super(what);
    Object.assign(this, { status, type, what, fix });
  }
}

/** Ask the API; returns what it answers, or throws a `Problem`. */
export async function call(method, path, body, { signal } = {}) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") {
    headers["X-Metnos-Token"] = token;
    headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: method === "GET" ? undefined : JSON.stringify(body ?? {}), credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { what: "Metnos does not answer.", fix: "See whether it runs: metnos serve --status" });
  }
  const said = await response.json().catch(() => ({}));
  if (response.ok) return said;
  if (response.status === 401) throw new Problem(401, { what: "You are not signed in any more.", fix: "Type metnos open in a terminal, and follow the link." });
  throw new Problem(response.status, said?.error ?? { what: `Metnos answered ${response.status}.` });
}
export const get = (path, options) => call("GET", path, undefined, options);
export const post = (path, body, options) => call("POST", path, body, options);

/** An element: make("p", {class: "note"}, "text", child). Text is text; there is no way to give markup. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (key === "data") Object.assign(element.dataset, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

/** A small drawing of one path, as in the templates. */
export function drawing(path, size = 18) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  for (const [key, value] of Object.entries({ class: "icon", viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": "true" })) svg.setAttribute(key, value);
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

// -- words

export function toast(what, { fix = "", bad = false } = {}) {
  const close = make("button", { type: "button", class: "quiet small", "aria-label": "Close", on: { click: () => box.remove() } }, "✕");
  const box = make("div", { class: bad ? "toast bad" : "toast" }, make("div", {}, make("p", {}, what), fix ? make("p", {}, fix) : null), close);
  document.getElementById("toasts").append(box);
  if (!bad) setTimeout(() => box.remove(), 6000);
  return box;
}

/** Show a problem. One that is no `Problem` is a mistake of ours, and is shown as one. */
export function complain(error) {
  if (error.name === "AbortError") return;
  if (!(error instanceof Problem)) console.error(error);
  toast(error.what || error.message || "Something went wrong.", { fix: error.fix, bad: true });
}

/** Ask before something is done; resolves to whether to go on. ``word`` must be typed, where given. */
export function sure(text, { title = "Are you sure?", yes = "Go on", bad = false, word = "" } = {}) {
  const dialog = document.getElementById("sure"), go = dialog.querySelector('[value="yes"]'), ask = document.getElementById("sure-word");
  const typed = ask.querySelector("input");
  document.getElementById("sure-title").textContent = title;
  document.getElementById("sure-text").textContent = text;
  ask.hidden = !word;
  ask.querySelector("strong").textContent = word;
  typed.value = "";
  typed.oninput = () => { go.disabled = Boolean(word) && typed.value.trim() !== word; };
  typed.oninput();
  go.textContent = yes;
  dialog.classList.toggle("bad", bad);
  dialog.returnValue = "no";
  dialog.showModal();
  if (word) typed.focus();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

const LATER = "metnos-said";
/** Say something on the page that comes next. */
export function sayNext(text) {
  try { sessionStorage.setItem(LATER, text); } catch { /* then it is not said */ }
}

// -- buttons and forms

const yesOf = (element) => element.dataset.yes || element.textContent.trim();

/** What a form holds, as JSON: a checkbox is yes or no, a number a number, `data-list` a list, `data-json` JSON. */
export function fields(form) {
  const body = JSON.parse(form.dataset.body || "{}");
  for (const input of form.elements) {
    if (!input.name || input.disabled || (input.type === "radio" && !input.checked)) continue;
    if (input.type === "checkbox") body[input.name] = input.checked;
    else if (input.dataset.optional !== undefined && input.value === "") continue;
    else if (input.type === "number" || input.type === "range") body[input.name] = Number(input.value);
    else if (input.dataset.list !== undefined) body[input.name] = input.value.split(",").map((each) => each.trim()).filter(Boolean);
    else if (input.dataset.json !== undefined) body[input.name] = readJson(input);
    else body[input.name] = input.value;
  }
  return body;
}

function readJson(input) {
  try { return JSON.parse(input.value); } catch (error) {
    throw new Problem(0, { what: `That is no JSON: ${error.message}`, fix: "Nothing was changed. Correct it and try again." });
  }
}

/** What is asked before: words, and below them the `lines` that the API has at the address `preview`. */
async function asked(words, preview) {
  if (!preview) return words;
  try {
    const lines = (await get(preview)).lines ?? [];
    return [words, "", ...lines.slice(0, 12), ...(lines.length > 12 ? [`and ${lines.length - 12} more`] : [])].join("\n");
  } catch (error) {
    return `${words}\n\n${error.what}`;
  }
}

/** Do what a button or form says: data-post, data-body, data-confirm, data-preview, data-word, data-said, data-then.
    Fires `metnos:done` with the answer; a listener that prevents its default also prevents what would come then. */
export async function act(element, body) {
  const { post: path, confirm, preview, word, said, then = "reload" } = element.dataset;
  if (element.getAttribute("aria-busy") === "true") return;
  const dangerous = element.classList.contains("bad");
  if ((confirm || word) && !(await sure(await asked(confirm ?? "", preview), { yes: yesOf(element.matches("form") ? element.querySelector("[type=submit]") ?? element : element), bad: dangerous, word }))) return;
  element.setAttribute("aria-busy", "true");
  try {
    const answer = await post(path, body());
    if (!element.dispatchEvent(new CustomEvent("metnos:done", { bubbles: true, cancelable: true, detail: answer }))) return;
    if (then === "stay") { if (said) toast(said); return; }
    if (said) sayNext(said);
    if (then === "reload") location.reload(); else location.assign(then);
  } catch (error) {
    complain(error);
  } finally {
    element.removeAttribute("aria-busy");
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.post !== undefined) act(button, () => JSON.parse(button.dataset.body || "{}"));
  else if (button.dataset.copy !== undefined) copy(button);
  else if (button.dataset.menu !== undefined) menu(button);
  else if (button.dataset.themeSwitch !== undefined) nextTheme();
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.post === undefined) return;
  event.preventDefault();
  act(form, () => fields(form));
});

async function copy(button) {
  const text = button.dataset.copy || button.closest("figure")?.querySelector("pre")?.textContent || "";
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    toast("The browser does not allow copying here.", { fix: "Select the text and copy it by hand.", bad: true });
  }
}

function menu(button) {
  const open = document.getElementById("frame-nav").classList.toggle("open");
  button.setAttribute("aria-expanded", open);
}
document.addEventListener("keydown", (event) => {
  const button = document.querySelector("[data-menu]");
  if (event.key === "Escape" && button?.getAttribute("aria-expanded") === "true") { menu(button); button.focus(); }
});

// -- theme

const THEMES = ["auto", "light", "dark"];
function theme() { return document.documentElement.dataset.theme ?? "auto"; }
function showTheme() { for (const each of document.querySelectorAll("[data-theme-name]")) each.textContent = theme(); }
function nextTheme() {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
  if (next === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = next;
  try { localStorage.setItem("metnos-theme", next); } catch { /* then it holds for this page */ }
  showTheme();
  document.dispatchEvent(new CustomEvent("metnos:theme"));
}

/** What a token of the style sheet is at this moment, as rgb(…): for whoever draws on a canvas. */
export function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

// -- times and counts

const SPANS = [[60, 1, "s"], [3600, 60, "min"], [172800, 3600, "h"], [5184000, 86400, "days"], [63115200, 2630016, "months"], [Infinity, 31557600, "years"]];
export function ago(text) {
  const passed = (Date.now() - Date.parse(text)) / 1000, far = Math.abs(passed);
  if (Number.isNaN(passed)) return text;
  if (far < 5) return "just now";
  const [, unit, name] = SPANS.find(([below]) => far < below);
  const span = `${Math.round(far / unit)} ${name}`;
  return passed > 0 ? `${span} ago` : `in ${span}`;
}
export function lasted(ms) {
  if (ms < 10 && ms > 0) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60000), seconds = Math.floor((ms % 60000) / 1000);
  return seconds ? `${minutes} min ${seconds} s` : `${minutes} min`;
}
export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
export const money = (usd) => (usd ? (usd >= 1 ? `$${usd.toFixed(2)}` : `$${usd.toFixed(4)}`) : "nothing");

setInterval(() => { for (const each of document.querySelectorAll("time[data-ago]")) each.textContent = ago(each.dateTime); }, 30000);

function count(name, number) {
  for (const badge of document.querySelectorAll(`[data-badge="${name}"]`)) {
    (badge.querySelector(".number") ?? badge).textContent = number;
    badge.hidden = !number;
  }
}

// A browser keeps few connections to one place: only the page that is looked at holds one.
let stream = null;
function watch() {
  const wanted = document.visibilityState === "visible" && token !== "";
  if (wanted && !stream) {
    stream = new EventSource("/api/events");
    stream.onmessage = (message) => {
      const news = JSON.parse(message.data);
      if (news.event !== "changed") return;
      count("waiting", news.waiting);
      count("unseen", news.unseen);
      document.dispatchEvent(new CustomEvent("metnos:changed", { detail: news }));
    };
  } else if (!wanted && stream) {
    stream.close();
    stream = null;
  }
}
document.addEventListener("visibilitychange", watch);

showTheme();
watch();
try {
  const said = sessionStorage.getItem(LATER);
  sessionStorage.removeItem(LATER);
  if (said) toast(said);
} catch { /* nothing to say */ }
