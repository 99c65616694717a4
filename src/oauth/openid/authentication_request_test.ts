import { suite } from "uvu";
import * as assert from "uvu/assert";
import { addUser } from "../users/user.ts";
import { APP_URI, transactionOf } from "../test_server.ts";
import { newProvider, type TestProvider } from "./test_provider.ts";

const test = suite("oauth/openid/authentication_request");
const BOB = { username: "bob", password: "builder" };

/** Sends a request with the scope `openid`; where the browser goes and the error that the client gets. */
async function request(
  server: TestProvider,
  cookie: string | undefined,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const response = await server.send(server.authorizePath({ scope: "openid", ...parameters }), {
    headers: { ...(cookie !== undefined && { cookie }), ...headers },
  });
  const location = response.headers.get("location") ?? "";
  const answer = URL.canParse(location) ? new URL(location).searchParams : undefined;
  return {
    status: response.status,
    location,
    isLogin: location.startsWith("/login"),
    error: answer?.get("error"),
    state: answer?.get("state"),
    text: await response.text(),
  };
}

async function signInAs(
  server: TestProvider,
  user: { username: string; password: string },
  path = "/login",
  cookie = "",
) {
  const response = await server.send(path, { form: user, headers: { cookie } });
  return {
    cookie: response.headers.get("set-cookie")!.split(";")[0]!,
    location: response.headers.get("location")!,
  };
}

async function withBob(): Promise<TestProvider> {
  const server = await newProvider();
  await addUser(server.store, { ...BOB, name: "Bob" }, 1000);
  return server;
}

test("Core section 3.1.2.6: prompt=none answers login_required, then consent_required, then a code", async () => {
  const server = await newProvider();
  const none = { prompt: "none" };
  const out = await request(server, undefined, none);
  assert.equal([out.status, out.error, out.state], [302, "login_required", "xyz"]);
  const cookie = await server.signIn();
  assert.is((await request(server, cookie, none)).error, "consent_required");
  await server.authorize({ scope: "openid" });
  assert.match((await request(server, cookie, none)).location, /^https:\/\/app\.example\/cb\?code=/);
});

test("prompt=none answers a client that registered itself, too, and never shows a page", async () => {
  const server = await newProvider();
  const registered = await (await server.send("/oauth/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    form: JSON.stringify({ redirect_uris: [APP_URI], token_endpoint_auth_method: "none" }),
  })).json();
  const parameters = {
    client_id: registered.client_id,
    prompt: "none",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  };
  assert.is((await request(server, undefined, parameters)).error, "login_required");
  // Without the scope openid the login page protects the user from an open redirector (RFC 9700 section 4.11.2).
  assert.ok((await request(server, undefined, { ...parameters, scope: "read" })).isLogin);
});

test("attack: a client that the user never allowed anything cannot find out who the user is", async () => {
  const scopes = {
    read: "Read",
    write: { description: "Write", role: "author" },
    openid: "Sign in",
  } as const;
  const acrValues = ["password", "strong"];
  const server = await newProvider({}, { scopes, acrValues });
  const { claims } = await server.signInWith();
  const cookie = await server.signIn();
  const registered = await (await server.send("/oauth/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    form: JSON.stringify({ redirect_uris: [APP_URI], token_endpoint_auth_method: "none" }),
  })).json();
  const parameters = {
    client_id: registered.client_id,
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  };
  const ask = (more: Record<string, string>) => request(server, cookie, { ...parameters, ...more });
  server.advance(60);
  const sub = (value: unknown) => JSON.stringify({ id_token: { sub: { value } } });
  const guesses: Record<string, string>[] = [
    { login_hint: "alice" },
    { login_hint: "bob" },
    { scope: "openid read" },
    { scope: "openid write" },
    { claims: sub(claims.sub) },
    { claims: sub("user_other") },
    { max_age: "10" },
    { max_age: "3000" },
    { acr_values: "password" },
    { acr_values: "strong" },
  ];
  for (const guess of guesses) {
    const { error } = await ask({ ...guess, prompt: "none" });
    assert.is(error, "consent_required", JSON.stringify(guess));
  }
  // Without prompt=none the user sees a page in either case.
  for (const [scope, status] of [["read", 200], ["write", 403]] as const) {
    const { location, ...page } = await ask({ scope });
    assert.equal([page.status, location], [status, ""], scope);
  }
  // A client that the user allowed something gets the reason.
  const { text } = await ask({});
  await server.send("/oauth/authorize", {
    form: { transaction: transactionOf(text), decision: "approve" },
    headers: { cookie },
  });
  assert.is((await ask({ login_hint: "bob", prompt: "none" })).error, "account_selection_required");
  assert.is((await ask({ max_age: "10", prompt: "none" })).error, "login_required");
  assert.is((await ask({ scope: "write" })).error, "access_denied");
});

