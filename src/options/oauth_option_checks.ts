/**
 * Checks of single options of the authorization server. Each returns the value, complete.
 *
 * @module
 */
import { JWS_ALGORITHMS, type JwsAlgorithm } from "../crypto/jws.ts";
import { checkConfiguredUrl, type Connect, findConnect } from "../http/network/public_fetch.ts";
import type {
  AuthorizationDetailType,
  CertificateProxy,
  TrustedIssuer,
} from "../oauth/authorization_server.ts";
import { checkNames, checkOneOf, checkSome, invalidOption, type Names } from "./option_check.ts";

const ISSUER_NAMES: Names<TrustedIssuer> = {
  issuer: "string",
  jwks: "object",
  jwks_uri: "string",
  requireIdJag: "boolean",
  user: "function",
};
const PROXY_NAMES: Names<CertificateProxy> = {
  addresses: "string[]",
  certificateField: "string",
  verifiedField: "string",
  verifiedValue: "string",
};

/** @throws {TypeError} for an issuer without an identifier or keys, or with an option that does not exist */
export function checkIssuer(issuer: TrustedIssuer): TrustedIssuer {
  const name = "oauth.trustedIssuers";
  checkNames(name, issuer, ISSUER_NAMES);
  const { issuer: iss, jwks, jwks_uri } = issuer;
  // An assertion without iss would be one of an issuer without an identifier.
  if (!iss) throw invalidOption(`${name}.issuer`, "the iss of its assertions", iss);
  if (jwks && !Array.isArray(jwks.keys)) {
    throw invalidOption(`${name}.jwks`, 'an object with a list "keys" (RFC 7517)', jwks);
  }
  const problem = jwks ? undefined : checkConfiguredUrl(jwks_uri ?? "");
  // Not the value: it may have a password.
  if (problem) throw new TypeError(`Invalid options: "${name}.jwks_uri" ${problem}`);
  return issuer;
}

/** @throws {TypeError} for a list without an algorithm, or with one that does not exist */
export function checkAlgorithms(algorithms: readonly JwsAlgorithm[] = ["ES256"]): readonly JwsAlgorithm[] {
  return checkSome("oauth.signingAlgorithms", algorithms, JWS_ALGORITHMS);
}

/** @throws {TypeError} for a type that lacks one of its functions */
export function checkDetailTypes(
  types: Readonly<Record<string, AuthorizationDetailType>> = {},
): Readonly<Record<string, AuthorizationDetailType>> {
  for (const [type, functions] of Object.entries(types)) {
    for (const name of ["check", "describe"] as const) {
      if (typeof functions?.[name] === "function") continue;
      throw invalidOption(`oauth.authorizationDetailTypes.${type}.${name}`, "a function", functions?.[name]);
    }
  }
  return types;
}

/** @throws {TypeError} for a proxy without addresses, or with an option that does not exist */
export function checkCertificateProxy(
  name: string,
  proxy: CertificateProxy | undefined,
): CertificateProxy | undefined {
  if (proxy) checkNames(name, { addresses: null, ...proxy as object }, PROXY_NAMES);
  return proxy;
}

/**
 * Returns whether documents are supported, evaluated for each request.
 * @throws {TypeError} for another value, and when they are turned on and there is no connector that can fetch them
 */
export function documentsSupported(
  { clientMetadataDocuments, connect }: {
    readonly clientMetadataDocuments?: boolean | (() => boolean);
    readonly connect?: Connect | undefined;
  },
): () => boolean {
  if (typeof clientMetadataDocuments !== "function") {
    // The text "false" would count as true.
    checkOneOf<boolean>("oauth.clientMetadataDocuments", clientMetadataDocuments ?? undefined, true, false);
  }
  const isAble = findConnect(connect) !== undefined;
  if (clientMetadataDocuments === true && !isAble) {
    throw new TypeError(
      'Invalid options: "oauth.clientMetadataDocuments" requires "oauth.connect". Import trivet/node, trivet/deno, ' +
        "trivet/bun or trivet/workerd, or pass createPublicConnect() of trivet/public-connect",
    );
  }
  if (typeof clientMetadataDocuments === "function") return () => isAble && clientMetadataDocuments();
  return () => isAble && clientMetadataDocuments !== false;
}
