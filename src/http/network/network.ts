/**
 * The network that a caller is in: what limits count by, since one subscriber has one IPv4 address, or 64 bits of IPv6.
 *
 * @module
 */
import { addressBlock, isPrivateIp, parseIp } from "./ip_address.ts";
import type { RequestContext } from "../service.ts";

/**
 * The IPv4 address or the IPv6 /64 of the caller, in one spelling. `undefined` while the address is unknown, and for a
 * loopback or private one unless the operator named the trusted proxies: it may be that of a proxy in front of everybody,
 * and whoever counted by it would count all callers as one.
 */
export function networkOf({ ip, peer }: RequestContext): string | undefined {
  const bytes = ip === undefined ? undefined : parseIp(ip);
  if (!bytes || peer === undefined && isPrivateIp(bytes)) return undefined;
  return addressBlock(ip!);
}
