/**
 * Attacks by input: redirect URIs, guesses, bodies, headers. Each test performs one from outside and checks that it fails.
 * The numbers are those of the table in `README.md` of this folder.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "./clients/client.ts";
import { CHALLENGE, ISSUER, newServer, type TestServer } from "./test_server.ts";

const test = suite("attacks by input");
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

const from = (server: TestServer, ip: string, path: string, form: Record<string, string>, headers = {}) =>
  server.service.fetch(
    new Request(ISSUER + path, { method: "POST", body: new URLSearchParams(form), headers }),
    { ip },
  );

/** Redirect URIs that other servers accepted: by suffix, by prefix, by a lenient parser, by parsing twice. */
const URIS: Readonly<Record<string, readonly string[]>> = {
  "https://good.example/cb": [
    "https://good.example/cb/",
    "https://good.example/cb?x=1",
    "https://good.example/cb#x",
    "https://good.example/CB",
    "https://GOOD.example/cb",
    "https://good.example./cb",
    "https://good.example:443/cb",
    "https://evilgood.example/cb",
    "https://good.example.evil.test/cb",
    "https://sub.good.example/cb",
    "https://good.example@evil.test/cb",
    "https://evil.test@good.example/cb",
    "https://good.example:a@evil.test/cb",
    "https://a@b@good.example/cb",
    "https://good.example\\@evil.test/cb",
    "https://good.example/\\evil.test/cb",
    "https://good.example/x/../cb",
    "https://good.example/x/..;/cb",
    "https://good.example/%2e%2e/cb",
    "https://good.example/cb%00",
    "https://good.example/cb%0d%0aset-cookie:a=b",
    " https://good.example/cb",
    "https://good.example/cb ",
    "https://good\u3002example/cb",
    "https://\uff47ood.example/cb",
    "https://xn--good.example/cb",
    "http://good.example/cb",
    "//good.example/cb",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,x",
    "good.example/cb",
  ],
  "http://127.0.0.1/cb": [
    "http://127.0.0.1.evil.test/cb",
    "http://127.0.0.1@evil.test/cb",
    "http://127.0.0.1:80@evil.test/cb",
    "http://localhost/cb",
    "http://[::1]/cb",
    "http://0x7f.1/cb",
    "http://2130706433/cb",
    "http://127.1/cb",
    "http://127.0.0.1:99999/cb",
    "http://127.0.0.1:/cb",
    "https://127.0.0.1/cb",
    "http://127.0.0.1:1234/other",
  ],
  "http://localhost/cb": [
    "http://localhost.evil.test/cb",
    "http://localhost:1@evil.test/cb",
    "http://evil.localhost/cb",
  ],
  "com.example.app:/cb": [
    "com.example.app://evil.test/cb",
    "com.example.app:/cb/",
    "com.example.appx:/cb",
    "COM.example.app:/cb",
  ],
};

for (const [registered, uris] of Object.entries(URIS)) {
  test(`2. ${registered} is matched exactly (CVE-2026-7504, -3872, -18211, CVE-2024-8883, GHSA-86j7-9j95-vpqj)`, async () => {
    const server = await newServer({
      clients: [toClient({ id: "app", redirect_uris: [registered, "https://other.example/"] }, 0)],
    });
    const cookie = await server.signIn();
    const ask = (redirect_uri: string) =>
      server.send(server.authorizePath({ redirect_uri, ...PKCE }), { headers: { cookie } });
    assert.is((await ask(registered)).status, 200);
    for (const uri of uris) {
      const response = await ask(uri);
      assert.equal([response.status, response.headers.get("location")], [400, null], uri);
    }
  });
}

test("2. a registered domain allows exactly that host over https, no suffix, no subdomain (go-oauth2's HasSuffix)", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  for (
    const host of [
      "evilapp.example",
      "x.app.example",
      "app.example.evil.test",
      "app.example:8443",
      "app.example@evil.test",
      "app.example%00.evil.test",
    ]
  ) {
    const response = await server.send(server.authorizePath({ redirect_uri: `https://${host}/cb` }), {
      headers: { cookie },
    });
    assert.is(response.status, 400, host);
  }
});

test("19. an unknown client, a wrong secret and a missing secret get the same response", async () => {
  const server = await newServer();
  const ask = async (form: Record<string, string>) => {
    const response = await server.send("/oauth/token", {
      form: { grant_type: "client_credentials", ...form },
    });
    return JSON.stringify([response.status, [...response.headers], await response.text()]);
  };
  const answers = new Set([
    await ask({ client_id: "unknown-client", client_secret: "x" }),
    await ask({ client_id: "web", client_secret: "x" }),
    await ask({ client_id: "web", client_secret: "web-secreT" }),
    await ask({ client_id: "web", client_secret: "" }),
    await ask({ client_id: "web" }),
  ]);
  assert.is(answers.size, 1, [...answers].join("\n"));
});

