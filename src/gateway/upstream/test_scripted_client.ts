/**
 * Test kit of this folder: a client of a scripted upstream, which hangs, crashes and changes as a test says.
 *
 * @module
 */
import {
  type ClientExchange,
  ConnectionError,
  type ConnectionInfo,
  type JsonObject,
  type McpClient,
  type McpClientOptions,
} from "../../mcp_client/client.ts";
import type { CallContext } from "../../mcp/context.ts";
import type { Principal } from "../../http/principal.ts";
import type { UpstreamsOptions } from "./upstreams.ts";

/** What the upstream does. */
export interface Script {
  /** @default connects */
  connect?: () => Promise<void>;
  /** @default one tool, `echo` */
  list?: (list: string) => JsonObject[] | Promise<JsonObject[]>;
  /** @default returns the arguments as text */
  call?: (
    params: Readonly<JsonObject>,
    exchange: Pick<ClientExchange, "signal" | "onTask">,
  ) => Promise<JsonObject>;
  /** @default accepts */
  subscribe?: (uri: string) => Promise<void>;
  /** `ttlMs` of its lists. @default none */
  ttl?: number;
  capabilities?: JsonObject;
  revision?: string;
}

export interface ScriptedClient {
  readonly options: McpClientOptions;
  isClosed: boolean;
  /** Ends the connection, as a process that crashes. */
  crash(): void;
}

export const INPUT: JsonObject = { type: "object" };

/** A client for each connection, in the order in which they were made. */
export function scripted(scripts: Readonly<Record<string, Script>>): {
  readonly clients: ScriptedClient[];
  readonly upstreams: Pick<
    UpstreamsOptions,
    "mcpServers" | "createClient" | "createTransport"
  >;
} {
  const clients: ScriptedClient[] = [];
  return {
    clients,
    upstreams: {
      mcpServers: Object.fromEntries(
        Object.keys(scripts).map((
          name,
        ) => [name, { url: `https://${name}.example/` }]),
      ),
      createTransport: ({ name }) => ({
        name,
        kind: "stdio",
        open: () => Promise.reject(new Error("scripted")),
      }),
      createClient(options) {
        const { client, control } = newClient(
          options,
          scripts[options.transport.name]!,
        );
        clients.push(control);
        return client;
      },
    },
  };
}

function newClient(
  options: McpClientOptions,
  script: Script,
): { readonly client: McpClient; readonly control: ScriptedClient } {
  const calls = new Set<(error: Error) => void>();
  const server = options.transport.name;
  const closed = () => new ConnectionError("closed", server, "the process ended");
  const end = (): void => {
    control.isClosed = true;
    for (const reject of calls) reject(closed());
    calls.clear();
  };
  const control: ScriptedClient = {
    options,
    isClosed: false,
    crash() {
      if (control.isClosed) return;
      end();
      options.onClosed?.(closed());
    },
  };
  const info: ConnectionInfo = {
    revision: script.revision ?? "2025-11-25",
    serverInfo: { name: server, version: "1" },
    capabilities: script.capabilities ?? { tools: { listChanged: true } },
    instructions: undefined,
    transport: "stdio",
  };
  const request: McpClient["request"] = (_, params = {}, exchange = {}) =>
    new Promise((resolve, reject) => {
      if (control.isClosed) return reject(closed());
      calls.add(reject);
      exchange.signal?.addEventListener(
        "abort",
        () => reject(exchange.signal!.reason),
      );
      const call = script.call ??
        (({ arguments: given }) =>
          Promise.resolve({
            content: [{ type: "text", text: JSON.stringify(given) }],
          }));
      call(params, exchange).then(resolve, reject).finally(() => calls.delete(reject));
    });
  return {
    control,
    client: {
      connection: info,
      connect: async () => {
        await script.connect?.();
        if (control.isClosed) throw closed();
        return info;
      },
      request,
      requestOnce: request,
      notify: () => Promise.resolve(),
      listAll: async (list, exchange) => {
        if (script.ttl !== undefined) exchange?.onTtl?.(script.ttl);
        return await script.list?.(list) ??
          (list === "tools" ? [{ name: "echo", inputSchema: INPUT }] : []);
      },
      subscribe: async (uri) => await script.subscribe?.(uri),
      unsubscribe: () => Promise.resolve(),
      close: () => {
        end();
        return Promise.resolve();
      },
    },
  };
}

/** The context of a call of a client without capabilities. */
export function callContext(
  signal: AbortSignal = new AbortController().signal,
  principal?: Principal,
): CallContext {
  const context = {
    principal,
    signal,
    meta: {},
    trace: undefined,
    revision: "2025-11-25",
    can: () => false,
  };
  return context as unknown as CallContext;
}
