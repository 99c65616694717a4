import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { connectionKey } from "../../oauth/connection_records.ts";
import { resealRecords } from "../../oauth/reseal.ts";
import { ISSUER } from "../../oauth/test_server.ts";
import { removeUser } from "../../oauth/users/remove_user.ts";
import { afterNextRead, interruptAfter } from "../../store/test_meanwhile.ts";
import { createUpstreamSealer, upstreamKey } from "../stored/stored_upstream.ts";
import { createStoredUpstreams } from "../stored/stored_upstreams.ts";
import { ConnectionRequired } from "./access.ts";
import { newConnection, newInstance, newPair, REGISTER, type TestPair, thrownBy } from "./test_connection.ts";
import {
  allow,
  callerOf,
  connectUrl,
  consent,
  failuresOf,
  newGateway,
  SECRETS,
  signedIn,
  UPSTREAM,
  UPSTREAM_URL,
  whoami,
} from "./test_credentials.ts";

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
  assert.is(await gateway.credentials.endConnections("up"), 1);
  await gateway.credentials.revokeEnded();
  assert.is(await whoami(upstream, before), "401");
  assert.equal(await store.list(["upstream_connection"]), []);
});

test("after a clock that was ahead is corrected, what could not be revoked is tried again", async () => {
  const { upstream, gateway, store, server, access, caller, alice } = await newConnection();
  const before = await access.headers(caller);
  upstream.tamper = ({ url }) => url.endsWith("/revoke") ? new Response(null, { status: 503 }) : undefined;
  server.advance(86_400);
  await removeUser(store, alice);
  // A call makes the round.
  await thrownBy(access.headers(caller));
  while (failuresOf(gateway).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  upstream.tamper = () => undefined;
  server.advance(-86_400);
  await thrownBy(access.headers(caller));
  for (let tries = 0; tries < 200 && (await store.list(["upstream_revocation"])).length > 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.is(await whoami(upstream, before), "401");
});

test("a revocation that fails while the server's secret is rotated is tried again with the new one", async () => {
  const { upstream, gateway, store, server, access, caller, alice } = await newConnection();
  const before = await access.headers(caller);
  const [old, current] = [SECRETS.current, new Uint8Array(32).fill(8)];
  upstream.tamper = async ({ url }, pass) => {
    if (!url.endsWith("/revoke")) return await pass();
    await resealRecords(store, async () => ({ current, accepted: [current, old], first: old }));
    return new Response(null, { status: 503 });
  };
  await removeUser(store, alice);
  await gateway.credentials.revokeEnded();
  upstream.tamper = () => undefined;
  server.advance(11 * 60);
  const other = await newGateway({ upstream, store, secrets: soleSecret(current) });
  other.server.advance(11 * 60);
  await other.credentials.revokeEnded();
  assert.is(await whoami(upstream, before), "401");
  assert.equal(await store.list(["upstream_revocation"]), []);
});

test("tokens that another server sealed are not dropped silently", async () => {
  const { upstream, store, alice } = await newConnection();
  await removeUser(store, alice);
  const other = await newGateway({ upstream, store, secrets: soleSecret(new Uint8Array(32).fill(8)) });
  await other.credentials.revokeEnded();
  assert.equal(failuresOf(other), ["not_revoked"]);
  assert.is((await store.list(["upstream_revocation"])).length, 1);
});

/** A connection to an upstream in the store, which can be removed. */
async function newStoredConnection() {
  const pair = await newConnection();
  const { store, gateway: { credentials, server } } = pair;
  const stored = createStoredUpstreams({
    store,
    sealer: createUpstreamSealer(() => SECRETS),
    now: server.now,
    isTrusted: false,
    isConfigured: (name) => name === "configured",
    check: () => {},
    read: async () => {},
    endConnections: credentials.endConnections,
    revokeEnded: credentials.revokeEnded,
  });
  const add = () => stored.add("up", { url: UPSTREAM_URL, auth: { type: "oauth" } });
  await add();
  return { ...pair, stored, add };
}

test("the removal of a stored upstream that is interrupted anywhere ends its connections when it is retried", async () => {
  for (let done = 0, isOver = false; !isOver; done++) {
    const { upstream, store, access, caller, stored } = await newStoredConnection();
    const before = await access.headers(caller);
    const end = interruptAfter(store, done);
    await stored.remove("up").catch(() => {});
    isOver = !end();
    const [isStored, isConnected] = await Promise.all(
      ["upstream", "upstream_connection"].map(async (kind) => (await store.list([kind])).length > 0),
    );
    assert.ok(isStored || !isConnected, `after ${done} commits an administrator sees nothing to remove`);
    await stored.remove("up");
    assert.is(await whoami(upstream, before), "401", String(done));
    for (const kind of ["upstream", "upstream_connection"]) {
      assert.equal(await store.list([kind]), [], String(done));
    }
  }
});

test("a user who connects while the upstream is removed stays connected no more", async () => {
  const { store, stored, alice } = await newStoredConnection();
  const key = connectionKey(alice, "up");
  const { value } = (await store.get(key))!;
  afterNextRead(store, "upstream", () => store.commit({ set: [{ key, value }] }));
  assert.is(await stored.remove("up"), true);
  assert.is(await store.get(key), undefined);
});

test("a stored upstream that changes while it is removed is removed", async () => {
  const { store, stored, add } = await newStoredConnection();
  afterNextRead(store, "upstream", add);
  assert.is(await stored.remove("up"), true);
  assert.equal(await store.list(["upstream"]), []);
});

test("the removal of a stored upstream keeps the connections of the configuration's one with its name", async () => {
  const { store, stored, alice } = await newStoredConnection();
  const key = connectionKey(alice, "configured");
  const { value } = (await store.get(connectionKey(alice, "up")))!;
  await store.commit({ set: [{ key, value }, { key: upstreamKey("configured"), value: {} }] });
  assert.is(await stored.remove("configured"), true);
  assert.ok(await store.get(key));
});

/** A user who is about to connect. `during` runs while the tokens are requested. */
async function newCallback(during: (pair: TestPair) => Promise<unknown>) {
  const pair = await newPair();
  const { upstream, gateway, alice } = pair;
  const browser = await signedIn(gateway, upstream, "alice");
  const callback = await allow(browser, await consent(browser, await connectUrl(gateway, alice)));
  let answer = "";
  upstream.tamper = async ({ url }, pass) => {
    const response = await pass();
    if (url !== `${UPSTREAM}/oauth/token`) return response;
    answer = await response.clone().text();
    await during(pair);
    return response;
  };
  const { status } = await browser.get(callback);
  const used = { Authorization: `Bearer ${JSON.parse(answer).access_token}` };
  return { ...pair, status, used };
}

test("a user who is removed or signs out while the tokens are requested leaves none alive", async () => {
  const ends: ((pair: TestPair) => Promise<unknown>)[] = [
    ({ store, alice }) => removeUser(store, alice),
    async ({ store }) => {
      const sessions = await store.list(["session"]);
      await store.commit({ remove: sessions.map(({ key }) => key) });
    },
  ];
  for (const end of ends) {
    const { upstream, store, status, used } = await newCallback(end);
    assert.is(status, 400);
    assert.equal(await store.list(["upstream_connection"]), []);
    assert.is(await whoami(upstream, used), "401");
  }
});

test("an upstream that is removed while the tokens are requested leaves none alive", async () => {
  const { upstream, store, status, used } = await newCallback(async ({ gateway: { credentials } }) => {
    credentials.forget("up");
    await credentials.endConnections("up");
  });
  assert.is(status, 400);
  assert.equal(await store.list(["upstream_connection"]), []);
  assert.is(await whoami(upstream, used), "401");
});

test("a connection is kept when the store is unavailable after the tokens were requested", async () => {
  const { upstream, access, alice, status } = await newCallback(async ({ store }) => {
    const end = interruptAfter(store, 0);
    setTimeout(end, 50);
  });
  assert.is(status, 303);
  assert.is(await whoami(upstream, await access.headers(callerOf(alice))), upstream.users["alice"]!);
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
