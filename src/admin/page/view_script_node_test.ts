import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newServer } from "../test_server.ts";
import { openPage } from "./test_browser.ts";

const test = suite("admin/page/view");
const OFFLINE = "The server could not be reached.";

/** The page on a server, which answers no request for which `fails` is true. */
async function newPage(fails: (url: URL) => boolean) {
  const { trivet, key, send } = await newServer();
  for (let i = 0; i < 25; i++) {
    await send("POST", "/admin/clients", {
      body: { id: `c${i}`, redirect_uris: ["https://app.example/callback"] },
    });
  }
  return await openPage(async ({ url, method, headers }) => {
    if (fails(new URL(url))) throw new TypeError("fetch failed");
    const authorization = headers.has("authorization") ? { authorization: `Bearer ${key}` } : {};
    return await trivet.fetch(new Request(url, { method, headers: authorization }));
  });
}

test("a next page that cannot be loaded is a problem, not the end of the list, and can be tried again", async () => {
  let isOffline = true;
  const page = await newPage(({ searchParams }) => isOffline && searchParams.has("page"));
  await page.show("#/clients");
  const rows = () => page.main.all().filter(({ tagName }) => tagName === "TR").length - 1;
  assert.is(rows(), 20);
  await page.find("button", "More")!.click();
  assert.ok(page.find("span", OFFLINE));
  isOffline = false;
  await page.find("button", "More")!.click();
  assert.equal([rows(), page.find("button", "More"), page.find("span", OFFLINE)], [25, undefined, undefined]);
});

test("a page whose description cannot be loaded says so", async () => {
  const page = await newPage(({ pathname }) => pathname.endsWith("/openapi.json"));
  assert.ok(page.find("p", OFFLINE));
});

test("an address that is not percent-encoded text shows that there is nothing", async () => {
  const page = await newPage(() => false);
  await page.show("#/clients/%");
  assert.is(page.main.all().some(({ attributes }) => attributes.get("role") === "alert"), true);
});

test.run();
