import { suite } from "uvu";
import * as assert from "uvu/assert";
import { connectionKey, type UpstreamConnection } from "../../oauth/connection_records.ts";
import { ISSUER } from "../../oauth/test_server.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { AccessDenied, AccessUnavailable, ConnectionRequired } from "./access.ts";
import {
  connectionOf,
  grantsOf,
  newConnection,
  newInstance,
  newPair,
  REGISTER,
  thrownBy,
} from "./test_connection.ts";
import {
  allow,
  callerOf,
  connectUrl,
  connectUser,
  consent,
  failuresOf,
  newGateway,
  newUpstream,
  signedIn,
  type TestGateway,
  UPSTREAM,
  UPSTREAM_URL,
  whoami,
} from "./test_credentials.ts";

const test = suite("gateway/credentials/oauth_access");

/** The store answers its next commit with an error. @param isWritten whether it takes effect nevertheless */
function failNextCommit(store: Store, isWritten: boolean): void {
  const { commit } = store;
  Object.assign(store, {
    async commit(...call: Parameters<Store["commit"]>) {
      Object.assign(store, { commit });
      if (isWritten) await commit.apply(store, call);
      throw new StoreUnavailableError("interrupted");
    },
  });
}

test("a user connects an upstream by registration, PKCE and resource, and its tools see that user", async () => {
  const { upstream, gateway, access, alice, events } = await newPair();
  const url = await connectUrl(gateway, alice);
  assert.ok(url.startsWith(`${ISSUER}/account/connections/connect?link=`));
  const browser = await signedIn(gateway, upstream, "alice");
  assert.match(await (await browser.get(url)).text(), "upstream.example");
  const location = new URL(await consent(browser, url));
  assert.is(location.origin + location.pathname, `${UPSTREAM}/oauth/authorize`);
  assert.is(location.searchParams.get("code_challenge_method"), "S256");
  assert.is(location.searchParams.get("resource"), UPSTREAM_URL);
  const done = await browser.get(await allow(browser, location.href));
  assert.is(done.status, 303);
  assert.match(done.headers.get("location")!, /^\/account\/connections\?done=connected\./);
  assert.is(await whoami(upstream, await access.headers(callerOf(alice))), upstream.users["alice"]!);
  const [form] = await grantsOf(upstream, "authorization_code");
  assert.is(form!.get("resource"), UPSTREAM_URL);
  assert.ok(form!.has("code_verifier"));
  assert.equal(events.filter(({ type }) => type === "connection_added"), [
    { type: "connection_added", user: alice, upstream: "up", ip: undefined },
  ]);
});

test("an authorization server that supports documents gets the address of one, and no registration", async () => {
  // deno-lint-ignore prefer-const
  let gateway: TestGateway;
  const connect = (url: string) => gateway.credentials.service.fetch(new Request(url));
  const upstream = await newUpstream({ connect });
  gateway = await newGateway({ upstream });
  const access = gateway.credentials.add("up", { url: UPSTREAM_URL, auth: { type: "oauth" } });
  const browser = await signedIn(gateway, upstream, "alice");
  assert.is((await connectUser(browser)).status, 303);
  assert.is(await whoami(upstream, await access.headers(callerOf(gateway.alice))), upstream.users["alice"]!);
  const [form] = await grantsOf(upstream, "authorization_code");
  assert.match(form!.get("client_id")!, /^https:\/\/as\.example\/connections\/[\w-]{22}\/client\.json$/);
  assert.is(upstream.requests.filter(({ url }) => url.endsWith("/oauth/register")).length, 0);
});

test("a configured client is used as it is, with its own redirect URI", async () => {
  const redirect_uris = [`${ISSUER}/account/connections/callback/up`];
  const clients = [{ id: "trivet", secret: "its secret", redirect_uris }];
  const { upstream, access, caller } = await newConnection({ ...REGISTER, clients }, {
    clientId: "trivet",
    clientSecret: "its secret",
    issuer: UPSTREAM,
  });
  assert.is(await whoami(upstream, await access.headers(caller)), upstream.users["alice"]!);
  assert.is(upstream.requests.filter(({ url }) => url.endsWith("/oauth/register")).length, 0);
});

