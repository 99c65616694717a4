import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import { createProof, newKey } from "../test_keys.ts";
import { APP_URI, CHALLENGE, ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/par");
const APP = { client_id: "app", client_secret: "app secret:&%+" };
const REQUEST = { response_type: "code", redirect_uri: APP_URI, scope: "read", state: "xyz" };

async function push(
  server: TestServer,
  form: Record<string, string | undefined> = {},
  headers: Record<string, string> = {},
) {
  const response = await server.send("/oauth/par", { form: { ...APP, ...REQUEST, ...form }, headers });
  return { response, body: await response.json() };
}

const authorize = (server: TestServer, cookie: string, request_uri: string, more = "") =>
  server.send(`/oauth/authorize?client_id=app&request_uri=${encodeURIComponent(request_uri)}${more}`, {
    headers: { cookie },
  });

test("RFC 9126 sections 2.2 and 4: a pushed request gets a request_uri, and parameters beside it are ignored", async () => {
  const server = await newServer();
  const { response, body } = await push(server);
  assert.is(response.status, 201);
  assert.is(response.headers.get("cache-control"), "no-store");
  assert.equal(Object.keys(body), ["request_uri", "expires_in"]);
  assert.match(body.request_uri, /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/);
  assert.is(body.expires_in, 600);
  const cookie = await server.signIn();
  const page = await (await authorize(
    server,
    cookie,
    body.request_uri,
    "&scope=write&redirect_uri=https://evil.example/",
  )).text();
  assert.match(page, "Read your data");
  assert.not.match(page, "Change your data");
  const form = { transaction: transactionOf(page), decision: "approve" };
  const answer = await server.send("/oauth/authorize", { form, headers: { cookie } });
  const callback = new URL(answer.headers.get("location")!);
  assert.is(callback.origin + callback.pathname, APP_URI);
  assert.is(callback.searchParams.get("state"), "xyz");
  const redeem = {
    grant_type: "authorization_code",
    code: callback.searchParams.get("code")!,
    redirect_uri: APP_URI,
  };
  assert.is((await server.token(redeem)).status, 200);
});

test("RFC 6749 section 3.1: a repeated request_uri gets no redirect", async () => {
  const server = await newServer();
  const { body: { request_uri } } = await push(server);
  const cookie = await server.signIn();
  for (const other of ["x", encodeURIComponent(request_uri)]) {
    const response = await authorize(server, cookie, request_uri, `&request_uri=${other}`);
    assert.equal([response.status, response.headers.get("location")], [400, null]);
  }
  assert.is((await authorize(server, cookie, request_uri)).status, 200);
});

test("a request_uri is valid until the user answers, and only for its client", async () => {
  const server = await newServer();
  const { body: { request_uri } } = await push(server);
  const cookie = await server.signIn();
  const page = await authorize(server, cookie, request_uri);
  assert.is((await authorize(server, cookie, request_uri)).status, 200, "a reload");
  const other = await server.send(
    `/oauth/authorize?client_id=web&request_uri=${encodeURIComponent(request_uri)}`,
    { headers: { cookie } },
  );
  assert.is(other.status, 400);
  const form = { transaction: transactionOf(await page.text()), decision: "deny" };
  assert.is((await server.send("/oauth/authorize", { form, headers: { cookie } })).status, 302);
  assert.is((await authorize(server, cookie, request_uri)).status, 400);
});

test("an expired or unknown request_uri gets no redirect", async () => {
  const server = await newServer();
  const { body: { request_uri } } = await push(server);
  server.advance(601);
  const cookie = await server.signIn();
  for (
    const uri of [request_uri, "urn:ietf:params:oauth:request_uri:x", "https://evil.example/request.jwt"]
  ) {
    const response = await authorize(server, cookie, uri);
    assert.equal([response.status, response.headers.get("location")], [400, null], uri);
  }
});

test("a page that was opened in time can be answered until it ends, and one page of a request only", async () => {
  const server = await newServer({ pushedRequestLifetime: 60 });
  const { body: { request_uri } } = await push(server);
  const cookie = await server.signIn();
  server.advance(50);
  const pages = [await authorize(server, cookie, request_uri), await authorize(server, cookie, request_uri)];
  server.advance(20);
  assert.is((await authorize(server, cookie, request_uri)).status, 400, "presented too late");
  server.advance(500);
  const answers: unknown[] = [];
  for (const page of pages) {
    const form = { transaction: transactionOf(await page.text()), decision: "approve" };
    const { status, headers } = await server.send("/oauth/authorize", { form, headers: { cookie } });
    answers.push(status, headers.get("location")?.includes("code="));
  }
  assert.equal(answers, [302, true, 400, undefined]);
});

test("a request that waits for a new login can be answered after it, while its page is open", async () => {
  const server = await newServer({ pushedRequestLifetime: 60 });
  const { body: { request_uri } } = await push(server, { prompt: "login" });
  server.advance(50);
  const asked = await authorize(server, await server.signIn(), request_uri);
  const login = new URL(asked.headers.get("location")!, ISSUER);
  server.advance(50);
  const cookie = await server.signIn();
  const page = await server.send(login.searchParams.get("redirect")!, { headers: { cookie } });
  server.advance(590);
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const { status, headers } = await server.send("/oauth/authorize", { form, headers: { cookie } });
  assert.is(status, 302);
  assert.match(headers.get("location")!, "code=");
});

test("section 2.3: the checks of the authorization endpoint apply to the pushed request", async () => {
  const server = await newServer();
  for (
    const [form, error] of [
      [{ redirect_uri: "https://evil.example/cb" }, "invalid_request"],
      [{ redirect_uri: undefined }, "invalid_request"],
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ response_type: undefined }, "invalid_request"],
      [{ scope: "admin" }, "invalid_scope"],
      [{ resource: "https://unknown.example" }, "invalid_target"],
      [{ code_challenge: CHALLENGE, code_challenge_method: "plain" }, "invalid_request"],
      [{ request_uri: "urn:ietf:params:oauth:request_uri:x" }, "invalid_request"],
      [{ request: "e30.e30." }, "request_not_supported"],
      [{ max_age: "-1" }, "invalid_request"],
      [{ prompt: "none login" }, "invalid_request"],
    ] as const
  ) {
    const { response, body } = await push(server, form);
    assert.equal([response.status, body.error], [400, error], JSON.stringify(form));
  }
  const wrong = await push(server, { client_secret: "wrong" });
  assert.equal([wrong.response.status, wrong.body.error], [401, "invalid_client"]);
});

