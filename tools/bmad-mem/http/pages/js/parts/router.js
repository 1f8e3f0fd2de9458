// router.js - which page belongs to an address.

const kRoutes = [
  {path: [], page: "search", nav: "/"},
  {path: ["search"], page: "search", nav: "/"},
  {path: ["sessions"], page: "sessions", nav: "/sessions"},
  {path: ["session", ":session"], page: "timeline", nav: "/sessions"},
  {path: ["entry", ":session", ":id"], page: "entry", nav: "/"},
  {path: ["knowledge"], page: "knowledge", nav: "/knowledge"},
  {path: ["graph"], page: "graph", nav: "/graph"},
  {path: ["health"], page: "health", nav: "/health"},
];

/** The pages of the navigation, with the keys that lead to them. */
export const kPages = [
  {url: "/", label: "Search", keys: "g s", sign: "⌕"},
  {url: "/sessions", label: "Sessions", keys: "g t", sign: "≡"},
  {url: "/knowledge", label: "Knowledge", keys: "g k", sign: "◇"},
  {url: "/graph", label: "Graph", keys: "g g", sign: "∴"},
  {url: "/health", label: "Health", keys: "g h", sign: "♡"},
];

/**
 * @param {string} pathname
 * @returns {{page: string, nav: string, params: Object}|null} null: there is no such page.
 */
export function route(pathname) {
  let parts;
  try {
    parts = pathname.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return null;  // A percent sign that stands for nothing.
  }
  for (const {path, page, nav} of kRoutes) {
    const params = match(path, parts);
    if (params) {
      return {page, nav, params};
    }
  }
  return null;
}

function match(path, parts) {
  if (path.length !== parts.length) {
    return null;
  }
  const params = {};
  for (const [index, name] of path.entries()) {
    if (name.startsWith(":")) {
      params[name.slice(1)] = parts[index];
    } else if (name !== parts[index]) {
      return null;
    }
  }
  return params;
}
