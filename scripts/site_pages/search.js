// The site's search, without a server: its index is a script, which a page of file:// may load, too.
// The search box stands behind this script in each page.
document.addEventListener("DOMContentLoaded", () => {
  const MOST = 50, BEFORE = 60, EXCERPT = 240;
  const query = document.getElementById("mkdocs-search-query");
  const results = document.getElementById("mkdocs-search-results");
  if (!query || !results) return;
  let asked = false, entries = null, waited = "The index is being loaded.";

  function say(words) {
    const line = document.createElement("p");
    line.textContent = words;
    results.replaceChildren(line);
  }

  function load() {
    if (asked) return;
    asked = true;
    const script = document.createElement("script");
    script.src = `${base_url}/search/search_index.js`;
    script.onload = () => {
      entries = window.searchIndex.docs.map((one) => ({ ...one, low: `${one.title}\n${one.text}`.toLowerCase() }));
      search();
    };
    script.onerror = () => {
      waited = "The index of this site, search/search_index.js, could not be loaded.";
      search();
    };
    document.head.append(script);
  }

  function excerpt(text, word) {
    const start = Math.max(0, text.toLowerCase().indexOf(word) - BEFORE);
    const end = start + EXCERPT;
    return `${start ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  }

  function shown(entry, word) {
    const article = document.createElement("article"), head = document.createElement("h3");
    const link = document.createElement("a"), text = document.createElement("p");
    link.href = `${base_url}/${entry.location}`;
    link.textContent = entry.title;
    text.textContent = excerpt(entry.text, word);
    head.append(link);
    article.append(head, text);
    return article;
  }

  // A section is found by every word of the query, or a part of it; those with more of them in the title come
  // first, and a section before the page that it is of.
  function search() {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.join("").length < 2) return results.replaceChildren();
    if (!entries) return say(waited);
    const inTitle = (entry) => words.filter((word) => entry.title.toLowerCase().includes(word)).length;
    const found = entries.filter((entry) => words.every((word) => entry.low.includes(word)));
    found.sort((one, other) => inTitle(other) - inTitle(one) || one.text.length - other.text.length);
    if (!found.length) return say("Nothing found.");
    results.replaceChildren(...found.slice(0, MOST).map((entry) => shown(entry, words[0])));
    if (found.length > MOST) results.append(`The first ${MOST} of ${found.length} sections.`);
  }

  query.addEventListener("focus", load);
  query.addEventListener("input", () => { load(); search(); });
  query.form.addEventListener("submit", (event) => event.preventDefault());
});
