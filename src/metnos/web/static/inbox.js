// The inbox, which is shown anew when something came or went; and one question of it: forms that open, the tick before a
// second yes, the name that has to be typed for what would live, and where to go after an answer.

import { sayNext } from "./metnos.js";

const approve = document.getElementById("approve"), seen = document.getElementById("seen");
seen?.addEventListener("change", () => { approve.disabled = !seen.checked; });

const typed = document.getElementById("typed"), sayYes = document.getElementById("say-yes");
const match = () => { sayYes.disabled = typed.value.trim() !== typed.dataset.word; };
typed?.addEventListener("input", match);
if (typed) match(); // a browser may have kept what was typed

for (const button of document.querySelectorAll("[data-open]")) {
  button.addEventListener("click", () => {
    const form = document.getElementById(button.dataset.open);
    form.hidden = !form.hidden;
    button.setAttribute("aria-expanded", !form.hidden);
    if (!form.hidden) form.querySelector("textarea").focus();
  });
}

approve?.addEventListener("metnos:done", (event) => {
  event.preventDefault();
  const { state, said, run } = event.detail;
  if (said) sayNext(said);
  if (run) location.assign(`/?run=${encodeURIComponent(run)}`);
  else if (state === "waiting") location.reload();
  else location.assign("/inbox");
});

document.getElementById("refusing")?.addEventListener("metnos:done", (event) => {
  event.preventDefault();
  sayNext(event.detail.said);
  location.assign("/inbox");
});

document.getElementById("editing")?.addEventListener("metnos:done", (event) => {
  event.preventDefault();
  sayNext("This is a new question now.");
  location.assign(`/inbox/${encodeURIComponent(event.detail.id)}`);
});

if (document.querySelector("[data-inbox]")) {
  let known = null;
  document.addEventListener("metnos:changed", ({ detail: { waiting } }) => {
    if (known !== null && known !== waiting) location.reload();
    known = waiting;
  });
}
