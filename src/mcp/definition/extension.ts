/**
 * An extension of the protocol (https://modelcontextprotocol.io/specification/draft/basic/versioning#extension-negotiation):
 * what whoever composes a server may add to it. A server that is given none carries none.
 *
 * @module
 */
import { type Method, methodNotFound } from "../../jsonrpc/dispatch.ts";
import type { Call } from "../call.ts";
import type { Definition } from "./definition.ts";

export interface Extension {
  /** `io.modelcontextprotocol/skills` */
  readonly id: string;
  /** The oldest revision to which it is declared, and in which its methods are served. */
  readonly since: string;
  /** As capabilities have them. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Definitions that come before the server's own, which it is given. */
  definitions(own: readonly Definition[]): readonly Definition[];
  /** Its methods. A result has cache hints for modern callers alone. */
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

/** The methods of an extension, each for MCP clients of a revision that knows it. */
export function extensionMethods(extension: Extension, server: ExtensionServer): [string, Method<Call>][] {
  const { since } = extension;
  return extension.methods(server).map(([name, method]) => [name, (params, call) => {
    if (call.era.profile === "plain" || call.revision < since) throw methodNotFound(name);
    return method(params, call);
  }]);
}
