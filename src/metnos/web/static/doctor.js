// The findings come after the page, because looking takes its time. They are rendered, and escaped, by the server.

import { Problem, complain, make } from "./metnos.js";

const findings = document.getElementById("findings"), again = document.getElementById("again");

async function look() {
  again.hidden = true;
  findings.replaceChildren(make("div", { class: "verdict looking", role: "status" }, make("progress", { "aria-label": "Looking" }), make("p", {}, "Looking… this takes a few seconds.")));
  try {
    const response = await fetch("/doctor/checks");
    if (!response.ok) throw new Problem(response.status, { what: "The doctor could not look.", fix: "In a terminal: metnos doctor" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    findings.replaceChildren(...document.adoptNode(page.body).childNodes);
  } catch (error) {
    findings.replaceChildren(make("p", { class: "nothing" }, error.what || "Metnos does not answer."));
    complain(error);
  }
  again.hidden = false;
}

again.addEventListener("click", look);
if (findings.dataset.wanted !== undefined) look(); else again.hidden = false;
