/**
 * `/account/factors/passkey` registers a passkey: GET shows the form, POST verifies what the authenticator created.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";
import type { Profile } from "../records/user_record.ts";
import { showFirstCodes } from "./account_factors.ts";
import { FACTORS_PATH, openFactorForm, openFactors } from "./account_request.ts";
import { addPasskey as storePasskey, toFactorName } from "./change_factors.ts";
import { findFactors, type Passkey } from "./factor_record.ts";
import type { PasskeySetupView } from "./pages/factor_views.ts";
import { offerPasskeyCreation } from "./passkey_options.ts";
import { passkeyScriptUrl } from "./passkey_script.ts";
import { verifyNewPasskey } from "./verify_passkey.ts";

/** 200 with the form after a recent login, else a redirect to the login page. */
export async function showAddPasskey(as: AuthorizationServer, request: Request): Promise<Response> {
  const signedIn = await openFactors(as, request, { mustBeRecent: true });
  return signedIn instanceof Response ? signedIn : await showForm(as, request, signedIn.user);
}

/** `POST` with `credential` and `label`: the first recovery codes or the list, 400 with the form when it is refused. */
export async function addPasskey(as: AuthorizationServer, request: Request): Promise<Response> {
  const form = await openFactorForm(as, request, { mustBeRecent: true });
  if (form instanceof Response) return form;
  const { signedIn: { user }, values, store } = form;
  const created = await verifyNewPasskey(as, request, values.get("credential") ?? "");
  if (!created) return await showForm(as, request, user, "passkey_failed");
  const { passkeys = [] } = await findFactors(as, user.id);
  const passkey: Passkey = {
    id: created.id,
    publicKey: created.publicKey,
    counter: created.counter,
    name: toFactorName(values.get("label") ?? "") || `Passkey ${passkeys.length + 1}`,
    ...(created.transports.length > 0 && { transports: created.transports }),
    created: as.now(),
    ...(created.synced && { synced: true }),
  };
  if (!await storePasskey(store, user.id, passkey)) {
    return await showForm(as, request, user, "too_many_passkeys");
  }
  as.observe({ type: "factor_added", user: user.id, factor: "passkey" });
  return await showFirstCodes(as, request, store, user.id);
}

async function showForm(
  as: AuthorizationServer,
  request: Request,
  user: Profile,
  problem?: "passkey_failed" | "too_many_passkeys",
): Promise<Response> {
  const { passkeys = [] } = await findFactors(as, user.id);
  const action = `${as.base}${FACTORS_PATH}/passkey`;
  const { passkey, fields } = await offerPasskeyCreation(as, request, action, user, passkeys);
  const view: PasskeySetupView = {
    name: "passkey_setup",
    passkey,
    cancel: as.base + FACTORS_PATH,
    ...(problem && { problem: { code: problem } }),
  };
  return await showPage(as, request, view, {
    status: problem ? 400 : 200,
    fields,
    formAction: "'self'",
    script: passkeyScriptUrl(as),
  });
}