test("attack: prompt=none gives no code to a public client, or for a request that another site sent", async () => {
  const server = await newProvider();
  await server.authorize({ scope: "openid" });
  const cookie = await server.signIn();
  const fromElsewhere = { "sec-fetch-site": "cross-site" };
  // On https a browser has the session in this cookie.
  const host = (await server.send("/login", {
    form: { username: "alice", password: "wonderland" },
    headers: { "sec-fetch-site": "same-origin", origin: "https://as.example" },
  })).headers.getSetCookie().find((field) => field.startsWith("__Host-"))!.split(";")[0]!;
  assert.is((await request(server, host, { prompt: "none" }, fromElsewhere)).error, "interaction_required");
  const native = {
    client_id: "native",
    redirect_uri: "http://127.0.0.1/callback",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  };
  const page = await request(server, cookie, native);
  await server.send("/oauth/authorize", {
    form: { transaction: transactionOf(page.text), decision: "approve" },
    headers: { cookie },
  });
  assert.is((await request(server, cookie, { ...native, prompt: "none" })).error, "interaction_required");
});

test("Core section 3.1.2.1: prompt=none with another value is invalid", async () => {
  const server = await newProvider();
  const cookie = await server.signIn();
  assert.is((await request(server, cookie, { prompt: "none login" })).error, "invalid_request");
});

test("prompt=login and prompt=select_account lead to one new login", async () => {
  for (const prompt of ["login", "select_account"]) {
    const server = await newProvider();
    const cookie = await server.signIn();
    server.advance(1);
    const first = await request(server, cookie, { prompt });
    assert.ok(first.isLogin, prompt);
    const again = await signInAs(
      server,
      { username: "alice", password: "wonderland" },
      first.location,
      cookie,
    );
    assert.is((await server.send(again.location, { headers: { cookie: again.cookie } })).status, 200);
  }
});

test("max_age of the request and default_max_age of the registration limit the age of the login", async () => {
  const server = await newProvider({}, {}, [{
    id: "careful",
    secret: "secret of careful",
    redirect_uris: [APP_URI],
    default_max_age: 60,
  }]);
  const cookie = await server.signIn();
  server.advance(61);
  assert.ok((await request(server, cookie, { client_id: "careful" })).isLogin);
  assert.is((await request(server, cookie, { client_id: "careful", max_age: "100" })).status, 200);
  assert.ok((await request(server, cookie, { max_age: "60" })).isLogin);
});

test("login_hint is suggested as the user name, as text", async () => {
  const server = await newProvider();
  const { location } = await request(server, undefined, { login_hint: '"><b>alice' });
  assert.ok(location.startsWith("/login"));
  const page = await (await server.send(location)).text();
  assert.match(page, /value="&quot;&gt;&lt;b&gt;alice"|value="&#34;&#62;&#60;b&#62;alice"/);
});

test("id_token_hint: the same user goes on, another one signs in or gets login_required", async () => {
  const server = await withBob();
  const { tokens } = await server.signInWith();
  const id_token_hint = tokens.id_token!;
  const alice = await server.signIn();
  const same = await request(server, alice, { id_token_hint, prompt: "none" });
  assert.match(same.location, /[?&]code=/);
  const { cookie } = await signInAs(server, BOB);
  assert.is((await request(server, cookie, { id_token_hint, prompt: "none" })).error, "login_required");
  const other = await request(server, cookie, { id_token_hint });
  assert.ok(other.isLogin);
  // Bob signs in again instead of Alice.
  server.advance(1);
  const again = await signInAs(server, BOB, other.location, cookie);
  const back = await server.send(again.location, { headers: { cookie: again.cookie } });
  assert.is(new URL(back.headers.get("location")!).searchParams.get("error"), "login_required");
});

test("Core section 3.1.2.6: prompt=none with a login_hint of someone else gets account_selection_required", async () => {
  const server = await newProvider();
  await server.authorize({ scope: "openid" });
  const cookie = await server.signIn();
  const hinted = async (login_hint: string, prompt = "none") =>
    await request(server, cookie, { login_hint, prompt });
  for (const other of ["bob", "bob@example.com"]) {
    assert.is((await hinted(other)).error, "account_selection_required", other);
    // A hint does not keep a user who is asked from going on.
    assert.match((await hinted(other, "")).location, /[?&]code=/);
  }
  for (const own of ["alice", "ALICE", "alice@example.com"]) {
    assert.match((await hinted(own)).location, /[?&]code=/, own);
  }
});

