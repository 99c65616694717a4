/**
 * Attacks on the user and the browser. Each test performs one from outside and checks that it fails. The numbers are those
 * of the table in `README.md` of this folder.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import {
  APP_URI,
  CHALLENGE,
  CLIENTS,
  ISSUER,
  newServer,
  type TestServer,
  transactionOf,
} from "../test_server.ts";

const test = suite("attacks on the browser");
const ALICE = { username: "alice", password: "wonderland" };

const openConsent = async (server: TestServer, cookie: string, parameters: Record<string, string> = {}) => {
  const response = await server.send(server.authorizePath(parameters), { headers: { cookie } });
  return { response, page: await response.text() };
};

for (
  const redirect of [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/%09/evil.example",
    "/%2f/evil.example",
    "/.//evil.example",
    "javascript:alert(1)",
    "https:evil.example",
    "https:/evil.example",
    " https://evil.example",
    "\r\nlocation: https://evil.example",
    "/\r\nset-cookie: a=b",
    "@evil.example",
    ISSUER + "@evil.example",
    ISSUER + ".evil.example",
    "https://as.example:x@evil.example",
    "data:text/html,x",
    "/" + "a".repeat(9000),
  ]
) {
  test(`1. login does not redirect to another origin: redirect=${JSON.stringify(redirect).slice(0, 60)}`, async () => {
    const server = await newServer();
    const response = await server.send("/login?redirect=" + encodeURIComponent(redirect), { form: ALICE });
    const location = response.headers.get("location");
    assert.ok(location === null || new URL(location, ISSUER).origin === ISSUER, String(location));
  });
}

test("3. the server redirects only to a redirect_uri that is registered for the client", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  for (
    const parameters of [
      { redirect_uri: "https://evil.example/cb" },
      { client_id: "unknown" },
      { redirect_uri: "https://evil.example/cb", response_type: "token" },
      { redirect_uri: "https://evil.example/cb", scope: "unknown" },
      { redirect_uri: "https://evil.example/cb", prompt: "none" },
      { client_id: "web", redirect_uri: APP_URI },
    ]
  ) {
    for (const headers of [{}, { cookie }] as Record<string, string>[]) {
      const response = await server.send(server.authorizePath(parameters), { headers });
      assert.equal(
        [response.status, response.headers.get("location")],
        [400, null],
        JSON.stringify(parameters),
      );
    }
  }
});

test("9. consent is refused from another site, without its token, with another session's token, and the second time", async () => {
  const server = await newServer();
  const [alice, mallory] = [await server.signIn(), await server.signIn()];
  const transaction = transactionOf((await openConsent(server, alice)).page);
  const foreign = transactionOf((await openConsent(server, mallory)).page);
  const post = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    server.send("/oauth/authorize", {
      form: { decision: "approve", ...form },
      headers: { cookie: alice, ...headers },
    });
  for (
    const response of [
      await post({ transaction }, { "sec-fetch-site": "cross-site" }),
      await post({ transaction }, { "sec-fetch-site": "same-site" }),
      await post({ transaction }, { origin: "https://evil.example" }),
      await post({ transaction }, { origin: "null" }),
      await post({}),
      await post({ transaction: foreign }),
      await post({ transaction: "" }),
      await post({ transaction }, { cookie: "" }),
    ]
  ) {
    assert.equal([response.status, response.headers.get("location")], [400, null]);
  }
  assert.is((await post({ transaction })).status, 302);
  assert.is((await post({ transaction })).status, 400);
});

test("10. a login form that another site posts is refused", async () => {
  const server = await newServer();
  for (
    const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }, {
      origin: "null",
    }]
  ) {
    const response = await server.send("/login", { form: ALICE, headers });
    assert.equal([response.status, response.headers.getSetCookie()], [403, []]);
  }
});

test("11. a login creates a new session id and ends the session of the id that the browser sent", async () => {
  const server = await newServer();
  const planted = await server.signIn();
  const response = await server.send("/login", { form: ALICE, headers: { cookie: planted } });
  const fresh = response.headers.getSetCookie()[0]!.split(";")[0]!;
  assert.is.not(fresh, planted);
  assert.is(
    (await server.send(server.authorizePath(), { headers: { cookie: planted } })).status,
    302,
    "the old session has ended",
  );
  const made = await server.send("/login", {
    form: ALICE,
    headers: { cookie: "session_id=chosen-by-mallory" },
  });
  assert.not.match(made.headers.get("set-cookie")!, "chosen-by-mallory");
});

test("12. a session cookie that a browser sends counts only under its __Host- name", async () => {
  const server = await newServer();
  const planted = await server.signIn();
  const browser = { "sec-fetch-site": "same-origin" };
  const isSignedIn = async (cookie: string, headers: Record<string, string> = {}) =>
    (await server.send(server.authorizePath(), { headers: { cookie, ...headers } })).status === 200;
  assert.not.ok(await isSignedIn(planted, browser), "the name without the prefix");
  assert.ok(await isSignedIn("__Host-" + planted, browser));
  assert.ok(await isSignedIn(planted), "a program, not a browser");
  const own = await server.signIn();
  assert.not.ok(await isSignedIn(`${own}; ${planted}`), "two cookies of one name are both ignored");
});

test("13, 15. every page forbids framing, foreign resources, links to other sites, referrers and caching", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const device = await server.send("/device", { headers: { cookie } });
  const pages = [
    await server.send("/login"),
    await server.send("/logout"),
    device,
    await server.send(server.authorizePath(), { headers: { cookie } }),
    await server.send("/oauth/authorize"),
    await server.send("/login", { form: { ...ALICE, password: "wrong" }, headers: { accept: "text/html" } }),
  ];
  for (const response of pages) {
    const policy = response.headers.get("content-security-policy")!;
    assert.match(policy, "default-src 'none'");
    assert.match(policy, "frame-ancestors 'none'");
    assert.not.match(policy, /unsafe|script-src|\*/);
    assert.is(response.headers.get("x-frame-options"), "DENY");
    assert.is(response.headers.get("referrer-policy"), "no-referrer");
    assert.is(response.headers.get("x-content-type-options"), "nosniff");
    assert.is(response.headers.get("cache-control"), "no-store");
    const page = await response.text();
    assert.not.match(page, /<script|<img|<iframe|src=|href="(?!data:)/i);
  }
});

