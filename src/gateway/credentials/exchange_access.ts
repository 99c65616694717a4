/**
 * Access to an upstream by a token that this server obtains for the user without asking: by token exchange
 * (https://www.rfc-editor.org/rfc/rfc8693), or with an identity assertion (ID-JAG) at the upstream's authorization server
 * (https://www.rfc-editor.org/rfc/rfc7523#section-2.1). The token is kept, and replaced once for all instances.
 *
 * @module
 */
import { toCanonicalJson } from "../../crypto/canonical_json.ts";
import { secretDigest } from "../../crypto/secret.ts";
import type { PublicFetch } from "../../http/network/public_fetch.ts";
import { connectionKey, endConnection, type UpstreamConnection } from "../../oauth/connection_records.ts";
import { findOwner } from "../../oauth/sign_in/account_record.ts";
import { SignInError } from "../../oauth/sign_in/provider.ts";
import { getProviderToken } from "../../oauth/sign_in/provider_tokens.ts";
import { getRenewed, type Renewal } from "../../oauth/renewal.ts";
import { fetchObject, toTokenRequest } from "../../oauth/sign_in/token_request.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { compareAndSet, type Entry } from "../../store/store.ts";
import { AccessDenied, type UpstreamAccess } from "./access.ts";
import { toRegisteredClient } from "./client_registration.ts";
import { isOf } from "./connection.ts";
import {
  type CredentialsContext,
  networkOf,
  partitionByUser,
  requireUser,
  type Upstream,
} from "./context.ts";
import { findIssuerMetadata } from "./issuer_metadata.ts";
import { toConnectionRequired, toUnavailable } from "./oauth_access.ts";
import { requestSendable, staleAt } from "./oauth_tokens.ts";
import type { IdJagAuth, TokenExchangeAuth } from "./upstream_auth.ts";

const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
/** The lifetime of a token whose response names none, in seconds. */
const DEFAULT_LIFETIME_SECONDS = 300;
/** A token that the upstream refuses this soon after it was issued is not replaced again. */
const FRESH_MS = 30_000;

interface SealedToken {
  readonly access_token: string;
}

/** The token that identifies the user; `undefined` when the user has to sign in at the provider first. */
type FindSubject = (user: string) => Promise<string | undefined>;

export function createExchangeAccess(
  context: CredentialsContext,
  upstream: Upstream<TokenExchangeAuth | IdJagAuth>,
): UpstreamAccess {
  const { store, now, records } = context;
  const { name, url, auth } = upstream;
  const findSubject = auth.type === "token-exchange"
    ? subjectOf(context, auth.subject.provider, auth.subject.token ?? "access_token")
    // Without a provider this server identifies its user itself.
    : auth.provider
    ? subjectOf(context, auth.provider.id, "id_token")
    : (user: string) => Promise.resolve<string | undefined>(user);

  function renewalOf(user: string, subject: string): Renewal<UpstreamConnection, SealedToken> {
    const key = connectionKey(user, name);
    return {
      isRenewable: () => true,
      read: (entry) => records.open<SealedToken>(entry),
      async renew({ value }) {
        const { access_token, expires_in = DEFAULT_LIFETIME_SECONDS } = auth.type === "token-exchange"
          ? await exchange(context, url, auth, subject)
          : await redeemAssertion(context, upstream, auth, user, subject);
        const token: SealedToken = { access_token };
        return {
          token,
          value: {
            ...emptyRecord(subject),
            sealed: await records.seal(key, url, token),
            connected: value.connected,
            issued: now(),
            stale: staleAt(now(), expires_in)!,
          },
        };
      },
      // It expires within minutes, and no one has it.
      discard: () => Promise.resolve(),
    };
  }

  /** Where a token comes from: the user's token, and what it is exchanged for by the configuration. */
  function sourceOf(subject: string): string {
    return secretDigest(toCanonicalJson([subject, toTarget(auth)]));
  }

  function emptyRecord(subject: string): UpstreamConnection {
    return {
      kind: "exchanged",
      url,
      sealed: "",
      connected: now(),
      hasRefreshToken: false,
      source: sourceOf(subject),
      stale: 0,
    };
  }

  /** The record for this source, made if needed: a token of another one, or of an earlier configuration, is not used. */
  async function prepare(user: string, subject: string): Promise<Entry<UpstreamConnection> | undefined> {
    const key = connectionKey(user, name);
    return await retryLostRaces(async () => {
      const entry = await store.get<UpstreamConnection>(key);
      if (entry && isOf(upstream, entry.value) && entry.value.source === sourceOf(subject)) return entry;
      if (entry?.value.kind === "oauth") {
        // The configuration of the upstream was another one.
        await endConnection(store, entry);
        return LOST_RACE;
      }
      const owner = await findOwner(store, user);
      if (!owner) throw new AccessDenied(name, "The user was removed");
      return await store.commit({
          check: [{ key: owner.key, version: owner.version }, { key, version: entry?.version ?? null }],
          set: [{ key, value: emptyRecord(subject) }],
        })
        ? undefined
        : LOST_RACE;
    });
  }

  async function findToken(user: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      const subject = await findSubject(user);
      if (subject === undefined) return undefined;
      const entry = await prepare(user, subject);
      const isCurrent = entry !== undefined && now() < (entry.value.stale ?? Infinity);
      const token = isCurrent
        ? await records.open<SealedToken>(entry)
        : await getRenewed(context, connectionKey(user, name), renewalOf(user, subject), signal);
      if (!token) throw new SignInError("The token was removed while it was requested");
      return token.access_token;
    } catch (error) {
      throw toUnavailable(upstream, error);
    }
  }

  return {
    partition: partitionByUser,
    async headers(caller, signal) {
      const user = requireUser(upstream, caller);
      const token = await findToken(user, signal);
      if (token === undefined) throw await toConnectionRequired(context, upstream, user);
      return { ...upstream.headers, Authorization: `Bearer ${token}` };
    },
    async refused(caller, { status, used }) {
      const user = requireUser(upstream, caller);
      const entry = await store.get<UpstreamConnection>(connectionKey(user, name));
      const token = entry && isOf(upstream, entry.value) ? await records.open<SealedToken>(entry) : undefined;
      if (!entry || !token || `Bearer ${token.access_token}` !== used["Authorization"]) return true;
      if (status !== 401 || Math.abs(now() - (entry.value.issued ?? 0)) < FRESH_MS) return false;
      await compareAndSet(store, entry.key, entry.version, { ...entry.value, stale: 0 });
      return true;
    },
  };
}

