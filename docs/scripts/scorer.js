// Scores of the site's search: pages that answer a question come before references, which have nearly all words.
const GUIDES = /^(questions|quickstart|concepts|how-to-choose|use|datasets|models|gpus|cluster|jobs|evaluate|extending|limitations|statistics|tutorials\/)/;

// eslint-disable-next-line no-unused-vars
var Scorer = {
  score: ([page, , anchor, , score]) => {
    if (page.startsWith("api/") && anchor) return score / 4; // names of the code
    if (page.startsWith("questions")) return score + 4;
    return GUIDES.test(page) ? score + 2 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
