/**
 * Verifies passkeys (https://www.w3.org/TR/webauthn-3/#sctn-registering-a-new-credential and
 * https://www.w3.org/TR/webauthn-3/#sctn-verifying-assertion) with `@simplewebauthn/server`, which is loaded with the first
 * passkey. This file is behind an entry of its own: an app that does not import it does not bundle that package.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { decodeBase64url, encodeBase64url } from "../../crypto/base64url.ts";
import { PASSKEY_ALGORITHMS, type Passkeys } from "./settings.ts";

/** Settings of passkeys. */
export interface PasskeySettings {
  /** The relying party id: the host of the issuer, or a parent domain of it. @default the host of the issuer */
  readonly rpId?: string;
  /** The name that authenticators show. @default the host of the issuer */
  readonly rpName?: string;
  /** Origins beside that of the issuer whose pages may use the passkeys. @default none */
  readonly origins?: readonly string[];
}

const NAMES: Names<PasskeySettings> = { rpId: "string", rpName: "string", origins: "string[]" };

type Registration = Parameters<
  typeof import("@simplewebauthn/server").verifyRegistrationResponse
>[0]["response"];
type Assertion = Parameters<
  typeof import("@simplewebauthn/server").verifyAuthenticationResponse
>[0]["response"];

async function loadPackage() {
  // First, because a bundler may put a dependency of the package before it that fails without it ("tsyringe requires a
  // reflect polyfill"), as `bun build` does for workerd.
  await import("reflect-metadata");
  return {
    ...await import("@simplewebauthn/server"),
    ...await import("@simplewebauthn/server/helpers"),
  };
}
let loaded: Awaited<ReturnType<typeof loadPackage>> | undefined;

/** Passkeys as first and as second factor. */
export function passkeys(settings: PasskeySettings = {}): Passkeys {
  checkNames("passkeys", settings, NAMES);
  return {
    ...settings,
    async verifyRegistration(response, { challenge, origins, rpId, userVerification }) {
      const { verifyRegistrationResponse, decodeAttestationObject } = loaded ??= await loadPackage();
      try {
        const registration = withoutAttestation(response as Registration, decodeAttestationObject);
        if (isFramed(registration.response.clientDataJSON)) return undefined;
        const { registrationInfo, verified } = await verifyRegistrationResponse({
          response: registration,
          expectedChallenge: challenge,
          expectedOrigin: [...origins],
          expectedRPID: rpId,
          requireUserVerification: userVerification,
          supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS],
        });
        if (!verified || !registrationInfo) return undefined;
        const { credential: { id, publicKey, counter, transports = [] }, credentialBackedUp } =
          registrationInfo;
        return {
          id,
          publicKey: encodeBase64url(publicKey),
          counter,
          transports: transports.filter((each) => /^[a-z-]{1,20}$/.test(each)).slice(0, 8),
          synced: credentialBackedUp,
        };
      } catch {
        // The package throws for whatever is wrong with the response.
        return undefined;
      }
    },
    async verifyAssertion(response, { challenge, origins, rpId, userVerification, id, publicKey, counter }) {
      const { verifyAuthenticationResponse } = loaded ??= await loadPackage();
      try {
        const assertion = response as Assertion;
        if (isFramed(assertion.response.clientDataJSON)) return undefined;
        const { verified, authenticationInfo } = await verifyAuthenticationResponse({
          response: assertion,
          expectedChallenge: challenge,
          expectedOrigin: [...origins],
          expectedRPID: rpId,
          requireUserVerification: userVerification,
          credential: { id, publicKey: new Uint8Array(decodeBase64url(publicKey)!), counter },
        });
        return verified ? { counter: authenticationInfo.newCounter } : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** No page of this server may be framed, so no response to one comes from a frame (WebAuthn section 7.2, step 13). */
function isFramed(clientDataJSON: string): boolean {
  const text = new TextDecoder().decode(decodeBase64url(clientDataJSON));
  return (JSON.parse(text) as { crossOrigin?: unknown }).crossOrigin === true;
}

/**
 * The registration with the attestation format "none", which is what the page asks for. This server does not use
 * attestation, and the package would fetch revocation lists at URLs in certificates that a stranger sent.
 */
function withoutAttestation(
  registration: Registration,
  decode: typeof import("@simplewebauthn/server/helpers").decodeAttestationObject,
): Registration {
  const given = new Uint8Array(decodeBase64url(registration.response.attestationObject)!);
  const authData = decode(given).get("authData");
  const text = (value: string) => [0x60 + value.length, ...new TextEncoder().encode(value)];
  // CBOR (RFC 8949): a map of three, then the length of the bytes in two bytes.
  const head = [0xa3, ...text("fmt"), ...text("none"), ...text("attStmt"), 0xa0, ...text("authData"), 0x59];
  const object = Uint8Array.of(...head, authData.length >> 8, authData.length & 255, ...authData);
  return {
    ...registration,
    response: { ...registration.response, attestationObject: encodeBase64url(object) },
  };
}
