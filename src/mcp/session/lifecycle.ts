/**
 * `initialize` and `ping`
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle), and `server/discover`
 * (https://modelcontextprotocol.io/specification/draft/server/discover). Requests before the handshake are answered too.
 *
 * @module
 */
import { WrittenResult } from "../../jsonrpc/message.ts";
import type { Method } from "../../jsonrpc/dispatch.ts";
import type { Call } from "../call.ts";
import { LEGACY, MODERN, negotiate, REVISIONS } from "../era.ts";
import type { Extension } from "../definition/extension.ts";
import { readClientInfo } from "../request_meta.ts";
import { optionalObject, requireObject, requireString } from "../schema/params.ts";
import type { Registry } from "../definition/registry.ts";
import { implementation, serverCapabilities, type ServerInfo } from "../definition/server_info.ts";

export interface LifecycleOptions {
  readonly info: ServerInfo;
  readonly instructions: string | undefined;
  readonly registry: Registry;
  readonly extensions: readonly Extension[];
  /** How long a client may cache the result of `server/discover`, in milliseconds. */
  readonly ttl: number;
  readonly cacheScope: "public" | "private";
  readonly modernHead: string;
  /** Whether `initialize` over HTTP opens a session. */
  readonly sessions: boolean;
}

/** The methods of the handshake. */
export function handshakeMethods(
  { info, instructions, registry, extensions, sessions }: LifecycleOptions,
): [string, Method<Call>][] {
  // Written as JSON in advance. Only a session carries changes to the client.
  const write = (listChanged: true | undefined) =>
    new Map(LEGACY.map((revision) => [
      revision,
      new WrittenResult(JSON.stringify({
        protocolVersion: revision,
        capabilities: serverCapabilities(registry, revision, extensions, listChanged),
        serverInfo: implementation(info, revision),
        instructions,
      })),
    ]));
  const results = write(true);
  const withoutSession = sessions ? results : write(undefined);

  return [
    ["initialize", (params, call) => {
      const object = requireObject(params);
      const version = requireString(object, "protocolVersion");
      const capabilities = optionalObject(object, "capabilities");
      const clientInfo = readClientInfo(optionalObject(object, "clientInfo"));
      const revision = negotiate(version);
      const { onHandshake } = call.connection;
      const handled = onHandshake?.({ revision, capabilities, clientInfo });
      const result = (onHandshake ? results : withoutSession).get(revision);
      return handled ? handled.then(() => result) : result;
    }],
    ["ping", () => ({})],
  ];
}

/** `server/discover`. Its result is written as JSON in advance. */
export function discoverMethods(
  { instructions, registry, extensions, ttl, cacheScope, modernHead }: LifecycleOptions,
): [string, Method<Call>][] {
  const members = JSON.stringify({
    supportedVersions: REVISIONS,
    capabilities: serverCapabilities(registry, MODERN, extensions, true),
    instructions,
    ttlMs: ttl,
    cacheScope,
  });
  const written = new WrittenResult(`${modernHead},${members.slice(1)}`);
  return [["server/discover", () => written]];
}
