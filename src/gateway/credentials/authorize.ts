/**
 * Connects a user to an upstream by the authorization code grant with PKCE: sends the browser to the authorization server,
 * and redeems the answer in the same session.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { randomSecret, secretDigest } from "../../crypto/secret.ts";
import { sha256 } from "../../crypto/sha256.ts";
import { type PublicFetch, PublicFetchError } from "../../http/network/public_fetch.ts";
import {
  attemptKey,
  connectionKey,
  type UpstreamAttempt,
  userAttemptsPrefix,
} from "../../oauth/connection_records.ts";
import { type ProviderTokens, SignInError, TokenRefusedError } from "../../oauth/sign_in/provider.ts";
import { retryWhileUnavailable } from "../../store/retry.ts";
import type { Entry } from "../../store/store.ts";
import { parseScopes } from "./challenge.ts";
import { findClient, forgetClient, type RegisteredClient } from "./client_registration.ts";
import { ConnectError } from "./connect_error.ts";
import { findConnection, saveConnection } from "./connection.ts";
import { type CredentialsContext, networkOf, type Upstream } from "./context.ts";
import { findIssuerMetadata, type IssuerMetadata } from "./issuer_metadata.ts";
import { requestSendable, revokeTokens, toConnection } from "./oauth_tokens.ts";
import { askForChallenge, findResourceMetadata } from "./resource_metadata.ts";
import type { OAuthAuth } from "./upstream_auth.ts";

/** How long the user has at the authorization server. */
const LIFETIME_MS = 10 * 60_000;
/** Connections that one user can have begun. */
const MAX_ATTEMPTS = 20;

/** What is sealed in an attempt. */
interface SealedAttempt {
  readonly code_verifier: string;
  readonly client: RegisteredClient;
}

/** Who connects: the user and the session, and what an upstream asked for. */
export interface Connecting {
  readonly user: string;
  /** The digest of the session. */
  readonly session: string;
  readonly scopes?: readonly string[] | undefined;
  /** The metadata of the resource, as the challenge named it. */
  readonly metadata?: string | undefined;
}

/**
 * The URL of the authorization server to which the browser is sent.
 * @throws {ConnectError | PublicFetchError} when the upstream or its authorization server does not allow it
 */
export async function beginConnection(
  context: CredentialsContext,
  upstream: Upstream<OAuthAuth>,
  { user, session, scopes: needed = [], metadata: named }: Connecting,
): Promise<string> {
  const { auth, url } = upstream;
  const network = networkOf(context, upstream.isPrivate);
  const challenge = await askForChallenge(network, url);
  const resourceMetadata = await findResourceMetadata(network, url, named ?? challenge?.resource_metadata);
  const issuer = chooseIssuer(context, auth, resourceMetadata.authorization_servers);
  const metadata = await findIssuerMetadata(network, issuer);
  if (metadata.authorization_endpoint === undefined) {
    throw new ConnectError("metadata_invalid", "The authorization server has no authorization_endpoint");
  }
  // MCP authorization: without the member there is no way to know that the verifier is checked.
  if (!metadata.code_challenge_methods_supported.includes("S256")) {
    throw new ConnectError("no_pkce", "The authorization server does not support PKCE with S256");
  }
  const { client, redirect_uri } = await findClient(context, network, metadata, upstream);
  const before = await findConnection(context, upstream, user);
  const scope = [
    ...new Set([
      ...auth.scopes ?? firstOf(challenge?.scopes, parseScopes(resourceMetadata.scopes_supported.join(" "))),
      ...before?.value.issuer === issuer ? parseScopes(before.value.scope) : [],
      ...needed,
      // Without it some servers give no refresh token.
      ...auth.scopes === undefined && metadata.scopes_supported.includes("offline_access")
        ? ["offline_access"]
        : [],
    ]),
  ].join(" ");
  const state = randomSecret("");
  const code_verifier = randomSecret("");
  const { resource } = resourceMetadata;
  await keepAttempt(context, upstream, user, state, { session, issuer, resource, redirect_uri, scope }, {
    code_verifier,
    client,
  });
  const location = new URL(metadata.authorization_endpoint);
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri,
    state,
    code_challenge: encodeBase64url(sha256(code_verifier)),
    code_challenge_method: "S256",
    resource,
    ...(scope !== "" && { scope }),
  };
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
  return location.href;
}

function firstOf(
  scopes: readonly string[] | undefined,
  others: readonly string[],
): readonly string[] {
  return scopes && scopes.length > 0 ? scopes : others;
}

/** The authorization server to use. @throws {ConnectError} when the upstream names none that may be used */
function chooseIssuer(
  context: CredentialsContext,
  auth: OAuthAuth,
  named: readonly string[],
): string {
  const issuer = auth.issuer === undefined ? named[0]! : named.find((each) => each === auth.issuer);
  if (issuer === undefined) {
    throw new ConnectError(
      "issuer_not_allowed",
      "The upstream does not name the authorization server of its configuration",
    );
  }
  // Else a token of this server would be sent to an upstream.
  if (issuer.replace(/\/$/, "") === context.issuer.replace(/\/$/, "")) {
    throw new ConnectError("own_issuer", "The upstream names this server as its authorization server");
  }
  return issuer;
}

