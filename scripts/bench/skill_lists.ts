/**
 * Measures how the number of stored skills affects calls: each call with 100 skills and with many, on each engine. The
 * target is at most 1.5 times the duration, so a ratio of rates of 0.67.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTrivet, memoryStore } from "../../src/mod.ts";
import { modernHeaders, modernParams } from "../../src/mcp/test_exchange.ts";
import { createApiKey } from "../../src/skills/api_key.ts";
import { createLedger, type Ledger } from "../../src/skills/blobs/blob_ledger.ts";
import { readPackage } from "../../src/skills/package/package.ts";
import { publish } from "../../src/skills/publishing/publish.ts";
import { copyRecords, finishCopy } from "../../src/store/copy.ts";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { dropStore } from "../cluster/cluster.ts";
import type { Subject } from "./harness.ts";
import { FLOOR_GET } from "./in_process.ts";

const ISSUER = "http://127.0.0.1:8787";
const FEW = 100;
const TARGET = 1 / 1.5;
/** Minimum ratio to the bare handler, on the memory store. */
const PAGE_TARGET = 0.2;
const MESSAGES_BETA = "skills-2025-10-02,code-execution-2025-08-25,files-api-2025-04-14";

/** A store with skills, an API key and the ids of the skills. */
interface FilledStore {
  readonly store: Store;
  readonly key: string;
  /** In the order of their creation. */
  readonly ids: readonly string[];
}

interface Call {
  readonly name: string;
  /** The minimum ratio to the rate of the bare handler, on the memory store. */
  readonly minRatio?: number;
  readonly make: (
    filled: FilledStore,
    send: Send,
  ) => Promise<() => Promise<unknown>>;
}

type Send = (path: string, init?: RequestInit) => Promise<Response>;

const post = (value: unknown): RequestInit => ({
  method: "POST",
  body: JSON.stringify(value),
  headers: { "content-type": "application/json" },
});
const rpc = (method: string, params: unknown): RequestInit => post({ jsonrpc: "2.0", id: 1, method, params });

/** A request of revision 2026-07-28, which the Skills extension requires. */
function modern(method: string): RequestInit {
  const init = rpc(method, modernParams());
  return { ...init, headers: { ...init.headers, ...modernHeaders(method) } };
}

const CALLS: readonly Call[] = [
  {
    name: "GET /v1/skills, first page of 20",
    minRatio: PAGE_TARGET,
    make: async (_, send) => () => send("/v1/skills"),
  },
  {
    name: "GET /v1/skills, the page after 60",
    async make(_, send) {
      const { next_page } = await (await send("/v1/skills?limit=60")).json();
      return () => send(`/v1/skills?page=${next_page}`);
    },
  },
  {
    name: "GET /v1/skills/{id}",
    make: async ({ ids }, send) => () => send(`/v1/skills/${pick(ids)}`),
  },
  {
    name: "GET /v1/skills/{id}/versions",
    make: async ({ ids }, send) => () => send(`/v1/skills/${pick(ids)}/versions`),
  },
  {
    name: "load_skill by name",
    make: async ({ ids }, send) => () =>
      send(
        "/mcp",
        rpc("tools/call", {
          name: "load_skill",
          arguments: { name: toName(randomBelow(ids.length)) },
        }),
      ),
  },
  {
    name: "skills/list, a page",
    make: async (_, send) => () => send("/mcp", modern("skills/list")),
  },
  {
    name: "POST /v1/messages with two skills",
    make: async ({ ids }, send) => () => {
      const skills = [ids[0], ids.at(-1)].map((skill_id) => ({
        type: "custom",
        skill_id,
      }));
      const init = post({
        model: "scripted",
        max_tokens: 100,
        tools: [{ type: "code_execution_20250825", name: "code_execution" }],
        container: { skills },
        messages: [{ role: "user", content: "Hello" }],
      });
      return send("/v1/messages", {
        ...init,
        headers: { ...init.headers, "anthropic-beta": MESSAGES_BETA },
      });
    },
  },
];

