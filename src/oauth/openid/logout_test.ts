import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ClientRegistration } from "../clients/client_registration.ts";
import { APP_URI, ISSUER, newServer } from "../test_server.ts";
import { newProvider } from "./test_provider.ts";
import { end, isSignedIn, signedIn } from "./test_logout.ts";

const test = suite("oauth/openid/logout");

const OUT = "https://app.example/out";
const RP: ClientRegistration = {
  id: "rp",
  secret: "secret of rp",
  redirect_uris: [APP_URI],
  post_logout_redirect_uris: [OUT],
};

test("RP-Initiated Logout section 2: a hint of this session signs out and leads back with state", async () => {
  const server = await newProvider({}, {}, [RP]);
  const { cookie, id_token_hint } = await signedIn(server);
  const response = await end(server, cookie, { id_token_hint, post_logout_redirect_uri: OUT, state: "a b" });
  assert.equal([response.status, response.headers.get("location")], [303, `${OUT}?state=a%20b`]);
  assert.not.ok(await isSignedIn(server, cookie));
  // Without a session the hint still leads back.
  const again = await end(server, "", { id_token_hint, post_logout_redirect_uri: OUT });
  assert.equal([again.status, again.headers.get("location")], [303, OUT]);
});

test("RP-Initiated Logout section 2: by POST as well", async () => {
  const server = await newProvider({}, {}, [RP]);
  const { cookie, id_token_hint } = await signedIn(server);
  const posted = await server.send("/oauth/logout", {
    form: { id_token_hint, post_logout_redirect_uri: OUT },
    headers: { origin: "https://app.example" },
  });
  assert.is(posted.status, 303);
  const response = await server.send(posted.headers.get("location")!, { headers: { cookie } });
  assert.is(response.headers.get("location"), OUT);
});

test("attack: logout CSRF: without a hint of this session the user is asked", async () => {
  const server = await newProvider({}, {}, [RP]);
  const { cookie, id_token_hint } = await signedIn(server);
  const later = await server.signIn();
  const altered = id_token_hint.replace(/.{4}$/, "AAAA");
  const requests: readonly (readonly [string, Record<string, string>])[] = [
    [cookie, {}],
    [cookie, { client_id: "rp", post_logout_redirect_uri: OUT }],
    [cookie, { client_id: "rp", id_token_hint: altered }],
    // The hint is of another session of the same user.
    [later, { id_token_hint }],
  ];
  for (const [session, parameters] of requests) {
    const page = await end(server, session, parameters);
    assert.is(page.status, 200, JSON.stringify(parameters));
    assert.match(await page.text(), /name="decision" value="sign_out"/);
    assert.ok(await isSignedIn(server, session));
  }
  const form = { decision: "sign_out", client_id: "rp", post_logout_redirect_uri: OUT };
  for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
    const forged = await server.send("/oauth/logout", {
      form,
      headers: { cookie, ...headers } as Record<string, string>,
    });
    assert.is(forged.status, 400);
    assert.ok(await isSignedIn(server, cookie));
  }
  // Section 4: after a hint that is not valid the user is signed out, and not sent to the client.
  const invalid = { ...form, id_token_hint: altered };
  const stayed = await server.send("/oauth/logout", {
    form: invalid,
    headers: { cookie: later, origin: ISSUER },
  });
  assert.equal([stayed.status, stayed.headers.get("location")], [200, null]);
  const confirmed = await server.send("/oauth/logout", { form, headers: { cookie, origin: ISSUER } });
  assert.equal([confirmed.status, confirmed.headers.get("location")], [303, OUT]);
  assert.not.ok(await isSignedIn(server, cookie));
});

test("attack: open redirect: post_logout_redirect_uri must be registered for the client of the hint, exactly", async () => {
  const server = await newProvider({}, {}, [RP, {
    ...RP,
    id: "other",
    post_logout_redirect_uris: ["https://evil.example/"],
  }]);
  const { cookie, id_token_hint } = await signedIn(server);
  const refused: readonly Record<string, string>[] = [
    { id_token_hint, post_logout_redirect_uri: "https://evil.example/" },
    { id_token_hint, post_logout_redirect_uri: `${OUT}/` },
    { id_token_hint, post_logout_redirect_uri: `${OUT}?x=1` },
    { id_token_hint, post_logout_redirect_uri: APP_URI },
    { id_token_hint, client_id: "other", post_logout_redirect_uri: "https://evil.example/" },
    { post_logout_redirect_uri: OUT },
    { client_id: "unknown", post_logout_redirect_uri: OUT },
  ];
  for (const parameters of refused) {
    const response = await end(server, cookie, parameters);
    assert.equal(
      [response.status, response.headers.get("location")],
      [400, null],
      JSON.stringify(parameters),
    );
  }
  assert.ok(await isSignedIn(server, cookie));
});

test("with OpenID Connect off the endpoint does not exist", async () => {
  assert.is((await (await newServer()).send("/oauth/logout")).status, 404);
});

test("a user can sign out although the metadata document of the client cannot be fetched, and is sent nowhere", async () => {
  const server = await newProvider();
  const headers = { cookie: await server.signIn() };
  const query = new URLSearchParams({ client_id: "https://gone.example/client.json" });
  assert.is((await server.send(`/oauth/logout?${query}`, { headers })).status, 200);
  const form = { client_id: "https://gone.example/client.json", decision: "approve" };
  const done = await server.send("/oauth/logout", { form, headers });
  assert.is(done.status, 200);
  assert.match(done.headers.get("set-cookie")!, "Max-Age=0");
  query.set("post_logout_redirect_uri", "https://gone.example/");
  assert.is((await server.send(`/oauth/logout?${query}`, { headers })).status, 400);
});

test.run();
