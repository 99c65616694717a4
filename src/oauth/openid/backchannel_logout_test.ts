import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { oidc } from "../sign_in/oidc.ts";
import {
  CLIENT,
  newBrowser,
  newProvider as newIdentityProvider,
  PROVIDER,
  signIn,
} from "../sign_in/test_provider.ts";
import { addUser } from "../users/user.ts";
import { endUserSession, endUserSessions, listUserSessions } from "../users/user_sessions.ts";
import type { Commit, Key, ListOptions } from "../../store/store.ts";
import type { SessionClient } from "../records/session_record.ts";
import { APP_URI, ISSUER, transactionOf } from "../test_server.ts";
import { newProvider, type TestProvider } from "./test_provider.ts";
import { end, isSignedIn, signedIn } from "./test_logout.ts";
import { until } from "../../test_until.ts";

const test = suite("oauth/openid/backchannel_logout");

interface Sent {
  readonly url: string;
  readonly logout_token: string | null;
}

/** A provider whose logout tokens arrive in `sent`; `answer` decides the response of each client. */
async function withReceiver(
  answer: (url: string, attempt: number) => Promise<Response> | Response,
  options: Partial<AuthorizationServerOptions> = {},
) {
  const sent: Sent[] = [];
  const work: Promise<unknown>[] = [];
  const connect = (url: string, init: RequestInit) => {
    sent.push({ url, logout_token: new URLSearchParams(String(init.body)).get("logout_token") });
    return Promise.resolve(answer(url, sent.filter((each) => each.url === url).length));
  };
  const server = await newProvider({}, { connect, ...options });
  const context = { waitUntil: (promise: Promise<unknown>) => void work.push(promise) };
  const register = async (backchannel_logout_uri: string) => {
    const response = await server.send("/oauth/register", {
      method: "POST",
      headers: { "content-type": "application/json" },
      form: JSON.stringify({
        redirect_uris: [APP_URI],
        backchannel_logout_uri,
        token_endpoint_auth_method: "client_secret_post",
      }),
    });
    return await response.json() as { client_id: string; client_secret: string };
  };
  const logOut = (cookie: string) =>
    server.service.fetch(new Request(`${ISSUER}/logout`, { method: "POST", headers: { cookie } }), context);
  return { server, sent, work, register, logOut };
}

/** Sends what is due, as a request of an instance does. */
async function sendDue({ service }: TestProvider): Promise<void> {
  const work: Promise<unknown>[] = [];
  const context = { waitUntil: (promise: Promise<unknown>) => void work.push(promise) };
  await service.fetch(new Request(`${ISSUER}/oauth/logout`), context);
  await Promise.all(work);
}

test("Back-Channel Logout section 2.4: each client of the session gets a logout token of its own", async () => {
  const { server, sent, work, register, logOut } = await withReceiver(() =>
    new Response(null, { status: 204 })
  );
  const rp = await register("https://rp.example/logout");
  const { cookie, id_token_hint } = await signedIn(server, rp.client_id, rp.client_secret);
  const idToken = (await server.verify(id_token_hint)).claims;
  await logOut(cookie);
  await Promise.all(work);
  assert.equal(sent.map(({ url }) => url), ["https://rp.example/logout"]);
  const { header, claims } = await server.verify(sent[0]!.logout_token!);
  assert.equal([header.typ, header.alg], ["logout+jwt", "RS256"]);
  assert.equal(claims.events, { "http://schemas.openid.net/event/backchannel-logout": {} });
  for (const name of ["iss", "sub", "aud", "sid"]) assert.equal(claims[name], idToken[name], name);
  assert.match(String(claims.jti), /.{16}/);
  assert.ok((claims.exp as number) - (claims.iat as number) <= 120);
  assert.not.ok("nonce" in claims);
  // A logout token is no hint: it would sign out without a question.
  const forged = await end(server, await server.signIn(), { id_token_hint: sent[0]!.logout_token! });
  assert.match(await forged.text(), /name="decision"/);
});

