/**
 * The tool server under generated messages of both eras, over HTTP, HTTP+SSE and stdio: each is answered as the
 * specification says, in time, in its form; no definition's failure and no stranger's garbage is a fault of the server; and
 * when everything is closed and time has passed, nothing is left: no stream, no timer, no watch, no record.
 *
 * @module
 */
import { findExcess } from "./budgets.ts";
import { setField, STREAMABLE } from "./mcp/mcp_fields.ts";
import { HANG, type Observed, send, within } from "./mcp/mcp_client.ts";
import { harvest } from "./mcp/mcp_harvest.ts";
import type { Session, Token } from "./mcp/mcp_loot.ts";
import { capabilities, REVISIONS } from "./mcp/mcp_messages.ts";
import { compare, isUnsure } from "./mcp/mcp_compare.ts";
import { judge, type Verdict } from "./mcp/mcp_oracle.ts";
import { type Exchange, nextExchange } from "./mcp/mcp_requests.ts";
import { findLeak } from "./mcp/mcp_shape.ts";
import { isObject } from "./mcp/mcp_wire.ts";
import { talkOverSse } from "./mcp/mcp_sse.ts";
import { talkOverStdio } from "./mcp/mcp_stdio.ts";
import { prompt, tool } from "../../src/mcp/definition/definition.ts";
import { DEFINITIONS } from "./mcp/mcp_definitions.ts";
import { newWorld, ORIGIN, type World } from "./mcp/mcp_world.ts";
import { newRandom, type Random } from "./random.ts";
import { countTimers, uncounted } from "./timers.ts";

export interface McpFindings {
  /** What broke a rule, with the request that did. */
  readonly problems: string[];
  /** How often each kind of request was answered in each way. */
  readonly answers: Map<string, number>;
  /** What `measure` said whenever everything was closed, by the number of messages sent. */
  readonly measured: readonly (readonly [sent: number, bytes: number])[];
}

/** Messages after which everything is closed, and counted. */
const CHAPTER = 4000;
const MAX_PROBLEMS = 20;
/** Calls of the store that tools make (questions, values made once, tasks), and streams that are open meanwhile. */
const MAX_CALLS_OF_TOOLS = 60;

/** Sends this many messages. The same seed sends the same kinds. `measure` gives bytes that are in use. */
export async function fuzzMcp(count: number, seed: number, measure?: () => number): Promise<McpFindings> {
  const random = newRandom(seed);
  const timers = countTimers();
  const world = newWorld();
  const findings = {
    problems: [] as string[],
    answers: world.answers,
    measured: [] as [number, number][],
  };
  const { problems } = findings;
  const isDone = (): boolean => problems.length >= MAX_PROBLEMS;
  try {
    for (let sent = 0; sent < count && !isDone();) {
      const until = Math.min(count, sent + CHAPTER);
      const foreign = await meet(world, random);
      while (sent < until && !isDone()) {
        const kind = random.below(200);
        if (kind < 2) sent += await talkOverStdio(world, random, findings);
        else if (kind < 6) sent += await talkOverSse(world, random, findings);
        else if (kind < 10) sent += await burst(world, random, foreign, findings);
        else {
          sent++;
          await sendOne(world, random, foreign, findings);
        }
        if (random.oneIn(60)) await change(world, random);
        for (const fault of world.faults.splice(0)) problems.push(`a fault, ${fault}, near message ${sent}`);
      }
      problems.push(...await leave(world, timers.open));
      for (const fault of world.faults.splice(0)) problems.push(`a fault, ${fault}, when all was closed`);
      if (measure) findings.measured.push([sent, measure()]);
    }
  } finally {
    timers.restore();
  }
  return findings;
}

/** Begins a session of every kind; gives ids of sessions that are good nowhere here. */
async function meet({ instances, stranger, loot, context }: World, random: Random): Promise<string[]> {
  const begin = async (server: World["strict"], revision: string, token: Token): Promise<Session> => {
    const params = {
      protocolVersion: revision,
      capabilities: capabilities(random),
      clientInfo: { name: "f" },
    };
    const headers = new Headers({ "content-type": "application/json", accept: STREAMABLE });
    if (token) setField(headers, "authorization", `Bearer ${token}`);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const response = await server.fetch(
      new Request(`${ORIGIN}/mcp`, { method: "POST", headers, body }),
      context,
    );
    await response.text();
    return { id: response.headers.get("mcp-session-id")!, revision, token, live: true };
  };
  for (const revision of REVISIONS) {
    for (const token of [undefined, "reader", "writer"] as const) {
      loot.sessions.push(await begin(random.pick(instances), revision, token));
    }
  }
  return [
    (await begin(stranger, "2025-11-25", undefined)).id,
    (await begin(stranger, "2025-06-18", "writer")).id,
  ];
}

