import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createPasswordHasher, type Derive, PORTABLE_ITERATIONS } from "../../crypto/password.ts";
import { createPasswordMemory } from "../../crypto/password_memory.ts";
import { hmacSha256 } from "../../crypto/sha256.ts";
import type { TrivetEvent } from "../../events.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { DEVICE_LIMIT } from "./login_attempt.ts";
import {
  ALL_ACCOUNTS_LIMIT,
  MAX_ACCOUNTS_OF_NETWORK,
  MAX_RECORD_BYTES,
  NETWORK_LIMIT,
} from "./throttle/login_throttle.ts";
import { createPasswordQueue } from "./password_queue.ts";
import { checkPassword } from "./user.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";

const test = suite("oauth/login_attempt");

/** Posts the login form. */
async function login(
  server: TestServer,
  password: string,
  { ip, username = "alice", cookie }: { ip?: string; username?: string; cookie?: string | undefined } = {},
): Promise<Response> {
  const body = new URLSearchParams({ username, password });
  const request = new Request(ISSUER + "/login", { method: "POST", body, headers: cookie ? { cookie } : {} });
  return await server.service.fetch(request, { ip });
}
const deviceOf = (response: Response): string | undefined =>
  response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]!).find((cookie) =>
    /device/.test(cookie)
  );

test("after wrong passwords a network waits longer each time, and other networks do not wait", async () => {
  const server = await newServer();
  const ip = "203.0.113.1";
  for (let i = 0; i < NETWORK_LIMIT.freeAttempts; i++) {
    assert.is((await login(server, "wrong", { ip })).status, 401);
  }
  let before = 0;
  for (let i = 0; i < 6; i++) {
    const wait = Number((await login(server, "wrong", { ip })).headers.get("retry-after"));
    assert.ok(wait > before, `${wait} after ${before}`);
    before = wait;
    server.advance(wait);
    assert.is((await login(server, "wrong", { ip })).status, 401);
  }
  assert.is((await login(server, "wonderland", { ip: "203.0.113.2" })).status, 200);
});

for (const ip of [undefined, "127.0.0.1", "10.0.0.1", "::1", "fd00::1"]) {
  test(`from an address that does not identify a caller (${ip}) the right password always succeeds and guesses get 429`, async () => {
    const server = await newServer();
    const at = ip === undefined ? {} : { ip };
    const statuses: number[] = [];
    for (let i = 0; i < 120; i++) {
      statuses.push(
        (await login(server, "wrong", { ...at, username: i % 2 ? "alice" : `unknown-${i}` })).status,
      );
    }
    assert.ok(statuses.includes(429), "guesses get 429");
    assert.is((await login(server, "wonderland", at)).status, 200);
    assert.equal(await server.store.list(["attempts"]), []);
  });
}

test("a browser with a device cookie signs in from a network that must wait, and has its own limit", async () => {
  const server = await newServer();
  const ip = "203.0.113.1";
  const cookie = deviceOf(await login(server, "wonderland", { ip }))!;
  for (let i = 0; i < 20; i++) await login(server, "wrong", { ip });
  assert.is((await login(server, "wonderland", { ip })).status, 429);
  const response = await login(server, "wonderland", { ip, cookie });
  assert.is(response.status, 200);
  // A stolen cookie has its own limit too.
  const stolen = deviceOf(response)!;
  const statuses: number[] = [];
  for (let i = 0; i < 40; i++) statuses.push((await login(server, "wrong", { ip, cookie: stolen })).status);
  assert.is(statuses.filter((status) => status === 401).length, DEVICE_LIMIT.freeAttempts);
});

test("the device cookie is valid for its account only and cannot be forged", async () => {
  const server = await newServer();
  const ip = "203.0.113.1";
  const cookie = deviceOf(await login(server, "wonderland", { ip }))!;
  for (let i = 0; i < 20; i++) await login(server, "wrong", { ip, username: "bob" });
  assert.is((await login(server, "wrong", { ip, username: "bob", cookie })).status, 429);
  for (let i = 0; i < 20; i++) await login(server, "wrong", { ip });
  for (
    const made of [
      cookie.replace(/.$/, (end) => end === "A" ? "B" : "A"),
      "__Host-login_device=x",
      "login_device",
    ]
  ) {
    assert.is((await login(server, "wrong", { ip, cookie: made })).status, 429, made);
  }
  assert.not.match(cookie, "alice");
  const again = deviceOf(await login(server, "wonderland", { ip: "203.0.113.9", cookie }))!;
  assert.is.not(again, cookie, "each login sets a new cookie");
});

test("the networks of one IPv6 /48 share a limit", async () => {
  const server = await newServer();
  let tried = 0;
  for (let i = 0; i < 400; i++) {
    const ip = `2001:db8:7:${i.toString(16)}::1`;
    if ((await login(server, "wrong", { ip })).status === 401) tried++;
  }
  assert.ok(tried <= 60, String(tried));
  assert.is((await login(server, "wonderland", { ip: "2001:db8:8::1" })).status, 200);
});