test("two instances register once at one authorization server", async () => {
  const { upstream, gateway, alice, mallory } = await newPair();
  const other = await newInstance(upstream, gateway);
  const browsers = await Promise.all([
    signedIn(gateway, upstream, "alice"),
    signedIn(other, upstream, "mallory"),
  ]);
  const urls = [await connectUrl(gateway, alice), await connectUrl(other, mallory)];
  const locations = await Promise.all(browsers.map((browser, i) => consent(browser, urls[i]!)));
  const ids = locations.map((location) => new URL(location).searchParams.get("client_id"));
  assert.is(ids[0], ids[1]);
  assert.is(upstream.requests.filter(({ url }) => url.endsWith("/oauth/register")).length, 1);
});

test("a registration that the server forgot is made again", async () => {
  const { upstream, gateway, access, alice } = await newPair();
  const browser = await signedIn(gateway, upstream, "alice");
  const location = await consent(browser, await connectUrl(gateway, alice));
  const callback = await allow(browser, location);
  const { client_id } = Object.fromEntries(new URL(location).searchParams);
  await upstream.store.commit({ remove: [["client", client_id!]] });
  assert.is((await browser.get(callback)).status, 502);
  const again = await consent(browser, await connectUrl(gateway, alice));
  assert.is((await browser.get(await allow(browser, again))).status, 303);
  assert.is(await whoami(upstream, await access.headers(callerOf(alice))), upstream.users["alice"]!);
});

test("of 20 concurrent calls on each of two instances one refreshes, and all get its token", async () => {
  const { upstream, gateway, alice, browser, caller } = await newConnection({
    ...REGISTER,
    accessTokenLifetime: 600,
  });
  const other = await newInstance(upstream, gateway);
  const mallorys = await signedIn(gateway, upstream, "mallory");
  assert.is((await connectUser(mallorys)).status, 303);
  void browser;
  for (const each of [gateway, other]) each.server.advance(700);
  upstream.advance(700);
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, i) => [
      (i % 2 ? gateway : other).credentials.accessFor("up").headers(caller),
      (i % 2 ? other : gateway).credentials.accessFor("up").headers(callerOf(gateway.mallory)),
    ]).flat(),
  );
  const fields = new Set(tokens.map((headers) => headers["Authorization"]));
  assert.is(fields.size, 2);
  assert.is((await grantsOf(upstream, "refresh_token")).length, 2);
  assert.is(await whoami(upstream, tokens[0]!), upstream.users["alice"]!);
  assert.is(await whoami(upstream, tokens[1]!), upstream.users["mallory"]!);
  assert.is(
    (await gateway.store.get<UpstreamConnection>(connectionKey(alice, "up")))?.value.refresh,
    undefined,
  );
});

test("a caller that has gone does not wait for the refresh of another", async () => {
  const { upstream, server, access, caller } = await newConnection({ ...REGISTER, accessTokenLifetime: 600 });
  server.advance(700);
  upstream.advance(700);
  const gone = new AbortController();
  const waiting: Promise<unknown>[] = [];
  upstream.tamper = async ({ url }, pass) => {
    if (url === `${UPSTREAM}/oauth/token`) {
      waiting.push(thrownBy(access.headers(caller, gone.signal)));
      gone.abort();
      assert.is((await waiting[0] as Error).name, "AbortError");
    }
    return await pass();
  };
  assert.is(await whoami(upstream, await access.headers(caller)), upstream.users["alice"]!);
  assert.is(waiting.length, 1);
});

test("a rotated refresh token is kept, and serves the next refresh", async () => {
  const { upstream, server, access, caller } = await newConnection({ ...REGISTER, accessTokenLifetime: 600 });
  for (let round = 0; round < 3; round++) {
    server.advance(700);
    upstream.advance(700);
    assert.is(await whoami(upstream, await access.headers(caller)), upstream.users["alice"]!);
  }
  const forms = await grantsOf(upstream, "refresh_token");
  assert.is(new Set(forms.map((form) => form.get("refresh_token"))).size, 3);
  assert.ok(forms.every((form) => form.get("resource") === UPSTREAM_URL));
});

