// How executors and mnests look: the two WebGL programs that sigma draws them with.
// Rules: what a colour says, a shape says too. An executor is a disc, a wish an open, broken ring, the request a diamond.
// A mnest is a line to an arrow head: whole where it lives, and broken in another way for each other state. Two that run
// against one another keep to their own side.

import { EdgeProgram, NodeProgram, floatColor } from "./vendor/sigma.js";

const { FLOAT, UNSIGNED_BYTE, TRIANGLES } = WebGLRenderingContext;
const COLOUR = { name: "a_color", size: 4, type: UNSIGNED_BYTE, normalized: true };
export const LOOKS = { disc: 0, open: 1, diamond: 2 };
export const BREAKS = { active: 0, proto: 1, seed: 2, decaying: 3, superseded: 4 };

const NODE_CORNERS = `
attribute vec4 a_color; attribute vec2 a_position; attribute float a_size; attribute float a_look; attribute float a_angle;
uniform mat3 u_matrix; uniform float u_sizeRatio; uniform float u_correctionRatio;
varying vec4 v_color; varying vec2 v_at; varying float v_radius; varying float v_look;
void main() {
  float px = 2.0 * u_correctionRatio;
  float radius = a_size * px / u_sizeRatio;
  vec2 off = (radius + 2.0 * px) * 2.0 * vec2(cos(a_angle), sin(a_angle));
  gl_Position = vec4((u_matrix * vec3(a_position + off, 1)).xy, 0, 1);
  v_at = off / px; v_radius = radius / px; v_look = a_look; v_color = a_color;
  v_color.a *= 255.0 / 254.0;
}`;
const NODE_INSIDE = `
precision highp float;
varying vec4 v_color; varying vec2 v_at; varying float v_radius; varying float v_look;
uniform vec3 u_back;
void main() {
  #ifdef PICKING_MODE
  gl_FragColor = vec4(0.0);
  #else
  float far = v_look > 1.5 ? (abs(v_at.x) + abs(v_at.y)) * 0.82 : length(v_at);
  float inside = 1.0 - smoothstep(v_radius - 0.5, v_radius + 0.5, far);
  float around = 1.0 - smoothstep(v_radius + 1.0, v_radius + 2.0, far);
  vec3 ink = v_color.rgb;
  if (v_look > 0.5 && v_look < 1.5) {
    float thick = max(1.6, v_radius * 0.26);
    float ring = smoothstep(v_radius - thick - 0.5, v_radius - thick + 0.5, far);
    float turn = fract((atan(v_at.y, v_at.x) / 6.2831853 + 0.5) * 7.0);
    ring *= smoothstep(0.0, 0.08, turn) * (1.0 - smoothstep(0.62, 0.70, turn));
    ink = mix(u_back, ink, ring);
  }
  vec3 shown = mix(u_back, ink, inside);
  gl_FragColor = vec4(shown, 1.0) * around * v_color.a;
  #endif
}`;

export class ExecutorProgram extends NodeProgram {
  static back = [1, 1, 1];
  getDefinition() {
    return {
      VERTICES: 3, VERTEX_SHADER_SOURCE: NODE_CORNERS, FRAGMENT_SHADER_SOURCE: NODE_INSIDE, METHOD: TRIANGLES,
      UNIFORMS: ["u_matrix", "u_sizeRatio", "u_correctionRatio", "u_back"],
      ATTRIBUTES: [{ name: "a_position", size: 2, type: FLOAT }, { name: "a_size", size: 1, type: FLOAT }, { name: "a_look", size: 1, type: FLOAT }, COLOUR],
      CONSTANT_ATTRIBUTES: [{ name: "a_angle", size: 1, type: FLOAT }],
      CONSTANT_DATA: [[0], [(2 * Math.PI) / 3], [(4 * Math.PI) / 3]],
    };
  }
  processVisibleItem(_index, at, data) {
    this.array.set([data.x, data.y, data.size, data.look ?? 0, floatColor(data.color)], at);
  }
  setUniforms({ matrix, sizeRatio, correctionRatio }, { gl, uniformLocations: to }) {
    gl.uniformMatrix3fv(to.u_matrix, false, matrix);
    gl.uniform1f(to.u_sizeRatio, sizeRatio);
    gl.uniform1f(to.u_correctionRatio, correctionRatio);
    gl.uniform3fv(to.u_back, ExecutorProgram.back);
  }
}

