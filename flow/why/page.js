"use strict";
// Replaces the content every few seconds, and keeps the focus and the open parts.
(function () {
  var status = document.getElementById("live");
  var every = Number(document.body.dataset.refresh);
  function key(e) { var a = e.closest("[id]"); return (a ? a.id : "") + "/" + e.textContent; }
  function update() {
    if (document.hidden) { return; }
    fetch(location.pathname + location.search, { headers: { Accept: "text/html" } }).then(function (r) {
      if (!r.ok) { throw new Error("the server answered " + r.status); }
      return r.text();
    }).then(function (html) {
      var next = new DOMParser().parseFromString(html, "text/html");
      var old = document.getElementById("main"), now = next.getElementById("main");
      var open = {};
      old.querySelectorAll("details").forEach(function (d) { open[key(d.querySelector("summary"))] = d.open; });
      now.querySelectorAll("details").forEach(function (d) { var k = key(d.querySelector("summary")); if (k in open) { d.open = open[k]; } });
      var active = document.activeElement, at = active && old.contains(active) ? Array.prototype.indexOf.call(old.querySelectorAll("*"), active) : -1;
      var scrolled = old.querySelector(".scroll"), x = scrolled ? scrolled.scrollLeft : 0, y = scrolled ? scrolled.scrollTop : 0;
      old.replaceWith(now);
      document.querySelector("header").replaceWith(next.querySelector("header"));
      document.title = next.title;
      if (at >= 0 && now.querySelectorAll("*")[at]) { now.querySelectorAll("*")[at].focus({ preventScroll: true }); }
      var region = now.querySelector(".scroll");
      if (region) { region.scrollLeft = x; region.scrollTop = y; }
      status.textContent = "";
    }).catch(function (e) { status.textContent = "not updated: " + e.message; });
  }
  setInterval(update, every);
})();
