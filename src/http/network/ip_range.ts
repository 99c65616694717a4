/**
 * Which IP addresses are public, private or of special use. Apart from `ip_address.ts`, so that a server which asks for
 * neither does not load the tables.
 *
 * @module
 */
import { parseIp, startsWith, unmapIp } from "./ip_address.ts";

type Prefix = readonly [prefix: string, bits: number, at?: number];

/** Parses prefixes at first use: most processes need none. */
function parseOnce(
  prefixes: readonly Prefix[],
): () => readonly (readonly [prefix: Uint8Array, bits: number, at: number])[] {
  let parsed: ReturnType<ReturnType<typeof parseOnce>> | undefined;
  return () => parsed ??= prefixes.map(([prefix, bits, at = 0]) => [parseIp(prefix)!, bits, at] as const);
}

/** Prefixes of special use (IANA registries, RFC 6890), except the IPv6 prefixes that embed an IPv4 address. */
const special = parseOnce([
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
]);
/** IPv6 prefixes that embed an IPv4 address: mapped, NAT64, 6to4. The number is the offset of its bytes. */
const embedding = parseOnce([["::ffff:0:0", 96, 12], ["64:ff9b::", 96, 12], ["2002::", 16, 2]]);

/** Whether the address is globally reachable; `false` for bytes that are not an address. */
export function isPublicIp(bytes: Uint8Array): boolean {
  if (bytes.length === 16) {
    const holder = embedding().find(([prefix, bits]) => startsWith(bytes, prefix, bits));
    if (holder) return isPublicIp(bytes.subarray(holder[2], holder[2] + 4));
    // Global addresses are in 2000::/3.
    if (bytes[0]! >> 5 !== 1) return false;
  } else if (bytes.length !== 4) return false;
  return !special().some(([prefix, bits]) => startsWith(bytes, prefix, bits));
}

/** Addresses that do not identify a caller, because a reverse proxy of the operator may have one. */
const privates = parseOnce([
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
]);

/** Whether the address is loopback, link-local, private, or shared address space of a carrier (RFC 6598). */
export function isPrivateIp(bytes: Uint8Array): boolean {
  const inner = unmapIp(bytes);
  return privates().some(([prefix, bits]) => startsWith(inner, prefix, bits));
}
