import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ISSUER } from "../test_server.ts";
import { MAX_PASSKEYS } from "./change_factors.ts";
import { type Authenticator, newAuthenticator } from "./test_authenticator.ts";
import { ALICE, type Browser, newFactorServer, optionsOf, type Reply } from "./test_factors.ts";

const test = suite("oauth/factors/passkey_login");
const FACTOR = "/login/factor?redirect=%2Fdevice";
const LOGIN = "/login/passkey?redirect=%2Fdevice";
const REFUSED = "/login?passkey=refused&redirect=%2Fdevice";

type Forgery = Parameters<Authenticator["get"]>[1];

/** Opens the login page and uses the passkey. */
async function signIn(browser: Browser, authenticator: Authenticator, forgery?: Forgery): Promise<Reply> {
  const page = await browser.get("/login?redirect=%2Fdevice");
  return await browser.post(LOGIN, { credential: await authenticator.get(optionsOf(page.text), forgery) });
}

/** Users by name, without passwords. */
const ANYONE = {
  authenticateUser: (form: ReadonlyMap<string, string>) =>
    Promise.resolve({ id: form.get("username")!, name: form.get("username")!, email: "" }),
};

test("a passkey alone signs in, and shows first recovery codes when it is added", async () => {
  const server = await newFactorServer();
  const { authenticator, page } = await server.newBrowser().addPasskey();
  assert.is(page.status, 200);
  assert.is(page.text.match(/-[a-z2-7]{4}\n/g)?.length, 9);
  const browser = server.newBrowser();
  const form = await browser.get("/login");
  assert.match(form.text, 'autocomplete="username webauthn"');
  assert.match(form.text, `src="${ISSUER}/login/passkey.js"`);
  const { allowCredentials, userVerification } = JSON.parse(optionsOf(form.text));
  assert.equal([allowCredentials, userVerification], [undefined, "required"]);
  assert.equal([(await signIn(browser, authenticator)).location], ["/device"]);
  assert.ok(await browser.isSignedIn());
});

test("with a passkey a password alone gives no session; the passkey is the second step", async () => {
  const server = await newFactorServer();
  const { authenticator } = await server.newBrowser().addPasskey();
  const browser = server.newBrowser();
  assert.is((await browser.enterPassword()).location, FACTOR);
  const page = await browser.get(FACTOR);
  assert.is(JSON.parse(optionsOf(page.text)).allowCredentials[0].id, authenticator.id);
  // The password is the other factor: user verification is not needed.
  const credential = await authenticator.get(optionsOf(page.text), { userVerified: false });
  assert.is((await browser.post(FACTOR, { credential })).location, "/device");
  assert.ok(await browser.isSignedIn());
});

test("the first factor needs user verification, and the handle of its user", async () => {
  const server = await newFactorServer();
  const { authenticator } = await server.newBrowser().addPasskey();
  for (const forgery of [{ userVerified: false }, { userHandle: "" }, { userHandle: "b3RoZXI" }]) {
    const browser = server.newBrowser();
    assert.is((await signIn(browser, authenticator, forgery)).location, REFUSED);
    assert.not(await browser.isSignedIn());
  }
  assert.ok(server.events.some(({ type }) => type === "passkey_refused"));
  const page = await server.newBrowser().get(REFUSED);
  assert.match(page.text, 'role="alert"');
});

test("origin and relying party are those of this server", async () => {
  const server = await newFactorServer();
  const { authenticator } = await server.newBrowser().addPasskey();
  for (
    const forgery of [{ origin: "https://evil.example" }, { rpId: "evil.example" }, { crossOrigin: true }]
  ) {
    assert.is((await signIn(server.newBrowser(), authenticator, forgery)).location, REFUSED);
  }
  assert.is((await signIn(server.newBrowser(), authenticator)).location, "/device");
});

test("a challenge is accepted once, for five minutes, in the browser that got it, for its purpose", async () => {
  const server = await newFactorServer();
  const { authenticator } = await server.newBrowser().addPasskey();
  const browser = server.newBrowser();
  const options = optionsOf((await browser.get("/login")).text);
  const credential = await authenticator.get(options);
  const cookies = new Map(browser.cookies);
  const thief = server.newBrowser();
  assert.is((await thief.post(LOGIN, { credential })).location, REFUSED);
  assert.is((await browser.post(LOGIN, { credential })).location, "/device");
  // The same assertion with the same cookie. The counter would refuse it, too: see the next test.
  for (const [name, value] of cookies) thief.cookies.set(name, value);
  assert.is((await thief.post(LOGIN, { credential })).location, REFUSED);

  const late = server.newBrowser();
  const early = await authenticator.get(optionsOf((await late.get("/login")).text));
  server.advance(301);
  assert.is((await late.post(LOGIN, { credential: early })).location, REFUSED);

  const other = server.newBrowser();
  await other.enterPassword();
  const second = await authenticator.get(optionsOf((await other.get(FACTOR)).text));
  assert.is((await other.post(LOGIN, { credential: second })).location, REFUSED);
});

test("an authenticator that does not count: its assertion is accepted once nevertheless", async () => {
  const server = await newFactorServer();
  const silent = await newAuthenticator(ISSUER, false);
  await server.newBrowser().addPasskey(silent);
  const browser = server.newBrowser();
  const options = optionsOf((await browser.get("/login")).text);
  const credential = await silent.get(options);
  const cookies = new Map(browser.cookies);
  const thief = server.newBrowser();
  for (const [name, value] of cookies) thief.cookies.set(name, value);
  const answers = await Promise.all([browser, thief].map((each) => each.post(LOGIN, { credential })));
  assert.equal(answers.map(({ location }) => location).sort(), ["/device", REFUSED]);
  assert.is((await signIn(server.newBrowser(), silent)).location, "/device");
});

