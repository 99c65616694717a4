/**
 * Access to an upstream by the token of an identity provider that was kept at sign-in, which only the configured hosts
 * receive.
 *
 * @module
 */
import { getProviderToken } from "../../oauth/sign_in/provider_tokens.ts";
import { AccessDenied, type UpstreamAccess } from "./access.ts";
import { type CredentialsContext, partitionByUser, requireUser, type Upstream } from "./context.ts";
import { toConnectionRequired, toUnavailable } from "./oauth_access.ts";
import type { ProviderTokenAuth } from "./upstream_auth.ts";

export function createProviderAccess(
  context: CredentialsContext,
  upstream: Upstream<ProviderTokenAuth>,
): UpstreamAccess {
  const { provider, hosts } = upstream.auth;
  const isAllowed = hosts.includes(new URL(upstream.url).host);

  async function findField(user: string): Promise<string | undefined> {
    if (!isAllowed) {
      throw new AccessDenied(upstream.name, `The host of "${upstream.name}" is not in "hosts" of its "auth"`);
    }
    try {
      const token = await getProviderToken(context.oauth!.providerAccess, user, provider);
      return token && `Bearer ${token.access_token}`;
    } catch (error) {
      throw toUnavailable(upstream, error);
    }
  }

  return {
    partition: partitionByUser,
    async headers(caller) {
      const user = requireUser(upstream, caller);
      const field = await findField(user);
      if (field === undefined) throw await toConnectionRequired(context, upstream, user);
      return { ...upstream.headers, Authorization: field };
    },
    async refused(caller, { status, used }) {
      const user = requireUser(upstream, caller);
      const field = await findField(user);
      if (field !== undefined && field !== used["Authorization"]) return true;
      // The user has to sign in at the provider again, perhaps with more scopes.
      if (status === 401) throw await toConnectionRequired(context, upstream, user);
      return false;
    },
  };
}
