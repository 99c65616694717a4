import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../events.ts";
import { RateLimitError } from "../http/rate_limit.ts";
import { tool } from "../mcp/definition/define.ts";
import { toolServer } from "../mcp_service.ts";
import { authorizationServer } from "../oauth_service.ts";
import { addUser } from "../oauth/users/user.ts";
import type { TrivetOptions } from "../options/trivet_options.ts";
import { createApiKey } from "../skills/api_key.ts";
import { skillsService } from "../skills_service.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import { createTrivet } from "../trivet.ts";
import { rateLimits, type RateLimitSettings } from "./rate_limits.ts";

const test = suite("rate_limits");
const ISSUER = "https://agents.example";
const IP = "192.0.2.1";
const ORIGIN = { origin: "https://app.example" };

const ping = (headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
});
const grant = (client_id: string, client_secret?: string): RequestInit => ({
  method: "POST",
  body: new URLSearchParams({
    grant_type: "client_credentials",
    client_id,
    ...(client_secret && { client_secret }),
  }),
});

function setUp(settings: RateLimitSettings, options: Partial<TrivetOptions> = {}) {
  let at = Date.UTC(2026, 0, 1);
  const now = () => at;
  const events: TrivetEvent[] = [];
  const store = options.store ?? memoryStore({ now });
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    now,
    rateLimits: rateLimits(settings),
    onEvent: (event) => events.push(event),
    oauth: {
      clients: [
        { id: "service", secret: "service-secret", grant_types: ["client_credentials"] },
        { id: "other", secret: "other-secret", grant_types: ["client_credentials"] },
        { id: "native", redirect_uris: ["http://127.0.0.1/callback"] },
      ],
    },
    mcp: { tools: [tool({ name: "one", description: "", run: () => 1 })] },
    ...options,
  });
  const send = (path: string, init?: RequestInit, ip: string = IP) =>
    trivet.fetch(new Request(ISSUER + path, init), { ip });
  return { trivet, send, events, store, advance: (seconds: number) => void (at += seconds * 1000) };
}

const limitsOf = ({ status, headers }: Response) => [
  status,
  headers.get("ratelimit-policy"),
  headers.get("ratelimit"),
  headers.get("retry-after"),
];

test("an address is limited at every path, the home page and unknown ones too", async () => {
  const { send, advance } = setUp({ address: "4/1m" });
  const policy = '"address";q=4;w=60';
  assert.equal(limitsOf(await send("/")), [200, policy, '"address";r=3;t=64', null]);
  advance(10);
  assert.equal(limitsOf(await send("/nothing")), [404, policy, '"address";r=2;t=54', null]);
  assert.equal(limitsOf(await send("/mcp", ping())), [200, policy, '"address";r=1;t=54', null]);
  assert.equal(limitsOf(await send("/v1/skills")), [401, policy, '"address";r=0;t=54', null]);
  for (
    const path of ["/", "/nothing", "/mcp", "/v1/skills", "/login", "/oauth/token", "/.well-known/jwks.json"]
  ) {
    const refused = await send(path);
    assert.equal(limitsOf(refused), [429, policy, '"address";r=0;t=54', "54"], path);
    assert.is(refused.headers.get("cache-control"), "no-store", path);
  }
  assert.is((await send("/", {}, "192.0.2.2")).status, 200, "another address");
  advance(54);
  assert.is((await send("/")).status, 200, "after Retry-After");
});

test("IPv6 addresses of one /64 are one, also mapped IPv4 addresses", async () => {
  const { send } = setUp({ address: "1/1m" });
  assert.is((await send("/", {}, "2001:db8:0:1::1")).status, 200);
  assert.is((await send("/", {}, "2001:db8:0:1:ffff::2")).status, 429);
  assert.is((await send("/", {}, "2001:db8:0:2::1")).status, 200);
  assert.is((await send("/", {}, "192.0.2.9")).status, 200);
  assert.is((await send("/", {}, "::ffff:192.0.2.9")).status, 429);
});

