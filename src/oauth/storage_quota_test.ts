import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "./clients/client.ts";
import { OAuthError } from "./error.ts";
import { createStorageQuota, STORAGE_LIMITS, type StorageKind } from "./storage_quota.ts";
import { CHALLENGE, ISSUER, newServer } from "./test_server.ts";

const test = suite("oauth/storage_quota");
const OPERATORS = toClient({ id: "web", secret: "s", domain: "web.example" }, 0);
const PUBLIC = toClient({ id: "native", redirect_uris: ["http://127.0.0.1/cb"] }, 0);
const REGISTERED = { ...OPERATORS, source: "registration" } as const;

function newQuota() {
  let at = 0;
  const quota = createStorageQuota({ pushedRequestLifetime: 600, deviceCodeLifetime: 600, now: () => at });
  return { ...quota, advance: (seconds: number) => void (at += seconds * 1000) };
}

/** Reserves until an error; the bytes reserved before it, and the error. */
function fill(
  { reserve }: ReturnType<typeof newQuota>,
  kind: StorageKind,
  client: typeof OPERATORS | undefined,
  ipOf: (i: number) => string | undefined,
): { reserved: number; error: OAuthError | undefined } {
  for (let i = 0; i < 100_000; i++) {
    try {
      reserve(kind, 1000, client, { ip: ipOf(i) });
    } catch (error) {
      return { reserved: i * 1256, error: error as OAuthError };
    }
  }
  return { reserved: Infinity, error: undefined };
}

for (
  const [kind, limits] of Object.entries(STORAGE_LIMITS) as [
    StorageKind,
    typeof STORAGE_LIMITS[StorageKind],
  ][]
) {
  test(`${kind}: one network, all networks, and unknown networks have limits`, () => {
    const own = fill(newQuota(), kind, PUBLIC, () => "203.0.113.1");
    assert.ok(
      own.reserved <= limits.perNetwork && own.reserved > limits.perNetwork - 2000,
      `${own.reserved}`,
    );
    assert.equal([own.error!.code, own.error!.status], ["temporarily_unavailable", 429]);
    assert.match(JSON.stringify(own.error!.fields), /retry-after/);
    const all = fill(newQuota(), kind, REGISTERED, (i) => `20.0.${i >> 8 & 255}.${i & 255}`);
    assert.ok(all.reserved <= limits.overall && all.reserved > limits.overall - 2000, `${all.reserved}`);
    const unknown = fill(newQuota(), kind, undefined, (i) => i % 2 === 0 ? undefined : "10.0.0.1");
    assert.ok(
      unknown.reserved <= limits.unknown && unknown.reserved > limits.unknown - 2000,
      `${unknown.reserved}`,
    );
    assert.is(unknown.error!.status, 503);
    const free = fill(newQuota(), kind, OPERATORS, () => undefined);
    assert.is(free.error, undefined, "the operator's own clients are not counted");
  });
}

test("expired records free their quota", () => {
  const quota = newQuota();
  fill(quota, "pushed_request", PUBLIC, () => "203.0.113.1");
  quota.advance(300);
  assert.throws(() => quota.reserve("pushed_request", 2000, PUBLIC, { ip: "203.0.113.1" }));
  quota.advance(340);
  quota.reserve("pushed_request", 2000, PUBLIC, { ip: "203.0.113.1" });
});

test("pushed requests are limited in size, and per network unless the operator registered the client with a secret", async () => {
  const server = await newServer();
  const push = async (form: Record<string, string>, ip = "203.0.113.1") => {
    const body = new URLSearchParams({ response_type: "code", ...form });
    const response = await server.service.fetch(
      new Request(ISSUER + "/oauth/par", { method: "POST", body }),
      { ip },
    );
    return [response.status, response.status === 201 ? "" : (await response.json()).error];
  };
  const native = {
    client_id: "native",
    redirect_uri: "http://127.0.0.1/callback",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  assert.equal(await push({ ...native, state: "x".repeat(9000) }), [413, "invalid_request"]);
  const large = { ...native, state: "x".repeat(7000) };
  let accepted = 0;
  let last = await push(large);
  for (; accepted < 1000 && last[0] === 201; accepted++) last = await push(large);
  assert.equal(last, [429, "temporarily_unavailable"]);
  assert.ok(accepted * 7000 <= STORAGE_LIMITS.pushed_request.perNetwork, String(accepted));
  assert.is((await push(native, "203.0.113.2"))[0], 201);
  const web = { client_id: "web", client_secret: "web-secret", redirect_uri: "https://web.example/cb" };
  for (let i = 0; i < 5; i++) assert.is((await push({ ...web, state: "x".repeat(7000) }))[0], 201);
});

test("DPoP proofs of public clients are limited per network", async () => {
  const server = await newServer();
  const ask = (ip: string) => {
    const body = new URLSearchParams({ client_id: "native", grant_type: "authorization_code", code: "x" });
    const request = new Request(ISSUER + "/oauth/token", { method: "POST", body, headers: { dpop: "x" } });
    return server.service.fetch(request, { ip });
  };
  const max = STORAGE_LIMITS.proof.perNetwork / 256;
  for (let i = 0; i < max; i++) assert.is((await ask("203.0.113.1")).status, 400);
  assert.is((await ask("203.0.113.1")).status, 429);
  assert.is((await ask("203.0.113.2")).status, 400);
});

test.run();
