
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// The float that a pattern of hexadecimal digits means in a format of the suite.
function decode(digits, dtype) {
  const pattern = parseInt(digits, 16);
  if (dtype === "float16") {
    const sign = pattern & 0x8000 ? -1 : 1, exponent = (pattern >> 10) & 31, rest = pattern & 1023;
    if (exponent === 31) return rest ? NaN : sign * Infinity;
    return sign * (exponent ? (1 + rest / 1024) * 2 ** (exponent - 15) : rest * 2 ** -24);
  }
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, dtype === "bfloat16" ? pattern * 65536 : pattern);
  return view.getFloat32(0);
}

// The shortest decimal that is this float32 and no other.
function short(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+∞" : "−∞";
  for (let digits = 1; digits < 10; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === Math.fround(value)) return minus(String(Number(text)));
  }
  return minus(String(value));
}

const minus = (text) => text.replace(/-/g, "−");

function rounded(value, digits) {
  const size = Math.abs(value), text = String(Number(value.toPrecision(digits)));
  if (value === 0 || (size >= 1e-3 && size < 1e6)) return minus(text);
  return minus(value.toExponential(digits - 1).replace(/\.?0*e\+?/, "e"));
}

// Every token that a failure shows: what it held, had to become and became.
function tokensOf(failure) {
  const shown = failure.shown, digits = failure.dtype === "float32" ? 8 : 4;
  return shown.tokens.map((token, place) => {
    const part = (text) => text.slice(place * digits, (place + 1) * digits);
    const allowed = shown.allowed[place], did = shown.did[place], kept = did.toUpperCase() === "K";
    return {
      token, allowed, kept,
      before: part(shown.before), after: part(shown.after),
      value: decode(part(shown.before), failure.dtype),
      result: decode(part(shown.after), failure.dtype),
      rewritten: did !== did.toUpperCase(),
      concerned: token === failure.token,
      wrong: token === failure.token || did !== did.toUpperCase()
        || (allowed === "K" && !kept) || (allowed === "D" && kept),
    };
  });
}

const glyphClass = (t) => `glyph ${t.kept ? "kept" : "masked"}${t.wrong ? " wrong" : ""}`;

// Right is round and wrong is a diamond; kept is filled and masked is hollow; rewritten is struck.
function glyph(t, x, y) {
  const group = svg("g");
  group.append(t.wrong
    ? svg("path", { class: glyphClass(t), d: `M${x} ${y - 7}l7 7l-7 7l-7 -7z` })
    : svg("circle", { class: glyphClass(t), cx: x, cy: y, r: 4.5 }));
  if (t.rewritten) group.append(svg("path", { class: "slash", d: `M${x - 8} ${y + 8}l16 -16` }));
  return group;
}

function niceStep(span, count) {
  const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw);
}

function ticks(low, high, count) {
  const step = niceStep(high - low, count), found = [];
  for (let i = Math.ceil(low / step); i * step <= high && found.length < 20; i++) found.push(i * step);
  return found;
}

// Tokens of one panel as marks, those too close to be told apart as one, each in a lane of its own
// height so that none lies on another.
function marksOf(tokens, x, middle) {
  const groups = new Map();
  for (const t of tokens) {
    const column = Math.floor((x(t.value) - middle) / 15);
    const key = t.concerned ? "concerned" : `${column} ${glyphClass(t)} ${t.rewritten}`;
    groups.set(key, [...(groups.get(key) || []), t]);
  }
  const marks = [...groups.values()].map((alike) =>
    ({ alike, x: alike.reduce((sum, t) => sum + x(t.value), 0) / alike.length, concerned: alike[0].concerned }));
  marks.sort((one, other) => other.concerned - one.concerned || one.x - other.x);
  const lanes = [];
  const free = (lane, from, to) => (lanes[lane] || []).every(([a, b]) => to < a || from > b);
  const take = (lane, from, to) => { (lanes[lane] = lanes[lane] || []).push([from, to]); };
  for (const mark of marks) {
    const from = mark.x - 7, to = mark.x + 7 + (mark.alike.length > 1 ? 24 : 0);
    mark.lane = 0;
    while (!free(mark.lane, from, to)) mark.lane += 1;
    take(mark.lane, from, to);
    if (mark.concerned) take(mark.lane + 1, mark.x - 28, mark.x + 28);
  }
  return { marks, lanes: Math.max(1, lanes.length) };
}

