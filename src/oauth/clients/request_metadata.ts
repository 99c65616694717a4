/**
 * Client metadata about signed requests (https://www.rfc-editor.org/rfc/rfc9101#section-10.5) and signed responses
 * (https://openid.net/specs/oauth-v2-jarm.html#section-3), from a registration or a client metadata document. Members of a
 * feature that the operator did not turn on are ignored, as unknown members are.
 *
 * @module
 */
import { JWS_ALGORITHMS, type JwsAlgorithm } from "../../crypto/jws.ts";
import { checkPublicUrl } from "../../http/network/public_fetch.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Client } from "../records/client_record.ts";

const MAX_REQUEST_URIS = 20;
/** RFC 9101 §5.2 */
const MAX_REQUEST_URI_LENGTH = 512;

export type RequestMetadata = Pick<
  Client,
  | "request_object_signing_alg"
  | "require_signed_request_object"
  | "request_uris"
  | "authorization_signed_response_alg"
>;

/**
 * Reads these members.
 * @param hasKeys whether the client registers keys
 * @param refusal the error for a rule that a member breaks
 */
export function readRequestMetadata(
  { requestObjects, responseModes, signingAlgorithms }: AuthorizationServer,
  metadata: Readonly<Record<string, unknown>>,
  hasKeys: boolean,
  refusal: (rule: string) => Error,
): RequestMetadata {
  const read: { -readonly [Name in keyof RequestMetadata]: RequestMetadata[Name] } = {};
  const readAlgorithm = (name: keyof RequestMetadata, supported: readonly JwsAlgorithm[]) => {
    const value = metadata[name];
    const alg = supported.find((each) => each === value);
    if (value !== undefined && !alg) throw refusal(`${name} must be one of ${supported.join(", ")}`);
    return alg;
  };
  if (requestObjects !== "off") {
    const alg = readAlgorithm("request_object_signing_alg", JWS_ALGORITHMS);
    if (alg) read.request_object_signing_alg = alg;
    const { require_signed_request_object: isRequired, request_uris } = metadata;
    if (isRequired !== undefined && typeof isRequired !== "boolean") {
      throw refusal("require_signed_request_object must be true or false");
    }
    if (isRequired && !hasKeys) throw refusal("require_signed_request_object requires jwks or jwks_uri");
    if (isRequired) read.require_signed_request_object = true;
    if (request_uris !== undefined) {
      if (!isUriList(request_uris)) {
        throw refusal(`request_uris must be an array of at most ${MAX_REQUEST_URIS} strings`);
      }
      for (const uri of request_uris) {
        const problem = findRequestUriProblem(uri);
        if (problem) throw refusal(`request_uris: each ${problem}`);
      }
      if (request_uris.length > 0) read.request_uris = request_uris;
    }
  }
  if (responseModes.includes("jwt")) {
    const alg = readAlgorithm("authorization_signed_response_alg", signingAlgorithms);
    if (alg) read.authorization_signed_response_alg = alg;
  }
  return read;
}

/** The rule that a URL of a request object breaks, as the end of a sentence; `undefined` when it may be registered. */
export function findRequestUriProblem(uri: string): string | undefined {
  return uri.length > MAX_REQUEST_URI_LENGTH
    ? `must have at most ${MAX_REQUEST_URI_LENGTH} characters`
    : checkPublicUrl(uri);
}

function isUriList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= MAX_REQUEST_URIS &&
    value.every((each) => typeof each === "string");
}
