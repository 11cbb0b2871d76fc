// Forgetting, in two steps: what would go is shown, and goes by a second yes.
// Rules: what is sent at the second step is the plan that was shown, so that nothing else can go. All of it is text.

import { complain, counted, make, post, sure, toast } from "./metnos.js";

const form = document.getElementById("meant"), plan = document.getElementById("plan"), body = document.getElementById("plan-body");
const ids = JSON.parse(form.dataset.ids);
const meant = () => (ids.length ? { ids } : { words: form.elements.words.value.trim() });

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const asked = meant(), button = form.querySelector("[type=submit]");
  button.setAttribute("aria-busy", "true");
  try {
    show(await post("/api/memory/forget/plan", asked), asked);
  } catch (error) { complain(error); } finally { button.removeAttribute("aria-busy"); }
});

function show(found, asked) {
  const { episodes, facts, weakened, turns } = found.counts;
  plan.hidden = false;
  document.getElementById("plan-title").textContent = found.empty ? "Nothing would go" : "This would go, for good";
  body.replaceChildren(...[
    found.empty ? make("p", { class: "nothing" }, "Nothing that is remembered holds that.") : null,
    part("Episodes", found.episodes, episodes), part("Facts that rest on them alone, or say it", found.facts, facts),
    turns ? make("p", {}, `What ${counted(turns, "turn")} said and found. That they ran stays known.`) : null,
    part("Stays, and is believed less", found.weakened, weakened),
    found.yours.length ? make("p", { class: "notice warn" }, `You wrote it yourself into ${found.yours.join(", ")}: that stays, and only you take it out.`) : null,
    found.empty ? null : make("div", { class: "buttons" }, make("button", { type: "button", class: "bad", on: { click: (event) => forget(event.currentTarget, found, asked) } }, "Forget this"), make("button", { type: "button", class: "quiet", on: { click: () => { plan.hidden = true; } } }, "Keep it")),
  ].filter(Boolean));
  plan.focus();
  plan.scrollIntoView({ block: "nearest" });
}
function part(title, listed, count) {
  if (!count) return null;
  const one = (each) => make("li", {}, make("div", { class: "what" }, make("p", { class: "words" }, each.text), make("p", { class: "hint" }, each.kind === "fact" ? `fact, ${Math.round(100 * each.confidence)} % sure` : `${each.type}, ${each.when.slice(0, 10)}`)));
  return make("div", { class: "going" }, make("h3", {}, `${title} (${count.toLocaleString("en")})`), make("ul", { class: "list" }, listed.map(one)), count > listed.length ? make("p", { class: "hint" }, `and ${(count - listed.length).toLocaleString("en")} more`) : null);
}
async function forget(button, found, asked) {
  const { episodes, facts, turns } = found.counts;
  const what = [counted(episodes, "episode"), counted(facts, "fact"), counted(turns, "turn")].join(", ");
  if (!(await sure(`${what}: they cannot be brought back.`, { title: "Forget it for good?", yes: "Forget", bad: true }))) return;
  button.setAttribute("aria-busy", "true");
  try {
    const gone = await post("/api/memory/forget", { ...asked, plan: found.plan, sure: true });
    form.hidden = true;
    document.getElementById("plan-title").textContent = "Forgotten";
    body.replaceChildren(...[make("p", {}, gone.said || "Nothing was left."), gone.still.length ? make("p", { class: "notice warn" }, `It still stands in ${gone.still.join(", ")}.`) : null, make("p", {}, make("a", { class: "button", href: "/memory" }, "Back to the memory"))].filter(Boolean));
    plan.focus();
    toast("Forgotten.");
  } catch (error) { complain(error); } finally { button.removeAttribute("aria-busy"); }
}
