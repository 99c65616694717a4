/**
 * This server as a client of an authorization server of an upstream: the configured registration, its client ID metadata
 * document (draft-ietf-oauth-client-id-metadata-document), or a dynamic registration (RFC 7591), which is made once for all
 * instances.
 *
 * @module
 */
import { isLoopbackUrl } from "../../http/network/loopback.ts";
import { checkPublicUrl, PublicFetchError } from "../../http/network/public_fetch.ts";
import { upstreamClientKey, type UpstreamClientRecord } from "../../oauth/connection_records.ts";
import { getRenewed, type Renewal } from "../../oauth/renewal.ts";
import type { ProviderClient } from "../../oauth/sign_in/token_request.ts";
import { putIfAbsent } from "../../store/store.ts";
import { ConnectError } from "./connect_error.ts";
import { type CredentialsContext, redirectUriOf, tagOf, type Upstream } from "./context.ts";
import type { IssuerMetadata } from "./issuer_metadata.ts";
import type { Network } from "./network.ts";
import type { OAuthAuth, UpstreamClient } from "./upstream_auth.ts";

/** The registration of this server, as it is sealed with the tokens that belong to it. */
export interface RegisteredClient extends Pick<ProviderClient, "clientId" | "method"> {
  readonly clientSecret?: string;
  /** Registered dynamically: the authorization server may have forgotten it. */
  readonly isDynamic?: true;
}

/** The URL of the client ID metadata document for an authorization server. */
function clientDocumentUrl({ place }: CredentialsContext, tag: string): string {
  return `${place}/connections/${tag}/client.json`;
}

/** The document at that URL. */
export function describeClient(context: CredentialsContext, tag: string): Readonly<Record<string, unknown>> {
  return {
    client_id: clientDocumentUrl(context, tag),
    ...metadataOf(context, redirectUriOf(context, tag), "none"),
  };
}

