/**
 * Connections to public addresses only, for `createTrivet({ oauth: { connect } })` on Node, Deno and Bun: a name is
 * resolved once, every address that it has is looked at, and the connection goes to the address that was looked at, so
 * that a name which changes its mind in between (DNS rebinding) gains nothing.
 *
 * @module
 */
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { Readable } from "node:stream";
import { isPublicIp, parseIp } from "../http/ip_address.ts";

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

const resolveAll: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

/**
 * A `fetch` of GET requests over https that reaches no address of special use.
 * @param isAllowed for tests
 */
export function createPublicConnect(
  resolve: Resolve = resolveAll,
  isAllowed: (address: Uint8Array) => boolean = isPublicIp,
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, { headers, signal }) => {
    const { hostname } = new URL(url);
    const addresses = parseIp(hostname)
      ? [{ address: hostname.replace(/^\[(.*)\]$/, "$1"), family: hostname.includes(":") ? 6 : 4 }]
      : await resolve(hostname);
    const pinned = addresses[0];
    if (!pinned || !addresses.every(({ address }) => isAllowed(parseIp(address) ?? new Uint8Array()))) {
      throw new Error("The name leads to an address that is not public");
    }
    const answer = await get(url, pinned, new Headers(headers), signal ?? undefined);
    const fields = Object.entries(answer.headers).filter(([, value]) => typeof value === "string");
    return new Response(hasBody(answer) ? Readable.toWeb(answer) as unknown as BodyInit : null, {
      status: answer.statusCode!,
      headers: fields as [string, string][],
    });
  };
}

function get(
  url: string,
  { address, family }: LookupAddress,
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
        // Node asks for a list, older callers for one.
        if (options.all) callback(null, [{ address, family }]);
        else callback(null, address, family);
      },
    }, resolve);
    sent.on("error", reject);
    sent.end();
  });
}

function hasBody({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode !== 204 && statusCode !== 304 && statusCode >= 200;
}
