/**
 * Sends large and expensive requests to a whole server and measures each: it must keep the budget of its endpoint for
 * event loop, stored bytes and store calls (`budgets.ts`).
 *
 * @module
 */
import "./loaded_parts.ts";
import {
  createTrivet,
  memoryStore,
  prompt,
  resourceTemplate,
  tool,
  type TrivetEvent,
} from "../../src/mod.ts";
import { createApiKey } from "../../src/skills/api_key.ts";
import { findExcess } from "./budgets.ts";
import type { Heavy, HeavyKind } from "./heavy_kind.ts";
import { heavyMcp } from "./heavy_mcp.ts";
import { heavyOAuth } from "./heavy_oauth.ts";
import { heavySkills } from "./heavy_skills.ts";
import { type Cost, createMeter } from "./meter.ts";
import { createRandom } from "./random.ts";

export interface HeavyFindings {
  readonly problems: string[];
  readonly answers: Map<string, number>;
  /** The most expensive request, by endpoint. */
  readonly highest: Map<string, { readonly value: number; readonly label: string }>;
}

const ORIGIN = "http://127.0.0.1:8787";
const KINDS: Readonly<Record<string, HeavyKind>> = { mcp: heavyMcp, oauth: heavyOAuth, skills: heavySkills };
/** How long an open stream is read. */
const STREAM_MS = 5;
const MAX_PROBLEMS = 20;

/** Requests before a new server is created, so that records of earlier requests do not accumulate. */
const REQUESTS_PER_SERVER = 250;

/** Sends so many requests of this kind. The same seed sends the same requests. */
export async function fuzzHeavy(kind: string, count: number, seed: number): Promise<HeavyFindings> {
  const random = createRandom(seed);
  const findings: HeavyFindings = { problems: [], answers: new Map(), highest: new Map() };
  const { problems, answers, highest } = findings;
  for (let sent = 0; sent < count && problems.length < MAX_PROBLEMS;) {
    const { measure, setup, faults, close } = await createSetup();
    const until = Math.min(count, sent + REQUESTS_PER_SERVER);
    for (; sent < until && problems.length < MAX_PROBLEMS; sent++) {
      const heavy = await KINDS[kind]!.next(random, setup);
      const { status, cost } = await measure(heavy.request());
      const key = `${heavy.endpoint} ${status}`;
      answers.set(key, (answers.get(key) ?? 0) + 1);
      updateHighest(highest, heavy, cost);
      let excess = findExcess(heavy, cost);
      // Garbage collection may make a turn slow; a slow request is slow each time.
      for (let retry = 0; retry < 2 && excess !== undefined && /loop/.test(excess); retry++) {
        excess = findExcess(heavy, (await measure(heavy.request())).cost);
      }
      if (excess !== undefined) problems.push(`${excess}: ${status} for ${heavy.endpoint} ${heavy.label}`);
      // A plain JSON-RPC client gets 500 for an unknown tool.
      if (status === 500 && heavy.endpoint !== "/mcp") {
        problems.push(`${status} for ${heavy.endpoint} ${heavy.label}`);
      }
      for (const fault of faults.splice(0)) problems.push(`a fault, ${fault}, for ${heavy.label}`);
    }
    await close();
  }
  return findings;
}

async function createSetup() {
  const faults: string[] = [];
  const meter = createMeter(memoryStore());
  const onEvent = (event: TrivetEvent): void => {
    if (event.type === "fault") faults.push(String((event.error as Error)?.stack ?? event.error));
  };
  const { secret: apiKey } = await createApiKey(meter.store, {
    name: "fuzz",
    scopes: ["skills:read", "skills:write", "messages:write"],
  });
  const trivet = createTrivet({
    issuer: ORIGIN,
    store: meter.store,
    onEvent,
    oauth: {
      passwordIterations: 1000,
      clients: [
        { id: "app", secret: "secret", domain: "app.example" },
        { id: "native", redirect_uris: ["http://127.0.0.1/callback"] },
        { id: "tv", grant_types: ["urn:ietf:params:oauth:grant-type:device_code"] },
      ],
      connect: () => Promise.reject(new Error("the fuzzer allows no connection")),
    },
    mcp: {
      sse: true,
      tools: [
        tool({
          name: "compute",
          description: "Has a schema of many kinds",
          input: {
            type: "object",
            properties: {
              a: { type: "string" },
              word: { type: "string", pattern: "^(?:[a-z]+ ?)+$", maxLength: 100_000 },
              list: { type: "array", items: { type: "integer" } },
              set: { type: "array", uniqueItems: true },
            },
          },
          run: () => "done",
        }),
      ],
      resources: [resourceTemplate({ uriTemplate: "doc://{name}/{+path}", name: "doc", read: () => "text" })],
      prompts: [prompt({ name: "plan", arguments: [{ name: "what" }], get: () => "Plan" })],
    },
  });
  const { waitUntil } = meter;
  let address = 0;
  const fetch = (request: Request): Promise<Response> =>
    trivet.fetch(request, { waitUntil, ip: `203.0.${++address >> 8 & 255}.${address & 255}` });
  // Creates keys and the secret of cursors, which the first requests would create.
  await (await fetch(new Request(`${ORIGIN}/.well-known/jwks.json`))).text();
  const headers = { "x-api-key": apiKey };
  await (await fetch(new Request(`${ORIGIN}/v1/skills?page=none`, { headers }))).text();
  return {
    faults,
    setup: { origin: ORIGIN, apiKey, fetch },
    async measure(request: Request): Promise<{ status: number; cost: Cost }> {
      const { result, cost } = await meter.measure(async () => {
        const response = await fetch(request);
        await readResponse(response);
        return response.status;
      });
      return { status: result, cost };
    },
    close: () => meter.store.close(),
  };
}

/** Reads the body, or a stream until no event arrives. */
async function readResponse(response: Response): Promise<void> {
  if (response.headers.get("content-type") !== "text/event-stream") return void await response.arrayBuffer();
  const reader = response.body!.getReader();
  for (;;) {
    const read = await Promise.race([
      reader.read(),
      new Promise<undefined>((resolve) => setTimeout(resolve, STREAM_MS)),
    ]);
    if (read === undefined || read.done) return void await reader.cancel();
  }
}

function updateHighest(highest: HeavyFindings["highest"], { endpoint, label }: Heavy, cost: Cost): void {
  for (const name of ["storeCalls", "storedBytes", "loopMs"] as const) {
    const key = `${name} of ${endpoint}`;
    const value = Math.ceil(cost[name]);
    if ((highest.get(key)?.value ?? 0) < value) highest.set(key, { value, label });
  }
}
