/**
 * Large and laborious requests to a whole server, each measured: none may hold the event loop, fill the store or call it
 * beyond the budget of its endpoint (`budgets.ts`).
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
import { newRandom } from "./random.ts";

export interface HeavyFindings {
  readonly problems: string[];
  readonly answers: Map<string, number>;
  /** What cost most, by endpoint. */
  readonly highest: Map<string, { readonly value: number; readonly label: string }>;
}

const ORIGIN = "http://127.0.0.1:8787";
const KINDS: Readonly<Record<string, HeavyKind>> = { mcp: heavyMcp, oauth: heavyOAuth, skills: heavySkills };
/** Milliseconds for which a stream is read that does not end by itself. */
const STREAM_MS = 5;
const MAX_PROBLEMS = 20;

/** A new server is begun after so many requests, so that what strangers stored does not make up the whole run. */
const REQUESTS_PER_SERVER = 250;

/** Sends so many requests of this kind. The same seed sends the same. */
export async function fuzzHeavy(kind: string, count: number, seed: number): Promise<HeavyFindings> {
  const random = newRandom(seed);
  const findings: HeavyFindings = { problems: [], answers: new Map(), highest: new Map() };
  const { problems, answers, highest } = findings;
  for (let sent = 0; sent < count && problems.length < MAX_PROBLEMS;) {
    const { measure, world, faults, close } = await newWorld();
    const until = Math.min(count, sent + REQUESTS_PER_SERVER);
    for (; sent < until && problems.length < MAX_PROBLEMS; sent++) {
      const heavy = await KINDS[kind]!.next(random, world);
      const { status, cost } = await measure(heavy.request());
      const key = `${heavy.endpoint} ${status}`;
      answers.set(key, (answers.get(key) ?? 0) + 1);
      noteHighest(highest, heavy, cost);
      let excess = findExcess(heavy, cost);
      // A collection of garbage may fall into a turn: what is slow by itself is slow each time.
      for (let again = 0; again < 2 && excess !== undefined && /loop/.test(excess); again++) {
        excess = findExcess(heavy, (await measure(heavy.request())).cost);
      }
      if (excess !== undefined) problems.push(`${excess}: ${status} for ${heavy.endpoint} ${heavy.label}`);
      // The interface answers a plain caller of JSON-RPC with 500 for an unknown tool.
      if (status === 500 && heavy.endpoint !== "/mcp") {
        problems.push(`${status} for ${heavy.endpoint} ${heavy.label}`);
      }
      for (const fault of faults.splice(0)) problems.push(`a fault, ${fault}, for ${heavy.label}`);
    }
    await close();
  }
  return findings;
}

async function newWorld() {
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
      connect: () => Promise.reject(new Error("nothing is to be fetched")),
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
  // What the first requests make once: keys, and the secret of cursors.
  await (await fetch(new Request(`${ORIGIN}/.well-known/jwks.json`))).text();
  const headers = { "x-api-key": apiKey };
  await (await fetch(new Request(`${ORIGIN}/v1/skills?page=none`, { headers }))).text();
  return {
    faults,
    world: { origin: ORIGIN, apiKey, fetch },
    async measure(request: Request): Promise<{ status: number; cost: Cost }> {
      const { result, cost } = await meter.measure(async () => {
        const response = await fetch(request);
        await readSome(response);
        return response.status;
      });
      return { status: result, cost };
    },
    close: () => meter.store.close(),
  };
}

/** Reads the whole, or a stream until it is quiet. */
async function readSome(response: Response): Promise<void> {
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

function noteHighest(highest: HeavyFindings["highest"], { endpoint, label }: Heavy, cost: Cost): void {
  for (const name of ["storeCalls", "storedBytes", "loopMs"] as const) {
    const key = `${name} of ${endpoint}`;
    const value = Math.ceil(cost[name]);
    if ((highest.get(key)?.value ?? 0) < value) highest.set(key, { value, label });
  }
}
