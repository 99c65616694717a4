/**
 * Sends generated messages of every revision to the tool server, over HTTP, HTTP+SSE and stdio. Each response must conform
 * to the specification and arrive in time; neither failing definitions nor invalid messages may cause faults; and after
 * everything is closed and has expired, no stream, timer, watch or record may remain.
 *
 * @module
 */
import "./loaded_parts.ts";
import { findExcess } from "./budgets.ts";
import { setField, STREAMABLE } from "./mcp/mcp_fields.ts";
import { HANG, type Observed, send, withTimeout } from "./mcp/mcp_client.ts";
import { collectValues } from "./mcp/mcp_collect.ts";
import type { Session, Token } from "./mcp/mcp_corpus.ts";
import { pickCapabilities, REVISIONS } from "./mcp/mcp_messages.ts";
import { compare, dependsOnOthers } from "./mcp/mcp_compare.ts";
import { predict, type Prediction } from "./mcp/mcp_oracle.ts";
import { type Exchange, nextExchange } from "./mcp/mcp_requests.ts";
import { findLeak } from "./mcp/mcp_shape.ts";
import { isObject } from "./mcp/mcp_wire.ts";
import { fuzzSse } from "./mcp/mcp_sse.ts";
import { fuzzStdio } from "./mcp/mcp_stdio.ts";
import { prompt, tool } from "../../src/mcp/definition/define.ts";
import { DEFINITIONS } from "./mcp/mcp_definitions.ts";
import { createSetup, type FuzzSetup, ORIGIN } from "./mcp/mcp_setup.ts";
import { createRandom, type Random } from "./random.ts";
import { countTimers, uncounted } from "./timers.ts";

export interface McpFindings {
  /** Violations, each with its request. */
  readonly problems: string[];
  /** The number of responses, by kind of request and status. */
  readonly answers: Map<string, number>;
  /** Bytes in use each time that everything was closed, by the number of messages sent. */
  readonly measured: readonly (readonly [sent: number, bytes: number])[];
}

/** Messages before everything is closed and checked. */
const MESSAGES_PER_ROUND = 4000;
const MAX_PROBLEMS = 20;
/** Store calls of tools (questions, values of `once`, tasks) and of open streams. */
const MAX_TOOL_STORE_CALLS = 60;

/** Sends this many messages. The same seed sends the same kinds. @param measure returns the bytes in use */
export async function fuzzMcp(count: number, seed: number, measure?: () => number): Promise<McpFindings> {
  const random = createRandom(seed);
  const timers = countTimers();
  const setup = createSetup();
  const findings = {
    problems: [] as string[],
    answers: setup.answers,
    measured: [] as [number, number][],
  };
  const { problems } = findings;
  const isDone = (): boolean => problems.length >= MAX_PROBLEMS;
  try {
    for (let sent = 0; sent < count && !isDone();) {
      const until = Math.min(count, sent + MESSAGES_PER_ROUND);
      const foreign = await startSessions(setup, random);
      while (sent < until && !isDone()) {
        const kind = random.below(200);
        if (kind < 2) sent += await fuzzStdio(setup, random, findings);
        else if (kind < 6) sent += await fuzzSse(setup, random, findings);
        else if (kind < 10) sent += await sendBurst(setup, random, foreign, findings);
        else {
          sent++;
          await sendOne(setup, random, foreign, findings);
        }
        if (random.oneIn(60)) await changeServer(setup, random);
        for (const fault of setup.faults.splice(0)) problems.push(`a fault, ${fault}, near message ${sent}`);
      }
      problems.push(...await closeAll(setup, timers.open));
      for (const fault of setup.faults.splice(0)) {
        problems.push(`a fault, ${fault}, when everything was closed`);
      }
      if (measure) findings.measured.push([sent, measure()]);
    }
  } finally {
    timers.restore();
  }
  return findings;
}

/** Starts a session of every kind; resolves to session ids that are valid only at another service. */
async function startSessions(
  { instances, otherService, corpus, context }: FuzzSetup,
  random: Random,
): Promise<string[]> {
  const begin = async (server: FuzzSetup["strict"], revision: string, token: Token): Promise<Session> => {
    const params = {
      protocolVersion: revision,
      capabilities: pickCapabilities(random),
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
      corpus.sessions.push(await begin(random.pick(instances), revision, token));
    }
  }
  return [
    (await begin(otherService, "2025-11-25", undefined)).id,
    (await begin(otherService, "2025-06-18", "writer")).id,
  ];
}

