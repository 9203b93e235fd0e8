// What an accessibility check asks of the theme: a name for its search, different names for the parts of its menu, and frames of wide tables that keys can scroll.
const mend = () => {
  document.querySelectorAll(".md-nav--primary .md-nav:not(.md-nav--secondary)").forEach((node, i) => {
    node.removeAttribute("aria-labelledby");
    node.setAttribute("aria-label", `part ${i + 1} of the site`);
  });
  document.querySelectorAll(".md-search").forEach(node => node.setAttribute("aria-label", "Search"));
  document.querySelectorAll(".md-code__nav").forEach((node, i) => node.setAttribute("aria-label", `buttons of code ${i + 1}`));
  // API pages list a name in the menu and in the contents: landmarks of one name are told apart by their place.
  const seen = new Map();
  document.querySelectorAll("nav[aria-label]").forEach(node => {
    const name = node.getAttribute("aria-label").toLowerCase();
    seen.set(name, (seen.get(name) || 0) + 1);
    if (seen.get(name) > 1) node.setAttribute("aria-label", `${node.getAttribute("aria-label")}, ${seen.get(name)}`);
  });
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code, .highlight").forEach(node => { node.tabIndex = 0; });
};
new MutationObserver(mend).observe(document.body, {childList: true, subtree: true});
mend();
