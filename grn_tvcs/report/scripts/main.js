/* Start of the page, and global keys. */
(function (tvcs) {
  "use strict";
  const $ = tvcs.element;
  // Genes in the tables of the page lead to their pages.
  document.querySelectorAll("td[data-gene]").forEach((cell) => {
    const gene = tvcs.find(cell.textContent);
    if (gene !== undefined) cell.replaceChildren(tvcs.link(gene));
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      $("search").focus();
    } else if (event.key === "Escape" && !$("page").hidden) {
      tvcs.go("#network");
      $("list").focus({ preventScroll: true });
    }
  });
  tvcs.filter();
  tvcs.page.follow();
  requestAnimationFrame(() => { document.documentElement.dataset.ready = "yes"; });
})(window.tvcs);
