/**
 * Clients of the revisions before 2025-11-25 that know nothing newer: plain messages over each transport of their time.
 * Only tests import this.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type EventReader, readEvents } from "../../mcp/test_exchange.ts";
import type { Loose } from "./test_feature_client.ts";
import { NotificationLog, withTimeout } from "./test_notification_log.ts";

/** The error of an answer. */
export class Refused extends Error {
  readonly code: number;
  constructor({ code, message }: { code: number; message: string }) {
    super(message);
    this.code = code;
  }
}

export interface Old {
  readonly notifications: NotificationLog;
  /** Answers to what the server asks, by method. */
  readonly answers: Record<string, (params: Loose) => unknown>;
  request(method: string, params?: unknown): Promise<Loose>;
  notify(method: string, params?: unknown): Promise<void>;
  /** Sends messages as they are, and waits for the answers to these ids. */
  send(message: unknown, ...answered: unknown[]): Promise<void>;
  close(): Promise<void>;
}

type Transport = (receive: (message: Loose) => void) => Promise<{
  send(message: unknown): Promise<void>;
  /** After the handshake. */
  ready(): Promise<void>;
  close(): Promise<void>;
}>;

/** Shakes hands with this message, and gives the result of it. */
export async function connectOld(transport: Transport, hello: Loose): Promise<[client: Old, result: Loose]> {
  const notifications = new NotificationLog();
  const answers: Record<string, (params: Loose) => unknown> = {};
  const waiting = new Map<unknown, PromiseWithResolvers<Loose>>();
  let next = 100;

  const receive = async (message: Loose): Promise<void> => {
    if (Array.isArray(message)) return message.forEach(receive);
    if (message.jsonrpc !== "2.0") throw new Error(`No message: ${JSON.stringify(message)}`);
    if (message.method === undefined) {
      const asked = waiting.get(message.id);
      if (!asked) throw new Error(`Nobody asked for ${JSON.stringify(message)}`);
      waiting.delete(message.id);
      if (message.error) asked.reject(new Refused(message.error));
      else asked.resolve(message.result);
    } else if (message.id === undefined) notifications.add(message.method, message.params);
    else {
      const { id, method, params } = message;
      await link.send({ jsonrpc: "2.0", id, result: answers[method]!(params) });
    }
  };
  const link = await transport((message) => void receive(message));
  const expect = (id: unknown): Promise<Loose> => {
    const asked = Promise.withResolvers<Loose>();
    waiting.set(id, asked);
    const answer = withTimeout(asked.promise, `the answer to ${id}`);
    // It may come before the request is known to be sent, and is looked at only then.
    answer.catch(() => {});
    return answer;
  };
  const client: Old = {
    notifications,
    answers,
    async request(method, params) {
      const id = next++;
      const answer = expect(id);
      await link.send({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) });
      return await answer;
    },
    notify: (method, params) =>
      link.send({ jsonrpc: "2.0", method, ...(params !== undefined && { params }) }),
    async send(message, ...answered) {
      const answers = answered.map(expect);
      await link.send(message);
      await Promise.all(answers);
    },
    close: () => link.close(),
  };
  const result = expect(hello.id);
  await link.send(hello);
  const told = await result;
  await client.notify("notifications/initialized");
  await link.ready();
  return [client, told];
}

async function pump(events: EventReader, receive: (message: Loose) => void): Promise<void> {
  for (let event = await events.next(); event; event = await events.next()) {
    if (event.data) receive(JSON.parse(event.data));
  }
}

/** Streamable HTTP. `version` is what `MCP-Protocol-Version` says, which came with 2025-06-18. */
export function overHttp(url: string, version?: string): Transport {
  return (receive) => {
    const gone = new AbortController();
    let session: string | null = null;
    const fields = (): Record<string, string> => ({
      accept: "application/json, text/event-stream",
      ...(session !== null &&
        { "mcp-session-id": session, ...(version && { "mcp-protocol-version": version }) }),
    });
    return Promise.resolve({
      async send(message) {
        const response = await fetch(url + "/mcp", {
          method: "POST",
          headers: { ...fields(), "content-type": "application/json" },
          body: JSON.stringify(message),
          signal: gone.signal,
        });
        session ??= response.headers.get("mcp-session-id");
        const type = response.headers.get("content-type");
        if (response.status === 202) return void await response.body?.cancel();
        if (type === "application/json") return receive(await response.json());
        pump(readEvents(response), receive).catch(() => {});
      },
      async ready() {
        const headers = { ...fields(), accept: "text/event-stream" };
        const stream = await fetch(url + "/mcp", { headers, signal: gone.signal });
        pump(readEvents(stream), receive).catch(() => {});
      },
      close() {
        gone.abort();
        return Promise.resolve();
      },
    });
  };
}

/** HTTP+SSE of 2024-11-05. */
export function overSse(url: string): Transport {
  return async (receive) => {
    const gone = new AbortController();
    const stream = await fetch(url + "/mcp/sse", {
      headers: { accept: "text/event-stream" },
      signal: gone.signal,
    });
    const events = readEvents(stream);
    const endpoint = await events.next();
    if (endpoint?.event !== "endpoint") throw new Error(`No endpoint but ${JSON.stringify(endpoint)}`);
    const target = new URL(endpoint.data!, url);
    pump(events, receive).catch(() => {});
    return {
      async send(message) {
        const response = await fetch(target, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(message),
        });
        await response.body?.cancel();
        if (response.status !== 202) throw new Error(`The message was answered with ${response.status}`);
      },
      ready: () => Promise.resolve(),
      close() {
        gone.abort();
        return Promise.resolve();
      },
    };
  };
}

/** A line a message. */
export function overStdio({ command, args }: { command: string; args: string[] }): Transport {
  return (receive) => {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: child.stdout }).on("line", (line) => receive(JSON.parse(line)));
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
    return Promise.resolve({
      send(message) {
        child.stdin.write(JSON.stringify(message) + "\n");
        return Promise.resolve();
      },
      ready: () => Promise.resolve(),
      close() {
        child.stdin.end();
        return withTimeout(ended, "the end of the process");
      },
    });
  };
}
