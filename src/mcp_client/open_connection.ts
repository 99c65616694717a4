/**
 * Opens a connection: by the transport of the options, else by the one that it falls back to.
 *
 * @module
 */
import type { ClientExchange, ConnectionInfo, McpClientOptions } from "./client.ts";
import { ConnectionError } from "./error.ts";
import type { ClientLimits } from "./limits.ts";
import { negotiate } from "./negotiate.ts";
import { LEGACY } from "./revision.ts";
import type { Channel, ClientTransport } from "./transport.ts";
import { Wire } from "./wire.ts";

export interface Opening {
  readonly options: McpClientOptions;
  readonly limits: Required<ClientLimits>;
  /** Aborts when the client closes. */
  readonly stop: AbortSignal;
  /** Called when a connection that was opened ends. */
  readonly onClosed: (wire: Wire, error: Error) => void;
}

/** An open connection. */
export interface Opened {
  readonly wire: Wire;
  readonly info: ConnectionInfo;
}

/** @throws {ConnectionError} @throws {McpError} */
export async function openConnection(opening: Opening, exchange: ClientExchange): Promise<Opened> {
  const { options: { transport, revision }, stop } = opening;
  try {
    return await openTransport(opening, transport, revision, exchange);
  } catch (error) {
    if (!(error instanceof ConnectionError) || stop.aborted || exchange.signal?.aborted) throw error;
    const { reason, status } = error;
    // Some processes end at a request that they do not know.
    if (transport.kind === "stdio" && reason === "closed" && !(revision && LEGACY.includes(revision))) {
      return await openTransport(opening, transport, LEGACY[0], exchange);
    }
    const isOlder = reason === "status" && (status === 400 || status === 404 || status === 405);
    if (!transport.fallback || !isOlder) throw error;
    try {
      return await openTransport(opening, transport.fallback, undefined, exchange);
    } catch (cause) {
      // The first error says more, unless the server does have this transport.
      const isOther = cause instanceof ConnectionError &&
        (cause.reason === "status" || cause.reason === "malformed");
      throw isOther ? error : cause;
    }
  }
}

async function openTransport(
  { options, limits, stop, onClosed }: Opening,
  transport: ClientTransport,
  known: string | undefined,
  exchange: ClientExchange,
): Promise<Opened> {
  stop.throwIfAborted();
  const wire = new Wire(options, limits, transport, (error) => onClosed(wire, error));
  wire.channel = await openChannel(transport, wire, exchange, stop);
  const onStop = (): void => wire.end(stop.reason);
  stop.addEventListener("abort", onStop);
  try {
    stop.throwIfAborted();
    const info = await negotiate(wire, options.capabilities ?? {}, known, exchange);
    stop.throwIfAborted();
    return { wire, info };
  } catch (error) {
    wire.end(error as Error);
    await wire.channel.close();
    throw error;
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}

/** Opens a channel, unless one of the signals aborts before. */
async function openChannel(
  transport: ClientTransport,
  wire: Wire,
  { caller, signal }: ClientExchange,
  stop: AbortSignal,
): Promise<Channel> {
  const either = new AbortController();
  const onStop = (): void => either.abort(stop.reason);
  const onAbort = (): void => either.abort(signal!.reason);
  stop.addEventListener("abort", onStop);
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  try {
    either.signal.throwIfAborted();
    return await transport.open(wire, caller, either.signal);
  } finally {
    stop.removeEventListener("abort", onStop);
    signal?.removeEventListener("abort", onAbort);
  }
}
