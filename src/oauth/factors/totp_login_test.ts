import { suite } from "uvu";
import * as assert from "uvu/assert";
import { interruptAfter } from "../../store/test_meanwhile.ts";
import { listUsers } from "../users/user.ts";
import { lockUser, unlockUser } from "../users/user_changes.ts";
import { endUserSessions } from "../users/user_sessions.ts";
import { ALICE, codesOf, hiddenOf, newFactorServer } from "./test_factors.ts";

const test = suite("oauth/factors/totp_login");
const FACTOR = "/login/factor?redirect=%2Fdevice";

test("an app counts after its first code, and then a password alone gives no session", async () => {
  const server = await newFactorServer();
  const browser = server.newBrowser();
  await browser.enterPassword();
  const page = await browser.get("/account/factors/totp");
  assert.is(page.status, 200);
  assert.match(page.text, "<svg");
  const setup = hiddenOf(page.text, "setup");
  assert.is((await browser.post("/account/factors/totp", { setup, code: "000000" })).status, 401);
  // Not confirmed: no second step.
  assert.is((await server.newBrowser().enterPassword()).location, "/device");

  const { secret, codes } = await browser.addTotp();
  assert.is(new Set(codes).size, 10);
  const other = server.newBrowser();
  const first = await other.enterPassword();
  assert.equal([first.status, first.location], [302, FACTOR]);
  assert.not(await other.isSignedIn());
  server.advance(30);
  const form = await other.get(FACTOR);
  assert.match(form.text, 'autocomplete="one-time-code"');
  const done = await other.post(FACTOR, { code: await server.codeOf(secret) });
  assert.equal([done.status, done.location], [302, "/device"]);
  assert.ok(await other.isSignedIn());
  assert.not(other.cookies.has("__Host-pending_login"));
  const { type, factor } = server.events.findLast(({ type }) => type === "login_succeeded") as {
    type: string;
    factor?: string;
  };
  assert.equal([type, factor], ["login_succeeded", "totp"]);
});

test("a code is accepted once, also the one of the set-up and those of earlier steps", async () => {
  const server = await newFactorServer();
  const { secret } = await server.newBrowser().addTotp();
  const enter = async (code: string) => {
    const browser = server.newBrowser();
    await browser.enterPassword();
    return (await browser.post(FACTOR, { code })).status;
  };
  assert.is(await enter(await server.codeOf(secret)), 401);
  server.advance(60);
  const code = await server.codeOf(secret);
  assert.is(await enter(code), 302);
  assert.is(await enter(code), 401);
  assert.is(await enter(await server.codeOf(secret, -1)), 401);
  assert.is(await enter(await server.codeOf(secret, 1)), 302);
});

test("attack: a login that waits for the code while all sessions end, or the user is locked, starts none", async () => {
  for (const act of ["end", "lock"] as const) {
    const server = await newFactorServer();
    const { secret } = await server.newBrowser().addTotp();
    const browser = server.newBrowser();
    await browser.enterPassword();
    const [user] = await Array.fromAsync(listUsers(server.store));
    if (act === "lock") await lockUser(server.store, user!.id);
    else await endUserSessions(server.store, user!.id);
    server.advance(60);
    const answer = await browser.post(FACTOR, { code: await server.codeOf(secret) });
    assert.is.not(answer.location, "/device", act);
    assert.not(await browser.isSignedIn(), act);
    await unlockUser(server.store, user!.id);
    assert.not(await browser.isSignedIn(), act);
  }
});

test("of two concurrent uses of a code one succeeds", async () => {
  const server = await newFactorServer();
  const { secret, codes } = await server.newBrowser().addTotp();
  server.advance(60);
  for (const code of [await server.codeOf(secret), codes[0]!]) {
    const browsers = [server.newBrowser(), server.newBrowser()];
    for (const browser of browsers) await browser.enterPassword();
    const answers = await Promise.all(browsers.map((browser) => browser.post(FACTOR, { code })));
    assert.equal(answers.map(({ status }) => status).sort(), [302, 401]);
  }
});

test("a code whose login failed with the store can be entered again, without a new password", async () => {
  const server = await newFactorServer();
  const { secret, codes } = await server.newBrowser().addTotp();
  const left = [...codes];
  for (const next of [() => server.codeOf(secret), () => Promise.resolve(left.pop()!)]) {
    let wasInterrupted = true;
    for (let commits = 0; wasInterrupted; commits++) {
      server.advance(60);
      const browser = server.newBrowser();
      await browser.enterPassword();
      const code = await next();
      const end = interruptAfter(server.store, commits);
      const { status } = await browser.post(FACTOR, { code });
      wasInterrupted = end();
      assert.is(status, wasInterrupted ? 503 : 302, `${commits} commits`);
      if (!wasInterrupted) continue;
      const again = await browser.post(FACTOR, { code });
      assert.equal([again.status, again.location], [302, "/device"], `after ${commits} commits`);
    }
  }
  const used = server.events.filter(({ type }) => type === "recovery_code_used").length;
  assert.is(used, 10 - left.length);
});

