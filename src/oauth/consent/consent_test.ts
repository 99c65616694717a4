import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loseNextResponse } from "../../store/test_meanwhile.ts";
import { toClient } from "../clients/client.ts";
import { APP_URI, ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/consent");

async function openPage(server: TestServer): Promise<{ cookie: string; transaction: string; page: string }> {
  const cookie = await server.signIn();
  const response = await server.send(server.authorizePath(), { headers: { cookie } });
  assert.is(response.status, 200);
  const page = await response.text();
  return { cookie, transaction: transactionOf(page), page };
}

test("the page shows the client, the user, the scopes and the host of the redirect URI", async () => {
  const { page } = await openPage(await newServer());
  for (
    const text of [
      "<h1>The App ",
      "Alice Liddell",
      "Read your data",
      "<strong>app.example</strong>",
    ]
  ) {
    assert.match(page, text);
  }
  assert.not.match(page, "Change your data");
});

test("the page forbids framing, caching, scripts and CORS", async () => {
  const server = await newServer();
  const response = await server.send(server.authorizePath(), { headers: { cookie: await server.signIn() } });
  assert.match(response.headers.get("content-security-policy")!, "frame-ancestors 'none'");
  assert.match(response.headers.get("content-security-policy")!, "default-src 'none'");
  assert.is(response.headers.get("cache-control"), "no-store");
  assert.is(response.headers.get("access-control-allow-origin"), null);
});

test("markup, invisible characters and excess length in a client name are removed or escaped", async () => {
  for (
    const [name, shown] of [
      [`<img src=x onerror=alert(1)>`, "&lt;img src=x onerror=alert(1)&gt;"],
      ["Bank\u202egpj.exe\u200b", "Bank gpj.exe"],
      ["A\n\n\nB", "A B"],
      ["x".repeat(500), "x".repeat(79) + "…"],
    ]
  ) {
    const client = toClient({ id: "app", secret: "s", domain: "app.example", name: name! }, 0);
    const { page } = await openPage(await newServer({ clients: [client] }));
    assert.ok(page.includes(`<h1>${shown} `), `${JSON.stringify(name)} is not shown as ${shown}`);
  }
});

test("approval redirects to the redirect URI with a code, the unchanged state, and iss", async () => {
  const server = await newServer();
  const state = "a b+c/%&=ü";
  const cookie = await server.signIn();
  const page = await server.send(server.authorizePath({ state }), { headers: { cookie } });
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const response = await server.send("/oauth/authorize", { form, headers: { cookie } });
  assert.is(response.status, 302);
  assert.is(response.headers.get("cache-control"), "no-store");
  assert.is(response.headers.get("referrer-policy"), "no-referrer");
  const location = response.headers.get("location")!;
  assert.ok(location.startsWith(APP_URI + "?code="));
  assert.match(location, "&state=" + encodeURIComponent(state) + "&");
  const query = new URL(location).searchParams;
  assert.equal([...query.keys()], ["code", "state", "iss"]);
  assert.match(query.get("code")!, /^trivet_ac_[A-Za-z0-9_-]{43}$/);
  assert.is(query.get("iss"), ISSUER);
});

test("the query of the redirect URI is retained", async () => {
  const server = await newServer();
  const query = await server.authorize({ redirect_uri: APP_URI + "?a=1&b=%20" });
  assert.equal([...query.keys()], ["a", "b", "code", "state", "iss"]);
});

test("denial redirects with access_denied and state, without a code", async () => {
  const server = await newServer();
  const { cookie, transaction } = await openPage(server);
  const form = { transaction, decision: "deny" };
  const response = await server.send("/oauth/authorize", { form, headers: { cookie } });
  const query = new URL(response.headers.get("location")!).searchParams;
  assert.is(query.get("error"), "access_denied");
  assert.is(query.get("state"), "xyz");
  assert.is(query.has("code"), false);
});

test("exactly one of 8 concurrent approvals of a page gets a code", async () => {
  const server = await newServer();
  const { cookie, transaction } = await openPage(server);
  const form = { transaction, decision: "approve" };
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => server.send("/oauth/authorize", { form, headers: { cookie } })),
  );
  assert.is(responses.filter((response) => response.status === 302).length, 1);
  assert.is(responses.filter((response) => response.status === 400).length, 7);
});

