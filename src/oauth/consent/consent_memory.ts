/**
 * Remembers what users allowed, per user, client and resource, and decides when a request may be answered without asking
 * again (RFC 6749 section 10.2, RFC 8252 section 8.6).
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { Key } from "../../store/store.ts";
import { canonicalJson } from "../grants/authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { isPublic } from "../clients/client.ts";
import {
  type AuthorizationRequest,
  type AuthorizationTransaction,
  type Client,
  type Consent,
  consentKey,
} from "../records.ts";
import { expandScopes } from "../grants/scope.ts";

/** What of a request was allowed before. */
export interface FoundConsent {
  /** Whether nothing is left to ask. */
  readonly covers: boolean;
  /** The scopes that were allowed at every resource of the request, and what they imply. */
  readonly scopes: ReadonlySet<string>;
}

/** A consent as it is to be written, and the version of the record that it replaces. */
export interface ConsentChange {
  readonly key: Key;
  readonly version: string | null;
  readonly value: Consent;
  readonly expires: number;
}

/** What this user allowed this client before. */
export async function findConsent(
  as: AuthorizationServer,
  client: Client,
  { user, request }: Pick<AuthorizationTransaction, "user" | "request">,
): Promise<FoundConsent> {
  const entries = await readConsents(as, client, user, request);
  const [first, ...more] = entries.map(({ scope }) => expandScopes(as, scope));
  const scopes = more.length === 0
    ? first!
    : new Set([...first!].filter((scope) => more.every((each) => each.has(scope))));
  // Rich details stand for one act, such as a payment: it is asked for each time (RFC 9396 section 1).
  const covers = request.authorization_details === undefined &&
    request.scope.split(" ").every((scope) => scopes.has(scope));
  return { covers, scopes };
}

/**
 * What is allowed now, added to what was allowed before, for each resource; nothing for rich details: a scope that was
 * allowed together with them is not allowed without them.
 */
export async function addConsent(
  as: AuthorizationServer,
  client: Client,
  user: string,
  request: AuthorizationRequest,
): Promise<readonly ConsentChange[]> {
  if (request.authorization_details !== undefined) return [];
  const entries = await readConsents(as, client, user, request);
  return entries.map(({ key, version, scope }) => ({
    key,
    version,
    value: {
      scope: [...new Set([...scope, ...request.scope.split(" ")])].join(" "),
      fingerprint: fingerprintOf(client),
      given: as.now(),
    },
    expires: as.now() + as.consentLifetime * 1000,
  }));
}

/** The scopes that were allowed at each resource of the request, none where the client was another one then. */
function readConsents(
  as: AuthorizationServer,
  client: Client,
  user: string,
  { resource = [as.issuer] }: AuthorizationRequest,
): Promise<readonly { key: Key; version: string | null; scope: readonly string[] }[]> {
  const fingerprint = fingerprintOf(client);
  const read = async (each: string) => {
    const key = consentKey(user, client.id, each);
    const entry = await as.store.get<Consent>(key);
    const scope = entry?.value.fingerprint === fingerprint ? entry.value.scope.split(" ") : [];
    return { key, version: entry?.version ?? null, scope };
  };
  // Nearly all name one, or none, which is this server.
  return resource.length === 1 ? read(resource[0]!).then((one) => [one]) : Promise.all(resource.map(read));
}

/**
 * Whether a request that the user allowed before may be answered without the user. RFC 6749 section 10.2 asks for
 * something that ensures that a repeated request comes from the client itself: the operator's word for the client, a
 * request that the authenticated client pushed (RFC 9126), or a browser that was not sent here by another site.
 */
export function mayAnswerSilently(
  as: AuthorizationServer,
  client: Client,
  { redirect_uri }: AuthorizationRequest,
  { browser, pushed }: { readonly browser: Request; readonly pushed: boolean },
): boolean {
  const isProven = !isPublic(client);
  // RFC 9110 section 9.2.1: what is safe grants nothing; the answer of HEAD would be a code without a reader.
  if (browser.method === "HEAD") return false;
  // RFC 8252 section 8.6: any program may listen on loopback or behind a private-use scheme.
  if (client.trusted || as.trustedClients.has(client.id)) {
    return isProven || redirect_uri.startsWith("https://");
  }
  if (!isProven || client.source === "document") return false;
  return pushed || !isSentByAnotherSite(browser);
}

/** Browsers say where a navigation comes from, redirects included; a program without the field has no user to deceive. */
function isSentByAnotherSite(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  return site !== null && site !== "same-origin" && site !== "none";
}

/** Of records of clients, which do not change: one that is written anew is another object. */
const fingerprints = new WeakMap<Client, string>();

/** Of what a user saw, and of what says who gets the answer. */
function fingerprintOf(client: Client): string {
  let fingerprint = fingerprints.get(client);
  if (fingerprint === undefined) {
    const { name, redirect_uris, domain, jwks, jwks_uri } = client;
    fingerprint = secretDigest(
      canonicalJson([name, redirect_uris ?? [], domain ?? "", jwks ?? {}, jwks_uri ?? ""]),
    );
    fingerprints.set(client, fingerprint);
  }
  return fingerprint;
}
