// The AUC calculator: takes files and choices, asks the worker, shows figures and pictures.

import { chart } from "./charts.js";

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const waiting = new Map();
let lastId = 0;

worker.onmessage = ({ data: { id, result, error } }) => {
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) resolve(result);
  else reject(new Error(error));
};

/** Asks the worker. */
function ask(name, request) {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, name, request });
  });
}

const element = (id) => document.getElementById(id);

/** An element of HTML with attributes and children. */
function html(name, attributes = {}, ...children) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  found.append(...children);
  return found;
}

const decimals = (
  value,
  digits,
) => (value === null ? "undefined" : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1"));
const pValue = (
  value,
) => (value === null ? "undefined" : value < 0.0001 ? "< 0.0001" : value.toFixed(4));
const count = (value) => value.toLocaleString("en");

/** A table with a caption; the first cell of a row is its heading, the others are numbers. */
function table(caption, names, rows) {
  const head = html("tr", {}, ...names.map((name) => html("th", { scope: "col" }, name)));
  const body = rows.map(([heading, ...cells]) => {
    return html(
      "tr",
      {},
      html("th", { scope: "row" }, heading),
      ...cells.map((cell) => html("td", {}, cell)),
    );
  });
  const made = html(
    "table",
    {},
    html("caption", {}, caption),
    html("thead", {}, head),
    html("tbody", {}, ...body),
  );
  return html(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    made,
  );
}

/** What says how a request goes, and shows its answer, unless a later one has been made. */
function requestsOf(part) {
  const message = element(`${part}-message`);
  const results = element(`${part}-results`);
  let latest = 0;
  return async (work, show) => {
    latest += 1;
    const own = latest;
    message.className = "message";
    message.textContent = "Computing…";
    results.setAttribute("aria-busy", "true");
    try {
      const found = await work();
      if (own !== latest) return;
      message.textContent = "";
      show(found);
    } catch (error) {
      if (own !== latest) return;
      message.className = "message error";
      message.textContent = `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
      results.replaceChildren();
    } finally {
      if (own === latest) results.removeAttribute("aria-busy");
    }
  };
}

/** Lets files be chosen or dropped. */
function takesFiles(id, take) {
  const input = element(id);
  const zone = input.closest(".drop");
  input.addEventListener(
    "change",
    () => input.files[0] && take(input.files[0], input.files[0].name),
  );
  for (const kind of ["dragenter", "dragover"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const [file] = event.dataTransfer.files;
    if (file) take(file, file.name);
  });
}

/** A file next to this one. */
async function fetched(name) {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`the example ${name} is not here`);
  return answer.blob();
}

function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => html("option", { value }, text)));
  select.value = String(chosen);
}

// ---- Scores ----

const answerScores = requestsOf("scores");
const choice = Object.fromEntries(
  ["label", "positive", "score", "other", "header", "probabilities"].map((
    name,
  ) => [name, element(`scores-${name}`)]),
);
let columnNames = [];
let isDetected = true;

function showColumns({ columns, isHeader, guess, separator }) {
  columnNames = columns.map((column) => column.name);
  const entries = columnNames.map((name, place) => [place, name]);
  options(choice.label, entries, guess.label);
  options(choice.score, entries, guess.score);
  options(choice.other, [["", "none"], ...entries], guess.other ?? "");
  choice.header.checked = isHeader;
  options(choice.positive, [], "");
  isDetected = true;
  const named = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" }[separator];
  element("scores-separator").textContent = columns.length === 1
    ? "One column."
    : `${columns.length} columns, separated by ${named}.`;
  element("scores-choices").hidden = false;
}

function measureChosen() {
  const scores = [Number(choice.score.value)];
  if (choice.other.value !== "") scores.push(Number(choice.other.value));
  return ask("measure", {
    label: Number(choice.label.value),
    scores,
    positive: choice.positive.value || null,
    probabilities: isDetected ? null : choice.probabilities.checked,
  });
}

const remeasure = () => answerScores(measureChosen, showScores);

function takeScores(blob, name) {
  element("scores-file-name").textContent = name;
  element("scores-choices").hidden = true;
  answerScores(async () => {
    showColumns(await ask("open", { blob: await blob }));
    return measureChosen();
  }, showScores);
}

const interval = (
  [value, low, high],
  digits = 3,
) => [
  decimals(value, digits),
  low === null ? "" : `${decimals(low, digits)} to ${decimals(high, digits)}`,
];

const MEASURES = {
  intercept: "Intercept (0 is perfect)",
  slope: "Slope (1 is perfect)",
  observed_to_expected: "Observed to expected",
  brier: "Brier score",
  miscalibration: "… of it miscalibration",
  discrimination: "… less discrimination",
  uncertainty: "… plus uncertainty",
  ici: "Mean distance (ICI)",
  e50: "Median distance (E50)",
  e90: "90 % quantile (E90)",
  e_max: "Greatest distance (Emax)",
};
const TONES = ["first", "second"];

function rocChart(models, names) {
  const lines = models.map(({ curve }, place) => ({
    points: curve.fpr.map((fpr, knot) => [fpr, curve.tpr[knot]]),
    tone: TONES[place],
    name: names[place],
  }));
  const areas = models.map(({ auc }, place) =>
    `${names[place]} has an AUC of ${decimals(auc.auc, 3)}`
  );
  return chart({
    title: "ROC curve",
    description: `ROC curve: ${areas.join("; ")}.`,
    x: [0, 1],
    y: [0, 1],
    xName: "false positive rate",
    yName: "true positive rate",
    lines: [{ points: [[0, 0], [1, 1]], tone: "chance" }, ...lines],
  });
}

function calibrationChart(models, names) {
  const bands = [];
  const lines = [{ points: [[0, 0], [1, 1]], tone: "chance", name: "perfect" }];
  models.forEach(({ calibration: { curve, isotonic } }, place) => {
    bands.push({ points: curve.map(([p, , low, high]) => [p, low, high]), tone: TONES[place] });
    const steps = isotonic.flatMap((
      [low, high, , observed],
    ) => [[low, observed], [high, observed]]);
    lines.push({ points: steps, tone: `${TONES[place]} thin`, name: `${names[place]}, isotonic` });
    lines.push({
      points: curve.map(([p, observed]) => [p, observed]),
      tone: TONES[place],
      name: names[place],
    });
  });
  const slopes = models.map(({ calibration: { measures } }, place) => {
    return `${names[place]} has slope ${decimals(measures.slope[0], 2)} and intercept ${
      decimals(measures.intercept[0], 2)
    }`;
  });
  return chart({
    title: "Calibration",
    description: `Share of positive rows by probability: ${slopes.join("; ")}.`,
    x: [0, 1],
    y: [0, 1],
    xName: "probability",
    yName: "observed share",
    bands,
    lines,
  });
}

function decisionChart(models, names) {
  const bands = [];
  const lines = [
    { points: [[0, 0], [1, 0]], tone: "chance", name: "act on none" },
    {
      points: models[0].decision.all.map(([t, , , value]) => [t, value]),
      tone: "all",
      name: "act on all",
    },
  ];
  models.forEach(({ decision: { model } }, place) => {
    bands.push({ points: model.map(([t, , , , low, high]) => [t, low, high]), tone: TONES[place] });
    lines.push({
      points: model.map(([t, , , value]) => [t, value]),
      tone: TONES[place],
      name: names[place],
    });
  });
  const most = Math.max(
    ...models.flatMap(({ decision: { model, all } }) => [...model, ...all].map((of) => of[3])),
    0.01,
  );
  const halves = models.map(({ decision: { model } }, place) =>
    `${names[place]} has ${decimals(model[49][3], 3)} at a threshold of 0.5`
  );
  return chart({
    title: "Net benefit",
    description: `Net benefit by threshold: ${halves.join("; ")}.`,
    x: [0, 1],
    y: [-0.25 * most, 1.1 * most],
    xName: "threshold probability",
    yName: "net benefit",
    bands,
    lines,
  });
}

const METHODS = {
  logit: "on the log-odds scale, for any number of rows",
  exact: "exact, since every pair has the same outcome",
  "hanley-mcneil": "of Hanley and McNeil, since a class has one row",
};

function showScores(found) {
  const chosen = [choice.score, ...(choice.other.value === "" ? [] : [choice.other])];
  const names = chosen.map((select) => columnNames[Number(select.value)]);
  options(choice.positive, found.classes.map((text) => [text, text]), found.positive);
  choice.probabilities.checked = found.probabilities;
  const { models, comparison } = found;
  const parts = [
    html(
      "p",
      {},
      `${count(found.n_rows)} rows, ${count(found.n_pos)} of them positive (${
        decimals((100 * found.n_pos) / found.n_rows, 1)
      } %).`,
    ),
    table(
      "Area under the ROC curve",
      ["", "AUC", "95 % interval", "DeLong’s interval", "standard error"],
      models.map(({ auc, delong }, place) => [
        names[place],
        decimals(auc.auc, 4),
        `${decimals(auc.low, 4)} to ${decimals(auc.high, 4)}`,
        `${decimals(delong.low, 4)} to ${decimals(delong.high, 4)}`,
        decimals(auc.standard_error, 4),
      ]),
    ),
    html(
      "p",
      { class: "note" },
      `The 95 % interval is ${
        METHODS[models[0].auc.method]
      }; DeLong’s, AUC ± 1.96 standard errors, is too short where a class has few rows.`,
    ),
  ];
  if (comparison) {
    parts.push(
      table(`${names[0]} less ${names[1]}, on the same rows`, [
        "",
        "difference",
        "95 % interval",
        "standard error",
        "z",
        "p-value",
      ], [[
        "AUC",
        decimals(comparison.difference, 4),
        `${decimals(comparison.low, 4)} to ${decimals(comparison.high, 4)}`,
        decimals(comparison.standard_error, 4),
        decimals(comparison.z, 3),
        pValue(comparison.p_value),
      ]]),
    );
  }
  const charts = html("div", { class: "charts" }, rocChart(models, names));
  parts.push(charts);
  if (found.probabilities) {
    charts.append(calibrationChart(models, names), decisionChart(models, names));
    parts.push(
      table(
        "Calibration, with 95 % intervals",
        ["", ...names.flatMap((name) => [name, "95 % interval"])],
        Object.entries(MEASURES).map(([key, text]) => [
          text,
          ...models.flatMap(({ calibration }) => interval(calibration.measures[key])),
        ]),
      ),
    );
    models.forEach(({ calibration, decision }, place) => {
      const bins = table(
        `Isotonic regression on ${names[place]}`,
        ["probability", "rows", "observed share"],
        calibration.isotonic.map((
          [low, high, size, observed],
        ) => [`${decimals(low, 4)} to ${decimals(high, 4)}`, count(size), decimals(observed, 4)]),
      );
      const benefits = table(
        `Net benefit of ${names[place]}`,
        [
          "threshold",
          "true positive rate",
          "false positive rate",
          "net benefit",
          "95 % interval",
          "of acting on all",
        ],
        decision.model.map((
          [threshold, tpr, fpr, value, low, high],
          row,
        ) => [
          decimals(threshold, 2),
          decimals(tpr, 3),
          decimals(fpr, 3),
          decimals(value, 4),
          `${decimals(low, 4)} to ${decimals(high, 4)}`,
          decimals(decision.all[row][3], 4),
        ]).filter((_, row) => row % 5 === 4),
      );
      parts.push(
        html(
          "details",
          {},
          html("summary", {}, `Bins and thresholds of ${names[place]}`),
          bins,
          benefits,
        ),
      );
    });
  } else {
    parts.push(
      html(
        "p",
        { class: "note" },
        "Scores that are not probabilities have no calibration and no net benefit.",
      ),
    );
  }
  element("scores-results").replaceChildren(...parts);
}

takesFiles("scores-file", takeScores);
element("scores-example").addEventListener(
  "click",
  () => takeScores(fetched("tumours.csv"), "tumours.csv, the example"),
);
choice.header.addEventListener("change", () => {
  answerScores(async () => {
    showColumns(await ask("look", { header: choice.header.checked }));
    return measureChosen();
  }, showScores);
});
for (const name of ["label", "score", "other"]) {
  choice[name].addEventListener("change", () => {
    isDetected = true;
    if (name === "label") options(choice.positive, [], "");
    remeasure();
  });
}
choice.positive.addEventListener("change", remeasure);
choice.probabilities.addEventListener("change", () => {
  isDetected = false;
  remeasure();
});

// ---- A card ----

const answerCard = requestsOf("card");
const answerFile = requestsOf("rows");
let card = null;
let fields = [];
let download = null;

const shownNumber = (value) => String(Number(value.toPrecision(6)));

/** The bins of a feature in words. */
function binsOf({ bins, levels }) {
  const found = [];
  if (levels === null) {
    const { cuts, special } = bins;
    const ends = cuts.map(shownNumber);
    if (ends.length === 0) found.push("any number");
    else {found.push(
        `below ${ends[0]}`,
        ...ends.slice(1).map((end, place) => `${ends[place]} to ${end}`),
        `${ends.at(-1)} or more`,
      );}
    found.push(...special.map(shownNumber));
  } else {
    for (let bin = 0; bin < bins.n_bins; bin += 1) {
      found.push(levels.filter((_, code) => bins.bin_of_level[code] === bin).join(", "));
    }
  }
  return [...found, "missing"];
}

function showCard(found) {
  card = found;
  const [negative, positive] = card.classes.map(String);
  element("card-about").textContent =
    `${card.class} of ${card.features.length} features, ${count(card.range[0])} to ${
      count(card.range[1])
    } points. ` +
    `The positive class is ${JSON.stringify(positive)}, the other one ${JSON.stringify(negative)}.`;
  fields = card.features.map((feature, place) => {
    const attributes = { id: `card-field-${place}`, "aria-describedby": `card-bins-${place}` };
    const field = feature.levels === null
      ? html("input", {
        ...attributes,
        inputmode: "decimal",
        placeholder: feature.is_date ? "days since 1970" : "missing",
        autocomplete: "off",
      })
      : html(
        "select",
        attributes,
        html("option", { value: "" }, "missing"),
        ...feature.levels.map((level) => html("option", { value: String(level) }, String(level))),
      );
    field.addEventListener("input", scoreTyped);
    return field;
  });
  const rows = card.features.map((feature, place) =>
    html(
      "div",
      { class: "field" },
      html("label", { for: `card-field-${place}` }, feature.name ?? `column ${place + 1}`),
      fields[place],
      html("output", { for: `card-field-${place}`, id: `card-points-${place}` }),
      html(
        "ul",
        { class: "bins", id: `card-bins-${place}` },
        ...binsOf(feature).map((text, bin) =>
          html("li", {}, `${text}: `, html("b", {}, String(feature.points[bin])))
        ),
      ),
    )
  );
  element("card-fields").replaceChildren(...rows);
  element("card-choices").hidden = false;
  element("rows-results").replaceChildren();
  scoreTyped();
}

function scoreTyped() {
  const typed = new Map(
    card.features.map((feature, place) => [feature.name, fields[place].value.trim()]),
  );
  const request = {
    columns: card.columns,
    cells: card.columns.map((name) => typed.get(name) ?? ""),
  };
  answerCard(() => ask("scoreRow", request), ({ points, probability, bins }) => {
    bins.forEach((bin, place) => {
      const own = card.features[place].points[bin];
      element(`card-points-${place}`).textContent = `${own} point${own === 1 ? "" : "s"}`;
      [...element(`card-bins-${place}`).children].forEach((item, at) =>
        item.classList.toggle("current", at === bin)
      );
    });
    element("card-results").replaceChildren(
      html(
        "p",
        { class: "sum" },
        html("strong", {}, `${count(points[0])} points`),
        `, ${decimals(100 * probability[0], 1)} % probability of class ${
          JSON.stringify(String(card.classes[1]))
        }`,
      ),
    );
  });
}

function takeCard(blob, name) {
  element("card-file-name").textContent = name;
  element("card-choices").hidden = true;
  answerCard(async () => ask("loadCard", { blob: await blob }), showCard);
}

function showRows({ nRows, preview, blob }) {
  if (download) URL.revokeObjectURL(download);
  download = URL.createObjectURL(blob);
  const first = preview.length < nRows
    ? `The first ${preview.length} of ${count(nRows)} rows`
    : `${count(nRows)} rows`;
  element("rows-results").replaceChildren(
    table(
      first,
      ["row of the file", "points", "probability"],
      preview.map((
        [row, points, probability],
      ) => [count(row), count(points), decimals(probability, 4)]),
    ),
    html(
      "p",
      {},
      html(
        "a",
        { href: download, download: "scored.csv" },
        "Save the file with points and probabilities",
      ),
    ),
  );
}

takesFiles("card-file", takeCard);
element("card-example").addEventListener(
  "click",
  () => takeCard(fetched("card.json"), "card.json, the example"),
);
takesFiles("rows-file", (blob, name) => {
  element("rows-file-name").textContent = name;
  answerFile(() => ask("scoreFile", { blob }), showRows);
});
element("calculator").dataset.ready = "";