function metadataOf(
  context: CredentialsContext,
  redirect_uri: string,
  method: string,
): Readonly<Record<string, unknown>> {
  return {
    client_name: context.clientName,
    client_uri: context.place,
    redirect_uris: [redirect_uri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: method,
    application_type: isLoopbackUrl(context.place) ? "native" : "web",
  };
}

/** A configured registration. */
export function toRegisteredClient(
  { clientId, clientSecret, tokenEndpointAuthMethod: method = "client_secret_basic" }: UpstreamClient,
): RegisteredClient {
  return { clientId, method, ...(clientSecret !== undefined && { clientSecret }) };
}

/** A client and the redirect URI that is registered for it. */
export interface FoundClient {
  readonly client: RegisteredClient;
  readonly redirect_uri: string;
}

/**
 * The client to be at an authorization server.
 * @throws {ConnectError} when the server registers none, or refuses
 */
export async function findClient(
  context: CredentialsContext,
  network: Network,
  metadata: IssuerMetadata,
  { name, auth }: Upstream<OAuthAuth>,
): Promise<FoundClient> {
  const { clientId } = auth;
  if (clientId !== undefined) {
    const client = toRegisteredClient({ ...auth, clientId });
    return { client, redirect_uri: redirectUriOf(context, name) };
  }
  const tag = tagOf(metadata.issuer);
  const redirect_uri = redirectUriOf(context, tag);
  const document = clientDocumentUrl(context, tag);
  if (metadata.client_id_metadata_document_supported && checkPublicUrl(document) === undefined) {
    return { client: { clientId: document, method: "client_secret_basic" }, redirect_uri };
  }
  const endpoint = metadata.registration_endpoint;
  if (endpoint === undefined) {
    throw new ConnectError(
      "no_registration",
      "The authorization server registers no clients: register this server there and set clientId",
    );
  }
  return { client: await registerOnce(context, network, metadata, endpoint), redirect_uri };
}

/** Forgets a registration that the authorization server does not know any more, so that the next connection registers anew. */
export async function forgetClient(
  context: CredentialsContext,
  issuer: string,
  clientId: string,
): Promise<void> {
  const entry = await context.store.get<UpstreamClientRecord>(
    upstreamClientKey(issuer, redirectUriOf(context, tagOf(issuer))),
  );
  const client = entry && await context.records.open<RegisteredClient>(entry);
  if (client?.clientId !== clientId) return;
  await context.store.commit({ check: [{ key: entry!.key, version: entry!.version }], remove: [entry!.key] });
}

/** Registers by the first caller, on whichever instance; the others wait for it. */
async function registerOnce(
  context: CredentialsContext,
  network: Network,
  metadata: IssuerMetadata,
  endpoint: string,
): Promise<RegisteredClient> {
  const url = redirectUriOf(context, tagOf(metadata.issuer));
  const key = upstreamClientKey(metadata.issuer, url);
  const renewal: Renewal<UpstreamClientRecord, RegisteredClient> = {
    isRenewable: () => true,
    read: (entry) => context.records.open<RegisteredClient>(entry),
    async renew() {
      const { client, expires } = await register(context, network, metadata, endpoint, url);
      const value: UpstreamClientRecord = {
        url,
        sealed: await context.records.seal(key, url, client),
        registered: context.now(),
        ...(expires !== undefined && { stale: expires }),
      };
      return { value, token: client };
    },
    // An unused registration: the authorization server removes it by its own rules.
    discard: () => Promise.resolve(),
  };
  const unregistered: UpstreamClientRecord = { url, sealed: "", registered: 0, stale: 0 };
  // A second round replaces a record that cannot be opened, such as one of another secret.
  for (let round = 0; round < 2; round++) {
    await putIfAbsent(context.store, key, unregistered);
    const client = await getRenewed(context, key, renewal);
    if (client) return client;
    await context.store.commit({ remove: [key] });
  }
  throw new ConnectError("registration_failed", "The registration at the authorization server was lost");
}

async function register(
  context: CredentialsContext,
  network: Network,
  { token_endpoint_auth_methods_supported: supported }: IssuerMetadata,
  endpoint: string,
  redirect_uri: string,
): Promise<{ readonly client: RegisteredClient; readonly expires?: number }> {
  const method = ["client_secret_basic", "client_secret_post"].find((each) => supported.includes(each)) ??
    "none";
  let text: string;
  try {
    ({ text } = await network.fetch(endpoint, {
      method: "POST",
      body: JSON.stringify(metadataOf(context, redirect_uri, method)),
      headers: { "content-type": "application/json" },
      statuses: [200, 201],
    }));
  } catch (error) {
    if (!(error instanceof PublicFetchError)) throw error;
    throw new ConnectError("registration_failed", "The authorization server did not register this server", {
      cause: error,
    });
  }
  return readRegistration(text, method);
}

function readRegistration(
  text: string,
  requested: string,
): { readonly client: RegisteredClient; readonly expires?: number } {
  let registered: Record<string, unknown> | null;
  try {
    registered = JSON.parse(text);
  } catch {
    registered = null;
  }
  const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method = requested } =
    Object(
      registered,
    ) as Record<string, unknown>;
  const needsSecret = token_endpoint_auth_method !== "none";
  const isKnown = ["none", "client_secret_basic", "client_secret_post"].includes(
    String(token_endpoint_auth_method),
  );
  const isText = (value: unknown): value is string =>
    typeof value === "string" && value !== "" && value.length <= 4096;
  if (!isText(client_id) || !isKnown || needsSecret && !isText(client_secret)) {
    throw new ConnectError(
      "registration_failed",
      "The authorization server returned an invalid registration",
    );
  }
  return {
    client: {
      clientId: client_id,
      isDynamic: true,
      method: token_endpoint_auth_method === "client_secret_post"
        ? "client_secret_post"
        : "client_secret_basic",
      ...(needsSecret && { clientSecret: client_secret as string }),
    },
    // RFC 7591 section 3.2.1: 0 for a secret that does not expire.
    ...(needsSecret && typeof client_secret_expires_at === "number" && client_secret_expires_at > 0 &&
      { expires: client_secret_expires_at * 1000 }),
  };
}
