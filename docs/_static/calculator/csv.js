// Reads CSV text: quotes, separators, a first row of names or none.
//
// Rows are counted as a spreadsheet shows them: from 1, the row of names included.

const SEPARATORS = [",", ";", "\t", "|"];
const QUOTE = 34;
const SAMPLE = 1000;

// As the crate reads them (`text_rows.rs`).
const MISSING = new Set([
  "",
  "#N/A",
  "#N/A N/A",
  "#NA",
  "-1.#IND",
  "-1.#QNAN",
  "-NaN",
  "-nan",
  "1.#IND",
  "1.#QNAN",
  "<NA>",
  "N/A",
  "NA",
  "NULL",
  "NaN",
  "None",
  "n/a",
  "nan",
  "null",
  "?",
  "\\N",
]);

/** Whether a cell stands for no value. */
export const isMissing = (cell) => MISSING.has(cell.trim());

/**
 * The number of a cell; NaN if it is missing, undefined for other text. A comma is a decimal one
 * only where commas do not separate: within quotes it may be one of thousands.
 */
export function numberOf(cell, separator = ",") {
  const text = cell.trim();
  const plain = separator === "," ? text : text.replace(",", ".");
  // Hexadecimal and such are text.
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return Number(plain);
  if (MISSING.has(text)) return NaN;
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return undefined;
}

/**
 * Calls `take(cells, row, start, end)` for each row that is not empty: its cells, its number, and
 * where its text is. Stops if it returns false. Of `wanted` columns alone, if given.
 */
export function readRows(text, separator, take, wanted = null) {
  const stop = separator.charCodeAt(0);
  const keep = wanted && new Set(wanted);
  const { length } = text;
  let at = 0;
  for (let row = 1; at < length; row += 1) {
    const start = at;
    const cells = [];
    let end = at;
    for (let column = 0;; column += 1) {
      const first = at;
      let cell;
      if (text.charCodeAt(at) === QUOTE) {
        let hasQuotes = false;
        for (at += 1;; at += 2) {
          at = text.indexOf('"', at);
          if (at < 0) throw new Error(`row ${row} of the file: a quote is not closed`);
          if (text.charCodeAt(at + 1) !== QUOTE) break;
          hasQuotes = true;
        }
        cell = text.slice(first + 1, at);
        if (hasQuotes) cell = cell.replaceAll('""', '"');
        at += 1;
      }
      const rest = at;
      let code = text.charCodeAt(at);
      while (code !== stop && code !== 10 && code !== 13 && at < length) {
        code = text.charCodeAt(++at);
      }
      if (cell === undefined) {
        cell = keep === null || keep.has(column) ? text.slice(first, at) : "";
      } else if (text.slice(rest, at).trim()) {
        throw new Error(
          `row ${row} of the file: there is text after the quotes of ${JSON.stringify(cell)}`,
        );
      }
      cells.push(cell);
      if (code === stop && at < length) {
        at += 1;
        continue;
      }
      end = at;
      break;
    }
    if (text.charCodeAt(at) === 13 && text.charCodeAt(at + 1) === 10) at += 1;
    at += 1;
    if (end > start && take(cells, row, start, end) === false) return;
  }
}

/** The first rows of a text. */
function firstRows(text, separator, most) {
  const rows = [];
  readRows(text, separator, (cells) => rows.push(cells) < most);
  return rows;
}

/** Whether a separator cuts the first rows into equally many cells, more than one. */
function isEven(text, separator) {
  try {
    const [first, ...others] = firstRows(text, separator, 20);
    return first.length > 1 && others.every((cells) => cells.length === first.length);
  } catch {
    return false;
  }
}

/** The separator that cuts the first row into the most cells, if possible all into as many. */
function separatorOf(text) {
  const nCells = (separator) => {
    try {
      return firstRows(text, separator, 1)[0]?.length ?? 0;
    } catch {
      return 0;
    }
  };
  const even = SEPARATORS.filter((separator) => isEven(text, separator));
  const among = even.length > 0 ? even : SEPARATORS;
  return among.reduce((best, separator) => (nCells(separator) > nCells(best) ? separator : best));
}

/**
 * What a text looks like: its separator, whether its first row has names, the names, and for each
 * column its numbers and its distinct texts in the first rows.
 */
export function looksOf(text, header = null) {
  const separator = separatorOf(text);
  const rows = firstRows(text, separator, SAMPLE);
  if (rows.length === 0) throw new Error("the file is empty");
  const hasNumber = rows[0].some((cell) =>
    !isMissing(cell) && numberOf(cell, separator) !== undefined
  );
  const isHeader = header ?? !hasNumber;
  const names = rows[0].map((cell, place) => (isHeader && cell.trim()) || `column ${place + 1}`);
  const body = isHeader ? rows.slice(1) : rows;
  if (body.length === 0) throw new Error("the file has a row of names, and no other");
  const columns = names.map((name, place) => {
    const cells = body.map((cells) => cells[place] ?? "").filter((cell) => !isMissing(cell));
    const numbers = cells.map((cell) => numberOf(cell, separator));
    const isNumeric = cells.length > 0 && !numbers.includes(undefined);
    const isShare = isNumeric && numbers.every((number) => number >= 0 && number <= 1);
    return { name, isNumeric, isShare, nDistinct: new Set(cells.map((cell) => cell.trim())).size };
  });
  return { separator, isHeader, columns };
}

/** The columns that are likely to be the label and the scores, by place. */
export function guessed(columns) {
  const places = columns.map((_, place) => place);
  const isNamed = (place, pattern) => pattern.test(columns[place].name);
  const labels =
    /^(y|y_?true|labels?|target|outcome|class|truth|event|default|bad|positive|status)$/i;
  const label = places.find((place) => isNamed(place, labels) && columns[place].nDistinct <= 2) ??
    places.find((place) => columns[place].nDistinct === 2) ??
    places.find((place) => isNamed(place, labels)) ??
    0;
  const numbers = places.filter((place) => place !== label && columns[place].isNumeric);
  const scores = /score|prob|pred|risk|model|points|y_?hat|^p_|^p$/i;
  const named = numbers.filter((place) => isNamed(place, scores));
  const shares = numbers.filter((place) => columns[place].isShare && columns[place].nDistinct > 2);
  const score = named[0] ?? shares[0] ?? numbers.at(-1) ??
    places.find((place) => place !== label) ?? label;
  return { label, score, other: named[1] ?? null };
}