function panel(failure, tokens, width, low, high, near) {
  const finite = tokens.filter((t) => Number.isFinite(t.value) && t.value >= low && t.value <= high);
  const odd = near ? [] : tokens.filter((t) => !Number.isFinite(t.value));
  const left = 10, right = width - 10 - (odd.length ? 78 : 0);
  const x = (value) => left + ((value - low) / (high - low)) * (right - left);
  const cut = failure.cut === null ? null : Number(failure.cut);
  const { marks, lanes } = marksOf(finite, x, cut === null ? left : x(cut));
  const zones = cut === null ? null : failure.accept.map(Number);
  const spans = zones && !near;
  const top = spans ? 54 : zones ? 36 : 8, base = top + 6 + Math.max(lanes, Math.min(odd.length, 4)) * 17, height = base + 34;
  const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  const inside = (value) => Math.min(Math.max(x(value), left), right);
  const box = (name, from, to, y, h) => node.append(
    svg("rect", { class: name, x: from, y, width: Math.max(0, to - from), height: h }));

  if (zones) {
    const [a, b] = zones.map(inside), middle = inside(cut);
    box("zone-masked", left, a, 18, base - 18);
    box("zone-kept", b, right, 18, base - 18);
    const half = Math.max(2, (b - a) / 2);
    box("zone-either", Math.min(a, middle - half), Math.max(b, middle + half), 18, base - 18);
    if (near && failure.tight) {
      const [c, d] = failure.tight.map(Number).map(inside);
      box("zone-tight", c, Math.max(d, c + 1), base - 6, 6);
    }
    node.append(svg("path", { class: "cut", d: `M${middle} 18V${base + 6}` }));
    if (a - left > 96) node.append(svg("text", { x: a - 8, y: 32, "text-anchor": "end" }, "must be masked"));
    if (right - b > 80) node.append(svg("text", { x: b + 8, y: 32 }, "must be kept"));
    const highest = Math.max(...finite.map((t) => t.value)), top = inside(highest);
    if (spans && top - middle > 24) {
      node.append(svg("path", { class: "span", d: `M${middle} 47H${top}M${top} 42v10M${middle + 5} 43l-5 4l5 4` }));
      const text = `n·σ = ${rounded(highest - cut, 4)}`, room = 6.5 * text.length + 12;
      const [place, anchor] = top - middle > room + 20 ? [(middle + top) / 2, "middle"]
        : width - top > room ? [top + 6, "start"] : [middle - 6, "end"];
      if (anchor !== "end" || middle > room) {
        node.append(svg("text", { class: `on-line ${anchor === "end" ? "masked" : "kept"}`, x: place, y: 51, "text-anchor": anchor }, text));
      }
    }
    const label = near ? "exact cut" : `exact cut ${rounded(cut, 6)}`;
    const anchor = middle < 70 ? "start" : middle > width - 70 ? "end" : "middle";
    node.append(svg("text", { class: "strong", x: middle, y: 12, "text-anchor": anchor }, label));
  }

  node.append(svg("path", { class: "axis", d: `M${left} ${base}H${right}` }));
  const ends = near && x(zones[1]) - x(zones[0]) > 120;
  const signed = (value) => (value ? `${value > 0 ? "+" : "−"}${rounded(Math.abs(value), 2)}` : "0");
  const scale = ends ? [zones[0], cut, zones[1]].map((at) => [at, signed(at - cut)])
    : near ? ticks(low - cut, high - cut, Math.max(4, Math.floor(width / 110))).map((at) => [cut + at, signed(at)])
      : ticks(low, high, Math.max(4, Math.floor(width / 110))).map((at) => [at, rounded(at, 4)]);
  for (const [at, label] of scale) {
    const place = x(at), anchor = place < 24 ? "start" : place > width - 24 ? "end" : "middle";
    node.append(svg("path", { class: "tick", d: `M${place} ${base}v5` }));
    node.append(svg("text", { x: place, y: base + 18, "text-anchor": anchor }, label));
  }
  node.append(svg("text", { x: right, y: base + 31, "text-anchor": "end" },
    near ? "logit − cut" : "logit"));

  for (const { alike, x: place, lane, concerned } of marks) {
    const y = base - 10 - lane * 17, mark = glyph(alike[0], place, y);
    mark.prepend(svg("title", {}, `token ${alike.map((t) => t.token).join(", ")}`));
    node.append(mark);
    if (alike.length > 1) node.append(svg("text", { x: place + 9, y: y + 4 }, `×${alike.length}`));
    if (concerned) {
      const anchor = place < 40 ? "start" : place > right - 40 ? "end" : "middle";
      node.append(svg("text", { class: "strong", x: place, y: y - 12, "text-anchor": anchor }, `token ${alike[0].token}`));
    }
  }

  odd.slice(0, 4).forEach((t, line) => {
    const y = base - 10 - line * 17;
    node.append(glyph(t, right + 22, y));
    node.append(svg("text", { class: t.concerned ? "strong" : "", x: right + 34, y: y + 4 },
      line === 3 && odd.length > 4 ? `+${odd.length - 3} more` : short(t.value)));
  });
  return node;
}

// One or two drawings of a row: all of it, and what lies too near to the cut to be seen there.
function drawings(failure, width) {
  const tokens = tokensOf(failure);
  const cut = failure.cut === null ? null : Number(failure.cut);
  const values = tokens.map((t) => t.value).filter(Number.isFinite);
  if (cut !== null && Number.isFinite(cut)) values.push(cut);
  let low = Math.min(...values), high = Math.max(...values);
  if (!values.length) [low, high] = [-1, 1];
  const room = high > low ? (high - low) * 0.06 : Math.max(1, Math.abs(high) * 0.1);
  [low, high] = [low - room, high + room];
  const found = [{ node: panel(failure, tokens, width, low, high, false), factor: 1 }];
  if (cut === null) return found;
  const pixel = (high - low) / width;
  const [a, b] = failure.accept.map(Number);
  const wanted = tokens.filter((t) => Math.abs(t.value - cut) < 9 * pixel);
  if (!wanted.length) return found;
  const concerned = wanted.find((t) => t.concerned);
  const nearest = concerned || wanted.reduce((one, other) =>
    Math.abs(other.value - cut) < Math.abs(one.value - cut) ? other : one);
  const half = 1.35 * Math.max(cut - a, b - cut, Math.abs(nearest.value - cut));
  const factor = (high - low) / (2 * half);
  if (!(factor > 4) || !(half > 0)) return found;
  found.push({ node: panel(failure, tokens, width, cut - half, cut + half, true), factor });
  return found;
}
