/**
 * The TLS certificate of a request (https://www.rfc-editor.org/rfc/rfc8705). A reverse proxy terminates TLS and passes the
 * certificate on in a header field, which is accepted only from the addresses of that proxy.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { isSameIp } from "../../http/network/ip_address.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { PresentedCertificate } from "./client_certificate.ts";

const load = () => import("./client_certificate.ts");
const parseCertificateFields = loadOnDemand(async () => (await load()).parseCertificateFields);

/** See `client_certificate.ts`. */
export const certificateMatches: typeof import("./client_certificate.ts").certificateMatches = loadOnDemand(
  async () => (await load()).certificateMatches,
);

/** The certificate of the request; `undefined` without one, and for requests that do not come from the proxy. */
export async function readCertificate(
  { certificateProxy }: Pick<AuthorizationServer, "certificateProxy">,
  request: Request,
  { ip, peer = ip }: RequestContext,
): Promise<PresentedCertificate | undefined> {
  if (!certificateProxy || peer === undefined) return undefined;
  // A server that listens on all addresses gets IPv4 ones in the form ::ffff:10.0.0.9.
  if (!certificateProxy.addresses.some((each) => isSameIp(each, peer))) return undefined;
  return await parseCertificateFields(certificateProxy, request);
}
