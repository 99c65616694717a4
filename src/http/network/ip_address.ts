/**
 * Parses IP addresses, and finds the block of one subscriber. Which addresses are public is in `ip_range.ts`.
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
  const left = readGroups(head);
  const right = tail === undefined ? [] : readGroups(tail);
  if (!left || !right) return undefined;
  const missing = 16 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined;
  return new Uint8Array([...left, ...new Array(missing).fill(0), ...right]);
}

function readGroups(text: string): number[] | undefined {
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

/** Whether it is an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2). */
function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && bytes.subarray(0, 12).every((byte, at) => byte === (at < 10 ? 0 : 255));
}

/** The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2); any other address unchanged. */
export function unmapIp(bytes: Uint8Array): Uint8Array {
  return isMapped(bytes) ? bytes.subarray(12) : bytes;
}

/** Whether both texts are one address, in any notation. An IPv4-mapped IPv6 address is that IPv4 address. */
export function isSameIp(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => {
    const bytes = parseIp(text);
    return bytes && unmapIp(bytes).join();
  });
  return one !== undefined && one === other;
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
  if (isMapped(bytes)) return bytes.subarray(12).join(".");
  return [...bytes.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("") + "::/64";
}
