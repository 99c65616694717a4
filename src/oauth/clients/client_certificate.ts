/**
 * Parses the TLS certificate that a proxy passes on, and compares it with that of a client
 * (https://www.rfc-editor.org/rfc/rfc8705#section-2). `read_certificate.ts` loads it.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { type Certificate, decodePem, parseCertificate } from "../../crypto/x509.ts";
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import type { AuthorizationServer, CertificateProxy } from "../authorization_server.ts";
import { canonicalCertificateName } from "./certificate_name.ts";
import { findKeys } from "./key_set.ts";
import type { Client } from "../records/client_record.ts";

/** The certificate of a request, and whether the proxy trusts its issuer. */
export interface PresentedCertificate extends Certificate {
  readonly trusted: boolean;
}

/** The certificate in the header fields of the proxy; `undefined` without a valid one. */
export async function parseCertificateFields(
  { certificateField, verifiedField, verifiedValue }: CertificateProxy,
  { headers }: Request,
): Promise<PresentedCertificate | undefined> {
  const field = headers.get(certificateField);
  const der = field ? decodeField(field) : undefined;
  const certificate = der && parseCertificate(der);
  const trusted = verifiedField !== undefined && headers.get(verifiedField) === verifiedValue;
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
