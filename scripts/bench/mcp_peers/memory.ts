/**
 * The fourth part: the memory of a server for each session, and for each open stream on its own connection. Heap includes
 * external memory, after garbage collection; resident memory is what the operating system reports. The streams of a server
 * are opened after its sessions, so that they can reuse what those left free: compare the sums.
 *
 * @module
 */
import type { Socket } from "node:net";
import { Pool } from "undici";
import { FULL_YOUNG_GENERATION } from "../measuring/young_generation.ts";
import type { Memory } from "./child.ts";
import { openStream, readMaxOpenFiles } from "./open_stream.ts";
import { createSend } from "./over_http.ts";
import { ServerProcess } from "./server_process.ts";
import { type Subject, SUBJECTS, type Variant } from "./subject.ts";
import { formatNumber, printReasons, printTable } from "./table.ts";
import {
  connect,
  createModernMessage,
  type McpConnection,
  type Message,
  toLegacyFields,
  Unsupported,
} from "./wire.ts";

export interface MemoryResult {
  readonly what: string;
  readonly subject: string;
  readonly tools: number;
  /** The number of measured sessions or streams. */
  readonly count?: number;
  /** Bytes of each. */
  readonly heap?: number;
  readonly resident?: number;
  readonly unsupported?: string;
}

const SESSION = "session";
const STREAM = "GET stream of a session";
const BOTH = "session with it";
const LISTEN = "subscriptions/listen stream";
const CONCURRENCY = 50;

/** @param count of sessions, and of streams @param maxMs timeout for opening those of one kind at one server */
export async function measureMemory(tools: number, count: number, maxMs: number): Promise<MemoryResult[]> {
  const maxCount = Math.min(count, readMaxOpenFiles() - 500);
  const results: MemoryResult[] = [];
  for (const subject of SUBJECTS) {
    if (subject.only !== undefined || subject.accept !== undefined) continue;
    const row = { subject: subject.name, tools };
    if (!subject.isFloor) {
      results.push(...await measureSessions(subject, tools, maxCount, maxMs));
    }
    const streams = subject.isFloor
      ? await measureStreams(subject, "stateless", tools, STREAM, maxCount, maxMs, () => GET)
      : await measureStreams(
        subject,
        "modern",
        tools,
        LISTEN,
        maxCount,
        maxMs,
        (i) =>
          createModernMessage("subscriptions/listen", i + 1, { notifications: { toolsListChanged: true } }),
      );
    results.push({ ...row, ...streams });
  }
  printMemory(results, tools, maxCount);
  return results;
}

const GET: Message = { method: "GET", headers: { accept: "text/event-stream" } };

async function measureSessions(
  subject: Subject,
  tools: number,
  count: number,
  maxMs: number,
): Promise<MemoryResult[]> {
  const row = { subject: subject.name, tools };
  const server = new ServerProcess(subject, "session", tools, FULL_YOUNG_GENERATION);
  const sessions: McpConnection[] = [];
  const sockets: Socket[] = [];
  const results: MemoryResult[] = [];
  try {
    const port = await server.ready;
    if (port < 0) {
      return [SESSION, STREAM].map((what) => ({
        ...row,
        what,
        unsupported: "the server does not support it",
      }));
    }
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONCURRENCY });
    const open = async () => {
      const connected = await connect(createSend(pool), subject);
      if (connected.session === null) {
        throw new Unsupported("the server sends no session id");
      }
      sessions.push(connected);
    };
    // Code and caches that are allocated once must not count for the sessions.
    const unsupported = await openMany(Math.min(count, 300), maxMs, open);
    if (unsupported !== undefined) {
      return [{ ...row, what: SESSION, unsupported }, { ...row, what: STREAM, unsupported }];
    }
    const warm = sessions.length;
    const before = await server.memory();
    await openMany(count, maxMs, open);
    const between = await server.memory();
    await pool.destroy();
    results.push({ ...row, what: SESSION, ...toMemoryOfEach(before, between, sessions.length - warm) });

    const remaining = sessions.values();
    const listen = async () => {
      const { value } = remaining.next();
      if (value === undefined) return;
      const { "content-type": _, ...headers } = toLegacyFields(value, "text/event-stream");
      sockets.push(await openStream(port, { method: "GET", headers }));
    };
    const reason = await openMany(Math.min(count, warm), maxMs, listen);
    if (reason !== undefined) {
      return [...results, { ...row, what: STREAM, unsupported: reason }];
    }
    const warmStreams = sockets.length;
    const first = await server.memory();
    await openMany(sessions.length - warmStreams, maxMs, listen);
    const session = toMemoryOfEach(before, between, sessions.length - warm);
    const stream = toMemoryOfEach(first, await server.memory(), sockets.length - warmStreams);
    const both = {
      count: stream.count,
      heap: session.heap + stream.heap,
      resident: session.resident + stream.resident,
    };
    return [...results, { ...row, what: STREAM, ...stream }, { ...row, what: BOTH, ...both }];
  } finally {
    for (const socket of sockets) socket.destroy();
    server.stop();
  }
}

