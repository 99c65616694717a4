/**
 * Access by a secret that each user enters.
 *
 * @module
 */
import { connectionKey, type UpstreamConnection } from "../../oauth/connection_records.ts";
import type { UpstreamAccess } from "./access.ts";
import { authorizationField } from "./check_auth.ts";
import { findConnection, saveConnection } from "./connection.ts";
import { type CredentialsContext, partitionByUser, requireUser, type Upstream } from "./context.ts";
import { toConnectionRequired } from "./oauth_access.ts";
import type { SecretAuth } from "./upstream_auth.ts";

/** What is sealed in a connection of the kind `secret`. */
interface SealedSecret {
  readonly secret: string;
}

/** The secret of each user, in the header field of the template. */
export function createSecretAccess(
  context: CredentialsContext,
  upstream: Upstream<SecretAuth>,
): UpstreamAccess {
  const field = authorizationField(upstream.auth)!;
  const { template = "Bearer {secret}" } = upstream.auth;

  async function findValue(user: string): Promise<string | undefined> {
    const entry = await findConnection(context, upstream, user);
    const sealed = entry && await context.records.open<SealedSecret>(entry);
    // A function, because "$" has a meaning in a replacement text.
    return sealed && template.replace("{secret}", () => sealed.secret);
  }

  return {
    partition: partitionByUser,
    async headers(caller) {
      const user = requireUser(upstream, caller);
      const value = await findValue(user);
      if (value === undefined) throw await toConnectionRequired(context, upstream, user);
      return { ...upstream.headers, [field]: value };
    },
    async refused(caller, { status, used }) {
      const user = requireUser(upstream, caller);
      const value = await findValue(user);
      if (value !== undefined && value !== used[field]) return true;
      if (status === 401) throw await toConnectionRequired(context, upstream, user);
      return false;
    },
  };
}

/** Whether a text can be sent in a header field. */
export function isSecret(text: string): boolean {
  return /^[\x20-\x7e]{1,4096}$/.test(text);
}

/** Keeps the secret that a user entered, in place of an earlier one. */
export async function saveSecret(
  context: CredentialsContext,
  upstream: Upstream<SecretAuth>,
  user: string,
  secret: string,
): Promise<void> {
  const { url } = upstream;
  const sealed: SealedSecret = { secret };
  const value: UpstreamConnection = {
    kind: "secret",
    url,
    sealed: await context.records.seal(connectionKey(user, upstream.name), url, sealed),
    connected: context.now(),
    hasRefreshToken: false,
  };
  await saveConnection(context, upstream, user, value);
}
