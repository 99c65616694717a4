import { suite } from "uvu";
import * as assert from "uvu/assert";
import { folderOf } from "./skills/test_service.ts";
import { memoryStore } from "./store/drivers/memory.ts";
import { oidc } from "./oauth/sign_in/oidc.ts";
import { serverCard } from "./mcp/cards/server_card.ts";
import type { TrivetOptions } from "./options/trivet_options.ts";
import { createTrivet } from "./trivet.ts";

const test = suite("trivet on loopback");
const LOCAL = "http://127.0.0.1:8787";
const EVIL = "https://evil.example";
const SKILL = "---\nname: greet\ndescription: How to greet\n---\nSay hello.\n";

const folder = folderOf(new Map([["greet/SKILL.md", SKILL]]));

function newSender(options: Partial<TrivetOptions> = {}) {
  const trivet = createTrivet({
    issuer: LOCAL,
    store: memoryStore(),
    skills: { folders: [folder] },
    mcp: { card: serverCard({ name: "example/local", description: "A server on loopback" }) },
    ...options,
  });
  const base = options.issuer ?? LOCAL;
  return (path: string, headers: Record<string, string> = {}, method = "GET") =>
    trivet.fetch(new Request(base + path, { method, headers }));
}
const allowed = (response: Response) => response.headers.get("access-control-allow-origin");

/** One path of each kind of each service. */
const DATA = [
  "/.well-known/agent-skills/index.json",
  "/.well-known/skills/index.json",
  "/.well-known/skills/greet/SKILL.md",
  "/v1/skills",
  "/v1/messages",
  "/api/user",
  "/oauth/token",
  "/oauth/register",
  "/oauth/introspect",
  "/oauth/revoke",
  "/oauth/par",
  "/oauth/device_authorization",
  "/mcp",
  "/nowhere",
];
const METADATA = [
  "/mcp/server-card",
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-protected-resource/mcp",
  "/.well-known/jwks.json",
];
const PAGES = ["/", "/login", "/logout", "/device", "/oauth/authorize?client_id=x"];

for (const path of DATA) {
  test(`${path} refuses an origin of another site`, async () => {
    const send = newSender();
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const headers = { origin: EVIL, "access-control-request-method": "POST" };
      const response = await send(path, headers, method);
      assert.equal([response.status, allowed(response)], [403, null], method);
      assert.match(await response.text(), EVIL);
    }
  });

  test(`${path} accepts a loopback origin without allowing all origins`, async () => {
    const response = await newSender()(path, { origin: "http://localhost:3000" });
    assert.is.not(response.status, 403);
    assert.is.not(allowed(response), "*");
  });
}

for (const path of [...DATA, ...METADATA, ...PAGES, "/mcp/nowhere"]) {
  test(`${path} refuses a Host of another site`, async () => {
    const response = await newSender()(path, { host: "evil.example:8787" });
    assert.is(response.status, 403);
    assert.match(await response.text(), "evil.example:8787");
  });
}

test("only metadata allows all origins", async () => {
  const send = newSender();
  for (const path of DATA) assert.is.not(allowed(await send(path)), "*", path);
  for (const path of METADATA) {
    const response = await send(path, { origin: EVIL });
    assert.equal([response.status, allowed(response)], [200, "*"], path);
  }
});

test("a local skill is readable without Origin and by loopback origins, and cannot be embedded by other sites", async () => {
  const send = newSender();
  const path = "/.well-known/skills/index.json";
  assert.equal((await (await send(path)).json()).skills.map(({ name }: { name: string }) => name), ["greet"]);
  const local = await send(path, { origin: "http://localhost:3000", "sec-fetch-site": "cross-site" });
  assert.equal([local.status, allowed(local)], [200, "http://localhost:3000"]);
  assert.match(local.headers.get("vary") ?? "", /origin/i);
  assert.is((await send(path, { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })).status, 403);
  assert.is((await send(path, { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" })).status, 200);
});

test("pages accept a same-origin navigation with Origin: null", async () => {
  const send = newSender();
  for (const path of PAGES) {
    const headers = { origin: "null", "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" };
    assert.is.not((await send(path, headers)).status, 403, path);
  }
});

test("an identity provider may post its answer to the callback, and to no other path of the login page", async () => {
  const oauth = { signIn: [oidc({ issuer: "https://idp.example", clientId: "app" })] };
  const trivet = createTrivet({ issuer: LOCAL, store: memoryStore(), oauth });
  const post = async (path: string) => {
    const headers = { origin: EVIL, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    const body = new URLSearchParams({ code: "a", state: "b" });
    return (await trivet.fetch(new Request(LOCAL + path, { method: "POST", headers, body }))).status;
  };
  assert.is(await post("/login/oidc/callback"), 303);
  assert.is(await post("/login/oidc"), 403);
  assert.is(await post("/oauth/token/callback"), 403);
});

test("allowedOrigins and allowedHosts apply to every service", async () => {
  const send = newSender({ mcp: { allowedOrigins: [EVIL], allowedHosts: ["box.example:8787"] } });
  for (const path of DATA) {
    const response = await send(path, { origin: EVIL, host: "box.example:8787" });
    assert.is.not(response.status, 403, path);
  }
});

test("a public issuer allows all origins to read its skills, with any Host", async () => {
  const send = newSender({ issuer: "https://agents.example" });
  const response = await send("/.well-known/skills/index.json", { origin: EVIL, host: "other.example" });
  assert.equal([response.status, allowed(response)], [200, "*"]);
});

test.run();
