import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore, type Principal } from "./mod.ts";
import { addClient } from "./oauth/clients/client.ts";
import { createApiKey } from "./skills/api_key.ts";
import { StoreUnavailableError } from "./store/store.ts";

const test = suite("authenticate and protect");
const ISSUER = "https://a.example";
const METADATA = `${ISSUER}/.well-known/oauth-protected-resource`;
const ORDERS = `${ISSUER}/orders`;

async function start() {
  let offset = 0;
  const store = memoryStore();
  const { secret } = await addClient(store, { id: "worker", grant_types: ["client_credentials"] });
  const { secret: key } = await createApiKey(store, { name: "test", scopes: ["skills:write"] });
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    oauth: { resources: [{ resource: ORDERS }] },
    now: () => Date.now() + offset,
  });
  async function token(scope: string, resource?: string): Promise<string> {
    const body = new URLSearchParams({ grant_type: "client_credentials", scope });
    body.set("client_id", "worker");
    body.set("client_secret", secret!);
    if (resource !== undefined) body.set("resource", resource);
    const response = await trivet.fetch(new Request(`${ISSUER}/oauth/token`, { method: "POST", body }));
    return (await response.json()).access_token;
  }
  return { trivet, token, key, advance: (milliseconds: number) => void (offset += milliseconds) };
}

const request = (headers: Record<string, string> = {}): Request => new Request(ORDERS, { headers });
const bearer = (token: string): Request => request({ authorization: `Bearer ${token}` });

async function refusal(answer: Principal | Response): Promise<[number, string | undefined, string]> {
  assert.instance(answer, Response);
  const { error, error_description } = await (answer as Response).json();
  assert.type(error_description, "string");
  const field = (answer as Response).headers.get("www-authenticate")!;
  return [(answer as Response).status, error, field.replace(/error_description="[^"]*"/, "…")];
}

test("a request without credentials has no principal and gets 401 without an error code", async () => {
  const { trivet } = await start();
  assert.is(await trivet.authenticate(request()), undefined);
  assert.equal(await refusal(await trivet.protect(request(), { scopes: ["read", "write"] })), [
    401,
    undefined,
    `Bearer scope="read write", resource_metadata="${METADATA}"`,
  ]);
  assert.equal(await refusal(await trivet.protect(request())), [
    401,
    undefined,
    `Bearer resource_metadata="${METADATA}"`,
  ]);
});

test("a request with invalid credentials has no principal and gets 401 invalid_token", async () => {
  const { trivet, token, advance } = await start();
  const expired = await token("read");
  advance(7_201_000);
  for (
    const headers of [
      { authorization: "Bearer unknown" },
      { authorization: `Bearer ${expired}` },
      { authorization: "Bearer {no token}" },
      { authorization: "Basic YTpi" },
      { "x-api-key": "unknown" },
      { authorization: "Bearer trivet_key_unknown" },
    ] as Record<string, string>[]
  ) {
    assert.is(await trivet.authenticate(request(headers)), undefined, JSON.stringify(headers));
    assert.equal(await refusal(await trivet.protect(request(headers))), [
      401,
      "invalid_token",
      `Bearer error="invalid_token", …, resource_metadata="${METADATA}"`,
    ]);
  }
});

test("a token without a required scope gets a 403 with all required scopes", async () => {
  const { trivet, token } = await start();
  const weak = bearer(await token("read"));
  assert.is((await trivet.authenticate(weak))?.client, "worker");
  assert.equal(await refusal(await trivet.protect(weak, { scopes: ["read", "write"] })), [
    403,
    "insufficient_scope",
    `Bearer error="insufficient_scope", …, scope="read write", resource_metadata="${METADATA}"`,
  ]);
});

test("an option that does not exist is refused: a misspelt one would require no scope", async () => {
  const { trivet, token } = await start();
  const misspelt = { scope: ["write"], resources: [ORDERS] };
  for (const [name, value] of Object.entries(misspelt)) {
    const options = { [name]: value } as never;
    for (const call of [trivet.protect, trivet.authenticate]) {
      const error = await call(bearer(await token("read")), options).then(() => undefined, (error) => error);
      assert.instance(error, TypeError);
      assert.match(error.message, `.${name}"`);
    }
  }
});

test("a token for another audience is invalid, and the challenge names the metadata of the resource", async () => {
  const { trivet, token } = await start();
  const forTools = bearer(await token("read", `${ISSUER}/mcp`));
  const forOrders = bearer(await token("read", ORDERS));
  const [whole, orders, tools] = [undefined, { resource: ORDERS }, { resource: `${ISSUER}/mcp` }];
  const outcome = async (request: Request, options?: { resource: string }) => [
    (await trivet.authenticate(request, options))?.client,
    (await trivet.protect(request, options) as Response).status,
  ];
  const [good, bad] = [["worker", undefined], [undefined, 401]];
  assert.equal(await outcome(forTools, whole), bad);
  assert.equal(await outcome(forTools, orders), bad);
  assert.equal(await outcome(forTools, tools), good);
  assert.equal(await outcome(forOrders, whole), bad);
  assert.equal(await outcome(forOrders, tools), bad);
  assert.equal(await outcome(forOrders, orders), good);
  const [, error, challenge] = await refusal(await trivet.protect(forTools, orders));
  assert.is(error, "invalid_token");
  assert.match(challenge, `resource_metadata="${METADATA}/orders"`);
  const document = await trivet.fetch(new Request(`${METADATA}/orders`));
  assert.is((await document.json()).resource, ORDERS, "resource_metadata is the URL of the metadata");
});

test("a valid token or key gives the principal, with implied scopes", async () => {
  const { trivet, token, key } = await start();
  const caller = await trivet.protect(bearer(await token("write")), { scopes: ["read", "write"] });
  assert.not.instance(caller, Response);
  assert.is((caller as Principal).client, "worker");
  for (const headers of [{ "x-api-key": key }, { authorization: `Bearer ${key}` }]) {
    const sent = request(headers as Record<string, string>);
    assert.is((await trivet.authenticate(sent))?.workspace, "default");
    assert.not.instance(await trivet.protect(sent, { scopes: ["skills:read"] }), Response);
    assert.is((await trivet.protect(sent, { scopes: ["read"] }) as Response).status, 403);
  }
});

test("a resource that is not configured throws a TypeError", async () => {
  const { trivet, token } = await start();
  const good = bearer(await token("read"));
  for (const call of [trivet.authenticate, trivet.protect]) {
    let error: unknown;
    await call(good, { resource: `${ISSUER}/other` }).catch((thrown: unknown) => error = thrown);
    assert.instance(error, TypeError);
  }
});

test("while the store is unavailable protect() gives 503 with Retry-After, and authenticate() throws", async () => {
  const store = memoryStore();
  store.get = () => Promise.reject(new StoreUnavailableError("down"));
  const trivet = createTrivet({ issuer: ISSUER, store });
  const sent = bearer(`trivet_at_${"x".repeat(43)}`);
  const response = await trivet.protect(sent) as Response;
  assert.equal([response.status, (await response.json()).error], [503, "temporarily_unavailable"]);
  assert.match(response.headers.get("retry-after")!, /^\d+$/);
  const error = await trivet.authenticate(sent).catch((error) => error);
  assert.instance(error, StoreUnavailableError);
});

test.run();
