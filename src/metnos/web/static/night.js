// Running a job now: the button says that it runs, and what came of it is said on the page as it is then.

import { sayNext } from "./metnos.js";

for (const button of document.querySelectorAll("[data-job]")) {
  button.addEventListener("metnos:done", (event) => {
    event.preventDefault();
    const run = event.detail?.run ?? event.detail ?? {};
    const name = button.getAttribute("aria-label").replace("Run now: ", "");
    sayNext(`${name}: ${run.state ?? "begun"}.${run.message ? ` ${run.message}` : ""}`);
    location.reload();
  });
  new MutationObserver(() => {
    button.textContent = button.getAttribute("aria-busy") === "true" ? "Running…" : "Run now";
  }).observe(button, { attributes: true, attributeFilter: ["aria-busy"] });
}
