/**
 * `resources/subscribe` and `resources/unsubscribe` of the revisions with a handshake
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions). What a session subscribed to is
 * kept with it, so that its stream may be open on any instance.
 *
 * @module
 */
import type { Method } from "../../jsonrpc/dispatch.ts";
import type { Call } from "../call.ts";
import { ResourceNotFoundError } from "../error.ts";
import { runHandler } from "../handler.ts";
import { requireObject, requireString } from "../schema/params.ts";
import type { CompiledTemplate, Registry } from "../definition/registry.ts";
import type { Subscriptions } from "./session_subscriptions.ts";

/** What it takes to read a resource, and so to hear that it changed; `undefined` when there is none of this URI. */
export function scopesOf({ resources, templates }: Registry, uri: string): readonly string[] | undefined {
  return (resources.get(uri) ?? templates.find(({ match }) => match(uri)))?.scopes;
}

/** The methods of the `subscribe` capability. */
export function subscriptionMethods(
  registry: Registry,
  subscriptions: Subscriptions,
): [string, Method<Call>][] {
  if (registry.resources.size + registry.templates.length === 0) return [];
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

/** @throws {ResourceNotFoundError} when there is no such resource @throws {ScopeError} when the caller may not read it */
async function requireResource({ resources, templates }: Registry, uri: string, call: Call): Promise<void> {
  const resource = resources.get(uri);
  if (resource) return call.requireScopes(...resource.scopes);
  for (const template of templates) {
    const variables = template.match(uri);
    if (!variables) continue;
    call.requireScopes(...template.scopes);
    if (await exists(template, variables, call)) return;
  }
  throw new ResourceNotFoundError(uri, call.revision);
}

/** A template fits many URIs of which there is no resource. */
async function exists(
  { definition }: CompiledTemplate,
  variables: Readonly<Record<string, string>>,
  call: Call,
): Promise<boolean> {
  const { exists, read } = definition;
  return exists
    ? await runHandler(() => exists(variables, call))
    : await runHandler(() => read(variables, call)) !== undefined;
}
