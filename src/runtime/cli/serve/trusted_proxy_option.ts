/**
 * The options of `trivet serve` that name the proxies in front of it.
 *
 * @module
 */
import { createCallerFinder, type TrustedProxies } from "../../../http/network/trusted_proxy.ts";
import { listOption, UsageError, type Values, wordOption } from "../output.ts";

export const PROXY_HELP: string =
  `  --trusted-proxy A   address or block (10.0.0.0/8) of a proxy in front, whose X-Forwarded-For (or else Forwarded)
                      names the caller; may come several times (default: none, such fields are not read)
  --trusted-proxy-field F
                      the field that the proxy writes: x-forwarded-for or forwarded; the other is not read`;

export const PROXY_OPTION = {
  "trusted-proxy": { type: "string", multiple: true },
  "trusted-proxy-field": { type: "string" },
} as const;

/** The trusted proxies; `undefined` when none is named. @throws {UsageError} */
export function readProxies(values: Values): TrustedProxies | undefined {
  const addresses = listOption(values, "trusted-proxy");
  const field = wordOption(values, "trusted-proxy-field", ["x-forwarded-for", "forwarded"]);
  if (addresses === undefined) {
    if (field !== undefined) throw new UsageError("--trusted-proxy-field needs --trusted-proxy");
    return undefined;
  }
  const proxies = { addresses, ...(field && { field }) };
  try {
    createCallerFinder(proxies);
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/^.*"trustedProxies"/, "--trusted-proxy"));
  }
  return proxies;
}
