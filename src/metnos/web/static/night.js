// Jobs: running one now, how far one is that goes on, and a page that is true again when it has ended.

import { counted, get, sayNext } from "./metnos.js";

const LOOK_MS = 1500;

for (const button of document.querySelectorAll("[data-job]")) {
  button.addEventListener("metnos:done", (event) => {
    event.preventDefault();
    const { state, run } = event.detail;
    const name = button.getAttribute("aria-label").replace("Run now: ", "");
    if (state !== "running") sayNext(`${name}: ${state}.${run?.message ? ` ${run.message}` : ""}`);
    location.reload();
  });
  new MutationObserver(() => {
    button.textContent = button.getAttribute("aria-busy") === "true" ? "Running…" : "Run now";
  }).observe(button, { attributes: true, attributeFilter: ["aria-busy"] });
}

const going = [...document.querySelectorAll("[data-running]")];

async function look() {
  try {
    const { jobs } = await get("/api/night?limit=1");
    for (const place of going) {
      const job = jobs.find((each) => each.name === place.dataset.running);
      if (!job?.running) {
        sayNext(`${place.dataset.title}: ${job?.outcome ?? "over"}.`);
        location.reload();
        return;
      }
      if (job.progress?.of) place.textContent = `${job.progress.what.replaceAll("_", " ")}: ${job.progress.done} of ${counted(job.progress.of, "step")}`;
    }
  } catch { /* it is asked again */ }
  setTimeout(look, LOOK_MS);
}
if (going.length) setTimeout(look, LOOK_MS);
