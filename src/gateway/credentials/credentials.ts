/**
 * The credentials of the gateway: how requests to each upstream are authorized, and the pages where users connect them.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { checkConfiguredUrl, checkPublicUrl, type Connect } from "../../http/network/public_fetch.ts";
import { jsonFields, respond, respondText } from "../../http/response.ts";
import { pathOf } from "../../http/router.ts";
import type { Service } from "../../http/service.ts";
import type { AuthorizationServerOptions } from "../../oauth/authorization_server.ts";
import { endUpstreamConnections } from "../../oauth/connection_records.ts";
import type { Store } from "../../store/store.ts";
import { ConnectionRequired, type UpstreamAccess } from "./access.ts";
import { checkAuth } from "./check_auth.ts";
import { describeClient } from "./client_registration.ts";
import { createConnectLinks } from "./connect_link.ts";
import type { CredentialsContext, IdentityHooks, Upstream } from "./context.ts";
import { createExchangeAccess } from "./exchange_access.ts";
import { createSecretAccess } from "./secret_access.ts";
import { staticAccess } from "../upstream/static_access.ts";
import { createNetworks } from "./network.ts";
import { createOAuthAccess } from "./oauth_access.ts";
import { createProviderAccess } from "./provider_access.ts";
import { createRevocations } from "./revocations.ts";
import { createSealedRecords } from "./sealed_records.ts";
import { createWaitingUsers, type OnConnected } from "./waiting_users.ts";

export interface CredentialsOptions {
  readonly store: Store;
  /** Secrets that all instances share. */
  readonly secret: FindSecrets;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
  readonly issuer: string;
  /** The authorization server of this server; without it no upstream has credentials of users. */
  readonly oauth: IdentityHooks | undefined;
  /** How this server calls itself where it registers as a client. @default "Trivet at <host>" */
  readonly clientName?: string | undefined;
  /** Reaches public addresses only. @default the connector of the runtime entry */
  readonly connect?: Connect | undefined;
  /** Reaches private addresses as well, for upstreams with `allowPrivateAddresses`. @default the platform's fetch */
  readonly fetch?: Connect | undefined;
  /** Called when a user whose call failed here for want of a connection has connected, at any instance. */
  readonly onConnected?: OnConnected | undefined;
}

/** What is needed of the configuration of an upstream. */
export interface UpstreamSettings {
  /** Absent for a process. */
  readonly url?: string | undefined;
  /** Sent with each request, for every caller. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Without credentials of users: one session for all callers, or one for each. @default true */
  readonly shared?: boolean | undefined;
  /** {@linkcode UpstreamAuth}, not checked yet. @default `{ type: "none" }` */
  readonly auth?: unknown;
}

export interface Credentials {
  /**
   * Adds an upstream, or replaces the one with this name.
   * @throws {TypeError} naming the place in the configuration and the rule
   */
  add(name: string, settings: UpstreamSettings): UpstreamAccess;
  /** How requests to an upstream are authorized. @throws {RangeError} for an unknown name */
  accessFor(name: string): UpstreamAccess;
  /** Removes an upstream from this instance. Its users' connections stay, for when it comes back. */
  forget(name: string): void;
  /**
   * Ends all users' connections to an upstream. Their tokens wait to be revoked.
   * @returns the number of connections
   */
  endConnections(name: string): Promise<number>;
  /** The pages below `/account/connections`, for the authorization server. */
  readonly pages: NonNullable<AuthorizationServerOptions["connections"]>;
  /** The metadata documents of this server as a client. */
  readonly service: Service;
  /** Revokes the tokens of connections that have ended. Pages and calls do it, too, about once a minute. */
  revokeEnded(): Promise<void>;
  /** Ends the watch of the store. */
  close(): void;
}

const DOCUMENT_FIELDS = jsonFields(["cache-control", "public, max-age=300"], [
  "access-control-allow-origin",
  "*",
]);

/** Revocations when connections have ended; the rest follows with later requests. */
const MAX_REVOCATIONS = 500;

const servePage = loadOnDemand(async () => (await import("./pages/routes.ts")).serveConnectionPage);

