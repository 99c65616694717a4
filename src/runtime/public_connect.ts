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

/** Options of {@linkcode createPublicConnect} for tests. */
interface PublicConnectOptions {
  readonly isAllowed?: (address: Uint8Array) => boolean;
  readonly ca?: string | undefined;
}

/**
 * A `fetch` over https to public addresses, which follows no redirect. It has no timeout of its own: the signal covers the
 * look-up, the connection and the body.
 * @param options for tests: which addresses are allowed, and a certificate that is trusted
 */
export function createPublicConnect(
  resolve: Resolve = createResolve(),
  { isAllowed = isPublicIp, ca }: PublicConnectOptions = {},
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, { method, headers, body, signal }) => {
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
    const message = { method: method ?? "GET", ...writeMessage(new Headers(headers), body ?? undefined) };
    const answer = await send(url, message, { addresses, ca, signal: signal ?? undefined });
    const fields = Object.entries(answer.headers).filter(([, value]) => typeof value === "string");
    return new Response(hasBody(answer) ? Readable.toWeb(answer) as unknown as BodyInit : null, {
      status: answer.statusCode!,
      headers: fields as [string, string][],
    });
  };
}

interface Connection {
  readonly addresses: readonly ResolvedAddress[];
  readonly ca: string | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Message {
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string | Uint8Array;
}

/** The header fields and the body as `fetch` would send them. @throws {TypeError} for a stream or another kind of body */
function writeMessage(headers: Headers, body: RequestInit["body"]): Omit<Message, "method"> {
  if (body === undefined || body === null) return { headers };
  if (body instanceof Uint8Array) return { headers, body };
  const isForm = body instanceof URLSearchParams;
  if (!isForm && typeof body !== "string") throw new TypeError("The body must be a text, a form or bytes");
  const type = isForm ? "application/x-www-form-urlencoded;charset=UTF-8" : "text/plain;charset=UTF-8";
  if (!headers.has("content-type")) headers.set("content-type", type);
  return { headers, body: body.toString() };
}

function send(
  url: string,
  { method, headers, body }: Message,
  { addresses, ca, signal }: Connection,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: Object.fromEntries(headers),
      ...(ca !== undefined && { ca }),
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
    sent.end(body);
  });
}

function hasBody({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode !== 204 && statusCode !== 304 && statusCode >= 200;
}
