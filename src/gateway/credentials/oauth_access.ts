/**
 * Access to an upstream by OAuth for each user (MCP authorization).
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { connectionKey, type UpstreamConnection } from "../../oauth/connection_records.ts";
import { getRenewed } from "../../oauth/renewal.ts";
import { compareAndSet, type Entry, StoreUnavailableError } from "../../store/store.ts";
import { type AccessRefusal, AccessUnavailable, ConnectionRequired, type UpstreamAccess } from "./access.ts";
import { type Challenge, parseChallenge, parseScopes } from "./challenge.ts";
import { ConnectError, isOutsideError } from "./connect_error.ts";
import { findConnection } from "./connection.ts";
import {
  CONNECTIONS_PATH,
  type CredentialsContext,
  partitionByUser,
  requireUser,
  tagOf,
  type Upstream,
} from "./context.ts";
import { renewalOf, type SealedTokens } from "./oauth_tokens.ts";
import type { OAuthAuth } from "./upstream_auth.ts";

/** A token that the upstream refuses this soon after it was issued is not refreshed again. */
const FRESH_MS = 30_000;

/** The error that sends a user to the page where the upstream is connected. */
export async function toConnectionRequired(
  { place, links }: CredentialsContext,
  { name, url }: Upstream,
  user: string,
  { scopes, resource_metadata: metadata }: Partial<Challenge> = {},
): Promise<ConnectionRequired> {
  const link = await links.create({
    user,
    upstream: name,
    address: tagOf(url),
    ...(scopes && { scopes }),
    ...(metadata !== undefined && { metadata }),
  });
  return new ConnectionRequired(name, `${place}${CONNECTIONS_PATH}/connect?link=${link}`);
}

export function createOAuthAccess(
  context: CredentialsContext,
  upstream: Upstream<OAuthAuth>,
): UpstreamAccess {
  const { store } = context;
  const required = (user: string, challenge?: Challenge) =>
    toConnectionRequired(context, upstream, user, challenge);

  /** The current tokens, refreshed if they are stale; `undefined` when the user must connect. */
  async function findTokens(user: string, signal?: AbortSignal): Promise<SealedTokens | undefined> {
    const entry = await findConnection(context, upstream, user);
    if (!entry) return undefined;
    const { stale } = entry.value;
    if (stale === undefined || context.now() < stale) return await context.records.open<SealedTokens>(entry);
    try {
      return await getRenewed(
        context,
        connectionKey(user, upstream.name),
        renewalOf(context, upstream, user),
        signal,
      );
    } catch (error) {
      throw toUnavailable(upstream, error);
    }
  }

  /** What to do after a 401 with the token that is current. */
  async function renew(
    entry: Entry<UpstreamConnection>,
    user: string,
    challenge: Challenge,
    signal: AbortSignal | undefined,
  ): Promise<true> {
    const { key, version, value } = entry;
    // Issued later than now: by a clock that was ahead and is corrected.
    const isFresh = Math.abs(context.now() - (value.issued ?? 0)) < FRESH_MS;
    if (!value.hasRefreshToken || isFresh) throw await required(user, challenge);
    // After a lost race the record has changed, and with it perhaps the token.
    await compareAndSet(store, key, version, { ...value, stale: 0 });
    if (!await findTokens(user, signal)) throw await required(user, challenge);
    return true;
  }

  return {
    partition: partitionByUser,
    async headers(caller: Principal | undefined, signal?: AbortSignal) {
      const user = requireUser(upstream, caller);
      const tokens = await findTokens(user, signal);
      if (!tokens) throw await required(user);
      return { ...upstream.headers, Authorization: toField(tokens) };
    },
    async refused(caller, { status, challenge: field, used }: AccessRefusal, signal) {
      const user = requireUser(upstream, caller);
      const challenge = parseChallenge(field);
      const entry = await findConnection(context, upstream, user);
      const tokens = entry && await context.records.open<SealedTokens>(entry);
      if (!entry || !tokens) throw await required(user, challenge);
      // Another call has refreshed it, or the user has connected again, meanwhile.
      if (toField(tokens) !== used["Authorization"]) return true;
      if (status === 401) return await renew(entry, user, challenge, signal);
      if (challenge.error !== "insufficient_scope") return false;
      const granted = parseScopes(entry.value.scope);
      // With all scopes already, connecting again would not help.
      if (challenge.scopes.every((scope) => granted.includes(scope))) return false;
      throw await required(user, challenge);
    },
  };
}

function toField({ access_token }: SealedTokens): string {
  return `Bearer ${access_token}`;
}

/** An error of the authorization server or the network, as the caller of a tool may see it. */
export function toUnavailable({ name }: Upstream, error: unknown): unknown {
  if (
    !isOutsideError(error) && !(error instanceof ConnectError) && !(error instanceof StoreUnavailableError)
  ) {
    return error;
  }
  return new AccessUnavailable(
    name,
    `The authorization server of "${name}" cannot be reached now. Try again later`,
    { cause: error },
  );
}
