/**
 * Limits as an operator writes them: `address=600/1m` allows 600 requests a minute from each address.
 *
 * @module
 */

/** Whom a limit counts: each address, each client, or each user by themselves. */
export const LIMIT_SCOPES = ["address", "client", "user"] as const;
/** Services that can have limits of their own, beside those of the server. */
export const LIMITED_SERVICES = ["oauth", "skills", "mcp"] as const;

export type LimitScope = typeof LIMIT_SCOPES[number];
export type LimitedService = typeof LIMITED_SERVICES[number];
/** `address`, `client` and `user` for the whole server; `mcp.user` for one service, beside that. */
export type LimitName = LimitScope | `${LimitedService}.${LimitScope}`;

/** A limit: so many requests of one caller within the window. */
export interface Limit {
  readonly name: LimitName;
  readonly scope: LimitScope;
  /** The only service whose requests count. */
  readonly service: LimitedService | undefined;
  readonly requests: number;
  readonly seconds: number;
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const MAX_SECONDS = 86_400;

/**
 * The limit.
 * @param text requests and window: `600/1m`, with the units `s`, `m`, `h` and `d`
 * @returns `undefined` unless it is a known name with 1 to 999,999,999 requests in 1 second to 1 day
 */
export function parseLimit(name: string, text: string): Limit | undefined {
  const [, service, scope] = /^(?:([a-z]+)\.)?([a-z]+)$/.exec(name) ?? [];
  const [, requests, count, unit] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})?([smhd])$/.exec(text) ?? [];
  if (scope === undefined || requests === undefined) return undefined;
  const isKnown = (LIMIT_SCOPES as readonly string[]).includes(scope) &&
    (service === undefined || (LIMITED_SERVICES as readonly string[]).includes(service));
  const seconds = Number(count ?? 1) * SECONDS[unit!]!;
  if (!isKnown || seconds > MAX_SECONDS) return undefined;
  return {
    name: name as LimitName,
    scope: scope as LimitScope,
    service: service as LimitedService | undefined,
    requests: Number(requests),
    seconds,
  };
}
