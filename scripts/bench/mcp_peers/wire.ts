/**
 * The messages that are measured, as HTTP requests of clients that follow the transport: revision 2025-11-25 (or what
 * the server negotiates instead) without and in a session, and revision 2026-07-28, whose requests describe themselves
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http). An answer is looked at
 * whole before anything is timed, and each timed one for its status, its id and what only a right one holds.
 *
 * @module
 */
import type { Variant } from "./subject.ts";
import { nameOf } from "./tools.ts";

export const LEGACY = "2025-11-25";
export const MODERN = "2026-07-28";

export interface Message {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}
export interface Answer {
  readonly status: number;
  /** The `Mcp-Session-Id`. */
  readonly session: string | null;
  readonly text: string;
}
export type Send = (message: Message) => Promise<Answer>;

export interface Operation {
  readonly name: string;
  readonly variant: Variant;
  readonly method:
    | "initialize"
    | "tools/list"
    | "tools/call"
    | "server/discover";
}

export const OPERATIONS: readonly Operation[] = [
  { name: `initialize, ${LEGACY}`, variant: "stateless", method: "initialize" },
  { name: `tools/list, ${LEGACY}`, variant: "stateless", method: "tools/list" },
  { name: `tools/call, ${LEGACY}`, variant: "stateless", method: "tools/call" },
  { name: `initialize, ${LEGACY}, opening a session`, variant: "session", method: "initialize" },
  { name: `tools/list, ${LEGACY}, in a session`, variant: "session", method: "tools/list" },
  { name: `tools/call, ${LEGACY}, in a session`, variant: "session", method: "tools/call" },
  { name: `server/discover, ${MODERN}`, variant: "modern", method: "server/discover" },
  { name: `tools/list, ${MODERN}`, variant: "modern", method: "tools/list" },
  { name: `tools/call, ${MODERN}`, variant: "modern", method: "tools/call" },
];

/** Why a server cannot be measured at something. */
export class NotOffered extends Error {
  override readonly name = "NotOffered";
}

export interface Prepared {
  /** Sends one request, and insists on a right answer. */
  readonly call: () => Promise<void>;
  /** Ends the sessions that calls have opened. */
  readonly tidy: () => Promise<void>;
}

const BOTH_TYPES = "application/json, text/event-stream";
const CLIENT = { name: "bench", version: "1.0.0" };
const SUM = "42";
export const META: Readonly<Record<string, unknown>> = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** What a client knows of a server once it is initialized. */
export interface Connected {
  readonly revision: string;
  readonly session: string | null;
}

/** Fields of a request of revision 2025-11-25. */
export function legacyFields({ revision, session }: Connected, accept: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept,
    "mcp-protocol-version": revision,
    ...(session !== null && { "mcp-session-id": session }),
  };
}

/** A request of revision 2026-07-28. */
export function modernMessage(method: string, id: number, params: Record<string, unknown> = {}): Message {
  return {
    method: "POST",
    headers: modernFields(method, params.name as string | undefined),
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: META } }),
  };
}

function modernFields(method: string, name?: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: BOTH_TYPES,
    "mcp-protocol-version": MODERN,
    "mcp-method": method,
    ...(name !== undefined && { "mcp-name": name }),
  };
}

/** The parameters of a method. Of the tools the one in the middle is called. */
export function paramsOf(
  method: Operation["method"],
  tools: number,
  newest: string = LEGACY,
): Record<string, unknown> {
  if (method === "initialize") {
    return { protocolVersion: newest, capabilities: {}, clientInfo: CLIENT };
  }
  if (method !== "tools/call") return {};
  return { name: nameOf(tools >> 1), arguments: { a: 19, b: 23, unit: "m", note: "The length of both" } };
}

/** A text that only a right answer holds. */
export function markOf(method: Operation["method"], tools: number): string {
  switch (method) {
    case "initialize":
      return '"protocolVersion":"';
    case "server/discover":
      return '"supportedVersions":[';
    case "tools/list":
      return `"${nameOf(tools - 1)}"`;
    case "tools/call":
      return `"text":"${SUM}"`;
  }
}

/** What clients of a server do otherwise than clients of others. */
export interface ClientOptions {
  readonly accept?: string | undefined;
  readonly newest?: string | undefined;
}

