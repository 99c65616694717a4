/**
 * `/account/factors`: the list of the user's factors, and the forms that rename and remove them and renew recovery codes.
 *
 * @module
 */
import type { Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { refuse, showPage } from "../pages/page.ts";
import { findWayWithoutPasskeys } from "../users/sign_in_ways.ts";
import { FACTORS_PATH, openFactorForm, openFactors, redirectToFactors } from "./account_request.ts";
import {
  removePasskey,
  removeTotp,
  renamePasskey,
  renewRecoveryCodes,
  toFactorName,
} from "./change_factors.ts";
import { findFactors } from "./factor_record.ts";
import type { FactorsView } from "./pages/factor_views.ts";

/** `GET /account/factors` */
export async function showFactors(as: AuthorizationServer, request: Request): Promise<Response> {
  const signedIn = await openFactors(as, request, { mustBeRecent: false });
  return signedIn instanceof Response ? signedIn : await factorsPage(as, request, signedIn.user.id);
}

async function factorsPage(
  as: AuthorizationServer,
  request: Request,
  user: string,
  problem?: NonNullable<FactorsView["problem"]>["code"],
): Promise<Response> {
  const { totp, passkeys = [], recovery } = await findFactors(as, user);
  const url = (path: string) => as.base + FACTORS_PATH + path;
  return await showPage(as, request, {
    name: "factors",
    ...(totp && { totp: { created: totp.created, ...(totp.used !== undefined && { used: totp.used }) } }),
    passkeys: passkeys.map(({ id, name, created, used, synced = false }) => ({
      id,
      name,
      created,
      ...(used !== undefined && { used }),
      isSynced: synced,
    })),
    ...(recovery && { recoveryCodes: recovery.digests.length }),
    ...(as.factors.totp && { addTotp: url("/totp") }),
    ...(as.factors.passkeys && { addPasskey: url("/passkey") }),
    rename: url("/rename"),
    remove: url("/remove"),
    renewCodes: url("/codes"),
    ...(as.factors.hasAccount && { account: `${as.base}/account` }),
    ...(problem && { problem: { code: problem } }),
  }, { status: problem ? 400 : 200, formAction: "'self'" });
}

/** `POST /account/factors/rename` with `id` and `label` */
export async function renameFactor(as: AuthorizationServer, request: Request): Promise<Response> {
  const form = await openFactorForm(as, request, { mustBeRecent: false });
  if (form instanceof Response) return form;
  const { signedIn, values, store } = form;
  const name = toFactorName(values.get("label") ?? "");
  if (name === "") return await refuseFields(as, request, "label is missing");
  await renamePasskey(store, signedIn.user.id, values.get("id") ?? "", name);
  return redirectToFactors(as);
}

/**
 * `POST /account/factors/remove` with `id`: `totp`, or the id of a passkey. Removing what is not there changes nothing. 400
 * with the list for a passkey that is the last way to sign in.
 */
export async function removeFactor(as: AuthorizationServer, request: Request): Promise<Response> {
  const form = await openFactorForm(as, request, { mustBeRecent: true });
  if (form instanceof Response) return form;
  const { signedIn: { user }, values, store } = form;
  const id = values.get("id");
  if (!id) return await refuseFields(as, request, "id is missing");
  const factor = id === "totp" ? "totp" : "passkey";
  const outcome = factor === "totp"
    ? await removeTotp(store, user.id) && "removed"
    : await removePasskey(store, user.id, id, () => findWayWithoutPasskeys(as, user.id));
  if (outcome === "last") return await factorsPage(as, request, user.id, "last_way");
  if (outcome === "removed") as.observe({ type: "factor_removed", user: user.id, factor });
  return redirectToFactors(as);
}

/** `POST /account/factors/codes`: 200 with new recovery codes, this one time. The old ones are invalid. */
export async function renewCodes(as: AuthorizationServer, request: Request): Promise<Response> {
  const form = await openFactorForm(as, request, { mustBeRecent: true });
  if (form instanceof Response) return form;
  const { signedIn: { user }, store } = form;
  const codes = await renewRecoveryCodes(store, user.id, as.now());
  return codes ? await showCodes(as, request, user.id, codes) : redirectToFactors(as);
}

/** The first recovery codes of a user who added a factor; else the list. */
export async function showFirstCodes(
  as: AuthorizationServer,
  request: Request,
  store: Store,
  user: string,
): Promise<Response> {
  const codes = await renewRecoveryCodes(store, user, as.now(), true);
  return codes ? await showCodes(as, request, user, codes) : redirectToFactors(as);
}

async function showCodes(
  as: AuthorizationServer,
  request: Request,
  user: string,
  codes: readonly string[],
): Promise<Response> {
  as.observe({ type: "factor_added", user, factor: "recovery_codes" });
  const view = { name: "recovery_codes", codes, next: as.base + FACTORS_PATH } as const;
  return await showPage(as, request, view, { formAction: "'none'" });
}

function refuseFields(as: AuthorizationServer, request: Request, text: string): Promise<Response> {
  return refuse(as, request, { code: "missing_fields", status: 400, text });
}
