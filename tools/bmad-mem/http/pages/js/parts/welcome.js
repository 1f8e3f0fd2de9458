// welcome.js - the page for a browser that the server doesn't know.
import {h, put} from "../dom.js";
import {api} from "../api.js";
import {pageSecret, secretOfOtherTab, setPageSecret, shareSecret} from "../page_secret.js";

const kCode = /^#code=(.+)$/;

/**
 * Makes this page known to the server: by the code of a one-time link, which is taken out of the
 * address, else as it was before a reload, else as another tab is.
 * @returns {Promise<string>} why the code is worth nothing, or ""
 */
export async function signIn() {
  shareSecret();
  const code = kCode.exec(location.hash)?.[1];
  if (!code) {
    if (!pageSecret()) {
      setPageSecret(await secretOfOtherTab());
    }
    return "";
  }
  history.replaceState(null, "", location.pathname + location.search);
  try {
    setPageSecret((await api.post("/auth/session", {code: decodeURIComponent(code)})).secret);
    return "";
  } catch (error) {
    return error.message;
  }
}

/** Shows what to do to get in. */
export function showWelcome(main, reason = "") {
  document.title = "Ask for a new link · bmad-mem";
  put(main, h("section", {class: "welcome"},
    h("h1", {tabindex: -1}, "Ask for a new link"),
    h("p", {}, "You are signed out. A link from the command line opens your memory in this browser."),
    reason ? h("p", {class: "problem", role: "alert"}, reason) : null,
    h("p", {}, "In the folder of your project, run:"),
    h("pre", {tabindex: 0}, h("code", {}, "bmad-mem serve --open")),
    h("p", {class: "muted"}, "It prints an address that works once, and opens it here."),
    h("p", {}, h("a", {class: "button", href: location.pathname + location.search, "data-reload": true},
      "Try again"))));
  main.querySelector("h1").focus();
}