test("14. a POST is answered with 302, never 307 or 308, so its body is not forwarded", async () => {
  const server = await newServer();
  const login = await server.send("/login?redirect=%2Foauth%2Fauthorize", { form: ALICE });
  const cookie = login.headers.getSetCookie()[0]!.split(";")[0]!;
  const form = { transaction: transactionOf((await openConsent(server, cookie)).page), decision: "approve" };
  const consent = await server.send("/oauth/authorize", { form, headers: { cookie } });
  assert.equal([login.status, consent.status], [302, 302]);
});

test("16. markup in client names, states, scopes and errors is escaped", async () => {
  const payload = `"><script>alert(1)</script>'`;
  const clients = [toClient({ ...CLIENTS[0]!, name: payload }, 0)];
  const server = await newServer({ clients, scopes: { read: payload } });
  const cookie = await server.signIn();
  const { page } = await openConsent(server, cookie, { state: payload });
  assert.not.match(page, "<script");
  assert.match(page, "&lt;script&gt;");
  for (
    const path of [
      server.authorizePath({ client_id: payload }),
      server.authorizePath({ redirect_uri: payload }),
      `/oauth/authorize?error_hint=${payload}&${payload}`,
    ]
  ) {
    assert.not.match(await (await server.send(path, { headers: { cookie } })).text(), "<script");
  }
  const back = await server.send(server.authorizePath({ scope: "unknown", state: payload }), {
    headers: { cookie },
  });
  assert.not.match(back.headers.get("location")!, /[<>"\s]/);
  assert.is(new URL(back.headers.get("location")!).searchParams.get("state"), payload);
});

test("17. neither a repeated request nor a new registration gives access without the user's consent", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  for (let i = 0; i < 3; i++) assert.is((await openConsent(server, cookie)).response.status, 200);
  await server.authorize();
  const metadata = { redirect_uris: [APP_URI], client_name: "The App", token_endpoint_auth_method: "none" };
  const headers = { "content-type": "application/json" };
  const { client_id } =
    await (await server.send("/oauth/register", { method: "POST", form: JSON.stringify(metadata), headers }))
      .json();
  const { response, page } = await openConsent(server, cookie, {
    client_id,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  });
  assert.is(response.status, 200, "a client with the same name and redirect URI is another client");
  assert.match(page, 'class="note"');
});

test("18. the consent page of a client with a false name shows the redirect host and a warning, and no URL of the client", async () => {
  const server = await newServer();
  const headers = { "content-type": "application/json" };
  const metadata = {
    redirect_uris: ["https://evil.example/cb"],
    client_name: "Google",
    client_uri: "https://google.com",
    logo_uri: "https://google.com/logo.png",
    token_endpoint_auth_method: "none",
  };
  const { client_id } =
    await (await server.send("/oauth/register", { method: "POST", form: JSON.stringify(metadata), headers }))
      .json();
  const { page } = await openConsent(server, await server.signIn(), {
    client_id,
    redirect_uri: "https://evil.example/cb",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  });
  assert.match(page, "<strong>evil.example</strong>");
  assert.match(page, "<h1>“Google” ");
  assert.match(page, 'class="note"');
  assert.not.match(page, "google.com");
});

test("18. the consent page shows the scheme of a private-use redirect URI, not what looks like its host", async () => {
  const server = await newServer();
  const headers = { "content-type": "application/json" };
  for (
    const uri of [
      "com.evil.app://claude.ai/api/mcp/auth_callback",
      "com.evil.app:///claude.ai",
      "com.evil.app:claude.ai",
      "vscode://claude.ai/cb",
    ]
  ) {
    const metadata = { redirect_uris: [uri], client_name: "Claude", token_endpoint_auth_method: "none" };
    const form = JSON.stringify(metadata);
    const { client_id } = await (await server.send("/oauth/register", { method: "POST", form, headers }))
      .json();
    const { page } = await openConsent(server, await server.signIn(), {
      client_id,
      redirect_uri: uri,
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
    });
    assert.not.match(page.replace(/<[^>]*>/g, ""), "claude.ai");
    assert.match(page, `<strong>${new URL(uri).protocol}</strong>`);
  }
});

test("2. the error page for an unregistered redirect URI shows it escaped and shortened", async () => {
  const server = await newServer();
  const uri = "https://evil.example/<script>alert(1)</script>\u202e" + "x".repeat(3000);
  const response = await server.send(server.authorizePath({ redirect_uri: uri }));
  const page = await response.text();
  assert.is(response.status, 400);
  assert.match(page, "https://evil.example/&lt;script&gt;alert(1)&lt;/script&gt;\ufffdxxx");
  assert.not.match(page, /<script|\u202e|x{600}/);
});

test("42. a response type, response mode or request object that is not supported is refused", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  for (
    const [parameters, error] of [
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ response_type: "code token" }, "unsupported_response_type"],
      [{ response_type: "id_token" }, "unsupported_response_type"],
      [{ response_type: "none" }, "unsupported_response_type"],
      [{ response_mode: "fragment" }, "invalid_request"],
      [{ response_mode: "form_post" }, "invalid_request"],
      [{ request: "eyJhbGciOiJub25lIn0.e30." }, "request_not_supported"],
    ] as const
  ) {
    const response = await server.send(server.authorizePath(parameters), { headers: { cookie } });
    const location = new URL(response.headers.get("location")!);
    assert.equal(
      [location.searchParams.get("error"), location.hash],
      [error, ""],
      JSON.stringify(parameters),
    );
  }
});

test("43. pages do not show error parameters of the request (CVE-2019-8400)", async () => {
  const server = await newServer();
  const query = "error=x&error_description=call+0900&error_hint=%3Cb%3Epay+here&error_debug=x";
  for (const path of [`/oauth/authorize?${query}`, `/login?${query}`, `/device?${query}`]) {
    const text = await (await server.send(path, { headers: { cookie: await server.signIn() } })).text();
    assert.not.match(text, /0900|pay here/);
  }
});

test("44. logout does not redirect, and a POST of another site does not sign the user out", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const get = await server.send("/logout?post_logout_redirect_uri=https%3A%2F%2Fevil.example", {
    headers: { cookie },
  });
  assert.equal([get.status, get.headers.get("location")], [200, null]);
  const posted = await server.send("/logout", {
    method: "POST",
    headers: { cookie, origin: "https://evil.example" },
  });
  assert.is(posted.status, 403);
  assert.is(
    (await server.send(server.authorizePath(), { headers: { cookie } })).status,
    200,
    "still signed in",
  );
});

test.run();
