/**
 * What users allowed before: who is asked the same thing every day stops reading. Remembered per user and client, gone by
 * as long as the client is still what it said it was, and only where nobody else could be answered in its place.
 *
 * @module
 */
import { secretDigest } from "../crypto/secret.ts";
import type { Put } from "../store/store.ts";
import { canonicalJson } from "./authorization_details.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { isPublic } from "./client.ts";
import {
  type AuthorizationRequest,
  type Client,
  type Consent,
  consentKey,
  type Transaction,
} from "./records.ts";
import { expandScopes } from "./scope.ts";

/** What of a request was allowed before. */
export interface FoundConsent {
  /** Whether nothing is left to ask. */
  readonly covers: boolean;
  /** The scopes that were allowed, and what they bring along. */
  readonly scopes: ReadonlySet<string>;
}

/** What this user allowed this client before. */
export async function findConsent(
  as: AuthorizationServer,
  client: Client,
  { user, request }: Transaction,
): Promise<FoundConsent> {
  const consent = (await as.store.get<Consent>(consentKey(user, client.id)))?.value;
  if (!consent || !request || consent.fingerprint !== fingerprintOf(client)) {
    return { covers: false, scopes: new Set() };
  }
  const scopes = expandScopes(as, consent.scope.split(" "));
  const covers = mayGoUnasked(client, request) && request.authorization_details === undefined &&
    request.scope.split(" ").every((scope) => scopes.has(scope)) &&
    (request.resource ?? [as.issuer]).every((each) => consent.resource.includes(each));
  return { covers, scopes };
}

/** The record that remembers what is allowed now, with what was allowed before. */
export async function rememberConsent(
  as: AuthorizationServer,
  client: Client,
  user: string,
  request: AuthorizationRequest,
): Promise<Put> {
  const key = consentKey(user, client.id);
  const fingerprint = fingerprintOf(client);
  const before = (await as.store.get<Consent>(key))?.value;
  const kept = before?.fingerprint === fingerprint ? before : undefined;
  const value: Consent = {
    scope: [...new Set([...(kept?.scope.split(" ") ?? []), ...request.scope.split(" ")])].join(" "),
    resource: [...new Set([...(kept?.resource ?? []), ...(request.resource ?? [as.issuer])])],
    fingerprint,
    given: as.now(),
  };
  return { key, value, expires: as.now() + as.consentLifetime * 1000 };
}

/**
 * RFC 8252 §8.6 and RFC 6749 §10.2: on loopback or behind a private scheme any program may listen, so a public client
 * there is asked for each time.
 */
function mayGoUnasked(client: Client, { redirect_uri }: AuthorizationRequest): boolean {
  return !isPublic(client) || redirect_uri.startsWith("https://");
}

/** Of what a user saw, and of what says who gets the answer. */
function fingerprintOf({ name, redirect_uris, domain, jwks, jwks_uri }: Client): string {
  return secretDigest(canonicalJson([name, redirect_uris ?? [], domain ?? "", jwks ?? {}, jwks_uri ?? ""]));
}
