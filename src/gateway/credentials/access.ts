/**
 * How requests to an upstream are authorized: the interface between the connections to upstreams, which know nothing of
 * credentials, and this folder, which knows nothing of MCP.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";

/** A response with status 401 or 403 of an upstream. */
export interface AccessRefusal {
  readonly status: number;
  /** The field `WWW-Authenticate` of the response. */
  readonly challenge: string | null;
  /** The URL of the request. */
  readonly url: string;
  /** What `headers()` returned for the request. With other credentials by now, it is sent again. */
  readonly used: Readonly<Record<string, string>>;
}

/** How requests to one upstream are authorized. Every instance gives the same answers. */
export interface UpstreamAccess {
  /**
   * Callers with the same partition share a session of the upstream: `""` when all callers have the same credentials,
   * otherwise one for each user. Requests of one partition never carry credentials of another.
   */
  partition(caller: Principal | undefined): string;
  /**
   * The header fields that authorize a request of the caller. They contain secrets: send them to the upstream only, and log
   * nothing of them.
   * @throws {ConnectionRequired} when the user must connect the upstream first
   * @throws {AccessDenied} when the caller cannot connect it
   * @throws {AccessUnavailable} when its authorization server does not answer now
   */
  headers(caller: Principal | undefined, signal?: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /**
   * After a response with status 401 or 403. `true`: call `headers()` and send the request again, once. `false`: the
   * upstream refused for another reason.
   * @throws {ConnectionRequired} when the user must connect the upstream, again or with more scopes
   * @throws {AccessDenied | AccessUnavailable} as `headers()`
   */
  refused(caller: Principal | undefined, refusal: AccessRefusal, signal?: AbortSignal): Promise<boolean>;
}

/** The user must connect the upstream first, at an address of this server. */
export class ConnectionRequired extends Error {
  override readonly name = "ConnectionRequired";
  /** The name of the upstream in the configuration. */
  readonly upstream: string;
  /** Where the user connects it. It works only for the user whose call failed, who has to sign in there. */
  readonly url: string;

  constructor(upstream: string, url: string) {
    super(`Connect "${upstream}" first: open ${url}`);
    this.upstream = upstream;
    this.url = url;
  }
}

/** The caller cannot connect the upstream: an anonymous caller, or a client that acts for no user. */
export class AccessDenied extends Error {
  override readonly name = "AccessDenied";
  readonly upstream: string;

  constructor(upstream: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.upstream = upstream;
  }
}

/** The credentials could not be had now, such as from an authorization server that does not answer. Try again. */
export class AccessUnavailable extends Error {
  override readonly name = "AccessUnavailable";
  readonly upstream: string;

  constructor(upstream: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.upstream = upstream;
  }
}
