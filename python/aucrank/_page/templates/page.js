// What is folded is printed, too.
const folds = document.querySelectorAll("details");
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...folds].filter((fold) => !fold.open);
  for (const fold of opened) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
  opened = [];
});

// Where the reader is, in the list of contents.
const links = new Map();
for (const link of document.querySelectorAll("nav a")) links.set(link.hash.slice(1), link);
const visible = new Set();
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) visible.add(entry.target.id);
    else visible.delete(entry.target.id);
  }
  let current = null;
  for (const [id, link] of links) {
    if (current === null && visible.has(id)) current = link;
    link.removeAttribute("aria-current");
  }
  if (current !== null) current.setAttribute("aria-current", "location");
}, { rootMargin: "-10% 0px -60% 0px" });
for (const id of links.keys()) watch.observe(document.getElementById(id));
