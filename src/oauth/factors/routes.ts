/**
 * The routes for factors, loaded when they are first called. None without passkeys and authenticator apps.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { Route, RouteHandler } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const loadLogin = () => import("./login_factor.ts");
const showLoginFactor = loadOnDemand(async () => (await loadLogin()).showLoginFactor);
const checkLoginFactor = loadOnDemand(async () => (await loadLogin()).checkLoginFactor);
const loginByPasskey = loadOnDemand(async () => (await import("./passkey_login.ts")).loginByPasskey);
const servePasskeyScript = loadOnDemand(async () => {
  const { servePasskeyScript } = await import("./passkey_script.ts");
  return () => Promise.resolve(servePasskeyScript());
});
const loadList = () => import("./account_factors.ts");
const showFactors = loadOnDemand(async () => (await loadList()).showFactors);
const renameFactor = loadOnDemand(async () => (await loadList()).renameFactor);
const removeFactor = loadOnDemand(async () => (await loadList()).removeFactor);
const renewCodes = loadOnDemand(async () => (await loadList()).renewCodes);
const loadTotp = () => import("./add_totp.ts");
const showAddTotp = loadOnDemand(async () => (await loadTotp()).showAddTotp);
const addTotp = loadOnDemand(async () => (await loadTotp()).addTotp);
const loadPasskey = () => import("./add_passkey.ts");
const showAddPasskey = loadOnDemand(async () => (await loadPasskey()).showAddPasskey);
const addPasskey = loadOnDemand(async () => (await loadPasskey()).addPasskey);

const LIST = "/account/factors";
/** Where users may go or send forms, after the path of the issuer. */
export const FACTOR_PATHS: readonly string[] = [
  "/login/factor",
  "/login/passkey",
  ...["", "/rename", "/remove", "/codes", "/totp", "/passkey"].map((path) => LIST + path),
];

export function factorRoutes(as: AuthorizationServer, page: (handle: RouteHandler) => RouteHandler): Route[] {
  const { totp, passkeys } = as.factors;
  if (!totp && !passkeys) return [];
  type Handle = (as: AuthorizationServer, request: Request, ...more: never[]) => Promise<Response>;
  const get = (path: string, handle: Handle): Route => ({
    method: "GET",
    path,
    handle: page((request) => handle(as, request)),
  });
  const post = (path: string, handle: Handle): Route => ({ ...get(path, handle), method: "POST" });
  return [
    get("/login/factor", showLoginFactor),
    {
      method: "POST",
      path: "/login/factor",
      handle: page((request, context) => checkLoginFactor(as, request, context)),
    },
    get(LIST, showFactors),
    post(`${LIST}/rename`, renameFactor),
    post(`${LIST}/remove`, removeFactor),
    post(`${LIST}/codes`, renewCodes),
    ...totp ? [get(`${LIST}/totp`, showAddTotp), post(`${LIST}/totp`, addTotp)] : [],
    ...passkeys
      ? [
        get(`${LIST}/passkey`, showAddPasskey),
        post(`${LIST}/passkey`, addPasskey),
        get("/login/passkey.js", servePasskeyScript),
        {
          method: "POST",
          path: "/login/passkey",
          handle: page((request, context) => loginByPasskey(as, request, context)),
        } as const,
      ]
      : [],
  ];
}
