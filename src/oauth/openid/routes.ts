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

/** @param api wraps endpoints for programs */
export function openIdRoutes(as: AuthorizationServer, api: Wrap): Route[] {
  if (!as.openid) return [];
  const userInfo = api((request, context) => showUserInfo(as, request, context));
  return [
    { method: "GET", path: "/oauth/userinfo", handle: userInfo },
    { method: "POST", path: "/oauth/userinfo", handle: userInfo },
  ];
}
