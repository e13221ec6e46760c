// The live view: asks for how the run stands, again and again, and puts what has changed in the place of what was there. The server
// answers when there is something new, so that no timer of a page in the background holds it up.
"use strict";
const report = document.getElementById("report");
const bar = document.getElementById("bar");
const progress = document.getElementById("progress");
const focusable = "a, button, select, summary, [tabindex]";
// The address that headway printed ends in the token, which no browser sends by itself.
const token = location.hash.slice(1);

const say = (id, text) => {
  const place = document.getElementById(id);
  if (place.textContent !== text) place.textContent = text;
};
const all = (place, what) => [...place.querySelectorAll(what)];

// Changes an element, and leaves unfolded, scrolled and in focus what was so.
const keeping = (place, change) => {
  const open = all(place, "details").map((of) => of.open);
  const scrolled = all(place, ".scroll").map((of) => [of.scrollLeft, of.scrollTop]);
  const focused = all(place, focusable).indexOf(document.activeElement);
  change();
  all(place, "details").forEach((of, i) => { of.open = Boolean(open[i]); });
  all(place, ".scroll").forEach((of, i) => { if (scrolled[i]) [of.scrollLeft, of.scrollTop] = scrolled[i]; });
  if (focused >= 0) all(place, focusable)[focused]?.focus({ preventScroll: true });
};
const nameOf = (part) => part.id || part.getAttribute("aria-label") || part.localName + "." + part.className;
const made = new WeakMap();
const put = (old, next) => {
  const markup = next.outerHTML;
  if (made.get(old) === markup) return;
  made.set(old, markup);
  keeping(old, () => {
    if (old.classList.contains("figure")) {
      // The chart stays, and is drawn anew.
      for (const part of ["h2", "figcaption", "details"]) {
        const [own, other] = [old, next].map((of) => of.querySelector(part));
        if (own && other && own.innerHTML !== other.innerHTML) own.innerHTML = other.innerHTML;
      }
      old.querySelector(".chart").setAttribute("aria-label", next.querySelector(".chart").getAttribute("aria-label"));
    } else {
      old.className = next.className;
      old.innerHTML = next.innerHTML;
    }
  });
};
const renew = (markup) => {
  const parts = [...new DOMParser().parseFromString(markup, "text/html").body.children];
  const names = new Set(parts.map(nameOf));
  for (const old of [...report.children]) if (!names.has(nameOf(old))) old.remove();
  let at = report.firstElementChild;
  for (const part of parts) {
    if (at && nameOf(at) === nameOf(part)) {
      put(at, part);
      at = at.nextElementSibling;
    } else {
      const placed = document.importNode(part, true);
      made.set(placed, part.outerHTML);
      report.insertBefore(placed, at);
    }
  }
  while (at) {
    const next = at.nextElementSibling;
    at.remove();
    at = next;
  }
};

let latest = null;
const show = () => {
  const data = latest;
  latest = null;
  document.title = data.title;
  say("state", data.state);
  say("said", data.said);
  const [is, of] = data.reached || [];
  button.hidden = data.ended;
  if (data.ended) progress.hidden = true;
  else if (of > 0) [progress.max, progress.value] = [of, Math.min(is, of)];
  take(data);
  renew(data.markup);
  page.dataset.charts = String(data.charts);
  // A reader who looks at a value below the pointer goes on reading it.
  drawPage((place) => !data.ended && place.matches(":hover"));
  page.dataset.number = String(data.number);
  page.dataset.ended = String(data.ended);
};
// What nobody sees need not be drawn.
const showIfSeen = () => { if (latest && (latest.ended || !document.hidden)) show(); };
document.addEventListener("visibilitychange", showIfSeen);

// As Ctrl-C: what is in flight is waited for.
const button = document.getElementById("stop");
button.addEventListener("click", async () => {
  button.disabled = true;
  const headers = { "X-Headway": "page", ...(token ? { Authorization: "Bearer " + token } : {}) };
  try {
    const answer = await fetch("/stop", { method: "POST", headers, cache: "no-store" });
    button.textContent = answer.ok ? "Stopping" : "Not stopped: " + answer.status;
  } catch {
    button.textContent = "Not stopped: headway does not answer";
  }
});

const stop = (text) => {
  bar.dataset.tone = "bad";
  progress.hidden = true;
  button.hidden = true;
  say("state", text);
  say("said", text);
};
const ask = async () => {
  const headers = token ? { Authorization: "Bearer " + token } : {};
  for (let number = 0, failed = 0; ;) {
    let answer = null;
    try {
      answer = await fetch("/snapshot.json?after=" + number, { headers, cache: "no-store" });
    } catch {
      failed += 1;
      if (failed === 3) return stop("The connection to headway is lost: what is shown is the last that came. Reload the page to try again.");
      await new Promise((next) => setTimeout(next, 500 * failed));
      continue;
    }
    failed = 0;
    if (answer.status === 401) return stop("This page needs the token: open the address as headway printed it, with what follows the #.");
    // Nothing new, or too many readers.
    if (answer.status === 204) continue;
    if (!answer.ok) {
      await new Promise((next) => setTimeout(next, 1000));
      continue;
    }
    latest = await answer.json();
    number = latest.number;
    const { ended } = latest;
    showIfSeen();
    if (ended) return undefined;
  }
};
ask().catch((error) => { keepError("live: " + error.message); stop("This page has failed: " + error.message); });
