/**
 * Names in client certificates, as they are compared (RFC 8705 section 2.1).
 *
 * @module
 */
import { canonicalName } from "../../crypto/distinguished_name.ts";
import { parseIp } from "../../http/network/ip_address.ts";
import type { CertificateNameType } from "../records/client_record.ts";

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
