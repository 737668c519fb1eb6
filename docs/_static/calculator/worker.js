// Reads files and calls the module, off the thread of the page, which stays responsive.

import { guessed, isMissing, looksOf, numberOf, readRows } from "./csv.js";

const CHUNK = 20_000;
const PREVIEW = 10;

let functions = null;

/** The file whose scores are measured; it is kept for other choices of columns. */
let measured = null;

/** Fetches the module when it is first needed. */
async function prepare() {
  if (functions === null) {
    const answer = await fetch(new URL("aucrank.wasm", import.meta.url));
    if (!answer.ok) {
      throw new Error(
        "this copy of the documentation was built without the module that computes: " +
          "run `make calculator` and `make docs`, or visit aucrank.github.io/aucrank",
      );
    }
    functions = (await WebAssembly.instantiate(await answer.arrayBuffer())).instance.exports;
  }
}

/** Calls a function of the module with parts of bytes, one behind the other; returns its answer. */
function call(name, ...parts) {
  const nBytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
  let place = functions.room(nBytes);
  const start = place;
  for (const part of parts) {
    const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    new Uint8Array(functions.memory.buffer, place, part.byteLength).set(bytes);
    place += part.byteLength;
  }
  const length = functions[name](start, nBytes);
  const bytes = new Uint8Array(functions.memory.buffer, functions.answer(), length);
  const answer = JSON.parse(new TextDecoder().decode(bytes));
  if (answer.error) throw new Error(answer.error);
  return answer;
}

const callWithText = (name, text) => call(name, new TextEncoder().encode(text));

const quoted = (text) => JSON.stringify(text);

/** The text of a file, with an error in words if it is none. */
async function textOf(blob) {
  let text;
  try {
    text = await blob.text();
  } catch {
    throw new Error("the file cannot be read: it may have changed, or exceed 500 MB");
  }
  if (text.startsWith("PK\u0003\u0004")) {
    throw new Error("this is a workbook or an archive, not text: save its table as CSV");
  }
  if (text.includes("\u0000")) throw new Error("the file is not text in UTF-8");
  return text;
}

/** Opens a file: what it looks like, and which columns are likely meant. */
async function open({ blob }) {
  measured = { text: await textOf(blob) };
  return look({ header: null });
}

function look({ header }) {
  const looks = looksOf(measured.text, header);
  Object.assign(measured, looks);
  return { ...looks, guess: guessed(looks.columns) };
}

/** Where a cell is, in words. */
const placed = (file, row, column) =>
  `row ${row} of the file, column ${quoted(file.columns[column].name)}`;

/** Calls `take(cells, row)` for each row below the names, each as long as the first row. */
function readBody(file, take, wanted = null) {
  const { length } = file.columns;
  let isNames = file.isHeader;
  readRows(
    file.text,
    file.separator,
    (cells, row, start, end) => {
      if (cells.length !== length) {
        const found = `${cells.length} cell${cells.length === 1 ? "" : "s"}`;
        throw new Error(`row ${row} of the file has ${found}, but the first row has ${length}`);
      }
      if (isNames) {
        isNames = false;
        return true;
      }
      return take(cells, row, start, end);
    },
    wanted,
  );
}

/** A list of numbers that grows. */
class Numbers {
  values = new Float64Array(1 << 16);
  length = 0;

  push(value) {
    if (this.length === this.values.length) {
      const more = new Float64Array(2 * this.length);
      more.set(this.values);
      this.values = more;
    }
    this.values[this.length++] = value;
  }

  get all() {
    return this.values.subarray(0, this.length);
  }
}

