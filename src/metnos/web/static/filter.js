// A search field that narrows a list while one types. The list has everything already; without scripts the form asks
// the server. An element of the list says in `data-words` what is looked at.

for (const field of document.querySelectorAll("[data-filter]")) {
  const list = document.getElementById(field.dataset.filter);
  if (!list) continue;
  const none = document.getElementById(`${field.dataset.filter}-none`);
  const narrow = () => {
    const wanted = field.value.toLowerCase().replaceAll("_", " ").split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const each of list.querySelectorAll("[data-words]")) {
      each.hidden = !wanted.every((word) => each.dataset.words.includes(word));
      shown += each.hidden ? 0 : 1;
    }
    for (const group of list.querySelectorAll("[data-group]")) group.hidden = !group.querySelector("[data-words]:not([hidden])");
    if (wanted.length) for (const fold of list.querySelectorAll("details[data-group]:not([hidden])")) fold.open = true;
    if (none) none.hidden = shown > 0;
  };
  field.addEventListener("input", narrow);
  if (list.dataset.narrow !== undefined) narrow();
}
