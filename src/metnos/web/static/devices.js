// A pairing code: shown this once, with what to do with it and how long it still holds.

import { lasted } from "./metnos.js";

const form = document.getElementById("pairing"), made = document.getElementById("made");
const left = document.getElementById("code-left");
const HOW = {
  web: () => `On the other device, open ${made.dataset.address} and put the code in. If it does not get there, this machine listens to itself only: see Ways in, under General.`,
  api: () => "The program sends it to /api/pair, and gets its secret back, once.",
  telegram: () => "Send it to your bot, as a message of its own.",
};
let ticking = 0;

form?.addEventListener("metnos:done", (event) => {
  const { code } = event.detail, asked = new FormData(form);
  const until = Date.now() + Number(asked.get("minutes")) * 60000;
  document.getElementById("code-text").textContent = code;
  document.getElementById("code-how").textContent = (HOW[asked.get("channel")] ?? HOW.web)();
  clearInterval(ticking);
  const tell = () => {
    const rest = until - Date.now();
    left.textContent = rest > 0 ? `for another ${lasted(rest)}` : "and not any more: make a new one";
    if (rest <= 0) clearInterval(ticking);
  };
  tell();
  ticking = setInterval(tell, 1000);
  made.hidden = false;
  made.focus();
});
