// What scrolls sideways is reached by keyboard. Parameters of a signature, a line each, are no list of definitions.
const scrolled = document.querySelectorAll(".bd-article table.table, .math-block, .bd-article pre");
new ResizeObserver(() => {
  for (const one of scrolled) {
    if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  }
}).observe(document.documentElement);
for (const one of document.querySelectorAll(".sig dl, .sig dl > dd")) one.setAttribute("role", "presentation");