/** Goes through the handshake. @throws {NotOffered} when it is refused */
export async function connect(
  send: Send,
  { accept = BOTH_TYPES, newest }: ClientOptions,
): Promise<Connected> {
  const params = paramsOf("initialize", 0, newest);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const headers = { "content-type": "application/json", accept };
  const answer = await send({ method: "POST", headers, body });
  const { protocolVersion: revision } = resultOf(answer) as {
    protocolVersion: string;
  };
  const connected = { revision, session: answer.session };
  if (answer.session !== null) {
    const { status } = await send({
      method: "POST",
      headers: legacyFields(connected, accept),
      body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
    });
    if (status !== 202) {
      throw new NotOffered(`notifications/initialized answered ${status}`);
    }
  }
  return connected;
}

/**
 * Makes ready to call again and again, with answers checked.
 * @param sessions among how many the calls are divided, where they are in sessions
 * @throws {NotOffered} when the first answer is not right
 */
export async function prepare(
  send: Send,
  { variant, method }: Operation,
  tools: number,
  { accept = BOTH_TYPES, newest, sessions = 1 }: ClientOptions & {
    readonly sessions?: number;
  },
): Promise<Prepared> {
  const params = paramsOf(method, tools, newest);
  const headers: Record<string, string>[] = [];
  const name = params.name as string | undefined;
  if (variant === "modern") headers.push(modernFields(method, name));
  else if (method === "initialize") {
    headers.push({ "content-type": "application/json", accept });
  } else {
    for (let i = 0; i < (variant === "session" ? sessions : 1); i++) {
      const connected = await connect(send, { accept, newest });
      if (variant === "session" && connected.session === null) {
        throw new NotOffered("it gives no session id");
      }
      headers.push(
        legacyFields(variant === "session" ? connected : { ...connected, session: null }, accept),
      );
    }
  }

  const all = variant === "modern" ? { ...params, _meta: META } : params;
  const rest = `,"method":"${method}","params":${JSON.stringify(all)}}`;
  const mark = markOf(method, tools);
  const opened: string[] = [];
  let id = 0;
  async function ask(): Promise<Answer> {
    const own = ++id;
    const answer = await send({
      method: "POST",
      headers: headers[own % headers.length]!,
      body: `{"jsonrpc":"2.0","id":${own}${rest}`,
    });
    if (
      answer.status !== 200 || !answer.text.includes(mark) ||
      !answer.text.includes(`"id":${own}`)
    ) {
      throw new NotOffered(`${method} answered ${answer.status} ${answer.text.slice(0, 200)}`);
    }
    if (method === "initialize" && answer.session !== null) {
      opened.push(answer.session);
    }
    return answer;
  }
  checkResult(method, resultOf(await ask()), tools);
  if (method === "tools/call") await checkArgumentsAreChecked();
  if (variant === "session" && method === "initialize" && opened.length === 0) {
    throw new NotOffered("it gives no session id");
  }
  /** Who takes any arguments is saved the work of looking at them. */
  async function checkArgumentsAreChecked(): Promise<void> {
    const wrong = rest.replace('"a":19', '"a":"nineteen"');
    const answer = await send({
      method: "POST",
      headers: headers[0]!,
      body: `{"jsonrpc":"2.0","id":0${wrong}`,
    });
    if (!/"isError":true|"error":\{/.test(answer.text)) {
      throw new NotOffered("it takes arguments that do not fit");
    }
  }
  return {
    async call() {
      await ask();
    },
    async tidy() {
      for (const session of opened.splice(0)) {
        await send({ method: "DELETE", headers: { accept, "mcp-session-id": session } });
      }
    },
  };
}

/** The result in an answer, which is JSON or an event stream. */
function resultOf({ status, text }: Answer): Record<string, unknown> {
  const json = /^data: ?(\{.*)$/m.exec(text)?.[1] ?? text;
  if (status !== 200 || !json.startsWith("{")) {
    throw new NotOffered(`answered ${status} ${text.slice(0, 200)}`);
  }
  const { result, error } = JSON.parse(json);
  if (result === undefined) {
    throw new NotOffered(`answered ${JSON.stringify(error).slice(0, 200)}`);
  }
  return result;
}

function checkResult(method: Operation["method"], result: Record<string, unknown>, tools: number): void {
  if (method === "tools/list") {
    const list = result.tools as {
      inputSchema: { properties: Record<string, unknown> };
    }[];
    // A page is a part of the answer: whoever pages is compared by another measure.
    if (list.length !== tools) {
      throw new NotOffered(`it lists ${list.length} of ${tools} tools`);
    }
    if (!("tags" in list[0]!.inputSchema.properties)) {
      throw new NotOffered("the schemas are not listed");
    }
  }
  if (method === "tools/call") {
    const [content] = result.content as { text: string }[];
    if (content?.text !== SUM || result.isError === true) {
      throw new NotOffered("the sum is wrong");
    }
  }
}
