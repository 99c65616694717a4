/**
 * Test kit: a client that chooses the instance for each request.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Instance } from "./test_instances.ts";
import { request } from "../test_server.ts";

/** How long to wait for an event. */
const EVENT_TIMEOUT_MS = 6000;

// Tests read messages of any shape.
// deno-lint-ignore no-explicit-any
type Message = any;

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** The message; `undefined` for an event without data. */
  readonly json: Message;
  readonly data: string;
}

/** A response: a stream or one JSON text. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly stream: Stream | undefined;
  readonly body: Message;
}

/** The events of a response. */
export class Stream {
  /** Id of the last event. */
  lastId: string | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array>;
  #abort: () => void;
  #reading: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  #text = "";
  #decoder = new TextDecoder();

  constructor(body: ReadableStream<Uint8Array>, abort: () => void) {
    this.#reader = body.getReader();
    this.#abort = abort;
  }

  /** The next event, with or without data; `undefined` when the stream has ended. */
  async nextEvent(timeoutMs: number = EVENT_TIMEOUT_MS): Promise<StreamEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const event = parseEvent(this.#text.slice(0, end));
        this.#text = this.#text.slice(end + 2);
        if (!event) continue;
        this.lastId = event.id ?? this.lastId;
        return event;
      }
      // After a timeout, the pending read is used by the next call.
      this.#reading ??= this.#reader.read();
      const { done, value } = await within(timeoutMs, "an event", this.#reading);
      this.#reading = undefined;
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The next message; `undefined` when the stream has ended. */
  async next(timeoutMs?: number): Promise<Message> {
    for (;;) {
      const event = await this.nextEvent(timeoutMs);
      if (!event || event.json !== undefined) return event?.json;
    }
  }

  /** All messages until it ends. */
  async rest(timeoutMs?: number): Promise<Message[]> {
    const messages: Message[] = [];
    for (;;) {
      const message = await this.next(timeoutMs);
      if (message === undefined) return messages;
      messages.push(message);
    }
  }

  /** Whether no message arrives for a time. */
  async isQuiet(milliseconds: number): Promise<boolean> {
    return await this.next(milliseconds).then(() => false, (error) => error instanceof TimeoutError);
  }

  /** Disconnects. */
  async cut(): Promise<void> {
    this.#abort();
    await this.#reader.cancel().catch(() => {});
  }
}

class TimeoutError extends Error {}

function within<Result>(milliseconds: number, what: string, work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TimeoutError(`${what} did not arrive within ${milliseconds} ms`)),
      milliseconds,
    );
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function parseEvent(text: string): StreamEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, name, value] = /^([a-z]+):\s?(.*)$/.exec(line) ?? [];
    if (name !== undefined) fields.set(name, value!);
  }
  const data = fields.get("data");
  if (data === undefined) return undefined;
  const isJson = data.startsWith("{");
  return {
    id: fields.get("id"),
    event: fields.get("event"),
    json: isJson ? JSON.parse(data) : undefined,
    data,
  };
}

export interface ClientOptions {
  /** @default "2025-11-25" */
  readonly revision?: string;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly token?: string;
}

const MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";

/** A client, with a session where its revision has sessions. */
export class Client {
  readonly revision: string;
  session: string | undefined;
  #capabilities: Readonly<Record<string, unknown>>;
  #token: string | undefined;
  #ids = 0;
  #last: AbortController | undefined;

  constructor({ revision = "2025-11-25", capabilities = {}, token }: ClientOptions = {}) {
    this.revision = revision;
    this.#capabilities = capabilities;
    this.#token = token;
  }

  /** Opens a session on an instance. */
  static async open(on: Instance, options: ClientOptions = {}): Promise<Client> {
    const client = new Client(options);
    const { status, headers, body } = await client.request(on, "initialize", {
      protocolVersion: client.revision,
      capabilities: options.capabilities ?? {},
      clientInfo: { name: "test", version: "1" },
    });
    assert.is(status, 200, JSON.stringify(body));
    client.session = headers.get("mcp-session-id") ?? undefined;
    await client.post(on, { jsonrpc: "2.0", method: "notifications/initialized" });
    return client;
  }

