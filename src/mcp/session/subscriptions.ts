/**
 * `resources/subscribe` and `resources/unsubscribe` of the revisions with a handshake
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions). Subscriptions
 * are stored, so that the stream of the session may be open on any instance.
 *
 * @module
 */
import type { Method } from "../../jsonrpc/dispatch.ts";
import type { Call } from "../call.ts";
import { ResourceNotFoundError } from "../definition/resources.ts";
import { runHandler } from "../handler.ts";
import { requireObject, requireString } from "../schema/params.ts";
import type { CompiledTemplate, Registry } from "../definition/registry.ts";
import { matchTemplates } from "../definition/uri/uri_template.ts";
import type { Subscriptions } from "./session_subscriptions.ts";

/** The methods of the `subscribe` capability. */
export function subscriptionMethods(
  registry: Registry,
  subscriptions: Subscriptions,
): [string, Method<Call>][] {
  if (!registry.offers.resources) return [];
  return [
    ["resources/subscribe", async (params, call) => {
      const uri = requireString(requireObject(params), "uri");
      await requireResource(registry, uri, call);
      if (call.session) await subscriptions.add(call.session, uri, call);
      return {};
    }],
    ["resources/unsubscribe", async (params, call) => {
      const uri = requireString(requireObject(params), "uri");
      if (call.session) await subscriptions.remove(call.session, uri, call);
      return {};
    }],
  ];
}

/** How many resources may still be read to learn that they exist. */
export interface ReadAllowance {
  left: number;
}

/**
 * Checks that the caller may read a resource now: the definition of its URI, its scopes, and that it exists.
 * @param reads no limit by default
 * @throws {ResourceNotFoundError} for an unknown resource, and without reads left @throws {ScopeError} without the scopes
 */
export async function requireResource(
  { resources, templates }: Registry,
  uri: string,
  call: Call,
  reads: ReadAllowance = { left: Infinity },
): Promise<void> {
  const resource = resources.get(uri);
  if (resource) return call.requireScopes(...resource.scopes);
  for await (const [template, variables] of matchTemplates(templates, uri)) {
    call.requireScopes(...template.scopes);
    if (await exists(template, variables, uri, call, reads)) return;
  }
  throw new ResourceNotFoundError(uri, call.revision);
}

/** A template also matches URIs of resources that do not exist. */
async function exists(
  { definition }: CompiledTemplate,
  variables: Readonly<Record<string, string>>,
  uri: string,
  call: Call,
  reads: ReadAllowance,
): Promise<boolean> {
  const { exists, read } = definition;
  if (exists) return await runHandler(() => exists(variables, call));
  return reads.left-- > 0 && await runHandler(() => read(variables, call, uri)) !== undefined;
}
