/**
 * OAuth clients for the tests of the scenarios: `careful` follows the specifications, `careless` checks nothing, and
 * `rigid` refuses whatever differs from the usual response.
 *
 * @module
 */
import { createHash, randomBytes } from "node:crypto";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";
import { EXIT } from "./driver.ts";

export type Kind = "careful" | "careless" | "rigid";
export type Env = Readonly<Record<string, string>>;

/** The client does not accept a response. */
export class Refusal extends Error {}

export function refuse(why: string): never {
  throw new Refusal(why);
}

/** A text member of a JSON object, or "". */
export function getText(value: unknown, name: string): string {
  return isJsonObject(value) && typeof value[name] === "string" ? value[name] : "";
}

const TOKEN_MEMBERS = ["access_token", "token_type", "expires_in", "scope", "refresh_token"];

/** Performs a flow of the suite `oauth`. Returns the exit code. */
export async function runOAuthClient(kind: Kind, env: Env): Promise<number> {
  const base = env["CONFORMANCE_BASE"]!;
  const metadata = await fetchMetadata(kind, `${base}/.well-known/oauth-authorization-server`, base);
  switch (env["CONFORMANCE_FLOW"]) {
    case "client_credentials":
      await requestToken(kind, env, metadata, { grant_type: "client_credentials" }, []);
      return EXIT["accepted"]!;
    case "code":
      await signIn(kind, env, metadata);
      return EXIT["accepted"]!;
    case "resource": {
      const { access_token } = await signIn(kind, env, metadata);
      const response = kind === "careless"
        ? await fetch(`${base}/resource?access_token=${access_token}`)
        : await fetch(`${base}/resource`, { headers: { authorization: `Bearer ${access_token}` } });
      return response.ok ? EXIT["accepted"]! : EXIT["refused"]!;
    }
    case "refresh": {
      let { refresh_token } = await signIn(kind, env, metadata);
      for (let round = 0; round < 2; round++) {
        const form = { grant_type: "refresh_token", refresh_token: String(refresh_token) };
        const tokens = await requestToken(kind, env, metadata, form, ["refresh_token"]);
        if (kind !== "careless") refresh_token = tokens["refresh_token"] ?? refresh_token;
      }
      return EXIT["accepted"]!;
    }
    case "refresh_at_once": {
      const { refresh_token } = await signIn(kind, env, metadata);
      const form = { grant_type: "refresh_token", refresh_token: String(refresh_token) };
      const refresh = () => requestToken(kind, env, metadata, form, []);
      const first = refresh();
      await Promise.all([first, kind === "careless" ? refresh() : first]);
      return EXIT["accepted"]!;
    }
    case "device":
      return await authorizeDevice(kind, env, metadata);
  }
  return EXIT["unsupported"]!;
}

/** Fetches metadata (RFC 8414). The careless client guesses what it cannot read. */
export async function fetchMetadata(kind: Kind, url: string, issuer: string): Promise<JsonObject> {
  const guess = {
    issuer,
    authorization_endpoint: `${issuer}/as/authorize`,
    token_endpoint: `${issuer}/as/token`,
  };
  if (kind === "careless") {
    return { ...guess, ...await fetch(url).then((response) => response.json()).catch(() => ({})) };
  }
  const response = await fetch(url);
  const metadata: JsonObject = await response.json();
  if (!response.ok || metadata["issuer"] !== issuer) refuse("issuer");
  if (kind === "rigid" && "example_extension" in metadata) refuse("unknown member");
  return metadata;
}

/** Authorization code with PKCE and state. @param extra parameters of both requests */
export async function signIn(
  kind: Kind,
  env: Env,
  metadata: JsonObject,
  extra: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  const isCareless = kind === "careless";
  const verifier = randomBytes(32).toString("base64url");
  const state = isCareless ? "s" : randomBytes(16).toString("base64url");
  const redirectUri = env["CONFORMANCE_REDIRECT_URI"]!;
  const query = new URLSearchParams({
    response_type: "code",
    client_id: env["CONFORMANCE_CLIENT_ID"]!,
    redirect_uri: redirectUri,
    scope: "read",
    state,
    ...(isCareless ? { client_secret: env["CONFORMANCE_CLIENT_SECRET"]! } : {
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      ...extra,
    }),
  });
  const response = await fetch(`${metadata["authorization_endpoint"]}?${query}`, { redirect: "manual" });
  const callback = new URL(response.headers.get("location") ?? redirectUri).searchParams;
  if (!isCareless) checkCallback(kind, callback, state, metadata);
  return await requestToken(kind, env, metadata, {
    grant_type: "authorization_code",
    code: callback.get("code") ?? "",
    ...(isCareless ? {} : { redirect_uri: redirectUri, code_verifier: verifier, ...extra }),
  }, ["refresh_token"]);
}

