/**
 * Where attempts are counted when storage for records of their own is used up: in a fixed number of records, each for many
 * callers. Such an attempt may have to wait for those of others, but none is uncounted.
 *
 * @module
 */
import { sha256 } from "../../../crypto/sha256.ts";

/** The IPv4 /16 or IPv6 /32 of a network as `networkOf` writes it; any other text unchanged. */
export function blockOf(subject: string): string {
  if (subject.endsWith("::/64")) return subject.slice(0, 8);
  return /^\d+\.\d+(?=\.\d+\.\d+$)/.exec(subject)?.[0] ?? subject;
}

/** The name of the record for this text, of `count` records. It differs from every digest. */
export function sharedName(text: string, count: number): string {
  const [first = 0, second = 0] = sha256(text);
  return `shared ${(first * 256 + second) % count}`;
}