/** Creates the calls on every engine, with few skills and with `scale` skills. The caller must call `stop`. */
export async function startSkillSubjects(
  scale: number,
  only?: string,
): Promise<{ subjects: Subject[]; stop(): Promise<void> }> {
  const subjects: Subject[] = [];
  const closing: (() => Promise<void>)[] = [];
  let sources: FilledStore[] | undefined;
  for (const [engine, open] of await findEngines()) {
    const calls = CALLS.filter(({ name }) => only === undefined || `${engine}: ${name}`.includes(only));
    if (calls.length === 0) continue;
    sources ??= [await createFilledStore(FEW), await createFilledStore(scale)];
    const filled: FilledStore[] = [];
    for (const from of sources) {
      const { store, close } = await open(from.store);
      closing.push(close);
      filled.push({ ...from, store });
    }
    for (const call of calls) {
      const [few, many] = filled.map(({ ids }) =>
        `${engine}: ${call.name} of ${ids.length.toLocaleString("en")}`
      );
      const inMemory = engine === "memory" && call.minRatio !== undefined;
      subjects.push(
        {
          name: few!,
          ...inMemory && { baseline: FLOOR_GET, target: call.minRatio! },
          prepare: () => prepare(call, filled[0]!),
        },
      );
      if (many === few) continue;
      subjects.push({
        name: many!,
        baseline: few!,
        target: TARGET,
        prepare: () => prepare(call, filled[1]!),
      });
    }
  }
  return {
    subjects,
    stop: async () => void await Promise.all(closing.map((close) => close())),
  };
}

async function prepare(
  call: Call,
  filled: FilledStore,
): Promise<() => Promise<unknown>> {
  const trivet = createTrivet({
    issuer: ISSUER,
    store: filled.store,
    oauth: false,
  });
  const send: Send = async (path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("x-api-key", filled.key);
    const response = await trivet.fetch(
      new Request(ISSUER + path, { ...init, headers }),
    );
    if (response.status !== 200) {
      throw new Error(`${path}: ${response.status} ${await response.text()}`);
    }
    return response;
  };
  const run = await call.make(filled, send);
  // An error must not count as a fast response.
  const response = await run() as Response;
  const text = await response.text();
  if (/"error"|"isError":true/.test(text)) {
    throw new Error(`${call.name}: ${text.slice(0, 500)}`);
  }
  return run;
}

/** Creates a memory store with so many skills of one file. */
async function createFilledStore(count: number): Promise<FilledStore> {
  const store = memoryStore();
  const { secret } = await createApiKey(store, { name: "bench" });
  const ledger = createLedger(store, Date.now);
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await add(ledger, i));
  return { store, key: secret, ids };
}

const toName = (i: number): string => `skill-number-${i}`;

async function add(ledger: Ledger, i: number): Promise<string> {
  const description = `Does what skill ${i} of the benchmark does. Use it to measure how much skills cost.`;
  const markdown = `---\nname: ${toName(i)}\ndescription: ${description}\n---\n# Skill ${i}\n\nDo it well.\n`;
  const content = await readPackage([{
    path: "SKILL.md",
    bytes: new TextEncoder().encode(markdown),
  }], 1e6);
  return (await publish(ledger, "default", content, {
    now: 1_700_000_000_000 + i,
  })).skill.id;
}

const randomBelow = (limit: number): number => Math.floor(Math.random() * limit);
const pick = (ids: readonly string[]): string => ids[randomBelow(ids.length)]!;

type Open = (from: Store) => Promise<{ store: Store; close(): Promise<void> }>;

async function findEngines(): Promise<[string, Open][]> {
  const found: [string, Open][] = [
    ["memory", async (from) => ({ store: from, close: () => from.close() })],
    ["SQLite", async (from) => {
      const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
      const store = sqliteStore(join(folder, "skills.db"));
      await copyRecords(from, store);
      await finishCopy(store);
      return {
        store,
        async close() {
          await store.close();
          rmSync(folder, { recursive: true });
        },
      };
    }],
  ];
  const postgres = await findEngine("postgres");
  if (postgres !== undefined) {
    let count = 0;
    found.push(["PostgreSQL", async (from) => {
      const address = `${postgres}?schema=trivet_skills_${count++}`;
      const store = postgresStore(address);
      await copyRecords(from, store);
      await finishCopy(store);
      return {
        store,
        async close() {
          await store.close();
          await dropStore(address);
        },
      };
    }]);
  }
  return found;
}
