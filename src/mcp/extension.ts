/**
 * An extension of the protocol (https://modelcontextprotocol.io/specification/draft/basic/versioning#extension-negotiation):
 * what whoever composes a server may add to it. A server that is given none carries none.
 *
 * @module
 */
import type { Method } from "../jsonrpc/dispatch.ts";
import type { Call } from "./call.ts";
import type { Definition } from "./definition.ts";

export interface Extension {
  /** `io.modelcontextprotocol/skills` */
  readonly id: string;
  /** As capabilities have them. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Definitions that come before the server's own, which it is given. */
  definitions(own: readonly Definition[]): readonly Definition[];
  /** Methods of the modern era. */
  methods(server: ExtensionServer): [string, Method<Call>][];
}

/** What an extension is told of the server. */
export interface ExtensionServer {
  readonly auth: "required" | "optional" | "off";
  /** Entries of a list. */
  readonly pageSize: number;
  /** The key under which cursors are signed. */
  readonly secret: () => Promise<Uint8Array>;
  /** Milliseconds for which a client may keep a list. */
  readonly listLifetime: number;
}