async function sendOne(
  world: World,
  random: Random,
  foreign: readonly string[],
  { problems, answers }: McpFindings,
): Promise<void> {
  const exchange = nextExchange(random, world.loot, foreign);
  const isStrict = random.oneIn(30);
  const verdict = judge(exchange, world.loot, isStrict);
  const { value, session, expected } = verdict;
  const isRequest = isObject(value) && value.method !== undefined;
  const aborts = random.oneIn(60);
  const { result: observed, cost } = await world.measure(() =>
    send(world, isStrict ? world.strict : random.pick(world.instances), exchange, {
      random,
      isOpen: expected.some(({ code }) => code === "stream") && !session || !isRequest,
      session,
      requestId: isRequest ? value.id : undefined,
      aborts,
      keeps: random.oneIn(2),
    })
  );
  const excess = findExcess({
    endpoint: "/mcp",
    bytes: exchange.body?.length ?? 0,
    members: Array.isArray(value) ? value.length : 1,
    ofTools: MAX_CALLS_OF_TOOLS,
  }, cost);
  const problem = observed === HANG ? HANG : compare(verdict, observed, aborts) ?? excess;
  if (problem !== undefined) problems.push(`${problem}: ${show(exchange, verdict, observed)}`);
  if (observed === HANG) return;
  harvest(world.loot, exchange, verdict, observed);
  const key = `${exchange.method} ${nameOf(verdict)} ${observed.status}`;
  answers.set(key, (answers.get(key) ?? 0) + 1);
}

/** Several at a time: what each is answered depends on the others, but not its form. */
async function burst(
  world: World,
  random: Random,
  foreign: readonly string[],
  { problems }: McpFindings,
): Promise<number> {
  const { loot, instances } = world;
  const exchanges = Array.from({ length: 2 + random.below(10) }, () => nextExchange(random, loot, foreign));
  await Promise.all(exchanges.map(async (exchange) => {
    const verdict = judge(exchange, loot, false);
    const { value, session } = verdict;
    const observed = await send(world, random.pick(instances), exchange, {
      random,
      isOpen: exchange.method !== "POST" || verdict.expected.some(({ code }) => code === "stream"),
      session,
      requestId: isObject(value) ? value.id : undefined,
    });
    const problem = observed === HANG
      ? HANG
      : isUnsure(verdict, exchange)
      ? observed.problem ?? findLeak(observed.text)
      : compare(verdict, observed, false);
    if (problem !== undefined) {
      problems.push(`${problem}, among others: ${show(exchange, verdict, observed)}`);
    }
    if (observed !== HANG) harvest(loot, exchange, verdict, observed);
  }));
  return exchanges.length;
}

/** Something changes at the server, and its streams tell; some of them are closed. */
async function change({ instances, kept }: World, random: Random): Promise<void> {
  const server = random.pick(instances);
  const more = [
    tool({ name: "more", description: "Comes and goes", run: () => "more" }),
    prompt({ name: "more", get: () => "more" }),
  ];
  switch (random.below(4)) {
    case 0:
      await server.listChanged(random.pick(["tools", "resources", "prompts"]));
      break;
    case 1:
      await server.replace(random.oneIn(2) ? [more, DEFINITIONS] : DEFINITIONS);
      break;
    default:
      await server.resourceUpdated("test://text");
  }
  while (kept.length > random.below(20)) await kept.splice(random.below(kept.length), 1)[0]!();
}

/** Ends everything, lets time pass, and tells what is left. */
async function leave(world: World, timers: () => ReadonlyMap<number, number>): Promise<string[]> {
  const { loot, instances, strict, stranger, store, context } = world;
  if (loot.sessions.length % 2) { for (const end of world.kept.splice(0)) await end(); }
  for (const { id, token, live } of loot.sessions) {
    if (!live) continue;
    const headers = new Headers({ "mcp-session-id": id });
    if (token) headers.set("authorization", `Bearer ${token}`);
    await instances[0]!.fetch(new Request(`${ORIGIN}/mcp`, { method: "DELETE", headers }), context);
  }
  for (const server of [...instances, strict, stranger]) server.close();
  for (const end of world.kept.splice(0)) await end();
  loot.forget();
  const isIdle = (): boolean => timers().size === 0 && world.watches() === 0 && world.working() === 0;
  for (let i = 0; i < 100 && !isIdle(); i++) {
    await within(20, new Promise<void>((resolve) => uncounted.setTimeout(resolve, 20)));
  }
  const problems: string[] = [];
  const left = [...timers()].map(([delay, count]) => `${count} of ${delay} ms`);
  if (left.length > 0) problems.push(`timers are left: ${left.join(", ")}`);
  if (world.watches() > 0) problems.push(`${world.watches()} watches of the store are left`);
  if (world.working() > 0) problems.push(`${world.working()} calls go on`);
  world.wait();
  await store.sweep();
  // One number of the whole store stays.
  const records = (await store.list([])).filter(({ key }) => key[0] !== "mcp_change_count");
  if (records.length > 0) {
    problems.push(`records are left: ${records.slice(0, 5).map(({ key }) => key.join(" ")).join("; ")}`);
  }
  return problems;
}

function nameOf({ value, profile }: Verdict): string {
  const method = isObject(value) ? value.method ?? "answer" : Array.isArray(value) ? "batch" : "none";
  return `${profile.kind} ${typeof method === "string" ? method.slice(0, 30) : "none"}`;
}

function show(
  { method, path, headers, body }: Exchange,
  verdict: Verdict,
  observed: Observed | typeof HANG,
): string {
  const text = body ? new TextDecoder().decode(body.subarray(0, 1200)) : "";
  const fields = [...headers].map(([name, value]) => `${name}: ${value.slice(0, 80)}`).join("\n  ");
  const wanted = verdict.expected.map(({ status, code }) => `${status} ${code}`).join(" or ");
  const came = observed === HANG ? HANG : `${observed.status} ${observed.text.slice(0, 600)}`;
  return `wanted ${wanted}, came ${came}\n  ${method} ${path}\n  ${fields}\n  ${text}`;
}
