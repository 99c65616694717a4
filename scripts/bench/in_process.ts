/**
 * Benchmarks of the handler in this process, without a network. Requests have `content-length`, like those of a server.
 *
 * @module
 */
import { createTrivet, memoryStore, tool, type Trivet, type TrivetOptions } from "../../src/mod.ts";
import { rateLimits } from "../../src/rate_limits/rate_limits.ts";
import { addUser } from "../../src/oauth/users/user.ts";
import { createApiKey } from "../../src/skills/api_key.ts";
import { createLedger } from "../../src/skills/blobs/blob_ledger.ts";
import { publish } from "../../src/skills/publishing/publish.ts";
import type { ToolDefinition } from "../../src/mcp/definition/definition.ts";
import type { Store } from "../../src/store/store.ts";
import type { Subject } from "./harness.ts";

const ISSUER = "http://127.0.0.1:8787";

export const FLOOR_GET = "floor: GET, bare Response.json";
const FLOOR_POST = "floor: POST, bare Response.json";
const SIGNATURE = "baseline: ES256 sign, Response.json";

const JSON_TYPE = { "content-type": "application/json", accept: "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };

function post(path: string, body: string, headers: Record<string, string>): () => Request {
  const all = { ...headers, "content-length": String(new TextEncoder().encode(body).length) };
  return () => new Request(ISSUER + path, { method: "POST", body, headers: all });
}

export const CALL: string = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "add", arguments: { a: 1, b: 2 } },
});
const CREDENTIALS = "grant_type=client_credentials&client_id=app&client_secret=secret&scope=read";

/** Creates a tool whose arguments are validated. */
export const add = (name: string): ToolDefinition =>
  tool({
    name,
    description: "Adds two numbers",
    input: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    run: ({ a, b }) => (a as number) + (b as number),
  });

function createServer(
  store: Store,
  accessTokenFormat: "opaque" | "jwt",
  tools: number,
  more?: Partial<TrivetOptions>,
): Trivet {
  return createTrivet({
    ...more,
    issuer: ISSUER,
    store,
    oauth: { clients: [{ id: "app", secret: "secret", domain: "app.example" }], accessTokenFormat },
    mcp: { tools: [add("add"), ...Array.from({ length: tools - 1 }, (_, i) => add(`tool_${i}`))] },
  });
}

/** Returns a call of a handler that requires status 200, so that failures do not count as fast calls. */
function toCall(trivet: { fetch(request: Request): Promise<Response> }, request: () => Request) {
  return async (): Promise<void> => {
    const { status } = await trivet.fetch(request());
    if (status !== 200) throw new Error(`The handler responded with ${status}`);
  };
}

/** A server with limits that no call reaches, called from a known address. */
function createLimited(): { fetch(request: Request): Promise<Response> } {
  const limits = rateLimits({ address: "999999999/1h", client: "999999999/1h", user: "999999999/1h" });
  const trivet = createServer(memoryStore(), "opaque", 1, { rateLimits: limits });
  return { fetch: (request) => trivet.fetch(request, { ip: "192.0.2.1" }) };
}

