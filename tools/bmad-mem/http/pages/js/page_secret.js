// page_secret.js - what shows the server that its user has opened this page.
//
//   link #code ──POST /auth/session──> secret ──> sessionStorage ──> a header of each request
//
// It is kept for this origin, which has the port: no other server on this machine is ever sent it,
// as each would be sent a cookie. It survives a reload and ends with the tab. A new tab asks the
// others of this origin for it.

const kName = "bmad-mem-secret";
const kPatienceMs = 300;

let secret = "";
let channel = null;

/** A browser may forbid a page to store anything; then the secret lasts until a reload. */
function stored(use) {
  try {
    return use(sessionStorage) ?? "";
  } catch {
    return "";
  }
}

export function pageSecret() {
  secret ||= stored((storage) => storage.getItem(kName));
  return secret;
}

export function setPageSecret(text) {
  secret = text;
  stored((storage) => (text ? storage.setItem(kName, text) : storage.removeItem(kName)));
}

/** The headers by which the server knows this page; none before it does. */
export function secretHeaders() {
  return pageSecret() ? {Authorization: `Bearer ${pageSecret()}`} : {};
}

/** Gives the secret to other tabs that ask for it, as long as this one has it. */
export function shareSecret() {
  channel ??= new BroadcastChannel(kName);
  channel.addEventListener("message", ({data}) => {
    if (data?.ask && pageSecret()) {
      channel.postMessage({secret: pageSecret()});
    }
  });
}

/** Asks the other tabs. @returns {Promise<string>} "" when none has it. */
export function secretOfOtherTab() {
  channel ??= new BroadcastChannel(kName);
  return new Promise((resolve) => {
    const take = ({data}) => data?.secret && end(data.secret);
    const timer = setTimeout(() => end(""), kPatienceMs);
    function end(text) {
      clearTimeout(timer);
      channel.removeEventListener("message", take);
      resolve(text);
    }
    channel.addEventListener("message", take);
    channel.postMessage({ask: true});
  });
}
