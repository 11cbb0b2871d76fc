// Draws a part of the mnestome onto a canvas, a few hundred lines with each frame, so that the page never waits for it.
// Rules: what a colour says, a shape says too. An executor is a disc, with a hole if it is not active and with a bolt if it
// is in quarantine; a wish is an open, broken ring, the request a diamond.
// A mnest is a line with an arrow head: whole where it lives, and broken in another way for each other state. Two that run
// against one another keep to their own side. Where there are very many, each is fainter, and goes without its head.

import { colour } from "./metnos.js";

const TONES = { active: "accent", seed: "edge", decaying: "warn", proto: "cool", superseded: "edge" };
const BREAKS = { active: [], seed: [2, 3.5], decaying: [13, 4], proto: [6, 4], superseded: [2, 8] };
const SHARES = { active: 0.85, seed: 0.75, decaying: 0.9, proto: 0.9, superseded: 0.7 };  // of its colour that a line shows
const FAINT = 0.16, FAINTEST = 0.03;  // of what does not belong to what was chosen
const WHOLE = new Set(["active", "seed", "request"]), SHUT = new Set(["quarantine", "revoked"]);
const ROOMY = 250;  // lines that are seen whole
const AT_ONCE = { least: 60, first: 200, most: 4000 }, SLOW = 24, FAST = 18;  // lines with a frame; milliseconds of one
const CELL = 48;

/** "rgb(1, 2, 3)" with so much of it seen. */
const faded = (rgb, share) => rgb.replace(/^rgb\(/, "rgba(").replace(/\)$/, `, ${share.toFixed(3)})`);

export class Inks {
  constructor() {
    this.tones = Object.fromEntries(Object.entries(TONES).map(([state, name]) => [state, colour(name)]));
    Object.assign(this, { ink: colour("ink"), back: colour("card"), quiet: colour("edge"), bad: colour("bad") });
    this.font = getComputedStyle(document.body).fontFamily;
  }
  of(state) {
    return { wished: this.tones.proto, active: this.tones.active, seed: this.tones.active, request: this.ink, quarantine: this.bad, revoked: this.bad }[state] ?? this.quiet;
  }
}

/** All that is drawn, part by part: next() draws some of it. `frame` says where things stand and how they are shown. */
export function* drawing(context, inks, frame) {
  const lines = frame.lines.filter((line) => frame.isNear(line));
  const room = Math.min(1, Math.sqrt(ROOMY / Math.max(lines.length, 1))), mine = lines.findIndex((line) => line.mine);
  let style = "", pace = AT_ONCE.first, done = 0, last = performance.now();
  context.lineCap = "butt";
  for (const [place, line] of lines.entries()) {
    if (place === mine) { drawDots(context, inks, frame.dots, true); style = ""; }
    style = drawLine(context, inks, line, room, style);
    if (++done < pace) continue;
    yield;
    const now = performance.now(), took = now - last;
    pace = Math.min(AT_ONCE.most, Math.max(AT_ONCE.least, took > SLOW ? pace / 2 : took < FAST ? pace * 1.5 : pace));
    [done, last] = [0, now];
  }
  if (mine < 0) drawDots(context, inks, frame.dots, true);
  drawDots(context, inks, frame.dots, false);
  yield;
  drawNames(context, inks, frame.dots);
}

