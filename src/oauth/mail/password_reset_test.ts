import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { interruptAfter } from "../../store/test_meanwhile.ts";
import { slowCommits } from "../../store/test_slow_commits.ts";
import { ISSUER } from "../test_server.ts";
import { listUserGrants } from "../users/user_grants.ts";
import { completePasswordPolicy } from "../users/password_policy.ts";
import { addUser } from "../users/user.ts";
import { newFactorServer } from "../factors/test_factors.ts";
import type { Mail } from "./mail.ts";
import { aliceOf, changeAlice, forgot, linkOf, type MailServer, newMailServer } from "./test_mailbox.ts";

const test = suite("oauth/password_reset");
const PASSWORD = "down the rabbit hole";

/** The link of a new mail to alice. */
async function newLink(server: MailServer): Promise<string> {
  const before = server.mails.length;
  assert.is((await forgot(server)).status, 200);
  assert.is(server.mails.length, before + 1);
  return linkOf(server.mails.at(-1));
}

async function login(server: MailServer, password: string): Promise<number> {
  return (await server.request("/login", { form: { username: "alice", password } })).status;
}

async function reset(server: MailServer, link: string, form: Record<string, string> = {}): Promise<Response> {
  const browser = server.browser();
  await browser.follow(link);
  return await browser.open("/login/reset", { form: { password: PASSWORD, ...form } });
}

test("a link in a mail leads to a new password, and ends all sessions of the user", async () => {
  const server = await newMailServer();
  const cookie = await server.signIn();
  const authorize = () => server.send(server.authorizePath(), { headers: { cookie } });
  assert.is((await authorize()).status, 200);
  const link = await newLink(server);
  assert.match(link, /^https:\/\/as\.example\/login\/reset\?token=trivet_pr_/);
  const [mail] = server.mails;
  assert.equal([mail!.to, mail!.kind, mail!.language], ["alice@example.com", "password_reset", "en"]);
  assert.is((await reset(server, link)).status, 200);
  assert.is(await login(server, "wonderland"), 401);
  assert.is(await login(server, PASSWORD), 200);
  assert.match((await authorize()).headers.get("location")!, "/login?");
  assert.is(server.mails.at(-1)!.kind, "password_changed");
  const types = server.events.map(({ type }) => type);
  for (const type of ["password_reset_requested", "password_reset"]) {
    assert.ok(types.includes(type as never), type);
  }
  assert.ok((await aliceOf(server)).password_changed);
});

test("a reset that is interrupted leaves a valid link, or no session of before", async () => {
  for (let commits = 0, isDone = false; !isDone; commits++) {
    const server = await newMailServer();
    const cookie = await server.signIn();
    await server.tokens();
    const link = await newLink(server);
    const browser = server.browser();
    await browser.follow(link);
    const restore = interruptAfter(server.store, commits);
    const form = { password: PASSWORD, end_grants: "yes" };
    const { status } = await browser.open("/login/reset", { form });
    isDone = !restore();
    assert.is(status, isDone ? 200 : 503, `${commits} commits`);
    server.advance(1);
    const again = await browser.open("/login/reset", { form });
    // The link is either still valid, or was used.
    assert.ok(
      again.status === 200 || again.status === 400,
      `again after ${commits} commits: ${again.status}`,
    );
    assert.is(server.mails.at(-1)!.kind, "password_changed", `${commits} commits`);
    server.advance(1);
    assert.is(await login(server, PASSWORD), 200, `${commits} commits`);
    const { headers } = await server.send("/device", { headers: { cookie } });
    assert.match(headers.get("location") ?? "", "/login", `${commits} commits`);
    assert.equal(await listUserGrants(server.store, (await aliceOf(server)).id), [], `${commits} commits`);
    assert.ok(commits < 20);
  }
});

test("a form sets the password of the account that its page showed, whichever link was opened since", async () => {
  const server = await newMailServer();
  await addUser(server.store, { username: "bob", password: "wonderland", email: "bob@example.com" }, 1000);
  const browser = server.browser();
  const actionOf = async (page: Response) => /action="([^"]+)"/.exec(await page.text())![1]!;
  const links = [await newLink(server)];
  await forgot(server, "bob", "203.0.113.8");
  links.push(linkOf(server.mails.at(-1)));
  const [action] = [await actionOf(await browser.follow(links[0]!)), await browser.follow(links[1]!)];
  const again = await browser.open(action, { form: { password: PASSWORD } });
  assert.is(again.status, 409);
  const statuses = ["alice", "bob"].map(async (username) =>
    (await server.request("/login", { form: { username, password: "wonderland" } })).status
  );
  assert.equal(await Promise.all(statuses), [200, 200]);
  const shown = await actionOf(again);
  assert.is.not(shown, action);
  // The logins ended the links.
  assert.is((await browser.open(shown, { form: { password: PASSWORD } })).status, 400);
});

