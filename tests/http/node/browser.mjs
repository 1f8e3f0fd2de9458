// browser.mjs - a browser, watched: whatever a page must not do fails the test that opened it.
import assert from "node:assert/strict";
import {execFile} from "node:child_process";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {promisify} from "node:util";
import {chromium} from "playwright-core";

const kAxe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const kPatienceMs = 30_000;
// With BMAD_LATENESS_MS=300 answers come up to that late, each in its own time: what would be seen
// once in a hundred runs on a busy machine is seen soon.
const kLatenessMs = Number(process.env.BMAD_LATENESS_MS ?? 0);

/** What pages_test.py has prepared: two servers, their memories, and places for pictures. */
export const world = JSON.parse(process.env.BMAD_WORLD);

let browser = null;
const secrets = new Map();

/**
 * Starts the browser once. Debian's own: nothing is downloaded. Playwright switches the
 * back/forward cache off, which every reader's browser has; `keepsPages` leaves it on.
 */
export async function start({keepsPages = false} = {}) {
  const isRoot = process.getuid() === 0;
  browser ??= await chromium.launch({
    executablePath: world.browser,
    ignoreDefaultArgs: keepsPages ? ["--disable-back-forward-cache"] : [],
    args: [...(isRoot ? ["--no-sandbox"] : []), "--disable-gpu", "--disable-dev-shm-usage"],
  });
}

export async function stop() {
  await browser?.close();
  browser = null;
}

/** Runs the tool on a memory, as another process; returns what it printed. */
export const runTool = (memory, ...args) => runWith(memory, {}, args);

/** The same with the state folder of the server, as the person who started it. */
export const runAsOwner = (memory, ...args) => runWith(memory, {XDG_STATE_HOME: process.env.XDG_STATE_HOME}, args);

async function runWith(memory, environment, args) {
  const {stdout} = await promisify(execFile)(world.tool, args, {
    cwd: memory.folder,
    env: {PATH: process.env.PATH, HOME: memory.folder, ...environment},
  });
  return stdout;
}

/** Asks the server as a script does, with the token. */
export async function ask(memory, method, path, body) {
  const response = await fetch(memory.url + path, {
    method,
    headers: {Authorization: `Bearer ${memory.token}`, ...(body ? {"Content-Type": "application/json"} : {})},
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return {status: response.status, json: text && JSON.parse(text)};
}

export async function newLink(memory) {
  const {json} = await ask(memory, "POST", "/auth/link", {});
  return json.url;
}

/**
 * Opens a window; known to the server unless `isStranger`.
 * @returns {Promise<import("playwright-core").Page>} with `watch`, see check().
 */
export async function open(memory, path = "/", options = {}) {
  const {theme = "light", width = 1280, height = 800, isStranger = false, reducedMotion = "reduce", timezoneId = "UTC"} = options;
  const context = await browser.newContext({
    colorScheme: theme, viewport: {width, height}, reducedMotion, locale: "en-GB", timezoneId,
  });
  context.setDefaultTimeout(kPatienceMs);
  if (!isStranger) {
    // As a tab that was opened by a link and then reloaded.
    await context.addInitScript(([origin, secret]) => {
      if (location.origin === origin && !sessionStorage.getItem("bmad-mem-secret")) {
        sessionStorage.setItem("bmad-mem-secret", secret);
      }
    }, [memory.url, await secretOf(memory)]);
  }
  const page = await context.newPage();
  page.watch = watch(page, memory.url);
  if (kLatenessMs > 0) {
    await page.route(/\/memory\/(?!events)/, answerLate);
  }
  await page.goto(new URL(path, memory.url).href);
  if (!isStranger) {
    await settled(page);
  }
  return page;
}

async function answerLate(route) {
  try {
    const response = await route.fetch();
    await new Promise((resolve) => setTimeout(resolve, Math.random() * kLatenessMs));
    await route.fulfill({response});
  } catch {
    // The page was closed, or has given its question up.
  }
}

async function secretOf(memory) {
  if (!secrets.has(memory.url)) {
    const code = new URL(await newLink(memory)).hash.slice("#code=".length);
    const response = await fetch(`${memory.url}/auth/session`, {
      method: "POST", headers: {"Content-Type": "application/json", Origin: memory.url}, body: JSON.stringify({code}),
    });
    secrets.set(memory.url, (await response.json()).secret);
  }
  return secrets.get(memory.url);
}

/** Waits until the page shows its heading and nothing that is still loading. */
export async function settled(page) {
  await page.locator("main h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("main [aria-label=Loading], main [aria-busy=true], main[aria-busy=true]"));
}

/** Waits until `text` is to be seen on the page; what is folded away is not. */
export async function seen(page, text) {
  await page.locator("main").getByText(text).filter({visible: true}).first().waitFor();
}

/** Notes what a page must not do. `expected` are statuses that the test itself provokes. */
function watch(page, origin) {
  const found = {problems: [], expected: new Set()};
  const note = (text) => found.problems.push(text);
  page.on("pageerror", (error) => note(`exception: ${error.stack ?? error}`));
  page.on("dialog", (dialog) => {
    note(`a script has opened a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("console", (message) => {
    // The browser writes a line for each answer that is no success; those are looked at below.
    if (["error", "warning"].includes(message.type()) && !message.text().startsWith("Failed to load resource")) {
      note(`console: ${message.text()}`);
    }
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !["data:", "blob:", "about:"].includes(url.protocol)) {
      note(`a request to another host: ${request.url()}`);
    }
  });
  page.on("response", (response) => {
    if (response.status() >= 400 && !found.expected.has(response.status())) {
      note(`${response.request().method()} ${response.url()}: ${response.status()}`);
    }
  });
  return found;
}

/** Fails when the page did what it must not; closes it. */
export async function finish(page) {
  const hasRun = await page.evaluate(() => window.hasRun ?? null);
  // A request that a test's route still answers may be given up: the page goes.
  await page.unrouteAll({behavior: "ignoreErrors"});
  await page.context().close();
  assert.equal(hasRun, null, "stored markup was run");
  assert.deepEqual(page.watch.problems, []);
}

/** What axe finds that is serious or critical, a line each. */
export async function barriers(page) {
  await page.evaluate(kAxe);
  const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ["violations"]}));
  return violations
    .filter(({impact}) => impact === "serious" || impact === "critical")
    .flatMap(({id, help, nodes}) => nodes.map(({target, failureSummary}) =>
      `${id}: ${help}: ${target.join(" ")}: ${failureSummary.split("\n").slice(1, 3).join(" ").trim()}`));
}

/** Pixels by which the page is wider than its window. */
export async function overhang(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Writes build/…/screenshots/NAME.png. */
export async function picture(page, name) {
  await page.screenshot({path: `${world.pictures}/${name}.png`});
}

/** A picture as WebP, which is a third of PNG's size. */
export async function smallPicture(page) {
  const session = await page.context().newCDPSession(page);
  const {data} = await session.send("Page.captureScreenshot", {format: "webp", quality: 82});
  return Buffer.from(data, "base64");
}

/** Waits until `holds` gives true. */
export async function until(holds, patienceMs = kPatienceMs) {
  const end = Date.now() + patienceMs;
  while (!await holds()) {
    assert.ok(Date.now() < end, `not within ${patienceMs} ms: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
