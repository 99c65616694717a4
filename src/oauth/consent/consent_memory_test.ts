import { suite } from "uvu";
import * as assert from "uvu/assert";
import { addClient, removeClient, toClient } from "../clients/client.ts";
import { register, WEB } from "../endpoints/test_registration.ts";
import {
  APP_URI,
  CHALLENGE,
  CLIENTS,
  ISSUER,
  newServer,
  type TestServer,
  transactionOf,
} from "../test_server.ts";

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

test("consent to scopes is remembered for this user and this client", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie, { scope: "read write" }));
  for (const scope of ["read write", "read", "write"]) {
    assert.ok(codeOf(await ask(server, cookie, { scope })), scope);
  }
  const web = { client_id: "web", redirect_uri: "https://web.example/cb" };
  assert.is((await ask(server, cookie, web)).status, 200, "another client needs consent");
});

test("the page lists new scopes separately from those allowed before", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie, { scope: "read" }));
  const page = await (await ask(server, cookie, { scope: "read write" })).text();
  const [fresh, before] = page.split('<ul class="access soft">');
  assert.match(fresh!, "Change your data");
  assert.not.match(fresh!, "Read your data");
  assert.match(before!, "Read your data");
});

test("consent to a scope includes its implied scopes", async () => {
  const server = await newServer({
    scopes: { read: "Read", write: { description: "Write", implies: ["read"] } },
  });
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie, { scope: "write" }));
  assert.ok(codeOf(await ask(server, cookie, { scope: "read" })));
});

test("consent to a scope at one resource does not apply to another resource", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const [tools, all] = [{ resource: `${ISSUER}/mcp` }, { resource: ISSUER }];
  await decide(server, cookie, await ask(server, cookie, { scope: "write", ...all }));
  await decide(server, cookie, await ask(server, cookie, { scope: "read", ...tools }));
  assert.is((await ask(server, cookie, { scope: "write", ...tools })).status, 200);
  assert.is((await ask(server, cookie, { scope: "read", ...all })).status, 200);
  const both = server.authorizePath({ scope: "read" }) + `&resource=${ISSUER}&resource=${ISSUER}/mcp`;
  assert.is((await server.send(both, { headers: { cookie } })).status, 200);
  assert.ok(codeOf(await ask(server, cookie, { scope: "write", ...all })));
  assert.ok(codeOf(await ask(server, cookie, { scope: "read", ...tools })));
});

test("concurrent consents are all remembered", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const pages = [];
  for (const scope of ["read", "write", "profile"]) pages.push(await ask(server, cookie, { scope }));
  const codes = await Promise.all(pages.map(async (page) => codeOf(await decide(server, cookie, page))));
  assert.is(new Set(codes).size, 3);
  assert.ok(codeOf(await ask(server, cookie, { scope: "read write profile" })));
});

test("exactly one of concurrent approvals of a page gets a code", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const transaction = transactionOf(await (await ask(server, cookie)).text());
  const form = { transaction, decision: "approve" };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => server.send("/oauth/authorize", { form, headers: { cookie } })),
  );
  assert.is(answers.filter(codeOf).length, 1);
  assert.is(answers.filter(({ status }) => status === 400).length, 4);
});

test("RFC 9126 section 4: a request_uri gets one code, also when it is used concurrently", async () => {
  const server = await newServer();
  await server.authorize();
  const cookie = await server.signIn();
  for (const needsConsent of [false, true]) {
    const path = await push(server, needsConsent ? "read write" : "read");
    const open = () => server.send(path, { headers: { cookie } });
    const pages = await Promise.all(Array.from({ length: 5 }, open));
    const answers = needsConsent
      ? await Promise.all(pages.map((page) => decide(server, cookie, page)))
      : pages;
    assert.is(answers.filter(codeOf).length, 1);
  }
});

