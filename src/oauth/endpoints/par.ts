/**
 * `POST /oauth/par`, the pushed authorization request endpoint (https://www.rfc-editor.org/rfc/rfc9126): an authenticated
 * client sends its authorization request and gets a `request_uri` for the browser.
 *
 * @module
 */
import { respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import {
  checkAuthorizationRequest,
  parseAuthenticationRequirements,
  requireSignature,
} from "./authorization_request.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { checkDpopProof } from "../tokens/dpop.ts";
import { OAuthError } from "../error.ts";
import { readParameters } from "../parameters.ts";
import { NO_STORE_JSON } from "./no_store.ts";
import { storeRequest } from "./pushed_request.ts";
import { readRequestObject } from "./request_object.ts";
import { STORAGE_LIMITS } from "../storage_quota.ts";
import { findRedirectUri } from "../clients/redirect_uri.ts";

/** Parameters that authenticate the client and are not stored with the request. */
const CREDENTIALS = ["client_secret", "client_assertion", "client_assertion_type"];

/**
 * 201 with `{ request_uri, expires_in }`.
 * @throws {OAuthError} with the codes of the authorization endpoint (§2.3), with status 413 for a request that is too large
 */
export async function pushRequest(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await readParameters(request);
  const client = await authenticateClient(as, request, context, form);
  if (form.has("request_uri")) {
    throw new OAuthError("invalid_request", "request_uri must not be sent in a pushed authorization request");
  }
  // RFC 9126 §3
  const isSigned = form.has("request") && as.requestObjects !== "off";
  requireSignature(as, client, isSigned);
  const parameters = isSigned ? await readRequestObject(as, client, form, context) : form;
  if (as.securityProfile !== undefined && !parameters.has("redirect_uri")) {
    throw new OAuthError("invalid_request", "redirect_uri is required by FAPI 2.0");
  }
  const redirect_uri = findRedirectUri(client, parameters.get("redirect_uri"));
  if (redirect_uri === undefined) {
    throw new OAuthError("invalid_request", "redirect_uri is missing or not registered for this client");
  }
  const requirements = parseAuthenticationRequirements(parameters);
  const checked = checkAuthorizationRequest(as, client, parameters, redirect_uri);
  if (as.openid && checked.scope.split(" ").includes("openid")) {
    await (await import("../openid/authentication_request.ts"))
      .readAuthenticationRequest(as, client, parameters, requirements);
  }
  if (request.headers.has("dpop")) as.storageQuota.reserve("proof", 0, client, context);
  const proof = await checkDpopProof(as, request);
  const dpop_jkt = parameters.get("dpop_jkt");
  // RFC 9449 §10.1: the client may send dpop_jkt, a proof, or both for the same key.
  if (proof && dpop_jkt !== undefined && dpop_jkt !== proof.jkt) {
    throw new OAuthError("invalid_dpop_proof", "dpop_jkt does not match the key of the DPoP proof");
  }
  const query = new URLSearchParams(parameters.text);
  for (const name of CREDENTIALS) query.delete(name);
  const pushed = {
    client_id: client.id,
    parameters: query.toString(),
    ...(proof && { dpop_jkt: proof.jkt }),
    ...(isSigned && { signed: true as const }),
  };
  const { length } = JSON.stringify(pushed);
  if (length > STORAGE_LIMITS.pushed_request.record) {
    const problem = `Request too large: the limit is ${STORAGE_LIMITS.pushed_request.record} bytes`;
    throw new OAuthError("invalid_request", problem, { status: 413 });
  }
  as.storageQuota.reserve("pushed_request", length, client, context);
  const request_uri = await storeRequest(as, pushed);
  const fields = proof?.nonce === undefined
    ? NO_STORE_JSON
    : [...NO_STORE_JSON, ["dpop-nonce", proof.nonce] as const];
  return respondJson(201, { request_uri, expires_in: as.pushedRequestLifetime }, fields);
}
