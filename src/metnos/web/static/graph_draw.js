// The picture of the mnestome: where one looks, what is pointed at, and the paper that it is drawn on.
// Rules: places come from the data, within 1 of the middle: the picture is the same tomorrow, with a filter and in another
// month. The paper is larger than the window. Whoever moves or zooms sees the paper from elsewhere, which costs next to
// nothing however much is on it; a new one is drawn behind it bit by bit, and takes its place when it is done. So it is
// smooth without a graphics card too, where drawing five thousand lines anew takes a fifth of a second.

import { Inks, drawName, drawing } from "./graph_paper.js";

const SMALLEST = 3.5, LARGEST = 15, NEAR = 11, NEAR_LINE = 5;  // pixels
const BEYOND = 0.4, NEAREST = 30, FURTHEST = 0.5;  // of the window, the paper to each side; how far one can zoom
const SETTLED = 140;  // milliseconds without a move, after which a sharp paper is drawn
const GOLDEN = 2.399963;
const isMoving = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;
const within = (value, least, most) => Math.min(most, Math.max(least, value));

export class Picture {
  constructor(stage, { point }) {
    Object.assign(this, { stage, point, nodes: new Map(), mnests: [], passing: [], seen: { mnests: () => true, found: null, chosen: null }, among: new Set(), beside: new Set(), hovered: null });
    this.papers = [0, 1].map(() => document.createElement("canvas"));  // the one that is looked at, and the next
    this.window = stage.appendChild(document.createElement("canvas"));
    this.window.setAttribute("aria-hidden", "true");
    this.eye = { x: 0, y: 0, k: 1 };
    this.inks = new Inks();
    document.addEventListener("metnos:theme", () => this.repaint());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    new ResizeObserver(() => this.resize()).observe(stage);
    this.resize();
  }
  repaint() {
    this.inks = new Inks();
    this.redraw();
  }
  resize() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (!width || !height) return;
    const was = this.base;
    Object.assign(this, { width, height, wide: within(width / height, 0.65, 1.8) });
    this.base = Math.min(width / (2 * this.wide + 0.24), height / 2.24);
    this.eye.k *= was ? this.base / was : this.base;
    this.redraw();
  }

  // -- what there is

  show({ nodes, mnests }) {
    const most = Math.max(...nodes.map((each) => each.traffic), 1e-9), crowd = 0.45 + 0.55 * Math.min(1, Math.sqrt(70 / Math.max(nodes.length, 1)));
    this.nodes = new Map(nodes.map((each, place) => {
      const { x, y } = each.x === null ? { x: Math.cos(place * GOLDEN), y: Math.sin(place * GOLDEN) } : each;
      return [each.name, { ...each, x, y, size: (SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(each.traffic / most)) * crowd }];
    }));
    this.mnests = mnests.filter((each) => each.source !== each.target).toSorted((one, two) => one.rank - two.rank || Math.round(one.weight * 10) - Math.round(two.weight * 10));
    this.sift();
  }
  /** Look again at what is to be seen. */
  sift() {
    const { mnests, chosen, found } = this.seen;
    this.passing = this.mnests.filter(mnests);
    this.among = new Set(this.passing.flatMap(({ source, target }) => [source, target]));
    for (const name of [found, chosen?.node]) if (this.nodes.has(name)) this.among.add(name);
    this.beside = new Set(this.passing.filter((each) => this.isMine(each)).flatMap(({ source, target }) => [source, target]));
    if (this.nodes.has(chosen?.node)) this.beside.add(chosen.node);
    this.redraw();
  }
  isMine({ id, source, target }) {
    const { chosen } = this.seen;
    return chosen?.mnest === id || (chosen?.node !== undefined && (chosen.node === source || chosen.node === target));
  }

  // -- drawing

  at({ x, y, size = 0 }, eye = this.eye, shift = { x: 0, y: 0 }) {
    return { x: (x * this.wide - eye.x) * eye.k + this.width / 2 + shift.x, y: (y - eye.y) * eye.k + this.height / 2 + shift.y, size: size * this.grown(eye) };
  }
  /** How much larger dots are drawn: more from near, and less where there is little room for all. */
  grown(eye = this.eye) { return within(Math.sqrt(eye.k / this.base), 0.7, 2.6) * within(Math.sqrt(this.width * this.height) / 820, 0.55, 1); }

  redraw() {
    if (!this.width) return;
    clearTimeout(this.settling);
    const paper = this.papers[1], ratio = Math.min(devicePixelRatio || 1, 2), eye = { ...this.eye };
    const shift = { x: this.width * BEYOND, y: this.height * BEYOND };
    const [width, height] = [this.width + 2 * shift.x, this.height + 2 * shift.y];
    paper.width = width * ratio;
    paper.height = height * ratio;
    const context = paper.getContext("2d");
    context.scale(ratio, ratio);
    const job = (this.job = drawing(context, this.inks, this.frame(eye, shift, width, height)));
    const on = () => {
      if (this.job !== job) return;
      if (!job.next().done) { requestAnimationFrame(on); return; }
      this.papers.reverse();
      Object.assign(paper, { eye, shift, ratio });
      this.job = null;
      this.place();
    };
    requestAnimationFrame(on);
    this.place();
  }
  frame(eye, shift, width, height) {
    const grown = Math.sqrt(this.grown(eye)), chosen = this.beside.size > 0, few = this.beside.size <= 26;
    const places = new Map();
    for (const name of this.among) {
      const node = this.nodes.get(name);
      if (node) places.set(name, { ...this.at(node, eye, shift), name, state: node.state, aside: chosen && !this.beside.has(name), named: (chosen && few && this.beside.has(name)) || name === this.seen.found || name === this.seen.chosen?.node });
    }
    const lines = this.passing.map((each) => {
      const mine = this.isMine(each);
      return { from: places.get(each.source), to: places.get(each.target), state: each.state, weight: each.weight, mine, aside: chosen && !mine, thick: (0.8 + 3 * each.weight + (mine ? 0.6 : 0)) * grown };
    });
    const isNear = ({ from, to }) => Math.max(from.x, to.x) > 0 && Math.min(from.x, to.x) < width && Math.max(from.y, to.y) > 0 && Math.min(from.y, to.y) < height;
    if (chosen) lines.sort((one, two) => one.mine - two.mine);
    const dots = [...places.values()].filter(({ x, y, size }) => x > -size && x < width + size && y > -size && y < height + size);
    return { lines, dots, isNear, chosen };
  }
  /** Show the paper from where one looks, with the marks on it; once with a frame. */
  place() {
    if (this.placing) return;
    this.placing = requestAnimationFrame(() => {
      this.placing = 0;
      const [paper] = this.papers, context = this.window.getContext("2d"), ratio = Math.min(devicePixelRatio || 1, 2);
      const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
      if (this.window.width !== width || this.window.height !== height) Object.assign(this.window, { width, height });
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, width, height);
      if (paper.eye) this.lay(context, paper, ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.mark(context);
    });
  }
  lay(context, paper, ratio) {
    const scale = this.eye.k / paper.eye.k;
    const x = this.width / 2 + (paper.eye.x - this.eye.x) * this.eye.k - (this.width / 2 + paper.shift.x) * scale;
    const y = this.height / 2 + (paper.eye.y - this.eye.y) * this.eye.k - (this.height / 2 + paper.shift.y) * scale;
    const grown = scale * (ratio / paper.ratio);
    context.drawImage(paper, Math.round(x * ratio), Math.round(y * ratio), Math.round(paper.width * grown), Math.round(paper.height * grown));
  }
  mark(context) {
    for (const name of new Set([this.seen.found, this.seen.chosen?.node, this.hovered])) {
      if (!this.nodes.has(name)) continue;
      const at = this.at(this.nodes.get(name));
      context.beginPath();
      context.arc(at.x, at.y, at.size + 4, 0, 2 * Math.PI);
      context.lineWidth = 2;
      context.strokeStyle = this.inks.ink;
      context.stroke();
      drawName(context, this.inks, { ...at, name });
    }
  }

  // -- looking

  look({ x = this.eye.x, y = this.eye.y, k = this.eye.k }) {
    this.eye = { x: within(x, -this.wide * 1.2, this.wide * 1.2), y: within(y, -1.2, 1.2), k: within(k, this.base * FURTHEST, this.base * NEAREST) };
    this.place();
    clearTimeout(this.settling);
    const [{ eye }] = this.papers, scale = eye ? this.eye.k / eye.k : 1;
    const far = eye && (Math.abs(this.eye.x - eye.x) * this.eye.k > this.width * BEYOND || Math.abs(this.eye.y - eye.y) * this.eye.k > this.height * BEYOND || scale < 0.6);
    if (far && !this.job) this.redraw();
    else this.settling = setTimeout(() => this.redraw(), SETTLED);
  }
  /** Go there within a moment, or at once for whoever wants nothing to move. */
  go(to, lasts = 220) {
    const from = { ...this.eye }, begin = performance.now(), going = (this.going = {});
    const step = (now) => {
      if (this.going !== going) return;
      const share = isMoving() ? within((now - begin) / lasts, 0, 1) : 1, eased = share * (2 - share);
      const between = (name) => from[name] + ((to[name] ?? from[name]) - from[name]) * eased;
      this.look({ x: between("x"), y: between("y"), k: from.k * ((to.k ?? from.k) / from.k) ** eased });
      if (share < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
  moveBy(x, y) { this.going = null; this.look({ x: this.eye.x + x / this.eye.k, y: this.eye.y + y / this.eye.k }); }
  /** Zoom, so that what is at a place of the window stays there. */
  zoomAt(by, { x, y }) {
    this.going = null;
    const k = within(this.eye.k * by, this.base * FURTHEST, this.base * NEAREST), keep = 1 / this.eye.k - 1 / k;
    this.look({ x: this.eye.x + (x - this.width / 2) * keep, y: this.eye.y + (y - this.height / 2) * keep, k });
  }
  zoom(by) { this.go({ k: this.eye.k * by }, 160); }
  fit() { this.go({ x: 0, y: 0, k: this.base }); }
  /** Look at an executor, from so near at least. */
  face(name, near = 2.2) {
    const node = this.nodes.get(name);
    if (node) this.go({ x: node.x * this.wide, y: node.y, k: Math.max(this.eye.k, this.base * near) });
  }
  /** Bring an executor into sight, if it is not. */
  reveal(name) {
    const node = this.nodes.get(name), at = node && this.at(node);
    if (at && (at.x < 40 || at.y < 40 || at.x > this.width - 40 || at.y > this.height - 40)) this.face(name, 0);
  }

  // -- what is where

  hover(name) {
    if (this.hovered === name) return;
    this.hovered = name;
    this.place();
  }
  nearest({ x, y }) {
    let best = null, least = Infinity;
    for (const name of this.among) {
      const at = this.nodes.has(name) ? this.at(this.nodes.get(name)) : null, far = at ? Math.hypot(at.x - x, at.y - y) - at.size : Infinity;
      if (far < least && far <= Math.max(0, NEAR - at.size)) [best, least] = [name, far];
    }
    return best;
  }
  /** The mnest whose line runs past there. */
  line({ x, y }) {
    let best = null, least = NEAR_LINE;
    for (const each of this.passing) {
      const from = this.at(this.nodes.get(each.source)), to = this.at(this.nodes.get(each.target));
      const dx = to.x - from.x, dy = to.y - from.y, share = ((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy || 1);
      if (share < 0 || share > 1) continue;
      const apart = Math.hypot(from.x + share * dx - x, from.y + share * dy - y) + (this.beside.size && !this.isMine(each) ? 2 : 0);
      if (apart < least) [best, least] = [each.id, apart];
    }
    return best;
  }
  /** The next executor from there to the left, right, up or down; the busiest to begin with. */
  beyond(name, side) {
    const all = [...this.among].filter((each) => this.nodes.has(each)).map((each) => ({ each, ...this.at(this.nodes.get(each)) }));
    const from = all.find(({ each }) => each === name);
    if (!from) return all.toSorted((one, two) => two.size - one.size)[0]?.each ?? null;
    const [ux, uy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[side];
    let best = null, least = Infinity;
    for (const to of all) {
      const ahead = (to.x - from.x) * ux + (to.y - from.y) * uy, far = ahead + 2.5 * Math.abs((to.x - from.x) * uy - (to.y - from.y) * ux);
      if (to.each !== name && ahead > 0.5 && far < least) [best, least] = [to.each, far];
    }
    return best;
  }
}