async function measureStreams(
  subject: Subject,
  variant: Variant,
  tools: number,
  what: string,
  count: number,
  maxMs: number,
  message: (index: number) => Message,
): Promise<Omit<MemoryResult, "subject" | "tools">> {
  const server = new ServerProcess(subject, variant, tools, FULL_YOUNG_GENERATION);
  const sockets: Socket[] = [];
  try {
    const port = await server.ready;
    if (port < 0) return { what, unsupported: "the server does not support it" };
    let started = 0;
    const open = async () => {
      sockets.push(
        await openStream(port, message(started++), what === LISTEN ? "acknowledged" : ""),
      );
    };
    const unsupported = await openMany(Math.min(count, 300), maxMs, open);
    if (unsupported !== undefined) return { what, unsupported };
    const warm = sockets.length;
    const before = await server.memory();
    await openMany(count, maxMs, open);
    return { what, ...toMemoryOfEach(before, await server.memory(), sockets.length - warm) };
  } finally {
    for (const socket of sockets) socket.destroy();
    server.stop();
  }
}

/** Calls `open` `count` times, some concurrently, until the timeout. @returns why it failed */
async function openMany(
  count: number,
  maxMs: number,
  open: () => Promise<void>,
): Promise<string | undefined> {
  const end = performance.now() + maxMs;
  let begun = 0;
  let failure: string | undefined;
  const worker = async () => {
    while (begun < count && failure === undefined && performance.now() < end) {
      begun++;
      await open().catch((error) => failure ??= error instanceof Unsupported ? error.message : String(error));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return failure;
}

function toMemoryOfEach(
  before: Memory,
  after: Memory,
  count: number,
): Required<Pick<MemoryResult, "heap" | "resident" | "count">> {
  return {
    count,
    heap: (after.heap - before.heap) / count,
    resident: (after.resident - before.resident) / count,
  };
}

function printMemory(results: readonly MemoryResult[], tools: number, maxCount: number): void {
  const reasons = new Map<string, string>();
  const rows = [...new Set(results.map(({ subject }) => subject))].map((subject) => [
    subject,
    ...[SESSION, STREAM, BOTH, LISTEN].flatMap((what) => {
      const found = results.find((result) => result.subject === subject && result.what === what);
      if (found?.unsupported !== undefined) {
        reasons.set(`${subject}, ${what}`, found.unsupported);
      }
      if (found?.heap === undefined) {
        return [found ? "not supported" : "", "", ""];
      }
      return [
        found.count!.toLocaleString("en"),
        formatNumber(found.heap / 1000),
        formatNumber(found.resident! / 1000),
      ];
    }),
  ]);
  printTable(
    `Memory of each, in kB of 1,000 bytes, at up to ${maxCount.toLocaleString("en")}; ${tools} tools`,
    [SESSION, STREAM, BOTH, LISTEN].flatMap((what) => [what, "heap", "resident"]),
    rows,
  );
  printReasons(reasons);
}
