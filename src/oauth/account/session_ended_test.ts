/**
 * Attacks with a session that ends, or an account that is locked, while its request is handled: nothing of the user's changes.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fromBase32 } from "../../crypto/base32.ts";
import { beforeNextCommit } from "../../store/test_meanwhile.ts";
import { newAuthenticator } from "../factors/test_authenticator.ts";
import {
  type Browser,
  type FactorServer,
  hiddenOf,
  newFactorServer,
  optionsOf,
} from "../factors/test_factors.ts";
import { FACTOR_PATHS } from "../factors/routes.ts";
import { oidc } from "../sign_in/oidc.ts";
import { CLIENT, newProvider, PROVIDER } from "../sign_in/test_provider.ts";
import { linkIdentity } from "../sign_in/user_identity.ts";
import { ISSUER, newServer } from "../test_server.ts";
import { lockUser, setPassword, unlockUser } from "../users/user_changes.ts";
import { endUserSessions } from "../users/user_sessions.ts";
import { ACCOUNT_PATHS } from "./routes.ts";
import { PASSWORD, post } from "./test_account.ts";

const test = suite("oauth/account/session_ended");
const IDENTITY = { issuer: PROVIDER, subject: "1", emailVerified: false, groups: [], claims: {} };
/** What the forms of these pages could change, by kind of record. */
const KINDS = [
  "user",
  "user_factors",
  "passkey",
  "linked_account",
  "user_identity",
  "email_verification",
  "consent",
  "grant",
  "ended_grants",
];
/** Pages with forms that change nothing. */
const READING = ["/account/export"];

/** A form of a page, as its page gives it. */
type Form = (server: FactorServer, browser: Browser) => Promise<Record<string, string>>;

const FORMS: readonly (readonly [path: string, form: Form])[] = [
  ["/account/factors/totp", async ({ codeOf }, browser) => {
    const { text } = await browser.get("/account/factors/totp");
    const secret = fromBase32(/<code>([A-Z2-7 ]+)<\/code>/.exec(text)![1]!.replaceAll(" ", ""))!;
    return { setup: hiddenOf(text, "setup"), code: await codeOf(secret) };
  }],
  ["/account/factors/passkey", async (_, browser) => {
    const { text } = await browser.get("/account/factors/passkey");
    return { credential: await (await newAuthenticator(ISSUER)).create(optionsOf(text)), label: "backup" };
  }],
  ["/account/factors/rename", async (server) => ({ id: await passkeyOf(server), label: "Owned" })],
  ["/account/factors/remove", async (server) => ({ id: await passkeyOf(server) })],
  ["/account/factors/remove", () => Promise.resolve({ id: "totp" })],
  ["/account/factors/codes", () => Promise.resolve({})],
  ["/account/profile", () => Promise.resolve({ name: "Owned" })],
  ["/account/email", () => Promise.resolve({ email: "evil@evil.example" })],
  ["/account/email", () => Promise.resolve({ email: "" })],
  ["/account/password", () => Promise.resolve(PASSWORD)],
  ["/account/providers", () => Promise.resolve({ issuer: IDENTITY.issuer, subject: IDENTITY.subject })],
  ["/account/applications", () => Promise.resolve({ client_id: "app" })],
  ["/account/sessions", () => Promise.resolve({ end: "others" })],
  ["/account/delete", () => Promise.resolve({ confirmation: "alice" })],
];

async function passkeyOf({ store }: FactorServer): Promise<string> {
  const [entry] = await store.list<{ passkeys: { id: string }[] }>(["user_factors"]);
  return entry!.value.passkeys[0]!.id;
}

/** Alice, with one of everything, and a browser with a session of hers. */
async function newVictim(sendMail?: () => Promise<void>) {
  const provider = await newProvider();
  const server = await newFactorServer({
    signIn: [oidc({ issuer: PROVIDER, ...CLIENT })],
    signInFetch: (url, init) => provider.fetch(url, init),
    ...(sendMail && { sendMail }),
  });
  const { store } = server;
  const { id } = (await store.list<{ id: string }>(["user"]))[0]!.value;
  await server.tokens();
  const browser = server.newBrowser();
  const { authenticator } = await browser.addPasskey();
  await browser.addTotp();
  await linkIdentity(store, id, IDENTITY, { provider: "oidc", now: 1 });
  const records = async () => JSON.stringify(await Promise.all(KINDS.map((kind) => store.list([kind]))));
  const signIn = async () => {
    const options = optionsOf((await browser.get("/login")).text);
    await browser.post("/login/passkey", { credential: await authenticator.get(options) });
    assert.ok(await browser.isSignedIn());
  };
  return { server, browser, id, records, signIn };
}

/** A POST whose body is sent when `release` is called. */
function beginPost(browser: Browser, server: FactorServer, path: string, form: Record<string, string>) {
  let release!: () => void;
  const released = new Promise<void>((resolve) => release = resolve);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await released;
      controller.enqueue(new TextEncoder().encode(new URLSearchParams(form).toString()));
      controller.close();
    },
  });
  const request = new Request(ISSUER + path, {
    method: "POST",
    body,
    duplex: "half",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
      accept: "text/html",
      cookie: [...browser.cookies].map((pair) => pair.join("=")).join("; "),
    },
  } as RequestInit);
  return { response: server.service.fetch(request, { ip: "192.0.2.1" }), release };
}

