/**
 * Sign in with Apple (https://developer.apple.com/documentation/signinwithapplerestapi): the callback is a form post, the
 * client secret a JWT that this server signs, and the name comes beside the ID token at the first sign-in only.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { type Claims, type JwsKey, signJws } from "../../crypto/jws.ts";
import { createOidc, isEmailVerified } from "./oidc.ts";
import { PROVIDER_NAMES, type ProviderSettings, type SignInProvider } from "./provider.ts";

/** Settings of Sign in with Apple. */
export interface AppleSettings extends Omit<ProviderSettings, "clientSecret"> {
  /** The Services ID. */
  readonly clientId: string;
  readonly teamId: string;
  /** The id of the key. */
  readonly keyId: string;
  /** The content of the `.p8` file: a P-256 key in PKCS #8, as PEM. */
  readonly privateKey: string;
}

const { clientSecret: _, ...SHARED } = PROVIDER_NAMES;
const NAMES: Names<AppleSettings> = { ...SHARED, teamId: "string", keyId: "string", privateKey: "string" };
const APPLE = "https://appleid.apple.com";
/** Apple allows up to six months; each request has its own. */
const SECRET_LIFETIME_SECONDS = 300;

/** Apple. @throws {TypeError} for settings that are missing or a key that is not PEM */
export function apple(settings: AppleSettings): SignInProvider {
  checkNames("apple", settings, NAMES);
  const { clientId, teamId, keyId, privateKey, ...others } = settings;
  for (const [name, value] of Object.entries({ teamId, keyId })) {
    if (typeof value !== "string" || value === "") {
      throw new TypeError(`Cannot create provider "apple": ${name} is required`);
    }
  }
  const pkcs8 = readPem(privateKey);
  let key: JwsKey | undefined;
  const provider = createOidc(
    {
      ...others,
      clientId,
      issuer: APPLE,
      scope: "openid name email",
      // Apple requires it where a name or an address is asked for.
      parameters: { response_mode: "form_post" },
    },
    {
      named: APPLE,
      hasNoGroups: true,
      isIssuer: (iss) => iss === APPLE,
      isEmailVerified,
      nameOf: (parameters) => readName(parameters.get("user")),
      async clientSecret() {
        key ??= {
          kid: keyId,
          alg: "ES256",
          key: await crypto.subtle.importKey("pkcs8", pkcs8, { name: "ECDSA", namedCurve: "P-256" }, false, [
            "sign",
          ]),
        };
        const iat = Math.floor(Date.now() / 1000);
        const claims = { iss: teamId, sub: clientId, aud: APPLE, iat, exp: iat + SECRET_LIFETIME_SECONDS };
        return await signJws(key, "JWT", claims);
      },
    },
    { id: "apple", name: "Apple" },
  );
  return { ...provider, asksAgain: false };
}

/** @throws {TypeError} */
function readPem(text: string): Uint8Array<ArrayBuffer> {
  const base64 = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(text)?.[1];
  if (base64 === undefined) {
    throw new TypeError('Cannot create provider "apple": privateKey must be the content of the .p8 file');
  }
  return Uint8Array.from(atob(base64.replace(/\s/g, "")), (character) => character.charCodeAt(0));
}

/** The form field `user`: what the browser sends, so it is no more than a name to show. */
function readName(user: string | undefined): string | undefined {
  if (user === undefined) return undefined;
  try {
    const { firstName, lastName } = (JSON.parse(user) as { name: Claims }).name;
    return [firstName, lastName].filter((each) => typeof each === "string").join(" ").trim() || undefined;
  } catch {
    return undefined;
  }
}
