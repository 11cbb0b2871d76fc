// Testing a language model: a small question is really asked, and what came back is shown below it, in its own words.

import { lasted, make, post } from "./metnos.js";

for (const button of document.querySelectorAll("[data-test]")) {
  button.addEventListener("click", async () => {
    const tier = button.dataset.test, place = document.getElementById(`t-${tier}`);
    const begun = Date.now();
    const waiting = make("span", { class: "hint" }, "");
    const tick = setInterval(() => { waiting.textContent = `It is asked a small question… ${lasted(Date.now() - begun)}`; }, 100);
    button.disabled = true;
    place.className = "tested";
    place.replaceChildren(make("progress", { "aria-label": "Waiting for the model" }), waiting);
    try {
      const found = await post(`/api/models/${encodeURIComponent(tier)}/test`);
      const took = found.seconds ? ` in ${found.seconds.toFixed(1)} s` : "";
      if (found.ok) show(place, "good", `It works: it answered${took}.`, found.said);
      else show(place, "bad", `It does not work: ${found.error}`, found.fix);
    } catch (error) {
      show(place, "bad", error.what || error.message, error.fix);
    } finally {
      clearInterval(tick);
      button.disabled = false;
      button.textContent = "Test again";
    }
  });
}

function show(place, tone, words, more) {
  place.className = `tested ${tone}`;
  const said = typeof more === "string" ? more : more ? JSON.stringify(more) : "";
  place.replaceChildren(make("p", {}, make("strong", {}, words)), said ? make("p", { class: "said" }, said) : "");
}
