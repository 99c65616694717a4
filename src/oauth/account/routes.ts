/**
 * The routes of the account pages, loaded at first use. None when the option `account` is `false`.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { Route, RouteHandler } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

type Handle = (as: AuthorizationServer, request: Request, context: RequestContext) => Promise<Response>;

const notifyEndedSessions = loadOnDemand(async () =>
  (await import("../openid/backchannel_logout.ts")).notifyEndedSessions
);

const at = (load: () => Promise<Handle>): Handle => loadOnDemand(load);
const data = () => import("./data.ts");

/** What GET shows and POST does, by path below `/account`. */
const PAGES: readonly (readonly [path: string, show: Handle | undefined, act?: Handle])[] = [
  ["", at(async () => (await import("./overview.ts")).showOverview)],
  [
    "/profile",
    at(async () => (await import("./profile.ts")).showProfile),
    at(async () => (await import("./profile.ts")).changeName),
  ],
  [
    "/email",
    at(async () => (await import("./profile.ts")).showEmail),
    at(async () => (await import("./profile.ts")).changeEmail),
  ],
  [
    "/password",
    at(async () => (await import("./password.ts")).showPassword),
    at(async () => (await import("./password.ts")).changePassword),
  ],
  [
    "/sessions",
    at(async () => (await import("./sessions.ts")).showSessions),
    at(async () => (await import("./sessions.ts")).endSessions),
  ],
  [
    "/applications",
    at(async () => (await import("./applications.ts")).showApplications),
    at(async () => (await import("./applications.ts")).endApplication),
  ],
  [
    "/providers",
    at(async () => (await import("./linked_providers.ts")).showProviders),
    at(async () => (await import("./linked_providers.ts")).changeProviders),
  ],
  ["/data", at(async () => (await data()).showData)],
  ["/export", undefined, at(async () => (await data()).exportData)],
  ["/delete", at(async () => (await data()).showDelete), at(async () => (await data()).deleteAccount)],
];

/** The pages of connections to upstreams, which the gateway answers. */
export const CONNECTION_PATHS: readonly string[] = ["", "/connect", "/callback/:server", "/disconnect"]
  .map((path) => `/account/connections${path}`);

/** Where a form ends sessions: their clients are notified at once, and not with the next request of OpenID Connect. */
const ENDING = ["/password", "/sessions", "/delete"];

/** The paths of the account pages. */
export const ACCOUNT_PATHS: readonly string[] = PAGES.map(([path]) => `/account${path}`);

export function accountRoutes(
  as: AuthorizationServer,
  page: (handle: RouteHandler) => RouteHandler,
): Route[] {
  const connections = as.connections &&
    CONNECTION_PATHS.flatMap((path) =>
      (["GET", "POST"] as const).map((method): Route => ({
        method,
        path,
        handle: page((request, context) => as.connections!(as, request, context)),
      }))
    );
  if (!as.account) return connections ?? [];
  return [
    ...connections ?? [],
    ...PAGES.flatMap(([path, show, act]): Route[] =>
      ([["GET", show], ["POST", act]] as const).flatMap(([method, handle]): Route[] =>
        handle
          ? [{
            method,
            path: `/account${path}`,
            handle: page(async (request, context) => {
              const response = await handle(as, request, context);
              if (as.openid && method === "POST" && ENDING.includes(path)) {
                await notifyEndedSessions(as, context);
              }
              return response;
            }),
          }]
          : []
      )
    ),
  ];
}
