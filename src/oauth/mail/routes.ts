/**
 * The routes for forgotten passwords and e-mail verification. None without `sendMail`.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { Route, RouteHandler } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const loadForgot = () => import("./forgot_password.ts");
const showForgotPassword = loadOnDemand(async () => (await loadForgot()).showForgotPassword);
const forgotPassword = loadOnDemand(async () => (await loadForgot()).forgotPassword);
const loadReset = () => import("./reset_password.ts");
const showResetPassword = loadOnDemand(async () => (await loadReset()).showResetPassword);
const submitResetPassword = loadOnDemand(async () => (await loadReset()).submitResetPassword);
const loadVerify = () => import("./verify_email.ts");
const showVerifyEmail = loadOnDemand(async () => (await loadVerify()).showVerifyEmail);
const submitVerifyEmail = loadOnDemand(async () => (await loadVerify()).submitVerifyEmail);

/** Whether users can reset a forgotten password. */
export function hasPasswordReset(
  { sendMail, passwordLogin, authenticateUser }: AuthorizationServer,
): boolean {
  return sendMail !== undefined && passwordLogin && !authenticateUser;
}

export function mailRoutes(as: AuthorizationServer, page: (handle: RouteHandler) => RouteHandler): Route[] {
  if (!hasPasswordReset(as)) return [];
  return [
    { method: "GET", path: "/login/forgot", handle: page((request) => showForgotPassword(as, request)) },
    {
      method: "POST",
      path: "/login/forgot",
      handle: page((request, context) => forgotPassword(as, request, context)),
    },
    { method: "GET", path: "/login/reset", handle: page((request) => showResetPassword(as, request)) },
    {
      method: "POST",
      path: "/login/reset",
      handle: page((request, context) => submitResetPassword(as, request, context)),
    },
    { method: "GET", path: "/login/verify-email", handle: page((request) => showVerifyEmail(as, request)) },
    {
      method: "POST",
      path: "/login/verify-email",
      handle: page((request, context) => submitVerifyEmail(as, request, context)),
    },
  ];
}
