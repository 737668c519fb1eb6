// A saved model in JavaScript, by the module of WebAssembly.

/** Loads a model; returns what scores tables with it. */
export async function ranker(module, model) {
  const { instance } = await WebAssembly.instantiate(module);
  const { memory, room, load, score, answer } = instance.exports;
  const call = (work, text) => {
    const bytes = new TextEncoder().encode(text);
    const place = room(bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    const length = work(place, bytes.length);
    return new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length));
  };
  const error = call(load, model);
  if (error) throw new Error(error);
  return (table) => {
    const found = call(score, JSON.stringify(table));
    if (!found.startsWith("[")) throw new Error(found);
    return JSON.parse(found);
  };
}
