/**
 * A guard before routes of `node:http` and Express that exist: it lets a request through, or sends the refusal.
 *
 * @module
 */
import "./native_digest.ts";
import type { Principal } from "../http/principal.ts";
import type { Protection, ProtectOptions } from "../http/protect.ts";
import {
  type AnyNodeRequest,
  type AnyNodeResponse,
  NodeContext,
  readHead,
  sendResponse,
} from "./node_request.ts";
import { faultResponse, malformedTargetResponse } from "./server.ts";

/** A request that a guard let through: `principal` is the caller. */
export type NodeGuardRequest = AnyNodeRequest & { principal?: Principal };

/** Resolves to the caller, or to `undefined` when the refusal is sent. With `next` it is a middleware of Express. */
export type NodeGuard = (
  request: NodeGuardRequest,
  response: AnyNodeResponse,
  next?: (error?: unknown) => void,
) => Promise<Principal | undefined>;

/**
 * Guards routes with the access tokens that `createTrivet` or `resourceServer` accepts. It also sends the metadata of the
 * API, so mount it for all paths, or at `/.well-known` too.
 *
 * ```ts
 * app.use(toNodeGuard(orders)); // Express: the routes behind it have `request.principal`
 * const caller = await guard(request, response); // node:http
 * if (!caller) return;
 * ```
 * @param options what every call must fulfil, such as scopes
 */
export function toNodeGuard(
  protection: Pick<Protection, "protect">,
  options: ProtectOptions = {},
): NodeGuard {
  return async (request, response, next) => {
    const onError = next ?? (() => {});
    try {
      const head = readHead(request);
      const { url, ...init } = head ?? { url: "" };
      const caller = head
        ? await protection.protect(new Request(url, init), options, new NodeContext(request, () => {}))
        : malformedTargetResponse();
      if (caller instanceof Response) return void await sendResponse(caller, request, response);
      request.principal = caller;
      next?.();
      return caller;
    } catch (error) {
      onError(error);
      if (!next) await sendResponse(faultResponse(), request, response);
      return undefined;
    }
  };
}
