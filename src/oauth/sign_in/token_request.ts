/**
 * Requests to the token endpoint of a provider (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3) and to its revocation
 * endpoint (RFC 7009).
 *
 * @module
 */
import type { Claims } from "../../crypto/jws.ts";
import { type PublicFetch, PublicFetchError } from "../../http/network/public_fetch.ts";
import { plain } from "../error.ts";
import { type ProviderTokens, type SignInAttempt, SignInError, TokenRefusedError } from "./provider.ts";

/** How this server authenticates at a provider. */
export interface ProviderClient {
  readonly clientId: string;
  /** A function makes a new one for each request. */
  readonly clientSecret?: string | (() => Promise<string>) | undefined;
  readonly method: "client_secret_basic" | "client_secret_post";
}

/** Also the errors, whose code tells the operator what is wrong. Some providers answer them with 403, GitHub with 200. */
const TOKEN_STATUSES = [200, 400, 401, 403];
/** RFC 6749 §5.2 */
const ERROR_CODE = /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}$/;

/** Redeems the code of a sign-in. @throws {SignInError} when the provider refuses, {@linkcode TokenRefusedError} with its code */
export function redeemCode(
  fetch: PublicFetch,
  endpoint: string,
  client: ProviderClient,
  { redirect_uri, code_verifier }: SignInAttempt,
  code: string,
): Promise<ProviderTokens> {
  const grant = { grant_type: "authorization_code", code, redirect_uri, code_verifier };
  return requestTokens(fetch, endpoint, client, grant);
}

/** New tokens for a refresh token. @throws as {@linkcode redeemCode} */
export function refreshTokens(
  fetch: PublicFetch,
  endpoint: string,
  client: ProviderClient,
  refresh_token: string,
): Promise<ProviderTokens> {
  return requestTokens(fetch, endpoint, client, { grant_type: "refresh_token", refresh_token });
}

/** Revokes a token (RFC 7009 §2). @throws {PublicFetchError | SignInError} */
export async function revokeToken(
  fetch: PublicFetch,
  endpoint: string,
  client: ProviderClient,
  token: string,
  token_type_hint: "access_token" | "refresh_token",
): Promise<void> {
  const request = await toTokenRequest(client, { token, token_type_hint });
  const { text, status } = await fetch(endpoint, { ...request, statuses: TOKEN_STATUSES });
  if (status !== 200) throw new SignInError(`The revocation endpoint answered ${errorOf(text) ?? status}`);
}

/** Requests tokens with a grant. @throws {SignInError} when the endpoint refuses, {@linkcode TokenRefusedError} with its code */
export async function requestTokens(
  fetch: PublicFetch,
  endpoint: string,
  client: ProviderClient,
  grant: Record<string, string>,
): Promise<ProviderTokens> {
  const request = await toTokenRequest(client, grant);
  const { text, status } = await fetch(endpoint, { ...request, statuses: TOKEN_STATUSES });
  const refusal = errorOf(text);
  if (refusal !== undefined) throw new TokenRefusedError(refusal);
  if (status !== 200) throw new SignInError(`The token endpoint answered with status ${status}`);
  const tokens = parseObject(text);
  const { access_token, token_type, refresh_token, id_token, scope, expires_in } = tokens;
  if (typeof access_token !== "string" || String(token_type).toLowerCase() !== "bearer") {
    throw new SignInError("The token endpoint returned no bearer access token");
  }
  const seconds = Number(expires_in);
  return {
    access_token,
    refresh_token: toText(refresh_token),
    id_token: toText(id_token),
    scope: toText(scope),
    expires_in: expires_in === undefined || !(seconds > 0) ? undefined : seconds,
  };
}

/** A request with form fields, authenticated as the client. */
export async function toTokenRequest(
  { clientId, clientSecret, method }: ProviderClient,
  fields: Record<string, string>,
): Promise<{ method: string; body: string; headers: Record<string, string> }> {
  const form = new URLSearchParams(fields);
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  const secret = typeof clientSecret === "function" ? await clientSecret() : clientSecret;
  if (secret !== undefined && method === "client_secret_basic") {
    headers["authorization"] = `Basic ${btoa(`${encodeForm(clientId)}:${encodeForm(secret)}`)}`;
  } else {
    form.set("client_id", clientId);
    if (secret !== undefined) form.set("client_secret", secret);
  }
  return { method: "POST", body: form.toString(), headers };
}

/** The error code of a response; `undefined` when it is none. */
function errorOf(text: string): string | undefined {
  try {
    const error = (JSON.parse(text) as Claims | null)?.["error"];
    if (error === undefined) return undefined;
    return typeof error === "string" && ERROR_CODE.test(error) ? error : plain(String(error), 100);
  } catch {
    return undefined;
  }
}

/** The JSON object at a URL. @throws {PublicFetchError} */
export async function fetchObject(
  fetch: PublicFetch,
  url: string,
  init?: Parameters<PublicFetch>[1],
): Promise<Claims> {
  return parseObject((await fetch(url, init)).text);
}

/** The JSON at a URL. @throws {PublicFetchError} */
export async function fetchJson(
  fetch: PublicFetch,
  url: string,
  init?: Parameters<PublicFetch>[1],
): Promise<unknown> {
  return parseJson((await fetch(url, init)).text);
}

function parseObject(text: string): Claims {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new PublicFetchError("The URL must return a JSON object");
  }
  return value as Claims;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PublicFetchError("The URL must return JSON");
  }
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** RFC 6749 §2.3.1: id and secret are form-encoded before they are joined. */
function encodeForm(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
