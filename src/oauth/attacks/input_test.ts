/**
 * Attacks by input: parameters, bodies, header fields, metadata. Each test performs one from outside and checks
 * that it fails. The numbers are those of the table in `../README.md`.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHALLENGE, ISSUER, newServer } from "../test_server.ts";

const test = suite("attacks by input");
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

test("31. parameters that are repeated, in array syntax, in JSON or in the query are refused", async () => {
  const server = await newServer();
  const send = async (path: string, body: string, type = "application/x-www-form-urlencoded") => {
    const response = await server.send(path, {
      method: "POST",
      form: body,
      headers: { "content-type": type },
    });
    return [response.status, (await response.json()).error];
  };
  const base = "grant_type=client_credentials&client_id=web&client_secret=web-secret";
  assert.equal(await send("/oauth/token", base), [200, undefined]);
  assert.equal(await send("/oauth/token", base + "&client_id=app"), [400, "invalid_request"]);
  assert.equal(await send("/oauth/token", base + "&scope=read&scope=read"), [400, "invalid_request"]);
  assert.equal(await send("/oauth/token", base + "&%67rant_type=password"), [400, "invalid_request"]);
  const many = Array.from({ length: 300 }, (_, i) => `&p${i}=1`).join("");
  assert.equal(await send("/oauth/token", base + many), [400, "invalid_request"]);
  assert.equal(
    await send("/oauth/token", "grant_type[]=client_credentials&client_id[a]=web&client_secret=web-secret"),
    [401, "invalid_client"],
  );
  assert.equal(
    await send("/oauth/token", JSON.stringify({ grant_type: "client_credentials" }), "application/json"),
    [400, "invalid_request"],
  );
  assert.equal(await send("/oauth/token", base, "multipart/form-data; boundary=x"), [400, "invalid_request"]);
  assert.equal(
    await send("/oauth/token?client_secret=web-secret", "grant_type=client_credentials&client_id=web"),
    [401, "invalid_client"],
  );
  const cookie = await server.signIn();
  const twice = await server.send(server.authorizePath() + "&client_id=web", { headers: { cookie } });
  assert.is(twice.status, 400);
  const state = await server.send(server.authorizePath() + "&state=other", { headers: { cookie } });
  assert.is(new URL(state.headers.get("location")!).searchParams.get("error"), "invalid_request");
});

test("32. a body that is too large, endless, not UTF-8, or has thousands of parameters is refused", async () => {
  const server = await newServer();
  const endpoints = [
    "/oauth/token",
    "/oauth/introspect",
    "/oauth/revoke",
    "/oauth/par",
    "/oauth/device_authorization",
    "/login",
    "/device",
    "/oauth/authorize",
  ];
  for (const path of endpoints) {
    const cookie = await server.signIn();
    const large = await server.send(path, { form: "a=" + "x".repeat(10_000_000), headers: { cookie } });
    assert.is(large.status, 413, path);
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 4096;
        controller.enqueue(new Uint8Array(4096).fill(97));
      },
    });
    const request = new Request(ISSUER + path, {
      method: "POST",
      body: endless,
      headers: { "content-type": "application/x-www-form-urlencoded", cookie },
      duplex: "half",
    } as RequestInit);
    assert.is((await server.service.fetch(request)).status, 413, path);
    assert.ok(sent < 200_000, `${path} read ${sent}`);
    const many = await server.send(path, {
      form: Array.from({ length: 3000 }, (_, i) => `a${i}=1`).join("&"),
      headers: { cookie },
    });
    assert.ok(many.status >= 400 && many.status < 500, `${path} ${many.status}`);
    const bytes = new Request(ISSUER + path, {
      method: "POST",
      body: new Uint8Array([97, 61, 0xff, 0xfe]),
      headers: { "content-type": "application/x-www-form-urlencoded", cookie },
    });
    const garbled = await server.service.fetch(bytes);
    assert.ok(garbled.status >= 400 && garbled.status < 500, `${path} ${garbled.status}`);
  }
  const registration = await server.send("/oauth/register", {
    method: "POST",
    form: `{"a":"${"x".repeat(70_000)}"}`,
    headers: { "content-type": "application/json" },
  });
  assert.is(registration.status, 413);
});

test("33. line breaks in reflected parameters stay encoded in the URL, and events have no secret", async () => {
  const server = await newServer();
  const state = "a\r\nset-cookie: x=y\r\n\r\n<html>";
  const answer = await server.authorize({ state });
  assert.is(answer.get("state"), state);
  const cookie = await server.signIn();
  const response = await server.send(server.authorizePath({ state, scope: "unknown" }), {
    headers: { cookie },
  });
  assert.not.match(response.headers.get("location")!, /[\r\n]/);
  await server.send("/login", { form: { username: "alice", password: "hunter2-typed-here" } });
  await server.send("/oauth/token", {
    form: { client_id: "web", client_secret: "guessed-secret", grant_type: "client_credentials" },
  });
  assert.ok(server.events.length >= 4);
  assert.not.match(JSON.stringify(server.events), /hunter2|guessed-secret|wonderland|trivet_(ac|at|rt)_/);
});

test("35. the user is asked for consent again after the client's metadata changed", async () => {
  const id = "https://client.example/app.json";
  let name = "Calendar";
  const server = await newServer({
    trustedClients: new Set([id]),
    connect: () =>
      Promise.resolve(
        Response.json({
          client_id: id,
          client_name: name,
          redirect_uris: ["https://client.example/cb"],
          token_endpoint_auth_method: "none",
        }),
      ),
  });
  const parameters = { client_id: id, redirect_uri: "https://client.example/cb", ...PKCE };
  await server.authorize(parameters);
  const ask = async () =>
    (await server.send(server.authorizePath(parameters), { headers: { cookie: await server.signIn() } }))
      .status;
  assert.is(await ask(), 302);
  name = "Bank";
  server.advance(3601);
  assert.is(await ask(), 200);
});

test("36. no header of a request changes the issuer", async () => {
  const server = await newServer();
  const headers = {
    host: "evil.example",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "http",
    forwarded: "host=evil.example",
    "x-original-url": "/admin",
  };
  const metadata = await (await server.send("/.well-known/oauth-authorization-server", { headers })).text();
  assert.not.match(metadata, "evil.example");
  assert.is(JSON.parse(metadata).issuer, ISSUER);
  const toLogin = await server.send(server.authorizePath(), { headers });
  assert.ok(toLogin.headers.get("location")!.startsWith("/login?"));
  const elsewhere = await server.service.fetch(
    new Request("https://evil.example/oauth/token", {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: "web",
        client_secret: "web-secret",
      }),
    }),
  );
  assert.is(elsewhere.status, 200, "a proxy may send another host name");
  const login = await server.send("/login", { form: { username: "alice", password: "wonderland" }, headers });
  assert.match(login.headers.get("set-cookie")!, "Secure");
});

test("37. scripts of other origins can call the API endpoints without cookies, and never the pages", async () => {
  const server = await newServer();
  const origin = {
    origin: "https://spa.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, dpop, mcp-method",
  };
  for (
    const path of [
      "/oauth/token",
      "/oauth/revoke",
      "/oauth/introspect",
      "/oauth/par",
      "/oauth/register",
      "/oauth/device_authorization",
      "/api/user",
      "/.well-known/oauth-authorization-server",
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/jwks.json",
    ]
  ) {
    const preflight = await server.send(path, { method: "OPTIONS", headers: origin });
    assert.equal(
      [
        preflight.status,
        preflight.headers.get("access-control-allow-origin"),
        preflight.headers.get("access-control-allow-credentials"),
      ],
      [204, "*", null],
      path,
    );
    assert.is(
      preflight.headers.get("access-control-allow-headers"),
      origin["access-control-request-headers"],
    );
  }
  for (const path of ["/oauth/authorize", "/login", "/logout", "/device"]) {
    assert.is(
      (await server.send(path, { method: "OPTIONS", headers: origin })).headers.get(
        "access-control-allow-origin",
      ),
      null,
      path,
    );
    assert.is(
      (await server.send(path, { headers: origin })).headers.get("access-control-allow-origin"),
      null,
      path,
    );
  }
  const user = await server.send("/api/user", { headers: { origin: "https://spa.example" } });
  assert.match(user.headers.get("access-control-expose-headers")!, "www-authenticate");
});

test("38. a flood of registrations leaves no lasting records and does not block other clients", async () => {
  const server = await newServer({ registrationLifetime: 100 });
  const headers = { "content-type": "application/json" };
  const form = JSON.stringify({ redirect_uris: ["https://a.example/"] });
  for (let i = 0; i < 300; i++) await server.send("/oauth/register", { method: "POST", form, headers });
  assert.is((await server.token({ grant_type: "client_credentials" })).status, 200);
  assert.ok((await server.store.list(["client"])).length > 0);
  server.advance(101);
  assert.is((await server.store.list(["client"])).length, 0);
});

test("CVE-2025-6514: every URL in the metadata is a plain URL of this server", async () => {
  const server = await newServer();
  const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
  const urls = Object.entries(metadata).filter(([name]) => /_endpoint$|_uri$/.test(name));
  assert.ok(urls.length >= 7, `${urls.length} URLs`);
  for (const [name, value] of urls) {
    assert.match(value as string, /^https:\/\/as\.example\/[a-z_./-]+$/, name);
  }
});

test("a registration cannot set members that the server decides (as in CVE-2026-41427)", async () => {
  const server = await newServer();
  const headers = { "content-type": "application/json" };
  const claims = {
    source: "operator",
    introspects: [ISSUER],
    scope: "admin read",
    grant_types: ["authorization_code", "client_credentials"],
    secret_digest: "x",
    registrationLifetime: 1,
    access_token_format: "jwt",
    id: "app",
    created: 0,
  };
  const form = JSON.stringify({ redirect_uris: ["https://a.example/"], ...claims });
  const body = await (await server.send("/oauth/register", { method: "POST", form, headers })).json();
  assert.equal([body.scope, body.grant_types, "source" in body, "access_token_format" in body], [
    "read",
    ["authorization_code"],
    false,
    false,
  ]);
  const [kept] = await server.store.list<Record<string, unknown>>(["client"]);
  assert.equal([kept!.value.source, kept!.value.introspects, kept!.value.id === "app"], [
    "registration",
    undefined,
    false,
  ]);
  assert.is((await server.token({ grant_type: "client_credentials" })).status, 200, "app is unchanged");
});

test.run();
