// How the search of the site orders what it finds (Sphinx: `html_search_scorer`): a heading that is the question before
// pages that have one of its words in any heading, the guides before the reference, a class before a method of its name.
var Scorer = {
  score: ([page, title, anchor, described, score, file, kind]) => {
    if (/method|attribute|property/.test(described)) return score - 10;
    // A term of the glossary, which has a hundred for itself.
    if (kind === "index") return score / 10;
    const isHeading = kind === "title" ? 5 : 0;
    const isGuide = !/\/|^(changelog|conventions|design|develop|glossary)$/.test(page) ? 3 : 0;
    return score + isHeading + isGuide;
  },
  // As in Sphinx.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
