/**
 * Upstreams that an administrator adds at run time: configurations in the store, sealed, since their header fields and
 * environment variables contain secrets.
 *
 * @module
 */
import { createSealer, type Sealer } from "../../crypto/seal.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { removeExisting } from "../../store/retry.ts";
import { type Key, listAll, type Store, timeOf } from "../../store/store.ts";
import { checkPublicUrl } from "../../http/network/public_fetch.ts";
import { ConfigurationError, type McpServer } from "../upstream/configuration/configuration.ts";
import { parseMcpServer } from "../upstream/configuration/parse_configuration.ts";

/** An upstream in the store. Written by `addStoredUpstream`; ended by its removal. */
export interface StoredUpstream {
  readonly name: string;
  /** The URL without its query, or the command without its arguments, for lists. */
  readonly server: string;
  /** The configuration as JSON. */
  readonly sealed: string;
  readonly added: number;
  /** Added by who runs the machine: at private addresses it is reached as well. */
  readonly isTrusted?: true;
}

const PURPOSE = "configuration of an upstream";
const PREFIX = "upstream";

export const upstreamKey = (name: string): Key => ["upstream", name];

/** Seals configurations with the server's secret. */
export function createUpstreamSealer(secret: FindSecrets): Sealer {
  return createSealer(secret, PURPOSE);
}

/** What may be added at run time. */
export interface StoredUpstreamOptions {
  /**
   * Whether a configuration may name a command or a private address. An administrator who adds one runs programs on the
   * machine of the server, and reaches its network.
   * @default false
   */
  readonly isTrusted?: boolean | undefined;
  /** Leaves one with this name as it is. @default false */
  readonly isNew?: boolean | undefined;
  readonly now?: (() => number) | undefined;
}

/**
 * Stores a configuration, whose texts are taken as they are: `${NAME}` is no reference to a variable of the server.
 * Servers that follow the store offer the upstream within seconds.
 * @returns `undefined` when `isNew` is set and there is one with this name
 * @throws {ConfigurationError} naming the problems
 */
export async function addStoredUpstream(
  store: Store,
  sealer: Sealer,
  name: string,
  server: McpServer,
  { isTrusted = false, isNew = false, now = () => timeOf(store) }: StoredUpstreamOptions = {},
): Promise<StoredUpstream | undefined> {
  parseMcpServer(name, server, "literal");
  const problem = isTrusted ? undefined : findUntrusted(name, server);
  if (problem !== undefined) throw new ConfigurationError([problem]);
  const stored: StoredUpstream = {
    name,
    server: "url" in server ? server.url.replace(/[?#].*$/s, "") : server.command,
    sealed: await sealer.seal(JSON.stringify(server), name),
    added: now(),
    ...(isTrusted && { isTrusted }),
  };
  const key = upstreamKey(name);
  const check = isNew ? [{ key, version: null }] : [];
  return await store.commit({ check, set: [{ key, value: stored }] }) ? stored : undefined;
}

/** Why only who runs the machine may add this. */
function findUntrusted(name: string, server: McpServer): string | undefined {
  const place = `mcpServers.${name}`;
  if ("command" in server) {
    return `${place}.command: commands cannot be added at run time. Use a URL, or the server's own configuration`;
  }
  const { allowPrivateAddresses, tokenEndpoint, provider } = (server.auth ?? {}) as PrivateAddresses;
  if (allowPrivateAddresses) {
    return `${place}.auth.allowPrivateAddresses: can only be set in the server's own configuration`;
  }
  const urls = {
    "url": server.url,
    "auth.tokenEndpoint": tokenEndpoint,
    "auth.provider.tokenEndpoint": typeof provider === "object" ? provider.tokenEndpoint : undefined,
  };
  for (const [member, url] of Object.entries(urls)) {
    const rule = url === undefined ? undefined : checkPublicUrl(url);
    if (rule) return `${place}.${member}: ${rule}. Others can only be in the server's own configuration`;
  }
  return undefined;
}

/** The members of `auth` that lead to addresses, whatever its type. */
interface PrivateAddresses {
  readonly allowPrivateAddresses?: boolean;
  readonly tokenEndpoint?: string;
  readonly provider?: string | { readonly tokenEndpoint?: string };
}

/** Removes a configuration. @returns `false` when there is none with this name */
export function removeStoredUpstream(store: Store, name: string): Promise<boolean> {
  return removeExisting(store, upstreamKey(name));
}

/** An upstream in the store, and the version of its record. */
export interface ReadUpstream {
  readonly stored: StoredUpstream;
  readonly version: string;
}

/** The upstreams in the store, in order of their names. */
export async function* listStoredUpstreams(store: Store): AsyncGenerator<ReadUpstream> {
  for await (const { value, version } of listAll<StoredUpstream>(store, [PREFIX])) {
    yield { stored: value, version };
  }
}

/** The configuration. @throws {ConfigurationError} when it was sealed by another server */
export async function openStoredUpstream(
  { name, sealed }: StoredUpstream,
  sealer: Sealer,
): Promise<McpServer> {
  const text = await sealer.unseal(sealed, name);
  if (text === undefined) {
    throw new ConfigurationError([`mcpServers.${name}: was sealed by another server: add it again`]);
  }
  return JSON.parse(text) as McpServer;
}
