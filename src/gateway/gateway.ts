/**
 * `gateway()`: the option `gateway` of `createTrivet`. Connects upstreams, their credentials, the policy and the views.
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../options/option_check.ts";
import type { Principal } from "../http/principal.ts";
import type { Connect } from "../http/network/public_fetch.ts";
import type { ChangedFor } from "../mcp/definition/changes.ts";
import { userKey } from "../mcp/session/principal_key.ts";
import { isUpstreamDefinition, type UpstreamDefinition } from "./upstream/upstream_definition.ts";
import { createCredentials } from "./credentials/credentials.ts";
import { ListNotifier, LISTS } from "./list_notifier.ts";
import type { GatewayHost, GatewayOption, GatewayParts } from "./option.ts";
import { createHolding } from "./policy/held/create_holding.ts";
import type { HoldingOptions } from "./policy/held/holding.ts";
import { createPolicy } from "./policy/policy.ts";
import type { PolicyOptions } from "./policy/policy_options.ts";
import { followStoredUpstreams } from "./stored/follow_stored_upstreams.ts";
import { createUpstreamSealer } from "./stored/stored_upstream.ts";
import { createStoredUpstreams } from "./stored/stored_upstreams.ts";
import type { McpServers } from "./upstream/configuration/configuration.ts";
import { createUpstreams, type UpstreamsOptions } from "./upstream/upstreams.ts";
import { createUpstreamAddresses } from "./upstream_addresses.ts";
import { createGatewayViews } from "./views/views.ts";

/** Options of {@linkcode gateway}. */
export interface GatewayOptions extends
  Pick<
    UpstreamsOptions,
    "launch" | "variable" | "onStderr" | "startTimeout" | "idleTimeout" | "inputTimeout" | "messageBytes"
  > {
  /** MCP servers by name, in the shape that MCP clients read, with options of the gateway beside it. @default none */
  readonly mcpServers?: McpServers | undefined;
  /** Who may call what, how often, and what the user must approve. @default all callers may call all that they see */
  readonly policy?: PolicyOptions | undefined;
  /**
   * Offers tools of upstreams with the description that was approved only: one that changes is held until an administrator
   * approves it. `false`: offers whatever an upstream has.
   * @default { approveFirst: true }
   */
  readonly hold?: HoldingOptions | false | undefined;
  /**
   * Whether administrators may add upstreams with a command, which runs on the machine of the server, and at addresses that
   * are not public.
   * @default false
   */
  readonly trustAdministrators?: boolean | undefined;
  /** Reaches upstreams and their authorization servers at public addresses. @default the connector of the runtime entry */
  readonly connect?: Connect | undefined;
  /** Reaches upstreams that the configuration names. @default the platform's fetch */
  readonly fetch?: Connect | undefined;
}

/** Users whose filtered list is kept; that of others is made again. */
const MAX_FILTERED = 10_000;

const NAMES: Names<GatewayOptions> = {
  mcpServers: "object",
  policy: "object",
  hold: "unknown",
  trustAdministrators: "boolean",
  connect: "function",
  fetch: "function",
  launch: "function",
  variable: "function",
  onStderr: "function",
  startTimeout: "number",
  idleTimeout: "number",
  inputTimeout: "number",
  messageBytes: "number",
};

/**
 * A gateway to other MCP servers: this server offers their tools, resources and prompts beside its own, with permission for
 * each person and each tool.
 *
 * ```ts
 * createTrivet({
 *   issuer,
 *   store,
 *   gateway: gateway({ mcpServers: { github: { url: "https://mcp.example.com/mcp", auth: { type: "oauth" } } } }),
 * });
 * ```
 * @throws {ConfigurationError} naming every problem of `mcpServers`
 */
export function gateway(options: GatewayOptions = {}): GatewayOption {
  checkNames("gateway", options, NAMES);
  for (const name of ["startTimeout", "idleTimeout", "inputTimeout", "messageBytes"] as const) {
    if (options[name] !== undefined) checkWhole(`gateway.${name}`, options[name], 1);
  }
  return { connect: (host) => connectGateway(options, host) };
}

