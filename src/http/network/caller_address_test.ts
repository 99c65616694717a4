/**
 * The table of addresses behind proxies, and that every throttle, event, log line and audit record uses the same one.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../../events.ts";
import { createAudit } from "../../observability/audit.ts";
import { listAudit } from "../../observability/read_audit.ts";
import { createLog } from "../../observability/log.ts";
import type { RequestOutcome } from "../../observability/request_outcome.ts";
import { rateLimits } from "../../rate_limits/rate_limits.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { createTrivet } from "../../trivet.ts";

const test = suite("http/caller_address");
const ISSUER = "https://agents.example";
const PROXY = "10.0.0.1";
const CALLER = "198.51.100.7";
const LIES = "203.0.113.66";

/** What it is, the address of the connection, the header fields, and the caller's address. */
const CASES: readonly (readonly [
  name: string,
  connection: string | undefined,
  headers: Record<string, string>,
  caller: string | undefined,
])[] = [
  ["no proxy", CALLER, {}, CALLER],
  ["a hop that is not trusted", CALLER, { "x-forwarded-for": LIES, forwarded: `for=${LIES}` }, CALLER],
  ["a proxy", PROXY, { "x-forwarded-for": CALLER }, CALLER],
  ["a proxy with an IPv4-mapped address", `::ffff:${PROXY}`, { "x-forwarded-for": CALLER }, CALLER],
  ["a proxy in a block of IPv6 addresses", "fd00::5", { "x-forwarded-for": CALLER }, CALLER],
  ["entries that the caller put on the left", PROXY, { "x-forwarded-for": `${LIES}, ${CALLER}` }, CALLER],
  ["a trusted address on the left", PROXY, { "x-forwarded-for": `10.0.0.9, ${LIES}, ${CALLER}` }, CALLER],
  ["two proxies", PROXY, { "x-forwarded-for": `${LIES}, ${CALLER}, 10.0.0.2` }, CALLER],
  ["a proxy in between that is not trusted", PROXY, {
    "x-forwarded-for": `${LIES}, ${CALLER}, 10.0.0.2, 10.0.0.3`,
  }, CALLER],
  ["Forwarded", PROXY, { forwarded: `for=${LIES}, for=${CALLER};proto=https;by=10.0.0.1` }, CALLER],
  ["IPv6 with a port", PROXY, { "x-forwarded-for": "[2001:db8::7]:4711" }, "2001:db8::7"],
  ["Forwarded with IPv6 and a port", PROXY, { forwarded: 'for="[2001:db8::7]:4711"' }, "2001:db8::7"],
  ["IPv4 with a port", PROXY, { "x-forwarded-for": `${CALLER}:4711` }, CALLER],
  ["a proxy without a field", PROXY, {}, undefined],
  ["a malformed last entry", PROXY, { "x-forwarded-for": `${CALLER}, what` }, undefined],
  ["an empty last entry", PROXY, { "x-forwarded-for": `${CALLER},` }, undefined],
  ["an obfuscated identifier", PROXY, { forwarded: `for=${CALLER}, for=_hidden` }, undefined],
  ["a unix socket, which has no address", undefined, { "x-forwarded-for": LIES }, undefined],
];

for (const [name, connection, headers, caller] of CASES) {
  test(`${name}: events, log lines, audit records, sessions and limits have the caller's address`, async () => {
    const store = memoryStore();
    const events: TrivetEvent[] = [];
    const outcomes: RequestOutcome[] = [];
    const lines: string[] = [];
    const audit = createAudit({ store });
    const log = createLog({ write: (line) => lines.push(line), requestLevel: "info" });
    const { fetch } = createTrivet({
      issuer: ISSUER,
      store,
      trustedProxies: ["10.0.0.0/8", "fd00::/8"],
      rateLimits: rateLimits({ address: "4/1m" }),
      oauth: {
        clients: [{ id: "app", secret: "secret", redirect_uris: ["https://app.example/cb"] }],
        authenticateUser: (form) =>
          Promise.resolve(
            form.get("password") === "right"
              ? { id: "alice", name: "Alice", email: "a@b.example" }
              : undefined,
          ),
      },
      onEvent(event) {
        events.push(event);
        log.event(event);
        audit.add(event);
      },
      onRequest(outcome) {
        outcomes.push(outcome);
        log.request(outcome);
      },
    });
    const post = (path: string, form: Record<string, string>) =>
      fetch(
        new Request(ISSUER + path, { method: "POST", headers, body: new URLSearchParams(form) }),
        { ip: connection },
      );
    await post("/login", { username: "alice", password: "wrong" });
    await post("/login", { username: "alice", password: "right" });
    await post("/oauth/token", {
      grant_type: "client_credentials",
      client_id: "app",
      client_secret: "wrong",
    });
    const statuses: number[] = [];
    for (let i = 0; i < 2; i++) {
      statuses.push((await fetch(new Request(ISSUER + "/", { headers }), { ip: connection })).status);
    }
    assert.is(statuses.at(-1), caller === undefined ? 200 : 429, "the limit of the address");

    const expected = [
      "login_failed",
      "login_succeeded",
      "client_refused",
      ...caller === undefined ? [] : ["rate_limited"],
    ];
    assert.equal(events.map(({ type }) => type), expected);
    for (const event of events) assert.is((event as { ip?: string }).ip, caller, event.type);
    for (const { ip } of outcomes) assert.is(ip, caller);
    for (const line of lines) assert.is(JSON.parse(line).ip, caller, line);
    await audit.close();
    const records: string[] = [];
    for await (const { type, fields } of listAudit(store)) {
      records.push(type);
      assert.is(fields["ip"], caller, type);
    }
    assert.equal(records, expected);
    const sessions = (await store.list<{ address?: string }>(["session"])).map(({ value }) => value.address);
    assert.equal(sessions, [caller]);
    const everything = JSON.stringify([events, outcomes, lines, await store.list([])]);
    assert.not.match(everything, LIES);
  });
}

test.run();
