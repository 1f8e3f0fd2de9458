// first_steps.js - a memory without entries: how something comes into it.
import {h, put} from "../dom.js";
import {api} from "../api.js";
import {button, empty} from "./parts.js";

const kCommands = [
  ["Connect your agents, which then record what is said and decided:", "bmad-mem setup"],
  ["Store something yourself:", 'bmad-mem remember "Store amounts as integer cents"'],
  ["Read the conversations that you have had:", "bmad-mem import --from claude-code"],
  ["Look at the memory of a month first:", "bmad-mem serve --sample --open"],
];

/**
 * @param {{announce: (text: string) => void, toast: (text: string) => void}} app
 * @returns {HTMLElement} says that nothing is stored, which commands change that, and what is connected
 */
export function firstSteps(app) {
  const connected = h("ul", {class: "small muted"});
  api.get("/memory/doctor")
    .then(({checks}) => put(connected, clients(checks).map((text) => h("li", {}, text)))).catch(() => {});
  return empty("Nothing is stored yet.", h("p", {}, "In the folder of the project, run one of these:"),
    h("ol", {class: "first-steps"}, kCommands.map(([what, command]) => h("li", {}, h("p", {}, what),
      h("div", {class: "command"}, h("pre", {tabindex: 0}, h("code", {}, command)),
        button("Copy", () => copy(app, command), {"aria-label": `Copy ${command}`}))))), connected);
}

/** The lines of the checkup about clients: "Claude Code is connected; no event yet". */
function clients(checks) {
  return checks.map(({text}) => text).filter((text) => /client is connected|^\S.* is connected/.test(text));
}

async function copy(app, command) {
  try {
    await navigator.clipboard.writeText(command);
    app.announce("Copied");
  } catch {
    app.toast("This browser does not let the page copy; select the command instead.");
  }
}
