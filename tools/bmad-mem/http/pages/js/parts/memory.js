// memory.js - what the browser remembers of the reader's wishes. Never content of the memory.

const kPrefix = "bmad-mem.";

/** @returns {string|null} what was remembered under `name` */
export function recall(name) {
  try {
    return localStorage.getItem(kPrefix + name);
  } catch {
    return null;  // A browser that keeps nothing.
  }
}

/** Remembers `value`; forgets it when null. */
export function remember(name, value) {
  try {
    if (value === null) {
      localStorage.removeItem(kPrefix + name);
    } else {
      localStorage.setItem(kPrefix + name, value);
    }
  } catch {
    // The wish then holds until the page is closed.
  }
}
