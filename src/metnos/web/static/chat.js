// The chat: sends what is asked, shows what happens while it happens, and what can be done about it afterwards.
// Rules: a turn runs on whether or not a page looks at it; a page that was closed finds it again. Everything shown is
// text. What is said to whoever cannot see the page goes into one live region, a sentence at a time.

import { complain, counted, get, lasted, make, money, post, toast } from "./metnos.js";
import { entriesOf, show } from "./answer.js";
import { question } from "./asking.js";

const WAYS = { fast: "a fast path", router: "fixed rules", model: "a language model", react: "a language model" };
const log = document.getElementById("log"), composer = document.getElementById("composer"), text = document.getElementById("text");
const send = document.getElementById("send"), stop = document.getElementById("stop"), live = document.getElementById("live"), rehearse = document.getElementById("rehearse");
let current = null; // the turn that runs

// -- one turn

class Turn {
  constructor(asked, run = "", resumed = false) {
    Object.assign(this, { run, resumed, found: resumed, turn: "", steps: new Map(), wanted: null, said: "", actions: [], learnt: 0, path: "", left: 0, item: "" });
    this.list = make("ol", { class: "steps", "aria-label": "What was done" });
    this.notes = make("div", { class: "notes" });
    this.questions = make("div");
    this.answer = make("div", { class: "answer" });
    this.meta = make("p", { class: "meta" });
    this.after = make("div", { class: "after" });
    this.working = make("p", { class: "working" }, make("span", { class: "dots", "aria-hidden": "true" }, make("i"), make("i"), make("i")), make("span", { class: "doing" }, "Working"), make("span", { class: "clock" }));
    this.element = make("article", { class: "turn" }, asked ? make("div", { class: "asked" }, make("p", {}, asked)) : null, this.notes, this.list, this.questions, this.answer, this.working, this.meta, this.after);
    this.since = performance.now();
    if (resumed) setTimeout(() => { this.resumed = false; }, 2000); // what comes later is asked just then
    this.clock = setInterval(() => { this.working.lastChild.textContent = performance.now() - this.since > 1000 ? lasted(performance.now() - this.since) : ""; }, 200);
    document.getElementById("welcome")?.remove();
    log.append(this.element);
    pinned = true;
    keepUp();
  }

  follow(run) {
    this.run = run;
    this.source = new EventSource(`/api/runs/${encodeURIComponent(run)}/events`);
    this.source.onmessage = (message) => this.take(JSON.parse(message.data));
    this.source.onerror = () => {
      if (this.source.readyState === EventSource.CLOSED) this.fail({ what: "The connection was lost.", fix: "Look at the page again in a moment: the request goes on without it." });
    };
  }

  take(event) {
    if (event.event !== "Wanted") {
      if (this.wanted?.waits()) this.left = this.wanted.number;
      this.wanted?.settle();
      this.wanted = null;
    }
    this[`on${event.event}`]?.(event);
  }

  // What still comes after a stop was on its way before it, and changes nothing.
  doing(words) { this.working.children[1].textContent = this.stopping ? "Stopping" : words; }
  note(words) { this.notes.append(make("p", {}, words)); }

