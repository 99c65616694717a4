/**
 * Clients whose id is the https URL of a document that describes them
 * (https://www.ietf.org/archive/id/draft-ietf-oauth-client-id-metadata-document-02.html), without registration. Documents
 * are cached in memory; when a user has consented to the client, its document is also kept in the store. Loads with the
 * first such client.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { networkOf } from "../../http/network/network.ts";
import { type PublicDocument, PublicFetchError } from "../../http/network/public_fetch.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { readClientMetadata } from "./client_metadata.ts";
import { OAuthError } from "../error.ts";
import { type Client, clientDocumentKey } from "../records/client_record.ts";
import type { RemoteCopy } from "./remote_document.ts";

/** Bounds of the time for which a document is used before it is fetched again. */
const MIN_LIFETIME_MS = 5 * 60 * 1000;
const MAX_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** For so long after that, a document that cannot be fetched is used where {@linkcode Staleness} allows it (RFC 5861 section 4). */
const STALE_MS = 24 * 60 * 60 * 1000;

/** After a document could not be fetched. */
const RETRY_SECONDS = 5;

/** Whether a document may be used after its lifetime while it cannot be fetched. */
export type Staleness = "fresh" | "stale_if_public";

/** The record of a client to which a user has consented; it expires without use. Times are milliseconds since the epoch. */
interface ClientDocument {
  readonly client: Client;
  readonly fetched: number;
  /** Until when it is used before it is fetched again. */
  readonly expires: number;
}

/**
 * The client that the document describes; `undefined` when the id is not such a URL.
 * @param staleness "stale_if_public" where a user has consented and the document decides neither keys nor redirect URIs
 * @throws {OAuthError} invalid_client, naming the rule that the URL or the document breaks; temporarily_unavailable when the
 * document cannot be fetched now (400), or must not be (429)
 */
export async function findClientByDocument(
  as: AuthorizationServer,
  id: string,
  context: RequestContext,
  staleness: Staleness = "fresh",
): Promise<Client | undefined> {
  if (!isDocumentAddress(id)) return undefined;
  if (!as.clientMetadataDocuments()) {
    throw new OAuthError(
      "invalid_client",
      "Client ID metadata documents are disabled. Register the client, " +
        "or enable them with --client-documents on or the option oauth.clientMetadataDocuments",
    );
  }
  const copy = as.documents.find<Client>("client", id);
  if (copy) return copy.value;
  const known = (await as.store.get<ClientDocument>(clientDocumentKey(secretDigest(id))))?.value;
  if (known && known.expires > as.now()) {
    as.documents.keep("client", id, toCopy(known));
    return known.client;
  }
  const openid = as.openid && await import("../openid/client_metadata.ts");
  const isKnown = known !== undefined;
  const read = async (document: PublicDocument) => {
    const client = readDocument(as, id, document, openid?.readOpenIdMetadata);
    await openid?.checkSector(as, client.value, { network: networkOf(context), isKnown });
    return client;
  };
  try {
    const found = await as.documents.get({
      kind: "client",
      url: id,
      network: networkOf(context),
      isKnown,
      read,
    });
    if (known) await keepDocument(as, found);
    return found.value;
  } catch (error) {
    const isUnavailable = error instanceof PublicFetchError
      ? isTemporary(error)
      : error instanceof OAuthError && error.code === "temporarily_unavailable";
    if (isUnavailable && staleness === "stale_if_public" && known && isUsableStale(as, known)) {
      return known.client;
    }
    if (error instanceof PublicFetchError) throw isUnavailable ? unavailable(error) : refusal(error.message);
    if (error instanceof OAuthError && error.code === "invalid_client_metadata") throw refusal(error.message);
    throw error;
  }
}

/**
 * Keeps the document of a client to which a user has consented, so that the client stays usable after a restart and when
 * the fetch budget of unknown clients is used up. Called as {@linkcode extendRegistration} is.
 */
export async function extendDocument(as: AuthorizationServer, id: string): Promise<void> {
  const copy = as.documents.find<Client>("client", id);
  if (!copy) return;
  const kept = await as.store.get<ClientDocument>(clientDocumentKey(secretDigest(id)));
  // One write in each tenth of the lifetime is enough.
  const lives = as.registrationLifetime * 1000;
  if ((kept?.expires ?? 0) < as.now() + lives * 0.9) await keepDocument(as, copy);
}

async function keepDocument(
  as: AuthorizationServer,
  { value: client, fetched, expires }: RemoteCopy<Client>,
): Promise<void> {
  const value: ClientDocument = { client, fetched, expires };
  const key = clientDocumentKey(secretDigest(client.id));
  await as.store.commit({ set: [{ key, value, expires: as.now() + as.registrationLifetime * 1000 }] });
}

function toCopy({ client, fetched, expires }: ClientDocument): RemoteCopy<Client> {
  return { value: client, fetched, expires };
}

/** The document of a client with a key says whether that key is still good, so it must be fresh. */
function isUsableStale(as: AuthorizationServer, { client, expires }: ClientDocument): boolean {
  return client.token_endpoint_auth_method === "none" && as.now() < expires + STALE_MS;
}

/** Section 3: https, with a path, without fragment, user info and dot segments. */
function isDocumentAddress(id: string): boolean {
  const url = URL.parse(id);
  return id.length <= 2048 && url !== null && url.protocol === "https:" && url.pathname !== "/" &&
    url.href === id && !id.includes("#") && url.username === "" && url.password === "";
}

function readDocument(
  as: AuthorizationServer,
  id: string,
  { text, headers }: PublicDocument,
  readOpenId: typeof import("../openid/client_metadata.ts").readOpenIdMetadata | undefined,
) {
  const document = parse(text);
  // Section 4.1: client_id must equal the URL of the document.
  if (document.client_id !== id) throw refusal("client_id must be the URL of the document");
  if ("client_secret" in document) throw refusal("client_secret is not allowed");
  try {
    const { metadata: _, ...described } = readClientMetadata(as, document, {
      methods: ["none", "private_key_jwt"],
      method: "none",
    });
    const openid = readOpenId?.(as, document, described);
    const value: Client = { ...described, ...openid, id, source: "document", created: as.now() };
    return { value, lifetime: lifetimeOf(headers) };
  } catch (error) {
    if (error instanceof OAuthError && error.code !== "invalid_client") throw refusal(error.message);
    throw error;
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // The error is thrown below.
  }
  throw refusal("must be a JSON object");
}

/** RFC 9111 §5.2: the cache lifetime of the response, within the bounds above. */
function lifetimeOf(headers: Headers): number {
  const control = headers.get("cache-control") ?? "";
  const seconds = /no-store|no-cache/i.test(control)
    ? 0
    : Number(/max-age=(\d{1,9})/i.exec(control)?.[1] ?? 3600);
  return Math.min(MAX_LIFETIME_MS, Math.max(MIN_LIFETIME_MS, seconds * 1000));
}

/** Whether the same request may succeed later: no connection, no response in time, or an error of the host. */
function isTemporary({ status, cause }: PublicFetchError): boolean {
  return status === undefined ? cause !== undefined : status >= 500 || status === 429;
}

function unavailable(error: PublicFetchError): OAuthError {
  return new OAuthError(
    "temporarily_unavailable",
    `The client metadata document is not available: ${error.message}`,
    // Not 503: everyone can name a URL that does not answer, and a load balancer would take the server for faulty.
    { cause: error, status: 400, fields: [["retry-after", String(RETRY_SECONDS)]] },
  );
}

function refusal(problem: string): OAuthError {
  return new OAuthError("invalid_client", `Invalid client metadata document: ${problem}`);
}
