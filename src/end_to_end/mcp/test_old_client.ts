/**
 * A client of the revisions before 2025-11-25: plain messages over each transport of these revisions. Only tests import
 * this.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type EventReader, readEvents } from "../../mcp/test_exchange.ts";
import type { Loose } from "./test_feature_client.ts";
import { NotificationLog, withTimeout } from "./test_notification_log.ts";

/** The error of a response. */
export class ResponseError extends Error {
  readonly code: number;
  constructor({ code, message }: { code: number; message: string }) {
    super(message);
    this.code = code;
  }
}

export interface OldClient {
  readonly notifications: NotificationLog;
  /** Results for requests of the server, by method. */
  readonly answers: Record<string, (params: Loose) => unknown>;
  request(method: string, params?: unknown): Promise<Loose>;
  notify(method: string, params?: unknown): Promise<void>;
  /** Sends this text as JSON, and waits for the responses to these ids. */
  send(message: unknown, ...ids: unknown[]): Promise<void>;
  close(): Promise<void>;
}

type Transport = (receive: (message: Loose) => void) => Promise<{
  send(message: unknown): Promise<void>;
  /** After the handshake. */
  ready(): Promise<void>;
  close(): Promise<void>;
}>;

/** Sends this `initialize` request. Returns the client and the result. */
export async function connectOld(
  transport: Transport,
  initialize: Loose,
): Promise<[client: OldClient, result: Loose]> {
  const notifications = new NotificationLog();
  const answers: Record<string, (params: Loose) => unknown> = {};
  const waiting = new Map<unknown, PromiseWithResolvers<Loose>>();
  let next = 100;

  const receive = async (message: Loose): Promise<void> => {
    if (Array.isArray(message)) return message.forEach(receive);
    if (message.jsonrpc !== "2.0") throw new Error(`Not a JSON-RPC message: ${JSON.stringify(message)}`);
    if (message.method === undefined) {
      const pending = waiting.get(message.id);
      if (!pending) throw new Error(`Response without a request: ${JSON.stringify(message)}`);
      waiting.delete(message.id);
      if (message.error) pending.reject(new ResponseError(message.error));
      else pending.resolve(message.result);
    } else if (message.id === undefined) notifications.add(message.method, message.params);
    else {
      const { id, method, params } = message;
      await link.send({ jsonrpc: "2.0", id, result: answers[method]!(params) });
    }
  };
  const link = await transport((message) => void receive(message));
  const expect = (id: unknown): Promise<Loose> => {
    const pending = Promise.withResolvers<Loose>();
    waiting.set(id, pending);
    const answer = withTimeout(pending.promise, `response to ${id}`);
    // It can reject before the caller awaits it.
    answer.catch(() => {});
    return answer;
  };
  const client: OldClient = {
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
    async send(message, ...ids) {
      const answers = ids.map(expect);
      await link.send(message);
      await Promise.all(answers);
    },
    close: () => link.close(),
  };
  const result = expect(initialize.id);
  await link.send(initialize);
  const initialized = await result;
  await client.notify("notifications/initialized");
  await link.ready();
  return [client, initialized];
}

async function receiveEvents(events: EventReader, receive: (message: Loose) => void): Promise<void> {
  for (let event = await events.next(); event; event = await events.next()) {
    if (event.data) receive(JSON.parse(event.data));
  }
}

/** Streamable HTTP. `version` is the value of MCP-Protocol-Version, which exists since 2025-06-18. */
export function overHttp(url: string, version?: string): Transport {
  return (receive) => {
    const closing = new AbortController();
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
          signal: closing.signal,
        });
        session ??= response.headers.get("mcp-session-id");
        const type = response.headers.get("content-type");
        if (response.status === 202) return void await response.body?.cancel();
        if (type === "application/json") return receive(await response.json());
        receiveEvents(readEvents(response), receive).catch(() => {});
      },
      async ready() {
        const headers = { ...fields(), accept: "text/event-stream" };
        const stream = await fetch(url + "/mcp", { headers, signal: closing.signal });
        receiveEvents(readEvents(stream), receive).catch(() => {});
      },
      close() {
        closing.abort();
        return Promise.resolve();
      },
    });
  };
}

/** HTTP+SSE of 2024-11-05. */
export function overSse(url: string): Transport {
  return async (receive) => {
    const closing = new AbortController();
    const stream = await fetch(url + "/mcp/sse", {
      headers: { accept: "text/event-stream" },
      signal: closing.signal,
    });
    const events = readEvents(stream);
    const endpoint = await events.next();
    if (endpoint?.event !== "endpoint") {
      throw new Error(`Expected the event endpoint, got ${JSON.stringify(endpoint)}`);
    }
    const target = new URL(endpoint.data!, url);
    receiveEvents(events, receive).catch(() => {});
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
        closing.abort();
        return Promise.resolve();
      },
    };
  };
}

/** Standard input and output, one message per line. */
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
        return withTimeout(ended, "exit of the process");
      },
    });
  };
}
