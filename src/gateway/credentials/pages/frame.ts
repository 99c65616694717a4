/**
 * What the pages of connections share: the upstreams that users connect, and the page for a connection that was not made.
 *
 * @module
 */
import type { RequestContext } from "../../../http/service.ts";
import type {
  ConnectionKind,
  ConnectionRefusedView,
} from "../../../oauth/account/connections/connection_views.ts";
import type { AuthorizationServer } from "../../../oauth/authorization_server.ts";
import { showPage } from "../../../oauth/pages/page.ts";
import { SessionEndedError } from "../../../oauth/users/session.ts";
import { ConnectError, type ConnectProblem, isOutsideError } from "../connect_error.ts";
import { CONNECTIONS_PATH, type CredentialsContext, type Upstream } from "../context.ts";
import type { Revocations } from "../revocations.ts";

/** What these pages need. */
export interface ConnectionPagesContext {
  readonly credentials: CredentialsContext;
  /** The upstreams by name, in the order of the configuration. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly revocations: Revocations;
}

export type Handle = (
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
) => Promise<Response>;

/** The path of the list. */
export function listOf({ base }: AuthorizationServer): string {
  return base + CONNECTIONS_PATH;
}

/** Reports a connection that was not made. */
export function reportFailure(
  { credentials: { observe } }: ConnectionPagesContext,
  user: string,
  upstream: string,
  reason: ConnectProblem,
  { ip }: RequestContext,
): void {
  observe({ type: "connection_failed", user, upstream, reason, ip });
}

/** The page of a connection that was not made. */
export function refuseConnection(
  as: AuthorizationServer,
  request: Request,
  view: Omit<ConnectionRefusedView, "name" | "connections">,
  status: number,
): Promise<Response> {
  return showPage(as, request, { name: "connection_refused", connections: listOf(as), ...view }, {
    status,
    formAction: "'none'",
  });
}

/** The page for an error while connecting. Rethrows defects of this server. */
export async function showProblem(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  user: string,
  upstream: string,
  error: unknown,
): Promise<Response> {
  const isEnded = error instanceof SessionEndedError;
  if (!isEnded && !(error instanceof ConnectError) && !isOutsideError(error)) throw error;
  const reason = isEnded ? "state_invalid" : error instanceof ConnectError ? error.code : "unreachable";
  reportFailure(pages, user, upstream, reason, context);
  if (reason === "state_invalid") {
    return await refuseConnection(as, request, { code: "session_changed" }, 400);
  }
  if (reason === "access_denied") {
    return await refuseConnection(as, request, { code: "denied", upstream }, 400);
  }
  return await refuseConnection(as, request, { code: "failed", upstream, reason }, 502);
}

/** How users connect it; `undefined` when they have nothing to do. */
export function kindOf(upstream: Upstream): ConnectionKind | undefined {
  const { type } = upstream.auth;
  if (type === "oauth" || type === "secret") return type;
  return providerOf(upstream) === undefined ? undefined : "provider";
}

/** The identity provider whose tokens are used. */
export function providerOf({ auth }: Upstream): string | undefined {
  switch (auth.type) {
    case "provider-token":
      return auth.provider;
    case "token-exchange":
      return auth.subject.provider;
    case "id-jag":
      return auth.provider?.id;
    default:
      return undefined;
  }
}