test("a refresh token is kept when the store is unavailable, or an answer of it is lost, after the refresh", async () => {
  for (const isWritten of [false, true]) {
    const { upstream, server, store, access, caller } = await newConnection({
      ...REGISTER,
      accessTokenLifetime: 600,
      refreshRetryGrace: 0,
    });
    server.advance(700);
    upstream.advance(700);
    upstream.tamper = async ({ url }, pass) => {
      const response = await pass();
      if (url === `${UPSTREAM}/oauth/token`) failNextCommit(store, isWritten);
      return response;
    };
    const headers = await access.headers(caller);
    assert.is(await whoami(upstream, headers), upstream.users["alice"]!, String(isWritten));
    server.advance(700);
    upstream.advance(700);
    upstream.tamper = () => undefined;
    assert.is(await whoami(upstream, await access.headers(caller)), upstream.users["alice"]!);
  }
});

test("a token that the upstream refuses is refreshed once for all calls that used it", async () => {
  const { upstream, server, access, caller } = await newConnection();
  server.advance(60);
  const used = await access.headers(caller);
  const refusal = { status: 401, challenge: "Bearer", url: UPSTREAM_URL, used };
  const again = await Promise.all(Array.from({ length: 20 }, () => access.refused(caller, refusal)));
  assert.ok(again.every((each) => each === true));
  assert.is((await grantsOf(upstream, "refresh_token")).length, 1);
  assert.is.not((await access.headers(caller))["Authorization"], used["Authorization"]);
});

test("a fresh token that is refused leads to the page, and not to a refresh with every call", async () => {
  const { upstream, access, caller } = await newConnection();
  const used = await access.headers(caller);
  const refusal = { status: 401, challenge: 'Bearer error="invalid_token"', url: UPSTREAM_URL, used };
  assert.instance(await thrownBy(access.refused(caller, refusal)), ConnectionRequired);
  assert.is((await grantsOf(upstream, "refresh_token")).length, 0);
});

test("a refresh token that is refused ends the connection", async () => {
  const { upstream, gateway, server, access, caller } = await newConnection({
    ...REGISTER,
    accessTokenLifetime: 600,
  });
  server.advance(700);
  upstream.tamper = ({ url }) =>
    url === `${UPSTREAM}/oauth/token`
      ? Response.json({ error: "invalid_grant" }, { status: 400 })
      : undefined;
  assert.instance(await thrownBy(access.headers(caller)), ConnectionRequired);
  assert.is(await connectionOf(gateway), undefined);
  assert.equal(failuresOf(gateway), ["refresh_refused"]);
});

test("an authorization server that is down ends no connection", async () => {
  const { upstream, gateway, server, access, caller } = await newConnection({
    ...REGISTER,
    accessTokenLifetime: 600,
  });
  server.advance(700);
  upstream.advance(700);
  upstream.tamper = ({ url }) => url.endsWith("/token") ? new Response("down", { status: 503 }) : undefined;
  const error = await thrownBy(access.headers(caller));
  assert.instance(error, AccessUnavailable);
  assert.not.match(String(error), /trivet_/);
  upstream.tamper = () => undefined;
  server.advance(5);
  assert.is(await whoami(upstream, await access.headers(caller)), upstream.users["alice"]!);
  assert.equal(failuresOf(gateway), []);
});