  /** Sends a request with a new id. */
  request(on: Instance, method: string, params: Record<string, unknown> = {}): Promise<Reply> {
    return this.post(on, request(method, params, ++this.#ids));
  }

  call(on: Instance, name: string, args: unknown = {}, more: Record<string, unknown> = {}): Promise<Reply> {
    return this.request(on, "tools/call", { name, arguments: args, ...more });
  }

  /** Closes the connection of the last request. */
  disconnect(): void {
    this.#last?.abort();
  }

  /** Id of the last request. */
  get lastRequest(): number {
    return this.#ids;
  }

  post(on: Instance, message: Record<string, unknown>, path: string = "/mcp"): Promise<Reply> {
    const headers: Record<string, string> = { "content-type": "application/json" };
    let sent = message;
    if (this.revision === MODERN) {
      const params = message.params as Record<string, unknown>;
      const meta = {
        [META + "protocolVersion"]: MODERN,
        [META + "clientCapabilities"]: this.#capabilities,
        ...params._meta as object,
      };
      sent = { ...message, params: { ...params, _meta: meta } };
      headers["mcp-method"] = String(message.method);
      const name = params.taskId ?? params.name ?? params.uri;
      if (name !== undefined) headers["mcp-name"] = String(name);
    }
    return this.#send(on, path, { method: "POST", headers, body: JSON.stringify(sent) });
  }

  /** Opens the stream of the session, or resumes a stream after an event. */
  get(on: Instance, lastEventId?: string, path: string = "/mcp"): Promise<Reply> {
    const headers: Record<string, string> = {};
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    return this.#send(on, path, { method: "GET", headers });
  }

  end(on: Instance): Promise<Reply> {
    return this.#send(on, "/mcp", { method: "DELETE" });
  }

  /** Responds to a request of the server. */
  async answer(on: Instance, id: unknown, answer: Record<string, unknown>): Promise<number> {
    return (await this.post(on, { jsonrpc: "2.0", id, ...answer })).status;
  }

  async #send(on: Instance, path: string, init: RequestInit & { method: string }): Promise<Reply> {
    const controller = this.#last = new AbortController();
    const headers = new Headers(init.headers);
    headers.set("accept", "application/json, text/event-stream");
    if (this.session !== undefined) headers.set("mcp-session-id", this.session);
    if (this.session !== undefined || this.revision === MODERN) {
      headers.set("mcp-protocol-version", this.revision);
    }
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    const response = await within(
      EVENT_TIMEOUT_MS,
      `the response of ${on.name}`,
      on.fetch(path, { ...init, headers, signal: controller.signal }),
    );
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const text = isStream ? "" : await response.text();
    return {
      status: response.status,
      headers: response.headers,
      stream: isStream ? new Stream(response.body!, () => controller.abort()) : undefined,
      body: text.startsWith("{") ? JSON.parse(text) : text === "" ? undefined : text,
    };
  }
}

/** Polls until the condition is true. */
export async function eventually(
  condition: () => Promise<boolean>,
  what: string,
  timeoutMs: number = EVENT_TIMEOUT_MS,
): Promise<void> {
  const late = Date.now() + timeoutMs;
  while (!await condition()) {
    if (Date.now() > late) throw new TimeoutError(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Returns a function that waits for `count` further texts that tools report on an instance. */
export async function watchMessages(on: Instance): Promise<(count: number) => Promise<readonly string[]>> {
  const before = (await on.order({ do: "report" })).messages.length;
  return async (count) => {
    let messages: readonly string[] = [];
    const condition = async () =>
      (messages = (await on.order({ do: "report" })).messages.slice(before)).length >= count;
    await eventually(condition, `${count} messages`);
    return messages;
  };
}

/** Text of a tool's result. */
export function textOf(message: Message): string {
  return message?.result?.content?.[0]?.text ?? JSON.stringify(message);
}

/** Two instances on one store. */
export interface Pair {
  readonly a: Instance;
  readonly b: Instance;
}

export type Scenario = readonly [name: string, run: (pair: Pair) => Promise<void>];
