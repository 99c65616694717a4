/**
 * An extension of the protocol (https://modelcontextprotocol.io/specification/draft/basic/versioning#extension-negotiation):
 * definitions and methods that the composition of a server adds to it.
 *
 * @module
 */
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { type Method, methodNotFound } from "../../jsonrpc/dispatch.ts";
import type { Call } from "../call.ts";
import type { Definition } from "./definition.ts";

/** An extension of the protocol: methods and capabilities beside those of the specification. */
export interface Extension {
  /** `io.modelcontextprotocol/skills` */
  readonly id: string;
  /** The oldest revision in which the extension is declared and its methods are served. */
  readonly since: string;
  /** Settings in the server's capabilities. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Definitions that are added before the server's own definitions (`own`). */
  definitions(own: readonly Definition[]): readonly Definition[];
  /** The methods by name. Results have cache hints only in 2026-07-28. */
  methods(server: ExtensionServer): [string, Method<Call>][];
}

/** The parts of the server that an extension uses. */
export interface ExtensionServer {
  readonly auth: "required" | "optional" | "off";
  /** Maximum entries of a page. */
  readonly pageSize: number;
  /** The key under which cursors are signed. */
  readonly secret: FindSecrets;
  /** Milliseconds for which a client may keep a list. */
  readonly listLifetime: number;
}

/** The methods of an extension; other callers than MCP clients of `since` and later get -32601. */
export function extensionMethods(extension: Extension, server: ExtensionServer): [string, Method<Call>][] {
  const { since } = extension;
  return extension.methods(server).map(([name, method]) => [name, (params, call) => {
    if (call.era.profile === "plain" || call.revision < since) throw methodNotFound(name);
    return method(params, call);
  }]);
}
