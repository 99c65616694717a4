/**
 * The routes for signing in at identity providers, and what they need of the server. None without providers.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { createConfiguredFetch } from "../../http/network/public_fetch.ts";
import type { Route, RouteHandler } from "../../http/router.ts";
import type { AuthorizationServer, AuthorizationServerOptions } from "../authorization_server.ts";
import { createRemoteDocuments } from "../clients/remote_document.ts";
import { createProviderDirectory } from "./provider_directory.ts";

const relayFormPost = loadOnDemand(async () => (await import("./form_post_callback.ts")).relayFormPost);
const loadSignIn = () => import("./sign_in.ts");
const beginSignIn = loadOnDemand(async () => (await loadSignIn()).beginSignIn);
const finishSignIn = loadOnDemand(async () => (await loadSignIn()).finishSignIn);
/** The greatest answer of an identity provider: keys of large ones carry certificates. */
const MAX_ANSWER_BYTES = 256 * 1024;
/** How long a provider that failed repeatedly is not asked. */
const MAX_WAIT_MS = 10_000;

/** The providers, and how they are reached. @throws {TypeError} for invalid providers, and for scopes that are not defined */
export function defineSignIn(
  options: AuthorizationServerOptions,
): Pick<AuthorizationServer, "providers" | "providerFetch" | "providerDocuments"> {
  const providers = createProviderDirectory(options);
  for (const { id, scopes = {} } of options.signIn) {
    const unknown = Object.keys(scopes).find((scope) => !Object.hasOwn(options.scopes, scope));
    if (unknown !== undefined) {
      throw new TypeError(
        `Invalid options: "scopes" of the provider "${id}" has the scope "${unknown}", which is not defined`,
      );
    }
  }
  const connect = options.signInFetch ?? ((url, init) => fetch(url, init));
  const providerFetch = createConfiguredFetch({ connect, limit: MAX_ANSWER_BYTES });
  return {
    providers,
    providerFetch,
    providerDocuments: createRemoteDocuments(providerFetch, options.now, MAX_WAIT_MS),
  };
}

export function signInRoutes(as: AuthorizationServer, page: (handle: RouteHandler) => RouteHandler): Route[] {
  if (as.signIn.length === 0 && !as.storedProviders) return [];
  const path = "/login/:provider";
  return [
    { method: "GET", path, handle: page((request, _, { provider }) => beginSignIn(as, request, provider!)) },
    {
      method: "GET",
      path: `${path}/callback`,
      handle: page((request, context, { provider }) => finishSignIn(as, request, context, provider!)),
    },
    {
      method: "POST",
      path: `${path}/callback`,
      handle: page((request, _, { provider }) => relayFormPost(as, request, provider!)),
    },
  ];
}
