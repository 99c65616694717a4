/**
 * How much strangers can have this server store: callers without credentials, public clients, whose name is all that they
 * show, and clients that registered themselves. For each kind of record a limit for each network, one for all of them,
 * and one for all callers whose network is unknown. What a client of the operator's stores counts nowhere.
 *
 * @module
 */
import { type Allowance, createAllowance } from "../http/network/allowance.ts";
import { networkOf } from "../http/network/network.ts";
import type { RequestContext } from "../http/service.ts";
import { OAuthError } from "./error.ts";
import type { Client } from "./records.ts";

/** A record may take so much, and its kind so much at any one time. */
export interface StorageLimit {
  /** Of one record, in bytes of JSON. */
  readonly record: number;
  readonly perNetwork: number;
  readonly overall: number;
  /** For all callers together whose network is unknown. */
  readonly unknown: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** What a record costs beside its value: its key, its expiry, the engine's own. */
export const RECORD_OVERHEAD_BYTES = 256;
/** Seconds that a client which registered itself is kept until a user allows it something. */
export const UNUSED_REGISTRATION_LIFETIME = 86_400;
/** Seconds that a `jti` is kept. */
const PROOF_LIFETIME = 420;

export const STORAGE_LIMITS: Readonly<Record<RoomKind, StorageLimit>> = {
  /** RFC 9126; for their lifetime. */
  pushed_request: { record: 8 * KIB, perNetwork: MIB, overall: 16 * MIB, unknown: 8 * MIB },
  /** RFC 7591; for a day, unless a user allows the client something. */
  registration: { record: 8 * KIB, perNetwork: 4 * MIB, overall: 64 * MIB, unknown: 16 * MIB },
  /** RFC 8628; for their lifetime and ten minutes. */
  device_code: { record: 4 * KIB, perNetwork: MIB, overall: 16 * MIB, unknown: 8 * MIB },
  /** The `jti` of proofs and assertions (RFC 9449, RFC 7523); for seven minutes. */
  proof: { record: RECORD_OVERHEAD_BYTES, perNetwork: MIB, overall: 32 * MIB, unknown: 16 * MIB },
};

export type RoomKind = "pushed_request" | "registration" | "device_code" | "proof";

export interface Room {
  /**
   * Sets room aside for a record of `bytes` of JSON.
   * @param client whose it is; undefined for a caller without one
   * @throws {OAuthError} temporarily_unavailable, with Retry-After: 429, or 503 where the network is unknown
   */
  take(kind: RoomKind, bytes: number, client: Client | undefined, context: RequestContext): void;
}

export function createRoom(
  { pushedRequestLifetime, deviceCodeLifetime, now }: {
    readonly pushedRequestLifetime: number;
    readonly deviceCodeLifetime: number;
    readonly now: () => number;
  },
): Room {
  const lifetimes: Readonly<Record<RoomKind, number>> = {
    pushed_request: pushedRequestLifetime,
    registration: UNUSED_REGISTRATION_LIFETIME,
    device_code: deviceCodeLifetime + 600,
    proof: PROOF_LIFETIME,
  };
  const allowances = new Map<RoomKind, Allowance>();
  for (const [kind, limits] of Object.entries(STORAGE_LIMITS) as [RoomKind, StorageLimit][]) {
    allowances.set(kind, createAllowance({ ...limits, windowMs: lifetimes[kind] * 1000, now }));
  }
  return {
    take(kind, bytes, client, context) {
      if (client && !isStranger(client)) return;
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

/** Whether anybody can be this client: by its name alone, or by registering. */
function isStranger({ source, token_endpoint_auth_method }: Client): boolean {
  return source !== "operator" || token_endpoint_auth_method === "none";
}
