
const MARKS = {
  pass: ["✓", "pass"], "quality-warning": ["✓", "warning"], unsupported: ["–", "n/a"],
  waived: ["◐", "waived"], fail: ["✗", "fail"], error: ["✗", "error"], crash: ["✗", "crash"],
};

// Text of a report: what would turn the writing around, or cannot be seen, as an escape.
function visible(text) {
  return text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu,
    (each) => `\\u{${each.codePointAt(0).toString(16)}}`);
}

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined)
    .map((child) => (typeof child === "string" ? visible(child) : child)));
  return node;
}

// A name that may be broken where a new word starts in it.
function breakable(name) {
  const parts = name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[_.:,/-])/);
  return parts.flatMap((part, index) => (index ? [el("wbr"), part] : [part]));
}

function pill(status) {
  const [mark, word] = MARKS[status];
  return el("span", { class: `pill ${status}` }, `${mark} ${word}`);
}

// A link where the reference is an address; nothing else that a report holds becomes one.
function issueLink(issue) {
  if (!/^https?:\/\//.test(issue)) return document.createTextNode(visible(issue));
  return el("a", { href: issue, rel: "noopener noreferrer" }, issue);
}

const verb = (kept) => (kept ? "kept" : "masked");

function outcome(t) {
  const became = `but became ${short(t.result)} (0x${t.after})`;
  if (t.rewritten && t.kept) return `had to keep its bits, ${became}`;
  if (t.rewritten) return `had to become the fill value, ${became}`;
  if (t.allowed === "E") return `could be either and was ${verb(t.kept)}`;
  return `had to be ${verb(t.allowed === "K")} ${(t.allowed === "K") === t.kept ? "and" : "but"} was ${verb(t.kept)}`;
}

function describe(failure, tokens) {
  const concerned = tokens.find((t) => t.concerned);
  const row = tokens.length === failure.size
    ? `The row: ${tokens.length} token${tokens.length > 1 ? "s" : ""}`
    : `${tokens.length} of the row's ${failure.size.toLocaleString("en")} tokens`
      + (failure.cut === null ? "" : ", those nearest to the cut and the maximum");
  const cut = failure.cut === null ? "It has to come back bit for bit" : `n = ${failure.n}`;
  const end = concerned ? `Token ${concerned.token} (${short(concerned.value)}) ${outcome(concerned)}`
    : "No single token shows what is wrong";
  return `${row}. ${cut}. ${end}.`;
}

function legend(tokens, hasCut) {
  const list = el("ul", { class: "legend" });
  const entry = (picture, text) => list.append(el("li", {}, picture, text));
  const small = (...parts) => {
    const node = svg("svg", { viewBox: "0 0 18 18", "aria-hidden": "true" });
    node.append(...parts);
    return node;
  };
  const seen = new Set();
  for (const wrong of [false, true]) for (const kept of [true, false]) for (const rewritten of [false, true]) {
    const like = tokens.find((t) => t.wrong === wrong && t.kept === kept && t.rewritten === rewritten);
    const text = `${verb(kept)}${wrong ? ", wrong" : ""}${rewritten ? ": not the value it should be" : ""}`;
    if (like && !seen.has(text)) {
      seen.add(text);
      entry(small(glyph(like, 9, 9)), text);
    }
  }
  if (hasCut) {
    entry(small(svg("rect", { class: "zone-either", x: 1, y: 3, width: 16, height: 12 })),
      "interval: either is accepted");
  }
  return list;
}

function tokenTable(tokens) {
  const words = { K: "keep", D: "mask", E: "either" };
  const head = ["token", "logit", "bits", "allowed", "result", "bits", ""].map((text) =>
    el("th", { scope: "col" }, text));
  const rows = tokens.map((t) => el("tr", {},
    el("th", { scope: "row" }, String(t.token)), el("td", {}, short(t.value)),
    el("td", { class: "code" }, `0x${t.before}`), el("td", {}, words[t.allowed]),
    el("td", {}, short(t.result)), el("td", { class: "code" }, `0x${t.after}`),
    el("td", { class: t.wrong ? "fail" : "pass" }, t.wrong ? "✗ wrong" : "✓")));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
  const scroll = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Tokens" }, table);
  return el("details", {}, el("summary", {}, "The tokens as a table"), scroll);
}

// What draws each figure anew where its width has changed; one that is hidden has none.
const DRAW = [];

function figure(failure) {
  const tokens = tokensOf(failure), text = describe(failure, tokens);
  const place = el("div", { role: "img", "aria-label": text });
  const draw = () => {
    const width = Math.floor(place.clientWidth);
    if (!width || place.dataset.width === String(width)) return;
    place.dataset.width = String(width);
    place.replaceChildren(...drawings(failure, width).flatMap(({ node, factor }) =>
      factor === 1 ? [node]
        : [el("p", { class: "about" }, `Around the cut, × ${Number(factor.toPrecision(2)).toLocaleString("en")}`), node]));
  };
  new ResizeObserver(draw).observe(place);
  DRAW.push(draw);
  return [
    el("figure", {}, el("figcaption", {}, text), place, legend(tokens, failure.cut !== null)),
    tokenTable(tokens),
  ];
}

function facts(failure) {
  const list = el("dl");
  const fact = (name, value) => {
    if (value !== null && value !== undefined && value !== "") list.append(el("dt", {}, name), el("dd", {}, value));
  };
  const range = (pair) => pair && `[${pair[0]}, ${pair[1]}]`;
  fact("Dialect", failure.dialect);
  fact("Format", failure.dtype);
  const where = failure.token === null ? `row ${failure.row} of ${failure.size} tokens`
    : `row ${failure.row}, token ${failure.token} of ${failure.size}`;
  fact("Where", failure.row === null ? "" : where);
  fact("n", failure.n);
  fact("Logit", failure.logit === null ? "" : `${failure.logit} (${failure.logit_bits})`);
  fact("Exact cut", failure.cut === null ? "" : String(failure.cut));
  fact("Interval", range(failure.accept));
  fact("Tight band", range(failure.tight));
  fact("Distance", failure.distance_ulp === null ? "" : `${failure.distance_ulp.toLocaleString("en")} ulp from the interval (float32)`);
  fact("Would be right with", failure.matches.join(" or "));
  return list;
}

async function copy(text, source) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Where a page may not write to the clipboard, what is selected can still be copied.
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}

function command(text) {
  // What is copied is what is seen.
  const shown = visible(text), code = el("code", {}, shown), button = el("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(shown, code)) ? "Copied" : "Selected";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  const pre = el("pre", { tabindex: "0", "aria-label": "Command that shows it again" }, code);
  return el("div", { class: "command" }, pre, button);
}

function resultCard(result, report, id, title) {
  const cases = `${result.examples} case${result.examples === 1 ? "" : "s"}, ${result.seconds.toFixed(2)} s`;
  const about = [title, result.status === "unsupported" ? "" : cases].filter(Boolean).join(" · ");
  const card = el("article", { class: "result", id, tabindex: "-1", "data-status": result.status },
    el("h3", {}, pill(result.status), el("span", {}, result.check), el("span", { class: "of" }, ...breakable(report.title))),
    el("p", { class: "about" }, about));
  if (result.detail) card.append(el("p", {}, result.detail));
  const failure = result.failure;
  if (failure) {
    const rule = failure.rule ? `${failure.rule}: ` : "";
    card.append(el("p", { class: "message" }, rule + failure.message));
    if (failure.shown) card.append(...figure(failure));
    card.append(facts(failure), command(failure.reproduce));
  }
  return card;
}