/** @param scale the number of records in the large stores */
export function createInProcessSubjects(scale: number): Subject[] {
  return [
    {
      name: FLOOR_GET,
      prepare: async () => {
        const handler = { fetch: async (_: Request) => Response.json({ ok: true }) };
        return toCall(handler, () => new Request(`${ISSUER}/`, { headers: { accept: "application/json" } }));
      },
    },
    {
      name: FLOOR_POST,
      prepare: async () =>
        toCall({ fetch: async () => Response.json({ ok: true }) }, post("/mcp", CALL, JSON_TYPE)),
    },
    ...[1, 100].map((tools): Subject => ({
      name: `MCP tools/call, ${tools} tool${tools > 1 ? "s" : ""}`,
      baseline: FLOOR_POST,
      target: tools === 1 ? 0.5 : 0.45,
      prepare: async () =>
        toCall(createServer(memoryStore(), "opaque", tools), post("/mcp", CALL, JSON_TYPE)),
    })),
    ...[...new Set([0, scale])].map((tokens): Subject => ({
      name: `client_credentials, opaque${tokens > 0 ? `, ${tokens.toLocaleString("en")} tokens stored` : ""}`,
      baseline: FLOOR_POST,
      target: 0.4,
      prepare: async () => {
        const store = memoryStore();
        for (let i = 0; i < tokens; i++) {
          await store.commit({
            set: [{
              key: ["access_token", `stored ${i}`],
              value: { client_id: "app", scope: "read", expires: 1 },
            }],
          });
        }
        return toCall(createServer(store, "opaque", 1), post("/oauth/token", CREDENTIALS, FORM_TYPE));
      },
    })),
    {
      name: "MCP tools/call, 1 tool, rate limits",
      baseline: "MCP tools/call, 1 tool",
      prepare: async () => toCall(createLimited(), post("/mcp", CALL, JSON_TYPE)),
    },
    {
      name: "client_credentials, opaque, rate limits",
      baseline: "client_credentials, opaque",
      prepare: async () => toCall(createLimited(), post("/oauth/token", CREDENTIALS, FORM_TYPE)),
    },
    {
      name: SIGNATURE,
      prepare: async () => {
        const algorithm = { name: "ECDSA", namedCurve: "P-256" };
        const { privateKey } = await crypto.subtle.generateKey(algorithm, false, [
          "sign",
          "verify",
        ]) as CryptoKeyPair;
        const data = new TextEncoder().encode("x".repeat(300));
        const sign = async () => {
          await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, privateKey, data);
          return Response.json({ ok: true });
        };
        return toCall({ fetch: sign }, post("/oauth/token", CREDENTIALS, FORM_TYPE));
      },
    },
    {
      name: "client_credentials, signed JWT",
      baseline: SIGNATURE,
      target: 0.8,
      prepare: async () =>
        toCall(createServer(memoryStore(), "jwt", 1), post("/oauth/token", CREDENTIALS, FORM_TYPE)),
    },
    {
      name: "GET /api/user",
      baseline: FLOOR_GET,
      prepare: async () => {
        const store = memoryStore();
        const trivet = createServer(store, "opaque", 1);
        const token = await createUserToken(trivet, store);
        const headers = { authorization: `Bearer ${token}` };
        return toCall(trivet, () => new Request(`${ISSUER}/api/user`, { headers }));
      },
    },
    ...[...new Set([100, scale])].map((skills): Subject => ({
      name: `GET /v1/skills, page of 20 of ${skills.toLocaleString("en")}`,
      baseline: FLOOR_GET,
      target: 0.2,
      prepare: async () => {
        const store = memoryStore();
        const trivet = createServer(store, "opaque", 1);
        const { secret } = await createApiKey(store, { name: "bench" });
        const tokens = { metadata: 8, instructions: 10 };
        const content = {
          name: "demo",
          description: "A skill.",
          directory: "",
          tokens,
          files: [],
          warnings: [],
        };
        const ledger = createLedger(store, Date.now);
        for (let i = 0; i < skills; i++) {
          await publish(ledger, "default", content, { now: 1_700_000_000_000 + i });
        }
        const headers = { "x-api-key": secret };
        return toCall(trivet, () => new Request(`${ISSUER}/v1/skills`, { headers }));
      },
    })),
  ];
}

/** Runs the code flow once; resolves to the access token. */
async function createUserToken(trivet: Trivet, store: Store): Promise<string> {
  await addUser(store, { username: "alice", password: "wonderland" }, 1000);
  const form = (fields: Record<string, string>, cookie = ""): RequestInit => ({
    method: "POST",
    body: new URLSearchParams(fields),
    headers: cookie === "" ? {} : { cookie },
  });
  const send = (path: string, init?: RequestInit) => trivet.fetch(new Request(ISSUER + path, init));
  const login = await send("/login", form({ username: "alice", password: "wonderland" }));
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
  const redirect_uri = "https://app.example/cb";
  const query = new URLSearchParams({ response_type: "code", client_id: "app", redirect_uri });
  const page = await (await send(`/oauth/authorize?${query}`, { headers: { cookie } })).text();
  const transaction = /name="transaction" value="([^"]+)"/.exec(page)![1]!;
  const consent = await send("/oauth/authorize", form({ transaction, decision: "approve" }, cookie));
  const code = new URL(consent.headers.get("location")!).searchParams.get("code")!;
  const credentials = {
    grant_type: "authorization_code",
    code,
    redirect_uri,
    client_id: "app",
    client_secret: "secret",
  };
  return (await (await send("/oauth/token", form(credentials))).json()).access_token;
}
