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

/** What it takes to read a resource, and so to hear that it changed; `undefined` when there is none of this URI. */
export function scopesOf({ resources, templates }: Registry, uri: string): readonly string[] | undefined {
  return (resources.get(uri) ?? templates.find(({ match }) => match(uri)))?.scopes;
}

/** The methods of the `subscribe` capability. */
export function subscriptionMethods(registry: Registry, sessions: Sessions): [string, Method<Call>][] {
  if (registry.resources.size + registry.templates.length === 0) return [];
  return [
    ["resources/subscribe", async (params, call) => {
      const uri = requireString(requireObject(params), "uri");
      const scopes = scopesOf(registry, uri);
      if (!scopes) throw new ResourceNotFoundError(uri, call.revision);
      call.requireScopes(...scopes);
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
