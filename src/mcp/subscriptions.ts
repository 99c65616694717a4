/**
 * `resources/subscribe` and `resources/unsubscribe` of the revisions with a handshake
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions). What a session subscribed to is
 * kept with it, so that its stream may be open on any instance.
 *
 * @module
 */
import type { Method } from "../jsonrpc/dispatch.ts";
import { INVALID_REQUEST, RpcError } from "../jsonrpc/error.ts";
import type { Call } from "./call.ts";
import { ResourceNotFoundError } from "./error.ts";
import { requireObject, requireString } from "./params.ts";
import type { Registry } from "./registry.ts";
import type { Sessions } from "./session.ts";

/** Resources that one session may subscribe to. */
const MOST = 1000;

/** The methods of the `subscribe` capability. */
export function subscriptionMethods(
  { resources, templates }: Registry,
  sessions: Sessions,
): [string, Method<Call>][] {
  if (resources.size + templates.length === 0) return [];
  return [
    ["resources/subscribe", async (params, call) => {
      const uri = requireString(requireObject(params), "uri");
      if (!resources.has(uri) && !templates.some(({ match }) => match(uri))) {
        throw new ResourceNotFoundError(uri, call.revision);
      }
      if (!call.session) return {};
      await sessions.change(call.session, (settings) => {
        const { subscriptions = [] } = settings;
        if (subscriptions.includes(uri)) return settings;
        if (subscriptions.length >= MOST) {
          throw new RpcError(
            INVALID_REQUEST,
            `Invalid Request: a session may subscribe to ${MOST} resources`,
          );
        }
        return { ...settings, subscriptions: [...subscriptions, uri] };
      });
      return {};
    }],
    ["resources/unsubscribe", async (params, call) => {
      const uri = requireString(requireObject(params), "uri");
      if (call.session) {
        await sessions.change(call.session, ({ subscriptions = [], ...rest }) => ({
          ...rest,
          subscriptions: subscriptions.filter((each) => each !== uri),
        }));
      }
      return {};
    }],
  ];
}