test("a counter that goes back is refused: the passkey was copied (WebAuthn section 6.1.1)", async () => {
  const server = await newFactorServer();
  const { authenticator } = await server.newBrowser().addPasskey();
  const copy = authenticator.copy();
  assert.is((await signIn(server.newBrowser(), authenticator)).location, "/device");
  assert.is((await signIn(server.newBrowser(), copy)).location, REFUSED);
  assert.is((await signIn(server.newBrowser(), authenticator)).location, "/device");
});

test("of two concurrent uses with one counter, by the passkey and its copy, one succeeds", async () => {
  const server = await newFactorServer();
  const { authenticator } = await server.newBrowser().addPasskey();
  const copy = authenticator.copy();
  const posts = await Promise.all([authenticator, copy].map(async (each) => {
    const browser = server.newBrowser();
    const credential = await each.get(optionsOf((await browser.get("/login")).text));
    return () => browser.post(LOGIN, { credential });
  }));
  const answers = await Promise.all(posts.map((post) => post()));
  assert.equal(answers.map(({ location }) => location).sort(), ["/device", REFUSED]);
});

test("the passkey of another user is no second factor, and cannot be registered twice", async () => {
  const server = await newFactorServer(ANYONE);
  const [alice, eve] = [server.newBrowser(), server.newBrowser()];
  const { authenticator } = await alice.addPasskey();
  await eve.enterPassword({ username: "eve", password: "x" });
  const own = await eve.addPasskey();
  const browser = server.newBrowser();
  await browser.enterPassword();
  const options = optionsOf((await browser.get(FACTOR)).text);
  // Eve's passkey, also under the id of Alice's.
  for (const id of [own.authenticator.id, authenticator.id]) {
    const credential = await own.authenticator.get(options, { id });
    assert.is((await browser.post(FACTOR, { credential })).status, 401);
  }
  assert.not(await browser.isSignedIn());
  const copied = await eve.addPasskey(authenticator.copy());
  assert.is(copied.page.status, 400);
  assert.is((await signIn(server.newBrowser(), authenticator)).location, "/device");
});

test("a removed passkey, or one of a removed user, signs no one in", async () => {
  const server = await newFactorServer();
  const owner = server.newBrowser();
  const { authenticator } = await owner.addPasskey();
  await owner.post("/account/factors/rename", { id: authenticator.id, label: "<b>Phone</b>" });
  assert.match((await owner.get("/account/factors")).text, "&lt;b&gt;Phone&lt;/b&gt;");
  await owner.post("/account/factors/remove", { id: authenticator.id });
  assert.is((await signIn(server.newBrowser(), authenticator)).location, REFUSED);
  assert.is((await server.newBrowser().enterPassword()).location, "/device");
  assert.equal([...await server.store.list(["user_factors"]), ...await server.store.list(["passkey"])], []);
  // Free again.
  assert.is((await owner.addPasskey(authenticator)).page.status, 200);
});

test("a user has at most twenty passkeys", async () => {
  const server = await newFactorServer();
  const browser = server.newBrowser();
  await browser.enterPassword();
  for (let i = 0; i < MAX_PASSKEYS; i++) await browser.addPasskey();
  assert.is((await browser.addPasskey()).page.status, 400);
  const [entry] = await server.store.list<{ passkeys: unknown[] }>(["user_factors"]);
  assert.is(entry!.value.passkeys.length, MAX_PASSKEYS);
});

test("a registration needs its challenge, its user's session and user verification", async () => {
  const server = await newFactorServer();
  const browser = server.newBrowser();
  await browser.enterPassword();
  const authenticator = await newAuthenticator(ISSUER);
  const options = optionsOf((await browser.get("/account/factors/passkey")).text);
  const { user, authenticatorSelection } = JSON.parse(options);
  assert.is(user.name, ALICE.username);
  assert.is(authenticatorSelection.residentKey, "required");
  const send = async (credential: string) =>
    (await browser.post("/account/factors/passkey", { credential, label: "x" })).status;
  assert.is(await send(await authenticator.create(options, { userVerified: false })), 400);
  assert.is(await send(await authenticator.create(options, { challenge: "eA" })), 400);
  const credential = await authenticator.create(options);
  assert.is(await send(credential), 200);
  assert.is(await send(credential), 400);
  assert.is(await send("nonsense"), 400);
});

test("a login page in a second tab does not disturb the first", async () => {
  const server = await newFactorServer();
  const { authenticator } = await server.newBrowser().addPasskey();
  const browser = server.newBrowser();
  const first = optionsOf((await browser.get("/login")).text);
  await browser.get("/login");
  assert.is((await browser.post(LOGIN, { credential: await authenticator.get(first) })).location, "/device");
});

test("the page runs the script of this server and no other", async () => {
  const server = await newFactorServer();
  const response = await server.send("/login");
  const policy = response.headers.get("content-security-policy")!;
  assert.match(policy, `script-src ${ISSUER}/login/passkey.js`);
  assert.match(policy, "frame-ancestors 'none'");
  assert.not.match(policy, "unsafe");
  assert.not.match(policy, "connect-src");
  const script = await server.send("/login/passkey.js");
  assert.is(script.headers.get("content-type"), "text/javascript; charset=utf-8");
});

test.run();
