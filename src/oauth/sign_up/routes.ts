/**
 * The routes for signing up. None while sign-up needs no page: closed for passwords, and not by invitation for providers.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { Route, RouteHandler } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const loadSignUp = () => import("./sign_up.ts");
const openInvitation = loadOnDemand(async () => (await loadSignUp()).openInvitation);
const showSignUp = loadOnDemand(async () => (await loadSignUp()).showSignUp);
const signUp = loadOnDemand(async () => (await loadSignUp()).signUp);
const loadConfirm = () => import("./confirm_sign_up.ts");
const showConfirmation = loadOnDemand(async () => (await loadConfirm()).showConfirmation);
const confirmSignUp = loadOnDemand(async () => (await loadConfirm()).confirmSignUp);

export function signUpRoutes(as: AuthorizationServer, page: (handle: RouteHandler) => RouteHandler): Route[] {
  const { passwords, providers } = as.signUp;
  if (passwords === "closed" && providers !== "invitation") return [];
  const path = "/login/sign-up";
  const confirm = `${path}/confirm`;
  return [
    { method: "GET", path: "/login/invitation", handle: page((request) => openInvitation(as, request)) },
    { method: "GET", path, handle: page((request) => showSignUp(as, request)) },
    { method: "POST", path, handle: page((request, context) => signUp(as, request, context)) },
    ...(passwords === "open"
      ? [
        { method: "GET", path: confirm, handle: page((request) => showConfirmation(as, request)) },
        {
          method: "POST",
          path: confirm,
          handle: page((request, context) => confirmSignUp(as, request, context)),
        },
      ] as const
      : []),
  ];
}
