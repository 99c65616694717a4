import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ISSUER } from "../../oauth/test_server.ts";
import { removeUser } from "../../oauth/users/remove_user.ts";
import { ConnectionRequired } from "./access.ts";
import { newConnection, newInstance, newPair, REGISTER, thrownBy } from "./test_connection.ts";
import { allow, connectUrl, consent, failuresOf, signedIn, UPSTREAM, whoami } from "./test_credentials.ts";

const test = suite("gateway/credentials/revocations");

test("disconnecting revokes the tokens at the upstream", async () => {
  const { upstream, gateway, store, access, caller, browser } = await newConnection();
  const before = await access.headers(caller);
  const path = `${ISSUER}/account/connections/disconnect`;
  assert.match(await (await browser.get(`${path}?upstream=up`)).text(), "upstream.example");
  const response = await browser.post(path, { upstream: "up" });
  assert.is(response.status, 303);
  await Promise.all(gateway.work);
  assert.is(await whoami(upstream, before), "401");
  assert.instance(await thrownBy(access.headers(caller)), ConnectionRequired);
  for (const kind of ["upstream_connection", "upstream_revocation"]) {
    assert.equal(await store.list([kind]), []);
  }
  assert.equal(gateway.events.filter(({ type }) => type === "connection_removed").length, 1);
});

test("removing the user revokes the tokens, after a restart and when the upstream was down, too", async () => {
  const { upstream, gateway, store, access, caller, alice } = await newConnection();
  const before = await access.headers(caller);
  upstream.tamper = ({ url }) => url.endsWith("/revoke") ? new Response(null, { status: 503 }) : undefined;
  await removeUser(store, alice);
  assert.equal(await store.list(["upstream_connection"]), []);
  await gateway.credentials.revokeEnded();
  assert.equal(failuresOf(gateway), ["not_revoked"]);
  upstream.tamper = () => undefined;
  const other = await newInstance(upstream, gateway);
  other.server.advance(11 * 60);
  await other.credentials.revokeEnded();
  assert.is(await whoami(upstream, before), "401");
  assert.equal(await store.list(["upstream_revocation"]), []);
});

test("removing the upstream revokes the tokens, and one of the same name at another URL gets none", async () => {
  const { upstream, gateway, store, access, caller } = await newConnection();
  const before = await access.headers(caller);
  const elsewhere = "https://evil.example/mcp";
  const evil = gateway.credentials.add("up", { url: elsewhere, auth: { type: "oauth" } });
  assert.instance(await thrownBy(evil.headers(caller)), ConnectionRequired);
  assert.is(await gateway.credentials.remove("up"), 1);
  assert.is(await whoami(upstream, before), "401");
  assert.equal(await store.list(["upstream_connection"]), []);
});

test("a user who is removed while the tokens are requested keeps none", async () => {
  const { upstream, gateway, store, alice } = await newPair();
  const browser = await signedIn(gateway, upstream, "alice");
  const callback = await allow(browser, await consent(browser, await connectUrl(gateway, alice)));
  upstream.tamper = ({ url }, pass) =>
    url === `${UPSTREAM}/oauth/token` ? removeUser(store, alice).then(pass) : undefined;
  assert.is((await browser.get(callback)).status, 400);
  assert.equal(await store.list(["upstream_connection"]), []);
});

test("a connection that ends while it is refreshed leaves no token alive", async () => {
  const { upstream, store, server, access, caller, alice } = await newConnection({
    ...REGISTER,
    accessTokenLifetime: 600,
  });
  server.advance(700);
  upstream.advance(700);
  let answer = "";
  upstream.tamper = async ({ url }, pass) => {
    const response = await pass();
    if (url !== `${UPSTREAM}/oauth/token`) return response;
    answer = await response.clone().text();
    await removeUser(store, alice);
    return response;
  };
  assert.instance(await thrownBy(access.headers(caller)), ConnectionRequired);
  const { access_token } = JSON.parse(answer);
  assert.is(await whoami(upstream, { Authorization: `Bearer ${access_token}` }), "401");
  assert.equal(await store.list(["upstream_connection"]), []);
});

test.run();
