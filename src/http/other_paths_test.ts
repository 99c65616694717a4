import { suite } from "uvu";
import * as assert from "uvu/assert";
import { answerOtherPath, type OtherPaths } from "./other_paths.ts";

const test = suite("http/other_paths");

const ORIGIN = "https://a.example";
const page = (text: string) => () => Promise.resolve(new Response(text));
const WITH_PAGES = { home: page("home"), notFound: page("no page") };
const BROWSER = { accept: "text/html" };

function answer(path: string, others: Partial<OtherPaths> = {}, init: RequestInit = {}): Promise<Response> {
  return answerOtherPath(new Request(ORIGIN + path, init), path, { base: "", ...others });
}

test("the page at the base path is for GET and HEAD", async () => {
  for (const [base, path] of [["", "/"], ["/tenant", "/tenant"], ["/tenant", "/tenant/"]] as const) {
    assert.is(await (await answer(path, { ...WITH_PAGES, base })).text(), "home");
    assert.is((await answer(path, { ...WITH_PAGES, base }, { method: "HEAD" })).status, 200);
    const refused = await answer(path, { ...WITH_PAGES, base }, { method: "POST" });
    assert.equal([refused.status, refused.headers.get("allow")], [405, "GET, HEAD"]);
  }
});

test("a browser gets the page of the server, other clients get text", async () => {
  assert.is(await (await answer("/x", WITH_PAGES, { headers: BROWSER })).text(), "no page");
  for (const init of [{}, { method: "POST", headers: BROWSER }]) {
    const response = await answer("/x", WITH_PAGES, init);
    assert.equal([response.status, response.headers.get("content-type")], [404, "text/plain; charset=utf-8"]);
  }
  assert.is((await answer("/", {}, { headers: BROWSER })).status, 404);
});

test("a missing well-known document is text that every origin may read, also for a browser", async () => {
  const path = "/.well-known/none";
  const headers = { ...BROWSER, origin: "https://b.example" };
  const response = await answer(path, WITH_PAGES, { headers });
  assert.is(response.status, 404);
  assert.is(response.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.is(response.headers.get("access-control-allow-origin"), "*");
  const preflight = await answer(path, WITH_PAGES, {
    method: "OPTIONS",
    headers: { origin: "https://b.example", "access-control-request-method": "GET" },
  });
  assert.equal([preflight.status, preflight.headers.get("access-control-allow-methods")], [204, "GET, HEAD"]);
});

test.run();