for (
  const [name, options] of [
    ["the server", { requirePushedRequests: true }],
    ["the client", {
      clients: [
        toClient({
          id: "app",
          secret: APP.client_secret,
          domain: "app.example",
          require_pushed_authorization_requests: true,
        }, 0),
      ],
    }],
  ] as const
) {
  test(`section 5: when ${name} requires pushed requests, others are refused`, async () => {
    const server = await newServer(options);
    const cookie = await server.signIn();
    const refused = await server.send(server.authorizePath(), { headers: { cookie } });
    const answer = new URL(refused.headers.get("location")!).searchParams;
    assert.equal([answer.get("error"), answer.get("state"), answer.get("iss")], [
      "invalid_request",
      "xyz",
      ISSUER,
    ]);
    const { body } = await push(server);
    assert.is((await authorize(server, cookie, body.request_uri)).status, 200);
  });
}

test("RFC 9449 section 10.1: a DPoP proof with the pushed request binds the code to its key", async () => {
  const server = await newServer();
  const key = await newKey();
  const PAR = ISSUER + "/oauth/par";
  const differs = await push(server, { dpop_jkt: key.jkt }, { dpop: await createProof(await newKey(), PAR) });
  assert.is(differs.body.error, "invalid_dpop_proof");
  const { body } = await push(server, {}, { dpop: await createProof(key, PAR) });
  const cookie = await server.signIn();
  const page = await (await authorize(server, cookie, body.request_uri)).text();
  const answer = await server.send("/oauth/authorize", {
    form: { transaction: transactionOf(page), decision: "approve" },
    headers: { cookie },
  });
  const code = new URL(answer.headers.get("location")!).searchParams.get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
  assert.is((await (await server.token(form)).json()).error, "invalid_grant");
  assert.is(
    (await server.token(form, { dpop: await createProof(key, ISSUER + "/oauth/token") })).status,
    200,
  );
});

test("the client secret is not stored with the request", async () => {
  const server = await newServer();
  await push(server);
  const [stored] = await server.store.list<{ parameters: string }>(["pushed_request"]);
  assert.not.match(stored!.value.parameters, "secret");
});

test.run();
