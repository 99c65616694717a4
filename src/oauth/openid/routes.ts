/**
 * The endpoints that OpenID Connect adds; none when it is off. Their modules load with the first request.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { Route, RouteHandler } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

type Wrap = (handle: RouteHandler) => RouteHandler;

const showUserInfo = loadOnDemand(async () => (await import("./user_info.ts")).showUserInfo);

const endSessionForClient = loadOnDemand(async () => (await import("./end_session.ts")).endSessionForClient);
const answerEndSession = loadOnDemand(async () => (await import("./end_session.ts")).answerEndSession);

/**
 * @param api wraps endpoints for programs
 * @param page wraps endpoints for people
 */
export function openIdRoutes(as: AuthorizationServer, api: Wrap, page: Wrap): Route[] {
  if (!as.openid) return [];
  const userInfo = api((request, context) => showUserInfo(as, request, context));
  return [
    { method: "GET", path: "/oauth/userinfo", handle: userInfo },
    { method: "POST", path: "/oauth/userinfo", handle: userInfo },
    {
      method: "GET",
      path: "/oauth/logout",
      handle: page((request, context) => endSessionForClient(as, request, context)),
    },
    {
      method: "POST",
      path: "/oauth/logout",
      handle: page((request, context) => answerEndSession(as, request, context)),
    },
  ];
}
