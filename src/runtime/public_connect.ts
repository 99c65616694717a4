/**
 * Connections to public addresses only, for `createTrivet({ oauth: { connect } })` on Node, Deno and Bun: a name is
 * resolved once, every address that it has is looked at, and the connection goes to the addresses that were looked at,
 * so that a name which changes its mind in between (DNS rebinding) gains nothing.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { Readable } from "node:stream";
import { isPublicIp, parseIp } from "../http/network/ip_address.ts";
import { createResolve, type Resolve, type ResolvedAddress } from "./resolve_name.ts";

export type { Resolve, ResolvedAddress };

/**
 * A `fetch` of GET requests over https that reaches no address of special use. It sets no time limit of its own: the
 * signal does, for the look-up, the connection and the body alike.
 * @param isAllowed for tests
 */
export function createPublicConnect(
  resolve: Resolve = createResolve(),
  isAllowed: (address: Uint8Array) => boolean = isPublicIp,
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, { headers, signal }) => {
    const { hostname } = new URL(url);
    const addresses: readonly ResolvedAddress[] = parseIp(hostname)
      ? [{ address: hostname.replace(/^\[(.*)\]$/, "$1"), family: hostname.includes(":") ? 6 : 4 }]
      : await resolve(hostname, signal ?? undefined);
    if (
      addresses.length === 0 ||
      !addresses.every(({ address }) => isAllowed(parseIp(address) ?? new Uint8Array()))
    ) {
      throw new Error("The name leads to an address that is not public");
    }
    const answer = await get(url, addresses, new Headers(headers), signal ?? undefined);
    const fields = Object.entries(answer.headers).filter(([, value]) => typeof value === "string");
    return new Response(hasBody(answer) ? Readable.toWeb(answer) as unknown as BodyInit : null, {
      status: answer.statusCode!,
      headers: fields as [string, string][],
    });
  };
}

function get(
  url: string,
  addresses: readonly ResolvedAddress[],
  headers: Headers,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      headers: Object.fromEntries(headers),
      // A connection kept for later might be one to another address.
      agent: false,
      ...(signal && { signal }),
      lookup: (_, options, callback) => {
        // Node asks for a list and tries one after the other; older callers ask for one.
        if (options.all) callback(null, [...addresses]);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
    }, resolve);
    sent.on("error", reject);
    sent.end();
  });
}

function hasBody({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode !== 204 && statusCode !== 304 && statusCode >= 200;
}
