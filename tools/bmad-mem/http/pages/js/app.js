// app.js - the shell: shows the page of the address, and gives pages what they share.
//
// A page is a module in js/pages/ with `title` and
//   async show(main, {params, query, app, signal})   → nothing, or a function that cleans up
// `main` is the page's own place: what it writes there after it was left is seen by nobody. `query`
// is a URLSearchParams; `signal` is aborted when the page is left.
import {h, put} from "./dom.js";
import {api, awaited, onLate, onStreamState, onUnauthorized} from "./api.js";
import {addKeys, setPageKeys, showKeys, startKeys} from "./parts/keys.js";
import {confirmDialog, openDialog} from "./parts/dialog.js";
import {empty, problem} from "./parts/parts.js";
import {forgetEntryName, forgetEntryNames} from "./parts/entry_names.js";
import {kPages, route} from "./parts/router.js";
import {showToast} from "./parts/toast.js";
import {showWelcome, signIn} from "./parts/welcome.js";
import {loadSessionNames} from "./parts/session_names.js";
import {setPageSecret} from "./page_secret.js";
import {startTheme} from "./parts/theme.js";

const main = document.getElementById("main");
let leaving = new AbortController();
let cleanups = [];
let shownUrl = "";

/** What pages get from the shell. */
export const app = {
  /** Goes to `url` (of this window); `replace` leaves no step to go back to. */
  navigate(url, {replace = false} = {}) {
    history.replaceState({...history.state, y: scrollY}, "");
    history[replace ? "replaceState" : "pushState"]({}, "", url);
    return showPage();
  },
  /** Changes the address of the page that is shown, and nothing else. */
  setUrl(url) {
    history.replaceState(history.state, "", url);
    shownUrl = pageUrl();
  },
  /** Shows the page again, with what is stored now. */
  reload: () => showPage({keepFocus: true}),
  /** Says `text` to those who listen rather than look. */
  announce(text) {
    document.getElementById("announcer").textContent = text;
  },
  toast: showToast,
  confirm: confirmDialog,
  dialog: openDialog,
  /** Sets the page's own shortcuts: [{keys: "p", text: "Pin", run}]. */
  keys: setPageKeys,
  /** Changes the title of the window (the page's `title` is set before show()). */
  setTitle(title) {
    document.title = `${title} · bmad-mem`;
  },
  /**
   * Calls `fn` for each entry that is written, until the page is left; `onReset` when all should be
   * loaded again.
   */
  onUpdate(fn, {filter = {}, onReset = () => {}} = {}) {
    const stop = api.events(filter, fn, onReset);
    cleanups.push(stop);
    return stop;
  },
};

function pageUrl() {
  return location.pathname + location.search;
}

/** What a page gets that is left with `signal`: later it changes nothing that is the next one's. */
function appUntil(signal) {
  const whileShown = (fn) => (...args) => (signal.aborted ? undefined : fn(...args));
  return {...app, setUrl: whileShown(app.setUrl), setTitle: whileShown(app.setTitle), keys: whileShown(app.keys),
    reload: whileShown(app.reload), onUpdate: whileShown(app.onUpdate)};
}

