/**
 * The network of a caller, by which limits count: one IPv4 address or one IPv6 /64, which is what one subscriber has.
 *
 * @module
 */
import { addressBlock, parseIp } from "./ip_address.ts";
import { isPrivateIp } from "./ip_range.ts";
import type { RequestContext } from "../service.ts";

/**
 * The IPv4 address or the IPv6 /64 of the caller, in canonical form. `undefined` when the address is unknown, and for a
 * loopback or private address unless `trustedProxies` is set: it may be the address of a reverse proxy, and counting by it
 * would count all callers as one.
 */
export function networkOf({ ip, peer }: RequestContext): string | undefined {
  const bytes = ip === undefined ? undefined : parseIp(ip);
  if (!bytes || peer === undefined && isPrivateIp(bytes)) return undefined;
  return addressBlock(ip!);
}

/** What {@linkcode networkOf} reads, for an open stream: the context itself may hold the whole request. */
export function toAddress({ ip, peer }: RequestContext): RequestContext {
  return { ip, peer };
}
