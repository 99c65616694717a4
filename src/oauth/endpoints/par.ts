/**
 * `POST /oauth/par`, pushed authorization requests (https://www.rfc-editor.org/rfc/rfc9126): the client sends its request
 * here, proven to be its own, and the browser carries nothing but a name for it.
 *
 * @module
 */
import { jsonFields, respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { checkAuthorizationRequest, readDemands } from "./authorization_request.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { checkDpopProof } from "../tokens/dpop.ts";
import { OAuthError } from "../error.ts";
import { readParameters } from "../parameters.ts";
import { keepRequest } from "./pushed_request.ts";
import { STORAGE_LIMITS } from "../room.ts";
import { findRedirectUri } from "../clients/redirect_uri.ts";

const FIELDS = jsonFields(["cache-control", "no-store"], ["pragma", "no-cache"]);
/** What proved the client is not part of its request. */
const PROOFS = ["client_secret", "client_assertion", "client_assertion_type"];

/** 201 with `{ request_uri, expires_in }`. @throws {OAuthError} what the authorization endpoint would say (§2.3); 413 for one that is too large */
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
  const redirect_uri = findRedirectUri(client, form.get("redirect_uri"));
  if (redirect_uri === undefined) {
    throw new OAuthError("invalid_request", "redirect_uri is missing or not registered for this client");
  }
  readDemands(form);
  checkAuthorizationRequest(as, client, form, redirect_uri);
  if (request.headers.has("dpop")) as.room.take("proof", 0, client, context);
  const proof = await checkDpopProof(as, request);
  const named = form.get("dpop_jkt");
  // RFC 9449 §10.1: both ways of naming the key, or one of them.
  if (proof && named !== undefined && named !== proof.jkt) {
    throw new OAuthError("invalid_dpop_proof", "dpop_jkt does not match the key of the DPoP proof");
  }
  const query = new URLSearchParams(form.text);
  for (const name of PROOFS) query.delete(name);
  const kept = {
    client_id: client.id,
    parameters: query.toString(),
    ...(proof && { dpop_jkt: proof.jkt }),
  };
  const { length } = JSON.stringify(kept);
  if (length > STORAGE_LIMITS.pushed_request.record) {
    const problem = `Request too large: the limit is ${STORAGE_LIMITS.pushed_request.record} bytes`;
    throw new OAuthError("invalid_request", problem, { status: 413 });
  }
  as.room.take("pushed_request", length, client, context);
  const request_uri = await keepRequest(as, kept);
  const fields = proof?.nonce === undefined ? FIELDS : [...FIELDS, ["dpop-nonce", proof.nonce] as const];
  return respondJson(201, { request_uri, expires_in: as.pushedRequestLifetime }, fields);
}
