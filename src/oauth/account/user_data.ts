/**
 * The copy of their data that a user can ask for.
 *
 * @module
 */
import { approvalMemoriesPrefix, type ApprovalMemory } from "../approvals/approval.ts";
import { type UpstreamConnection, userConnectionsPrefix } from "../connection_records.ts";
import { type UserFactors, userFactorsKey } from "../factors/factor_record.ts";
import { listAll, type Store, timeOf } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type Profile, profileKey, type User, userKey } from "../records/user_record.ts";
import { listUserIdentities } from "../sign_in/user_identity.ts";
import { listUserSessions } from "../users/user_sessions.ts";
import { listUserApplications } from "./user_application.ts";

/** What is stored about a user, without passwords, keys and secrets. Times are in ISO 8601. */
export interface UserData {
  readonly issuer: string;
  readonly exported: string;
  readonly profile: {
    readonly id: string;
    readonly username?: string;
    readonly name: string;
    readonly email: string;
    readonly email_verified?: string;
    readonly role?: string;
    readonly created?: string;
    readonly password_changed?: string;
  };
  readonly sessions: readonly {
    readonly created: string;
    readonly last_used: string;
    readonly address?: string;
    readonly user_agent?: string;
    readonly acr: string;
    readonly amr?: readonly string[];
  }[];
  readonly applications: readonly {
    readonly client_id: string;
    readonly name: string;
    readonly scope: string;
    readonly resources: readonly string[];
    readonly since: string;
    readonly last_used?: string;
  }[];
  readonly linked_providers: readonly {
    readonly provider: string;
    readonly issuer: string;
    readonly subject: string;
    readonly label: string;
    readonly linked: string;
  }[];
  /** Upstreams of the gateway that the user connected. */
  readonly connections: readonly {
    readonly upstream: string;
    readonly url: string;
    readonly scope?: string;
    readonly connected: string;
  }[];
  /** Tool calls that the user allowed for some time. */
  readonly allowed_calls: readonly {
    readonly tool: string;
    readonly upstream?: string;
    readonly client?: string;
    /** Absent for any arguments. */
    readonly arguments?: readonly { readonly name: string; readonly value: string }[];
    readonly since: string;
  }[];
  readonly factors: {
    readonly authenticator_app?: { readonly created: string };
    readonly passkeys: readonly { readonly name: string; readonly created: string }[];
    readonly recovery_codes_left: number;
  };
}

/**
 * The data of a user.
 * @param id of the user
 * @param options.issuer of the server
 * @param options.configured clients that are not in the store, by id: their names
 * @returns `undefined` when there is no such user
 */
export async function exportUserData(
  store: Store,
  id: string,
  { issuer, configured = new Map() }: {
    readonly issuer: string;
    readonly configured?: AuthorizationServer["configured"];
  },
): Promise<UserData | undefined> {
  const own = (await store.get<User>(userKey(id)))?.value;
  const user = own ?? (await store.get<Profile>(profileKey(id)))?.value;
  if (!user) return undefined;
  const { username, name, email, email_verified, role } = user;
  const { totp, passkeys = [], recovery } = (await store.get<UserFactors>(userFactorsKey(id)))?.value ?? {};
  return {
    issuer,
    exported: toIso(timeOf(store)),
    profile: {
      id,
      ...(username !== undefined && { username }),
      name,
      email,
      ...(typeof email_verified === "number" && { email_verified: toIso(email_verified) }),
      ...(role !== undefined && { role }),
      ...(own && { created: toIso(own.created) }),
      ...(own?.password_changed !== undefined && { password_changed: toIso(own.password_changed) }),
    },
    sessions: (await listUserSessions(store, id)).map(({ created, seen, address, agent, acr, amr }) => ({
      created: toIso(created),
      last_used: toIso(seen),
      ...(address !== undefined && { address }),
      ...(agent !== undefined && { user_agent: agent }),
      acr,
      ...(amr && { amr }),
    })),
    applications: (await listUserApplications({ store, configured, issuer }, id)).map((each) => ({
      client_id: each.client,
      name: each.name,
      scope: each.scopes.join(" "),
      resources: each.resources,
      since: toIso(each.since),
      ...(each.used !== undefined && { last_used: toIso(each.used) }),
    })),
    linked_providers: (await listUserIdentities(store, id)).map(({ linked, ...identity }) => ({
      provider: identity.provider,
      issuer: identity.issuer,
      subject: identity.subject,
      label: identity.label,
      linked: toIso(linked),
    })),
    connections: await listConnections(store, id),
    allowed_calls: await Array.fromAsync(
      listAll<ApprovalMemory>(store, approvalMemoriesPrefix(id)),
      ({ value }) => ({ ...value, since: toIso(value.since) }),
    ),
    factors: {
      ...(totp && { authenticator_app: { created: toIso(totp.created) } }),
      passkeys: passkeys.map(({ name, created }) => ({ name, created: toIso(created) })),
      recovery_codes_left: recovery?.digests.length ?? 0,
    },
  };
}

async function listConnections(store: Store, id: string): Promise<UserData["connections"]> {
  const found = [];
  for await (const { key, value } of listAll<UpstreamConnection>(store, userConnectionsPrefix(id))) {
    const { url, scope, connected } = value;
    const upstream = String(key[2]);
    found.push({ upstream, url, ...(scope !== undefined && { scope }), connected: toIso(connected) });
  }
  return found;
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
