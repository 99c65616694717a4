/**
 * The routes of the pages on which a user approves a call of a tool, loaded at first use.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { Route, RouteHandler } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const load = () => import("./approval_page.ts");
const show = loadOnDemand(async () => (await load()).showApproval);
const decide = loadOnDemand(async () => (await load()).decideApproval);
const loadList = () => import("./allowed_calls.ts");
const showList = loadOnDemand(async () => (await loadList()).showAllowedCalls);
const endCall = loadOnDemand(async () => (await loadList()).endAllowedCall);

export function approvalRoutes(
  as: AuthorizationServer,
  page: (handle: RouteHandler) => RouteHandler,
): Route[] {
  const list = "/account/approvals";
  const path = `${list}/:id`;
  return [
    { method: "GET", path: list, handle: page((request, context) => showList(as, request, context)) },
    { method: "POST", path: list, handle: page((request) => endCall(as, request)) },
    { method: "GET", path, handle: page((...values) => show(as, ...values)) },
    { method: "POST", path, handle: page((...values) => decide(as, ...values)) },
  ];
}