test("a pending login belongs to its browser, and ends after five tries or ten minutes", async () => {
  const server = await newFactorServer();
  const { secret } = await server.newBrowser().addTotp();
  server.advance(60);
  const [browser, other] = [server.newBrowser(), server.newBrowser()];
  await browser.enterPassword();
  const code = await server.codeOf(secret);
  assert.equal((await other.post(FACTOR, { code })).location, "/login?redirect=%2Fdevice");
  assert.not(await other.isSignedIn());
  for (let i = 0; i < 5; i++) assert.is((await browser.post(FACTOR, { code: "000000" })).status, 401);
  assert.equal((await browser.post(FACTOR, { code })).location, "/login?redirect=%2Fdevice");
  await other.enterPassword();
  server.advance(601);
  assert.equal((await other.get(FACTOR)).location, "/login?redirect=%2Fdevice");
  const late = await other.post(FACTOR, { code: await server.codeOf(secret) });
  assert.is(late.location, "/login?redirect=%2Fdevice");
  assert.not(await other.isSignedIn());
});

test("concurrent tries count", async () => {
  const server = await newFactorServer();
  await server.newBrowser().addTotp();
  const browser = server.newBrowser();
  await browser.enterPassword();
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => browser.post(FACTOR, { code: "000000" })),
  );
  const tried = answers.filter(({ status }) => status !== 303).length;
  assert.ok(tried <= 5, `${tried} tries`);
});

test("of two concurrent completions of a pending login one starts a session", async () => {
  const server = await newFactorServer();
  const { secret, codes } = await server.newBrowser().addTotp();
  server.advance(60);
  const browser = server.newBrowser();
  await browser.enterPassword();
  const answers = await Promise.all(
    [await server.codeOf(secret), codes[0]!].map((code) => browser.post(FACTOR, { code })),
  );
  assert.equal(answers.map(({ location }) => location).sort(), ["/device", "/login?redirect=%2Fdevice"]);
});

test("guessing: many pending logins share the limit of the user, whatever the network", async () => {
  const server = await newFactorServer();
  const owner = server.newBrowser();
  const { secret } = await owner.addTotp();
  server.advance(60);
  let guesses = 0;
  let wait = 0;
  for (let network = 1; network <= 20 && wait === 0; network++) {
    const attacker = server.newBrowser(`198.51.100.${network}`);
    await attacker.enterPassword();
    for (let i = 0; i < 2 && wait === 0; i++, guesses++) {
      const answer = await attacker.post(FACTOR, { code: "000000" });
      if (answer.status === 429) wait = 1;
    }
  }
  assert.ok(guesses <= 8, `${guesses} guesses before the first wait`);
  // The right code has to wait, too; the browser of the owner, which signed in before, does not.
  const late = server.newBrowser("198.51.100.99");
  await late.enterPassword();
  assert.is((await late.post(FACTOR, { code: await server.codeOf(secret) })).status, 429);
  await owner.post("/logout", {});
  await owner.enterPassword();
  assert.is((await owner.post(FACTOR, { code: await server.codeOf(secret) })).status, 302);
  assert.ok(server.events.some(({ type }) => type === "second_factor_failed"));
});

test("a recovery code replaces the app once; new codes make the old ones invalid", async () => {
  const server = await newFactorServer();
  const owner = server.newBrowser();
  const { codes } = await owner.addTotp();
  const enter = async (code: string) => {
    const browser = server.newBrowser();
    await browser.enterPassword();
    return (await browser.post(FACTOR, { code })).status;
  };
  assert.is(await enter(codes[0]!.toUpperCase().replaceAll("-", " ")), 302);
  assert.is(await enter(codes[0]!), 401);
  assert.equal(server.events.findLast(({ type }) => type === "recovery_code_used"), {
    type: "recovery_code_used",
    user: (server.events.find(({ type }) => type === "factor_added") as { user: string }).user,
    left: 9,
  });
  const renewed = codesOf((await owner.post("/account/factors/codes", {})).text);
  assert.is(renewed.length, 10);
  assert.is(await enter(codes[1]!), 401);
  assert.is(await enter(renewed[1]!), 302);
  assert.not.match((await owner.get("/account/factors")).text, renewed[2]!);
});

