// Proving the audit in the page: what is being done, for how long, and then a verdict that nobody can misread.

import { counted, get, lasted, make, post } from "./metnos.js";

const LOOK_MS = 1000;

const button = document.getElementById("verify"), work = document.getElementById("verify-work");
const clock = document.getElementById("verify-clock"), verdict = document.getElementById("verdict");

button?.addEventListener("click", async () => {
  const begun = Date.now();
  const tick = setInterval(() => { clock.textContent = lasted(Date.now() - begun); }, 100);
  button.disabled = true;
  verdict.hidden = true;
  work.hidden = false;
  try {
    let report = await post("/api/audit/verify");
    while (report.state === "running") {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      report = await get("/api/audit/verify");
    }
    show(report, Date.now() - begun);
  } catch (error) {
    put("warn", "It could not be verified", [make("p", {}, error.what || error.message), error.fix ? make("p", { class: "note" }, error.fix) : null]);
  } finally {
    clearInterval(tick);
    work.hidden = true;
    button.disabled = false;
    button.textContent = "Verify again";
  }
});

function show(report, took) {
  const { problems = [], problems_total: total = problems.length } = report;
  const notes = (report.notes ?? []).map((note) => make("p", { class: "note" }, note));
  const read = [counted(report.lines, "line"), report.files ? counted(report.files, "file") : "", counted(report.checkpoints, "signed checkpoint")].filter(Boolean).join(", ");
  if (report.ok) {
    put("good", "Whole", [make("p", {}, "No line was changed, removed, moved or cut off."), make("p", { class: "note" }, `${read}; checked in ${lasted(took)}.`), ...notes]);
    return;
  }
  put("bad", "Not whole", [
    make("p", {}, `${counted(total, "fault")} in ${read}. Somebody or something changed the record: do not trust what it says about these lines.`),
    make("ul", { class: "bullets" }, problems.slice(0, 50).map((each) => make("li", {}, saying(each)))),
    total > 50 ? make("p", { class: "note" }, `and ${total - 50} more`) : null,
    make("p", { class: "note" }, "What to do: stop everything on the page Executors, and compare with a backup."),
    ...notes,
  ]);
}

function saying(each) {
  const where = [each.place, each.seq ? `line ${each.seq}` : ""].filter(Boolean).join(", ");
  return [each.wrong, where, each.detail].filter(Boolean).join(": ");
}

function put(tone, title, parts) {
  const mark = { good: "✓", bad: "✗", warn: "!" }[tone];
  verdict.className = `verdict ${tone}`;
  verdict.replaceChildren(make("p", { class: "seal", "aria-hidden": "true" }, mark), make("div", {}, make("h3", {}, title), parts));
  verdict.hidden = false;
  verdict.focus();
}
