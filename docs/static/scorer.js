// How the search of the site ranks pages: decisions and studies come after the pages that readers use.
// The other numbers are Sphinx's own.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    /^docs\/(decisions|studies)\/|^CHANGELOG$/.test(page) ? score - 20 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
