// pages.test.mjs - every page, in both themes and on a small screen; and with markup in every field.
import assert from "node:assert/strict";
import {writeFileSync} from "node:fs";
import {after, before, describe, it} from "node:test";
import {barriers, finish, newLink, open, overhang, picture, settled, smallPicture, start, stop, until, world} from "./browser.mjs";

const {sample, markup, empty} = world;
const kPages = {
  search: "/",
  "search-results": "/search?q=payment",
  sessions: "/sessions",
  timeline: "/session/checkout-retries",
  entry: "/entry/checkout-retries/checkout-retries-10",
  knowledge: "/knowledge",
  graph: "/graph",
  health: "/health",
};

before(start);
after(stop);

describe("every page", () => {
  for (const theme of ["light", "dark"]) {
    for (const [name, path] of Object.entries(kPages)) {
      it(`${name}, ${theme}: no errors, no barriers`, async () => {
        const page = await open(sample, path, {theme});
        assert.notEqual(await page.title(), "");
        assert.equal(await page.locator("main h1").count(), 1, "one h1");
        await picture(page, `${name}-${theme}`);
        assert.deepEqual(await barriers(page), []);
        await finish(page);
      });
    }
    it(`the dialog with the keys, ${theme}`, async () => {
      const page = await open(sample, "/", {theme});
      await page.locator("main h1").first().focus();
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await picture(page, `keys-${theme}`);
      assert.deepEqual(await barriers(page), []);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({state: "detached"});
      await finish(page);
    });
    it(`a browser that isn't known is told what to do, ${theme}`, async () => {
      const page = await open(sample, "/", {theme, isStranger: true});
      page.watch.expected.add(401);
      await page.getByText("bmad-mem serve").first().waitFor();
      await picture(page, `new-link-${theme}`);
      assert.deepEqual(await barriers(page), []);
      page.watch.problems = page.watch.problems.filter((line) => !line.endsWith(": 401"));
      await finish(page);
    });
  }

  for (const [name, path] of Object.entries(kPages)) {
    it(`${name} fits a window of 360 pixels`, async () => {
      const page = await open(sample, path, {width: 360, height: 740});
      await picture(page, `${name}-360`);
      assert.ok(await overhang(page) <= 0, `${await overhang(page)} pixels too wide`);
      await finish(page);
    });
  }
});

describe("themes", () => {
  it("are switched by a button and remembered", async () => {
    const page = await open(sample, "/", {theme: "light"});
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    const button = page.getByRole("button", {name: /theme/i});
    for (let press = 0; press < 3 && await background() === light; press += 1) {
      await button.click();
    }
    const dark = await background();
    assert.notEqual(dark, light);
    await page.reload();
    await settled(page);
    assert.equal(await background(), dark);
    await finish(page);
  });
});

describe("the one-time link", () => {
  it("lets a browser in once, and leaves no code in the address", async () => {
    const link = await newLink(sample);
    const page = await open(sample, link, {isStranger: true});
    await settled(page);
    assert.equal(new URL(page.url()).hash, "");
    await page.reload();
    await settled(page);
    assert.equal(await page.getByText("bmad-mem serve").count(), 0, "the secret doesn't last");
    assert.deepEqual(await page.context().cookies(), [], "a cookie, which other ports would get");
    const second = await page.context().newPage();
    await second.goto(sample.url);
    await settled(second);
    assert.equal(await second.getByText("bmad-mem serve").count(), 0, "a tab doesn't give its secret to the next");
    await second.close();
    await finish(page);

    const other = await open(sample, link, {isStranger: true});
    await other.getByText("bmad-mem serve").first().waitFor();
    assert.equal(new URL(other.url()).hash, "", "a used code stays in the address");
    await other.context().close();
  });
});

describe("a memory without entries", () => {
  for (const path of ["/", "/sessions", "/graph"]) {
    it(`offers commands to copy, and says what is connected, on ${path}`, async () => {
      const page = await open(empty, path, {width: 360, height: 740});
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByText("no client is connected").waitFor();
      const commands = await page.locator(".command code").allInnerTexts();
      assert.deepEqual(commands.map((text) => text.split(" ")[1]), ["setup", "remember", "import", "serve"]);
      await page.getByRole("button", {name: /^Copy bmad-mem remember/}).click();
      await until(async () => await page.evaluate(() => navigator.clipboard.readText()) === commands[1]);
      await page.getByText("Copied").waitFor({state: "attached"});
      assert.ok(await overhang(page) <= 0);
      await picture(page, `empty-360${path.replace("/", "-")}`);
      assert.deepEqual(await barriers(page), []);
      await finish(page);
    });
  }
});

describe("stored markup", () => {
  const ids = ["conversation", "decision", "finding", "preference", "fact", "event", "agent_state", "artifact"]
    .flatMap((type) => [0, 1, 2, 3].map((number) => `${type}-${number}`));
  const visit = async (page, path) => {
    await page.goto(markup.url + path);
    await settled(page);
    const alive = await page.evaluate(() => [
      ...document.querySelectorAll("main script, main img[onerror], main svg[onload], main b, a[href^='javascript:' i]"),
    ].map((node) => node.outerHTML));
    assert.deepEqual(alive, [], path);
  };

  it("is shown and never run", async () => {
    const page = await open(markup, "/");
    for (const path of ["/", "/search?q=script", "/search?q=%3Cscript%3E", "/session/markup", "/knowledge", "/graph", "/health",
      "/sessions"]) {
      await visit(page, path);
    }
    for (const id of ids) {
      await visit(page, `/entry/markup/${id}`);
    }
    await visit(page, "/entry/markup/fact-0");
    await page.getByText("<script>window.hasRun=1</script>").first().waitFor();
    await picture(page, "markup");
    await finish(page);
  });
});

describe("pictures for the README", {skip: world.readme === "" && "BMAD_SCREENSHOTS names no folder"}, () => {
  const kPictures = [
    {name: "search-light", path: "/search?q=payment%20key", theme: "light"},
    {name: "timeline-dark", path: "/session/checkout-retries", theme: "dark"},
    {name: "graph-light", path: "/graph", theme: "light"},
  ];
  for (const {name, path, theme} of kPictures) {
    it(name, async () => {
      const page = await open(sample, path, {theme, width: 1200, height: 750});
      await page.locator("main h1").first().evaluate((heading) => heading.blur());
      const data = await smallPicture(page);
      assert.ok(data.length <= 150 * 1024, `${data.length} bytes`);
      writeFileSync(`${world.readme}/${name}.webp`, data);
      await finish(page);
    });
  }
});
