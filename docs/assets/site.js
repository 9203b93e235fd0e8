// What an accessibility check asks of the theme: a name for its search, different names for the parts of its menu, and frames of wide tables that keys can scroll.
const mend = () => {
  document.querySelectorAll(".md-nav--primary .md-nav:not(.md-nav--secondary)").forEach((node, i) => {
    node.removeAttribute("aria-labelledby");
    node.setAttribute("aria-label", `part ${i + 1} of the site`);
  });
  document.querySelectorAll(".md-search").forEach(node => node.setAttribute("aria-label", "Search"));
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code, .highlight").forEach(node => { node.tabIndex = 0; });
};
new MutationObserver(mend).observe(document.body, {childList: true, subtree: true});
mend();
