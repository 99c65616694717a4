import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { slowCommits } from "../../store/test_slow_commits.ts";
import { countingStore } from "../../store/test_counting_store.ts";
import { isSignedIn, linkOf, type MailServer, newMailServer } from "../mail/test_mailbox.ts";
import { type User, userKey, verifiedEmailKey } from "../records/user_record.ts";
import { ISSUER } from "../test_server.ts";
import { completePasswordPolicy } from "../users/password_policy.ts";
import { addUser } from "../users/user.ts";
import { completeSignUp } from "./options.ts";

const test = suite("oauth/sign_up");
const CAROL = {
  username: "carol",
  name: "Carol Danvers",
  email: "carol@example.com",
  password: "higher further faster",
};
const OPEN = { signUp: { passwords: "open", providers: "open" } } as const;
const newOpenServer = (options = {}) => newMailServer({ ...OPEN, ...options });

async function userOf({ store }: MailServer, username: string): Promise<User | undefined> {
  const index = await store.get<string>(["username", username]);
  return index && (await store.get<User>(userKey(index.value)))?.value;
}

const signUp = (server: MailServer, form = {}, ip = "203.0.113.7") =>
  server.request("/login/sign-up", { form: { ...CAROL, ...form }, headers: { accept: "text/html" }, ip });

test("a person signs up, confirms the address in the same browser, and is signed in where they came from", async () => {
  const server = await newOpenServer();
  const browser = server.browser();
  const query = "?redirect=" + encodeURIComponent("/oauth/authorize?x=1");
  const login = await (await browser.open("/login" + query)).text();
  assert.match(login, `/login/sign-up${query}`);
  assert.is((await browser.open("/login/sign-up" + query)).status, 200);
  assert.is((await browser.open("/login/sign-up" + query, { form: CAROL })).status, 200);
  assert.is(await userOf(server, "carol"), undefined, "before the link");
  const link = linkOf(server.mails[0]);
  assert.ok(link.startsWith(`${ISSUER}/login/sign-up/confirm?token=trivet_su_`));
  const page = await browser.follow(link);
  assert.is(page.status, 200);
  assert.not.match(await page.text(), 'type="password"');
  assert.is(await userOf(server, "carol"), undefined, "after GET");
  const done = await browser.open("/login/sign-up/confirm", { form: {} });
  assert.equal([done.status, done.headers.get("location")], [302, "/oauth/authorize?x=1"]);
  const user = (await userOf(server, "carol"))!;
  assert.equal([user.name, user.email, user.role], ["Carol Danvers", "carol@example.com", undefined]);
  assert.type(user.email_verified, "number");
  assert.ok([...browser.cookies.keys()].some((name) => /session/.test(name)));
  const form = { username: "carol", password: CAROL.password };
  assert.is((await server.request("/login", { form })).status, 200);
  assert.ok(server.events.some(({ type }) => type === "user_registered"));
  assert.not.match(JSON.stringify([server.events, await server.store.list([])]), CAROL.password);
});

test("a name that is too long is cut without half of a surrogate pair, which strict JSON parsers refuse", async () => {
  const server = await newOpenServer();
  const browser = server.browser();
  await browser.open("/login/sign-up", { form: { ...CAROL, name: "x".repeat(127) + "\u{1f600}" } });
  await browser.follow(linkOf(server.mails[0]));
  await browser.open("/login/sign-up/confirm", { form: {} });
  const { name } = (await userOf(server, "carol"))!;
  assert.is(name.length, 128);
  assert.ok(name.isWellFormed());
});

test("a form confirms the account that its page showed, whichever link was opened since", async () => {
  const server = await newOpenServer();
  const browser = server.browser();
  const actions: string[] = [];
  for (const username of ["carol", "dave"]) {
    await browser.open("/login/sign-up", { form: { ...CAROL, username, email: `${username}@example.com` } });
    const page = await browser.follow(linkOf(server.mails.at(-1)));
    actions.push(/action="([^"]+)"/.exec(await page.text())![1]!);
  }
  assert.is((await browser.open(actions[0]!, { form: {} })).status, 409);
  assert.is(await userOf(server, "dave"), undefined);
  assert.ok(isSignedIn(await browser.open(actions[1]!, { form: {} })));
  assert.ok(await userOf(server, "dave"));
});

