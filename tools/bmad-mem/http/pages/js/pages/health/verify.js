// verify.js - reads all logs and says what is wrong in them, with file and line.
import {api} from "../../api.js";
import {h, put} from "../../dom.js";
import {button, bytes, count, problem, skeleton} from "../../parts/parts.js";
import {dataTable, section} from "./sections.js";

/** The section of verification: nothing is read before somebody asks. */
export function verify(page) {
  const place = h("div", {"aria-live": "polite"});
  const run = async () => {
    start.disabled = true;
    put(place, skeleton(3));
    try {
      put(place, report(await api.get("/memory/verify", {}, {signal: page.signal})));
    } catch (error) {
      if (!page.signal.aborted) put(place, problem(error, run));
    }
    start.disabled = false;
  };
  const start = button("Verify now", run);
  return section("Verification", {
    wide: true,
    actions: [start],
    hint: "Reads every log and reports damaged lines and files that disagree. Changes nothing.",
  }, place);
}

function report({findings, sessions, logs, lines, bytes: size, took_ms: took}) {
  const read = `Read ${count(lines, "line")} of ${count(logs, "log")} in ${count(sessions, "session")} ` +
      `(${bytes(size)}) in ${Math.round(took)} ms.`;
  if (findings.length === 0) {
    return h("p", null, h("span", {class: "chip chip-pin"}, "All is well"), ` ${read}`);
  }
  return [
    h("p", null, h("span", {class: "chip chip-warn"}, count(findings.length, "finding")), ` ${read}`),
    dataTable("Findings", ["Where", "What", "Field", "Why"].map((text) => ({text})),
              findings.map(({path, line, column, kind, field, reason}) => [
                h("code", null, [path, line, line && column].filter(Boolean).join(":")),
                kind.replaceAll("_", " "), field ?? "", reason,
              ])),
  ];
}
