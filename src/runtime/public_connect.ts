/**
 * Connections to public addresses only, for `createTrivet({ oauth: { connect } })` on Node, Deno and Bun. A name is
 * resolved once, all of its addresses are checked, and the connection goes to the checked addresses, so that DNS
 * rebinding has no effect.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { Readable } from "node:stream";
import { parseIp } from "../http/network/ip_address.ts";
import { isPublicIp } from "../http/network/ip_range.ts";
import { createResolve, type Resolve, type ResolvedAddress } from "./resolve_name.ts";

export type { Resolve, ResolvedAddress };

/**
 * A `fetch` for GET requests over https to public addresses. It has no timeout of its own: the signal covers the look-up,
 * the connection and the body.
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
      throw new Error("The host name resolves to an address that is not public");
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
      // A pooled connection might go to another address.
      agent: false,
      ...(signal && { signal }),
      lookup: (_, options, callback) => {
        // Node requests a list and tries each address; older callers request one.
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
