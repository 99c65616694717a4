/**
 * What a proxied call uses of its upstream.
 *
 * @module
 */
import type { Principal } from "../../../http/principal.ts";
import type { CallContext } from "../../../mcp/context.ts";
import type { ConnectionInfo, McpClient } from "../../../mcp_client/client.ts";
import type { UriMap } from "../uris.ts";
import type { HeldCalls } from "./held_calls.ts";

/** A session of an upstream, connected for one call. */
export interface ConnectedSession {
  readonly client: McpClient;
  readonly info: ConnectionInfo;
  /** Calls that wait for input while their client decides. */
  readonly held: HeldCalls;
  /** The calls that elicitations at a URL belong to, by elicitation id (2025-11-25). */
  readonly elicitations: Map<string, CallContext>;
}

export interface CallTarget {
  /** The name of the upstream. */
  readonly name: string;
  /** As `FromUpstream.serverDigest`. */
  readonly serverDigest: string;
  readonly uris: UriMap;
  /** Whether requests for input say which upstream asks. */
  readonly isNamed: boolean;
  /** Milliseconds without any message after which a call has failed. */
  readonly timeout: number;
  /**
   * The session of the caller: at once when it is connected and has room. Each session that was entered must be left.
   * @throws {UpstreamFailure | BusyError} and what connecting throws
   */
  enter(caller: CallerContext): ConnectedSession | Promise<ConnectedSession>;
  /** @param error what the call failed with */
  leave(session: ConnectedSession, error?: unknown): void;
  /** Gives the place of a call to others while its client or user decides, or its task runs. */
  whileWaiting<Result>(wait: () => Promise<Result>): Promise<Result>;
  /** Whether the caller's credentials are there by now. */
  isAuthorized(caller: Principal | undefined, signal: AbortSignal): Promise<boolean>;
}

/** The part of a context that a session is chosen by. */
export type CallerContext = Pick<CallContext, "principal" | "signal">;

/** The caller, for a request that the cancellation of its call does not end. */
export function uncancelled({ principal }: CallerContext): CallerContext {
  return { principal, signal: new AbortController().signal };
}