test("an unknown address, and a private one without trustedProxies, is not limited: it may be a proxy's", async () => {
  const { send, trivet } = setUp({ address: "1/1m" });
  for (let i = 0; i < 3; i++) {
    assert.is((await send("/", {}, "10.0.0.1")).status, 200);
    assert.is((await trivet.fetch(new Request(ISSUER + "/"))).status, 200);
  }
  const behind = setUp({ address: "1/1m" }, { trustedProxies: ["10.0.0.1"] });
  const headers = { "x-forwarded-for": "10.1.1.1" };
  assert.is((await behind.send("/", { headers }, "10.0.0.1")).status, 200);
  assert.is((await behind.send("/", { headers }, "10.0.0.1")).status, 429);
});

test("each service refuses in the form of its errors, and scripts of other origins can read it", async () => {
  const { send } = setUp({ address: "1/1m" });
  await send("/");
  const token = await send("/oauth/token", { ...grant("service"), headers: ORIGIN });
  const { error, error_description } = await token.json();
  assert.is(error, "temporarily_unavailable");
  assert.match(error_description, /Rate limit exceeded: address/);
  const skills = await send("/v1/skills", { headers: ORIGIN });
  const body = await skills.json();
  assert.equal([body.type, body.error.type, typeof body.request_id], ["error", "rate_limit_error", "string"]);
  const openai =
    await (await send("/v1/skills", { headers: { authorization: "Bearer x", "user-agent": "OpenAI/JS 6" } }))
      .json();
  assert.ok(openai.error);
  const mcp = await send("/mcp", ping(ORIGIN));
  const plain = await mcp.json();
  assert.equal([plain.jsonrpc, plain.id, plain.error.code, plain.error.data], ["2.0", null, -32000, {
    retryAfter: 64,
  }]);
  const modern = await (await send("/mcp", ping({ "mcp-protocol-version": "2026-07-28" }))).json();
  assert.equal([modern.jsonrpc, "id" in modern, modern.error.code], ["2.0", false, 429]);
  for (const response of [token, skills, mcp]) {
    assert.is(response.status, 429);
    assert.is(response.headers.get("access-control-allow-origin"), "*");
    const exposed = response.headers.get("access-control-expose-headers")!.split(", ");
    for (const name of ["ratelimit", "ratelimit-policy", "retry-after"]) {
      assert.ok(exposed.includes(name), name);
    }
  }
  const page = await send("/login", { headers: { accept: "text/html" } });
  assert.equal([page.status, page.headers.get("content-type")], [429, "text/html; charset=utf-8"]);
  const text = await send("/login");
  assert.equal([text.status, text.headers.get("content-type")], [429, "text/plain; charset=utf-8"]);
});

test("a confidential client is limited after it authenticated, so strangers cannot use up its limit", async () => {
  const { send } = setUp({ client: "2/1m" });
  for (let i = 0; i < 5; i++) {
    const refused = await send("/oauth/token", grant("service", "wrong"));
    assert.equal([refused.status, refused.headers.get("ratelimit")], [401, null]);
  }
  const policy = '"client";q=2;w=60';
  const first = await send("/oauth/token", grant("service", "service-secret"));
  assert.equal(limitsOf(first), [200, policy, '"client";r=1;t=64', null]);
  await send("/oauth/introspect", {
    method: "POST",
    body: new URLSearchParams({ token: "x", client_id: "service", client_secret: "service-secret" }),
  });
  const refused = await send("/oauth/token", grant("service", "service-secret"), "192.0.2.99");
  assert.equal(limitsOf(refused), [429, policy, '"client";r=0;t=64', "64"]);
  assert.is((await refused.json()).error, "temporarily_unavailable");
  assert.is((await send("/oauth/token", grant("other", "other-secret"))).status, 200, "another client");
});