test("consent that was given with authorization_details is not remembered, with or without them", async () => {
  const server = await newServer({
    authorizationDetailTypes: { payment: { check: () => undefined, describe: () => "Pay" } },
  });
  const cookie = await server.signIn();
  const details = { authorization_details: JSON.stringify([{ type: "payment", amount: 5 }]) };
  await decide(server, cookie, await ask(server, cookie, details));
  assert.is((await ask(server, cookie, details)).status, 200);
  const page = await ask(server, cookie);
  assert.is(page.status, 200);
  await decide(server, cookie, page);
  assert.ok(codeOf(await ask(server, cookie)));
  assert.is((await ask(server, cookie, details)).status, 200);
});

test("a record of an earlier version, without resources, is ignored", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie));
  const [record] = await server.store.list<{ fingerprint: string }>(["consent"]);
  const { key, value } = record!;
  assert.equal(key.slice(2), ["app", ISSUER]);
  const old = { scope: "read write", resource: [ISSUER], fingerprint: value.fingerprint, given: 0 };
  await server.store.commit({ remove: [key], set: [{ key: key.slice(0, 3), value: old }] });
  const page = await ask(server, cookie);
  assert.is(page.status, 200);
  await decide(server, cookie, page);
  assert.ok(codeOf(await ask(server, cookie)));
  assert.is((await ask(server, cookie, { scope: "write" })).status, 200);
});

test("HEAD creates no code", async () => {
  const server = await newServer();
  await server.authorize();
  const headers = { cookie: await server.signIn() };
  assert.is(codeOf(await server.send(server.authorizePath(), { method: "HEAD", headers })), null);
  assert.ok(codeOf(await server.send(server.authorizePath(), { headers })));
});

test("another resource needs consent", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie));
  const resource = `${ISSUER}/mcp`;
  const page = await ask(server, cookie, { resource });
  assert.is(page.status, 200);
  await decide(server, cookie, page);
  assert.ok(codeOf(await ask(server, cookie, { resource })));
});

test("a denial is not remembered and removes no consent", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await decide(server, cookie, await ask(server, cookie, { scope: "read" }));
  await decide(server, cookie, await ask(server, cookie, { scope: "write" }), "deny");
  assert.is((await ask(server, cookie, { scope: "write" })).status, 200);
  assert.ok(codeOf(await ask(server, cookie, { scope: "read" })));
});

test("RFC 8252 section 8.6: a public client on loopback needs consent each time", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const native = {
    client_id: "native",
    redirect_uri: "http://127.0.0.1:5555/callback",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  for (let i = 0; i < 2; i++) {
    const page = await ask(server, cookie, native);
    assert.equal([page.status, codeOf(page)], [200, null]);
    assert.ok(codeOf(await decide(server, cookie, page)));
  }
});

const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
const SPA = { client_id: "spa", redirect_uri: "https://spa.example/cb", ...PKCE };

test("RFC 6749 section 10.2: a public client needs consent each time, unless the operator trusts it", async () => {
  for (
    const [trusted, trustedClients] of [[false, []], [true, []], [false, ["spa"]], [false, [
      "other",
    ]]] as const
  ) {
    const client = { id: "spa", redirect_uris: ["https://spa.example/cb", "com.example.spa:/cb"], trusted };
    const server = await newServer({
      clients: [toClient(client, 0)],
      trustedClients: new Set(trustedClients),
    });
    const cookie = await server.signIn();
    await decide(server, cookie, await ask(server, cookie, SPA));
    const again = await ask(server, cookie, SPA);
    const isTrusted = trusted || trustedClients.some((id) => id === "spa");
    assert.is(codeOf(again) !== null, isTrusted, JSON.stringify([trusted, trustedClients]));
    // Trust in the client does not include the program that handles a private-use scheme.
    const native = await ask(server, cookie, { ...SPA, redirect_uri: "com.example.spa:/cb" });
    assert.is(native.status, 200);
  }
});

