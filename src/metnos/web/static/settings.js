// Settings edited in place: a field that was touched gets a button, and what is wrong with it is said below it.

import { Problem, complain, post, sayNext, sure, toast } from "./metnos.js";

for (const form of document.querySelectorAll("[data-setting]")) if (form.elements.value) furnish(form);

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
  const { warnAt, warning } = form.dataset;
  return !warning || value !== warnAt || sure(warning, { yes: "Yes" });
}

async function store(form, text) {
  const save = form.querySelector("[data-save]");
  save.setAttribute("aria-busy", "true");
  try {
    const { wins } = await post("/api/settings", { name: form.dataset.setting, value: text });
    wrong(form, wins ? `Saved, but the environment variable ${wins} still wins over it.` : "");
    return true;
  } catch (error) {
    if (error instanceof Problem && [400, 403, 404, 409, 422].includes(error.status)) wrong(form, [error.what, error.fix].filter(Boolean).join(" "));
    else complain(error);
    return false;
  } finally {
    save.removeAttribute("aria-busy");
  }
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
