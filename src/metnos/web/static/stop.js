// The emergency stop: its button can be pressed only after the tick, and then the word has to be typed as well.

const form = document.getElementById("panic");
const tick = document.getElementById("really");
tick?.addEventListener("change", () => { form.querySelector("[type=submit]").disabled = !tick.checked; });
form?.addEventListener("submit", (event) => {
  if (!tick.checked) { event.preventDefault(); event.stopImmediatePropagation(); return; }
  const why = form.elements.reason;
  if (!why.value.trim()) why.value = why.dataset.else;
}, { capture: true });