test("19. a network that guesses a client secret is throttled, and the client in another network is not", async () => {
  const server = await newServer();
  const guess = (client_secret: string, ip: string) =>
    from(server, ip, "/oauth/token", { grant_type: "client_credentials", client_id: "web", client_secret });
  let refused: Response | undefined;
  for (let i = 0; i < 30 && refused?.status !== 429; i++) refused = await guess(`guess-${i}`, "192.0.2.1");
  assert.is(refused!.status, 429);
  assert.equal([(await refused!.json()).error, Number(refused!.headers.get("retry-after")) >= 1], [
    "invalid_client",
    true,
  ]);
  assert.is(
    (await guess("web-secret", "192.0.2.1")).status,
    429,
    "the right secret from that network waits too",
  );
  assert.is((await guess("web-secret", "192.0.2.2")).status, 200);
  server.advance(61);
  assert.is((await guess("web-secret", "192.0.2.1")).status, 200);
});

test("19. a client with a strong secret authenticates from an attacker's network and from an unknown one", async () => {
  const secret = "a-secret-of-22-or-more-characters";
  const client = toClient({ id: "strong", secret, domain: "strong.example" }, 0);
  const server = await newServer({ clients: [client] });
  const ask = (client_secret: string, ip: string | undefined, client_id = "strong") => {
    const body = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
    return server.service.fetch(new Request(ISSUER + "/oauth/token", { method: "POST", body }), { ip });
  };
  for (const ip of ["192.0.2.1", "127.0.0.1", "10.0.0.2", undefined]) {
    const statuses: number[] = [];
    for (let i = 0; i < 14; i++) statuses.push((await ask(`guess-${i}`, ip)).status);
    assert.equal(statuses, [...new Array(10).fill(401), ...new Array(4).fill(429)], String(ip));
    const made = await Promise.all(Array.from({ length: 40 }, (_, i) => ask("x", ip, `made-up-${i}`)));
    assert.ok(made.some(({ status }) => status === 429));
    assert.is((await ask(secret, ip)).status, 200, String(ip));
    assert.is((await ask("another wrong secret", ip)).status, 401, "the right secret resets the count");
    assert.is((await ask(secret, ip)).status, 200);
  }
  assert.equal(await server.store.list(["attempts"]), [], "no attempt is stored");
});

test("19. the right secret resets the count of wrong ones", async () => {
  const server = await newServer();
  const ask = (client_secret: string) =>
    from(server, "192.0.2.1", "/oauth/token", {
      grant_type: "client_credentials",
      client_id: "web",
      client_secret,
    });
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 8; i++) assert.is((await ask("wrong")).status, 401);
    assert.is((await ask("web-secret")).status, 200);
  }
});

test("20. an unknown user and a wrong password get the same response, also when throttled", async () => {
  const server = await newServer();
  const series = async (username: string) => {
    const answers: string[] = [];
    for (let i = 0; i < 14; i++) {
      const response = await from(server, "192.0.2.1", "/login", { username, password: "wrong" });
      answers.push(`${response.status} ${response.headers.get("retry-after")} ${await response.text()}`);
    }
    return answers;
  };
  assert.equal(await series("alice"), await series("unknown-user"));
});

test("21. the delay between password guesses grows, and concurrent guesses are limited too", async () => {
  const server = await newServer();
  const guess = (password: string, ip = "192.0.2.1") =>
    from(server, ip, "/login", { username: "alice", password });
  const first = await Promise.all(Array.from({ length: 40 }, (_, i) => guess(`guess ${i}`)));
  const tried = first.filter(({ status }) => status === 401).length;
  assert.ok(tried <= 11, `${tried} of 40 were tried`);
  const waits: number[] = [];
  for (let i = 0; i < 12; i++) {
    const response = await guess("wrong");
    if (response.status === 429) {
      waits.push(Number(response.headers.get("retry-after")));
      server.advance(waits.at(-1)!);
    }
  }
  assert.ok(
    waits.length >= 4 && waits.every((wait, i) => i === 0 || wait >= waits[i - 1]!) &&
      waits.at(-1)! > waits[0]!,
    waits.join(),
  );
  assert.is((await guess("wonderland")).status, 429, "the right password from that network waits too");
  assert.is(
    (await guess("wonderland", "198.51.100.7")).status,
    200,
    "the owner signs in from another network",
  );
  server.advance(3601);
  assert.is((await guess("wonderland")).status, 200);
});

test("21. an IPv6 /64 is throttled as one address (CVE-2026-45364), and a login in between does not reset its count", async () => {
  const server = await newServer();
  let statuses: number[] = [];
  for (let i = 0; i < 130; i++) {
    const username = i % 10 === 9 ? "alice" : `user-${i}`;
    const response = await from(server, `2001:db8:1:2::${i.toString(16)}`, "/login", {
      username,
      password: "wonderland",
    });
    statuses.push(response.status);
  }
  assert.ok(statuses.includes(429), "many usernames from one /64");
  statuses = statuses.slice(0, 50);
  assert.ok(statuses.filter((status) => status === 200).length >= 4);
  assert.is(
    (await from(server, "2001:db8:1:3::1", "/login", { username: "alice", password: "wonderland" })).status,
    200,
  );
});

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