async function sendOne(
  setup: FuzzSetup,
  random: Random,
  foreign: readonly string[],
  { problems, answers }: McpFindings,
): Promise<void> {
  const exchange = nextExchange(random, setup.corpus, foreign);
  const isStrict = random.oneIn(30);
  const prediction = predict(exchange, setup.corpus, isStrict);
  const { value, session, expected } = prediction;
  const isRequest = isObject(value) && value.method !== undefined;
  const aborts = random.oneIn(60);
  const { result: observed, cost } = await setup.measure(() =>
    send(setup, isStrict ? setup.strict : random.pick(setup.instances), exchange, {
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
    toolStoreCalls: MAX_TOOL_STORE_CALLS,
  }, cost);
  const problem = observed === HANG ? HANG : compare(prediction, observed, aborts) ?? excess;
  if (problem !== undefined) problems.push(`${problem}: ${format(exchange, prediction, observed)}`);
  if (observed === HANG) return;
  collectValues(setup.corpus, exchange, prediction, observed);
  const key = `${exchange.method} ${toName(prediction)} ${observed.status}`;
  answers.set(key, (answers.get(key) ?? 0) + 1);
}

/** Sends several requests concurrently: the content of a response may depend on the others, but not its form. */
async function sendBurst(
  setup: FuzzSetup,
  random: Random,
  foreign: readonly string[],
  { problems }: McpFindings,
): Promise<number> {
  const { corpus, instances } = setup;
  const exchanges = Array.from({ length: 2 + random.below(10) }, () => nextExchange(random, corpus, foreign));
  await Promise.all(exchanges.map(async (exchange) => {
    const prediction = predict(exchange, corpus, false);
    const { value, session } = prediction;
    const observed = await send(setup, random.pick(instances), exchange, {
      random,
      isOpen: exchange.method !== "POST" || prediction.expected.some(({ code }) => code === "stream"),
      session,
      requestId: isObject(value) ? value.id : undefined,
    });
    const problem = observed === HANG
      ? HANG
      : dependsOnOthers(prediction, exchange)
      ? observed.problem ?? findLeak(observed.text)
      : compare(prediction, observed, false);
    if (problem !== undefined) {
      problems.push(`${problem}, in a sendBurst: ${format(exchange, prediction, observed)}`);
    }
    if (observed !== HANG) collectValues(corpus, exchange, prediction, observed);
  }));
  return exchanges.length;
}

/** Changes something at a server, which its streams report, and closes some streams. */
async function changeServer({ instances, openStreams }: FuzzSetup, random: Random): Promise<void> {
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
  while (openStreams.length > random.below(20)) {
    await openStreams.splice(random.below(openStreams.length), 1)[0]!();
  }
}

/** Closes everything, lets time pass, and returns what remains. */
async function closeAll(setup: FuzzSetup, timers: () => ReadonlyMap<number, number>): Promise<string[]> {
  const { corpus, instances, strict, otherService, store, context } = setup;
  if (corpus.sessions.length % 2) { for (const end of setup.openStreams.splice(0)) await end(); }
  for (const { id, token, live } of corpus.sessions) {
    if (!live) continue;
    const headers = new Headers({ "mcp-session-id": id });
    if (token) headers.set("authorization", `Bearer ${token}`);
    await instances[0]!.fetch(new Request(`${ORIGIN}/mcp`, { method: "DELETE", headers }), context);
  }
  for (const server of [...instances, strict, otherService]) server.close();
  for (const end of setup.openStreams.splice(0)) await end();
  corpus.clear();
  const isIdle = (): boolean => timers().size === 0 && setup.watches() === 0 && setup.working() === 0;
  for (let i = 0; i < 100 && !isIdle(); i++) {
    await withTimeout(20, new Promise<void>((resolve) => uncounted.setTimeout(resolve, 20)));
  }
  const problems: string[] = [];
  const openTimers = [...timers()].map(([delay, count]) => `${count} of ${delay} ms`);
  if (openTimers.length > 0) problems.push(`open timers: ${openTimers.join(", ")}`);
  if (setup.watches() > 0) problems.push(`${setup.watches()} open watches of the store`);
  if (setup.working() > 0) problems.push(`${setup.working()} calls are still running`);
  setup.advanceClock();
  await store.sweep();
  // This record of the whole store remains.
  const records = (await store.list([])).filter(({ key }) => key[0] !== "mcp_change_count");
  if (records.length > 0) {
    problems.push(`remaining records: ${records.slice(0, 5).map(({ key }) => key.join(" ")).join("; ")}`);
  }
  return problems;
}

function toName({ value, profile }: Prediction): string {
  const method = isObject(value) ? value.method ?? "answer" : Array.isArray(value) ? "batch" : "none";
  return `${profile.kind} ${typeof method === "string" ? method.slice(0, 30) : "none"}`;
}

function format(
  { method, path, headers, body }: Exchange,
  prediction: Prediction,
  observed: Observed | typeof HANG,
): string {
  const text = body ? new TextDecoder().decode(body.subarray(0, 1200)) : "";
  const fields = [...headers].map(([name, value]) => `${name}: ${value.slice(0, 80)}`).join("\n  ");
  const expected = prediction.expected.map(({ status, code }) => `${status} ${code}`).join(" or ");
  const received = observed === HANG ? HANG : `${observed.status} ${observed.text.slice(0, 600)}`;
  return `expected ${expected}, received ${received}\n  ${method} ${path}\n  ${fields}\n  ${text}`;
}
