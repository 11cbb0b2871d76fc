// A question before something is done, in the chat: what exactly would happen, how it is taken back, which rule asks.
// Rules: nothing is a yes but a yes. The focus goes to the question and never to its answer, so that a key that was
// meant for something else approves nothing. The keys y and n work only while the focus is in the question, and only
// after one second without any key, because a person who is still typing has not read the question. An act that cannot
// be undone asks twice, and the second yes needs a tick first, so that pressing twice by mistake is not enough. What
// would live is named in full, by typing.

import { complain, lasted, make, post } from "./metnos.js";

const MOST_LINES = 40, LONGEST = 400, QUIET_MS = 1000;
const WORDS = {
  en: {
    act: "Do this?", offer: "Shall I make it?", birth: "Let it live?", again: "This cannot be taken back. Do it all the same?",
    yes: { act: "Yes, do it", offer: "Make it", birth: "Let it live" }, no: { act: "No", offer: "Leave it", birth: "Throw it away" },
    always: "Always", later: "Later, in the inbox", seen: "I know that it cannot be taken back.", type: "To say yes, type",
    ifAlways: "If you say always: ", rules: "Which rule asks?", all: "Show all", whole: "See everything about it",
    waits: (left) => `Unanswered for ${left}, it waits in the inbox.`, drops: (left) => `Unanswered for ${left}, nothing is made.`,
    said: { yes: "You said yes.", no: "You said no.", always: "You said always.", later: "Left in the inbox." }, over: "This question does not wait here any more.",
  },
  it: {
    act: "Lo faccio?", offer: "Lo creo?", birth: "Lo tengo in vita?", again: "Non si può annullare. Lo faccio lo stesso?",
    yes: { act: "Sì, fallo", offer: "Crealo", birth: "Tienilo" }, no: { act: "No", offer: "Lascia stare", birth: "Buttalo" },
    always: "Sempre", later: "Dopo, nella posta", seen: "So che non si può annullare.", type: "Per dire di sì, scrivi",
    ifAlways: "Se dici sempre: ", rules: "Quale regola lo chiede?", all: "Mostra tutto", whole: "Vedi tutto",
    waits: (left) => `Senza risposta per ${left}, aspetta nella posta.`, drops: (left) => `Senza risposta per ${left}, non si crea niente.`,
    said: { yes: "Hai detto sì.", no: "Hai detto no.", always: "Hai detto sempre.", later: "Lasciato nella posta." }, over: "Questa domanda qui non aspetta più.",
  },
};
let number = 0;