test("a reset starts no session, and the login that follows needs the second factor", async () => {
  const mailed = Promise.withResolvers<Mail>();
  const server = await newFactorServer({ sendMail: (mail) => Promise.resolve(mailed.resolve(mail)) });
  const owner = server.newBrowser();
  await owner.addTotp();
  const browser = server.newBrowser();
  await browser.post("/login/forgot", { identifier: "alice" });
  await browser.get(linkOf(await mailed.promise));
  assert.is((await browser.post("/login/reset", { password: PASSWORD })).status, 200);
  assert.not(await browser.isSignedIn());
  assert.not(await owner.isSignedIn());
  const login = await browser.enterPassword({ username: "alice", password: PASSWORD });
  assert.match(login.location, "/login/factor");
  assert.not(await browser.isSignedIn());
});

test("the token leaves the URL at once, for a cookie that only the page gets", async () => {
  for (const issuer of [ISSUER, "http://127.0.0.1:8787/tenant"]) {
    const server = await newMailServer({ issuer });
    const { pathname } = new URL(issuer);
    const base = pathname === "/" ? "" : pathname;
    await server.request(`${base}/login/forgot`, { form: { identifier: "alice" } });
    const link = linkOf(server.mails[0]);
    assert.ok(link.startsWith(`${issuer}/login/reset?token=`));
    const response = await server.request(link);
    assert.is(response.status, 303);
    assert.is(response.headers.get("location"), `${base}/login/reset`);
    assert.is(response.headers.get("referrer-policy"), "no-referrer");
    assert.is(response.headers.get("cache-control"), "no-store");
    const [cookie, ...others] = response.headers.getSetCookie();
    assert.equal(others, []);
    assert.match(cookie!, `; Path=${base}/login/reset;`);
    assert.match(cookie!, "; HttpOnly");
    assert.is(/^__Secure-.*; Secure/.test(cookie!), issuer.startsWith("https:"));
    const browser = server.browser();
    const page = await browser.follow(link);
    assert.is(page.status, 200);
    assert.is(page.headers.get("referrer-policy"), "no-referrer");
    const token = link.split("token=")[1]!;
    assert.not.match(await page.text(), token);
    assert.not.match(JSON.stringify(await server.store.list([])), token);
    assert.not.match(JSON.stringify(server.events), token);
  }
});

test("links are built from the issuer, whatever Host and forwarding fields say", async () => {
  const server = await newMailServer();
  const headers = {
    host: "evil.example",
    "x-forwarded-host": "evil.example",
    forwarded: "host=evil.example",
    origin: "https://evil.example",
  };
  const { origin: _, ...others } = headers;
  await server.request("https://evil.example/login/forgot", {
    form: { identifier: "alice" },
    headers: others,
  });
  assert.ok(linkOf(server.mails[0]).startsWith(ISSUER + "/"));
  assert.not.match(JSON.stringify(server.mails), "evil");
});

test("GET consumes nothing, so that programs that scan mail do no harm", async () => {
  const server = await newMailServer();
  const link = await newLink(server);
  for (let i = 0; i < 3; i++) {
    await server.browser().follow(link);
    await server.request(link);
    await server.service.fetch(new Request(link, { method: "HEAD" }));
  }
  assert.is((await reset(server, link)).status, 200);
});

test("a link works once, also for concurrent requests", async () => {
  const server = await newMailServer({ store: slowCommits(memoryStore()) });
  const link = await newLink(server);
  const browsers = Array.from({ length: 8 }, () => server.browser());
  for (const browser of browsers) await browser.follow(link);
  const responses = await Promise.all(
    browsers.map((browser, i) => browser.open("/login/reset", { form: { password: `${PASSWORD} ${i}` } })),
  );
  assert.equal(responses.map(({ status }) => status).sort(), [200, ...Array(7).fill(400)]);
  assert.is((await reset(server, link)).status, 400);
});

for (
  const [how, end] of [
    ["a newer link", async (server: MailServer) => void await newLink(server)],
    ["a login", async (server: MailServer) => void await server.signIn()],
    ["another password", (server: MailServer) => changeAlice(server, { password: "pbkdf2-sha256$1000$x$y" })],
    ["another address", (server: MailServer) => changeAlice(server, { email: "new@example.com" })],
    ["30 minutes", (server: MailServer) => Promise.resolve(server.advance(30 * 60 + 1))],
    ["a lock of the account", (server: MailServer) => changeAlice(server, { locked: 1 })],
  ] as const
) {
  test(`${how} ends a link`, async () => {
    const server = await newMailServer();
    const link = await newLink(server);
    const browser = server.browser();
    assert.is((await browser.follow(link)).status, 200);
    await end(server);
    assert.is((await browser.follow(link)).status, 400);
    const before = (await aliceOf(server)).password;
    assert.is((await browser.open("/login/reset", { form: { password: PASSWORD } })).status, 400);
    assert.is((await aliceOf(server)).password, before);
  });
}