const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";
const SLOW_DOWN_SECONDS = 5;

/** The device authorization grant. The careless client does not wait, and asks on after any error. */
async function authorizeDevice(kind: Kind, env: Env, metadata: JsonObject): Promise<number> {
  const post = (url: unknown, form: Readonly<Record<string, string>>) =>
    fetch(String(url), {
      method: "POST",
      body: new URLSearchParams({ client_id: env["CONFORMANCE_CLIENT_ID"]!, ...form }),
    });
  const device = await (await post(metadata["device_authorization_endpoint"], { scope: "read" })).json();
  const isCareless = kind === "careless";
  const form = {
    grant_type: isCareless ? "device_code" : DEVICE_CODE,
    device_code: getText(device, "device_code"),
  };
  let seconds = Number(device["interval"] ?? SLOW_DOWN_SECONDS);
  for (let round = 0; round < 4; round++) {
    const response = await post(metadata["token_endpoint"], form);
    if (response.ok) break;
    if (isCareless) continue;
    const error = getText(await response.json(), "error");
    if (error === "slow_down") seconds += SLOW_DOWN_SECONDS;
    else if (error !== "authorization_pending") refuse(error);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
  return EXIT["accepted"]!;
}

function checkCallback(kind: Kind, callback: URLSearchParams, state: string, metadata: JsonObject): void {
  for (const name of callback.keys()) {
    if (callback.getAll(name).length > 1) refuse(`repeated ${name}`);
    if (kind === "rigid" && !["code", "state", "iss"].includes(name)) refuse(`unknown ${name}`);
  }
  if (callback.get("state") !== state) refuse("state");
  if (callback.get("iss") !== metadata["issuer"]) refuse("iss");
  if (callback.has("error") || !callback.get("code")) refuse("error");
}

/** Requests a token. @param required members that the rigid client expects */
export async function requestToken(
  kind: Kind,
  env: Env,
  metadata: JsonObject,
  form: Readonly<Record<string, string>>,
  required: readonly string[],
): Promise<JsonObject> {
  const [id, secret] = [env["CONFORMANCE_CLIENT_ID"]!, env["CONFORMANCE_CLIENT_SECRET"]!];
  const isCareless = kind === "careless";
  const encode = (text: string) => isCareless ? text : encodeURIComponent(text);
  const request: RequestInit = {
    method: "POST",
    headers: {
      authorization: `Basic ${btoa(`${encode(id)}:${encode(secret)}`)}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({ ...form, ...(isCareless && { client_secret: secret }) }),
    redirect: isCareless ? "follow" : "manual",
  };
  if (isCareless) {
    const url = `${metadata["token_endpoint"]}?client_secret=${encodeURIComponent(secret)}`;
    let response = await fetch(url, request);
    if (response.status === 503) response = await fetch(url, request);
    return await response.json().catch(() => ({}));
  }
  const response = await fetch(String(metadata["token_endpoint"]), request);
  const tokens: unknown = response.status === 200 ? await response.json() : refuse(`${response.status}`);
  const type = getText(tokens, "token_type");
  if (!isJsonObject(tokens) || getText(tokens, "access_token") === "") return refuse("access_token");
  if (type.toLowerCase() !== "bearer") refuse("token_type");
  if (kind === "rigid") {
    const isUsual = Object.keys(tokens).every((name) => TOKEN_MEMBERS.includes(name)) &&
      [...required, "expires_in"].every((name) => name in tokens) && type === "Bearer";
    if (!isUsual) refuse("unusual");
  }
  return tokens;
}