  onStarted({ turn }) {
    this.turn = turn;
    this.element.dataset.turn = turn;
    if (!this.found) remember(turn);
  }
  onWaiting({ what }) { this.doing(what); }
  onThinking({ what, model }) { this.doing([what, model].filter(Boolean).join(" · ")); }
  onPlanned({ executors, path, notes, learnt_from: learnt }) {
    this.path = path;
    this.learnt = learnt;
    this.notes.replaceChildren();
    if (executors.length > 1) this.note(`Plan: ${executors.join(" → ")} (${WAYS[path] ?? path})`);
    for (const each of notes) this.note(each);
    this.doing("Working");
  }
  onStepStarted({ number, of, executor, title }) {
    const row = this.steps.get(number) ?? make("li");
    row.className = "running";
    row.replaceChildren(make("span", { class: "mark", "aria-hidden": "true" }), make("span", { class: "name" }, make("code", {}, executor), title ? make("span", { class: "title" }, title) : null), make("span", { class: "tail" }));
    row.dataset.of = of;
    this.steps.set(number, row);
    this.list.append(row);
    this.doing(of > 1 ? `Step ${number} of ${of}: ${executor}` : executor);
  }
  onStepDone({ number, executor, ok, message, count, wall_ms: wall, action }) {
    if (!this.steps.has(number)) this.onStepStarted({ number, of: 1, executor, title: "" });
    const row = this.steps.get(number);
    const [kind, mark, word] = ok ? ["good", "✓", "done: "] : number === this.left ? ["warn", "!", "waits: "] : ["bad", "✗", "failed: "];
    row.className = kind;
    row.querySelector(".mark").textContent = mark;
    row.querySelector(".mark").after(make("span", { class: "unseen" }, word));
    row.querySelector(".tail").textContent = [ok ? "" : message, ok ? counted(count, "item") : "", wall ? lasted(wall) : ""].filter(Boolean).join(" · ");
    if (action) this.actions.push(action);
    this.doing("Working");
  }
  onWanted(wanted) {
    const fresh = !this.resumed;
    this.wanted?.settle();
    this.wanted = question(this.run, wanted, fresh);
    this.wanted.number = wanted.number;
    this.item = wanted.item;
    this.questions.append(this.wanted.card);
    this.doing("Waiting for your answer");
    say(`A question: ${wanted.title}`);
    if (text.value === "" && (document.activeElement === text || document.activeElement === document.body)) this.wanted.card.focus();
  }
  onText({ delta }) {
    this.said += delta;
    show(this.answer, this.said);
  }
  onAnswered({ turn, state, text: words, steps, undo, model_text: model }) {
    this.turn = turn || this.turn;
    const actions = [...new Set([...this.actions, ...(undo ?? [])])];
    words = words.split("\n").filter((line) => !actions.some((action) => line.endsWith(`metnos undo ${action}`))).join("\n"); // there is a button for it
    show(this.answer, words, entriesOf(steps));
    say(words.slice(0, 500));
    if (model && !this.steps.size) this.note("A language model's words; nothing was done.");
    if (this.learnt) this.note(`From memory of ${counted(this.learnt, "earlier request")}, without planning.`);
    this.end(state, actions);
  }
  onFailed({ error }) { this.fail(error); }

  fail({ what, fix }) {
    const cancelled = what.startsWith("cancelled");
    this.answer.append(make("div", { class: cancelled ? "notice" : "notice bad", role: "alert" }, make("p", {}, cancelled ? "Stopped." : what), fix && !cancelled ? make("p", { class: "hint" }, fix) : null));
    this.end(cancelled ? "cancelled" : "failed", this.actions);
  }

  end(state, actions) {
    this.source?.close();
    clearInterval(this.clock);
    this.wanted?.settle();
    this.working.remove();
    if (current === this) setCurrent(null);
    if (!["done", "talked"].includes(state)) this.meta.append(make("span", { class: `badge ${{ failed: "bad", interrupted: "bad", waiting: "warn", partly: "warn", refused: "warn" }[state] ?? ""}` }, state));
    if (this.turn) {
      furnish(this.after, this.turn, { actions, item: state === "waiting" ? this.item : "" });
      this.costs();
    }
  }

  async costs() {
    try {
      const { costs, wall_ms: wall, path, conversation } = await get(`/api/turns/${encodeURIComponent(this.turn)}`);
      remember(conversation);
      const words = [lasted(wall ?? performance.now() - this.since), WAYS[path ?? this.path], costs?.calls ? `${counted(costs.tokens, "token")}, ${money(costs.usd)}` : "cost nothing"];
      this.meta.append(...words.filter(Boolean).map((each) => make("span", {}, each)));
    } catch { /* the answer stands without it */ }
  }
}

// -- what can be done about an answer

/** What stands below an answer: undo, the question that it waits for, why, good, bad. */
function furnish(place, turn, { actions = [], item = "", good = "" } = {}) {
  const panel = make("div", { class: "why-panel", hidden: true });
  const why = make("button", { type: "button", class: "quiet small", "aria-expanded": "false", on: { click: () => toggleWhy(why, panel, turn) } }, "Why?");
  const thumbs = ["good", "bad"].map((word) => make("button", { type: "button", class: "quiet small", "aria-pressed": String(good === String(word === "good")), on: { click: () => rate(thumbs, word, turn) } }, word === "good" ? "Good" : "Bad"));
  place.replaceChildren(make("div", { class: "buttons" }, actions.map(undoButton), item ? make("a", { class: "button small", href: `/inbox/${encodeURIComponent(item)}` }, "To the question") : null, why, thumbs), panel);
}

