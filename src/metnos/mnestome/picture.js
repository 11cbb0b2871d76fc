"use strict";
// Draws what stands in #data. Rules: names and tags are only ever set as text or as attributes, never read as markup;
// places come from the file, so every reader sees the same picture; nothing is fetched and nothing is kept.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const svg = $("picture"), panel = $("panel"), narrow = matchMedia("(max-width: 820px)");
  const STATES = ["active", "seed", "decaying", "proto", "superseded"];
  const WORDS = { active: "active", seed: "seed", decaying: "decaying", proto: "wished for", superseded: "superseded" };
  const view = { tall: false, x: 0, y: 0, w: 1, h: 1 };
  let chosen = null, hovered = null, focused = 0, drawn = { nodes: [], links: [] };

  function make(name, attributes = {}, ...inside) {
    const svgNames = ["svg", "g", "path", "circle", "text", "tspan", "line", "rect", "title"];
    const space = svgNames.includes(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) {
      if (typeof value === "function") made.addEventListener(key, value);
      else if (value !== null) made.setAttribute(key, value);
    }
    made.append(...inside.filter((each) => each !== null));
    return made;
  }
  const day = (text) => text.slice(0, 10);
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  // -- what is shown

  const shown = { states: new Set(STATES.filter((each) => each !== "superseded")), tag: "", least: 0, search: "" };
  const passes = (each) => shown.states.has(each.state) && each.weight >= shown.least
    && (!shown.tag || each.tags.includes(shown.tag));
  function living() {
    const links = data.links.map((link) => link.mnests.find(passes) || null);
    const nodes = data.nodes.map(() => false);
    data.links.forEach((link, index) => {
      if (links[index]) nodes[link.src] = nodes[link.dst] = true;
    });
    return { links, nodes };
  }
  const found = (node) => shown.search && node.name.includes(shown.search);

  // -- drawing

  function at(index) {
    const [x, y] = data.nodes[index][view.tall ? "tall" : "wide"].at;
    return { x, y, r: data.nodes[index].r };
  }
  function curve(from, to) {
    const dx = to.x - from.x, dy = to.y - from.y, far = Math.hypot(dx, dy) || 1;
    const bend = Math.min(0.14 * far, 46);
    const mid = { x: (from.x + to.x) / 2 - (dy / far) * bend, y: (from.y + to.y) / 2 + (dx / far) * bend };
    const off = (point, gap) => {
      const ux = mid.x - point.x, uy = mid.y - point.y, length = Math.hypot(ux, uy) || 1;
      return { x: point.x + (ux / length) * gap, y: point.y + (uy / length) * gap, ux: ux / length, uy: uy / length };
    };
    return { start: off(from, from.r + 2), end: off(to, to.r + 9), tip: off(to, to.r + 2.5), mid };
  }
  function loop({ x, y, r }) {
    // What feeds itself: a bow over its own head.
    const end = { x: x + r * 0.7 + 5, y: y - r * 0.7 - 5 };
    return { start: { x: x - r * 0.7 - 1, y: y - r * 0.7 - 1 }, mid: { x, y: y - r - 34 }, end,
      tip: { x: x + r * 0.7 + 1, y: y - r * 0.7 - 1, ux: 0.7, uy: -0.7 } };
  }
  function drawLink(link, index) {
    const { start, end, tip, mid } = link.src === link.dst ? loop(at(link.src)) : curve(at(link.src), at(link.dst));
    const path = `M${start.x} ${start.y}Q${mid.x} ${mid.y} ${end.x} ${end.y}`;
    const side = 3 + 2.6 * link.weight;
    const head = `M${tip.x} ${tip.y}L${end.x - tip.uy * side} ${end.y + tip.ux * side}`
      + `L${end.x + tip.uy * side} ${end.y - tip.ux * side}Z`;
    const line = make("path", { class: "link", d: path });
    const group = make("g", { pointerenter: () => hover({ link: index }), pointerleave: () => hover(null),
      click: () => choose({ link: index }) }, line, make("path", { class: "head", d: head }),
      make("path", { class: "touch", d: path }), make("title"));
    return group;
  }
  function drawNode(node, index) {
    const { x, y, r } = at(index);
    const dot = node.kind === "request"
      ? make("path", { class: "dot", d: `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z` })
      : make("circle", { class: "dot", cx: x, cy: y, r });
    const lines = node[view.tall ? "tall" : "wide"].lines;
    const text = make("text", { x, y: y + r + 14 },
      ...lines.map((line, place) => make("tspan", { x, dy: place ? 13.5 : 0 }, line)));
    const said = { wished: "wished for, does not exist", request: "what you ask for" }[node.kind] || "executor";
    return make("g", { class: `node ${node.kind}`, role: "button", tabindex: "-1", "aria-label": `${node.name}, ${said}`,
      pointerenter: () => hover({ node: index }), pointerleave: () => hover(null), click: () => choose({ node: index }),
      focus: () => { focused = index; } }, dot, make("circle", { class: "ring", cx: x, cy: y, r: r + 3.5 }), text);
  }
  function draw() {
    view.tall = narrow.matches || $("stage").clientWidth < $("stage").clientHeight;
    drawn = { links: data.links.map(drawLink), nodes: data.nodes.map(drawNode) };
    svg.replaceChildren(make("g", { class: "links" }, ...drawn.links.slice().reverse()), make("g", {}, ...drawn.nodes));
    whole();
    update();
  }
  function near(thing) {
    // What belongs to a node or a link: indexes of nodes and links.
    const nodes = new Set(), links = new Set();
    data.links.forEach((link, index) => {
      if (thing.link === index || link.src === thing.node || link.dst === thing.node) {
        links.add(index); nodes.add(link.src); nodes.add(link.dst);
      }
    });
    if (thing.node !== undefined) nodes.add(thing.node);
    return { nodes, links };
  }
  function update() {
    const now = living(), lit = hovered || chosen ? near(hovered || chosen) : null;
    drawn.links.forEach((group, index) => {
      const mnest = now.links[index];
      group.style.display = mnest ? "" : "none";
      if (!mnest) return;
      const link = data.links[index];
      const sought = !shown.search || found(data.nodes[link.src]) || found(data.nodes[link.dst]);
      group.setAttribute("class", mnest.state + ((lit ? lit.links.has(index) : sought) ? "" : " quiet"));
      group.children[0].style.strokeWidth = `${0.9 + 4.6 * mnest.weight}px`;
      group.children[0].style.opacity = group.children[1].style.opacity = 0.34 + 0.6 * mnest.weight;
      group.children[3].textContent = `${data.nodes[link.src].name} → ${data.nodes[link.dst].name}  `
        + `${mnest.weight.toFixed(2)}, ${counted(mnest.uses, "use")}, ${WORDS[mnest.state]}`;
    });
    drawn.nodes.forEach((group, index) => {
      const node = data.nodes[index], hit = found(node);
      const quiet = lit ? !lit.nodes.has(index) : shown.search && !hit;
      group.style.display = now.nodes[index] ? "" : "none";
      group.classList.toggle("quiet", Boolean(quiet));
      group.classList.toggle("found", Boolean(hit));
      group.classList.toggle("chosen", Boolean(chosen && chosen.node === index));
      group.setAttribute("tabindex", index === focused ? "0" : "-1");
    });
    if (!now.nodes[focused] && now.nodes.includes(true)) {
      focused = now.nodes.indexOf(true);
      drawn.nodes[focused].setAttribute("tabindex", "0");
    }
    $("nothing").hidden = now.nodes.includes(true);
  }
  function hover(thing) { hovered = thing; update(); }
  function choose(thing) {
    chosen = thing; hovered = null;
    if (thing && thing.node !== undefined) focused = thing.node;
    update(); tell(); uncover();
  }
  function uncover() {
    // On a phone the sheet lies over the lower half of the screen: what was chosen moves out from under it.
    if (!narrow.matches || !chosen) return;
    const group = chosen.node !== undefined ? drawn.nodes[chosen.node] : drawn.links[chosen.link];
    const box = group.getBoundingClientRect(), most = innerHeight - panel.offsetHeight - 12;
    if (box.bottom > most) scrollBy({ top: Math.min(box.bottom - most, Math.max(box.top - 12, 0)) });
  }

  // -- the panel

  function row(link, name) {
    const bar = make("svg", { viewBox: "0 0 100 5", preserveAspectRatio: "none", "aria-hidden": "true" },
      make("rect", { class: "bed", width: 100, height: 5, rx: 1.5 }),
      make("rect", { class: "weight", width: Math.max(1, 100 * link.weight), height: 5, rx: 1.5 }));
    return make("button", { type: "button", class: `row ${link.mnests[0].state}`,
      click: () => choose({ link: data.links.indexOf(link) }) },
      make("span", {}, make("bdi", {}, name)), make("b", {}, link.weight.toFixed(2)), bar);
  }
  function rows(title, links, name) {
    return links.length ? [make("h3", {}, title), ...links.map((link) => row(link, name(link)))] : [];
  }
  const tags = (list) => list.length ? make("div", { class: "tags" }, ...list.map((tag) => make("bdi", {}, tag))) : null;
  const shut = () => make("button", { type: "button", class: "shut", click: () => choose(null) }, "Close");
  function nodePanel(node, index) {
    const said = { wished: "Wished for, and does not exist yet.", request: "What you ask for, before any executor." };
    const about = said[node.kind] || [node.versions.length ? `Version ${node.versions.join(", ")}` : "",
      counted(node.uses, "use")].filter(Boolean).join(", ");
    const name = (end) => (link) => data.nodes[link[end]].name;
    return [shut(), make("h2", {}, make("bdi", {}, node.name)), make("p", {}, about), tags(node.tags),
      ...rows("Gives to", data.links.filter((link) => link.src === index), name("dst")),
      ...rows("Takes from", data.links.filter((link) => link.dst === index), name("src"))];
  }
  function linkPanel(link) {
    const parts = [shut(), make("h2", {}, make("bdi", {}, data.nodes[link.src].name), " → ",
      make("bdi", {}, data.nodes[link.dst].name))];
    for (const each of link.mnests) {
      const facts = [["weight", each.weight.toFixed(3)], ["state", WORDS[each.state]], ["uses", String(each.uses)],
        ["first", day(each.first)], ["last", day(each.used)],
        ["versions", [each.src_version || "none", each.dst_version || "none"].join(" → ")],
        ["fades", `to half in ${Math.floor(Math.LN2 / each.decay_lambda)} days`], ["id", each.id]];
      if (each.summary) parts.push(make("p", {}, make("bdi", {}, each.summary)));
      parts.push(make("dl", {}, ...facts.flatMap(([term, value]) =>
        [make("dt", {}, term), make("dd", {}, make("bdi", {}, value))])), tags(each.tags));
    }
    for (const end of ["src", "dst"]) {
      const node = data.nodes[link[end]];
      parts.push(make("button", { type: "button", class: "row", click: () => choose({ node: link[end] }) },
        make("span", {}, `All of `, make("bdi", {}, node.name))));
    }
    return parts;
  }
  function homePanel() {
    const heavy = data.links.filter((link) => link.mnests[0].state !== "proto").slice(0, 8);
    const wishes = data.links.filter((link) => link.mnests[0].state === "proto").slice(0, 5);
    const both = (link) => `${data.nodes[link.src].name} → ${data.nodes[link.dst].name}`;
    const keys = make("p", { class: "keys" }, ...[["/", " search, "], ["arrows", " go from one to the next, "],
      ["enter", " opens it, "], ["esc", " closes, "], ["+ − 0", " zoom"]].flatMap(([key, what]) =>
      [make("kbd", {}, key), what]));
    return [make("h2", {}, "What works together"),
      make("p", {}, "A line is a mnest: what one executor gave, another took, and it worked. Each use makes it heavier; "
        + "unused it fades. A dashed circle is an executor that was wished for and does not exist."),
      data.left_out ? make("p", {}, `${data.left_out} lighter mnests are not in this picture.`) : null, keys,
      ...rows("Heaviest", heavy, both), ...rows("Wished for", wishes, both)];
  }
  function tell() {
    panel.classList.toggle("open", Boolean(chosen));
    const inside = !chosen ? homePanel()
      : chosen.node !== undefined ? nodePanel(data.nodes[chosen.node], chosen.node) : linkPanel(data.links[chosen.link]);
    panel.replaceChildren(...inside.filter((each) => each !== null));
    panel.scrollTop = 0;
  }

  // -- looking closer (a phone uses its own scrolling and pinching)

  function frame() { svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`); }
  function whole() {
    const [w, h] = data.size[view.tall ? "tall" : "wide"], edge = view.tall ? 6 : 26;
    Object.assign(view, { x: -edge, y: -edge, w: w + 2 * edge, h: h + 2 * edge });
    frame();
  }
  function zoom(factor, x = view.x + view.w / 2, y = view.y + view.h / 2) {
    const [w] = data.size[view.tall ? "tall" : "wide"], next = Math.min(Math.max(view.w * factor, 150), 3 * w + 200);
    const by = next / view.w;
    Object.assign(view, { x: x - (x - view.x) * by, y: y - (y - view.y) * by, w: view.w * by, h: view.h * by });
    frame();
  }
  function paper(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [point.x, point.y];
  }
  const fingers = new Map();
  let moved = 0;
  svg.addEventListener("wheel", (event) => {
    if (narrow.matches) return;
    event.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004), ...paper(event));
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    moved = 0;
    if (!narrow.matches) fingers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const others = [...fingers.entries()].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const scale = 1 / svg.getScreenCTM().a;
    if (others.length) {
      const far = (place) => Math.hypot(place[0] - others[0][0], place[1] - others[0][1]) || 1;
      zoom(far(before) / far([event.clientX, event.clientY]));
    } else {
      view.x -= (event.clientX - before[0]) * scale;
      view.y -= (event.clientY - before[1]) * scale;
      frame();
    }
    moved += Math.hypot(event.clientX - before[0], event.clientY - before[1]);
    svg.classList.toggle("moving", moved > 4);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  for (const name of ["pointerup", "pointercancel"]) addEventListener(name, (event) => {
    fingers.delete(event.pointerId);
    svg.classList.remove("moving");
  });
  svg.addEventListener("click", (event) => {
    if (moved > 4) event.stopPropagation();
    else if (event.target === svg) choose(null);
  }, true);
  $("closer").addEventListener("click", () => zoom(0.75));
  $("farther").addEventListener("click", () => zoom(1 / 0.75));
  $("whole").addEventListener("click", whole);

  // -- keys

  function step(key) {
    const [ax, ay] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const here = at(focused), now = living();
    let best = null, least = Infinity;
    data.nodes.forEach((_, index) => {
      const { x, y } = at(index), ahead = (x - here.x) * ax + (y - here.y) * ay;
      const aside = Math.abs((x - here.x) * ay) + Math.abs((y - here.y) * ax);
      if (now.nodes[index] && ahead > 1 && ahead + 2 * aside < least) { best = index; least = ahead + 2 * aside; }
    });
    if (best === null) return;
    focused = best;
    update();
    drawn.nodes[best].focus();
  }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input, select"), node = event.target.closest && event.target.closest(".node");
    if (event.key === "Escape") { choose(null); if (typing) event.target.blur(); }
    else if (typing) { if (event.key === "Enter") event.preventDefault(); }
    else if (event.key === "/") { event.preventDefault(); $("search").focus(); }
    else if (event.key === "+" || event.key === "=") zoom(0.75);
    else if (event.key === "-") zoom(1 / 0.75);
    else if (event.key === "0") whole();
    else if (node && event.key.startsWith("Arrow")) { event.preventDefault(); step(event.key); }
    else if (node && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); choose({ node: focused }); }
  });

  // -- filters

  function begin() {
    const counts = {};
    for (const link of data.links) for (const each of link.mnests) counts[each.state] = (counts[each.state] || 0) + 1;
    $("about").textContent = `${counted(data.nodes.filter((node) => node.kind === "executor").length, "executor")}, `
      + `${counted(Object.values(counts).reduce((sum, each) => sum + each, 0), "mnest")}, `
      + `as of ${data.made.slice(0, 16).replace("T", " ")} UTC`;
    for (const state of STATES.filter((each) => counts[each])) {
      const box = make("input", { type: "checkbox", change: (event) => {
        if (event.target.checked) shown.states.add(state); else shown.states.delete(state);
        update();
      } });
      box.checked = shown.states.has(state);
      const line = make("line", { class: `${state} chipline`, x1: 2, y1: 3, x2: 20, y2: 3 });
      $("states").append(make("label", { class: "chip" }, box,
        make("svg", { viewBox: "0 0 22 6", "aria-hidden": "true" }, line), WORDS[state], make("b", {}, String(counts[state]))));
    }
    for (const tag of data.tags) $("tag").append(make("option", { value: tag }, tag));
    $("tag").parentElement.hidden = !data.tags.length;
    $("tag").addEventListener("change", (event) => { shown.tag = event.target.value; update(); });
    $("least").addEventListener("input", (event) => {
      shown.least = Number(event.target.value);
      $("leastsaid").textContent = shown.least.toFixed(2);
      update();
    });
    $("search").addEventListener("input", (event) => {
      shown.search = event.target.value.trim().toLowerCase().replaceAll(" ", "_");
      chosen = null; tell(); update();
    });
    $("search").addEventListener("keydown", (event) => {
      const now = living(), first = data.nodes.findIndex((node, index) => now.nodes[index] && found(node));
      if (event.key === "Enter" && first >= 0) { choose({ node: first }); drawn.nodes[first].focus(); }
    });
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    narrow.addEventListener("change", draw);
    if (!data.nodes.length) {
      $("nothing").textContent = "Nothing is remembered yet. It fills by itself, as one executor's output feeds another.";
    }
    draw(); tell();
  }
  begin();
})();
