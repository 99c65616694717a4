/**
 * `npm run bench -- --streams [--scale 10000]`: many idle event streams on one instance, each the stream of a session of its
 * own: the memory of each, compared with that of bare `node:http` in the same run, and the time from a change until the
 * last stream has its notification. Resident memory includes the buffers and handles of the connections.
 *
 * @module
 */
import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { FULL_YOUNG_GENERATION } from "../measuring/young_generation.ts";
import { createSend } from "../mcp_peers/over_http.ts";
import { openStream, readMaxOpenFiles } from "../mcp_peers/open_stream.ts";
import { printTable } from "../mcp_peers/table.ts";
import { explain } from "../reporting/explanations.ts";
import { addTable } from "../reporting/report.ts";
import { connect, toLegacyFields } from "../mcp_peers/wire.ts";
import { TRIVET } from "../mcp_peers/subject.ts";

export interface StreamsResult {
  readonly subject: string;
  readonly streams: number;
  /** Bytes of each stream. */
  readonly heap: number;
  readonly resident: number;
  /** Milliseconds from the change until the median stream, and the last one, had its notification. */
  readonly median: number;
  readonly last: number;
}

const SERVER = fileURLToPath(new URL("./open_streams_server.ts", import.meta.url));
const CONCURRENCY = 50;
const NOTIFICATION = "list_changed";

/** @param count of streams, as far as the process may have that many open files */
export async function measureOpenStreams(count: number): Promise<StreamsResult[]> {
  const streams = Math.min(count, readMaxOpenFiles() - 500);
  const results = [await measure("floor", streams), await measure("trivet", streams)];
  const [floor] = results;
  const title = `${streams.toLocaleString("en")} idle streams on one instance`;
  addTable(
    title,
    results.map((result) => ({
      name: result.subject,
      explanation: explain(`idle streams: ${result.subject}`),
      others: [
        `${(result.resident / 1000).toFixed(1)} kB resident`,
        `${(result.heap / 1000).toFixed(1)} kB heap`,
        `${result.last.toFixed(0)} ms until the last one had a notification`,
      ],
      ...result !== floor && { ratio: floor!.resident / result.resident, baseline: floor!.subject },
    })),
    "resident memory of a stream: that of the baseline, divided by that of the server",
  );
  printTable(
    `${title}: kB of 1,000 bytes each, and ms until a notification`,
    ["heap", "resident", "to the floor", "median", "last"],
    results.map(({ subject, heap, resident, median, last }) => [
      subject,
      (heap / 1000).toFixed(1),
      (resident / 1000).toFixed(1),
      (resident / floor!.resident).toFixed(2),
      median.toFixed(0),
      last.toFixed(0),
    ]),
  );
  return results;
}

async function measure(subject: "floor" | "trivet", count: number): Promise<StreamsResult> {
  const server = fork(SERVER, [subject], {
    execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning", ...FULL_YOUNG_GENERATION],
  });
  const sockets: Socket[] = [];
  try {
    const port = await receive<number>(server);
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONCURRENCY });
    const send = createSend(pool);
    const open = async (): Promise<void> => {
      const accept = "text/event-stream";
      const headers = subject === "floor" ? { accept } : toLegacyFields(await connect(send, TRIVET), accept);
      sockets.push(await openStream(port, { method: "GET", headers }));
    };
    const openMany = async (total: number): Promise<void> => {
      while (sockets.length < total) {
        await Promise.all(Array.from({ length: Math.min(CONCURRENCY, total - sockets.length) }, open));
      }
    };
    // Code and caches do not count for a stream.
    const warm = count >> 1;
    await openMany(warm);
    const before = await ask<Memory>(server, "memory");
    await openMany(count);
    const after = await ask<Memory>(server, "memory");
    const arrivals = sockets.map(arrivalOf);
    const sent = await ask<number>(server, "broadcast");
    const times = (await Promise.all(arrivals)).map((time) => time - sent).sort((a, b) => a - b);
    await pool.destroy();
    return {
      subject: subject === "floor" ? "bare node:http" : "Trivet",
      streams: count,
      heap: (after.heap - before.heap) / (count - warm),
      resident: (after.resident - before.resident) / (count - warm),
      median: times[times.length >> 1]!,
      last: times.at(-1)!,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    server.kill("SIGKILL");
  }
}

interface Memory {
  readonly heap: number;
  readonly resident: number;
}

/** Resolves to the time at which the notification arrived. */
function arrivalOf(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let received = "";
    socket.on("data", (text) => {
      received += text;
      if (received.includes(NOTIFICATION)) resolve(performance.timeOrigin + performance.now());
    });
  });
}

function ask<Answer>(server: ChildProcess, command: string): Promise<Answer> {
  const answer = receive<Answer>(server);
  server.send(command);
  return answer;
}

function receive<Answer>(server: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error("The server exited"));
    server.once("exit", fail);
    server.once("message", (message) => {
      server.off("exit", fail);
      resolve(message as Answer);
    });
  });
}