test("a client with a metadata document needs consent each time, unless the operator trusts it", async () => {
  const id = "https://client.example/metadata";
  const uri = "https://client.example/cb";
  const connect = () => Promise.resolve(Response.json({ client_id: id, redirect_uris: [uri] }));
  for (const trusted of [[], [id]]) {
    const server = await newServer({ connect, trustedClients: new Set(trusted) });
    const cookie = await server.signIn();
    const request = { ...PKCE, client_id: id, redirect_uri: uri };
    await decide(server, cookie, await ask(server, cookie, request));
    assert.is(codeOf(await ask(server, cookie, request)) !== null, trusted.length > 0);
  }
});

test("dynamic registration cannot make a client trusted", async () => {
  const server = await newServer();
  const { body } = await register(server, { ...WEB, token_endpoint_auth_method: "none", trusted: true });
  const cookie = await server.signIn();
  const request = { ...PKCE, client_id: body.client_id, redirect_uri: WEB.redirect_uris[0]! };
  await decide(server, cookie, await ask(server, cookie, request));
  assert.is((await ask(server, cookie, request)).status, 200);
});

test("a navigation that did not begin on this server gets the page, also for remembered consent", async () => {
  const server = await newServer();
  await server.authorize();
  // From a browser on https only the __Host- cookie counts.
  const cookie = (await server.send("/login", { form: { username: "alice", password: "wonderland" } }))
    .headers.getSetCookie().map((field) => field.split(";")[0]).join("; ");
  const browser = async (site: string, path?: string) => {
    const response = await server.send(path ?? server.authorizePath(), {
      headers: { cookie, "sec-fetch-site": site },
    });
    return codeOf(response) !== null;
  };
  assert.equal(
    await Promise.all(["cross-site", "same-site", "same-origin", "none"].map((site) => browser(site))),
    [false, false, true, false],
  );
  // The client pushed it, perhaps for the person who sends the user here.
  assert.not.ok(await browser("cross-site", await push(server)));
  assert.ok(await browser("same-origin", await push(server)));
});

test("a trusted client skips the page, also after a navigation from another site", async () => {
  const server = await newServer({ trustedClients: new Set(["app"]) });
  await server.authorize();
  const cookie = (await server.send("/login", { form: { username: "alice", password: "wonderland" } }))
    .headers.getSetCookie().map((field) => field.split(";")[0]).join("; ");
  const headers = { cookie, "sec-fetch-site": "cross-site" };
  assert.ok(codeOf(await server.send(server.authorizePath(), { headers })));
});

/** The path of a pushed request of the client "app". */
async function push(server: TestServer, scope = "read"): Promise<string> {
  const form = {
    client_id: "app",
    client_secret: "app secret:&%+",
    response_type: "code",
    redirect_uri: APP_URI,
    scope,
  };
  const { request_uri } = await (await server.send("/oauth/par", { form })).json();
  return `/oauth/authorize?client_id=app&request_uri=${encodeURIComponent(request_uri)}`;
}

test("a client with changed metadata needs consent again", async () => {
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

test("a client that was removed leaves no consent to another one with its id", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const shop = { id: "shop", secret: "shop-secret", redirect_uris: ["https://shop.example/cb"] };
  const asked = {
    client_id: "shop",
    redirect_uri: shop.redirect_uris[0]!,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  await addClient(server.store, shop);
  assert.ok(codeOf(await decide(server, cookie, await ask(server, cookie, asked))));
  assert.ok(codeOf(await ask(server, cookie, asked)), "remembered");
  await removeClient(server.store, "shop");
  server.advance(1);
  await addClient(server.store, shop);
  assert.is((await ask(server, cookie, asked)).status, 200);
});

test("a consent expires after its lifetime", async () => {
  const server = await newServer({ consentLifetime: 1000 });
  await server.authorize();
  assert.ok(codeOf(await ask(server, await server.signIn())));
  server.advance(1001);
  assert.is((await ask(server, await server.signIn())).status, 200);
});

test.run();
