// Settings edited in place: a field that was touched gets a button, and what is wrong with it is said below it.

import { Problem, complain, post, sayNext, sure, toast } from "./metnos.js";

const HOME = /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[?::1\]?$|\[?f[cd])|\.(local|lan|home\.arpa)$/i;
const OUTSIDE = "is outside your home. What you ask, and parts of your files, pages and notes, are sent there; whoever runs it can read and keep them. Use it all the same?";

for (const form of document.querySelectorAll("[data-setting]")) furnish(form);

function furnish(form) {
  const field = form.elements.value, save = form.querySelector("[data-save]"), reset = form.querySelector("[data-reset]");
  let kept = field.value;
  const touched = () => { save.hidden = field.value === kept; wrong(form, ""); };
  field.addEventListener("input", touched);
  field.addEventListener("change", touched);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (field.value === kept || !(await agreed(form, field.value))) return;
    if (await store(form, field.value)) { kept = field.value; save.hidden = true; toast("Saved."); mark(form); }
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && field.value !== kept) { field.value = kept; touched(); }
  });
  reset?.addEventListener("click", async () => {
    if (!(await agreed(form, form.dataset.default)) || !(await store(form, form.dataset.default))) return;
    sayNext("Back to the default.");
    location.reload();
  });
}

async function agreed(form, value) {
  const { warnAt, warning, setting } = form.dataset;
  if (warning && value === warnAt) return sure(warning, { yes: "Yes" });
  const host = setting.endsWith(".url") ? hostOf(value) : "";
  return !host || HOME.test(host) || sure(`${host} ${OUTSIDE}`, { yes: "Use it", bad: true });
}

function hostOf(address) {
  try { return new URL(address).hostname; } catch { return ""; }
}

async function store(form, text) {
  const save = form.querySelector("[data-save]");
  save.setAttribute("aria-busy", "true");
  try {
    await post("/api/settings", { name: form.dataset.setting, value: typed(form.dataset.kind, text) });
    wrong(form, "");
    return true;
  } catch (error) {
    if (error instanceof Problem && [400, 409, 422].includes(error.status)) wrong(form, [error.what, error.fix].filter(Boolean).join(" "));
    else complain(error);
    return false;
  } finally {
    save.removeAttribute("aria-busy");
  }
}

/** What was typed as the kind of value that the setting has; what is no number is left to the API to refuse. */
function typed(kind, text) {
  if (kind === "switch") return text === "true";
  if (kind === "list") return text.split(",").map((each) => each.trim()).filter(Boolean);
  const number = kind === "whole" || kind === "number" ? Number(text) : NaN;
  return text.trim() !== "" && Number.isFinite(number) ? number : text;
}

function wrong(form, words) {
  const place = form.querySelector(".wrong"), field = form.elements.value;
  place.textContent = words;
  if (words) { field.setAttribute("aria-invalid", "true"); field.focus(); } else field.removeAttribute("aria-invalid");
}

function mark(form) {
  let badge = form.querySelector("[data-source]");
  if (!badge) {
    badge = document.createElement("span");
    badge.dataset.source = "";
    form.querySelector(".about label").after(badge);
  }
  badge.className = "badge accent";
  badge.textContent = "changed by you";
}