/** The configuration that determines what a token is for, without secrets, which may be rotated meanwhile. */
function toTarget(auth: TokenExchangeAuth | IdJagAuth): Readonly<Record<string, unknown>> {
  const { clientSecret: _secret, tokenEndpointAuthMethod: _method, ...target } = auth;
  if (target.type !== "id-jag" || !target.provider) return target;
  const { id, clientId, tokenEndpoint } = target.provider;
  return { ...target, provider: { id, clientId, tokenEndpoint } };
}

/** The token of the user at an identity provider, kept since sign-in. */
function subjectOf(
  { oauth }: CredentialsContext,
  provider: string,
  member: "access_token" | "id_token",
): FindSubject {
  return async (user) => (await getProviderToken(oauth!.providerAccess, user, provider))?.[member];
}

/** The token endpoints of the configuration may have private addresses. */
function configuredFetch({ oauth }: CredentialsContext): PublicFetch {
  return oauth!.providerAccess.providerFetch;
}

/** RFC 8693 section 2.1 */
function exchange(
  context: CredentialsContext,
  url: string,
  auth: TokenExchangeAuth,
  subject: string,
): ReturnType<typeof requestSendable> {
  const { tokenEndpoint, audience, scopes, resource = url } = auth;
  return requestSendable(configuredFetch(context), tokenEndpoint, toRegisteredClient(auth), {
    grant_type: EXCHANGE,
    subject_token: subject,
    subject_token_type: TOKEN_TYPE + (auth.subject.token ?? "access_token"),
    requested_token_type: `${TOKEN_TYPE}access_token`,
    resource,
    ...(audience !== undefined && { audience }),
    ...(scopes && { scope: scopes.join(" ") }),
  });
}

async function redeemAssertion(
  context: CredentialsContext,
  { url, isPrivate }: Upstream,
  auth: IdJagAuth,
  user: string,
  subject: string,
): ReturnType<typeof requestSendable> {
  const { issuer, clientId, resource = url, scopes } = auth;
  const network = networkOf(context, isPrivate);
  const { token_endpoint } = await findIssuerMetadata(network, issuer);
  const scope = scopes && { scope: scopes.join(" ") };
  const assertion = auth.provider
    ? await requestAssertion(context, auth.provider, { audience: issuer, resource, ...scope }, subject)
    : await context.oauth!.issueIdentityAssertion(user, {
      audience: issuer,
      client_id: clientId,
      resource,
      ...scope,
    });
  return await requestSendable(network.fetch, token_endpoint, toRegisteredClient(auth), {
    grant_type: JWT_BEARER,
    assertion,
    resource,
    ...scope,
  });
}

/** An identity assertion of the provider for the ID token of the user (draft-ietf-oauth-identity-assertion-authz-grant, section 4.3). */
async function requestAssertion(
  context: CredentialsContext,
  provider: NonNullable<IdJagAuth["provider"]>,
  target: Record<string, string>,
  subject: string,
): Promise<string> {
  const request = await toTokenRequest(toRegisteredClient(provider), {
    grant_type: EXCHANGE,
    subject_token: subject,
    subject_token_type: `${TOKEN_TYPE}id_token`,
    requested_token_type: `${TOKEN_TYPE}id-jag`,
    ...target,
  });
  const response = await fetchObject(configuredFetch(context), provider.tokenEndpoint, request);
  const { access_token, issued_token_type } = response;
  if (typeof access_token !== "string" || issued_token_type !== `${TOKEN_TYPE}id-jag`) {
    throw new SignInError("The provider returned no identity assertion");
  }
  return access_token;
}