test("an invalid decision is refused without a redirect", async () => {
  const server = await newServer();
  const { cookie, transaction } = await openPage(server);
  const other = await server.signIn();
  const attempts: [string, Record<string, string | undefined>, Record<string, string>][] = [
    ["without a session", { transaction, decision: "approve" }, {}],
    ["from another session", { transaction, decision: "approve" }, { cookie: other }],
    ["without its token", { decision: "approve" }, { cookie }],
    ["with a made-up token", { transaction: "x".repeat(43), decision: "approve" }, { cookie }],
    ["without a decision", { transaction }, { cookie }],
    ["with another decision", { transaction, decision: "maybe" }, { cookie }],
    ["from another site", { transaction, decision: "approve" }, { cookie, "sec-fetch-site": "cross-site" }],
    ["from another origin", { transaction, decision: "approve" }, { cookie, origin: "https://evil.example" }],
  ];
  for (const [what, form, headers] of attempts) {
    const response = await server.send("/oauth/authorize", { form, headers });
    assert.is(response.status, 400, what);
    assert.is(response.headers.get("location"), null, what);
  }
  const response = await server.send("/oauth/authorize", {
    form: { transaction, decision: "approve" },
    headers: { cookie },
  });
  assert.is(response.status, 302, "a valid decision is accepted afterwards");
});

test("a client that is removed while the page is open gets no code", async () => {
  const { addClient, removeClient } = await import("../clients/client.ts");
  const server = await newServer();
  await addClient(server.store, { id: "stored", secret: "s", redirect_uris: ["https://stored.example/cb"] });
  const cookie = await server.signIn();
  const request = { client_id: "stored", redirect_uri: "https://stored.example/cb" };
  const page = await server.send(server.authorizePath(request), { headers: { cookie } });
  const transaction = transactionOf(await page.text());
  await removeClient(server.store, "stored");
  const response = await server.send("/oauth/authorize", {
    form: { transaction, decision: "approve" },
    headers: { cookie },
  });
  assert.equal([response.status, response.headers.get("location")], [400, null]);
});

test("the page of an operator's client has no warning and shows how long access lasts", async () => {
  const refreshing = { refreshTokenLifetime: 7 * 86_400 };
  assert.not.match((await openPage(await newServer(refreshing))).page, 'class="note"');
  for (
    const [refreshTokenLifetime, words] of [
      [7 * 86_400, "7 days"],
      [2 * 86_400, "2 days"],
      [86_400, "24 hours"],
      [7200, "2 hours"],
      [5400, "90 minutes"],
      [60, "1 minute"],
      [5, "1 minute"],
    ] as const
  ) {
    assert.match(
      (await openPage(await newServer({ refreshTokenLifetime }))).page,
      new RegExp(`\\b${words}\\b`),
    );
  }
  const clients = [toClient({
    id: "app",
    secret: "s",
    domain: "app.example",
    grant_types: ["authorization_code"],
  }, 0)];
  const once = await openPage(await newServer({ clients, accessTokenLifetime: 7200 }));
  assert.match(once.page, /\b2 hours\b/);
});

test("a transaction expires after ten minutes", async () => {
  const server = await newServer();
  const { cookie, transaction } = await openPage(server);
  server.advance(601);
  const form = { transaction, decision: "approve" };
  assert.is((await server.send("/oauth/authorize", { form, headers: { cookie } })).status, 400);
});

test("a body of another media type gets 415, a large body 413", async () => {
  const server = await newServer();
  const headers = { "content-type": "application/json" };
  assert.is((await server.send("/oauth/authorize", { form: "{}", headers })).status, 415);
  assert.is((await server.send("/oauth/authorize", { form: "x=" + "y".repeat(20_000) })).status, 413);
});

test("an answer is carried out, and in the events, when only the response of its commit is lost", async () => {
  const server = await newServer();
  const headers = { cookie: await server.signIn() };
  const page = await server.send(server.authorizePath(), { headers });
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const lost = loseNextResponse(server.store, "code");
  const answer = await server.send("/oauth/authorize", { form, headers });
  assert.equal([lost.isDone, answer.status], [true, 302]);
  assert.ok(new URL(answer.headers.get("location")!).searchParams.get("code"));
  assert.is(server.events.filter(({ type }) => type === "consent_given").length, 1);
});

test.run();
