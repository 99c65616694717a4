import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { slowCommits } from "../../store/test_slow_commits.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type User, userKey, verifiedEmailKey } from "../records/user_record.ts";
import { createStorageQuota } from "../storage_quota.ts";
import { ISSUER } from "../test_server.ts";
import { createThrottle } from "../users/throttle/throttle.ts";
import { removeUser } from "../users/remove_user.ts";
import { addUser } from "../users/user.ts";
import { isEmailAddress } from "../users/email_address.ts";
import { requestEmailVerification } from "./email_verification.ts";
import type { Mail } from "./mail.ts";
import { linkOf, type MailServer, newMailServer } from "./test_mailbox.ts";

const test = suite("oauth/email_verification");

async function userOf({ store }: MailServer, username: string): Promise<User> {
  const { value } = (await store.get<string>(["username", username]))!;
  return (await store.get<User>(userKey(value)))!.value;
}

/** Asks for a mail as the account page does. @returns the seconds to wait */
async function ask(server: MailServer, username: string, email: string): Promise<number> {
  const now = Date.now;
  const as = {
    store: server.store,
    issuer: ISSUER,
    pages: {},
    now,
    observe: () => {},
    throttle: createThrottle(server.store, now),
    storageQuota: createStorageQuota({ pushedRequestLifetime: 1, deviceCodeLifetime: 1, now }),
    sendMail: (mail: Mail) => Promise.resolve(void server.mails.push(mail)),
  } as unknown as AuthorizationServer;
  const waiting: Promise<unknown>[] = [];
  const context = { waitUntil: (promise: Promise<unknown>) => void waiting.push(promise) };
  const user = await userOf(server, username);
  const wait = await requestEmailVerification(as, context, { user, email, language: "en" });
  await Promise.all(waiting);
  return wait;
}

async function verify(server: MailServer, link: string): Promise<number> {
  const browser = server.browser();
  await browser.follow(link);
  return (await browser.open("/login/verify-email", { form: {} })).status;
}

test("an address is verified by the link, not by opening it, and once", async () => {
  const server = await newMailServer();
  await ask(server, "alice", "alice@example.com");
  const link = linkOf(server.mails[0]);
  assert.ok(link.startsWith(`${ISSUER}/login/verify-email?token=trivet_ev_`));
  const browser = server.browser();
  assert.is((await browser.follow(link)).status, 200);
  assert.is((await userOf(server, "alice")).email_verified, undefined);
  assert.is((await browser.open("/login/verify-email", { form: {} })).status, 200);
  const { id, email_verified } = await userOf(server, "alice");
  assert.type(email_verified, "number");
  assert.is((await server.store.get(verifiedEmailKey("alice@example.com")))!.value, id);
  assert.equal(server.events.at(-1), { type: "email_verified", user: id });
  assert.is(await verify(server, link), 400);
});

test("a new address replaces the earlier one when it is verified, and the earlier one gets a notice", async () => {
  const server = await newMailServer();
  await ask(server, "alice", "alice@example.com");
  await verify(server, linkOf(server.mails[0]));
  await ask(server, "alice", "Alice@new.example");
  const { email } = await userOf(server, "alice");
  assert.is(email, "alice@example.com", "until it is verified");
  assert.is(await verify(server, linkOf(server.mails[1])), 200);
  assert.is((await userOf(server, "alice")).email, "Alice@new.example");
  assert.equal([server.mails[2]!.to, server.mails[2]!.kind], ["alice@example.com", "email_changed"]);
  assert.is(await server.store.get(verifiedEmailKey("alice@example.com")), undefined);
});

test("a newer link ends an earlier one, and so does a day", async () => {
  const server = await newMailServer();
  await ask(server, "alice", "one@example.com");
  await ask(server, "alice", "two@example.com");
  assert.is(await verify(server, linkOf(server.mails[0])), 400);
  server.advance(86_400 + 1);
  assert.is(await verify(server, linkOf(server.mails[1])), 400);
  assert.is((await userOf(server, "alice")).email, "alice@example.com");
});

test("only one account verifies an address, until that account has another one or is gone", async () => {
  const server = await newMailServer();
  await addUser(server.store, { username: "bob", password: "x", email: "alice@example.com" }, 1000);
  await ask(server, "alice", "alice@example.com");
  await ask(server, "bob", "ALICE@example.com");
  const [first, second] = server.mails.map(linkOf);
  assert.is(await verify(server, first!), 200);
  assert.is(await verify(server, second!), 409);
  assert.is((await userOf(server, "bob")).email_verified, undefined);
  await removeUser(server.store, "alice");
  assert.is(await verify(server, second!), 200);
  assert.ok((await userOf(server, "bob")).email_verified);
});

