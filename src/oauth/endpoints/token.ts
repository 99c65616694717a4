/**
 * `POST /oauth/token` (https://www.rfc-editor.org/rfc/rfc6749#section-3.2): authenticates the client and
 * runs the handler of the grant type.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { readConfirmation } from "../tokens/confirmation.ts";
import { checkDpopProof } from "../tokens/dpop.ts";
import { OAuthError } from "../error.ts";
import { grantClientCredentials } from "../grants/grant_client_credentials.ts";
import { grantCode } from "../grants/grant_code.ts";
import { type Parameters, readParameters } from "../parameters.ts";
import type { Client, GrantType } from "../records/client_record.ts";
import { NO_STORE_JSON } from "./no_store.ts";
import type { TokenCall, TokenResponse } from "../grants/token_response.ts";

type GrantHandler = (as: AuthorizationServer, call: TokenCall) => Promise<TokenResponse>;

/** Without the password grant, which RFC 9700 §2.4 forbids. */
const GRANTS: Readonly<Record<GrantType, GrantHandler>> = {
  authorization_code: grantCode,
  refresh_token: loadOnDemand(async () => (await import("../grants/grant_refresh.ts")).grantRefresh),
  client_credentials: grantClientCredentials,
  "urn:ietf:params:oauth:grant-type:device_code": loadOnDemand(async () =>
    (await import("../grants/grant_device.ts")).grantDevice
  ),
  "urn:ietf:params:oauth:grant-type:token-exchange": loadOnDemand(async () =>
    (await import("../grants/grant_token_exchange.ts")).grantTokenExchange
  ),
  "urn:ietf:params:oauth:grant-type:jwt-bearer": loadOnDemand(async () =>
    (await import("../grants/grant_jwt_bearer.ts")).grantJwtBearer
  ),
};

/** Errors that are part of a grant: the client polls, or repeats its request with a nonce. */
const STEPS: ReadonlySet<string> = new Set(["authorization_pending", "slow_down", "use_dpop_nonce"]);

/** 200 with the tokens. @throws {OAuthError} with the codes of RFC 6749 §5.2 and its extensions */
export async function token(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await readParameters(request);
  const client = await authenticateClient(as, request, context, form);
  try {
    return await issue(as, request, context, form, client);
  } catch (error) {
    if (error instanceof OAuthError && !STEPS.has(error.code)) {
      const sent = form.get("grant_type") ?? "";
      const grant_type = Object.hasOwn(GRANTS, sent) ? sent : "other";
      as.observe({ type: "token_refused", grant_type, client: client.id, error: error.code, ip: context.ip });
    }
    throw error;
  }
}

async function issue(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  form: Parameters,
  client: Client,
): Promise<Response> {
  const grant_type = form.get("grant_type");
  if (!grant_type) throw new OAuthError("invalid_request", "grant_type is missing");
  if (!Object.hasOwn(GRANTS, grant_type)) {
    throw new OAuthError(
      "unsupported_grant_type",
      `Unsupported grant_type: send one of ${Object.keys(GRANTS).join(", ")}`,
    );
  }
  if (!client.grant_types.includes(grant_type as GrantType)) {
    throw new OAuthError(
      "unauthorized_client",
      `The client is not authorized to use the grant type ${grant_type}`,
    );
  }
  const hasProof = request.headers.has("dpop");
  if (hasProof) as.storageQuota.reserve("proof", 0, client, context);
  const proof = hasProof ? await checkDpopProof(as, request) : undefined;
  const cnf = await readConfirmation(as, client, request, context, proof?.jkt);
  const response = await GRANTS[grant_type as GrantType](as, { client, form, cnf });
  return respondJson(
    200,
    response,
    proof?.nonce === undefined ? NO_STORE_JSON : [...NO_STORE_JSON, ["dpop-nonce", proof.nonce]],
  );
}
