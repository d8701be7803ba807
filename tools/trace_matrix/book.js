(() => {
  "use strict";
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector, from = document) => from.querySelector(selector);
  const clauses = all("article.clause");
  const search = one("#search");
  const found = one("#found");

  // A reference gets its source, which stands once at the end of the page, when it is opened.
  function fill(ref) {
    const hole = one(":scope > .hole", ref);
    const piece = hole && document.getElementById(ref.dataset.source);
    const source = piece && one("pre", piece);
    if (!source) return;
    const copy = source.cloneNode(true);
    copy.className = "src";
    hole.replaceWith(copy);
  }
  all("details.ref").forEach((ref) => {
    if (ref.open) fill(ref);
    ref.addEventListener("toggle", () => { if (ref.open) fill(ref); });
  });

  // Search and filters narrow the contents and the text alike.
  const entries = new Map(all(".toc-chapter li").map((li) => [li.dataset.id, li]));
  const texts = new Map();
  const textOf = (clause) => {
    if (!texts.has(clause)) texts.set(clause, `${clause.id} ${one("h4", clause).textContent} ${one(".words", clause).textContent}`.toLowerCase());
    return texts.get(clause);
  };
  let filter = "";
  function narrow() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const narrowed = words.length > 0 || filter !== "";
    let count = 0;
    for (const clause of clauses) {
      const shown = (!filter || clause.dataset.has.split(" ").includes(filter)) && words.every((word) => textOf(clause).includes(word));
      clause.hidden = !shown;
      entries.get(clause.id).hidden = !shown;
      if (shown) count += 1;
    }
    for (const chapter of all(".toc-chapter")) chapter.hidden = !one("li:not([hidden])", chapter);
    for (const chapter of all("section.chapter")) chapter.hidden = narrowed && !one("article:not([hidden])", chapter);
    for (const title of all("h3.section, .chapter > header .intro")) title.hidden = narrowed;
    found.textContent = narrowed ? `${count} of ${clauses.length} clauses` : "";
  }
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(narrow, 60); });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    narrow();
    const first = clauses.find((clause) => !clause.hidden);
    if (first) location.hash = first.id;
  });
  const filters = all(".filters button");
  filters.forEach((button) => button.addEventListener("click", () => {
    filter = button.dataset.filter;
    filters.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
    narrow();
  }));
  function clear() {
    search.value = "";
    filters[0].click();
  }

  // A link to something that is filtered away shows everything again.
  function arrive() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    closeToc();
    if (!target) return;
    if (target.closest("[hidden]")) clear();
    cover(null);
    target.scrollIntoView();
    requestAnimationFrame(() => target.scrollIntoView());
    if (target.tabIndex === -1) target.focus({ preventScroll: true });
  }
  addEventListener("hashchange", arrive);

  // Where the reader is.
  const seen = new Set();
  let current = null;
  const watch = new IntersectionObserver((changes) => {
    for (const change of changes) change.isIntersecting ? seen.add(change.target) : seen.delete(change.target);
    const top = clauses.find((clause) => seen.has(clause));
    if (top === current) return;
    if (current) one("a", entries.get(current.id)).removeAttribute("aria-current");
    current = top || null;
    if (!top) return;
    const link = one("a", entries.get(top.id));
    link.setAttribute("aria-current", "true");
    const box = one(".toc-body");
    const place = link.getBoundingClientRect(), frame = box.getBoundingClientRect();
    if (place.top < frame.top + 40 || place.bottom > frame.bottom - 20) box.scrollTop += place.top - frame.top - frame.height / 3;
  }, { rootMargin: "-64px 0px -70% 0px" });
  clauses.forEach((clause) => watch.observe(clause));

  // Four columns over the whole window.
  let wide = null;
  function cover(article) {
    if (wide) {
      wide.classList.remove("wide");
      const button = one(".spread", wide);
      button.textContent = "Four columns";
      button.setAttribute("aria-pressed", "false");
    }
    document.body.classList.toggle("covered", Boolean(article));
    wide = article;
    if (!article) return;
    article.classList.add("wide");
    const button = one(".spread", article);
    button.textContent = "Close (Esc)";
    button.setAttribute("aria-pressed", "true");
  }
  all(".spread").forEach((button) => button.addEventListener("click", () => {
    const article = button.closest(".action");
    const back = wide === article;
    cover(back ? null : article);
    if (back) article.scrollIntoView();
    button.focus({ preventScroll: true });
  }));

  const opener = one("#open-toc");
  function closeToc() {
    document.body.classList.remove("toc-open");
    opener.setAttribute("aria-expanded", "false");
  }
  opener.addEventListener("click", () => {
    const open = document.body.classList.toggle("toc-open");
    opener.setAttribute("aria-expanded", String(open));
    if (open) search.focus();
  });
  one("#toc").addEventListener("click", (event) => { if (event.target.closest("a")) closeToc(); });

  all(".theme").forEach((button) => button.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch (error) { /* a page from a file may have no storage */ }
  }));

  function move(by) {
    const shown = clauses.filter((clause) => !clause.hidden);
    if (!shown.length) return;
    const at = shown.indexOf(current);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    location.hash = next.id;
  }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (wide) { const article = wide; cover(null); article.scrollIntoView(); }
      else if (search.value || filter) clear();
      else closeToc();
      return;
    }
    if (event.target.closest("input, textarea, select")) return;
    if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "o" && current) {
      const refs = all("details.ref", current).filter((ref) => !ref.closest(".more:not([open])"));
      const open = refs.some((ref) => !ref.open);
      refs.forEach((ref) => { ref.open = open; });
    }
  });

  if (location.hash) arrive();
})();