async function showPage({keepFocus = false, y = 0} = {}) {
  leaving.abort();
  leaving = new AbortController();
  const {signal} = leaving;
  for (const clean of cleanups.splice(0)) {
    clean();
  }
  setPageKeys([]);
  shownUrl = pageUrl();
  const found = route(location.pathname);
  markNav(found?.nav);
  main.setAttribute("aria-busy", String(Boolean(found)));  // Until its script has come.
  if (!found) {
    app.setTitle("No such page");
    put(main, h("h1", {tabindex: -1}, "No such page"),
      empty("No page has this address.", "Choose a page above, or ", h("a", {href: "/"}, "search the memory"), "."));
    return;
  }
  try {
    const page = await awaited(import(`./pages/${found.page}.js`));
    if (signal.aborted) {
      return;  // It was left before its script had come.
    }
    app.setTitle(page.title);
    const place = h("div", {class: "page"});
    put(main, place);
    if (!keepFocus) {
      scrollTo(0, 0);
    }
    main.setAttribute("aria-busy", "false");
    const shown = page.show(place, {params: found.params, signal, app: appUntil(signal),
      query: new URLSearchParams(location.search)});
    if (!keepFocus) {
      main.querySelector("h1")?.focus({preventScroll: true});
    }
    addCleanup(await shown, signal);
    if (!keepFocus && !signal.aborted) {
      arrive(y);
    }
  } catch (error) {
    if (!signal.aborted && error.name !== "AbortError" && error.status !== 401) {
      main.setAttribute("aria-busy", "false");
      put(main, h("h1", {tabindex: -1}, "This page couldn't be shown"), problem(error, app.reload));
    }
  }
}

function addCleanup(cleanup, signal) {
  if (typeof cleanup !== "function") {
    return;
  }
  if (signal.aborted) {
    cleanup();  // The page was left while it was still loading.
  } else {
    cleanups.push(cleanup);
  }
}

function arrive(y) {
  const heading = main.querySelector("h1");
  if (document.activeElement === document.body || !document.activeElement) {
    heading?.focus({preventScroll: true});
  }
  if (y > 0 && scrollY === 0) {
    scrollTo(0, y);  // Back to where it was, unless somebody has begun to read elsewhere.
  }
}

function markNav(current) {
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.getAttribute("href") === current) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
}

function onClick(event) {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download") ||
      link.hasAttribute("data-reload")) {
    return;
  }
  const url = new URL(link.href, location.href);
  if (url.origin !== location.origin || (url.hash && url.pathname === location.pathname) ||
      !route(url.pathname)) {
    return;
  }
  event.preventDefault();
  app.navigate(url.pathname + url.search);
}

function buildNav() {
  put(document.getElementById("nav"), kPages.map(({url, label, sign}) => h("a", {href: url},
    h("span", {class: "nav-sign", "aria-hidden": "true"}, sign), h("span", {}, label))));
}

function startMarks() {
  const mark = document.getElementById("live");
  onStreamState((state) => {
    mark.dataset.state = state;
    mark.textContent = state === "live" ? "Live" : "Not live";
  });
  const late = document.getElementById("late");
  onLate((isLate) => (late.textContent = isLate ? "The server has not answered for 5 s" : ""));
}

function goToSearchField() {
  const field = document.querySelector("#q");
  if (field) {
    field.focus();
    field.select();
  } else {
    app.navigate("/").then(() => document.querySelector("#q")?.focus());
  }
}

async function start() {
  buildNav();
  startTheme(document.getElementById("theme"), app.announce);
  startMarks();
  document.getElementById("keys").addEventListener("click", showKeys);
  addKeys([
    {keys: "/", text: "Search", run: goToSearchField},
    ...kPages.map(({url, label, keys}) => ({keys, text: `Go to ${label}`, run: () => app.navigate(url)})),
  ]);
  startKeys();
  document.addEventListener("click", onClick);
  // A one-time link that is pasted into this tab only changes what follows the #.
  addEventListener("hashchange", () => location.hash.startsWith("#code=") && location.reload());
  const failure = await signIn();
  onUnauthorized(() => {
    setPageSecret("");  // Another tab may have one that is worth more.
    showWelcome(main, failure);
  });
  if (failure) {
    showWelcome(main, failure);
    return;
  }
  loadSessionNames();
  api.events({}, forgetEntryName, forgetEntryNames);  // Keeps the stream for all pages of this tab.
  addEventListener("popstate", () => {
    if (pageUrl() !== shownUrl) {  // Else it leads to a place on the page: the skip link.
      showPage({y: history.state?.y ?? 0});
    }
  });
  await showPage();
}

start();
