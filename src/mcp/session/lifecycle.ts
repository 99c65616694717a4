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
import { type Lazy, lazy } from "../lazy.ts";
import { readClientInfo } from "../request_meta.ts";
import { optionalObject, requireObject, requireString } from "../schema/params.ts";
import type { FindResult, LifecycleOptions } from "./lifecycle_results.ts";

/** Loads with the first request for one of them. */
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
      const answer = () =>
        lifecycleResults.use(({ handshakeResults }) =>
          (find ??= handshakeResults(options))(revision, onHandshake !== undefined)
        );
      return handled ? handled.then(answer) : answer();
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
