/**
 * Request objects: authorization requests as JWTs that the client signed (https://www.rfc-editor.org/rfc/rfc9101), by value
 * or at a URL that the client registered. Encrypted ones are not supported.
 *
 * @module
 */
import { type Claims, hasType, readJws } from "../../crypto/jws.ts";
import { networkOf } from "../../http/network/network.ts";
import { type PublicDocument, PublicFetchError } from "../../http/network/public_fetch.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { verifyBySource } from "../clients/key_set.ts";
import { OAuthError, plain } from "../error.ts";
import { type Parameters, parseParameters } from "../parameters.ts";
import type { Client } from "../records/client_record.ts";

const MEDIA_TYPE = "application/oauth-authz-req+jwt";
/** By how much clocks may differ. */
const CLOCK_SKEW_SECONDS = 60;
/** RFC 9101 §9.1: claims of the JWT itself, which are no parameters. */
const JWT_CLAIMS: ReadonlySet<string> = new Set(["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]);

/**
 * The parameters of the request object that `request` contains or `request_uri` names: only these count (RFC 9101 §6.3).
 * @param outer the parameters around it
 * @throws {OAuthError} invalid_request_object or invalid_request_uri, naming the rule
 */
export async function readRequestObject(
  as: AuthorizationServer,
  client: Client,
  outer: Parameters,
  context: RequestContext,
): Promise<Parameters> {
  const request = outer.get("request");
  const request_uri = outer.get("request_uri");
  for (const name of ["request", "request_uri"]) {
    if (outer.repeated.includes(name)) {
      throw new OAuthError("invalid_request", `${name} is included more than once`);
    }
  }
  if (request !== undefined && request_uri !== undefined) {
    throw new OAuthError("invalid_request", "request and request_uri must not be used together");
  }
  const object = request ?? await fetchRequestObject(as, client, request_uri!, context);
  const read = readJws(object);
  if (!read) throw refusal("must be a signed JWT with three parts");
  const { header, claims } = read;
  checkHeader(client, header);
  // The claims come before the signature, so that only an object that could be valid makes the server fetch keys.
  checkClaims(as, client, claims);
  const keys = { ...client, network: networkOf(context), isKnown: client.source === "operator" };
  const verified = await verifyBySource(as, keys, object, undefined, read).catch((error) => {
    if (!(error instanceof PublicFetchError)) throw error;
    throw refusal(`the keys at jwks_uri could not be fetched: ${plain(error.message)}`);
  });
  if (!verified) throw refusal("the signature does not verify with any key of the client");
  return toParameters(claims);
}

/** RFC 9101 §5.2: only from a URL that the client registered, so that a request cannot make this server fetch others. */
async function fetchRequestObject(
  as: AuthorizationServer,
  client: Client,
  url: string,
  context: RequestContext,
): Promise<string> {
  if (!client.request_uris?.includes(url)) {
    throw invalidUri("it is not registered for this client");
  }
  const isKnown = client.source === "operator";
  const request = {
    kind: "request",
    url,
    network: networkOf(context),
    isKnown,
    accept: MEDIA_TYPE,
    maxAge: 0,
    read: readDocument,
  } as const;
  try {
    return (await as.documents.get(request)).value;
  } catch (error) {
    if (!(error instanceof PublicFetchError)) throw error;
    throw invalidUri(plain(error.message));
  }
}

function readDocument({ text, headers }: PublicDocument): { value: string; lifetime: number } {
  // RFC 9101 §10.4.1
  if (!/^application\/(oauth-authz-req\+jwt|jwt)\s*(;|$)/i.test(headers.get("content-type") ?? "")) {
    throw new PublicFetchError(`The Content-Type must be ${MEDIA_TYPE}`);
  }
  return { value: text.trim(), lifetime: 0 };
}

function checkHeader({ request_object_signing_alg: registered }: Client, { typ, alg, crit }: Claims): void {
  // RFC 9101 §10.8: most clients send no typ, or "JWT". A JWT of another type is for another purpose.
  if (typ !== undefined && !hasType(typ, "jwt") && !hasType(typ, "oauth-authz-req+jwt")) {
    throw refusal("typ must be oauth-authz-req+jwt");
  }
  if (registered !== undefined && alg !== registered) {
    throw refusal(`alg must be ${registered}, which this client registered`);
  }
  if (crit !== undefined) throw refusal("crit is not supported");
}

function checkClaims(as: AuthorizationServer, client: Client, claims: Claims): void {
  const { iss, sub, aud, client_id } = claims;
  if (client_id !== client.id) throw refusal("client_id must be the client_id of the request");
  if (iss !== client.id) throw refusal("iss must be the client id");
  if (aud !== as.issuer && !(Array.isArray(aud) && aud.includes(as.issuer))) {
    throw refusal(`aud must be ${as.issuer}`);
  }
  // RFC 9101 §10.8: such a JWT would also be a client assertion.
  if (sub === client.id) throw refusal("sub must not be the client id");
  for (const name of ["request", "request_uri"]) {
    if (name in claims) throw refusal(`${name} must not be in a request object`);
  }
  checkTimes(as.now() / 1000, claims);
}

function checkTimes(now: number, { exp, nbf, iat }: Claims): void {
  if (exp !== undefined && !(typeof exp === "number" && exp > now - CLOCK_SKEW_SECONDS)) {
    throw refusal("exp must be in the future");
  }
  for (const [name, time] of Object.entries({ nbf, iat })) {
    if (time !== undefined && !(typeof time === "number" && time <= now + CLOCK_SKEW_SECONDS)) {
      throw refusal(`${name} must not be in the future`);
    }
  }
}

/** RFC 9101 §4: numbers are JSON numbers; parameters whose value is JSON may be JSON. */
function toParameters(claims: Claims): Parameters {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(claims)) {
    if (JWT_CLAIMS.has(name) || value === null) continue;
    const values = name === "resource" && Array.isArray(value) ? value : [value];
    for (const each of values) pairs.append(name, typeof each === "string" ? each : JSON.stringify(each));
  }
  return parseParameters(pairs.toString());
}

function refusal(rule: string): OAuthError {
  return new OAuthError("invalid_request_object", `Invalid request object: ${rule}`);
}

function invalidUri(problem: string): OAuthError {
  return new OAuthError("invalid_request_uri", `Invalid request_uri: ${problem.replace(/\.$/, "")}`);
}
