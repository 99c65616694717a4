/**
 * How the authorization response gets to the client: `response_mode`
 * (https://openid.net/specs/oauth-v2-multiple-response-types-1_0.html#ResponseModes), with the modes of JARM
 * (https://openid.net/specs/oauth-v2-jarm.html#section-2.3).
 *
 * @module
 */
import type { JwsAlgorithm } from "../../crypto/jws.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import type { Parameters } from "../parameters.ts";
import type { ResponseMode } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";

/** The modes of signed responses. `jwt` is the default of the response type `code`: `query.jwt`. */
const SIGNED = ["jwt", "query.jwt", "fragment.jwt", "form_post.jwt"] as const;

/** The values of `response_mode` that the operator turned on. */
export function supportedModes({ responseModes }: AuthorizationServer): readonly string[] {
  return [
    "query",
    ...(responseModes.includes("form_post") ? ["form_post"] : []),
    ...(responseModes.includes("jwt") ? SIGNED : []),
  ];
}

/** What an authorization request says about its response. */
export interface ResponseChoice {
  /** Absent for `query`. */
  readonly response_mode?: ResponseMode;
  /** The algorithm of a signed response. */
  readonly response_alg?: JwsAlgorithm;
}

/** The mode that the request names. @throws {OAuthError} invalid_request for one that is not supported */
export function chooseResponse(
  as: AuthorizationServer,
  client: Client,
  parameters: Parameters,
  redirect_uri: string,
): ResponseChoice {
  const named = parameters.get("response_mode");
  if (named === undefined || named === "query") return {};
  const supported = supportedModes(as);
  if (!supported.includes(named)) {
    throw new OAuthError("invalid_request", `Unsupported response_mode: use ${supported.join(", ")}`);
  }
  const response_mode = (named === "jwt" ? "query.jwt" : named) as ResponseMode;
  // A browser posts forms to http and https only.
  if (response_mode.startsWith("form_post") && !/^https?:/i.test(redirect_uri)) {
    throw new OAuthError("invalid_request", `${named} requires a redirect_uri with https or http`);
  }
  if (response_mode === "form_post") return { response_mode };
  return { response_mode, response_alg: signingAlgorithm(as, client) };
}

/** As {@linkcode chooseResponse}, for an error response: `query` when the request names no valid mode. */
export function chooseErrorResponse(
  as: AuthorizationServer,
  client: Client,
  parameters: Parameters,
  redirect_uri: string,
): ResponseChoice {
  if (parameters.repeated.includes("response_mode")) return {};
  try {
    return chooseResponse(as, client, parameters, redirect_uri);
  } catch (error) {
    if (error instanceof OAuthError) return {};
    throw error;
  }
}

/** JARM §3: RS256 for a client that registered no algorithm, where this server signs with it. */
function signingAlgorithm(as: AuthorizationServer, client: Client): JwsAlgorithm {
  return client.authorization_signed_response_alg ??
    as.signingAlgorithms.find((alg) => alg === "RS256") ?? as.signingAlgorithms[0]!;
}