/** Creates the credentials of a gateway. */
export function createCredentials(options: CredentialsOptions): Credentials {
  const { store, secret, now, observe, issuer, oauth } = options;
  const place = issuer.replace(/\/$/, "");
  const context: CredentialsContext = {
    store,
    now,
    observe,
    issuer,
    place,
    clientName: options.clientName ?? `Trivet at ${new URL(issuer).host}`,
    records: createSealedRecords(secret),
    networks: createNetworks(options),
    links: createConnectLinks(secret, now),
    oauth,
  };
  const revocations = createRevocations(context);
  const waiting = options.onConnected && createWaitingUsers(
    store,
    options.onConnected,
    (error) => observe({ type: "fault", where: "gateway", error }),
  );
  const upstreams = new Map<string, Upstream>();
  const accesses = new Map<string, UpstreamAccess>();
  const base = new URL(place).pathname.replace(/\/$/, "");

  return {
    add(name, settings) {
      const upstream = checkUpstream(context, name, settings);
      const access = createAccess(context, upstream, settings.shared);
      const observed: UpstreamAccess = {
        ...access,
        async headers(caller, signal) {
          revocations.runSometimes();
          try {
            return await access.headers(caller, signal);
          } catch (error) {
            if (error instanceof ConnectionRequired) waiting?.add(name, caller!.subject!, upstream.url);
            throw error;
          }
        },
      };
      // The one before may have had a URL.
      if (upstream.url === "") upstreams.delete(name);
      else upstreams.set(name, upstream);
      accesses.set(name, observed);
      return observed;
    },
    accessFor(name) {
      const access = accesses.get(name);
      if (!access) throw new RangeError(`There is no upstream "${name}"`);
      return access;
    },
    forget(name) {
      upstreams.delete(name);
      accesses.delete(name);
    },
    endConnections: (name) =>
      endUpstreamConnections(
        store,
        name,
        (user) => observe({ type: "connection_removed", user, upstream: name }),
      ),
    pages: (as, request, requestContext) =>
      servePage({ credentials: context, upstreams, revocations }, as, request, requestContext),
    service: {
      mounts: ["connections"],
      fetch(request) {
        const tag = /^\/connections\/([A-Za-z0-9_-]{22})\/client\.json$/.exec(
          pathOf(request.url).slice(base.length),
        )?.[1];
        if (tag === undefined) return Promise.resolve(respondText(404, "Not found."));
        if (request.method !== "GET" && request.method !== "HEAD") {
          const text = "Method not allowed. Allowed: GET, HEAD.";
          return Promise.resolve(respondText(405, text, [["allow", "GET, HEAD"]]));
        }
        return Promise.resolve(respond(200, JSON.stringify(describeClient(context, tag)), DOCUMENT_FIELDS));
      },
    },
    revokeEnded: () => revocations.run(MAX_REVOCATIONS),
    close: () => waiting?.close(),
  };
}

/** An upstream from its configuration. @throws {TypeError} naming the place and the rule */
function checkUpstream(
  { oauth, issuer }: CredentialsContext,
  name: string,
  { url = "", headers = {}, auth: given }: UpstreamSettings,
): Upstream {
  const place = `mcpServers.${name}`;
  if (given !== undefined && url === "") throw new TypeError(`${place}.auth: needs "url"`);
  const auth = checkAuth(place, given, { url, headers });
  const isPrivate = (auth.type === "oauth" || auth.type === "id-jag") && auth.allowPrivateAddresses === true;
  if (auth.type !== "none") {
    if (!oauth) {
      throw new TypeError(`${place}.auth: needs the authorization server: remove "oauth: false"`);
    }
    const problem = checkConfiguredUrl(url);
    if (problem) throw new TypeError(`${place}.url: ${problem}, because credentials are sent to it`);
    if (new URL(url).origin === new URL(issuer).origin) {
      throw new TypeError(`${place}.url: is an address of this server, which needs no credentials of users`);
    }
  }
  const problem = auth.type === "oauth" && !isPrivate ? checkPublicUrl(url) : undefined;
  if (problem) {
    throw new TypeError(
      `${place}.url: ${problem}. For a server of your own set "allowPrivateAddresses" in its "auth"`,
    );
  }
  return { name, url, headers, auth, isPrivate };
}

function createAccess(
  context: CredentialsContext,
  upstream: Upstream,
  shared: boolean | undefined,
): UpstreamAccess {
  const { auth } = upstream;
  switch (auth.type) {
    case "none":
      return staticAccess(upstream.headers, shared);
    case "secret":
      return createSecretAccess(context, { ...upstream, auth });
    case "oauth":
      return createOAuthAccess(context, { ...upstream, auth });
    case "token-exchange":
      return createExchangeAccess(context, { ...upstream, auth });
    case "id-jag":
      return createExchangeAccess(context, { ...upstream, auth });
    case "provider-token":
      return createProviderAccess(context, { ...upstream, auth });
  }
}
