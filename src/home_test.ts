import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore } from "./mod.ts";
import { authorizationServer } from "./oauth_service.ts";

const test = suite("home");
const issuer = "https://agents.example/t";
const BROWSER = { accept: "text/html,application/xhtml+xml", "accept-language": "de" };

function get(server: { fetch(request: Request): Promise<Response> }, path: string, headers = {}) {
  return server.fetch(new Request(new URL(path, issuer), { headers }));
}

test("GET / lists the services that run, in the language of the browser", async () => {
  const server = createTrivet({ issuer, store: memoryStore(), skills: false });
  const response = await get(server, "/t/", BROWSER);
  assert.equal([response.status, response.headers.get("content-language")], [200, "de"]);
  const text = await response.text();
  assert.match(text, 'href="https://agents.example/t/.well-known/jwks.json"');
  assert.match(text, "https://agents.example/t/mcp");
  assert.not.match(text, "/v1/skills");
  assert.match(await (await get(server, "/t")).text(), '<html lang="en">');
});

test("without the authorization server the start page has the default design", async () => {
  const server = createTrivet({ issuer, store: memoryStore(), oauth: false });
  const text = await (await get(server, "/t/")).text();
  assert.match(text, "/v1/skills");
  assert.not.match(text, "/oauth/token");
});

test("name and hook of the option pages apply to the start page and to 404", async () => {
  const pages = {
    name: "Acme",
    render: (view: { name: string }) => view.name === "error" ? "<p>own 404" : undefined,
  };
  const server = createTrivet({ issuer, store: memoryStore(), oauth: { pages } });
  assert.match(await (await get(server, "/t/", BROWSER)).text(), "<span>Acme</span>");
  const missing = await get(server, "/t/missing", BROWSER);
  assert.equal([missing.status, await missing.text()], [404, "<p>own 404"]);
});

test("404 is a page for a browser that navigates, and plain text for a program", async () => {
  for (
    const server of [
      createTrivet({ issuer, store: memoryStore() }),
      authorizationServer({ issuer, store: memoryStore() }),
    ]
  ) {
    for (const path of ["/t/missing", "/missing", "/t/oauth/missing"]) {
      const page = await get(server, path, BROWSER);
      assert.equal([page.status, page.headers.get("content-type")], [404, "text/html; charset=utf-8"], path);
      assert.match(page.headers.get("content-security-policy")!, "default-src 'none'");
      const program = await get(server, path);
      assert.equal([program.status, program.headers.get("content-type")], [404, "text/plain; charset=utf-8"]);
    }
    // Clients that look for metadata read the status; a browser extension may send Accept: text/html.
    const wellKnown = await get(server, "/.well-known/nothing", BROWSER);
    assert.is(wellKnown.headers.get("content-type"), "text/plain; charset=utf-8");
  }
});

test.run();