test("a public client is limited for each network, since strangers can send its client_id", async () => {
  const { send } = setUp({ client: "1/1m" });
  const ask = (ip: string) =>
    send("/oauth/token", {
      method: "POST",
      body: new URLSearchParams({ grant_type: "refresh_token", client_id: "native", refresh_token: "x" }),
    }, ip);
  assert.is((await ask("198.51.100.1")).status, 400);
  assert.is((await ask("198.51.100.1")).status, 429);
  assert.is((await ask("192.0.2.1")).status, 400);
});

test("a client that only named itself behind an unknown proxy uses up no limit of those who have its tokens", async () => {
  const limiter = rateLimits({ client: "2/1m" }).createLimiter({
    store: memoryStore(),
    now: Date.now,
    observe: () => {},
  });
  for (const context of [{}, { ip: "10.0.0.1" }]) {
    for (let i = 0; i < 3; i++) await limiter.limitCaller(context, { client: "native", isUnproven: true });
  }
  for (let i = 0; i < 2; i++) await limiter.limitCaller({}, { client: "native" });
  assert.instance(
    await limiter.limitCaller({}, { client: "native" }).catch((error) => error),
    RateLimitError,
  );
});

test("the caller of the Skills service and of the tools is limited as soon as it is known", async () => {
  const { send, store, events } = setUp({ client: "2/1m" });
  const { key, secret } = await createApiKey(store, { name: "k", scopes: ["skills:read"] });
  const headers = { "x-api-key": secret };
  assert.is((await send("/v1/skills", { headers })).status, 200);
  assert.is((await send("/mcp", ping(headers))).status, 200);
  const skills = await send("/v1/skills", { headers });
  assert.is(skills.status, 429);
  assert.is((await skills.json()).error.type, "rate_limit_error");
  const mcp = await send("/mcp", ping(headers));
  assert.is(mcp.status, 429);
  assert.equal((await mcp.json()).error.code, -32000);
  assert.is((await send("/mcp", ping())).status, 200, "anonymous callers have the limit of addresses only");
  const [event] = events.filter(({ type }) => type === "rate_limited");
  assert.equal(event, {
    type: "rate_limited",
    scope: "client",
    limit: "client",
    client: key.id,
    ip: IP,
    count: 1,
  });
});

test("a user is limited together with all clients, at /api/user, the skills and the tools", async () => {
  const principal = (request: Request) => ({
    subject: "alice",
    client: request.headers.get("authorization")!,
    scopes: new Set<string>(["skills:read"]),
    workspace: "default",
  });
  const store = memoryStore();
  const options = {
    store,
    authenticate: principal,
    rateLimits: rateLimits({ user: "2/1m", client: "9/1m" }),
  };
  const mcp = toolServer({ url: ISSUER, ...options, tools: [] });
  const skills = skillsService({ url: ISSUER, ...options });
  const context = { ip: IP };
  const one = await mcp.fetch(new Request(ISSUER + "/mcp", ping({ authorization: "a" })), context);
  assert.is(one.headers.get("ratelimit-policy"), '"client";q=9;w=60, "user";q=2;w=60');
  assert.match(one.headers.get("ratelimit")!, /^"client";r=8;t=\d+, "user";r=1;t=\d+$/);
  await mcp.fetch(new Request(ISSUER + "/mcp", ping({ authorization: "b" })), context);
  assert.is(
    (await mcp.fetch(new Request(ISSUER + "/mcp", ping({ authorization: "c" })), context)).status,
    429,
  );
  const list = new Request(ISSUER + "/v1/skills", { headers: { authorization: "d" } });
  const refused = await skills.fetch(list, context);
  assert.is(refused.status, 200, "the other instance has a portion of its own");
});

