/**
 * Limits of a client, and their defaults.
 *
 * @module
 */
import { checkNames } from "../options/option_check.ts";

/** A JSON object: parameters or a result. */
export type JsonObject = Record<string, unknown>;

/** Limits. A server that exceeds one gets a `ConnectionError`. */
export interface ClientLimits {
  /** Bytes of a message. @default 4194304 */
  readonly messageBytes?: number;
  /** Entries of a list, in all pages. @default 10000 */
  readonly listEntries?: number;
  /** Bytes of a list, in all pages. @default 33554432 */
  readonly listBytes?: number;
  /** How long a request may wait without any message, in milliseconds. @default 60000 */
  readonly timeout?: number;
  /** How long a request may take, with messages, in milliseconds. @default 3600000 */
  readonly duration?: number;
}

const DEFAULT_LIMITS: Required<ClientLimits> = {
  messageBytes: 4 * 1024 * 1024,
  listEntries: 10_000,
  listBytes: 32 * 1024 * 1024,
  timeout: 60_000,
  duration: 3_600_000,
};

/**
 * The limits with defaults for those that are missing.
 * @throws {RangeError} for one that is not positive
 * @throws {TypeError} for one that does not exist
 */
export function completeLimits(limits: ClientLimits = {}): Required<ClientLimits> {
  checkNames("limits", limits, DEFAULT_LIMITS);
  const given = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  for (const [name, limit] of given) {
    if (!(limit > 0)) throw new RangeError(`limits.${name} must be positive`);
  }
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(given) };
}
