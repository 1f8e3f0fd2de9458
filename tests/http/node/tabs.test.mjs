// tabs.test.mjs - one tab that goes from address to address, and a server that takes its time.
//
// A browser keeps pages that were left, to show them at once when somebody goes back. Here it does
// so too; a page that is kept must not keep one of the six connections that a host gets.
import assert from "node:assert/strict";
import {after, before, describe, it} from "node:test";
import {finish, open, runTool, seen, settled, start, stop, world} from "./browser.mjs";

const {sample} = world;
const kAddresses = ["/sessions", "/knowledge", "/health", "/"];

before(() => start({keepsPages: true}));
after(stop);

/** Counts in the page how often it was shown again as it was left. */
function countReturns(page) {
  return page.context().addInitScript(() => {
    window.returns = 0;
    addEventListener("pageshow", ({persisted}) => (window.returns += Number(persisted)));
  });
}

const isLive = (page) => page.locator("#live[data-state=live]").waitFor();

describe("One tab", () => {
  it("shows nine addresses that are typed one after the other", async () => {
    const page = await open(sample);
    for (let i = 0; i < 9; i += 1) {
      await page.goto(sample.url + kAddresses[i % kAddresses.length]);
      await settled(page);
      await isLive(page);  // From then on the page has its stream, which it has to give back.
    }
    await finish(page);
  });

  it("shows what was written while its page was kept, and is live again", async () => {
    const page = await open(sample);
    await countReturns(page);
    await page.goto(`${sample.url}/session/release-2-4`);
    await settled(page);
    await isLive(page);
    await page.goto(`${sample.url}/health`);
    await settled(page);
    await runTool(sample, "add", "fact", "--session", "release-2-4", "Written while the page was kept");
    await page.goBack({waitUntil: "commit"});  // A kept page doesn't load again.
    assert.equal(await page.evaluate(() => window.returns), 1, "the browser has not kept the page");
    await seen(page, "Written while the page was kept");
    await isLive(page);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await runTool(sample, "add", "fact", "--session", "release-2-4", "Written after the return");
    await seen(page, "Written after the return");
    await finish(page);
  });
});

describe("A request that waits", () => {
  it("says so after 5 s, until it is answered", async () => {
    const page = await open(sample);
    let release = () => {};
    const isReleased = new Promise((resolve) => (release = resolve));
    await page.route(/\/memory\/search/, async (route) => {
      await isReleased;
      await route.continue();
    });
    const said = page.getByText("The server has not answered for 5 s");
    await page.clock.install();
    await page.getByRole("searchbox").fill("payment");
    await page.clock.runFor(4000);
    assert.equal(await said.isVisible(), false);
    await page.clock.runFor(2000);
    await said.waitFor();
    release();
    await said.waitFor({state: "hidden"});
    await finish(page);
  });
});