test("verifying another address does not take an unverified one from the user who verified it", async () => {
  const server = await newMailServer();
  await ask(server, "alice", "alice@example.com");
  assert.is(await verify(server, linkOf(server.mails[0]!)), 200);
  await addUser(server.store, { username: "bob", password: "x", email: "alice@example.com" }, 1000);
  await ask(server, "bob", "bob@example.com");
  assert.is(await verify(server, linkOf(server.mails.at(-1)!)), 200);
  const index = await server.store.get(verifiedEmailKey("alice@example.com"));
  assert.is(index?.value, (await userOf(server, "alice")).id);
});

test("a new password or another address ends a link that was asked for before", async () => {
  for (const change of [{ password: "of the owner" }, { email: "other@example.com" }]) {
    const server = await newMailServer();
    await ask(server, "alice", "mallory@example.com");
    const user = await userOf(server, "alice");
    await server.store.commit({ set: [{ key: userKey(user.id), value: { ...user, ...change } }] });
    assert.is(await verify(server, linkOf(server.mails[0]!)), 400);
    assert.is.not((await userOf(server, "alice")).email, "mallory@example.com");
  }
});

test("a concurrent verification of one address by two accounts succeeds once", async () => {
  const server = await newMailServer({ store: slowCommits(memoryStore()) });
  await addUser(server.store, { username: "bob", password: "x" }, 1000);
  await ask(server, "alice", "shared@example.com");
  await ask(server, "bob", "shared@example.com");
  const statuses = await Promise.all(server.mails.map((mail) => verify(server, linkOf(mail))));
  assert.equal(statuses.sort(), [200, 409]);
});

test("a verification form that another site sent verifies nothing", async () => {
  const server = await newMailServer();
  await ask(server, "alice", "alice@example.com");
  const browser = server.browser();
  await browser.follow(linkOf(server.mails[0]));
  const headers = { "sec-fetch-site": "cross-site" };
  assert.is((await browser.open("/login/verify-email", { form: {}, headers })).status, 403);
  assert.is((await userOf(server, "alice")).email_verified, undefined);
});

test("mails to one address are limited", async () => {
  const server = await newMailServer();
  let waits = 0;
  for (let i = 0; i < 10; i++) waits += await ask(server, "alice", "victim@example.com");
  assert.ok(waits > 0);
  assert.ok(server.mails.length <= 4, String(server.mails.length));
});

test("an address names one mailbox and ends no header field", () => {
  for (
    const email of ["a@b.example", "first.last+tag@sub.example.org", "jörg@bücher.example", "root@localhost"]
  ) {
    assert.ok(isEmailAddress(email), email);
  }
  for (
    const text of [
      "",
      "a",
      "a@",
      "@b.example",
      "a@b@c.example",
      "a b@c.example",
      "a@b.example,c@d.example",
      "a@b.example\r\nBcc: c@d.example",
      "a@b.example\n",
      "Alice <a@b.example>",
      '"a b"@c.example',
      "a@[127.0.0.1]",
      "a@b..example",
      ".a@b.example",
      "a@-b.example",
      "a\u0000@b.example",
      "a\u202e@b.example",
      `${"a".repeat(65)}@b.example`,
      `a@${"b".repeat(254)}`,
    ]
  ) {
    assert.not(isEmailAddress(text), JSON.stringify(text));
  }
});

test("a form confirms the address that its page showed, whichever link was opened since", async () => {
  const server = await newMailServer();
  await addUser(server.store, { username: "bob", password: "wonderland" }, 1000);
  const browser = server.browser();
  const actions: string[] = [];
  for (const username of ["alice", "bob"]) {
    await ask(server, username, `${username}@example.com`);
    const page = await browser.follow(linkOf(server.mails.at(-1)));
    actions.push(/action="([^"]+)"/.exec(await page.text())![1]!);
  }
  const verified = async () =>
    await Promise.all(["alice", "bob"].map(async (each) => !!(await userOf(server, each)).email_verified));
  assert.is((await browser.open(actions[0]!, { form: {} })).status, 409);
  assert.equal(await verified(), [false, false]);
  assert.is((await browser.open(actions[1]!, { form: {} })).status, 200);
  assert.equal(await verified(), [false, true]);
});

test.run();
