/**
 * Which factors users can have beside the password, as the options say.
 *
 * @module
 */
import { checkMade, invalidOption } from "../../options/option_check.ts";

/** COSE algorithms: EdDSA, ES256, RS256. All four runtimes verify them. */
export const PASSKEY_ALGORITHMS: readonly number[] = [-8, -7, -257];

/** The options about factors. */
export interface FactorOptions {
  /** Passkeys, by `passkeys()` of `trivet/passkeys`. @default none */
  readonly passkeys?: Passkeys;
  /** Whether users can add an authenticator app (RFC 6238). @default true, unless `account` is `false` */
  readonly totp?: boolean;
  /**
   * The authentication context class of a login with two factors, or with a passkey that verified its user. It is in
   * `acr` of tokens, and clients and resource servers ask for it by `acr_values` (RFC 9470). @default "mfa"
   */
  readonly secondFactorAcr?: string;
  /**
   * The authentication context classes that a client may request by `acr_values`, as the metadata says.
   * @default "password", unless there is authenticateUser; and `secondFactorAcr`, when users can have a second factor
   */
  readonly acrValues?: readonly string[];
}

/** What `oauth.passkeys` does. Registrations and assertions are the JSON of WebAuthn section 5.1. */
export interface Passkeys {
  /** The relying party id: the host of the issuer, or a parent domain of it. @default the host of the issuer */
  readonly rpId?: string | undefined;
  /** The name that authenticators show. @default the host of the issuer */
  readonly rpName?: string | undefined;
  /** Origins beside that of the issuer whose pages may use the passkeys. @default none */
  readonly origins?: readonly string[] | undefined;
  /** WebAuthn section 7.1, without attestation. `undefined` when the registration is refused. */
  verifyRegistration(response: unknown, expected: ExpectedPasskey): Promise<NewPasskey | undefined>;
  /** WebAuthn section 7.2. `undefined` when the assertion is refused. */
  verifyAssertion(
    response: unknown,
    expected: ExpectedPasskey & ExpectedCredential,
  ): Promise<{ readonly counter: number } | undefined>;
}

export interface ExpectedPasskey {
  readonly challenge: string;
  readonly origins: readonly string[];
  readonly rpId: string;
  /** Whether the authenticator must have verified its user by a PIN or biometrics. */
  readonly userVerification: boolean;
}

export interface ExpectedCredential {
  readonly id: string;
  readonly publicKey: string;
  readonly counter: number;
}

export interface NewPasskey {
  readonly id: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly synced: boolean;
}

/** The options, complete. */
export interface FactorSettings {
  readonly passkeys: Passkeys | undefined;
  readonly totp: boolean;
  readonly acr: string;
  /** Whether there is an account page. */
  readonly hasAccount: boolean;
}

/**
 * Whether pages of this issuer can use passkeys: browsers allow that on https and localhost, and not for IP addresses
 * (WebAuthn section 5.1.3).
 */
export function canHavePasskeys(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  const isAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
  return !isAddress && (protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost"));
}

/** An authentication context class: `acr_values` separates them by blanks (OpenID Connect Core section 3.1.2.1). */
const ACR = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** @throws {TypeError} naming the option and the rule */
export function completeFactors(
  issuer: string,
  { passkeys, totp, secondFactorAcr = "mfa", acrValues, account, authenticateUser }: FactorOptions & {
    readonly account?: unknown;
    readonly authenticateUser?: unknown;
  },
): { readonly factors: FactorSettings; readonly acrValues: readonly string[] } {
  if (!ACR.test(secondFactorAcr) || secondFactorAcr === "password") {
    throw new TypeError(
      'Invalid options: "oauth.secondFactorAcr" must be visible ASCII without quotes, and not "password"',
    );
  }
  const wrong = acrValues?.find((each) => !ACR.test(each));
  if (wrong !== undefined) throw invalidOption("oauth.acrValues", "visible ASCII without quotes", wrong);
  checkMade("oauth.passkeys", passkeys, "verifyAssertion", "passkeys() of trivet/passkeys");
  if (passkeys && !canHavePasskeys(issuer)) {
    throw new TypeError(
      `Invalid options: "oauth.passkeys" needs an issuer on https or localhost with a host name, not ${issuer}`,
    );
  }
  const { hostname } = new URL(issuer);
  const rpId = passkeys?.rpId ?? hostname;
  if (rpId !== hostname && !hostname.endsWith("." + rpId)) {
    throw new TypeError(
      `Invalid options: "rpId" of "oauth.passkeys" must be ${hostname} or a parent domain, not "${rpId}"`,
    );
  }
  const hasAccount = account !== false;
  const factors = { passkeys, totp: totp ?? hasAccount, acr: secondFactorAcr, hasAccount };
  const classes = [
    ...authenticateUser ? [] : ["password"],
    ...passkeys || factors.totp ? [secondFactorAcr] : [],
  ];
  return { factors, acrValues: acrValues ?? classes };
}