/** The card of a question. `fresh` is whether it was asked just now: of an older one it is not known how long it waits. */
export function question(run, wanted, fresh) {
  const say = WORDS[wanted.language] ?? WORDS.en, second = wanted.yes > 0, about = say[wanted.about] ? wanted.about : "act";
  const id = `question-${++number}`;
  const title = make("h2", { id }, second ? say.again : say[about]);
  const tick = second ? make("input", { type: "checkbox", on: { change: () => { yes.disabled = !tick.checked; } } }) : null;
  const typed = wanted.word ? make("input", { id: `${id}-typed`, autocomplete: "off", autocapitalize: "none", spellcheck: "false", on: { input: () => { yes.disabled = !named(); } } }) : null;
  const named = () => typed.value.trim() === wanted.word;
  const yes = make("button", { type: "button", class: "main", disabled: second || Boolean(typed), on: { click: () => answer("yes") } }, say.yes[about]);
  const no = make("button", { type: "button", on: { click: () => answer("no") } }, say.no[about]);
  const always = wanted.always && !second ? make("button", { type: "button", on: { click: () => answer("always") } }, say.always) : null;
  const later = wanted.item ? make("button", { type: "button", class: "quiet", on: { click: () => answer("later") } }, say.later) : null;
  const buttons = make("div", { class: "buttons" }, yes, no, always, later);
  const left = make("p", { class: "hint" });
  const card = make("section", { class: "question", role: "group", tabindex: "-1", "aria-labelledby": id, lang: say === WORDS.it ? "it" : "en" },
    make("p", { class: "what" }, wanted.title),
    preview(wanted.lines, say),
    wanted.reversal ? make("p", {}, `It ${wanted.reversal}.`) : null,
    always ? make("p", { class: "hint" }, say.ifAlways, wanted.always) : null,
    wanted.why?.length ? rules(wanted.why, say) : null,
    about === "birth" && wanted.item ? make("p", {}, make("a", { href: `/inbox/${encodeURIComponent(wanted.item)}` }, say.whole)) : null,
    title,
    second ? make("p", { class: "hint" }, `Yes ${wanted.yes} of ${wanted.needs}.`) : null,
    second ? make("label", { class: "check" }, tick, say.seen) : null,
    typed ? make("div", { class: "field" }, make("label", { for: typed.id }, `${say.type} `, make("code", {}, wanted.word)), typed) : null,
    buttons, left);
  let given = "";
  const clock = fresh && wanted.seconds ? countdown(left, wanted, about === "offer" ? say.drops : say.waits, settle) : 0;

  async function answer(chosen) {
    for (const button of buttons.children) button.disabled = true;
    given = chosen;
    try {
      await post(`/api/runs/${encodeURIComponent(run)}/answer`, { question: wanted.question, answer: chosen, ...(typed && chosen === "yes" ? { typed: typed.value.trim() } : {}) });
      settle();
    } catch (error) {
      given = "";
      complain(error);
      for (const button of buttons.children) button.disabled = false;
      if (second) yes.disabled = !tick.checked;
      if (typed) yes.disabled = !named();
    }
  }
  function settle() { // the answer, or that there was none in time: events may come before the answer was confirmed
    clearInterval(clock);
    if (!buttons.isConnected) return;
    const inside = card.contains(document.activeElement);
    title.remove();
    left.remove();
    tick?.closest("label").remove();
    typed?.closest(".field").remove();
    buttons.replaceWith(make("p", { class: "said" }, say.said[given] ?? say.over));
    card.classList.add("settled");
    if (inside) card.focus({ preventScroll: true });
  }
  let hearing = 0;
  function listen() {
    delete card.dataset.keys;
    clearTimeout(hearing);
    hearing = setTimeout(() => { card.dataset.keys = "heard"; }, QUIET_MS);
  }
  card.addEventListener("focusin", (event) => { if (!card.contains(event.relatedTarget)) listen(); });
  card.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, textarea")) return;
    if (!card.dataset.keys) { listen(); return; }
    if (event.key === "y" && !second && !typed && buttons.isConnected) { event.preventDefault(); answer("yes"); }
    if (event.key === "n" && buttons.isConnected) { event.preventDefault(); answer("no"); }
  });
  return { card, settle, waits: () => Boolean(wanted.item) && (given === "" || given === "later") };
}

function countdown(place, wanted, words, over) {
  const end = Date.now() + wanted.seconds * 1000;
  const tell = () => {
    const ms = end - Date.now();
    if (ms <= 0) return over();
    place.textContent = words(ms > 60000 ? `${Math.ceil(ms / 60000)} min` : lasted(Math.ceil(ms / 1000) * 1000).replace(".0", ""));
    return undefined;
  };
  tell();
  return setInterval(tell, 1000);
}

/** Lines of a preview, coloured where they are a difference; long ones behind a button. */
export function preview(lines, say = WORDS.en) {
  if (!lines?.length) return null;
  const cut = lines.length > MOST_LINES || lines.some((line) => line.length > LONGEST);
  const box = make("pre", { class: "diff", tabindex: "0", "aria-label": "what would change" }, lines.slice(0, MOST_LINES).map((line) => span(line, LONGEST)));
  const all = cut ? make("button", { type: "button", class: "quiet small", on: { click: () => { box.replaceChildren(...lines.map((line) => span(line, Infinity))); all.remove(); box.focus(); } } }, `${say.all} (${lines.length})`) : null;
  return make("figure", { class: "code" }, box, all);
}

function span(line, most) {
  const text = line.trimStart();
  const kind = /^(\+\+\+|---)/.test(text) ? "file" : text.startsWith("@@") ? "place" : text.startsWith("+") ? "more" : text.startsWith("-") ? "less" : "";
  return make("span", { class: kind }, line.length > most ? `${line.slice(0, most)}…` : line, "\n");
}

function rules(why, say) {
  const rows = why.map(([step, verdict, reason]) => make("div", {}, make("dt", {}, step), make("dd", {}, make("strong", {}, verdict.replaceAll("_", " ")), `: ${reason}`)));
  return make("details", { class: "fold" }, make("summary", {}, say.rules), make("dl", { class: "pairs folded" }, rows));
}