test("a user is limited exactly, also with many clients at once while the store takes its time", async () => {
  const inner = memoryStore();
  const later = () => new Promise((resolve) => setTimeout(resolve, 1));
  const store: Store = {
    ...inner,
    get: (key, options) => later().then(() => inner.get(key, options)),
    commit: (commit) => later().then(() => inner.commit(commit)),
  };
  const mcp = toolServer({
    url: ISSUER,
    store,
    tools: [],
    authenticate: (request) => ({
      subject: "alice",
      client: request.headers.get("authorization")!,
      scopes: new Set<string>(),
      workspace: "default",
    }),
    rateLimits: rateLimits({ client: "20/1m", user: "10/1m" }),
  });
  const send = (authorization: string) =>
    mcp.fetch(new Request(ISSUER + "/mcp", ping({ authorization })), { ip: IP });
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => send(`client ${i}`)));
  assert.is(answers.filter(({ status }) => status === 200).length, 10);
});

test("a page counts once for the user of its session; signing out is never refused", async () => {
  const { send, store, advance } = setUp({ user: "4/1m" });
  const { id } = await addUser(store, { username: "alice", password: "down the rabbit hole" }, 1000);
  const login = await send("/login", {
    method: "POST",
    body: new URLSearchParams({ username: "alice", password: "down the rabbit hole" }),
  });
  assert.equal([login.status, login.headers.get("ratelimit")], [200, null]);
  const cookie = login.headers.getSetCookie().map((field) => field.split(";")[0]).join("; ");
  const open = (path: string) => send(path, { headers: { cookie, accept: "text/html" } });
  const authorize =
    "/oauth/authorize?response_type=code&client_id=native&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback" +
    "&code_challenge=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU&code_challenge_method=S256";
  for (const [path, left] of [["/account", 3], ["/device", 2], [authorize, 1]] as const) {
    const page = await open(path);
    assert.is(page.status, 200, path);
    assert.match(page.headers.get("ratelimit")!, new RegExp(`^"user";r=${left};t=\\d+$`));
  }
  // This one reads the session twice.
  const body = new URLSearchParams({ transaction: "none", decision: "deny" });
  const answered = await send("/device", { method: "POST", headers: { cookie }, body });
  assert.match(answered.headers.get("ratelimit")!, /^"user";r=0;t=/);
  assert.is(answered.status, 400);
  const refused = await open("/account");
  assert.equal([refused.status, refused.headers.get("content-type")], [429, "text/html; charset=utf-8"]);
  assert.match(refused.headers.get("retry-after")!, /^\d+$/);
  assert.not.match(await refused.text(), id);
  assert.is((await open("/logout")).status, 200);
  advance(64);
  assert.is((await open("/account")).status, 200);
  const signedOut = await send("/logout", { method: "POST", headers: { cookie } });
  assert.equal([signedOut.status, (await open("/account")).status], [200, 302]);
});

test("protect counts for client and user, and refuses in JSON", async () => {
  const { trivet, store } = setUp({ address: "1/1m", client: "2/1m", "mcp.client": "1/1m" });
  const { secret } = await createApiKey(store, { name: "ci", scopes: ["read"] });
  const protect = () =>
    trivet.protect(new Request(`${ISSUER}/app`, { headers: { "x-api-key": secret } }), {}, { ip: IP });
  assert.not.instance(await protect(), Response);
  assert.not.instance(await protect(), Response);
  const refused = await protect();
  assert.instance(refused, Response);
  const { status, headers } = refused as Response;
  assert.equal([status, headers.get("cache-control")], [429, "no-store"]);
  assert.match(headers.get("retry-after")!, /^\d+$/);
  assert.is((await (refused as Response).json()).error, "temporarily_unavailable");
  // Without credentials no caller is known.
  assert.is((await trivet.protect(new Request(`${ISSUER}/app`)) as Response).status, 401);
});

