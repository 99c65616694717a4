/**
 * Faults in mutual TLS (RFC 8705), with a proxy that passes certificates on.
 *
 * @module
 */
import { acceptRefused, issueRefusedTokens } from "../accept_refused.ts";
import {
  changeJson,
  changeRequests,
  INTROSPECT,
  METADATA,
  RESOURCE,
  TOKEN,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const FIELD = "client-cert";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/mutual_tls/${id}`);

/** Ignores certificates of requests to one path. */
const ignoreCertificates = (path: string): Wrap =>
  changeRequests(
    path,
    (request) => request.headers.has(FIELD) ? withRequestHeaders(request, { [FIELD]: undefined }) : request,
  );

export const MUTUAL_TLS: readonly Mutant[] = [
  {
    name: "oauth/tls-not-at-the-token-endpoint",
    fault: "Ignores certificates at the token endpoint",
    wrap: ignoreCertificates(TOKEN),
    killedBy: names("authenticated"),
    preventsSetup: "Clients get no token",
  },
  {
    name: "oauth/tls-any-certificate",
    fault: "Issues tokens to any certificate, and to none",
    wrap: issueRefusedTokens(({ error, form, request }) =>
      error === "invalid_client" && (form.get("client_id") === "tls" || request.headers.has(FIELD))
    ),
    killedBy: names("no-certificate", "other-certificate", "certificate-for-another-client"),
  },
  {
    name: "oauth/tls-not-at-the-resource",
    fault: "Ignores certificates at the resource",
    wrap: ignoreCertificates(RESOURCE),
    killedBy: names("used"),
  },
  {
    name: "oauth/tls-token-without-certificate",
    fault: "Accepts bound tokens with any certificate, and with none",
    wrap: acceptRefused(
      RESOURCE,
      ({ description }) => /certificate/.test(description),
      () => Response.json({}),
    ),
    killedBy: names("used-without-certificate", "used-with-other-certificate"),
  },
  {
    name: "oauth/tls-introspected-without-thumbprint",
    fault: "Leaves x5t#S256 out of introspection responses",
    wrap: changeJson(INTROSPECT, (json) => delete (json["cnf"] as Record<string, unknown>)?.["x5t#S256"]),
    killedBy: names("introspected"),
  },
  {
    name: "oauth/tls-metadata-text",
    fault: "Writes tls_client_certificate_bound_access_tokens as text",
    wrap: changeJson(METADATA, (json) => json["tls_client_certificate_bound_access_tokens"] = "true"),
    killedBy: names("metadata"),
  },
  {
    name: "oauth/tls-padded-thumbprint",
    fault: "Pads the thumbprint in introspection responses",
    wrap: changeJson(INTROSPECT, (json) => {
      const cnf = json["cnf"] as Record<string, unknown> | undefined;
      if (typeof cnf?.["x5t#S256"] === "string") cnf["x5t#S256"] += "=";
    }),
    killedBy: names("thumbprint-without-padding"),
    mayFail: { "It compares the thumbprint": names("introspected") },
  },
  {
    name: "oauth/tls-aliases-as-list",
    fault: "Writes mtls_endpoint_aliases as a list",
    wrap: changeJson(METADATA, (json) => json["mtls_endpoint_aliases"] = ["https://mtls.trivet.example"]),
    killedBy: names("endpoint-aliases"),
  },
];
