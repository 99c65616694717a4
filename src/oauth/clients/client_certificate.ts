/**
 * Client authentication with a TLS certificate (https://www.rfc-editor.org/rfc/rfc8705). A reverse proxy terminates TLS and
 * passes the certificate on in a header field, which is accepted only from the addresses of that proxy.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { canonicalName } from "../../crypto/distinguished_name.ts";
import { type Certificate, decodePem, parseCertificate } from "../../crypto/x509.ts";
import { parseIp } from "../../http/network/ip_address.ts";
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findKeys } from "./key_set.ts";
import type { CertificateNameType, Client } from "../records/client_record.ts";

/** The certificate of the request, and whether the proxy trusts its issuer. */
export interface PresentedCertificate extends Certificate {
  readonly trusted: boolean;
}

/** The certificate of the request; `undefined` without one, and for requests that do not come from the proxy. */
export function readCertificate(
  { certificateProxy }: Pick<AuthorizationServer, "certificateProxy">,
  request: Request,
  { ip, peer = ip }: RequestContext,
): PresentedCertificate | undefined {
  if (!certificateProxy || peer === undefined || !certificateProxy.addresses.includes(peer)) return undefined;
  const { certificateField, verifiedField, verifiedValue } = certificateProxy;
  const field = request.headers.get(certificateField);
  if (!field) return undefined;
  const der = decodeField(field);
  const certificate = der && parseCertificate(der);
  const trusted = verifiedField !== undefined && request.headers.get(verifiedField) === verifiedValue;
  return certificate && { ...certificate, trusted };
}

/** A byte sequence between colons (RFC 9440 §2.2), percent-encoded PEM (nginx), or PEM. */
function decodeField(field: string): Uint8Array | undefined {
  const sequence = /^:([A-Za-z0-9+/=]+):$/.exec(field.trim())?.[1];
  if (sequence !== undefined) return decodePem(sequence);
  try {
    return decodePem(field.includes("%") ? decodeURIComponent(field) : field);
  } catch {
    return undefined;
  }
}

/** Whether the certificate is that of the client: by its registered name (§2.1) or its public key (§2.2). */
export async function certificateMatches(
  as: AuthorizationServer,
  client: Client,
  certificate: PresentedCertificate,
  network: string | undefined,
): Promise<boolean> {
  if (client.token_endpoint_auth_method === "tls_client_auth") {
    if (!certificate.trusted || !client.certificate) return false;
    const { type, value } = client.certificate;
    const names = type === "subject_dn" ? [certificate.subject_dn] : certificate.names[type];
    const expected = canonicalCertificateName(type, value);
    return expected !== undefined && names.some((name) => canonicalCertificateName(type, name) === expected);
  }
  const keys = await findKeys(as, { ...client, network, isKnown: client.source === "operator" }).catch(
    (error) => {
      if (error instanceof PublicFetchError) return [];
      throw error;
    },
  );
  for (const jwk of keys) {
    if (await publicKeyOf(jwk) === certificate.publicKey) return true;
  }
  return false;
}

/**
 * The canonical form of a name; `undefined` for invalid text. Distinguished names follow RFC 4514, IP addresses become
 * bytes (RFC 5952 section 8), host names lower case. URIs stay as they are.
 */
export function canonicalCertificateName(type: CertificateNameType, name: string): string | undefined {
  switch (type) {
    case "subject_dn":
      return canonicalName(name);
    case "san_ip":
      return /^[0-9a-f.:]+$/i.test(name) ? parseIp(name)?.join(".") : undefined;
    case "san_dns":
      return name.toLowerCase();
    case "san_email":
      return name.replace(/@[^@]*$/, (host) => host.toLowerCase());
    case "san_uri":
      return name;
  }
}

async function publicKeyOf({ kty, crv, x, y, n, e }: JsonWebKey): Promise<string | undefined> {
  const algorithm = kty === "EC"
    ? { name: "ECDSA", namedCurve: crv! }
    : kty === "OKP"
    ? { name: crv! }
    : { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const jwk = JSON.parse(JSON.stringify({ kty, crv, x, y, n, e }));
  try {
    const key = await crypto.subtle.importKey("jwk", jwk, algorithm, true, ["verify"]);
    return encodeBase64url(new Uint8Array(await crypto.subtle.exportKey("spki", key)));
  } catch {
    return undefined;
  }
}