async function keepAttempt(
  { store, now, records }: CredentialsContext,
  { name, url }: Upstream,
  user: string,
  state: string,
  { scope, ...more }: Omit<UpstreamAttempt, "upstream" | "url" | "sealed">,
  secrets: SealedAttempt,
): Promise<void> {
  const key = attemptKey(user, secretDigest(state));
  const others = await store.list(userAttemptsPrefix(user), { limit: MAX_ATTEMPTS });
  const value: UpstreamAttempt = {
    ...more,
    upstream: name,
    url,
    sealed: await records.seal(key, url, secrets),
    ...(scope !== undefined && scope !== "" && { scope }),
  };
  await store.commit({
    set: [{ key, value, expires: now() + LIFETIME_MS }],
    remove: others.length < MAX_ATTEMPTS ? [] : others.map((each) => each.key),
  });
}

/** An attempt of this user in this session. It cannot be used again. */
export interface Answered {
  readonly entry: Entry<UpstreamAttempt>;
  readonly secrets: SealedAttempt;
}

/**
 * The attempt that an answer belongs to, taken from the store: of two answers with one state only the first finds it.
 * @param redirect_uri where the answer came
 * @throws {ConnectError} state_invalid when this user did not begin it in this session
 */
export async function takeAttempt(
  { store, records }: CredentialsContext,
  { user, session }: Pick<Connecting, "user" | "session">,
  state: string | undefined,
  redirect_uri: string,
): Promise<Answered> {
  const entry = state === undefined
    ? undefined
    : await store.get<UpstreamAttempt>(attemptKey(user, secretDigest(state)));
  const isTaken = entry && entry.value.session === session && entry.value.redirect_uri === redirect_uri &&
    await store.commit({ check: [{ key: entry.key, version: entry.version }], remove: [entry.key] });
  const secrets = isTaken ? await records.open<SealedAttempt>(entry) : undefined;
  if (!secrets) {
    throw new ConnectError(
      "state_invalid",
      "The answer does not belong to a connection that this session began",
    );
  }
  return { entry: entry!, secrets };
}

/**
 * Redeems the answer of the authorization server and keeps the tokens. Those that cannot be kept are revoked.
 * @param parameters those of the query, each once
 * @throws {ConnectError | PublicFetchError} when the answer must not be believed, or is a refusal
 */
export async function finishConnection(
  context: CredentialsContext,
  upstream: Upstream<OAuthAuth>,
  user: string,
  { entry: { value }, secrets: { code_verifier, client } }: Answered,
  parameters: ReadonlyMap<string, string>,
): Promise<void> {
  const { issuer, resource, redirect_uri, scope } = value;
  const network = networkOf(context, upstream.isPrivate);
  const metadata = await findIssuerMetadata(network, issuer);
  checkIss(metadata, parameters.get("iss"));
  const error = parameters.get("error");
  if (error !== undefined) {
    throw error === "access_denied"
      ? new ConnectError("access_denied", "Access was denied at the authorization server")
      : new ConnectError("authorization_failed", "The authorization server answered an error");
  }
  const code = parameters.get("code");
  if (code === undefined || code === "") {
    throw new ConnectError("authorization_failed", "The answer of the authorization server has no code");
  }
  const tokens = await redeem(context, network.fetch, metadata, client, {
    grant_type: "authorization_code",
    code,
    redirect_uri,
    code_verifier,
    resource,
  });
  const key = connectionKey(user, upstream.name);
  const origin = { issuer, resource, scope, client };
  try {
    // The code is consumed: the user could not send the answer again.
    await retryWhileUnavailable(async () => {
      const connection = await toConnection(context, key, upstream, origin, tokens, context.now());
      await saveConnection(context, upstream, user, connection);
    });
  } catch (failure) {
    const { access_token, refresh_token } = tokens;
    const unused = { access_token, client, ...(refresh_token !== undefined && { refresh_token }) };
    const at = { issuer, ...(upstream.isPrivate && { isPrivate: true as const }) };
    await revokeTokens(context, at, unused).catch(() =>
      context.observe({ type: "connection_failed", user, upstream: upstream.name, reason: "not_revoked" })
    );
    throw failure;
  }
}

/** RFC 9207 section 2.4: an answer of another authorization server is refused before its code is used (mix-up). */
function checkIss(
  { issuer, authorization_response_iss_parameter_supported: isPromised }: IssuerMetadata,
  iss: string | undefined,
): void {
  if (iss === undefined ? isPromised : iss !== issuer) {
    throw new ConnectError(
      "iss_mismatch",
      "The answer comes from another authorization server: iss is wrong",
    );
  }
}

async function redeem(
  context: CredentialsContext,
  fetch: PublicFetch,
  { issuer, token_endpoint }: IssuerMetadata,
  client: RegisteredClient,
  grant: Record<string, string>,
): Promise<ProviderTokens> {
  try {
    return await requestSendable(fetch, token_endpoint, client, grant);
  } catch (error) {
    if (error instanceof TokenRefusedError && error.code === "invalid_client" && client.isDynamic) {
      await forgetClient(context, issuer, client.clientId);
    }
    if (error instanceof PublicFetchError) {
      throw new ConnectError("unreachable", "The token endpoint could not be reached", { cause: error });
    }
    if (!(error instanceof SignInError)) throw error;
    throw new ConnectError("token_refused", "The token endpoint refused the code", { cause: error });
  }
}
