
const DATA = JSON.parse(document.getElementById("data").textContent);
const WORST_FIRST = ["crash", "error", "fail", "waived", "quality-warning", "pass", "unsupported"];
const AGAINST = new Set(["crash", "error", "fail"]);
const ATTENTION = new Set(["crash", "error", "fail", "waived", "quality-warning"]);
const byId = (id) => document.getElementById(id);
const ruleOf = (result) => result.check.split(".")[0];
const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;
const counted = (...statuses) => DATA.reports.reduce((sum, report) =>
  sum + statuses.reduce((part, status) => part + report.footer.counts[status], 0), 0);

const CARDS = DATA.reports.flatMap((report, index) => report.results.map((result, place) => {
  const id = `r${index}-${place}-${result.check}`;
  const node = resultCard(result, report, id, DATA.checks[result.check] || "");
  const words = [result.check, result.status, result.detail, report.title, JSON.stringify(result.failure)];
  return { id, index, result, node, text: words.join(" ").toLowerCase() };
}));

function verdict(report) {
  if (!report.footer.complete) return ["partial", "partial"];
  return report.footer.conforms ? ["yes", "✓ yes"] : ["no", "✗ no"];
}

function writeHead() {
  const conforming = DATA.reports.filter((report) => report.footer.conforms).length;
  const [only] = DATA.reports, failing = counted("fail", "error", "crash");
  byId("verdict").textContent = DATA.reports.length > 1
    ? `${conforming} of ${DATA.reports.length} reports conform to their own dialect.`
    : `${visible(only.title)} ${only.footer.conforms ? "conforms" : only.footer.complete ? "does not conform" : "has not been checked to the end: nothing is said of whether it conforms"}`
      + `${only.footer.complete ? ` to the dialect ${visible(only.header.dialect)}` : ""}.`;
  const number = (count, text) => byId("numbers").append(el("li", {}, el("b", {}, String(count)), ` ${text}`));
  number(failing, "failing");
  number(counted("quality-warning"), counted("quality-warning") === 1 ? "warning" : "warnings");
  number(counted("waived"), "waived");
  number(counted("pass"), "passing");
  number(DATA.reports.filter((report) => !report.footer.complete).length, "partial");
  byId("numbers").append(el("li", {}, `suite ${only.header.suite_version}, specification ${only.header.spec_version}`));
  for (const report of DATA.reports.filter((each) => !each.footer.complete)) {
    const ran = `${report.results.length} of ${report.header.expected} checks have a result`;
    const why = report.footer.interrupted ? "the run was interrupted" : "not all checks were run";
    byId("notices").append(el("p", { class: "notice" }, el("strong", {}, "Partial: "), `${report.title}, ${why}; ${ran}.`));
  }
}

function headRow(first) {
  const cells = DATA.reports.map((report) => el("th", { scope: "col" }, ...breakable(report.title)));
  return el("thead", {}, el("tr", {}, first, ...cells));
}

function ruleCell(report, index, rule) {
  const cards = CARDS.filter((card) => card.index === index && ruleOf(card.result) === rule);
  const status = WORST_FIRST.find((each) => cards.some((card) => card.result.status === each));
  if (!status) return el("td", { class: "missing" }, "not run");
  const alike = cards.filter((card) => card.result.status === status);
  const [mark, word] = MARKS[status];
  const of = AGAINST.has(status) && cards.length > 1 ? ` ${alike.length} of ${cards.length}` : "";
  const link = el("a", { href: `#${alike[0].id}`, class: status }, status === "pass" ? mark : `${mark} ${word}${of}`);
  link.setAttribute("aria-label", `${rule}, ${report.title}: ${word}${of}`);
  link.addEventListener("click", () => {
    setFilters({ rule, status: "all", report: String(index), text: "" });
    alike[0].node.focus({ preventScroll: true });
  });
  return el("td", {}, link);
}

function writeMatrix() {
  const row = (head, cell) => el("tr", {}, el("th", { scope: "row" }, head), ...DATA.reports.map(cell));
  const rfc = (report) => (report.footer.rfc === null ? ["missing", "not asked"]
    : report.footer.rfc.conforms ? ["yes", "✓ yes"] : ["no", "✗ no"]);
  const marked = ([name, text]) => el("td", { class: name }, text);
  const run = [
    row("conforms", (report) => marked(verdict(report))),
    row("dialect", (report) => el("td", {}, report.header.dialect.replaceAll(",", ", "))),
    row("meets RFC", (report) => marked(rfc(report))),
    row("checks run", (report) => el("td", {}, `${report.results.length} of ${report.header.expected}`)),
    row("waived", (report) => el("td", {}, String(report.footer.counts.waived))),
  ];
  if (DATA.reports.some((report) => report.footer.explained_by.length)) {
    run.push(row("failures fit", (report) => el("td", {}, report.footer.explained_by.join(" or ") || "–")));
  }
  const rules = DATA.rules.map((rule) => {
    const head = el("th", { scope: "row", title: rule.text },
      el("span", { class: "id" }, rule.id), el("small", {}, rule.title));
    return el("tr", {}, head, ...DATA.reports.map((report, index) => ruleCell(report, index, rule.id)));
  });
  byId("matrix").append(headRow(el("td")), el("tbody", {}, ...run), el("tbody", {}, ...rules));
}