test("a person who did not sign up does not confirm the account of an attacker: another browser needs the password", async () => {
  const server = await newOpenServer();
  await server.browser().open("/login/sign-up", { form: CAROL });
  const victim = server.browser();
  const page = await victim.follow(linkOf(server.mails[0]));
  assert.match(await page.text(), 'type="password"');
  const confirm = (form: Record<string, string>) => victim.open("/login/sign-up/confirm", { form });
  const statuses: number[] = [];
  for (let i = 0; i < 10; i++) {
    statuses.push((await confirm(i === 0 ? {} : { password: `guess ${i}` })).status);
  }
  assert.equal(statuses.slice(0, 2), [401, 401]);
  assert.ok(statuses.includes(429), String(statuses));
  assert.is(await userOf(server, "carol"), undefined);
  assert.not.ok([...victim.cookies.keys()].some((name) => /session/.test(name)));
  server.advance(901);
  assert.ok(isSignedIn(await confirm({ password: CAROL.password })));
  assert.ok(await userOf(server, "carol"));
});

test("concurrent sign-ups with one user name make one account", async () => {
  const server = await newOpenServer({ store: slowCommits(memoryStore()) });
  const browsers = [server.browser(), server.browser(), server.browser()];
  for (const [i, browser] of browsers.entries()) {
    await browser.open("/login/sign-up", { form: { ...CAROL, email: `c${i}@example.com` } });
    await browser.follow(linkOf(server.mails[i]));
  }
  const all = await Promise.all(browsers.map((each) => each.open("/login/sign-up/confirm", { form: {} })));
  assert.equal(all.map((each) => isSignedIn(each) ? 0 : each.status).sort(), [0, 409, 409]);
  assert.is((await server.store.list(["user"])).length, 2, "with alice");
});

test("a link makes one account, also for concurrent requests, and ends after an hour", async () => {
  const server = await newOpenServer({ store: slowCommits(memoryStore()) });
  const browser = server.browser();
  await browser.open("/login/sign-up", { form: CAROL });
  await browser.follow(linkOf(server.mails[0]));
  const all = await Promise.all(
    Array.from({ length: 6 }, () => browser.open("/login/sign-up/confirm", { form: {} })),
  );
  assert.is(all.filter(isSignedIn).length, 1);
  const later = await newOpenServer();
  await later.browser().open("/login/sign-up", { form: CAROL });
  later.advance(3601);
  assert.is((await later.browser().follow(linkOf(later.mails[0]))).status, 400);
});

test("an address that is in use gets the same page from the same store calls, and a mail that says so", async () => {
  const { store, calls, written } = countingStore(memoryStore());
  const server = await newOpenServer({ store });
  const alice = (await userOf(server, "alice"))!;
  await store.commit({
    set: [
      { key: userKey(alice.id), value: { ...alice, email_verified: 1 } },
      { key: verifiedEmailKey("alice@example.com"), value: alice.id },
    ],
  });
  const seen = new Set<string>();
  const emails = ["alice@example.com", "carol@example.com", "ALICE@example.com"];
  for (const [i, email] of emails.entries()) {
    const [callsBefore, writtenBefore] = [calls(), written()];
    const response = await signUp(server, { email, username: `carol${i}` }, `203.0.113.${i}`);
    const { status, headers } = response;
    const fields = [...headers].map(([name, value]) => [name, value.replace(/=[\w-]{43};/, "=…;")]);
    const page = (await response.text()).replaceAll(email, "ADDRESS");
    seen.add(JSON.stringify([status, fields, page, calls() - callsBefore, written() - writtenBefore]));
  }
  assert.is(seen.size, 1, [...seen].join("\n"));
  assert.equal(server.mails.map(({ kind }) => kind), ["address_in_use", "sign_up", "address_in_use"]);
  assert.is(server.mails[2]!.to, "alice@example.com", "to the address as its owner wrote it");
  assert.throws(() => linkOf(server.mails[0]));
});

test("an address is not in use because an account has it unverified", async () => {
  const server = await newOpenServer();
  const browser = server.browser();
  await browser.open("/login/sign-up", { form: { ...CAROL, email: "alice@example.com" } });
  await browser.follow(linkOf(server.mails[0]));
  assert.ok(isSignedIn(await browser.open("/login/sign-up/confirm", { form: {} })));
  const carol = (await userOf(server, "carol"))!;
  assert.is(carol.email, "alice@example.com");
  assert.is.not(carol.id, (await userOf(server, "alice"))!.id, "nothing is linked by an address");
});

test("a taken user name is said only after the other checks, and a network learns few of them", async () => {
  const server = await newOpenServer();
  assert.is((await signUp(server, { username: "alice", password: "short" })).status, 400);
  assert.is((await signUp(server, { username: "alice", email: "no" })).status, 400);
  assert.equal(await server.store.list(["attempts"]), []);
  assert.is((await signUp(server, { username: "ALICE" })).status, 409);
  const statuses: number[] = [];
  for (let i = 0; i < 40; i++) {
    statuses.push((await signUp(server, { username: "alice", email: `c${i}@example.com` })).status);
  }
  assert.ok(statuses.filter((status) => status === 409).length <= 20, String(statuses));
  assert.ok(statuses.includes(429));
  assert.is((await signUp(server, { username: "alice" }, "198.51.100.1")).status, 409, "another network");
  assert.equal(server.mails, []);
});

