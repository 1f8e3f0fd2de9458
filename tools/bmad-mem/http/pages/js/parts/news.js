// news.js - offers what was written meanwhile: nothing moves under the eyes of somebody who reads.
import {button, count} from "./parts.js";

/** A button that is hidden until something is written. */
export class News {
  /**
   * @param {string} todo what the button does: "draw again"
   * @param {() => Promise<void>} load loads all anew; it should call clear() when it begins.
   */
  constructor(todo, load) {
    this.todo = todo;
    this.changes = 0;
    this.button = button("", load, {hidden: true});
  }

  /** Something was written. */
  add() {
    this.changes += 1;
    this.button.textContent = `${count(this.changes, "change")}: ${this.todo}`;
    this.button.hidden = false;
  }

  /** What is shown will be what is stored. */
  clear() {
    this.changes = 0;
    if (document.activeElement === this.button) {
      document.querySelector("main h1")?.focus();  // What is hidden can't keep the focus.
    }
    this.button.hidden = true;
  }
}
