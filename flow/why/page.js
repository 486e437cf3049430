"use strict";
// Filters the objects, copies commands, and replaces the content of a live page,
// without the focus, the open parts and the filter.
(function () {
  var body = document.body, form = document.getElementById("filter"), status = document.getElementById("live");
  var main = function () { return document.getElementById("main"); };
  var all = function (in_, what) { return Array.prototype.slice.call(in_.querySelectorAll(what)); };
  function choices(name) {
    var select = form.elements[name], value = select.value, has = {};
    all(main(), "article").forEach(function (a) { has[a.dataset[name]] = true; });
    while (select.options.length > 1) { select.remove(1); }
    if (value) { has[value] = true; } // also if its objects are gone: the filter stays as it was chosen
    delete has[""];
    Object.keys(has).sort().forEach(function (v) { select.add(new Option(v, v, false, v === value)); });
  }
  function filter() {
    var words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    var kind = form.elements.kind.value, namespace = form.elements.namespace.value, active = words.length || kind || namespace;
    var has = function (e) { var t = e.textContent.toLowerCase(); return words.every(function (w) { return t.indexOf(w) >= 0; }); };
    var shown = 0, ids = {}, roots = {}, articles = all(main(), "article");
    articles.forEach(function (a) {
      a.hidden = (kind && a.dataset.kind !== kind) || (namespace && a.dataset.namespace !== namespace) || !has(a);
      if (!a.hidden) { shown++; ids["#" + a.id] = true; roots[a.dataset.root] = true; }
    });
    all(main(), "tr[data-root]").forEach(function (r) { r.hidden = active && !roots[r.dataset.root] && (kind || namespace || !has(r)); });
    all(main(), "svg a").forEach(function (a) { a.classList.toggle("out", active && !ids[a.getAttribute("href")]); });
    var healthy = document.getElementById("ready");
    if (healthy && words.length && all(healthy, "article:not([hidden])").length) { healthy.open = true; }
    var text = active ? (shown ? shown + " of " + articles.length + " objects match" : "No object matches") : "";
    var count = document.getElementById("count");
    if (count.textContent !== text) { count.textContent = text; } // a screen reader reads each change
  }
  function prepare() {
    all(main(), "button.copy").forEach(function (b) { b.hidden = false; });
    ["kind", "namespace"].forEach(choices);
    filter();
  }
  function select(e) { var s = getSelection(); s.removeAllRanges(); s.selectAllChildren(e); }
  document.addEventListener("click", function (event) {
    var b = event.target.closest("button.copy");
    if (!b) { return; }
    var code = b.previousElementSibling;
    select(code); // a browser may refuse the clipboard to the page: then the user presses Ctrl+C
    b.textContent = "selected";
    if (navigator.clipboard) { navigator.clipboard.writeText(code.textContent).then(function () { b.textContent = "copied"; }, function () {}); }
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.hidden = false;
  prepare();
  if (!body.dataset.refresh) { return; }
  function key(d) {
    var a = d.closest("[id],[data-root]"), pass = d.closest("li");
    return (a.id || a.dataset.root) + (a === d ? "" : "/" + d.querySelector("summary").textContent + (pass ? pass.querySelector("time").dateTime : ""));
  }
  function update() {
    fetch(location.pathname + location.search, { headers: { Accept: "text/html" } }).then(function (r) {
      if (!r.ok) { throw new Error("the server answered " + r.status); }
      return r.text();
    }).then(function (html) {
      var next = new DOMParser().parseFromString(html, "text/html");
      var old = main(), now = next.getElementById("main"), open = {};
      all(old, "details").forEach(function (d) { open[key(d)] = d.open; });
      all(now, "details").forEach(function (d) { var k = key(d); if (k in open) { d.open = open[k]; } });
      var active = document.activeElement, home = active && old.contains(active) ? active.closest("[id]") : null, at = home ? all(home, "*").indexOf(active) : -1;
      var scrolled = old.querySelector(".scroll"), x = scrolled ? scrolled.scrollLeft : 0, y = scrolled ? scrolled.scrollTop : 0;
      old.replaceWith(now);
      document.querySelector("header").replaceWith(next.querySelector("header"));
      document.title = next.title;
      prepare();
      home = home && document.getElementById(home.id);
      active = home && (at < 0 ? home : all(home, "*")[at]);
      if (active) { active.focus({ preventScroll: true }); }
      var region = now.querySelector(".scroll");
      if (region) { region.scrollLeft = x; region.scrollTop = y; }
      status.textContent = "";
    }).catch(function (e) { status.textContent = "not updated: " + e.message; });
  }
  document.getElementById("refresh").addEventListener("click", update);
  setInterval(function () { if (!document.hidden && form.elements.auto.checked) { update(); } }, Number(body.dataset.refresh));
})();
