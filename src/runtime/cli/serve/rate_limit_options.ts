/**
 * The option `--rate-limit` of `trivet serve`.
 *
 * @module
 */
import { type LimitName, parseLimit } from "../../../rate_limits/limit.ts";
import { type RateLimits, rateLimits } from "../../../rate_limits/rate_limits.ts";
import type { ValuesOf } from "../options.ts";
import { UsageError } from "../output.ts";

export const RATE_LIMIT_OPTIONS = {
  "rate-limit": {
    value: "LIMIT",
    isRepeatable: true,
    summary: `requests that each address, client or user can make, in total or to one service: address=600/1m,
      client=6000/1m, mcp.user=20/1s`,
    shownDefault: "no limits",
    /** The name and the text of a limit. */
    parse(text: string): readonly [name: LimitName, limit: string] | undefined {
      const [name = "", limit = ""] = text.split("=", 2);
      return parseLimit(name, limit) && text === `${name}=${limit}` ? [name as LimitName, limit] : undefined;
    },
    expected:
      "address, client or user, alone or after oauth., skills. or mcp., with requests in at most a day, such as address=600/1m",
  },
} as const;

/** The limits; `undefined` when none is named. @throws {UsageError} for a limit that is named twice */
export function readRateLimits(
  { "rate-limit": limits }: ValuesOf<typeof RATE_LIMIT_OPTIONS>,
): RateLimits | undefined {
  const twice = limits?.find(([name], at) => limits.findIndex((other) => other[0] === name) < at);
  if (twice) throw new UsageError(`--rate-limit ${twice[0]} is given twice`);
  return limits && rateLimits(Object.fromEntries(limits));
}

/** Whether a limit counts the requests of an address. */
export function limitsAddresses({ "rate-limit": limits }: ValuesOf<typeof RATE_LIMIT_OPTIONS>): boolean {
  return limits?.some(([name, limit]) => parseLimit(name, limit)?.scope === "address") ?? false;
}
