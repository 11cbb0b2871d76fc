// The picture of the mnestome, drawn by sigma: executors by their traffic, mnests by weight and state.
// Rules: places come from the data, within 1 of the middle, and the window on them does not depend on what is shown: the
// picture is the same tomorrow, with a filter and in another month. What is pointed at is found by reckoning and never by
// reading pixels back, which would wait for the screen.

import { Graph, Sigma } from "./vendor/sigma.js";
import { BREAKS, ExecutorProgram, LOOKS, MnestProgram } from "./graph_shapes.js";
import { colour } from "./metnos.js";

const TONES = { active: "accent", seed: "edge", decaying: "warn", proto: "cool", superseded: "edge" };
const SHARES = { active: 0.62, seed: 0.5, decaying: 0.7, proto: 0.8, superseded: 0.45 };  // of its colour that a line shows
const FAINT = 0.08;
const SMALLEST = 3.5, LARGEST = 15, NEAR = 11, NEAR_LINE = 5;  // pixels
const GOLDEN = 2.399963;

/** "rgb(1, 2, 3)" with so much of it seen. */
const faded = (rgb, share) => rgb.replace(/^rgb\(/, "rgba(").replace(/\)$/, `, ${share})`);
const isMoving = () => !matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Picture {
  constructor(stage, { choose, point }) {
    this.graph = new Graph({ multi: true, allowSelfLoops: true });
    this.stage = stage;
    this.seen = { mnests: () => true, found: null, chosen: null };
    this.paint();
    this.sigma = new Sigma(this.graph, stage, {
      allowInvalidContainer: true,
      defaultNodeType: "executor", nodeProgramClasses: { executor: ExecutorProgram }, nodeHoverProgramClasses: { executor: ExecutorProgram },
      defaultEdgeType: "mnest", edgeProgramClasses: { mnest: MnestProgram },
      nodeReducer: (name, data) => this.node(name, data), edgeReducer: (key, data) => this.edge(key, data),
      defaultDrawNodeLabel: (context, data) => this.label(context, data),
      defaultDrawNodeHover: (context, data) => this.hover(context, data),
      labelGridCellSize: 110, labelDensity: 0.9, labelRenderedSizeThreshold: 4, labelSize: 12,
      minCameraRatio: 0.04, maxCameraRatio: 2.5, stagePadding: 44, zIndex: true, zoomDuration: isMoving() ? 160 : 0, inertiaDuration: isMoving() ? 160 : 0,
    });
    this.sigma.getNodeAtPosition = (at) => this.nearest(at);
    this.sigma.on("clickNode", ({ node }) => choose({ node }));
    this.sigma.on("clickStage", ({ event }) => choose(this.line(event) ?? {}));
    this.sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => { preventSigmaDefault(); this.look(node); });
    this.sigma.on("enterNode", ({ node }) => point({ node }));
    this.sigma.on("leaveNode", () => point({}));
    this.sigma.getMouseCaptor().on("mousemovebody", (event) => this.soon(() => { if (!this.sigma.hoveredNode) point(this.line(event) ?? {}); }));
    document.addEventListener("metnos:theme", () => this.repaint());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    new ResizeObserver(() => this.sigma.resize()).observe(stage);
  }

  /** Do it once with the next frame, however often it is asked for. */
  soon(what) {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; what(); });
  }

  paint() {
    this.tones = Object.fromEntries(Object.entries(TONES).map(([state, name]) => [state, colour(name)]));
    Object.assign(this, { ink: colour("ink"), soft: colour("soft"), back: colour("card"), accent: colour("accent"), quiet: colour("edge") });
    this.lines = Object.fromEntries(Object.entries(this.tones).map(([state, tone]) => [state, { plain: faded(tone, SHARES[state]), faint: faded(tone, FAINT), full: tone }]));
    ExecutorProgram.back = this.back.match(/[\d.]+/g).slice(0, 3).map((each) => each / 255);
  }
  repaint() {
    this.paint();
    this.sigma.refresh({ skipIndexation: true });
  }

  /** Another answer of the server's. */
  show({ nodes, mnests }) {
    const most = Math.max(...nodes.map((each) => each.traffic), 1e-9), crowd = Math.min(1, Math.sqrt(70 / Math.max(nodes.length, 1)));
    const wide = Math.min(1.8, Math.max(0.65, this.stage.clientWidth / (this.stage.clientHeight || 1)));
    this.graph.clear();
    this.sigma.setCustomBBox({ x: [-wide, wide], y: [-1, 1] });
    nodes.forEach((each, place) => {
      const { x, y } = each.x === null ? { x: Math.cos(place * GOLDEN), y: Math.sin(place * GOLDEN) } : each;
      const size = (SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(each.traffic / most)) * (0.45 + 0.55 * crowd);
      this.graph.addNode(each.name, { x: x * wide, y: -y, size, label: each.name, of: each });
    });
    for (const each of mnests) {
      if (each.source !== each.target) this.graph.addEdgeWithKey(each.id, each.source, each.target, { size: 0.8 + 3 * each.weight, of: each });
    }
    this.sift();
  }

  /** Look again at what is to be seen. */
  sift() {
    const { mnests, chosen } = this.seen;
    this.among = new Set();
    this.beside = new Set();
    this.graph.forEachEdge((_key, { of }, source, target) => {
      if (!mnests(of)) return;
      this.among.add(source).add(target);
      if (chosen?.node === source || chosen?.node === target || chosen?.mnest === of.id) this.beside.add(source).add(target);
    });
    if (chosen?.node) this.beside.add(chosen.node);
    this.sigma?.refresh();
  }

  node(name, { of, ...data }) {
    const { chosen, found } = this.seen, told = of.state === "wished" ? "proto" : of.state;
    if (!this.among.has(name) && found !== name && chosen?.node !== name) return { ...data, hidden: true };
    const aside = this.beside.size > 0 && !this.beside.has(name);
    const look = told === "proto" ? LOOKS.open : told === "request" ? LOOKS.diamond : LOOKS.disc;
    const tone = told === "proto" ? this.tones.proto : told === "active" ? this.accent : told === "request" ? this.ink : told === "quarantine" || told === "revoked" ? this.tones.decaying : this.quiet;
    const marked = chosen?.node === name || found === name;
    return { ...data, look, color: aside ? faded(tone, 0.18) : tone, label: aside ? null : name, highlighted: marked, forceLabel: marked || (this.beside.size > 0 && this.beside.size < 26 && !aside), zIndex: aside ? 0 : 1 };
  }
  edge(_key, { of, ...data }) {
    if (!this.seen.mnests(of)) return { ...data, hidden: true };
    const { chosen } = this.seen, line = this.lines[of.state];
    const mine = chosen?.mnest === of.id || (chosen?.node !== undefined && (chosen.node === of.source || chosen.node === of.target));
    const aside = this.beside.size > 0 && !mine;
    return { ...data, broken: BREAKS[of.state], color: aside ? line.faint : mine ? line.full : line.plain, size: mine ? data.size + 0.6 : data.size, zIndex: mine ? 2 : of.rank };
  }

  label(context, { x, y, size, label }) {
    if (!label) return;
    context.font = `500 12px ${getComputedStyle(document.body).fontFamily}`;
    context.textAlign = "center";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = this.back;
    context.fillStyle = this.ink;
    context.strokeText(label, x, y + size + 13);
    context.fillText(label, x, y + size + 13);
    context.textAlign = "start";
  }
  hover(context, data) {
    context.beginPath();
    context.arc(data.x, data.y, data.size + 4, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = this.ink;
    context.stroke();
    this.label(context, { ...data, label: data.label ?? data.key });
  }

  // -- what is where

  places() {
    const found = new Map();
    for (const name of this.among) {
      const data = this.sigma.getNodeDisplayData(name);
      if (data && !data.hidden) found.set(name, { ...this.sigma.framedGraphToViewport(data), size: this.sigma.scaleSize(data.size) });
    }
    return found;
  }
  nearest({ x, y }) {
    let best = null, least = Infinity;
    for (const [name, at] of this.places()) {
      const far = Math.hypot(at.x - x, at.y - y) - at.size;
      if (far < least && far <= Math.max(0, NEAR - at.size)) [best, least] = [name, far];
    }
    return best;
  }
  /** The mnest whose line runs past there. */
  line({ x, y }) {
    const at = this.places();
    let best = null, least = NEAR_LINE;
    this.graph.forEachEdge((_key, { of }, source, target) => {
      if (!this.seen.mnests(of)) return;
      const from = at.get(source), to = at.get(target);
      if (!from || !to) return;
      const dx = to.x - from.x, dy = to.y - from.y, far = dx * dx + dy * dy || 1;
      const share = ((x - from.x) * dx + (y - from.y) * dy) / far;
      if (share < 0 || share > 1) return;
      const apart = Math.hypot(from.x + share * dx - x, from.y + share * dy - y);
      if (apart < least) [best, least] = [of, apart];
    });
    return best && { mnest: best.id };
  }
  /** The next executor from there to the left, right, up or down. */
  beyond(name, side) {
    const at = this.places(), from = at.get(name);
    if (!from) return at.keys().next().value ?? null;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }, [ux, uy] = ways[side];
    let best = null, least = Infinity;
    for (const [other, to] of at) {
      const ahead = (to.x - from.x) * ux + (to.y - from.y) * uy, aside = Math.abs((to.x - from.x) * uy - (to.y - from.y) * ux);
      if (other === name || ahead <= 0.5) continue;
      if (ahead + 2.5 * aside < least) [best, least] = [other, ahead + 2.5 * aside];
    }
    return best;
  }

  // -- the way one looks at it

  async look(name, { near = 0.35 } = {}) {
    const data = this.sigma.getNodeDisplayData(name), camera = this.sigma.getCamera();
    if (data) await camera.animate({ x: data.x, y: data.y, ratio: Math.min(camera.ratio, near) }, { duration: isMoving() ? 250 : 0 });
  }
  /** Bring an executor into sight, if it is not. */
  reveal(name) {
    const data = this.sigma.getNodeDisplayData(name), { width, height } = this.sigma.getDimensions();
    if (!data) return;
    const { x, y } = this.sigma.framedGraphToViewport(data);
    if (x < 40 || y < 40 || x > width - 40 || y > height - 40) this.look(name, { near: 2.5 });
  }
  move(x, y) {
    const camera = this.sigma.getCamera(), { width, height } = this.sigma.getDimensions();
    const here = this.sigma.viewportToFramedGraph({ x: width / 2, y: height / 2 }), there = this.sigma.viewportToFramedGraph({ x: width / 2 + x, y: height / 2 + y });
    camera.setState({ x: camera.x + there.x - here.x, y: camera.y + there.y - here.y });
  }
  zoom(by) {
    const camera = this.sigma.getCamera();
    camera.animate({ ratio: Math.min(2.5, Math.max(0.04, camera.ratio * by)) }, { duration: isMoving() ? 160 : 0 });
  }
  fit() {
    this.sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: isMoving() ? 200 : 0 });
  }
}
