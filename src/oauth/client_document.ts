/**
 * Clients whose id is the https address of a document that describes them
 * (https://www.ietf.org/archive/id/draft-ietf-oauth-client-id-metadata-document-02.html): nothing is registered, the
 * address is the name. What was fetched is kept in the store for as long as its caching allows, failures never.
 *
 * @module
 */
import { secretDigest } from "../crypto/secret.ts";
import { PublicFetchError } from "../http/public_fetch.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { readClientMetadata } from "./client_metadata.ts";
import { OAuthError } from "./error.ts";
import { type Client, clientDocumentKey } from "./records.ts";

/** Bounds of how long a document is gone by, in milliseconds. */
const SHORTEST = 5 * 60 * 1000;
const LONGEST = 24 * 60 * 60 * 1000;
/** Attempts at one host: whoever sends many ids would have us knock as often. */
const KNOCKS = { free: 20, longest: 300 };

/**
 * The client that the document describes; `undefined` when the id can be no such address.
 * @throws {OAuthError} invalid_client, naming what the address or the document breaks
 */
export async function findClientByDocument(as: AuthorizationServer, id: string): Promise<Client | undefined> {
  if (!isDocumentAddress(id)) return undefined;
  const key = clientDocumentKey(secretDigest(id));
  const kept = await as.store.get<Client>(key);
  if (kept) return kept.value;
  const host = { kind: "document_host", of: new URL(id).host, ...KNOCKS };
  const wait = await as.throttle.begin([host]);
  if (wait > 0) {
    throw new OAuthError(
      "temporarily_unavailable",
      "That host was asked often and did not answer well: try again later",
      {
        status: 429,
        fields: [["retry-after", String(wait)]],
      },
    );
  }
  const { client, lives } = await fetchDocument(as, id);
  await as.throttle.succeeded([host]);
  await as.store.commit({ set: [{ key, value: client, expires: as.now() + lives }] });
  return client;
}

/** Section 3: https, a path, no fragment, no user, no dot segments; compared as text ever after. */
function isDocumentAddress(id: string): boolean {
  const url = URL.parse(id);
  return id.length <= 2048 && url !== null && url.protocol === "https:" && url.pathname !== "/" &&
    url.href === id && !id.includes("#") && url.username === "" && url.password === "";
}

async function fetchDocument(
  as: AuthorizationServer,
  id: string,
): Promise<{ client: Client; lives: number }> {
  try {
    const { text, headers } = await as.fetchPublic(id);
    const document = parse(text);
    // Section 4.1: the document must name the address that it was found at, exactly.
    if (document.client_id !== id) throw refusal("its client_id must be the address that it was found at");
    if ("client_secret" in document) throw refusal("it must hold no secret");
    const client: Client = {
      ...readClientMetadata(as, document, { methods: ["none", "private_key_jwt"], method: "none" }),
      id,
      source: "document",
      created: as.now(),
    };
    return { client, lives: lifetimeOf(headers) };
  } catch (error) {
    if (error instanceof PublicFetchError) throw refusal(error.message);
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
    // Said below.
  }
  throw refusal("it must be a JSON object");
}

/** RFC 9111 §5.2: what the document says of itself, within our bounds. */
function lifetimeOf(headers: Headers): number {
  const control = headers.get("cache-control") ?? "";
  const seconds = /no-store|no-cache/i.test(control)
    ? 0
    : Number(/max-age=(\d{1,9})/i.exec(control)?.[1] ?? 3600);
  return Math.min(LONGEST, Math.max(SHORTEST, seconds * 1000));
}

function refusal(problem: string): OAuthError {
  return new OAuthError("invalid_client", `The client metadata document cannot be used: ${problem}`);
}
