/**
 * Who calls when a proxy is in front: the fields by which proxies pass an address on, believed only from addresses that
 * the operator named, and read from the right, where the nearest proxy writes (RFC 7239 section 8.1).
 *
 * @module
 */
import { parseIp, startsWith, unmapIp } from "./ip_address.ts";
import type { RequestContext } from "../service.ts";

/** Which proxies are the operator's own. */
export interface TrustedProxies {
  /** Addresses (`10.0.0.2`, `fd00::2`) and blocks (`10.0.0.0/8`). */
  readonly addresses: readonly string[];
  /**
   * The field that they write. Another one may come from the caller and is not read. Left out, `X-Forwarded-For`, and
   * where it is missing, `Forwarded`.
   */
  readonly field?: "x-forwarded-for" | "forwarded";
}

/** The context with the caller's address in place of the proxy's. */
export type FindCaller = (request: Request, context: RequestContext) => RequestContext;

/** Proxies between a caller and this server that are followed, and characters of a field that are read. */
const MAX_PROXIES = 20;
const MAX_FIELD_CHARACTERS = 4096;

/**
 * Makes the function that finds a caller's address. It is worked out when it is first asked for.
 * @throws {TypeError} for what is no address and no block
 */
export function createCallerFinder(proxies: readonly string[] | TrustedProxies): FindCaller {
  const { addresses, field }: TrustedProxies = "addresses" in proxies ? proxies : { addresses: proxies };
  const blocks = addresses.map(parseBlock);
  const isTrusted = (bytes: Uint8Array): boolean =>
    blocks.some(([prefix, bits]) => startsWith(unmapIp(bytes), prefix, bits));

  function find(request: Request, peer: string | undefined): string | undefined {
    const bytes = peer === undefined ? undefined : parseIp(peer);
    // A caller that is no proxy of ours may write what it likes.
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

  return (request, context) => new ProxiedContext(request, context, find);
}

class ProxiedContext implements RequestContext {
  readonly #request: Request;
  readonly #context: RequestContext;
  readonly #find: (request: Request, peer: string | undefined) => string | undefined;
  #found: { readonly ip: string | undefined } | undefined;

  constructor(
    request: Request,
    context: RequestContext,
    find: (request: Request, peer: string | undefined) => string | undefined,
  ) {
    this.#request = request;
    this.#context = context;
    this.#find = find;
  }

  get ip(): string | undefined {
    this.#found ??= { ip: this.#find(this.#request, this.#context.ip) };
    return this.#found.ip;
  }

  get peer(): string {
    return this.#context.ip ?? "";
  }

  waitUntil(promise: Promise<unknown>): void {
    this.#context.waitUntil?.(promise);
  }
}

function parseBlock(text: string): readonly [prefix: Uint8Array, bits: number] {
  const [address = "", length, ...more] = text.split("/");
  const bytes = parseIp(address);
  const most = (bytes?.length ?? 0) * 8;
  const bits = length === undefined ? most : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (!bytes || more.length > 0 || bits < 0 || bits > most) {
    throw new TypeError(
      `Cannot create Trivet: "trustedProxies" must name addresses such as 10.0.0.2 or blocks such as 10.0.0.0/8, but has "${text}"`,
    );
  }
  const inner = unmapIp(bytes);
  return [inner, Math.max(0, bits - (most - inner.length * 8))];
}

/** What each proxy said of who called it, the nearest last; an empty text where it did not say. */
function readHops({ headers }: Request, field: TrustedProxies["field"]): string[] {
  const list = field === "forwarded" ? null : headers.get("x-forwarded-for");
  if (list !== null) return tail(list).split(",").map((hop) => withoutPort(hop.trim()));
  const forwarded = field === "x-forwarded-for" ? null : headers.get("forwarded");
  return forwarded === null ? [] : readForwarded(tail(forwarded));
}

/** The end is what the nearest proxies wrote; the cut may go through a hop, which then is no address. */
function tail(field: string): string {
  return field.slice(-MAX_FIELD_CHARACTERS);
}

/**
 * The `for` parameters of a `Forwarded` field (RFC 7239 section 4). An element without one, or with an obfuscated name,
 * is a proxy that does not say.
 */
function readForwarded(field: string): string[] {
  return splitOutsideQuotes(field, ",").map((element) => {
    for (const pair of splitOutsideQuotes(element, ";")) {
      const [, value] = /^\s*for\s*=\s*(.*?)\s*$/is.exec(pair) ?? [];
      if (value === undefined) continue;
      const quoted = /^"((?:[^"\\]|\\.)*)"$/s.exec(value)?.[1];
      return withoutPort(quoted?.replace(/\\(.)/gs, "$1") ?? value);
    }
    return "";
  });
}

/** A quotation that does not end swallows the rest: what it hides is not believed. */
function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\" && quoted) i++;
    else if (text[i] === '"') quoted = !quoted;
    else if (text[i] === separator && !quoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** An address may come with a port: RFC 7239 section 6, and some proxies in `X-Forwarded-For`. */
function withoutPort(node: string): string {
  return /^\[([^\]]*)\](?::\d{1,5})?$/.exec(node)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(node)?.[1] ?? node;
}
