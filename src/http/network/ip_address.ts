/**
 * Parses IP addresses, classifies them as public, private or of special use, and finds the block of one subscriber.
 *
 * @module
 */

/** The 4 or 16 bytes of an address in its usual notation; `undefined` for any other text. */
export function parseIp(text: string): Uint8Array | undefined {
  const bare = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  return bare.includes(":") ? parseV6(bare) : parseV4(bare);
}

function parseV4(text: string): Uint8Array | undefined {
  // Leading zeros are refused: some parsers read them as octal, others as decimal.
  const parts = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/.exec(text)?.slice(
    1,
  );
  const bytes = parts?.map(Number);
  return bytes?.every((byte) => byte < 256) ? new Uint8Array(bytes) : undefined;
}

function parseV6(text: string): Uint8Array | undefined {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const left = readAuditGroups(head);
  const right = tail === undefined ? [] : readAuditGroups(tail);
  if (!left || !right) return undefined;
  const missing = 16 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined;
  return new Uint8Array([...left, ...new Array(missing).fill(0), ...right]);
}

function readAuditGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [i, group] of groups.entries()) {
    const v4 = i === groups.length - 1 ? parseV4(group) : undefined;
    if (v4) bytes.push(...v4);
    else if (/^[0-9a-f]{1,4}$/i.test(group)) bytes.push(parseInt(group, 16) >> 8, parseInt(group, 16) & 255);
    else return undefined;
  }
  return bytes;
}

/** Prefixes of special use (IANA registries, RFC 6890), except the IPv6 prefixes that embed an IPv4 address. */
const SPECIAL: readonly (readonly [prefix: string, bits: number])[] = [
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
];
const SPECIAL_BYTES = SPECIAL.map(([prefix, bits]) => [parseIp(prefix)!, bits] as const);
const GLOBAL_V6 = parseIp("2000::")!;
/** IPv6 prefixes that embed an IPv4 address: mapped, NAT64, 6to4. The number is the offset of its bytes. */
const EMBEDDING = ([["::ffff:0:0", 96, 12], ["64:ff9b::", 96, 12], ["2002::", 16, 2]] as const)
  .map(([prefix, bits, at]) => [parseIp(prefix)!, bits, at] as const);

/** Whether the address is globally reachable; `false` for bytes that are not an address. */
export function isPublicIp(bytes: Uint8Array): boolean {
  if (bytes.length === 16) {
    const holder = EMBEDDING.find(([prefix, bits]) => startsWith(bytes, prefix, bits));
    if (holder) return isPublicIp(bytes.subarray(holder[2], holder[2] + 4));
    if (!startsWith(bytes, GLOBAL_V6, 3)) return false;
  } else if (bytes.length !== 4) return false;
  return !SPECIAL_BYTES.some(([prefix, bits]) => startsWith(bytes, prefix, bits));
}

/** Addresses that do not identify a caller, because a reverse proxy of the operator may have one. */
const PRIVATE = ([
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
] as const).map(([prefix, bits]) => [parseIp(prefix)!, bits] as const);

/** Whether the address is loopback, link-local, private, or shared address space of a carrier (RFC 6598). */
export function isPrivateIp(bytes: Uint8Array): boolean {
  const inner = unmapIp(bytes);
  return PRIVATE.some(([prefix, bits]) => startsWith(inner, prefix, bits));
}

/** The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2); any other address unchanged. */
export function unmapIp(bytes: Uint8Array): Uint8Array {
  return startsWith(bytes, EMBEDDING[0]![0], 96) ? bytes.subarray(12) : bytes;
}

/** Whether the address is in the block `prefix/bits`; always `false` for another address family. */
export function startsWith(bytes: Uint8Array, prefix: Uint8Array, bits: number): boolean {
  if (bytes.length !== prefix.length) return false;
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== prefix[i]) return false;
  const mask = 0xff00 >> (bits & 7) & 0xff;
  return (bytes[whole]! & mask) === (prefix[whole]! & mask);
}

/**
 * The block of one subscriber: an IPv4 address, or the first 64 bits of an IPv6 address, since a subscriber has a whole /64.
 * Any other text is returned unchanged.
 */
export function addressBlock(ip: string): string {
  const bytes = parseIp(ip);
  if (!bytes || bytes.length === 4) return ip;
  if (startsWith(bytes, EMBEDDING[0]![0], 96)) return bytes.subarray(12).join(".");
  return [...bytes.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("") + "::/64";
}