test("all clients of a session with more than a hundred are notified, a hundred at a time", async () => {
  for (const isLogout of [true, false]) {
    const { server, work, register, logOut } = await withReceiver(() => new Response(null));
    const rp = await register("https://rp.example/logout");
    const { cookie } = await signedIn(server, rp.client_id, rp.client_secret);
    const [entry] = await server.store.list<SessionClient>(["session_client"]);
    const { key, value, expires } = entry!;
    for (let i = 0; i < 450; i++) {
      const client_id = `client ${i}`;
      const set = [{ key: [...key.slice(0, -1), client_id], value: { ...value, client_id }, expires }];
      await server.store.commit({ set });
    }
    if (isLogout) await logOut(cookie);
    else await endUserSessions(server.store, value.user);
    await Promise.all(work);
    for (let i = 0; i < 5; i++) {
      server.advance(61);
      await sendDue(server);
    }
    for (const kind of ["session_client", "ended_session", "logout_notice"]) {
      assert.equal(await server.store.list([kind]), [], kind);
    }
  }
});

test("sessions in which a client took no part do not concern it", async () => {
  const { server, sent, work, register, logOut } = await withReceiver(() => new Response(null));
  const rp = await register("https://rp.example/logout");
  await signedIn(server, rp.client_id, rp.client_secret);
  await logOut(await server.signIn());
  await Promise.all(work);
  assert.equal(sent, []);
});

test("a client that never answers delays neither the user nor other clients, and a failure is retried", async () => {
  const { server, sent, work, register, logOut } = await withReceiver((url, attempt) =>
    url.includes("slow")
      ? new Promise<Response>(() => {})
      : new Response(null, { status: attempt === 1 ? 503 : 200 })
  );
  const slow = await register("https://slow.example/logout");
  const good = await register("https://rp.example/logout");
  const { cookie } = await signedIn(server, slow.client_id, slow.client_secret);
  const page = await server.send(
    server.authorizePath({ client_id: good.client_id, scope: "openid" }),
    { headers: { cookie } },
  );
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  await server.send("/oauth/authorize", { form, headers: { cookie } });
  assert.is((await logOut(cookie)).status, 200);
  assert.is(work.length, 1);
  const isPending = () => Promise.race([work[0]!.then(() => false), Promise.resolve(true)]);
  assert.ok(await isPending());
  await until(() => sent.filter(({ url }) => url.includes("rp.example")).length === 2);
  assert.ok(await isPending());
});

test("a notice that waits when its process stops is sent by another instance", async () => {
  const first = await withReceiver(() => new Promise<Response>(() => {}));
  const rp = await first.register("https://rp.example/logout");
  const { cookie } = await signedIn(first.server, rp.client_id, rp.client_secret);
  await first.logOut(cookie);
  const store = first.server.store;
  const second = await withReceiver(() => new Response(null, { status: 200 }), { store });
  await sendDue(second.server);
  assert.equal(second.sent, [], "the first instance may still be sending");
  second.server.advance(61);
  await sendDue(second.server);
  assert.equal(second.sent.map(({ url }) => url), ["https://rp.example/logout"]);
  assert.is((await second.server.verify(second.sent[0]!.logout_token!)).claims.aud, rp.client_id);
  second.server.advance(61);
  await sendDue(second.server);
  assert.is(second.sent.length, 1, "a delivered notice is not sent again");
});

test("a delivery that failed is tried again with growing pauses, and given up within a day", async () => {
  const { server, sent, work, register, logOut } = await withReceiver(() =>
    new Response(null, { status: 503 })
  );
  const rp = await register("https://rp.example/logout");
  const { cookie } = await signedIn(server, rp.client_id, rp.client_secret);
  await logOut(cookie);
  await Promise.all(work);
  const tries = [sent.length];
  for (const seconds of [9, 52, 59, 4, 290, 61, 1790, 61, 7190, 61, 21_590, 61, 86_400]) {
    server.advance(seconds);
    await sendDue(server);
    tries.push(sent.length);
  }
  assert.equal(tries, [2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]);
  assert.is(server.events.filter(({ type }) => type === "logout_not_delivered").length, 1);
  assert.equal(await server.store.list(["logout_notice"]), []);
});