function drawLine(context, inks, { from, to, state, weight, mine, aside, thick }, room, style) {
  const dx = to.x - from.x, dy = to.y - from.y, far = Math.hypot(dx, dy);
  if (far < from.size + to.size + 3) return style;
  const ux = dx / far, uy = dy / far, off = thick / 2 + 1;
  const x1 = from.x + ux * from.size + uy * off, y1 = from.y + uy * from.size - ux * off;
  const x2 = to.x - ux * (to.size + 2.5) + uy * off, y2 = to.y - uy * (to.size + 2.5) - ux * off;
  const headed = mine || (!aside && room > 0.35), head = headed ? Math.min(5 + thick * 1.6, far / 3) : 0;
  const wanted = `${state}${Math.round(weight * 10)}${mine}${aside}`;
  if (wanted !== style) {
    const tone = inks.tones[state], share = aside ? Math.max(FAINTEST, FAINT * room) : mine ? 1 : SHARES[state] * (0.45 + 0.55 * weight) * room;
    context.strokeStyle = context.fillStyle = faded(tone, share);
    context.lineWidth = thick;
    context.setLineDash(headed || state === "proto" ? BREAKS[state] : []);
  }
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2 - ux * head * 0.8, y2 - uy * head * 0.8);
  context.stroke();
  if (headed) {
    const wing = 1.8 + thick * 0.9;
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - ux * head - uy * wing, y2 - uy * head + ux * wing);
    context.lineTo(x2 - ux * head + uy * wing, y2 - uy * head - ux * wing);
    context.fill();
  }
  return wanted;
}

function drawDots(context, inks, dots, aside) {
  context.setLineDash([]);
  for (const dot of dots) if (dot.aside === aside) drawDot(context, inks, dot);
}
function drawDot(context, inks, { x, y, size, state, aside }) {
  const tone = inks.of(state);
  context.globalAlpha = aside ? 0.22 : 1;
  shape(context, state, x, y, size + 1.6);
  context.fillStyle = inks.back;
  context.fill();
  if (state === "wished") {
    const thick = Math.max(1.6, size * 0.26);
    context.beginPath();
    context.arc(x, y, size - thick / 2, 0, 2 * Math.PI);
    context.setLineDash([(size * 2 * Math.PI) / 11, (size * 2 * Math.PI) / 17]);
    context.lineWidth = thick;
    context.strokeStyle = tone;
    context.stroke();
    context.setLineDash([]);
  } else {
    shape(context, state, x, y, size);
    context.fillStyle = tone;
    context.fill();
    context.fillStyle = inks.back;
    if (SHUT.has(state)) context.fillRect(x - size * 0.6, y - size * 0.16, size * 1.2, size * 0.32);
    else if (!WHOLE.has(state)) { shape(context, state, x, y, size * 0.42); context.fill(); }
  }
  context.globalAlpha = 1;
}
function shape(context, state, x, y, size) {
  context.beginPath();
  if (state !== "request") { context.arc(x, y, size, 0, 2 * Math.PI); return; }
  const far = size * 1.2;
  context.moveTo(x, y - far);
  context.lineTo(x + far, y);
  context.lineTo(x, y + far);
  context.lineTo(x - far, y);
  context.closePath();
}

/** The names that have room, the larger executors first. */
function drawNames(context, inks, dots) {
  const taken = new Set();
  context.font = `500 12px ${inks.font}`;
  context.textAlign = "center";
  for (const dot of dots.toSorted((one, two) => two.named - one.named || two.size - one.size)) {
    if (dot.aside || (dot.size < 3 && !dot.named)) continue;
    const wide = context.measureText(dot.name).width, cells = [];
    for (let x = Math.floor((dot.x - wide / 2 - 6) / CELL); x <= Math.floor((dot.x + wide / 2 + 6) / CELL); x++) {
      for (let y = Math.floor((dot.y + dot.size) / (CELL / 2)); y <= Math.floor((dot.y + dot.size + 16) / (CELL / 2)); y++) cells.push(`${x},${y}`);
    }
    if (!dot.named && cells.some((cell) => taken.has(cell))) continue;
    for (const cell of cells) taken.add(cell);
    drawName(context, inks, dot);
  }
}
export function drawName(context, inks, { name, x, y, size }) {
  context.font = `500 12px ${inks.font}`;
  context.textAlign = "center";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = inks.back;
  context.fillStyle = inks.ink;
  context.strokeText(name, x, y + size + 13);
  context.fillText(name, x, y + size + 13);
}
