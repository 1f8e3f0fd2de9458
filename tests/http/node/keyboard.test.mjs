// keyboard.test.mjs - once through everything without a mouse, and always seeing where one is.
import assert from "node:assert/strict";
import {after, before, describe, it} from "node:test";
import {ask, finish, open, settled, start, stop, until, world} from "./browser.mjs";

const {sample} = world;
const kTabsMax = 90;

before(start);
after(stop);

/** What has the focus, and whether a person sees that. */
const focused = (page) => page.evaluate(() => {
  const element = document.activeElement;
  const box = element.getBoundingClientRect();
  return {
    tag: element.tagName,
    name: element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.textContent.trim(),
    isSeen: box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
  };
});

/** Whether it looks otherwise with the focus than without: itself, a part of it, or what holds it. */
const isMarked = (page) => page.evaluate(() => {
  const element = document.activeElement;
  const looks = () => [element.parentElement, element, ...element.children].map((one) => {
    const {outline, boxShadow, border, stroke, fill, opacity, backgroundColor} = getComputedStyle(one);
    return [outline, boxShadow, border, stroke, fill, opacity, backgroundColor].join();
  }).join();
  const marked = looks();
  element.blur();
  const plain = looks();
  element.focus({preventScroll: true});
  return marked !== plain;
});

/** Presses Tab until what has the focus is called so. */
async function tabTo(page, name) {
  for (let presses = 0; presses < kTabsMax; presses += 1) {
    await page.keyboard.press("Tab");
    if (name.test((await focused(page)).name)) {
      return;
    }
  }
  assert.fail(`${kTabsMax} times Tab and not at ${name}`);
}

async function type(page, ...keys) {
  for (const key of keys) {
    await page.keyboard.press(key);
  }
}

async function goTo(page, key, heading) {
  await type(page, "g", key);
  await page.getByRole("heading", {level: 1, name: heading}).waitFor();
  await settled(page);
}

describe("the keyboard alone", () => {
  it("leads from a question to an entry, through its change, and on to every page", async () => {
    const page = await open(sample);
    await type(page, "Escape", "/");
    await until(async () => (await focused(page)).tag === "INPUT");
    const answered = page.waitForResponse(/\/memory\/search\?.*Typst.browser.template(&|$)/);
    await page.keyboard.type("Typst browser template");
    await answered;
    await page.locator("main mark").first().waitFor();
    await settled(page);
    await type(page, "ArrowDown");
    await until(async () => (await focused(page)).tag === "A");
    await type(page, "j", "k", "Enter");
    await page.waitForFunction(() => location.pathname.startsWith("/entry/"));
    await settled(page);
    const id = new URL(page.url()).pathname.split("/").at(-1);
    const read = async () => (await ask(sample, "GET", `/memory/record/${id}`)).json.entries[0];
    const before = await read();

    await type(page, "e");
    await until(async () => (await focused(page)).tag === "TEXTAREA");
    await type(page, "End");
    await page.keyboard.type(" (seen)");
    await type(page, "Control+Enter");
    await until(async () => (await read()).versions === before.versions + 1);
    // Until the answer is shown, a "p" goes into the field that was edited.
    await until(async () => (await focused(page)).tag === "BUTTON");
    await type(page, "p");
    await until(async () => (await read()).pinned !== before.pinned);

    await goTo(page, "t", "Sessions");
    await type(page, "j", "Enter");
    await page.waitForFunction(() => location.pathname.startsWith("/session/"));
    await settled(page);
    await page.locator("main details > summary").first().waitFor();
    await type(page, "j", "j", "Enter");

    await goTo(page, "k", "Knowledge");
    const candidates = page.getByRole("region", {name: /candidate/i}).getByRole("listitem");
    const count = await candidates.count();
    assert.ok(count > 0, "no candidates are left for the keyboard");
    await type(page, "j", "a");
    await until(async () => await candidates.count() === count - 1);

    await goTo(page, "g", "Graph");
    await type(page, "v");
    await page.getByRole("table").first().waitFor();
    await type(page, "v");
    await page.getByRole("button", {name: /table/i}).waitFor();

    await goTo(page, "h", "Health");
    await tabTo(page, /^verify/i);
    await type(page, "Enter");
    await page.locator("main").getByText("All is well").waitFor();
    await finish(page);
  });

  it("opens an entry from the drawing", async () => {
    const page = await open(sample, "/graph?view=drawing");
    await page.getByText(/\d+ nodes/).first().waitFor();
    await page.evaluate(() => document.querySelector("main h1").focus());
    await tabTo(page, /^Session: .*links/);  // The first node.
    await type(page, "ArrowRight", "ArrowDown", "Enter");
    await page.waitForFunction(() => /^\/(entry|session)\//.test(location.pathname) || location.pathname === "/");
    await finish(page);
  });

  it("opens and leaves dialogs, and comes back to where it was", async () => {
    const page = await open(sample, "/health");
    await tabTo(page, /^archive/i);
    await type(page, "Enter");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    for (let presses = 0; presses < 12; presses += 1) {
      await type(page, "Tab");
      const isInside = await page.evaluate(() =>
        document.activeElement === document.body || document.activeElement.closest("dialog") !== null);
      assert.ok(isInside, "the focus has left the dialog");
    }
    await type(page, "Escape");
    await dialog.waitFor({state: "detached"});
    assert.match((await focused(page)).name, /^archive/i);
    await finish(page);
  });

  it("types letters into fields, and not commands", async () => {
    const page = await open(sample, "/");
    await type(page, "/");
    await page.keyboard.type("gh?pe");
    assert.equal(new URL(page.url()).pathname, "/");
    assert.equal(await page.getByRole("searchbox", {name: /search/i}).inputValue(), "gh?pe");
    await finish(page);
  });

  it("leaves a field with Esc, and empties one for a search", async () => {
    for (const [path, name, tag] of [["/", /search the memory/i, "SEARCH"], ["/sessions", /find/i, "SEARCH"], ["/knowledge", /search|find|words/i, "SEARCH"],
      ["/entry/checkout-retries/checkout-retries-10", /tag/i, "TEXT"]]) {
      const page = await open(sample, path);
      const field = tag === "SEARCH" ? page.locator("main input[type=search]").first() : page.getByRole("textbox", {name}).first();
      await field.focus();
      await page.keyboard.type("payment");
      await type(page, "Escape");
      assert.equal(await field.inputValue(), tag === "SEARCH" ? "" : "payment", path);
      await type(page, "g", "h");  // No field takes them.
      await page.getByRole("heading", {level: 1, name: "Health"}).waitFor();
      await settled(page);
      await finish(page);
    }
  });

  for (const path of ["/", "/sessions", "/session/checkout-retries", "/entry/checkout-retries/checkout-retries-10", "/knowledge",
    "/graph", "/health"]) {
    it(`shows where it is on ${path}`, async () => {
      const page = await open(sample, path);
      const skip = page.getByRole("link", {name: /skip/i});
      await skip.focus();
      assert.ok((await focused(page)).isSeen, "the link that skips the navigation can't be seen");
      for (let presses = 0; presses < 25; presses += 1) {
        await type(page, "Tab");
        const {tag, name, isSeen} = await focused(page);
        if (tag !== "BODY") {
          assert.ok(isSeen, `${tag} "${name}" has the focus, out of sight`);
          assert.ok(await isMarked(page), `${tag} "${name}" has the focus, and nothing shows it`);
        }
      }
      await finish(page);
    });
  }
});
