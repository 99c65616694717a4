/**
 * `initialize` and `ping`
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle), and `server/discover`
 * (https://modelcontextprotocol.io/specification/draft/server/discover). Requests before the handshake are answered too.
 *
 * @module
 */
import type { WrittenResult } from "../../jsonrpc/message.ts";
import type { Method } from "../../jsonrpc/dispatch.ts";
import type { Call } from "../call.ts";
import { negotiate } from "../era.ts";
import type { Extension } from "../definition/extension.ts";
import { type Lazy, lazy } from "../lazy.ts";
import { readClientInfo } from "../request_meta.ts";
import { optionalObject, requireObject, requireString } from "../schema/params.ts";
import type { Registry } from "../definition/registry.ts";
import type { ServerInfo } from "../definition/server_info.ts";

/** Finds the result of `initialize`, whose revision was negotiated. */
export type FindResult = (revision: string, startsSession: boolean) => WrittenResult | undefined;

export interface LifecycleOptions {
  readonly info: ServerInfo;
  readonly instructions: string | undefined;
  readonly registry: Registry;
  readonly extensions: readonly Extension[];
  /** How long a client may cache the result of `server/discover`, in milliseconds. */
  readonly ttl: number;
  readonly cacheScope: "public" | "private";
  readonly modernHead: string;
  /** Whether `initialize` over HTTP opens a session. */
  readonly sessions: boolean;
}

export const lifecycleResults: Lazy<typeof import("./lifecycle_results.ts")> = lazy(() =>
  import("./lifecycle_results.ts")
);

/** The methods of the handshake. */
export function handshakeMethods(options: LifecycleOptions): [string, Method<Call>][] {
  let find: FindResult | undefined;
  return [
    ["initialize", (params, call) => {
      const object = requireObject(params);
      const version = requireString(object, "protocolVersion");
      const capabilities = optionalObject(object, "capabilities");
      const clientInfo = readClientInfo(optionalObject(object, "clientInfo"));
      const revision = negotiate(version);
      const { onHandshake } = call.connection;
      const handled = onHandshake?.({ revision, capabilities, clientInfo });
      const result = lifecycleResults.use(({ handshakeResults }) =>
        (find ??= handshakeResults(options))(revision, onHandshake !== undefined)
      );
      return handled ? handled.then(() => result) : result;
    }],
    ["ping", () => ({})],
  ];
}

/** `server/discover`. */
export function discoverMethods(options: LifecycleOptions): [string, Method<Call>][] {
  let written: WrittenResult | undefined;
  return [[
    "server/discover",
    () => lifecycleResults.use(({ discoverResult }) => written ??= discoverResult(options)),
  ]];
}