test("a link resets the password of its own user only", async () => {
  const server = await newMailServer();
  const bob = await addUser(
    server.store,
    { username: "bob", password: "builder", email: "b@example.com" },
    1000,
  );
  await forgot(server, "bob");
  const secret = linkOf(server.mails[0]).split(".").at(-1)!;
  await forgot(server, "alice");
  const { id } = await aliceOf(server);
  const made = `${ISSUER}/login/reset?token=trivet_pr_${id.slice("user_".length)}.${secret}`;
  assert.is((await server.browser().follow(made)).status, 400);
  const other = await server.browser().follow(
    `${ISSUER}/login/reset?token=trivet_pr_${bob.id.slice("user_".length)}.${"A".repeat(43)}`,
  );
  assert.is(other.status, 400);
});

test("a text that is no token gets into no header field", async () => {
  const server = await newMailServer();
  for (const token of ["", "x", "trivet_pr_a.b", "x; Domain=evil.example", "a\r\nSet-Cookie: x=y"]) {
    const response = await server.request("/login/reset?token=" + encodeURIComponent(token));
    assert.is(response.status, 303);
    assert.match(response.headers.get("set-cookie")!, /^__Secure-password_reset=; .*Max-Age=0/);
  }
});

test("a password that breaks a rule leaves the link valid, and the new one may not be the name", async () => {
  const isBreached = (password: string) => password === "correct horse battery";
  const server = await newMailServer({ passwordPolicy: completePasswordPolicy({ isBreached }) });
  const link = await newLink(server);
  for (const password of ["", "short", "x".repeat(2000), "correct horse battery", "alice@example.com"]) {
    const response = await reset(server, link, { password });
    assert.is(response.status, 400, password.slice(0, 30));
    const page = await response.text();
    assert.match(page, "<form");
    if (password !== "") assert.not.match(page.replaceAll("alice", ""), password.replaceAll("alice", ""));
  }
  assert.is((await reset(server, link)).status, 200);
});

test("a form that another site sent resets and mails nothing", async () => {
  const server = await newMailServer();
  const link = await newLink(server);
  const headers = { "sec-fetch-site": "cross-site" };
  const browser = server.browser();
  await browser.follow(link);
  const form = { password: PASSWORD };
  assert.is((await browser.open("/login/reset", { form, headers })).status, 403);
  assert.is(await login(server, "wonderland"), 200);
  const count = server.mails.length;
  const response = await server.request("/login/forgot", { form: { identifier: "alice" }, headers });
  assert.equal([response.status, server.mails.length], [403, count]);
});

test("what the user allowed applications ends only if they ask for it", async () => {
  for (const end_grants of ["", "yes"]) {
    const server = await newMailServer();
    await server.tokens();
    const { id } = await aliceOf(server);
    assert.is((await listUserGrants(server.store, id)).length, 1);
    await reset(server, await newLink(server), end_grants === "" ? {} : { end_grants });
    assert.is((await listUserGrants(server.store, id)).length, end_grants === "" ? 1 : 0);
  }
});

test("attack: a login with the old password that is under way during the reset leaves no access", async () => {
  const server = await newMailServer();
  const link = await newLink(server);
  const { commit } = server.store;
  const [waits, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let attack: Promise<unknown> | undefined;
  Object.assign(server.store, {
    async commit(...call: Parameters<typeof commit>) {
      const [{ set = [], remove = [] }] = call;
      const isReset = !attack && remove.some(([kind]) => kind === "password_reset");
      if (isReset) {
        server.advance(1);
        attack = server.tokens();
        await waits.promise;
      } else if (set.some(({ key }) => key[0] === "session")) {
        waits.resolve();
        await done.promise;
      }
      const isDone = await commit.apply(server.store, call);
      if (isReset) {
        done.resolve();
        await attack;
      }
      return isDone;
    },
  });
  assert.is((await reset(server, link, { end_grants: "yes" })).status, 200);
  assert.ok(attack);
  assert.equal(await listUserGrants(server.store, (await aliceOf(server)).id), []);
});

test("without sendMail, and where passwords are not this server's, there are no such pages", async () => {
  const authenticateUser = () => Promise.resolve(undefined);
  for (const options of [{ sendMail: undefined }, { authenticateUser }, { passwordLogin: false }]) {
    const server = await newMailServer(options);
    for (const path of ["/login/forgot", "/login/reset", "/login/verify-email"]) {
      assert.is((await server.request(path)).status, 404, path);
    }
    const page = await (await server.request("/login", { headers: { accept: "text/html" } })).text();
    assert.not.match(page, "/login/forgot");
  }
  const server = await newMailServer();
  assert.match(
    await (await server.request("/login", { headers: { accept: "text/html" } })).text(),
    "/login/forgot",
  );
});

test.run();