test("a user name that was taken since is refused at the link, and its account stays as it is", async () => {
  const server = await newOpenServer();
  const browser = server.browser();
  await browser.open("/login/sign-up", { form: CAROL });
  const { id } = await addUser(server.store, { username: "Carol", password: "x" }, 1000);
  await browser.follow(linkOf(server.mails[0]));
  assert.is((await browser.open("/login/sign-up/confirm", { form: {} })).status, 409);
  assert.is((await userOf(server, "carol"))!.id, id);
});

test("names, addresses and passwords that break a rule are refused, and what was entered is shown again", async () => {
  const isBreached = (password: string) => password === "correct horse battery";
  const server = await newOpenServer({ passwordPolicy: completePasswordPolicy({ isBreached }) });
  for (
    const form of [
      { username: "" },
      { username: "ca\u200brol" },
      { username: "сarol" },
      { username: "carol@example.com" },
      { email: "" },
      { email: "carol@example.com\r\nBcc: x@y.example" },
      { password: "" },
      { password: "short" },
      { password: "correct horse battery" },
      { password: "Carol@example.com" },
    ]
  ) {
    const response = await signUp(server, { ...form, name: "<b>Bold" });
    assert.is(response.status, 400, JSON.stringify(form));
    const page = await response.text();
    assert.match(page, "&lt;b&gt;Bold");
    assert.not.match(page, CAROL.password);
    assert.match(page, 'role="alert"');
  }
  assert.equal(server.mails, []);
  assert.equal(await server.store.list(["sign_up"]), []);
});

test("no text of the visitor is in the mail to an address that is not verified", async () => {
  const server = await newOpenServer();
  await signUp(server, { username: "see evil.example", name: "https://evil.example/" });
  assert.is(server.mails.length, 1);
  assert.not.match(JSON.stringify(server.mails), "evil");
});

test("a form that another site sent signs no one up", async () => {
  const server = await newOpenServer();
  const headers = { "sec-fetch-site": "cross-site" };
  const browser = server.browser();
  assert.is((await browser.open("/login/sign-up", { form: CAROL, headers })).status, 403);
  await browser.open("/login/sign-up", { form: CAROL });
  await browser.follow(linkOf(server.mails[0]));
  assert.is((await browser.open("/login/sign-up/confirm", { form: {}, headers })).status, 403);
  assert.is(await userOf(server, "carol"), undefined);
});

test("what one network has stored by signing up is limited", async () => {
  const server = await newOpenServer();
  const redirect = "?redirect=" + encodeURIComponent("/" + "r".repeat(1990));
  const statuses: number[] = [];
  for (let i = 0; i < 19; i++) {
    const form = { ...CAROL, username: `c${i}`, email: `c${i}@example.com` };
    statuses.push((await server.request("/login/sign-up" + redirect, { form })).status);
  }
  assert.ok(statuses.includes(429), String(statuses));
  const records = await server.store.list(["sign_up"]);
  assert.ok(JSON.stringify(records).length <= 32 * 1024, String(records.length));
  assert.is((await signUp(server, {}, "198.51.100.1")).status, 200, "another network");
});

test("closed sign-up has no pages, and open sign-up needs sendMail", async () => {
  const server = await newMailServer();
  for (const path of ["/login/sign-up", "/login/sign-up/confirm", "/login/invitation"]) {
    assert.is((await server.request(path)).status, 404, path);
  }
  assert.not.match(
    await (await server.request("/login", { headers: { accept: "text/html" } })).text(),
    "sign-up",
  );
  const sendMail = () => Promise.resolve();
  const closed = { passwords: "closed", providers: "open" };
  assert.equal(completeSignUp({}), closed);
  assert.equal(completeSignUp({ signUp: "invitation" }), {
    passwords: "invitation",
    providers: "invitation",
  });
  assert.equal(completeSignUp({ signUp: "open", sendMail }), { passwords: "open", providers: "open" });
  assert.equal(completeSignUp({ signUp: "open", passwordLogin: false }), closed);
  for (const signUp of ["open", "ajar", { providers: "ajar" }]) {
    assert.throws(
      () => completeSignUp({ signUp: signUp as "open" }),
      (error: unknown) => error instanceof TypeError,
    );
  }
});

test.run();