test("of two concurrent uses of a recovery code one succeeds", async () => {
  const server = await newFactorServer();
  const { codes } = await server.newBrowser().addTotp();
  const browsers = [server.newBrowser(), server.newBrowser()];
  for (const browser of browsers) await browser.enterPassword();
  const answers = await Promise.all(browsers.map((browser) => browser.post(FACTOR, { code: codes[0]! })));
  assert.equal(answers.map(({ status }) => status).sort(), [302, 401]);
});

test("nothing in the store shows the secret or a recovery code", async () => {
  const server = await newFactorServer();
  const { secret, codes } = await server.newBrowser().addTotp();
  const stored = JSON.stringify(await server.store.list(["user_factors"]));
  assert.match(stored, "sealed");
  for (
    const text of [
      String.fromCharCode(...secret),
      ...codes,
      ...codes.map((each) => each.replaceAll("-", "")),
    ]
  ) {
    assert.not(stored.includes(text));
  }
});

test("a secret that another user was shown cannot be confirmed", async () => {
  const server = await newFactorServer({
    authenticateUser: (form) => {
      const id = form.get("username")!;
      return Promise.resolve({ id, name: id, email: "" });
    },
  });
  const [alice, eve] = [server.newBrowser(), server.newBrowser()];
  await alice.enterPassword();
  await eve.enterPassword({ username: "eve", password: "x" });
  const setup = hiddenOf((await eve.get("/account/factors/totp")).text, "setup");
  const answer = await alice.post("/account/factors/totp", { setup, code: "000000" });
  assert.is(answer.status, 401);
  assert.is.not(hiddenOf(answer.text, "setup"), setup);
});

test("removing the app ends the second step, and the recovery codes with it", async () => {
  const server = await newFactorServer();
  const owner = server.newBrowser();
  await owner.addTotp();
  await owner.post("/account/factors/remove", { id: "totp" });
  assert.is((await server.newBrowser().enterPassword()).location, "/device");
  assert.is((await server.store.list(["user_factors"])).length, 0);
});

test("changes need a login of the last ten minutes, the list does not", async () => {
  const server = await newFactorServer();
  const browser = server.newBrowser();
  await browser.addTotp();
  server.advance(601);
  assert.is((await browser.get("/account/factors")).status, 200);
  for (const path of ["totp", "passkey"]) {
    const { location } = await browser.get(`/account/factors/${path}`);
    assert.is(location, `/login?redirect=%2Faccount%2Ffactors%2F${path}&reauthenticate=1`);
  }
  for (const path of ["remove", "codes", "totp", "passkey"]) {
    const { location } = await browser.post(`/account/factors/${path}`, { id: "totp" });
    assert.match(location, /reauthenticate=1/, path);
  }
  assert.match((await browser.get("/account/factors")).text, 'value="totp"');
});

test("forms of other sites are refused", async () => {
  const server = await newFactorServer();
  const browser = server.newBrowser();
  await browser.addTotp();
  const foreign = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
  const forms = ["rename", "remove", "codes", "totp", "passkey"].map((path) => `/account/factors/${path}`);
  for (const path of [...forms, FACTOR, "/login/passkey"]) {
    assert.is((await browser.post(path, { id: "totp", code: "1" }, foreign)).status, 403, path);
  }
});

test("a program gets plain text, and the second step by its cookies", async () => {
  const server = await newFactorServer();
  const { codes } = await server.newBrowser().addTotp();
  const login = await server.send("/login", { form: ALICE });
  assert.is(login.headers.get("location"), "/login/factor");
  const cookie = login.headers.getSetCookie().map((field) => field.split(";")[0]).join("; ");
  const wrong = await server.send("/login/factor", { form: { code: "nonsense" }, headers: { cookie } });
  assert.equal([wrong.status, wrong.headers.get("content-type")], [401, "text/plain; charset=utf-8"]);
  const done = await server.send("/login/factor", { form: { code: codes[0]! }, headers: { cookie } });
  assert.equal([done.status, await done.text()], [200, "Welcome, Alice Liddell. You are signed in."]);
});

test("without factors in the options no page is there, and a stored one asks no one", async () => {
  const server = await newFactorServer();
  await server.newBrowser().addTotp();
  const off = { passkeys: undefined, totp: false, acr: "mfa", hasAccount: true };
  const without = await newFactorServer({ store: server.store, factors: off });
  assert.is((await without.newBrowser().enterPassword()).location, "/device");
  for (const path of ["/login/factor", "/account/factors", "/login/passkey.js"]) {
    assert.is((await without.newBrowser().get(path)).status, 404, path);
  }
});

test.run();
