/**
 * The tokens of an upstream: requested, kept in their record, refreshed once for all instances, and revoked.
 *
 * @module
 */
import type { UpstreamConnection } from "../../oauth/connection_records.ts";
import { type ProviderTokens, SignInError, TokenRefusedError } from "../../oauth/sign_in/provider.ts";
import type { Renewal } from "../../oauth/renewal.ts";
import { requestTokens, revokeToken } from "../../oauth/sign_in/token_request.ts";
import type { Entry, Key } from "../../store/store.ts";
import { forgetClient, type RegisteredClient, toRegisteredClient } from "./client_registration.ts";
import { type CredentialsContext, networkOf, type Upstream } from "./context.ts";
import { findIssuerMetadata } from "./issuer_metadata.ts";
import type { OAuthAuth } from "./upstream_auth.ts";

/** A token is refreshed this long before it expires, or in the last tenth of its lifetime if that is shorter. */
const MARGIN_MS = 60_000;
/** Characters of a token: it becomes a header field. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

/** What is sealed in a connection of the kind `oauth`: the tokens, and the client that may refresh and revoke them. */
export interface SealedTokens {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly client: RegisteredClient;
}

/** Where tokens come from and what they are for. */
export interface TokenOrigin {
  readonly issuer: string;
  readonly resource: string;
  /** The scope that was requested: it counts when the response names none (RFC 6749 section 5.1). */
  readonly scope?: string | undefined;
  readonly client: RegisteredClient;
}

/** When a token should be renewed; `undefined` when its lifetime is not known. */
export function staleAt(now: number, expires_in: number | undefined): number | undefined {
  return expires_in === undefined
    ? undefined
    : now + expires_in * 1000 - Math.min(MARGIN_MS, expires_in * 100);
}

/** Requests tokens with a grant. @throws {SignInError} also for a token that cannot be sent in a header field */
export async function requestSendable(...request: Parameters<typeof requestTokens>): Promise<ProviderTokens> {
  const tokens = await requestTokens(...request);
  if (!TOKEN.test(tokens.access_token)) {
    throw new SignInError("The token endpoint returned a token that cannot be sent");
  }
  return tokens;
}

/** The record of tokens. @param key of the connection @param connected when the user connected it, in milliseconds */
export async function toConnection(
  context: CredentialsContext,
  key: Key,
  { url, isPrivate }: { readonly url: string; readonly isPrivate: boolean },
  { issuer, resource, scope: requested, client }: TokenOrigin,
  tokens: ProviderTokens,
  connected: number,
): Promise<UpstreamConnection> {
  const { access_token, refresh_token, scope = requested, expires_in } = tokens;
  const sealed: SealedTokens = {
    access_token,
    client,
    ...(refresh_token !== undefined && { refresh_token }),
  };
  const stale = staleAt(context.now(), expires_in);
  return {
    kind: "oauth",
    url,
    sealed: await context.records.seal(key, url, sealed),
    connected,
    issued: context.now(),
    issuer,
    resource,
    hasRefreshToken: refresh_token !== undefined,
    ...(scope !== undefined && scope !== "" && { scope }),
    ...(stale !== undefined && { stale }),
    ...(isPrivate && { isPrivate }),
  };
}

/** How the tokens of a user at an upstream are read and refreshed. */
export function renewalOf(
  context: CredentialsContext,
  { name: upstream, auth }: Upstream<OAuthAuth>,
  user: string,
): Renewal<UpstreamConnection, SealedTokens> {
  return {
    isRenewable: ({ hasRefreshToken }) => hasRefreshToken,
    read: (entry) => context.records.open<SealedTokens>(entry),
    async renew({ key, value }: Entry<UpstreamConnection>) {
      const before = await context.records.open<SealedTokens>({ key, value, version: "" });
      if (before?.refresh_token === undefined) return undefined;
      const { refresh_token } = before;
      const client = currentClient(before.client, value, auth);
      const { url, issuer = "", resource = url, scope, connected, isPrivate = false } = value;
      const network = networkOf(context, isPrivate);
      const { token_endpoint } = await findIssuerMetadata(network, issuer);
      try {
        const grant = { grant_type: "refresh_token", refresh_token, resource };
        const fresh = await requestSendable(network.fetch, token_endpoint, client, grant);
        // RFC 6749 section 6: without a new refresh token the present one stays.
        const tokens = { ...fresh, refresh_token: fresh.refresh_token ?? refresh_token };
        const origin = { issuer, resource, scope, client };
        const renewed = await toConnection(context, key, { url, isPrivate }, origin, tokens, connected);
        return { value: renewed, token: { ...before, ...tokens } };
      } catch (error) {
        const code = error instanceof TokenRefusedError ? error.code : undefined;
        const isForgotten = code === "invalid_client" && client.isDynamic === true;
        if (code !== "invalid_grant" && !isForgotten) throw error;
        if (isForgotten) await forgetClient(context, issuer, client.clientId);
        context.observe({ type: "connection_failed", user, upstream, reason: "refresh_refused" });
        return undefined;
      }
    },
    // The user disconnected it, or was removed, while it was refreshed.
    discard: (tokens, { value }) => revokeTokens(context, value, tokens),
  };
}

/** The operator may have changed the secret since, or have the same id at another authorization server now. */
function currentClient(
  client: RegisteredClient,
  { issuer }: Pick<UpstreamConnection, "issuer">,
  { clientId, issuer: configured, ...more }: OAuthAuth,
): RegisteredClient {
  return clientId === client.clientId && issuer === configured
    ? toRegisteredClient({ clientId, ...more })
    : client;
}

/**
 * Revokes tokens at their authorization server (RFC 7009), if it has an endpoint for that.
 * @throws {Error} when it refuses or cannot be asked
 */
export async function revokeTokens(
  context: CredentialsContext,
  { issuer, isPrivate }: Pick<UpstreamConnection, "issuer" | "isPrivate">,
  { access_token, refresh_token, client }: SealedTokens,
): Promise<void> {
  if (issuer === undefined) return;
  const { fetch } = networkOf(context, isPrivate);
  const { revocation_endpoint } = await findIssuerMetadata(networkOf(context, isPrivate), issuer);
  if (revocation_endpoint === undefined) return;
  if (refresh_token !== undefined) {
    await revokeToken(fetch, revocation_endpoint, client, refresh_token, "refresh_token");
  }
  await revokeToken(fetch, revocation_endpoint, client, access_token, "access_token");
}
