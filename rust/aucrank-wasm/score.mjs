// Scores a table with a saved model:
//     node score.mjs MODULE.wasm MODEL.json TABLE.json
// TABLE.json is a list of lists of texts; the first has the names of the columns.
import { readFileSync } from "node:fs";

import { ranker } from "./ranker.mjs";

const [module, model, table] = process.argv.slice(2);
const scores = await ranker(readFileSync(module), readFileSync(model, "utf8"));
console.log(JSON.stringify(scores(JSON.parse(readFileSync(table, "utf8")))));