const wait = () => new Promise((resolve) => setTimeout(resolve, 5));

test("each form that changes something is tried", () => {
  const posted = new Set([...FORMS.map(([path]) => path), ...READING]);
  const pages = [...ACCOUNT_PATHS, ...FACTOR_PATHS.filter((path) => path.startsWith("/account/"))];
  const others = ["/account", "/account/data", "/account/factors"];
  assert.equal(pages.filter((path) => !posted.has(path)).sort(), others);
});

test("attack: a body that is held back until the session has ended changes nothing", async () => {
  for (const sendMail of [undefined, () => Promise.resolve()]) {
    const { server, browser, id, records, signIn } = await newVictim(sendMail);
    for (const [path, toForm] of [...FORMS, ["/account/export", () => Promise.resolve({})] as const]) {
      await signIn();
      const form = await toForm(server, browser);
      const before = await records();
      const { response, release } = beginPost(browser, server, path, form);
      await wait();
      await endUserSessions(server.store, id);
      release();
      const { status, headers } = await response;
      assert.match(`${status} ${headers.get("location")}`, /^30[23] \/login\?/, path);
      assert.is(await records(), before, path);
    }
  }
});

test("attack: an account that is locked before the commit of its request changes nothing", async () => {
  const { server, browser, id, records, signIn } = await newVictim();
  for (const [path, toForm] of FORMS) {
    await signIn();
    const form = await toForm(server, browser);
    let before: string | undefined;
    beforeNextCommit(server.store, async () => {
      await lockUser(server.store, id);
      before = await records();
    });
    const { status } = await browser.post(path, form);
    assert.ok(status === 403 || status === 400, `${path} ${status}`);
    assert.is(await records(), before, path);
    await unlockUser(server.store, id);
  }
});

test("attack: a session that ends before the commit of its request changes nothing", async () => {
  for (const sendMail of [undefined, () => Promise.resolve()]) {
    const { server, browser, id, records, signIn } = await newVictim(sendMail);
    for (const [path, toForm] of FORMS) {
      await signIn();
      const form = await toForm(server, browser);
      const before = await records();
      const ended = beforeNextCommit(server.store, () => endUserSessions(server.store, id));
      const { status } = await browser.post(path, form);
      assert.ok(ended.isDone, path);
      assert.is(status, 403, path);
      assert.is(await records(), before, path);
    }
  }
});

test("a session whose use is written meanwhile changes what it should", async () => {
  const { server, browser } = await newVictim();
  const written = beforeNextCommit(server.store, async () => {
    for (const { key, value, expires } of await server.store.list(["session"])) {
      await server.store.commit({ set: [{ key, value, expires }] });
    }
  });
  assert.is((await browser.post("/account/delete", { confirmation: "alice" })).status, 200);
  assert.ok(written.isDone);
  assert.equal(await server.store.list(["user"]), []);
});

test("attack: a change of the password does not replace one that was reset meanwhile", async () => {
  for (const isSessionEnded of [true, false]) {
    const server = await newServer();
    const cookie = await server.signIn();
    const { id } = (await server.store.list<{ id: string }>(["user"]))[0]!.value;
    const reset = beforeNextCommit(server.store, async () => {
      await setPassword(server.store, id, "reset by the owner", { iterations: 1000 });
      if (isSessionEnded) await endUserSessions(server.store, id);
    });
    const { status } = await post(server, "/account/password", cookie, PASSWORD);
    assert.ok(reset.isDone);
    assert.is(status, isSessionEnded ? 403 : 400);
    const login = async (password: string) =>
      (await server.send("/login", { form: { username: "alice", password } })).status;
    assert.equal([await login(PASSWORD.new_password), await login("reset by the owner")], [401, 200]);
  }
});

test("attack: no account is linked when the session ends, or the user is locked, while the provider is asked", async () => {
  const provider = await newProvider();
  let meanwhile = () => Promise.resolve<unknown>(undefined);
  const server = await newFactorServer({
    signIn: [oidc({ issuer: PROVIDER, ...CLIENT })],
    async signInFetch(url, init) {
      if (url === `${PROVIDER}/token`) await meanwhile();
      return await provider.fetch(url, init);
    },
  });
  const { id } = (await server.store.list<{ id: string }>(["user"]))[0]!.value;
  for (const end of [endUserSessions, lockUser]) {
    const browser = server.newBrowser();
    await browser.enterPassword();
    const { location } = await browser.post("/account/providers", { link: "oidc" });
    const { pathname, search } = provider.authorize(location);
    meanwhile = () => end(server.store, id);
    assert.is((await browser.get(pathname + search)).status, 400, end.name);
    assert.equal(await server.store.list(["linked_account"]), []);
    assert.equal(await server.store.list(["user_identity"]), []);
  }
  assert.equal(server.events.filter(({ type }) => type === "identity_linked"), []);
});

test.run();
