/**
 * The fourth part: the memory that a server takes for each session, and for each stream that stays open, on a connection
 * of its own. Heap is counted with what lies outside it, after collecting; resident memory is what the system sees.
 *
 * @module
 */
import type { Socket } from "node:net";
import { Pool } from "undici";
import type { Memory } from "./child.ts";
import { openFiles, openStream } from "./open_stream.ts";
import { sendBy } from "./over_http.ts";
import { Running } from "./running.ts";
import { type Subject, SUBJECTS, type Variant } from "./subject.ts";
import { printReasons, printTable, short } from "./table.ts";
import { connect, type Connected, legacyFields, type Message, modernMessage, NotOffered } from "./wire.ts";

export interface MemoryResult {
  readonly what: string;
  readonly subject: string;
  readonly tools: number;
  /** How many there were in the end. */
  readonly count?: number;
  /** Bytes of each. */
  readonly heap?: number;
  readonly resident?: number;
  readonly refused?: string;
}

const SESSION = "session";
const STREAM = "GET stream of a session";
const LISTEN = "subscriptions/listen stream";
const AT_ONCE = 50;

/** @param count of sessions, and of streams @param longest milliseconds of filling one server with one kind */
export async function measureMemory(tools: number, count: number, longest: number): Promise<MemoryResult[]> {
  const most = Math.min(count, openFiles() - 500);
  const results: MemoryResult[] = [];
  for (const subject of SUBJECTS) {
    if (subject.only !== undefined || subject.accept !== undefined) continue;
    const told = { subject: subject.name, tools };
    if (!subject.isFloor) {
      results.push(...await measureSessions(subject, tools, most, longest));
    }
    const streams = subject.isFloor
      ? await fillBy(subject, "stateless", tools, STREAM, most, longest, () => GET)
      : await fillBy(
        subject,
        "modern",
        tools,
        LISTEN,
        most,
        longest,
        (i) => modernMessage("subscriptions/listen", i + 1, { notifications: { toolsListChanged: true } }),
      );
    results.push({ ...told, ...streams });
  }
  printMemory(results, tools, most);
  return results;
}

const GET: Message = { method: "GET", headers: { accept: "text/event-stream" } };

async function measureSessions(
  subject: Subject,
  tools: number,
  count: number,
  longest: number,
): Promise<MemoryResult[]> {
  const told = { subject: subject.name, tools };
  const server = new Running(subject, "session", tools);
  const sessions: Connected[] = [];
  const sockets: Socket[] = [];
  const results: MemoryResult[] = [];
  try {
    const port = await server.ready;
    if (port < 0) {
      return [SESSION, STREAM].map((what) => ({ ...told, what, refused: "it has none" }));
    }
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: AT_ONCE });
    const open = async () => {
      const connected = await connect(sendBy(pool), subject);
      if (connected.session === null) {
        throw new NotOffered("it gives no session id");
      }
      sessions.push(connected);
    };
    // What is compiled and allocated once is none of the sessions'.
    const refused = await fill(Math.min(count, 300), longest, open);
    if (refused !== undefined) {
      return [{ ...told, what: SESSION, refused }, { ...told, what: STREAM, refused }];
    }
    const warm = sessions.length;
    const before = await server.memory();
    await fill(count, longest, open);
    const between = await server.memory();
    await pool.destroy();
    results.push({ ...told, what: SESSION, ...each(before, between, sessions.length - warm) });

    const left = sessions.values();
    const listen = async () => {
      const { value } = left.next();
      if (value === undefined) return;
      const { "content-type": _, ...headers } = legacyFields(value, "text/event-stream");
      sockets.push(await openStream(port, { method: "GET", headers }));
    };
    const why = await fill(Math.min(count, warm), longest, listen);
    if (why !== undefined) {
      return [...results, { ...told, what: STREAM, refused: why }];
    }
    const warmStreams = sockets.length;
    const first = await server.memory();
    await fill(sessions.length - warmStreams, longest, listen);
    results.push({
      ...told,
      what: STREAM,
      ...each(first, await server.memory(), sockets.length - warmStreams),
    });
    return results;
  } finally {
    for (const socket of sockets) socket.destroy();
    server.stop();
  }
}

async function fillBy(
  subject: Subject,
  variant: Variant,
  tools: number,
  what: string,
  count: number,
  longest: number,
  message: (index: number) => Message,
): Promise<Omit<MemoryResult, "subject" | "tools">> {
  const server = new Running(subject, variant, tools);
  const sockets: Socket[] = [];
  try {
    const port = await server.ready;
    if (port < 0) return { what, refused: "it has none" };
    let started = 0;
    const open = async () => {
      sockets.push(
        await openStream(port, message(started++), what === LISTEN ? "acknowledged" : ""),
      );
    };
    const refused = await fill(Math.min(count, 300), longest, open);
    if (refused !== undefined) return { what, refused };
    const warm = sockets.length;
    const before = await server.memory();
    await fill(count, longest, open);
    return { what, ...each(before, await server.memory(), sockets.length - warm) };
  } finally {
    for (const socket of sockets) socket.destroy();
    server.stop();
  }
}

/** Does this so many times, some at once, and no longer than that. @returns why it stopped, when it failed */
async function fill(count: number, longest: number, open: () => Promise<void>): Promise<string | undefined> {
  const end = performance.now() + longest;
  let begun = 0;
  let failure: string | undefined;
  const worker = async () => {
    while (begun < count && failure === undefined && performance.now() < end) {
      begun++;
      await open().catch((error) => failure ??= error instanceof NotOffered ? error.message : String(error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return failure;
}

function each(
  before: Memory,
  after: Memory,
  count: number,
): Pick<MemoryResult, "heap" | "resident" | "count"> {
  return {
    count,
    heap: (after.heap - before.heap) / count,
    resident: (after.resident - before.resident) / count,
  };
}

function printMemory(results: readonly MemoryResult[], tools: number, most: number): void {
  const reasons = new Map<string, string>();
  const rows = [...new Set(results.map(({ subject }) => subject))].map((subject) => [
    subject,
    ...[SESSION, STREAM, LISTEN].flatMap((what) => {
      const found = results.find((result) => result.subject === subject && result.what === what);
      if (found?.refused !== undefined) {
        reasons.set(`${subject}, ${what}`, found.refused);
      }
      if (found?.heap === undefined) {
        return [found ? "not offered" : "", "", ""];
      }
      return [
        found.count!.toLocaleString("en"),
        short(found.heap / 1000),
        short(found.resident! / 1000),
      ];
    }),
  ]);
  printTable(
    `Memory of each, in kB of 1,000 bytes, at up to ${most.toLocaleString("en")}; ${tools} tools`,
    [SESSION, STREAM, LISTEN].flatMap((what) => [`${what}s`, "heap", "resident"]),
    rows,
  );
  printReasons(reasons);
}
