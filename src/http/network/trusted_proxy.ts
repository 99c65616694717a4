/**
 * Finds the caller's address behind reverse proxies: the address fields are believed only from addresses that the operator
 * trusts, and read from the right, where the nearest proxy appends (RFC 7239 section 8.1).
 *
 * @module
 */
import { checkNames, checkOneOf, checkTexts, invalidOption, type Names } from "../../options/option_check.ts";
import { parseIp, startsWith, unmapIp } from "./ip_address.ts";
import type { RequestContext } from "../service.ts";

/** The proxies that the operator trusts. */
export interface TrustedProxies {
  /** Addresses (`10.0.0.2`, `fd00::2`) and CIDR blocks (`10.0.0.0/8`). */
  readonly addresses: readonly string[];
  /**
   * The header field that the proxies set. The other one may come from the caller and is ignored.
   * @default `X-Forwarded-For`, and without it `Forwarded`
   */
  readonly field?: "x-forwarded-for" | "forwarded";
}

const NAMES: Names<TrustedProxies> = { addresses: "string[]", field: "unknown" };

/** Returns the context with the caller's address instead of the proxy's. */
export type FindCaller = (request: Request, context: RequestContext) => RequestContext;

/** More proxies in a chain, and earlier characters of the field, are not read. */
const MAX_PROXIES = 20;
const MAX_FIELD_CHARACTERS = 4096;

/**
 * Creates the function that finds a caller's address. The address is computed at its first use.
 * @throws {TypeError} for a text that is neither an address nor a CIDR block
 */
export function createCallerFinder(proxies: readonly string[] | TrustedProxies): FindCaller {
  const isList = typeof proxies !== "object" || Array.isArray(proxies);
  if (isList) checkTexts("trustedProxies", proxies);
  const options = (isList ? { addresses: proxies } : proxies) as TrustedProxies;
  checkNames("trustedProxies", { addresses: null, ...options as object }, NAMES);
  const { addresses, field } = options;
  if (field !== undefined) checkOneOf("trustedProxies.field", field, "x-forwarded-for", "forwarded");
  const blocks = addresses.map(parseBlock);
  const isTrusted = (bytes: Uint8Array): boolean =>
    blocks.some(([prefix, bits]) => startsWith(unmapIp(bytes), prefix, bits));

  function find(request: Request, peer: string | undefined): string | undefined {
    const bytes = parseIp(peer ?? "");
    // The fields of a peer that is not a trusted proxy are not believed.
    if (!bytes || !isTrusted(bytes)) return peer;
    let caller: string | undefined;
    for (const hop of readHops(request, field).reverse().slice(0, MAX_PROXIES)) {
      const at = parseIp(hop);
      if (!at) return undefined;
      caller = hop;
      if (!isTrusted(at)) break;
    }
    return caller;
  }

  return (request, context) => {
    let found: { readonly ip: string | undefined } | undefined;
    return {
      get ip() {
        return (found ??= { ip: find(request, context.ip) }).ip;
      },
      get peer() {
        return context.ip ?? "";
      },
      isBodyBuffered: context.isBodyBuffered,
      isIsolated: context.isIsolated,
      waitUntil: (promise) => context.waitUntil?.(promise),
    };
  };
}

function parseBlock(text: string): readonly [prefix: Uint8Array, bits: number] {
  const [, address = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = parseIp(address);
  const most = (bytes?.length ?? 0) * 8;
  const bits = Number(length ?? most);
  if (!bytes || bits > most) {
    throw invalidOption("trustedProxies", "addresses (10.0.0.2) or CIDR blocks (10.0.0.0/8)", text);
  }
  const inner = unmapIp(bytes);
  return [inner, Math.max(0, bits - (most - inner.length * 8))];
}

/** The caller that each proxy recorded, the nearest proxy last; an empty text where it recorded none. */
function readHops({ headers }: Request, field: TrustedProxies["field"]): string[] {
  const list = field === "forwarded" ? null : headers.get("x-forwarded-for");
  if (list !== null) return tail(list).split(",").map((hop) => withoutPort(hop.trim()));
  const forwarded = field === "x-forwarded-for" ? null : headers.get("forwarded");
  return forwarded === null ? [] : readForwarded(tail(forwarded));
}

/** The nearest proxies append at the end. A hop that is cut in two is not a valid address and ends the search. */
function tail(field: string): string {
  return field.slice(-MAX_FIELD_CHARACTERS);
}

/**
 * The `for` parameters of a `Forwarded` field (RFC 7239 section 4); an empty text for an element without one. An obfuscated
 * identifier is not an address.
 */
function readForwarded(field: string): string[] {
  return splitOutsideQuotes(field, ",").map((element) => {
    for (const pair of splitOutsideQuotes(element, ";")) {
      const value = /^\s*for\s*=(.*)/is.exec(pair)?.[1]?.trim();
      if (value === undefined) continue;
      const quoted = /^"((?:[^"\\]|\\.)*)"$/s.exec(value)?.[1];
      return withoutPort(quoted?.replace(/\\(.)/gs, "$1") ?? value);
    }
    return "";
  });
}

/** A quoted string without an end takes the rest of the text, so nothing in it is believed. */
function splitOutsideQuotes(text: string, separator: "," | ";"): string[] {
  return text.match(RegExp(`([^"${separator}]|"([^"\\\\]|\\\\.)*"?)+`, "g")) ?? [];
}

/** Removes a port, which RFC 7239 section 6 allows and some proxies write in `X-Forwarded-For`. */
function withoutPort(node: string): string {
  return node.replace(/^\[([^\]]*)\](:\d{1,5})?$|^([\d.]+):\d{1,5}$/, "$1$3");
}
