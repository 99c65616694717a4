/**
 * How much unauthenticated callers can have this server store: callers without credentials, public clients, and clients
 * that registered themselves. Each kind of record has a limit for each network, one for all networks, and one for all
 * callers whose network is unknown. Records of confidential clients that the operator registered are not counted.
 *
 * @module
 */
import { type Allowance, createAllowance } from "../http/network/allowance.ts";
import { networkOf } from "../http/network/network.ts";
import type { RequestContext } from "../http/service.ts";
import { OAuthError } from "./error.ts";
import type { Client } from "./records/client_record.ts";

/** Limits of one kind of record, in bytes of JSON. */
export interface StorageLimit {
  /** Of one record. */
  readonly record: number;
  readonly perNetwork: number;
  readonly overall: number;
  /** For all callers together whose network is unknown. */
  readonly unknown: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** What a record takes beside its value: its key, its expiry, the overhead of the storage engine. */
export const RECORD_OVERHEAD_BYTES = 256;
/** Seconds that a client which registered itself is kept until a user allows it something. */
export const UNUSED_REGISTRATION_LIFETIME = 86_400;
/** Seconds that a sign-up waits for its address to be verified. */
export const PENDING_SIGN_UP_LIFETIME = 3600;
/** Seconds that a `jti` is kept. */
const PROOF_LIFETIME = 420;

export const STORAGE_LIMITS: Readonly<Record<StorageKind, StorageLimit>> = {
  /** RFC 9126, and request objects (RFC 9101) that wait for a login; for their lifetime. */
  pushed_request: { record: 8 * KIB, perNetwork: MIB, overall: 16 * MIB, unknown: 8 * MIB },
  /** RFC 7591; for a day, unless a user allows the client something. */
  registration: { record: 8 * KIB, perNetwork: 4 * MIB, overall: 64 * MIB, unknown: 16 * MIB },
  /** RFC 8628; for their lifetime and ten minutes. */
  device_code: { record: 4 * KIB, perNetwork: MIB, overall: 16 * MIB, unknown: 8 * MIB },
  /** The `jti` of proofs and assertions (RFC 9449, RFC 7523); for seven minutes. */
  proof: { record: RECORD_OVERHEAD_BYTES, perNetwork: MIB, overall: 32 * MIB, unknown: 16 * MIB },
  /** Mails: for each an amount of 512 bytes, for an hour. 32 from one network, 8192 from all, 1024 from unknown ones. */
  mail: { record: RECORD_OVERHEAD_BYTES, perNetwork: 16 * KIB, overall: 4 * MIB, unknown: 512 * KIB },
  /** Accounts that wait for their address to be verified; for their lifetime. */
  sign_up: { record: 4 * KIB, perNetwork: 32 * KIB, overall: 16 * MIB, unknown: 2 * MIB },
};

export type StorageKind =
  | "pushed_request"
  | "registration"
  | "device_code"
  | "proof"
  | "mail"
  | "sign_up";

export interface StorageQuota {
  /**
   * Counts a record of `bytes` of JSON.
   * @param client the client that has it stored; undefined for a caller without one
   * @throws {OAuthError} temporarily_unavailable, with Retry-After: 429, or 503 where the network is unknown
   */
  reserve(kind: StorageKind, bytes: number, client: Client | undefined, context: RequestContext): void;
}

export function createStorageQuota(
  { pushedRequestLifetime, deviceCodeLifetime, now }: {
    readonly pushedRequestLifetime: number;
    readonly deviceCodeLifetime: number;
    readonly now: () => number;
  },
): StorageQuota {
  const lifetimes: Readonly<Record<StorageKind, number>> = {
    pushed_request: pushedRequestLifetime,
    registration: UNUSED_REGISTRATION_LIFETIME,
    device_code: deviceCodeLifetime + 600,
    proof: PROOF_LIFETIME,
    mail: 3600,
    sign_up: PENDING_SIGN_UP_LIFETIME,
  };
  const allowances = new Map<StorageKind, Allowance>();
  for (const [kind, limits] of Object.entries(STORAGE_LIMITS) as [StorageKind, StorageLimit][]) {
    allowances.set(kind, createAllowance({ ...limits, windowMs: lifetimes[kind] * 1000, now }));
  }
  return {
    reserve(kind, bytes, client, context) {
      if (client && !isUnauthenticated(client)) return;
      const network = networkOf(context);
      const wait = allowances.get(kind)!.take(network, bytes + RECORD_OVERHEAD_BYTES);
      if (wait === 0) return;
      throw new OAuthError(
        "temporarily_unavailable",
        "Storage limit for unauthenticated clients reached. Try again later",
        {
          status: network === undefined ? 503 : 429,
          fields: [["retry-after", String(wait)]],
        },
      );
    },
  };
}

/** Whether anyone can act as this client or get one like it: a public client, or one that was not registered by the operator. */
function isUnauthenticated({ source, token_endpoint_auth_method }: Client): boolean {
  return source !== "operator" || token_endpoint_auth_method === "none";
}
