/**
 * Redeems the code of a provider (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3) with the PKCE verifier.
 *
 * @module
 */
import type { Claims } from "../../crypto/jws.ts";
import { type PublicFetch, PublicFetchError } from "../../http/network/public_fetch.ts";
import { type SignInAttempt, SignInError } from "./provider.ts";

export interface TokenRequest {
  readonly endpoint: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** How the client authenticates. */
  readonly method: "client_secret_basic" | "client_secret_post";
  readonly code: string;
}

/** The token response. @throws {SignInError} for one without an access token */
export async function requestTokens(
  fetch: PublicFetch,
  { redirect_uri, code_verifier }: SignInAttempt,
  { endpoint, clientId, clientSecret, method, code }: TokenRequest,
): Promise<Claims & { readonly access_token: string }> {
  const form = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri, code_verifier });
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  if (clientSecret !== undefined && method === "client_secret_basic") {
    headers["authorization"] = `Basic ${btoa(`${encodeForm(clientId)}:${encodeForm(clientSecret)}`)}`;
  } else {
    form.set("client_id", clientId);
    if (clientSecret !== undefined) form.set("client_secret", clientSecret);
  }
  const tokens = await fetchObject(fetch, endpoint, { method: "POST", body: form.toString(), headers });
  const { access_token, token_type } = tokens;
  // GitHub answers errors with 200.
  if (typeof access_token !== "string" || String(token_type).toLowerCase() !== "bearer") {
    throw new SignInError("The token endpoint returned no bearer access token");
  }
  return { ...tokens, access_token };
}

/** The JSON object at a URL. @throws {PublicFetchError} */
export async function fetchObject(
  fetch: PublicFetch,
  url: string,
  init?: Parameters<PublicFetch>[1],
): Promise<Claims> {
  const value = await fetchJson(fetch, url, init);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new PublicFetchError("The URL must return a JSON object");
  }
  return value as Claims;
}

/** The JSON at a URL. @throws {PublicFetchError} */
export async function fetchJson(
  fetch: PublicFetch,
  url: string,
  init?: Parameters<PublicFetch>[1],
): Promise<unknown> {
  const { text } = await fetch(url, init);
  try {
    return JSON.parse(text);
  } catch {
    throw new PublicFetchError("The URL must return JSON");
  }
}

/** RFC 6749 §2.3.1: id and secret are form-encoded before they are joined. */
function encodeForm(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