/** The columns of a measurement: the class of each row, the two classes, and the scores. */
function readSample(file, label, scores) {
  const classes = new Map();
  const codes = new Numbers();
  const numbers = scores.map(() => new Numbers());
  readBody(file, (cells, row) => {
    const text = cells[label].trim();
    let code = classes.get(text)?.code;
    if (code === undefined) {
      if (isMissing(text)) throw new Error(`${placed(file, row, label)}: the label is missing`);
      // 1 and 1.0 are one class.
      const number = numberOf(text, file.separator);
      const same = [...classes.values()].find((of) => number !== undefined && of.number === number);
      code = same?.code ?? new Set([...classes.values()].map((of) => of.code)).size;
      classes.set(text, { code, number, text, row });
      if (code === 2) {
        const found = [...classes.values()].map((of) => `${quoted(of.text)} in row ${of.row}`);
        throw new Error(
          `column ${quoted(file.columns[label].name)} has more than two classes: ${
            found.join(", ")
          }`,
        );
      }
    }
    codes.push(code);
    scores.forEach((column, place) => {
      const number = numberOf(cells[column], file.separator);
      if (number === undefined) {
        throw new Error(
          `${placed(file, row, column)}: ${quoted(cells[column].trim())} is not a number`,
        );
      }
      if (Number.isNaN(number)) {
        throw new Error(`${placed(file, row, column)}: the score is missing`);
      }
      numbers[place].push(number);
    });
    return true;
  }, [label, ...scores]);
  const distinct = [...classes.values()].filter((of, place, all) =>
    all.findIndex((o) => o.code === of.code) === place
  );
  if (distinct.length === 1) {
    const only = quoted(distinct[0].text);
    throw new Error(
      `column ${
        quoted(file.columns[label].name)
      } has one class only, ${only}: there is no pair to rank`,
    );
  }
  return { distinct, codes: codes.all, scores: numbers.map((of) => of.all) };
}

/** Of two classes the greater, as numbers if they are. */
function greater([a, b]) {
  const areNumbers = a.number !== undefined && b.number !== undefined;
  return (areNumbers ? a.number > b.number : a.text > b.text) ? a : b;
}

/** Statistics of one or two columns of scores. `probabilities` is null if it is to be found out. */
function measure({ label, scores, positive, probabilities }) {
  const file = measured;
  if (scores.includes(label)) {
    const name = quoted(file.columns[label].name);
    throw new Error(
      `column ${name} is chosen both as the label and as a score: choose another one`,
    );
  }
  const sample = readSample(file, label, scores);
  const chosen = sample.distinct.find((of) => of.text === positive) ?? greater(sample.distinct);
  const labels = Uint8Array.from(sample.codes, (code) => (code === chosen.code ? 1 : 0));
  const outside = sample.scores.map((values) =>
    values.findIndex((value) => !(value >= 0 && value <= 1))
  );
  const areProbabilities = probabilities ?? outside.every((row) => row < 0);
  if (areProbabilities) {
    outside.forEach((at, place) => {
      if (at < 0) return;
      let n = -1;
      readBody(file, (_, row) => {
        n += 1;
        if (n < at) return true;
        throw new Error(
          `${placed(file, row, scores[place])}: ${
            sample.scores[place][at]
          } is not a probability from 0 to 1`,
        );
      });
    });
  }
  const head = Uint8Array.of(scores.length, areProbabilities ? 1 : 0);
  const found = call("measure", head, labels, ...sample.scores);
  return {
    ...found,
    classes: sample.distinct.map((of) => of.text),
    positive: chosen.text,
    probabilities: areProbabilities,
  };
}

const loadCard = async ({ blob }) => callWithText("load_card", await textOf(blob));

/** Points of a row that was typed: a text for each column. */
const scoreRow = ({ columns, cells }) =>
  callWithText("score_card", JSON.stringify([[1], [columns, cells]]));

/** Points of all rows of a file: the first ones, and the file with two more columns. */
async function scoreFile({ blob }) {
  const text = await textOf(blob);
  const file = { text, ...looksOf(text) };
  const { separator } = file;
  const names = file.columns.map((column) => column.name);
  const parts = [];
  const preview = [];
  let records = [];
  let nRows = 0;
  const scoreRecords = () => {
    const table = [names, ...records.map((record) => record.cells)];
    const numbers = records.map((record) => record.row);
    const { points, probability } = callWithText("score_card", JSON.stringify([numbers, table]));
    records.forEach(({ row, start, end }, place) => {
      const own = [points[place], probability[place]];
      if (preview.length < PREVIEW) preview.push([row, ...own]);
      parts.push([text.slice(start, end), ...own].join(separator), "\n");
    });
    nRows += records.length;
    records = [];
  };
  if (file.isHeader) {
    readRows(text, separator, (_, __, start, end) => {
      parts.push([text.slice(start, end), "points", "probability"].join(separator), "\n");
      return false;
    });
  }
  readBody(file, (cells, row, start, end) => {
    records.push({ cells, row, start, end });
    if (records.length === CHUNK) scoreRecords();
    return true;
  });
  if (records.length > 0) scoreRecords();
  return { nRows, preview, blob: new Blob(parts, { type: "text/csv" }) };
}

const requests = { open, look, measure, loadCard, scoreRow, scoreFile };

onmessage = async ({ data: { id, name, request } }) => {
  try {
    await prepare();
    postMessage({ id, result: await requests[name](request) });
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
