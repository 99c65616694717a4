import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws } from "../crypto/jws.ts";
import { toClient } from "./clients/client.ts";
import { APP_URI, CHALLENGE, ISSUER, newServer, type TestServer, transactionOf } from "./test_server.ts";

const test = suite("oauth/step_up");
const ALICE = { username: "alice", password: "wonderland" };

/** Sends an authorization request; what the client or the browser receives. */
async function request(server: TestServer, cookie: string | undefined, parameters: Record<string, string>) {
  const response = await server.send(server.authorizePath(parameters), {
    headers: cookie === undefined ? {} : { cookie },
  });
  const location = response.headers.get("location") ?? "";
  const toLogin = location.startsWith("/login");
  const answer = location.startsWith("https://") ? new URL(location).searchParams : undefined;
  return {
    status: response.status,
    location,
    toLogin,
    error: answer?.get("error"),
    code: answer?.get("code"),
    text: await response.text(),
  };
}

/** Signs in at the location and follows the redirect; the new cookie and the response after it. */
async function signInAgain(server: TestServer, cookie: string, location: string) {
  const response = await server.send(location, { form: ALICE, headers: { cookie } });
  const fresh = response.headers.get("set-cookie")!.split(";")[0]!;
  return {
    cookie: fresh,
    back: await server.send(response.headers.get("location")!, { headers: { cookie: fresh } }),
  };
}

test("a login older than max_age is not enough, a new one is (RFC 9470 section 4)", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  server.advance(61);
  assert.is((await request(server, cookie, { max_age: "100" })).status, 200);
  const refused = await request(server, cookie, { max_age: "60" });
  assert.ok(refused.toLogin);
  assert.is((await signInAgain(server, cookie, refused.location)).back.status, 200);
});

test("max_age=0 and prompt=login require exactly one new login", async () => {
  for (const parameters of [{ max_age: "0" }, { prompt: "login" }] as Record<string, string>[]) {
    const server = await newServer();
    const cookie = await server.signIn();
    server.advance(1);
    const first = await request(server, cookie, parameters);
    assert.ok(first.toLogin, JSON.stringify(parameters));
    // Going back without signing in leads to the login again: the requirement is stored, not in the URL.
    const redirect = new URL(first.location, ISSUER).searchParams.get("redirect")!;
    assert.not.match(redirect, /prompt|max_age/);
    const skipped = await server.send(redirect, { headers: { cookie } });
    assert.match(skipped.headers.get("location")!, /^\/login\?redirect=/);
    assert.is((await signInAgain(server, cookie, first.location)).back.status, 200);
  }
});

test("acr_values that a new login does not meet give unmet_authentication_requirements", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  assert.is((await request(server, cookie, { acr_values: "mfa password" })).status, 200);
  const first = await request(server, cookie, { acr_values: "mfa" });
  assert.ok(first.toLogin);
  const { back } = await signInAgain(server, cookie, first.location);
  const answer = new URL(back.headers.get("location")!).searchParams;
  assert.equal([answer.get("error"), answer.get("state")], ["unmet_authentication_requirements", "xyz"]);
});

test("authenticateUser sets the acr of access tokens and introspection, and the login sets auth_time", async () => {
  const server = await newServer({
    accessTokenFormat: "jwt",
    authenticateUser: (form) =>
      Promise.resolve(
        form.get("username") === "alice" && form.get("otp") === "123456"
          ? { id: "u1", name: "Alice", email: "a@example.com", acr: "mfa" }
          : undefined,
      ),
  });
  const form = { username: "alice", password: "x", otp: "123456" };
  const wrong = await server.send("/login", { form: { ...form, otp: "0" } });
  assert.is(wrong.status, 401);
  const cookie = (await server.send("/login", { form })).headers.get("set-cookie")!.split(";")[0]!;
  const page = await request(server, cookie, { acr_values: "mfa", scope: "profile" });
  const answer = await server.send("/oauth/authorize", {
    form: { transaction: transactionOf(page.text), decision: "approve" },
    headers: { cookie },
  });
  const code = new URL(answer.headers.get("location")!).searchParams.get("code")!;
  const { access_token } =
    await (await server.token({ grant_type: "authorization_code", code, redirect_uri: APP_URI })).json();
  const { acr, auth_time, iat } = readJws(access_token)!.claims as Record<string, number>;
  assert.ok(iat! - auth_time! <= 1);
  assert.is(acr, "mfa");
  const introspect = { token: access_token, client_id: "web", client_secret: "web-secret" };
  assert.is((await (await server.send("/oauth/introspect", { form: introspect })).json()).acr, "mfa");
  const user = await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } });
  assert.equal(await user.json(), { id: "u1", name: "Alice", email: "a@example.com" });
});

test("prompt=none gives a code or an error, never a page", async () => {
  const server = await newServer();
  assert.is((await request(server, undefined, { prompt: "none" })).error, "login_required");
  const cookie = await server.signIn();
  assert.is((await request(server, cookie, { prompt: "none" })).error, "consent_required");
  await server.authorize();
  assert.ok((await request(server, cookie, { prompt: "none" })).code);
  assert.is((await request(server, cookie, { prompt: "none", scope: "write" })).error, "consent_required");
  server.advance(100);
  assert.is((await request(server, cookie, { prompt: "none", max_age: "10" })).error, "login_required");
  assert.is((await request(server, cookie, { prompt: "none login" })).error, "invalid_request");
});

test("prompt=none does not redirect to an unverified client before a user has signed in (RFC 9700 section 4.11.2)", async () => {
  const server = await newServer();
  const metadata = { redirect_uris: ["https://stranger.example/cb"], token_endpoint_auth_method: "none" };
  const response = await server.send("/oauth/register", {
    method: "POST",
    form: JSON.stringify(metadata),
    headers: { "content-type": "application/json" },
  });
  const { client_id } = await response.json();
  const parameters = {
    client_id,
    redirect_uri: metadata.redirect_uris[0]!,
    prompt: "none",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  assert.ok((await request(server, undefined, parameters)).toLogin);
});

test("prompt=consent shows the consent page although consent is remembered", async () => {
  const server = await newServer({
    clients: [toClient({ id: "app", secret: "app secret:&%+", domain: "app.example" }, 0)],
  });
  await server.authorize();
  const cookie = await server.signIn();
  assert.ok((await request(server, cookie, {})).code);
  const page = await request(server, cookie, { prompt: "consent" });
  assert.is(page.status, 200);
  assert.match(page.text, '<ul class="access soft">');
});

for (const max_age of ["-1", "1.5", "x", "99999999999"]) {
  test(`max_age=${max_age} is refused with invalid_request`, async () => {
    const server = await newServer();
    assert.is((await request(server, await server.signIn(), { max_age })).error, "invalid_request");
  });
}

test.run();
