/**
 * What the browser gets to use or create a passkey: the options of WebAuthn sections 5.4 and 5.5, with a new challenge.
 *
 * @module
 */
import type { Fields } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { PasskeyFormView } from "../pages/basic_views.ts";
import type { Profile, User } from "../records/user_record.ts";
import { CHALLENGE_LIFETIME_MS, issueChallenge } from "./challenge.ts";
import { toFactorName } from "./change_factors.ts";
import type { Passkey } from "./factor_record.ts";
import { PASSKEY_ALGORITHMS } from "./settings.ts";
import { rpIdOf, userHandleOf } from "./verify_passkey.ts";

/** A form, and the `Set-Cookie` field that binds its challenge to the browser. */
export interface OfferedPasskey {
  readonly passkey: PasskeyFormView;
  readonly fields: Fields;
}

/** The form on the login page: any passkey for this server that the authenticator knows. */
export async function offerPasskeyLogin(
  as: AuthorizationServer,
  request: Request,
  action: string,
): Promise<OfferedPasskey> {
  const { challenge, fields } = await issueChallenge(as, request, "login");
  const options = { ...commonOptions(challenge), rpId: rpIdOf(as), userVerification: "required" };
  return { passkey: toForm(action, "autofill", options), fields };
}

/** The form of the second step: a passkey of this user. */
export async function offerPasskeyFactor(
  as: AuthorizationServer,
  request: Request,
  action: string,
  passkeys: readonly Passkey[],
): Promise<OfferedPasskey> {
  const { challenge, fields } = await issueChallenge(as, request, "factor");
  const options = {
    ...commonOptions(challenge),
    rpId: rpIdOf(as),
    allowCredentials: passkeys.map(toDescriptor),
    userVerification: "preferred",
  };
  return { passkey: toForm(action, "get", options), fields };
}

/** The form that creates a passkey, which the authenticator stores and uses after it has verified its user. */
export async function offerPasskeyCreation(
  as: AuthorizationServer,
  request: Request,
  action: string,
  user: Profile & Partial<Pick<User, "username">>,
  passkeys: readonly Passkey[],
): Promise<OfferedPasskey> {
  const { challenge, fields } = await issueChallenge(as, request, "registration");
  const name = toFactorName(user.username ?? "") || toFactorName(user.email) || toFactorName(user.name);
  const options = {
    ...commonOptions(challenge),
    rp: { id: rpIdOf(as), name: as.factors.passkeys?.rpName ?? new URL(as.issuer).host },
    user: { id: userHandleOf(user.id), name, displayName: toFactorName(user.name) || name },
    pubKeyCredParams: PASSKEY_ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
    excludeCredentials: passkeys.map(toDescriptor),
    attestation: "none",
  };
  return { passkey: toForm(action, "create", options), fields };
}

function commonOptions(challenge: string): { readonly challenge: string; readonly timeout: number } {
  return { challenge, timeout: CHALLENGE_LIFETIME_MS };
}

function toDescriptor({ id, transports }: Passkey): object {
  return { type: "public-key", id, ...(transports && transports.length > 0 && { transports }) };
}

function toForm(action: string, kind: PasskeyFormView["kind"], options: object): PasskeyFormView {
  return { action, hidden: {}, kind, options: JSON.stringify(options) };
}