test("Back-Channel Logout section 2.8: a client that answers 400 is not asked again", async () => {
  const { server, sent, work, register, logOut } = await withReceiver(() =>
    new Response(null, { status: 400 })
  );
  const rp = await register("https://rp.example/logout");
  await logOut((await signedIn(server, rp.client_id, rp.client_secret)).cookie);
  await Promise.all(work);
  server.advance(3600);
  await sendDue(server);
  assert.is(sent.length, 1);
  assert.is(server.events.filter(({ type }) => type === "logout_not_delivered").length, 1);
  assert.equal(await server.store.list(["logout_notice"]), []);
});

test("two instances that send what is due send each notice once", async () => {
  const first = await withReceiver(() => new Promise<Response>(() => {}));
  const clients = [];
  for (const name of ["one", "two", "three"]) {
    clients.push(await first.register(`https://${name}.example/logout`));
  }
  for (const { client_id, client_secret } of clients) {
    await first.logOut((await signedIn(first.server, client_id, client_secret)).cookie);
  }
  const { store } = first.server;
  const answer = () => new Response(null, { status: 204 });
  const others = [await withReceiver(answer, { store }), await withReceiver(answer, { store })];
  for (const { server } of others) server.advance(70);
  await Promise.all(others.map(({ server }) => sendDue(server)));
  const urls = others.flatMap(({ sent }) => sent.map(({ url }) => url));
  assert.equal(urls.sort(), ["one", "three", "two"].map((name) => `https://${name}.example/logout`));
});

for (const moment of ["while its clients are read", "just before it ends"]) {
  test(`a client that gets a code in a session ${moment} is notified, and once`, async () => {
    const { server, sent, work, register, logOut } = await withReceiver(() => new Response(null));
    const { client_id, client_secret } = await register("https://rp.example/logout");
    let { cookie } = await signedIn(server, client_id, client_secret);
    // Another session than that in which the user allowed it.
    if (moment.startsWith("just")) cookie = await server.signIn();
    const path = server.authorizePath({ client_id, scope: "openid", prompt: "none" });
    let code: string | null | undefined;
    let queued: number | undefined;
    const authorizeOnce = async () => {
      if (code !== undefined) return;
      code = null;
      const { headers } = await server.send(path, { headers: { cookie } });
      code = new URL(headers.get("location")!).searchParams.get("code");
    };
    const { store } = server;
    const [list, commit] = [store.list.bind(store), store.commit.bind(store)];
    Object.assign(store, {
      async list(prefix: Key, options?: ListOptions) {
        const found = await list(prefix, options);
        if (moment.startsWith("while") && prefix[0] === "session_client") await authorizeOnce();
        return found;
      },
      async commit(changes: Commit) {
        if (changes.remove?.some(([kind]) => kind === "session")) {
          if (moment.startsWith("just")) await authorizeOnce();
          queued = (await list(["logout_notice"])).length;
        }
        return await commit(changes);
      },
    });
    await logOut(cookie);
    await Promise.all(work);
    server.advance(61);
    await sendDue(server);
    assert.match(code!, /^trivet_ac_/);
    // Where it can be, the notice is stored first: then no failure leaves the client without one.
    assert.is(queued, moment.startsWith("just") ? 0 : 1);
    assert.equal(sent.map(({ url }) => url), ["https://rp.example/logout"]);
  });
}

for (const signsInAgain of [false, true]) {
  const when = signsInAgain ? ", after a new login" : "";
  test(`the clients of a session are notified when its user ends it elsewhere${when}`, async () => {
    const { server, sent, register } = await withReceiver(() => new Response(null, { status: 200 }));
    const rp = await register("https://rp.example/logout");
    const { id_token_hint, cookie } = await signedIn(server, rp.client_id, rp.client_secret);
    const { claims } = await server.verify(id_token_hint);
    const user = String(claims.sub);
    if (signsInAgain) {
      const form = { username: "alice", password: "wonderland" };
      await server.send("/login", { form, headers: { cookie } });
      const [session] = await listUserSessions(server.store, user);
      assert.ok(await endUserSession(server.store, user, session!.id));
    } else await endUserSessions(server.store, user);
    server.advance(60);
    await sendDue(server);
    assert.equal(sent.map(({ url }) => url), ["https://rp.example/logout"]);
    assert.is((await server.verify(sent[0]!.logout_token!)).claims.sid, claims.sid);
  });
}