function writeWaivers() {
  const standing = CARDS.filter((card) => card.result.waiver);
  byId("waivers-title").textContent = `Known failures (${counted("waived")} waived)`;
  if (!standing.length) {
    byId("waivers").append(el("p", {}, "No check is waived."));
    return;
  }
  const head = ["check", "implementation", "status", "reason", "issue", "until"].map((text) => el("th", { scope: "col" }, text));
  const rows = standing.map(({ id, index, result }) => {
    const link = el("a", { href: `#${id}` }, result.check);
    link.addEventListener("click", () => setFilters({ rule: "", status: "all", report: "", text: "" }));
    return el("tr", {}, el("th", { scope: "row" }, link), el("td", {}, DATA.reports[index].title),
      el("td", {}, pill(result.status)), el("td", {}, result.waiver.reason),
      el("td", {}, issueLink(result.waiver.issue)), el("td", {}, result.waiver.expires));
  });
  const table = el("table", {}, el("caption", { class: "unseen" }, "Known failures"), el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
  byId("waivers").append(el("p", { class: "about" }, "Failures that the implementation declares. Each is waived up to its last day."));
  byId("waivers").append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Known failures" }, table));
}

function writeFacts() {
  const fields = ["target", "device", "profile", "seed", "started", "suite_version", "spec_version", "python", "platform"];
  const rows = fields.map((field) => el("tr", {}, el("th", { scope: "row" }, field.replace("_version", " version")),
    ...DATA.reports.map((report) => el("td", {}, String(report.header[field])))));
  byId("facts").append(headRow(el("td")), el("tbody", {}, ...rows));
}

const filters = {
  rule: byId("filter-rule"), status: byId("filter-status"), report: byId("filter-report"), text: byId("filter-text"),
};

function fillFilters() {
  const option = (select, value, text) => select.append(el("option", { value }, text));
  option(filters.rule, "", "all rules");
  for (const rule of DATA.rules) option(filters.rule, rule.id, `${rule.id} ${rule.title}`);
  const attention = CARDS.filter((card) => ATTENTION.has(card.result.status)).length;
  option(filters.status, "attention", `needs a look (${attention})`);
  option(filters.status, "all", `all (${CARDS.length})`);
  for (const status of WORST_FIRST) {
    if (counted(status)) option(filters.status, status, `${MARKS[status][1]} (${counted(status)})`);
  }
  option(filters.report, "", "all");
  DATA.reports.forEach((report, index) => option(filters.report, String(index), report.title));
  filters.report.parentElement.hidden = DATA.reports.length < 2;
  filters.status.value = "attention";
}

function applyFilters() {
  const words = filters.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let visible = 0;
  for (const { index, result, node, text } of CARDS) {
    const status = filters.status.value;
    const fits = (status === "all" || (status === "attention" ? ATTENTION.has(result.status) : status === result.status))
      && (!filters.rule.value || filters.rule.value === ruleOf(result))
      && (!filters.report.value || Number(filters.report.value) === index)
      && words.every((word) => text.includes(word));
    node.hidden = !fits;
    visible += fits;
  }
  // At once, so that whatever is scrolled to next stays where it is.
  for (const draw of DRAW) draw();
  const attention = CARDS.some((card) => ATTENTION.has(card.result.status));
  byId("count").textContent = visible || attention
    ? `${plural(visible, "result", "results")} of ${CARDS.length} shown`
    : `Nothing needs a look; ${plural(CARDS.length, "result is", "results are")} hidden by the filter.`;
}

function setFilters(values) {
  for (const [name, value] of Object.entries(values)) filters[name].value = value;
  applyFilters();
}

function showTarget() {
  const card = CARDS.find(({ id }) => id === decodeURIComponent(location.hash.slice(1)));
  if (!card) return;
  if (card.node.hidden) setFilters({ rule: "", status: "all", report: "", text: "" });
  card.node.scrollIntoView();
  card.node.focus({ preventScroll: true });
}

writeHead();
writeMatrix();
writeWaivers();
writeFacts();
fillFilters();
byId("list").append(...CARDS.map((card) => card.node));
applyFilters();
for (const kind of ["input", "change"]) byId("filters").addEventListener(kind, applyFilters);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("reset", (event) => {
  event.preventDefault();
  setFilters({ rule: "", status: "attention", report: "", text: "" });
});
addEventListener("hashchange", showTarget);
showTarget();
