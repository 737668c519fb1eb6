// Pictures as SVG, in the colours of the page.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 400;
const HEIGHT = 360;
const LEFT = 52;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 46;

/** An element of SVG with attributes and children. */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Numbers at even steps within a range, about five of them. */
function ticks([low, high]) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    found.push(k * step);
  }
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

/**
 * A picture: `lines` have `points`, a `tone` of the style sheet and a `name` for the legend;
 * `bands` have `points` with a lower and an upper end. A screen reader says the `description`.
 */
export function chart({ title, description, x, y, xName, yName, bands = [], lines }) {
  const across = (value) => LEFT + ((value - x[0]) / (x[1] - x[0])) * (WIDTH - LEFT - RIGHT);
  const up = (value) =>
    HEIGHT - BOTTOM - ((value - y[0]) / (y[1] - y[0])) * (HEIGHT - TOP - BOTTOM);
  const at = ([px, py]) => `${across(px).toFixed(1)},${up(py).toFixed(1)}`;
  const id = `clip-${title.replaceAll(/\W+/g, "-")}`;
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    "aria-label": description,
  });
  const area = { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
  picture.append(svg("clipPath", { id }, svg("rect", area)));
  const grid = svg("g", { class: "grid" });
  const of = { x: ticks(x), y: ticks(y) };
  for (const value of of.x.found) {
    grid.append(
      svg("line", { x1: across(value), x2: across(value), y1: TOP, y2: HEIGHT - BOTTOM }),
    );
    grid.append(
      svg(
        "text",
        { x: across(value), y: HEIGHT - BOTTOM + 17, class: "middle" },
        value.toFixed(of.x.digits),
      ),
    );
  }
  for (const value of of.y.found) {
    grid.append(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up(value), y2: up(value) }));
    grid.append(
      svg("text", { x: LEFT - 7, y: up(value) + 4, class: "end" }, value.toFixed(of.y.digits)),
    );
  }
  const middle = (TOP + HEIGHT - BOTTOM) / 2;
  grid.append(
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, class: "middle" }, xName),
    svg(
      "text",
      { x: 13, y: middle, class: "middle", transform: `rotate(-90 13 ${middle})` },
      yName,
    ),
  );
  const drawn = svg("g", { "clip-path": `url(#${id})` });
  for (const { points, tone } of bands) {
    const there = points.map(([px, , high]) => at([px, high]));
    const back = points.map(([px, low]) => at([px, low])).reverse();
    drawn.append(svg("polygon", { points: [...there, ...back].join(" "), class: `band ${tone}` }));
  }
  for (const { points, tone } of lines) {
    drawn.append(svg("polyline", { points: points.map(at).join(" "), class: `line ${tone}` }));
  }
  picture.append(grid, drawn);
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = title;
  const legend = document.createElement("ul");
  legend.className = "legend";
  for (const { name, tone } of lines) {
    if (!name) continue;
    const entry = document.createElement("li");
    const swatch = svg("svg", { viewBox: "0 0 24 8", width: 24, height: 8, "aria-hidden": "true" });
    swatch.append(svg("line", { x1: 0, x2: 24, y1: 4, y2: 4, class: `line ${tone}` }));
    entry.append(swatch, name);
    legend.append(entry);
  }
  figure.append(caption, picture, legend);
  return figure;
}
