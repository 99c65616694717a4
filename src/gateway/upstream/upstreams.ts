/**
 * The upstreams of a gateway: creates them from the configuration, and offers each caller what they offer together.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { ClientTransport } from "../../mcp_client/transport.ts";
import type { ChangedFor } from "../../mcp/definition/changes.ts";
import type { ListName, McpClient, McpClientOptions } from "../../mcp_client/client.ts";
import { waitAtMost } from "../../http/wait_at_most.ts";
import { VERSION } from "../../version.ts";
import type { UpstreamAccess } from "../credentials/access.ts";
import type { CircuitBreakerOptions } from "./circuit_breaker.ts";
import { CombinedDefinitions } from "./combined_definitions.ts";
import { ConfigurationError, type UpstreamConfiguration } from "./configuration/configuration.ts";
import type { ReadVariable, References } from "./configuration/environment.ts";
import { later } from "./later.ts";
import { assignPrefixes } from "./names.ts";
import { checkPrefixes, parseMcpServer, parseMcpServers } from "./configuration/parse_configuration.ts";
import { staticAccess } from "./static_access.ts";
import { createTransports, type LaunchUpstream, refuseProcess } from "./transports.ts";
import { createMcpClient } from "../../mcp_client/create_client.ts";
import { Upstream, type UpstreamHost } from "./upstream.ts";
import type { Upstreams, UpstreamState } from "./upstream_definition.ts";

export interface UpstreamsOptions {
  /** The option `mcpServers`: see `configuration.ts`. */
  readonly mcpServers: unknown;
  /** Reads an environment variable, for references in the configuration. @default none is set */
  readonly variable?: ReadVariable;
  /** How requests to an upstream are authorized. @default the headers in its configuration, one session for all */
  readonly access?: (configuration: UpstreamConfiguration) => UpstreamAccess;
  /** Starts processes: `launchProcess` of `trivet/launch-process`. Without it, upstreams with a command are refused. */
  readonly launch?: LaunchUpstream;
  /** @default the `fetch` of the runtime */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Called with each line that a process writes to its standard error. */
  readonly onStderr?: (upstream: string, line: string) => void;
  /** Called when an upstream connects, fails or is paused. */
  readonly onState?: (upstream: string, state: UpstreamState, error: string | undefined) => void;
  /** The name by which the gateway introduces itself. @default "trivet" */
  readonly name?: string;
  /** Milliseconds that `ready` and `prepare` wait at most. @default 5000 */
  readonly startTimeout?: number;
  /** Milliseconds after which the unused session of a user is closed. @default 600000 */
  readonly idleTimeout?: number;
  /** Milliseconds that an upstream with a handshake waits for the user of a client of 2026-07-28. @default 600000 */
  readonly inputTimeout?: number;
  /** Bytes of a message of an upstream. @default 4194304 */
  readonly messageBytes?: number;
  /** For tests. */
  readonly createTransport?: (
    configuration: UpstreamConfiguration,
    access: UpstreamAccess,
  ) => ClientTransport;
  readonly createClient?: (options: McpClientOptions) => McpClient;
  readonly breaker?: CircuitBreakerOptions;
  /** In milliseconds, of a clock that is never corrected. @default performance.now */
  readonly now?: () => number;
}

const SWEEP_INTERVAL_MS = 60_000;
const START_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 600_000;
const INPUT_TIMEOUT_MS = 600_000;
const MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Creates the upstreams and starts to connect those that all callers share.
 * @throws {ConfigurationError}
 */
