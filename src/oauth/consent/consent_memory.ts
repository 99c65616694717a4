/**
 * Remembers the scopes that users allowed, per user, client and resource, and decides when a request needs no consent
 * page (RFC 6749 section 10.2, RFC 8252 section 8.6).
 *
 * @module
 */
import { toCanonicalJson } from "../../crypto/canonical_json.ts";
import { secretDigest } from "../../crypto/secret.ts";
import type { Key } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { isPublic } from "../clients/client.ts";
import {
  type AuthorizationRequest,
  type AuthorizationTransaction,
  type Consent,
  consentKey,
} from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import { expandScopes } from "../grants/scope.ts";
import { clientSince } from "../tokens/liveness.ts";

/** What the user allowed before. */
export interface RememberedConsent {
  /** Whether the whole request was allowed before. */
  readonly coversRequest: boolean;
  /** The scopes that were allowed at every resource of the request, with the scopes that they imply. */
  readonly scopes: ReadonlySet<string>;
}

/** A record to write, and the version of the record that it replaces. */
export interface ConsentChange {
  readonly key: Key;
  readonly version: string | null;
  readonly value: Consent;
  readonly expires: number;
}

/** The scopes that the user is asked for: those to be granted, and those for claims only. */
export function askedScopes({ scope, openid }: Pick<AuthorizationRequest, "scope" | "openid">): string[] {
  return [...scope.split(" "), ...openid?.claim_scope?.split(" ") ?? []];
}

/** What the user allowed the client before, at the resources of the request. */
export async function findConsent(
  as: AuthorizationServer,
  client: Client,
  { user, request }: Pick<AuthorizationTransaction, "user" | "request">,
): Promise<RememberedConsent> {
  const entries = await readConsents(as, client, user, request);
  const [first = new Set<string>(), ...more] = entries.map(({ scope }) => expandScopes(as, scope));
  const scopes = more.length === 0
    ? first
    : new Set([...first].filter((scope) => more.every((each) => each.has(scope))));
  // RFC 9396 §1: authorization details stand for one act, such as a payment, so each request needs consent.
  const coversRequest = request.authorization_details === undefined &&
    askedScopes(request).every((scope) => scopes.has(scope));
  return { coversRequest, scopes };
}

/**
 * The records that add the scopes of this request to those allowed before, for each resource. None for a request with
 * authorization details: a scope that was allowed together with them is not allowed without them.
 */
export async function toConsentChanges(
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
      scope: [...new Set([...scope, ...askedScopes(request)])].join(" "),
      fingerprint: fingerprintClient(client),
      given: as.now(),
    },
    expires: as.now() + as.consentLifetime * 1000,
  }));
}

/** The scopes that were allowed at each resource of the request; none when the client has changed since. */
function readConsents(
  as: AuthorizationServer,
  client: Client,
  user: string,
  { resource = [as.issuer] }: AuthorizationRequest,
): Promise<readonly { key: Key; version: string | null; scope: readonly string[] }[]> {
  const fingerprint = fingerprintClient(client);
  // An earlier one was given to another client that had this id.
  const since = clientSince(as, client) ?? 0;
  const read = async (each: string) => {
    const key = consentKey(user, client.id, each);
    const entry = await as.store.get<Consent>(key);
    const isOwn = entry?.value.fingerprint === fingerprint && entry.value.given >= since;
    const scope = isOwn ? entry.value.scope.split(" ") : [];
    return { key, version: entry?.version ?? null, scope };
  };
  // Without Promise.all for the usual case: one resource.
  return resource.length === 1 ? read(resource[0]!).then((one) => [one]) : Promise.all(resource.map(read));
}

/**
 * Whether a request that the user allowed before may be answered without the consent page. RFC 6749 section 10.2 demands
 * a measure that ensures that the repeated request comes from the client. A pushed request is none: the client made it,
 * but perhaps for another person, who then sent the user here. So no one else may have sent the browser, unless the operator
 * trusts the client.
 */
export function maySkipConsent(
  as: AuthorizationServer,
  client: Client,
  { redirect_uri }: AuthorizationRequest,
  browser: Request,
): boolean {
  const isConfidential = !isPublic(client);
  // RFC 9110 section 9.2.1: HEAD is a safe method, and its response would carry a code.
  if (browser.method === "HEAD") return false;
  // RFC 8252 section 8.6: any program may listen on loopback or claim a private-use scheme.
  if (client.trusted || as.trustedClients.has(client.id)) {
    return isConfidential || redirect_uri.startsWith("https://");
  }
  return isConfidential && client.source !== "document" && !isSentByOthers(browser);
}

/**
 * Whether anything but a page of this server sent the browser. Browsers set `Sec-Fetch-Site` on navigations and redirects:
 * it is `none` for an address that another program opened, such as an MCP client for a malicious resource, or a mail. A
 * browser that does not set it is too old to tell. A program that is no browser has no user to deceive.
 */
function isSentByOthers(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin";
  return request.headers.get("user-agent")?.startsWith("Mozilla/") === true;
}

/** By client record. Records are immutable: a changed client is another object. */
const fingerprints = new WeakMap<Client, string>();

/** A digest of the metadata that the user saw, and of that which decides where codes go and who can redeem them. */
export function fingerprintClient(client: Client): string {
  let fingerprint = fingerprints.get(client);
  if (fingerprint === undefined) {
    const { name, redirect_uris, domain, jwks, jwks_uri } = client;
    fingerprint = secretDigest(
      toCanonicalJson([name, redirect_uris ?? [], domain ?? "", jwks ?? {}, jwks_uri ?? ""]),
    );
    fingerprints.set(client, fingerprint);
  }
  return fingerprint;
}