test("a network that guesses at many accounts waits at every account", async () => {
  const server = await newServer();
  const ip = "203.0.113.1";
  const statuses: number[] = [];
  for (let i = 0; i < 130; i++) {
    statuses.push((await login(server, "wrong", { ip, username: `user-${i}` })).status);
  }
  assert.is(statuses.indexOf(429), ALL_ACCOUNTS_LIMIT.freeAttempts);
  const records = await server.store.list(["attempts"]);
  assert.is(records.length, 1);
  assert.ok(JSON.stringify(records[0]).length <= MAX_RECORD_BYTES);
});

test("attempts at other accounts do not evict the count of the account with the most attempts", async () => {
  const server = await newServer();
  const ip = "203.0.113.1";
  for (let i = 0; i < NETWORK_LIMIT.freeAttempts; i++) {
    assert.is((await login(server, "wrong", { ip })).status, 401);
  }
  for (let i = 0; i < 2 * MAX_ACCOUNTS_OF_NETWORK; i++) {
    await login(server, "wrong", { ip, username: `user-${i}` });
  }
  assert.is((await login(server, "wrong", { ip })).status, 429);
});

test("a network has at most 18 attempts at an account in any 24 hours", async () => {
  for (const pause of [0, 100, 3600, 50_000]) {
    const server = await newServer();
    const at: number[] = [];
    for (let now = 0; now < 3 * 86_400;) {
      const response = await login(server, "wrong", { ip: "203.0.113.1" });
      const wait = Number(response.headers.get("retry-after") ?? 0);
      if (response.status === 401) at.push(now);
      const seconds = Math.max(wait, response.status === 401 ? pause : 1);
      server.advance(seconds);
      now += seconds;
    }
    for (const first of at) {
      const count = at.filter((each) => each >= first && each < first + 86_400).length;
      assert.ok(count <= 18, `${count} in a day with pauses of ${pause}`);
    }
  }
});

test("a replaced password and the password of a removed user are refused", async () => {
  const server = await newServer();
  assert.is((await login(server, "wonderland")).status, 200);
  const [user] = await server.store.list<Record<string, unknown>>(["user"]);
  const changed = await newServer();
  const [other] = await changed.store.list<Record<string, unknown>>(["user"]);
  await server.store.commit({
    set: [{ key: user!.key, value: { ...user!.value, password: other!.value.password } }],
  });
  assert.is((await login(server, "wonderland")).status, 200, "the same password with another salt");
  const elsewhere = "pbkdf2-sha256$1000$AAAAAAAAAAAAAAAAAAAAAA$" + "A".repeat(43);
  await server.store.commit({ set: [{ key: user!.key, value: { ...user!.value, password: elsewhere } }] });
  assert.is((await login(server, "wonderland")).status, 401);
  await server.store.commit({ remove: [user!.key] });
  assert.is((await login(server, "wonderland")).status, 401);
});

test("a hash with more iterations than the platform allows counts as a wrong password and is reported as a fault", async () => {
  const store = memoryStore();
  const derive: Derive = (password, salt, iterations) =>
    iterations > PORTABLE_ITERATIONS
      ? Promise.reject(new DOMException("too many", "NotSupportedError"))
      : Promise.resolve(hmacSha256(password, salt.join()));
  const passwords = createPasswordHasher(derive);
  const user = { id: "user_1", username: "alice", name: "", email: "", created: 0 };
  const salt = "A".repeat(22);
  const password = `pbkdf2-sha256$600000$${salt}$${"A".repeat(43)}`;
  await store.commit({
    set: [{ key: ["username", "alice"], value: user.id }, {
      key: ["user", user.id],
      value: { ...user, password },
    }],
  });
  const events: TrivetEvent[] = [];
  const as = {
    store,
    passwords,
    passwordIterations: 600_000,
    passwordMemory: createPasswordMemory(Date.now),
    passwordQueue: createPasswordQueue(Date.now),
    observe: (event: TrivetEvent) => events.push(event),
  } as unknown as AuthorizationServer;
  const check = (username: string) =>
    checkPassword(as, username, "wonderland", { account: username, network: undefined, trusted: false });
  assert.is(await check("unknown"), undefined);
  assert.is(await check("alice"), undefined);
  assert.equal(events.map(({ type }) => type), ["fault"]);
  // A hash with as many iterations as the platform allows is not renewed at each login.
  const own = await passwords.hash("wonderland", 600_000);
  await store.commit({ set: [{ key: ["user", user.id], value: { ...user, password: own } }] });
  for (let i = 0; i < 2; i++) {
    assert.equal(await check("alice"), { ...user, password: own });
  }
  assert.is((await store.get<{ password: string }>(["user", user.id]))!.value.password, own);
});

test.run();
