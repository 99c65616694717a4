/**
 * Resolves a host name without the system's resolver: `getaddrinfo` can be neither cancelled nor given a timeout, and a few
 * names whose server does not answer delay every other look-up of the process.
 *
 * The system's hosts file comes first, as for other programs.
 *
 * @module
 */
import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { parseIp } from "../http/network/ip_address.ts";

/** All addresses of a name, IPv4 first. Rejects when there are none, and when the signal aborts. */
export type Resolve = (hostname: string, signal?: AbortSignal) => Promise<readonly ResolvedAddress[]>;

/** An address of a name. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface ResolveOptions {
  /** `host:port` of name servers. @default the system's */
  readonly servers?: readonly string[];
  /** The hosts file. @default the system's */
  readonly hostsFile?: string;
}

/** The timeout of one query. */
const TIMEOUT_MS = 1500;
const MAX_TRIES = 2;
/** How long to wait for addresses of the other kind, after those of one kind (IPv4 or IPv6). */
const GRACE_MS = 300;
const MAX_ADDRESSES = 8;
const MAX_HOSTS_BYTES = 1024 * 1024;
/** How long the hosts file is used before it is read again. */
const HOSTS_LIFETIME_MS = 5000;

/** The path of the system's hosts file. */
function systemHosts(): string {
  return process.platform === "win32"
    ? `${process.env.SystemRoot ?? "C:\\Windows"}\\System32\\drivers\\etc\\hosts`
    : "/etc/hosts";
}

export function createResolve({ servers, hostsFile = systemHosts() }: ResolveOptions = {}): Resolve {
  let table:
    | { readonly hosts: Promise<ReadonlyMap<string, readonly string[]>>; readonly read: number }
    | undefined;
  const hosts = () => {
    if (!table || performance.now() - table.read > HOSTS_LIFETIME_MS) {
      table = { hosts: readHosts(hostsFile), read: performance.now() };
    }
    return table.hosts;
  };
  return async (hostname, signal) => {
    const name = hostname.toLowerCase().replace(/\.$/, "");
    // RFC 6761 section 6.3: no name server is asked for these.
    if (name === "localhost" || name.endsWith(".localhost")) return toAddresses(["127.0.0.1", "::1"]);
    const listed = (await hosts()).get(name);
    return toAddresses(listed ?? await query(name, servers, signal));
  };
}

async function query(
  name: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  signal?.throwIfAborted();
  // One resolver for each name: cancelling it ends all of its queries.
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: MAX_TRIES });
  if (servers) resolver.setServers(servers);
  const found: string[] = [];
  const ask = async (answer: Promise<string[]>) => void found.push(...await answer);
  const asked = [ask(resolver.resolve4(name)), ask(resolver.resolve6(name))];
  const all = Promise.allSettled(asked);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop: (() => void) | undefined;
  const grace = Promise.any(asked).then(
    () => new Promise<void>((resolve) => timer = setTimeout(resolve, GRACE_MS)),
    () => {},
  );
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal!.reason);
    signal?.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([all, grace, stopped]);
    if (found.length > 0) return found;
    const [{ reason }] = await all as [PromiseRejectedResult];
    throw reason;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop!);
    resolver.cancel();
  }
}

function toAddresses(texts: readonly string[]): readonly ResolvedAddress[] {
  return texts.map((address): ResolvedAddress => ({ address, family: address.includes(":") ? 6 : 4 }))
    .sort((a, b) => a.family - b.family).slice(0, MAX_ADDRESSES);
}

/** Addresses by name; empty when the file cannot be read (Deno needs a permission). */
async function readHosts(file: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const hosts = new Map<string, string[]>();
  const text = await readFile(file, "utf8").catch(() => "");
  for (const line of text.slice(0, MAX_HOSTS_BYTES).split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (!parseIp(address)) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...hosts.get(key) ?? [], address]);
    }
  }
  return hosts;
}