const LINE_CORNERS = `
attribute vec2 a_start; attribute vec2 a_end; attribute vec4 a_shape; attribute vec4 a_color; attribute vec3 a_corner;
uniform mat3 u_matrix; uniform float u_sizeRatio; uniform float u_correctionRatio;
varying vec4 v_color; varying float v_side; varying float v_half; varying float v_far; varying float v_break;
void main() {
  float px = 2.0 * u_correctionRatio, item = px / u_sizeRatio;
  vec2 way = a_end - a_start;
  float far = max(length(way), 1e-9);
  vec2 along = way / far, across = vec2(along.y, -along.x);
  float half_ = max(a_shape.x * item, px) * 0.5;
  float head = min(max(half_ * 5.0, 5.0 * px), far * 0.4), wing = max(half_ * 2.2, 2.4 * px);
  float from = min(a_shape.z * item, far * 0.45), to = far - min(a_shape.w * item + 2.0 * px, far * 0.45);
  float place, off;
  if (a_corner.z < 0.5) { place = mix(from, to - head * 0.7, a_corner.x); off = (half_ + px) * a_corner.y; }
  else { place = to - head * a_corner.x; off = wing * a_corner.y; }
  vec2 position = a_start + along * place + across * (off + half_ + px);
  gl_Position = vec4((u_matrix * vec3(position, 1)).xy, 0, 1);
  v_side = a_corner.z < 0.5 ? off / px : 0.0;
  v_half = half_ / px; v_far = place / px;
  v_break = a_corner.z < 0.5 ? a_shape.y : 0.0;
  v_color = a_color; v_color.a *= 255.0 / 254.0;
}`;
const LINE_INSIDE = `
precision highp float;
varying vec4 v_color; varying float v_side; varying float v_half; varying float v_far; varying float v_break;
void main() {
  #ifdef PICKING_MODE
  gl_FragColor = vec4(0.0);
  #else
  float seen = clamp(v_half + 0.5 - abs(v_side), 0.0, 1.0);
  if (v_break > 0.5) {
    vec2 beat = v_break < 1.5 ? vec2(9.0, 5.0) : v_break < 2.5 ? vec2(5.0, 2.0) : v_break < 3.5 ? vec2(17.0, 13.0) : vec2(9.0, 2.0);
    float at = mod(v_far, beat.x);
    seen *= clamp(at + 0.5, 0.0, 1.0) * clamp(beat.y + 0.5 - at, 0.0, 1.0);
  }
  gl_FragColor = vec4(v_color.rgb, 1.0) * v_color.a * seen;
  #endif
}`;

export class MnestProgram extends EdgeProgram {
  getDefinition() {
    return {
      VERTICES: 9, VERTEX_SHADER_SOURCE: LINE_CORNERS, FRAGMENT_SHADER_SOURCE: LINE_INSIDE, METHOD: TRIANGLES,
      UNIFORMS: ["u_matrix", "u_sizeRatio", "u_correctionRatio"],
      ATTRIBUTES: [{ name: "a_start", size: 2, type: FLOAT }, { name: "a_end", size: 2, type: FLOAT }, { name: "a_shape", size: 4, type: FLOAT }, COLOUR],
      CONSTANT_ATTRIBUTES: [{ name: "a_corner", size: 3, type: FLOAT }],
      CONSTANT_DATA: [[0, 1, 0], [0, -1, 0], [1, 1, 0], [1, 1, 0], [0, -1, 0], [1, -1, 0], [0, 0, 1], [1, 1, 1], [1, -1, 1]],
    };
  }
  processVisibleItem(_index, at, source, target, data) {
    this.array.set([source.x, source.y, target.x, target.y, data.size, data.broken ?? 0, source.size, target.size, floatColor(data.color)], at);
  }
  setUniforms({ matrix, sizeRatio, correctionRatio }, { gl, uniformLocations: to }) {
    gl.uniformMatrix3fv(to.u_matrix, false, matrix);
    gl.uniform1f(to.u_sizeRatio, sizeRatio);
    gl.uniform1f(to.u_correctionRatio, correctionRatio);
  }
}
