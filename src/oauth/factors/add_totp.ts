/**
 * `/account/factors/totp` sets up an authenticator app: GET shows a new secret, POST confirms it with a first code. Until
 * then the secret is only in the form, sealed, and counts for nothing.
 *
 * @module
 */
import { toBase32 } from "../../crypto/base32.ts";
import { randomBytes } from "../../crypto/random_bytes.ts";
import { seal, unseal } from "../../crypto/seal.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";
import type { Profile, User } from "../records/user_record.ts";
import { showFirstCodes } from "./account_factors.ts";
import { FACTORS_PATH, openFactorForm, openFactors } from "./account_request.ts";
import { setTotp } from "./change_factors.ts";
import type { TotpSetupView } from "./pages/factor_views.ts";
import { drawQrCode } from "./pages/qr_code.ts";
import { findStep, toOtpauthUri, TOTP_SECRET_BYTES } from "./totp.ts";
import { sealTotpSecret, unsealTotpSecret } from "./verify_code.ts";

/** The sealed secret inside names the user. */
const PURPOSE = "new totp secret";
const SETUP_LIFETIME_MS = 15 * 60 * 1000;

/** What the form holds: the secret as it will be stored, and when it was made. */
interface NewTotp {
  readonly sealed: string;
  readonly at: number;
}

/** 200 with a new secret and its QR code after a recent login, else a redirect to the login page. */
export async function showAddTotp(as: AuthorizationServer, request: Request): Promise<Response> {
  const signedIn = await openFactors(as, request, { mustBeRecent: true });
  if (signedIn instanceof Response) return signedIn;
  return await showNewSecret(as, request, signedIn.user);
}

/** `POST` with `setup` and `code`: the first recovery codes or the list, 401 with the form for a wrong code. */
export async function addTotp(as: AuthorizationServer, request: Request): Promise<Response> {
  const form = await openFactorForm(as, request, { mustBeRecent: true });
  if (form instanceof Response) return form;
  const { signedIn: { user }, values, store } = form;
  const setup = await readSetup(as, values.get("setup") ?? "");
  const secret = setup && await unsealTotpSecret(as, user.id, setup.sealed);
  if (!secret) return await showNewSecret(as, request, user, "expired");
  const step = await findStep(secret, (values.get("code") ?? "").replace(/\s/g, ""), as.now());
  if (step === undefined) {
    return await showSetup(as, request, user, secret, values.get("setup")!, "wrong_code");
  }
  // Sealed anew: the form may be from before a rotation of the secret.
  const sealed = await sealTotpSecret(as, user.id, secret);
  await setTotp(store, user.id, { sealed, created: as.now(), step });
  as.observe({ type: "factor_added", user: user.id, factor: "totp" });
  return await showFirstCodes(as, request, store, user.id);
}

async function showNewSecret(
  as: AuthorizationServer,
  request: Request,
  user: Profile,
  problem?: "expired",
): Promise<Response> {
  const secret = randomBytes(TOTP_SECRET_BYTES);
  const made: NewTotp = { sealed: await sealTotpSecret(as, user.id, secret), at: as.now() };
  const setup = await seal(await as.secret(), PURPOSE, JSON.stringify(made));
  return await showSetup(as, request, user, secret, setup, problem);
}

async function readSetup(as: AuthorizationServer, text: string): Promise<NewTotp | undefined> {
  const made = await unseal(await as.secret(), PURPOSE, text);
  const setup = made === undefined ? undefined : JSON.parse(made) as NewTotp;
  return setup && as.now() - setup.at < SETUP_LIFETIME_MS ? setup : undefined;
}

async function showSetup(
  as: AuthorizationServer,
  request: Request,
  user: Profile & Partial<Pick<User, "username">>,
  secret: Uint8Array,
  setup: string,
  problem?: "wrong_code" | "expired",
): Promise<Response> {
  const uri = toOtpauthUri(secret, as.pages.name ?? new URL(as.issuer).host, user.username ?? user.name);
  const view: TotpSetupView = {
    name: "totp_setup",
    action: `${as.base}${FACTORS_PATH}/totp`,
    hidden: { setup },
    uri,
    secret: toBase32(secret).replace(/.{4}(?=.)/g, "$& "),
    qr: drawQrCode(uri),
    cancel: as.base + FACTORS_PATH,
    ...(problem && { problem: { code: problem } }),
  };
  return await showPage(as, request, view, { status: problem ? 401 : 200, formAction: "'self'" });
}
