// Scores of the stored models of every family, which the tests of Python and of the crate read, too:
//     node check.mjs MODULE.wasm FOLDER
import { deepStrictEqual, rejects, throws } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ranker } from "./ranker.mjs";

const [path, folder] = process.argv.slice(2);
const module = readFileSync(path);
const read = (name) => readFileSync(join(folder, name), "utf8");

const { columns, ages, answers } = JSON.parse(read("families_v3_answers.json"));
const text = (value) => (value === null ? "" : String(value));
let n_models = 0;
for (const [name, expected] of Object.entries(answers)) {
  const model = read(`families_v3_${name}.json`);
  const features = JSON.parse(model).body.header.features.map((feature) => feature.name);
  // Models of all columns were queried for other ages.
  const values = (feature) => (feature === "age" && features.length === 2 ? ages : columns[feature]);
  const row = (number) => features.map((feature) => text(values(feature)[number]));
  const score = await ranker(module, model);
  if (expected[0] === null || Array.isArray(expected[0])) continue;
  deepStrictEqual(score([features, ...expected.map((_, number) => row(number))]), expected, name);
  throws(() => score([features, []]), /row 0: the row has 0 cells/);
  throws(() => score([["x"]]), /there is no column/);
  n_models += 1;
}
await rejects(ranker(module, "{}"), /Error/);
if (n_models < 15) throw new Error(`only ${n_models} models were scored`);
console.log(`${n_models} models score the same bits`);
