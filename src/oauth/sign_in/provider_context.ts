/**
 * What providers use of the server.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import type { ProviderContext } from "./provider.ts";

export function contextOf(
  { providerFetch, providerDocuments, now }: Pick<
    AuthorizationServer,
    "providerFetch" | "providerDocuments" | "now"
  >,
): ProviderContext {
  return { fetch: providerFetch, documents: providerDocuments, now };
}