test("a refused request counts in no limit", async () => {
  const { send } = setUp({ client: "1/1m", "oauth.client": "5/1m" });
  await send("/oauth/token", grant("service", "service-secret"));
  for (let i = 0; i < 3; i++) {
    const refused = await send("/oauth/token", grant("service", "service-secret"));
    assert.is(refused.status, 429);
    assert.match(refused.headers.get("ratelimit")!, /^"client";r=0;t=64, "oauth.client";r=4;t=64$/);
  }
});

test("a limit of a service counts its requests only", async () => {
  const { send } = setUp({ address: "9/1m", "mcp.address": "1/1m" });
  assert.is(
    (await send("/mcp", ping())).headers.get("ratelimit-policy"),
    '"address";q=9;w=60, "mcp.address";q=1;w=60',
  );
  assert.is((await send("/mcp", ping())).status, 429);
  assert.is((await send("/v1/skills")).headers.get("ratelimit-policy"), '"address";q=9;w=60');
});

test("redirects have no RateLimit fields, since a client would follow them later", async () => {
  const { send } = setUp({ address: "5/1m" });
  const response = await send(
    "/oauth/authorize?response_type=code&client_id=native&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback",
  );
  assert.ok(response.status >= 300 && response.status < 400, String(response.status));
  assert.is(response.headers.get("ratelimit"), null);
  assert.match((await send("/")).headers.get("ratelimit")!, /r=3/);
});

test("events of a flood come once a second for each caller, with the number of requests", async () => {
  const { send, events } = setUp({ address: "1/1m" });
  const began = performance.now();
  for (let i = 0; i < 200; i++) await send("/");
  const seconds = (performance.now() - began) / 1000;
  assert.ok(events.length <= seconds + 1, `${events.length} events of one caller in ${seconds} s`);
  for (let address = 0; address < 100; address++) {
    for (let i = 0; i < 3; i++) await send("/", {}, `198.51.100.${address}`);
  }
  const limited = events.filter(({ type }) => type === "rate_limited");
  assert.ok(limited.length >= 1 && limited.length <= 60, `${limited.length} events`);
  assert.equal(limited[0], { type: "rate_limited", scope: "address", limit: "address", ip: IP, count: 1 });
});

test("a store that is unavailable does not refuse requests that need no store", async () => {
  const inner = memoryStore();
  const down = () => Promise.reject(new StoreUnavailableError("down"));
  const store: Store = { ...inner, get: down, commit: down };
  const { send, events } = setUp({ address: "3/1m" }, { store });
  for (let i = 0; i < 3; i++) assert.is((await send("/mcp", ping())).status, 200);
  assert.is((await send("/mcp", ping())).status, 429, "counted by this instance");
  const outages = events.filter(({ type }) => type === "store_unavailable");
  assert.is(outages.length, 1);
});

test("without limits there are no fields and no calls of the store", async () => {
  for (const rateLimits of [undefined, null, false]) {
    const trivet = createTrivet({
      issuer: ISSUER,
      store: memoryStore(),
      rateLimits: rateLimits as undefined,
    });
    const response = await trivet.fetch(new Request(ISSUER + "/"), { ip: IP });
    assert.is(response.headers.get("ratelimit"), null);
  }
  const own = authorizationServer({
    issuer: ISSUER,
    store: memoryStore(),
    rateLimits: rateLimits({ address: "1/1m" }),
  });
  assert.is((await own.fetch(new Request(ISSUER + "/login"), { ip: IP })).status, 200);
  assert.is((await own.fetch(new Request(ISSUER + "/login"), { ip: IP })).status, 429);
});

for (const settings of [{ address: "1/1m" }, true, "1/1m"]) {
  test(`settings in place of limits are refused at start: ${JSON.stringify(settings)}`, () => {
    const make = () => createTrivet({ issuer: ISSUER, store: memoryStore(), rateLimits: settings as never });
    assert.throws(
      make,
      (error: unknown) => error instanceof TypeError && error.message.includes('"rateLimits"'),
    );
  });
}

test.run();
