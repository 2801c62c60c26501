// A harness that is wrong on purpose, in two ways of real engines, for the suite to catch:
// σ has the divisor V although its dialect is RFC, and n = 0 means greedy.
//
//     topnsigma-conformance run --exec 'node wrong.js'

"use strict";

function topNSigma(row, n) {
  const max = row.reduce((a, b) => Math.max(a, b));
  if (!row.every(Number.isFinite) || row.every((x) => x === max)) return;
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  const sigma = Math.sqrt(row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length);
  const threshold = max - n * sigma;
  row.forEach((x, i) => {
    if (x < threshold) row[i] = -Infinity;
  });
}

function accepts(n) {
  return n === null || (typeof n === "number" && n >= 0 && n < Infinity);
}

function answer(message) {
  if (message.type === "hello") return { type: "hello", protocol: 1, name: "wrong.js" };
  const { id, n, tokens } = message;
  const bad = n.find((entry) => !accepts(entry));
  if (bad !== undefined) {
    const shown = bad?.invalid ?? JSON.stringify(bad);
    return { type: "rejected", id, message: `n must be a number >= 0; got ${shown}` };
  }
  const bytes = new Uint8Array(Buffer.from(message.logits, "base64"));
  const logits = new Float32Array(bytes.buffer);
  n.forEach((entry, row) => {
    if (entry !== null) topNSigma(logits.subarray(row * tokens, (row + 1) * tokens), entry);
  });
  return { type: "result", id, logits: Buffer.from(bytes.buffer).toString("base64") };
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => console.log(JSON.stringify(answer(JSON.parse(line)))));