function connectGateway(options: GatewayOptions, host: GatewayHost): GatewayParts {
  const { store, now, observe, issuer, oauth } = host;
  const { mcpServers = {}, policy: policyOptions, hold = {}, trustAdministrators = false } = options;
  const credentials = createCredentials({
    ...host,
    connect: options.connect,
    fetch: options.fetch,
    onConnected: (name, subject) =>
      // Calls that waited for the connection may run with it already.
      upstreams.reconnect(name, { subject, scopes: new Set(), workspace: "default" }, "idle"),
  });
  const addresses = createUpstreamAddresses(options.connect, options.fetch);
  const upstreams = createUpstreams({
    ...options,
    fetch: addresses.fetch,
    name: host.name,
    mcpServers,
    access: ({ name, target, shared, auth }) =>
      credentials.add(name, target.type === "stdio" ? { shared, auth } : { ...target, shared, auth }),
    onState: (upstream, state, error) => observe({ type: "upstream_changed", upstream, state, error }),
  });
  const policy = policyOptions && createPolicy(policyOptions, {
    ...host,
    place: issuer.replace(/\/$/, ""),
    hasPages: oauth !== undefined,
    fetch: options.fetch,
  });
  const holding = hold === false ? undefined : createHolding(hold, { store, now, observe });
  const configured = new Set(Object.keys(mcpServers));
  const isConfigured = (name: string): boolean => configured.has(name);
  const sealer = createUpstreamSealer(host.secret);
  function addHere(...[name, server, references]: Parameters<typeof upstreams.add>): void {
    upstreams.add(name, server, references);
    if (server.disabled === true) credentials.forget(name);
  }
  async function removeHere(name: string): Promise<boolean> {
    credentials.forget(name);
    return await upstreams.remove(name);
  }
  const followed = followStoredUpstreams({
    store,
    sealer,
    upstreams: {
      add(name, server, isTrusted) {
        if (isTrusted || !("url" in server)) addresses.trust(name);
        else addresses.distrust(name, server.url);
        addHere(name, server, "literal");
      },
      async remove(name) {
        await removeHere(name);
        addresses.trust(name);
      },
    },
    endConnections: credentials.endConnections,
    isConfigured,
    onProblem: (name, error) => observe({ type: "fault", where: `upstream ${name}`, error }),
  });

  /** What of the lists that callers share is offered, by user where each has approvals, until something is approved. */
  let filtered = new WeakMap<readonly UpstreamDefinition[], Map<string, readonly UpstreamDefinition[]>>();
  async function list(caller: Principal | undefined): Promise<readonly UpstreamDefinition[]> {
    await followed.ready;
    await upstreams.prepare(caller);
    const all = upstreams.list(caller);
    if (!holding) return all;
    let byUser = filtered.get(all);
    if (!byUser) filtered.set(all, byUser = new Map());
    const user = holding.isPerUser ? userKey(caller) : "";
    const known = byUser.get(user);
    if (known) return known;
    const parts = Map.groupBy(all, ({ upstream }) => upstream);
    const lists = await Promise.all(
      [...parts].map(([name, definitions]) =>
        holding.filter(name, credentials.accessFor(name).partition(caller), definitions)
      ),
    );
    const result = lists.flatMap((each) => each.offered);
    byUser.set(user, result);
    if (byUser.size > MAX_FILTERED) byUser.delete(byUser.keys().next().value!);
    return result;
  }

  const listeners = new Set<(changedFor?: ChangedFor) => void>();
  const onChange = (changedFor?: ChangedFor): void => {
    for (const each of listeners) each(changedFor);
  };
  upstreams.watch(onChange);
  holding?.watch(() => {
    filtered = new WeakMap();
    onChange();
  });

  let stopNotifying = (): void => {};
  return {
    server: {
      views: createGatewayViews({
        list,
        watch: (listener) => listeners.add(listener),
        isVisible: policy?.isVisible,
        middleware: policy && [policy.middleware],
        guardCompletions: policy?.guardCompletions,
        isDenied: policy?.isDenied,
        skills: host.skills,
        implied: host.implied,
        isShared: () => upstreams.isShared(),
        onInvalid: (definition, error) => {
          const where = isUpstreamDefinition(definition) ? `upstream ${definition.upstream}` : "mcp";
          observe({ type: "fault", where, error });
        },
      }),
      onSubscribed(uris, caller) {
        for (const uri of uris) {
          upstreams.subscribe(uri, caller).catch((error) =>
            observe({ type: "fault", where: "gateway", error })
          );
        }
      },
    },
    services: [credentials.service],
    connectionPages: credentials.pages,
    attach(server) {
      const notifier = new ListNotifier(
        server,
        (error) => observe({ type: "fault", where: "gateway", error }),
      );
      stopNotifying = () => notifier.stop();
      listeners.add((changedFor) => notifier.notify(LISTS, changedFor));
      upstreams.watchAnnouncements((lists, changedFor) =>
        notifier.notify(
          [...lists].map((each) => each === "tools" || each === "prompts" ? each : "resources"),
          changedFor,
        )
      );
      upstreams.watchResources((uri, changedFor) => {
        server.resourceUpdated(uri, changedFor)
          .catch((error) => observe({ type: "fault", where: "gateway", error }));
      });
    },
    gateway: {
      status: () => upstreams.status(),
      async ready() {
        await followed.ready;
        await upstreams.ready();
      },
      reconnect: (name, caller, when) => upstreams.reconnect(name, caller, when),
      add(name, server) {
        addHere(name, server);
        configured.add(name);
        addresses.trust(name);
      },
      async remove(name) {
        configured.delete(name);
        const isRemoved = await removeHere(name);
        await followed.readAgain(name);
        return isRemoved;
      },
      stored: createStoredUpstreams({
        store,
        sealer,
        now,
        isTrusted: trustAdministrators,
        isConfigured,
        check: (name, server) => upstreams.check(name, server, "literal"),
        read: followed.read,
        endConnections: credentials.endConnections,
        revokeEnded: credentials.revokeEnded,
      }),
      async close() {
        stopNotifying();
        followed.stop();
        credentials.close();
        await upstreams.close();
      },
    },
  };
}