test("after a clock that was ahead is corrected, stale and refused tokens are refreshed", async () => {
  const { upstream, server, access, caller } = await newConnection({ ...REGISTER, accessTokenLifetime: 600 });
  const [hour, day] = [3600, 86_400];
  server.advance(day);
  upstream.tamper = ({ url }) => url.endsWith("/token") ? new Response("down", { status: 503 }) : undefined;
  assert.instance(await thrownBy(access.headers(caller)), AccessUnavailable);
  upstream.tamper = () => undefined;
  server.advance(hour - day);
  upstream.advance(hour);
  assert.is(await whoami(upstream, await access.headers(caller)), upstream.users["alice"]!);
  server.advance(day);
  const used = await access.headers(caller);
  server.advance(hour - day);
  upstream.advance(hour);
  const refusal = { status: 401, challenge: "Bearer", url: UPSTREAM_URL, used };
  assert.is(await access.refused(caller, refusal), true);
  assert.is(await whoami(upstream, await access.headers(caller)), upstream.users["alice"]!);
});

test("a scope that is missing is asked for, with those that the user has already", async () => {
  const { gateway, upstream, access, caller, browser, alice } = await newConnection(undefined, {
    scopes: ["read"],
  });
  const used = await access.headers(caller);
  const challenge = 'Bearer error="insufficient_scope", scope="write"';
  const error = await thrownBy(access.refused(caller, { status: 403, challenge, url: UPSTREAM_URL, used }));
  assert.instance(error, ConnectionRequired);
  const location = await consent(browser, (error as ConnectionRequired).url);
  assert.is(new URL(location).searchParams.get("scope"), "read write");
  assert.is((await browser.get(await allow(browser, location))).status, 303);
  const { scope } = (await connectionOf(gateway))!;
  assert.equal(scope!.split(" ").sort(), ["read", "write"]);
  // With all scopes the upstream refuses for another reason, and the user is not asked again.
  const now = await access.headers(callerOf(alice));
  const refusal = { status: 403, challenge, url: UPSTREAM_URL, used: now };
  assert.is(await access.refused(caller, refusal), false);
  assert.is(await access.refused(caller, { ...refusal, challenge: null }), false);
  assert.is(await whoami(upstream, now), upstream.users["alice"]!);
});

test("anonymous callers, clients and users of another issuer cannot connect", async () => {
  const { access, alice } = await newPair();
  const { subject: _, ...client } = callerOf(alice);
  for (const caller of [undefined, client, { ...callerOf(alice), issuer: "https://other.example" }]) {
    assert.instance(await thrownBy(access.headers(caller)), AccessDenied);
    const refusal = { status: 401, challenge: "Bearer", url: UPSTREAM_URL, used: {} };
    assert.instance(await thrownBy(access.refused(caller, refusal)), AccessDenied);
  }
  const partitions = [
    access.partition(undefined),
    access.partition(callerOf("a")),
    access.partition(callerOf("b")),
    access.partition({ ...callerOf("a"), issuer: "https://other.example" }),
  ];
  assert.is(new Set(partitions).size, 4);
});

test("no token of this server reaches the upstream, and no token of the upstream is accepted here", async () => {
  const { upstream, server, access, caller } = await newConnection();
  const own = (await server.tokens())["access_token"]!;
  const headers = await access.headers(caller);
  await whoami(upstream, headers);
  for (const request of upstream.requests) {
    const sent = `${request.url} ${JSON.stringify([...request.headers])} ${await request.clone().text()}`;
    assert.not.ok(sent.includes(own));
  }
  assert.is(await whoami(upstream, { Authorization: `Bearer ${own}` }), "401");
  const theirs = { authorization: headers["Authorization"]! };
  for (const resource of [`${ISSUER}/mcp`, ISSUER]) {
    const found = await server.service.identify(new Request(resource, { headers: theirs }), {}, resource);
    assert.is((found as { error?: string }).error, "invalid_token");
  }
});

test("no secret is in a record, an event or an error", async () => {
  const { store, gateway, access, caller } = await newConnection();
  const token = (await access.headers(caller))["Authorization"]!.slice("Bearer ".length);
  const records = [];
  for (const kind of ["upstream_connection", "upstream_client", "upstream_attempt"]) {
    records.push(...await store.list([kind]));
  }
  assert.ok(records.length >= 2);
  const text = JSON.stringify([records, gateway.events]);
  for (const secret of [token, "trivet_rt_", "trivet_cs_", "code_verifier"]) {
    assert.not.ok(text.includes(secret));
  }
});

test.run();