function undoButton(action) {
  const button = make("button", { type: "button", class: "small", on: { click: () => turnBack() } }, "Undo");
  let undone = false;
  async function turnBack() {
    button.disabled = true;
    try {
      await post(`/api/${undone ? "redo" : "undo"}/${encodeURIComponent(action)}`);
      undone = !undone;
      button.textContent = undone ? "Redo" : "Undo";
      toast(undone ? "Taken back." : "Done again.");
    } catch (error) { complain(error); }
    button.disabled = false;
  }
  return button;
}

async function toggleWhy(button, panel, turn) {
  panel.hidden = !panel.hidden;
  button.setAttribute("aria-expanded", !panel.hidden);
  if (panel.hidden || panel.childElementCount) return;
  try {
    const response = await fetch(`/turns/${encodeURIComponent(turn)}/panel`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    panel.append(...document.adoptNode(page.body).childNodes);
  } catch (error) { complain(error); }
}

async function rate(thumbs, word, turn) {
  try {
    await post(`/api/turns/${encodeURIComponent(turn)}/feedback`, { good: word === "good" });
    thumbs.forEach((each) => each.setAttribute("aria-pressed", each.textContent.toLowerCase() === word));
    toast(word === "good" ? "Noted: good." : "Noted: bad. It weighs more than a good.");
  } catch (error) { complain(error); }
}

// -- the page

// Whoever looks at the end goes on looking at it; whoever scrolled up is left in peace.
let pinned = log.querySelector(".turn") !== null;
const keepUp = () => { if (pinned) window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" }); };
window.addEventListener("scroll", () => { pinned = window.innerHeight + window.scrollY > document.documentElement.scrollHeight - 80; }, { passive: true });
new ResizeObserver(keepUp).observe(log);
function say(words) { live.textContent = words; }

/** A conversation is named by its first turn: from then on the page belongs to it, and comes back to it. */
function remember(turn) {
  if (log.dataset.conversation) return;
  log.dataset.conversation = turn;
  history.replaceState(null, "", `/?c=${encodeURIComponent(turn)}`);
}

function setCurrent(turn) {
  current = turn;
  send.hidden = turn !== null;
  stop.hidden = turn === null;
  if (turn === null && document.activeElement === document.body) text.focus({ preventScroll: true });
}

async function ask(words) {
  const turn = new Turn(words);
  setCurrent(turn);
  try {
    const { run } = await post("/api/turns", { text: words, ...(log.dataset.conversation ? { conversation: log.dataset.conversation } : {}), dry_run: rehearse.checked });
    turn.follow(run);
  } catch (error) { turn.fail({ what: error.what ?? error.message, fix: error.fix }); }
}

function submit() {
  const words = text.value.trim();
  if (!words || current) return;
  text.value = "";
  grow();
  ask(words);
}

function grow() {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight + 2, window.innerHeight * 0.4)}px`;
}

composer.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
text.addEventListener("input", grow);
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); }
});
stop.addEventListener("click", async () => {
  if (!current?.run) return;
  const turn = current;
  try {
    await post(`/api/runs/${encodeURIComponent(turn.run)}/cancel`);
    turn.stopping = true;
    turn.doing("");
  } catch (error) { complain(error); }
});
log.addEventListener("click", (event) => {
  const example = event.target.closest("[data-example]");
  if (!example) return;
  text.value = example.dataset.example;
  grow();
  text.focus();
});

for (const turn of log.querySelectorAll(".turn")) {
  const answer = turn.querySelector("[data-answer]");
  show(answer, answer.textContent);
  furnish(turn.querySelector("[data-after]"), turn.dataset.turn, turn.dataset);
}

/** Find again what still runs. */
async function resume() {
  try {
    const found = await get("/api/runs");
    for (const each of found.runs ?? found) {
      if (each.turn && log.querySelector(`[data-turn="${CSS.escape(each.turn)}"]`)) continue;
      if (log.dataset.conversation && each.conversation && each.conversation !== log.dataset.conversation) continue;
      if (each.conversation) log.dataset.conversation = each.conversation;
      const turn = new Turn(each.text ?? "", each.run ?? each.id, true);
      setCurrent(turn);
      turn.follow(turn.run);
    }
  } catch (error) { complain(error); }
}
await resume();
const followed = new URLSearchParams(location.search).get("run");
if (followed && !current) {
  const turn = new Turn("", followed, true);
  setCurrent(turn);
  turn.follow(followed);
}
