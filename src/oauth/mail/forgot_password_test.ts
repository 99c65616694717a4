import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { countingStore } from "../../store/test_counting_store.ts";
import { type User, userKey, verifiedEmailKey } from "../records/user_record.ts";
import { ISSUER } from "../test_server.ts";
import { addUser } from "../users/user.ts";
import { ADDRESS_LIMIT, NETWORK_LIMIT } from "./mail_limit.ts";
import { aliceOf, changeAlice, forgot, newMailServer } from "./test_mailbox.ts";

const test = suite("oauth/forgot_password");

test("known and unknown users get the same answer, from the same store calls and bytes", async () => {
  const { store, calls, written } = countingStore(memoryStore());
  const server = await newMailServer({ store });
  await addUser(store, { username: "locked", password: "x", email: "locked@example.com" }, 1000);
  await addUser(store, { username: "nomail", password: "x" }, 1000);
  const locked = (await store.get<string>(["username", "locked"]))!.value;
  const entry = (await store.get<User>(userKey(locked)))!;
  await store.commit({ set: [{ key: entry.key, value: { ...entry.value, locked: 1 } }] });
  await changeAlice(server, { email_verified: 1 });
  await store.commit({
    set: [{ key: verifiedEmailKey("alice@example.com"), value: (await aliceOf(server)).id }],
  });
  const seen = new Set<string>();
  const names = [
    "alice",
    "Alice",
    "alice@example.com",
    "ALICE@example.com",
    "unknown",
    "no@example.com",
    "locked",
    "nomail",
  ];
  for (const [i, identifier] of names.entries()) {
    const [callsBefore, writtenBefore] = [calls(), written()];
    const response = await forgot(server, identifier, `203.0.113.${i}`);
    const { status, headers } = response;
    seen.add(JSON.stringify([
      status,
      [...headers],
      await response.text(),
      calls() - callsBefore,
      // The record of the throttle has the time of the next attempt, as the record of the link has that of now.
      written() - writtenBefore,
    ]));
  }
  assert.is(seen.size, 1, [...seen].join("\n"));
  assert.equal(server.mails.map(({ to }) => to), Array(4).fill("alice@example.com"));
});

test("attack: a user name that is the address of another user takes no mail from them", async () => {
  const server = await newMailServer();
  const { id } = await aliceOf(server);
  const address = "alice@example.com";
  const mallory = { username: address, password: "m", email: "mallory@evil.example" };
  await addUser(server.store, mallory, 1000);
  const sentTo = async () => {
    await forgot(server, address);
    return server.mails.at(-1)?.to;
  };
  assert.is(await sentTo(), mallory.email, "until someone has verified the address");
  await changeAlice(server, { email: address, email_verified: 1 });
  await server.store.commit({ set: [{ key: verifiedEmailKey(address), value: id }] });
  assert.is(await sentTo(), address);
});

test("an address that the user did not verify finds no account", async () => {
  const server = await newMailServer();
  const { id } = await aliceOf(server);
  await forgot(server, "alice@example.com");
  await server.store.commit({ set: [{ key: verifiedEmailKey("alice@example.com"), value: id }] });
  await forgot(server, "alice@example.com");
  await changeAlice(server, { email: "new@example.com", email_verified: 1 });
  await forgot(server, "alice@example.com");
  assert.equal(server.mails, []);
});

test("a failing or slow sendMail changes nothing for the visitor, and a failure is an event without address and link", async () => {
  const failing = await newMailServer({
    sendMail: ({ to, text }) => Promise.reject(new Error(`550 ${to} refused: ${text}`)),
  });
  assert.is((await forgot(failing)).status, 200);
  const event = failing.events.find(({ type }) => type === "mail_failed");
  assert.match(JSON.stringify(event), "password_reset");
  assert.not.match(JSON.stringify(event), /alice@example|trivet_pr_/);

  const throwing = await newMailServer({
    sendMail: () => {
      throw new Error("no transport");
    },
  });
  assert.is((await forgot(throwing)).status, 200);

  let sent = false;
  const sending = Promise.withResolvers<void>();
  const slow = await newMailServer({
    sendMail() {
      sent = true;
      sending.resolve();
      return new Promise(() => {});
    },
  });
  const form = new URLSearchParams({ identifier: "alice" });
  const response = await slow.service.fetch(
    new Request(ISSUER + "/login/forgot", { method: "POST", body: form }),
    {},
  );
  assert.equal([response.status, sent], [200, false], "sent after the response");
  await sending.promise;
});

test("mails to one account are limited, from whichever networks they are asked for, known or not", async () => {
  for (const identifier of ["alice", "unknown"]) {
    const server = await newMailServer();
    const statuses: number[] = [];
    let waits = 0;
    for (let i = 0; i < 40; i++) {
      const response = await forgot(server, i % 2 ? identifier : identifier.toUpperCase(), `198.51.100.${i}`);
      statuses.push(response.status);
      if (response.status === 429) waits += Number(response.headers.get("retry-after"));
    }
    assert.is(statuses.indexOf(429), ADDRESS_LIMIT.freeAttempts, identifier);
    assert.ok(waits > 0);
    assert.is(server.mails.length, identifier === "alice" ? ADDRESS_LIMIT.freeAttempts : 0);
  }
});

test("one network has a limited number of mails sent", async () => {
  const server = await newMailServer();
  const statuses: number[] = [];
  for (let i = 0; i < NETWORK_LIMIT.freeAttempts + 5; i++) {
    statuses.push((await forgot(server, `user-${i}`)).status);
  }
  assert.is(statuses.indexOf(429), NETWORK_LIMIT.freeAttempts);
  assert.is((await forgot(server, "alice", "198.51.100.9")).status, 200);
});

test("pages and mails are in the language of the browser", async () => {
  const server = await newMailServer();
  const headers = { accept: "text/html", "accept-language": "de-AT" };
  const page = await server.request("/login/forgot", { headers });
  assert.is(page.headers.get("content-language"), "de");
  await server.request("/login/forgot", { form: { identifier: "alice" }, headers });
  assert.is(server.mails[0]!.language, "de");
  await forgot(server);
  assert.is.not(server.mails[0]!.subject, server.mails[1]!.subject);
  for (const { subject, text } of server.mails) {
    assert.not.match(subject + text, /[{}]/);
    assert.not.match(subject, /[\r\n]/);
  }
});

test.run();