export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const { startTimeout = START_TIMEOUT_MS, variable } = options;
  const upstreams = new Map<string, Upstream>();
  const changeListeners = new Set<(changedFor?: ChangedFor) => void>();
  const announcementListeners = new Set<(lists: ReadonlySet<ListName>, changedFor?: ChangedFor) => void>();
  const resourceListeners = new Set<(uri: string, changedFor?: ChangedFor) => void>();
  const combined = new CombinedDefinitions();
  let isClosed = false;

  const host: UpstreamHost = {
    createClient: options.createClient ?? createMcpClient,
    createTransport: options.createTransport ?? createTransports(options),
    client: { name: options.name ?? "trivet", version: VERSION },
    messageBytes: options.messageBytes ?? MESSAGE_BYTES,
    inputTimeout: options.inputTimeout ?? INPUT_TIMEOUT_MS,
    idleTimeout: options.idleTimeout ?? IDLE_TIMEOUT_MS,
    breaker: options.breaker ?? {},
    now: options.now ?? (() => performance.now()),
    onChange: (changedFor) => {
      for (const each of changeListeners) each(changedFor);
    },
    onAnnounced: (lists, changedFor) => {
      for (const each of announcementListeners) each(lists, changedFor);
    },
    onResourceUpdated: (uri, changedFor) => {
      for (const each of resourceListeners) each(uri, changedFor);
    },
    onState: (name, state, error) => options.onState?.(name, state, error),
  };

  /** In the order of their names, whatever the order of configuration and connection. */
  const ordered = (): Upstream[] =>
    [...upstreams.values()].sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

  function create(configuration: UpstreamConfiguration): Upstream {
    if (configuration.target.type === "stdio" && !options.launch && !options.createTransport) {
      throw refuseProcess(configuration.name);
    }
    const { target, shared } = configuration;
    const access = options.access?.(configuration) ??
      staticAccess(target.type === "stdio" ? {} : target.headers, shared);
    return new Upstream(host, configuration, access);
  }

  function check(
    name: string,
    server: unknown,
    references: References = variable,
  ): UpstreamConfiguration | undefined {
    const configuration = parseMcpServer(name, server, references);
    if (!configuration) return undefined;
    const problems: string[] = [];
    const others = [...upstreams.values()].filter((each) => each.name !== name);
    checkPrefixes([...others.map((each) => each.configuration), configuration], "mcpServers", problems);
    if (problems.length > 0) throw new ConfigurationError(problems);
    return configuration;
  }

  function rename(): void {
    const all = [...upstreams.values()];
    const prefixes = assignPrefixes(all.map(({ configuration }) => configuration));
    for (const each of all) each.setPrefix(prefixes.get(each.name)!);
    const heads = all.flatMap(({ uris }) => uris.heads);
    for (const each of all) each.setTaken({ prefixes: [...prefixes.values()], heads });
    combined.clear();
    host.onChange();
  }

  /** Waits for all, at most for the start timeout. */
  async function within(prepared: readonly Promise<void>[]): Promise<void> {
    if (prepared.length > 0) await waitAtMost(startTimeout, Promise.all(prepared));
  }

  async function prepare(caller: Principal | undefined): Promise<void> {
    const sessions = ordered().map((each) => each.sessionOf(caller));
    const missing = sessions.filter(({ lists }) => lists.digest === undefined);
    // All begin, but one that hangs is waited for once, and not after each change of another. One that failed soon is waited
    // for again: its user may have connected it meanwhile.
    await within(missing.flatMap((each) => {
      const prepared = each.prepare();
      return each.waitedMs < startTimeout ? [prepared] : [];
    }));
  }

  for (const configuration of parseMcpServers(options.mcpServers, variable)) {
    upstreams.set(configuration.name, create(configuration));
  }
  rename();
  const started = [...upstreams.values()].filter((each) => each.isShared).map((each) =>
    each.sessionOf(undefined).prepare()
  );
  let stopSweep = (): void => {};
  const sweep = (): void => {
    stopSweep = later(SWEEP_INTERVAL_MS, () => {
      for (const each of upstreams.values()) each.sweep();
      sweep();
    });
  };
  sweep();

  return {
    list: (caller) => combined.of(ordered().map((each) => each.offeredTo(caller) ?? [])),
    prepare,
    ready: () => within(started),
    watch(onChange) {
      changeListeners.add(onChange);
      return () => changeListeners.delete(onChange);
    },
    watchAnnouncements(onAnnounced) {
      announcementListeners.add(onAnnounced);
      return () => announcementListeners.delete(onAnnounced);
    },
    watchResources(onUpdate) {
      resourceListeners.add(onUpdate);
      return () => resourceListeners.delete(onUpdate);
    },
    async subscribe(uri, caller) {
      // An upstream that keeps its URIs could list one of another.
      const all = ordered().sort((a, b) => Number(b.isNamed) - Number(a.isNamed));
      for (const each of all) if (await each.subscribe(uri, caller)) return;
    },
    status: () => ordered().map((each) => each.status()),
    isShared: () => [...upstreams.values()].every((each) => each.isShared),
    check,
    add(name, server, references = variable) {
      if (isClosed) throw new TypeError("The gateway is closed");
      const configuration = check(name, server, references);
      const before = upstreams.get(name);
      // One that cannot be created leaves the one before as it is.
      const added = configuration && create(configuration);
      before?.close();
      upstreams.delete(name);
      if (added) {
        upstreams.set(name, added);
        if (added.isShared) added.sessionOf(undefined).prepare();
      }
      rename();
    },
    async remove(name) {
      const removed = upstreams.get(name);
      if (!removed) return false;
      upstreams.delete(name);
      rename();
      await removed.close();
      return true;
    },
    reconnect: (name, caller, when) => upstreams.get(name)?.reconnect(caller, when),
    async close() {
      isClosed = true;
      stopSweep();
      changeListeners.clear();
      announcementListeners.clear();
      resourceListeners.clear();
      await Promise.all([...upstreams.values()].map((each) => each.close()));
    },
  };
}