test("the clients of a session that is ended on the account page are notified at once", async () => {
  const receiver = await withReceiver(() => new Response(null, { status: 200 }), { account: true });
  const { server, sent, register } = receiver;
  const rp = await register("https://rp.example/logout");
  await signedIn(server, rp.client_id, rp.client_secret);
  const cookie = await server.signIn();
  const work: Promise<unknown>[] = [];
  const response = await server.service.fetch(
    new Request(`${ISSUER}/account/sessions`, {
      method: "POST",
      headers: { cookie, origin: ISSUER },
      body: new URLSearchParams({ end: "others" }),
    }),
    { waitUntil: (promise) => void work.push(promise) },
  );
  assert.is(response.status, 303);
  await Promise.all(work);
  assert.equal(sent.map(({ url }) => url), ["https://rp.example/logout"]);
});

test("a login over a session notifies its clients if it is of another user", async () => {
  const { server, sent, work, register, logOut } = await withReceiver(() => new Response(null), {
    sessionLifetime: 3600,
    sessionIdleLifetime: 3600,
  });
  await addUser(server.store, { username: "bob", password: "builder-builder" }, 1000);
  const rp = await register("https://rp.example/logout");
  async function signInOver(cookie: string, username: string, password: string): Promise<string> {
    const login = await server.service.fetch(
      new Request(`${ISSUER}/login`, {
        method: "POST",
        body: new URLSearchParams({ username, password }),
        headers: { cookie },
      }),
      { waitUntil: (promise) => void work.push(promise) },
    );
    assert.is(login.status, 200);
    await Promise.all(work);
    assert.not.ok(await isSignedIn(server, cookie));
    return login.headers.get("set-cookie")!.split(";")[0]!;
  }

  const { cookie, id_token_hint } = await signedIn(server, rp.client_id, rp.client_secret);
  const { claims } = await server.verify(id_token_hint);
  server.advance(3000);
  let next = await signInOver(cookie, "alice", "wonderland");
  server.advance(3000);
  next = await signInOver(next, "alice", "wonderland");
  assert.equal(sent, [], "a new login of the same user continues the session, for its clients too");
  const bob = await signInOver(next, "bob", "builder-builder");
  assert.equal(sent.map(({ url }) => url), ["https://rp.example/logout"]);
  const token = (await server.verify(sent.pop()!.logout_token!)).claims;
  assert.equal([token.sid, token.sub], [claims.sid, claims.sub]);
  // The session that took its place has no client yet.
  await logOut(bob);
  await Promise.all(work);
  assert.equal(sent, []);
  for (const kind of ["session", "user_session", "session_client", "ended_session"]) {
    assert.equal((await server.store.list([kind])).map(({ key }) => key), [], kind);
  }
  // A cookie that is no session stores nothing.
  const form = { username: "alice", password: "wonderland" };
  await server.send("/login", { form, headers: { cookie: "session_id=unknown" } });
  assert.equal(await server.store.list(["ended_session"]), []);
});

test("a session whose user signed in at a provider long ago notifies its clients as long as it lives", async () => {
  const provider = await newIdentityProvider();
  const { server, sent, register } = await withReceiver(() => new Response(null), {
    signIn: [oidc({ issuer: PROVIDER, ...CLIENT })],
    signInFetch: (url, init) => provider.fetch(url, init as RequestInit),
  });
  const rp = await register("https://rp.example/logout");
  provider.idToken = { auth_time: Math.floor(server.now() / 1000) - 2 * 3600 };
  const browser = newBrowser(server);
  assert.is((await signIn(browser, provider)).status, 302);
  const page = await browser.get(server.authorizePath({ client_id: rp.client_id, scope: "openid" }));
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  assert.is((await browser.post("/oauth/authorize", form)).status, 302);
  server.advance(1700);
  await browser.post("/logout", {});
  await until(() => sent.length > 0);
  assert.equal(sent.map(({ url }) => url), ["https://rp.example/logout"]);
});

test.run();