test("Registration section 2: default_acr_values count where the request has none", async () => {
  const signedInAs = (acr: string) => ({ id: "7", name: "Carol", email: "", acr });
  let acr = "one";
  const server = await newProvider({}, {
    acrValues: ["one", "two"],
    authenticateUser: () => Promise.resolve(signedInAs(acr)),
  }, [
    { id: "strong", redirect_uris: [APP_URI], secret: "s", default_acr_values: ["two"] },
    { id: "wishful", redirect_uris: [APP_URI], secret: "s", default_acr_values: ["three"] },
  ]);
  const cookie = await server.signIn();
  const ask = async (client_id: string, more = {}) => await request(server, cookie, { client_id, ...more });
  assert.is((await ask("strong", { prompt: "none" })).error, "login_required");
  // The user is asked to sign in, and a login that does not satisfy them is not enough.
  const { location } = await ask("strong");
  assert.match(location, /^\/login/);
  server.advance(1);
  const weak = await signInAs(server, BOB, location, cookie);
  const refused = await server.send(weak.location, { headers: { cookie: weak.cookie } });
  assert.match(refused.headers.get("location")!, /error=unmet_authentication_requirements/);
  acr = "two";
  const strong = await signInAs(server, BOB, location, cookie);
  assert.is((await server.send(strong.location, { headers: { cookie: strong.cookie } })).status, 200);
  // The request has the last word, and a value that this server does not have is a wish.
  const voluntary = JSON.stringify({ id_token: { acr: { values: ["two"] } } });
  for (
    const [client, more] of [["strong", { acr_values: "one" }], ["strong", { claims: voluntary }], [
      "wishful",
      {},
    ]] as const
  ) {
    const again = await server.signIn();
    acr = "one";
    const fresh = await server.signIn();
    assert.is((await request(server, fresh, { client_id: client, ...more })).status, 200, again && client);
  }
});

test("attack: an id_token_hint of another client, another issuer or another kind is refused", async () => {
  const server = await newProvider({}, { accessTokenFormat: "jwt" });
  const { tokens } = await server.signInWith();
  const cookie = await server.signIn();
  const altered = tokens.id_token!.replace(/.{4}$/, "AAAA");
  for (const id_token_hint of [tokens.access_token!, altered, "a.b.c", "x"]) {
    assert.is((await request(server, cookie, { id_token_hint })).error, "invalid_request");
  }
  const foreign = { client_id: "web", redirect_uri: "https://web.example/cb", scope: "read openid" };
  const refused = await request(server, cookie, { ...foreign, id_token_hint: tokens.id_token! });
  assert.ok(refused.error !== undefined && refused.error !== null);
});

test("an expired id_token_hint still names its user", async () => {
  const server = await newProvider();
  const { tokens } = await server.signInWith();
  server.advance(3601 * 2);
  const cookie = await server.signIn();
  const answer = await request(server, cookie, { id_token_hint: tokens.id_token!, prompt: "none" });
  assert.match(answer.location, /[?&]code=/);
});

test("Core section 5.5.1: claims name the user by sub, and an essential acr must be met", async () => {
  const server = await withBob();
  const { claims } = await server.signInWith();
  const { cookie } = await signInAs(server, BOB);
  const bySub = JSON.stringify({ id_token: { sub: { value: claims.sub } } });
  assert.is((await request(server, cookie, { claims: bySub, prompt: "none" })).error, "login_required");
  const alice = await server.signIn();
  assert.match((await request(server, alice, { claims: bySub, prompt: "none" })).location, /[?&]code=/);
  const acr = (essential: boolean) => JSON.stringify({ id_token: { acr: { essential, values: ["phrh"] } } });
  assert.is((await request(server, alice, { claims: acr(true), prompt: "none" })).error, "login_required");
  assert.match((await request(server, alice, { claims: acr(false), prompt: "none" })).location, /[?&]code=/);
});

test("display and ui_locales are accepted, registration is not", async () => {
  const server = await newProvider();
  const cookie = await server.signIn();
  const accepted = await request(server, cookie, {
    display: "popup",
    ui_locales: "de fr",
    claims_locales: "de",
  });
  assert.is(accepted.status, 200);
  assert.is((await request(server, cookie, { registration: "{}" })).error, "registration_not_supported");
});

test("Core section 3.1.2.1: the authorization endpoint takes a request by POST", async () => {
  const server = await newProvider();
  const [path, query] = server.authorizePath({ scope: "openid", nonce: "n" }).split("?");
  const posted = await server.send(path!, { form: query!, headers: { origin: "https://app.example" } });
  assert.equal([posted.status, posted.headers.get("location")], [303, `${path}?${query}`]);
  const huge = await server.send(path!, { form: `${query}&claims=${"x".repeat(9000)}` });
  assert.is(huge.status, 400);
});

test("the pushed authorization request endpoint checks nonce and claims", async () => {
  const server = await newProvider();
  const push = async (more: Record<string, string>) => {
    const form = {
      client_id: "app",
      client_secret: "app secret:&%+",
      response_type: "code",
      redirect_uri: APP_URI,
      scope: "openid",
      ...more,
    };
    return await (await server.send("/oauth/par", { form })).json();
  };
  assert.is((await push({ claims: "{" })).error, "invalid_request");
  assert.ok((await push({ nonce: "n" })).request_uri);
});

test.run();
