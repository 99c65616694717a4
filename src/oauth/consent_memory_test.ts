import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "./client.ts";
import { CHALLENGE, CLIENTS, ISSUER, newServer, type TestServer, transactionOf } from "./test_server.ts";

const test = suite("oauth/consent_memory");

const ask = (server: TestServer, cookie: string, parameters: Record<string, string> = {}) =>
  server.send(server.authorizePath(parameters), { headers: { cookie } });
const decide = async (server: TestServer, cookie: string, page: Response, decision = "approve") =>
  await server.send("/oauth/authorize", {
    form: { transaction: transactionOf(await page.text()), decision },
    headers: { cookie },
  });
const codeOf = (response: Response) =>
  new URL(response.headers.get("location") ?? ISSUER).searchParams.get("code");

test("what was allowed is not asked again, for this user and this client", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie, { scope: "read write" }));
  for (const scope of ["read write", "read", "write"]) {
    assert.ok(codeOf(await ask(server, cookie, { scope })), scope);
  }
  const web = { client_id: "web", redirect_uri: "https://web.example/cb" };
  assert.is((await ask(server, cookie, web)).status, 200, "another client is asked for");
});

test("only what is new is asked: the page sets it apart from what was allowed before", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie, { scope: "read" }));
  const page = await (await ask(server, cookie, { scope: "read write" })).text();
  const [fresh, before] = page.split("You allowed before:");
  assert.match(fresh!, "Change your data");
  assert.not.match(fresh!, "Read your data");
  assert.match(before!, "Read your data");
});

test("what a scope implies was allowed with it", async () => {
  const server = await newServer({
    scopes: { read: "Read", write: { description: "Write", implies: ["read"] } },
  });
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie, { scope: "write" }));
  assert.ok(codeOf(await ask(server, cookie, { scope: "read" })));
});

test("another resource is asked for", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie));
  const resource = `${ISSUER}/mcp`;
  const page = await ask(server, cookie, { resource });
  assert.is(page.status, 200);
  await decide(server, cookie, page);
  assert.ok(codeOf(await ask(server, cookie, { resource })));
});

test("denying is not remembered, and nothing that was allowed is forgotten by it", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie, { scope: "read" }));
  await decide(server, cookie, await ask(server, cookie, { scope: "write" }), "deny");
  assert.is((await ask(server, cookie, { scope: "write" })).status, 200);
  assert.ok(codeOf(await ask(server, cookie, { scope: "read" })));
});

test("RFC 8252 section 8.6: on loopback a public client is asked for each time", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const native = {
    client_id: "native",
    redirect_uri: "http://127.0.0.1:5555/callback",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  for (let i = 0; i < 2; i++) await decide(server, cookie, await ask(server, cookie, native));
});

test("a client that says something else of itself is another client", async () => {
  const before = CLIENTS.map((client) => toClient(client, 0));
  const first = await newServer({ clients: before });
  await first.authorize();
  for (
    const changed of [
      { name: "Another App" },
      { redirect_uris: ["https://evil.example/cb"] },
      { domain: undefined, redirect_uris: ["https://app.example/cb"] },
    ]
  ) {
    const clients = CLIENTS.map((client) =>
      toClient(client.id === "app" ? { ...client, ...changed } : client, 0)
    );
    const server = await newServer({ clients, store: first.store });
    assert.is((await ask(server, await server.signIn())).status, 200, JSON.stringify(changed));
  }
});

test("it is forgotten after its lifetime", async () => {
  const server = await newServer({ consentLifetime: 1000 });
  await server.authorize();
  assert.ok(codeOf(await ask(server, await server.signIn())));
  server.advance(1001);
  assert.is((await ask(server, await server.signIn())).status, 200);
});

test.run();
