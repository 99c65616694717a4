/**
 * The correct authorization server of the scenarios: metadata, registration, authorization code with PKCE, device code,
 * refresh and client credentials. It grants everything without asking a user.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { RecordedRequest } from "./recorded.ts";
import type { Answer } from "./response.ts";

/** Answers a request, or `undefined` if the path is not one of this server. Sets `request.at`. */
export type Handler = (request: RecordedRequest) => Answer | undefined;

const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";
const NO_STORE = { "cache-control": "no-store" };

/** @param resource URL of the protected resource; its metadata (RFC 9728) is served too */
export function createOAuthServer(base: string, resource: string): Handler {
  const issued = new Map<string, RecordedRequest>();
  let tokens = 0;
  /** When the last request about a device code came, in milliseconds. */
  let lastAsked = 0;

  // The paths are not those that clients assume without metadata.
  const metadata = () => ({
    issuer: base,
    authorization_endpoint: `${base}/as/authorize`,
    token_endpoint: `${base}/as/token`,
    registration_endpoint: `${base}/as/register`,
    jwks_uri: `${base}/jwks`,
    response_types_supported: ["code"],
    device_authorization_endpoint: `${base}/as/device`,
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials", DEVICE_CODE],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ["read"],
  });

  function authorize(request: RecordedRequest): Answer {
    const { redirect_uri, state } = request.query;
    const code = `code-${issued.size + 1}`;
    issued.set(code, request);
    if (!URL.canParse(String(redirect_uri))) {
      return { status: 400, headers: {}, json: { error: "invalid_request" } };
    }
    return {
      status: 302,
      headers: {},
      location: String(redirect_uri),
      query: { code, ...(state !== undefined && { state }), iss: base },
    };
  }

  function exchange(request: RecordedRequest): Answer {
    const { grant_type, code, code_verifier } = request.form;
    if (grant_type === DEVICE_CODE) {
      request.facts["waited_seconds"] = (performance.now() - lastAsked) / 1000;
      lastAsked = performance.now();
    }
    const authorization = issued.get(String(code));
    if (authorization) {
      const challenge = authorization.query["code_challenge"];
      const hash = createHash("sha256").update(String(code_verifier)).digest("base64url");
      request.facts["verifier_matches"] = code_verifier !== undefined && challenge === hash;
      if (challenge !== undefined && challenge !== hash && challenge !== code_verifier) return refuse();
    } else if (grant_type === "authorization_code") return refuse();
    const number = ++tokens;
    return {
      status: 200,
      headers: { ...NO_STORE },
      json: {
        access_token: `access-${number}`,
        token_type: "Bearer",
        expires_in: 3600,
        scope: "read",
        ...(grant_type !== "client_credentials" && { refresh_token: `refresh-${number}` }),
      },
    };
  }

  return (request) => {
    const { path, method } = request;
    if (/^\/\.well-known\/(oauth-authorization-server|openid-configuration)$/.test(path)) {
      request.at = "metadata";
      return { status: 200, headers: {}, json: metadata() };
    }
    if (path === `/.well-known/oauth-protected-resource${new URL(resource).pathname}`) {
      request.at = "resource-metadata";
      return {
        status: 200,
        headers: {},
        json: { resource, authorization_servers: [base], scopes_supported: ["read"] },
      };
    }
    if (path === "/as/authorize") {
      request.at = "authorization";
      return authorize(request);
    }
    if (path === "/as/token") {
      request.at = "token";
      return exchange(request);
    }
    if (path === "/as/device") {
      request.at = "device";
      lastAsked = performance.now();
      return {
        status: 200,
        headers: { ...NO_STORE },
        json: {
          device_code: "device-1",
          user_code: "WDJB-MJHT",
          verification_uri: `${base}/device`,
          expires_in: 60,
          interval: 1,
        },
      };
    }
    if (path === "/as/register" && method === "POST") {
      request.at = "registration";
      const sent = typeof request.json === "object" ? request.json : {};
      return { status: 201, headers: { ...NO_STORE }, json: { ...sent, client_id: "registered" } };
    }
    if (path === "/jwks") {
      request.at = "jwks";
      return { status: 200, headers: {}, json: { keys: [] } };
    }
    if (path === "/resource") {
      request.at = "resource";
      const hasToken = /^Bearer access-\d+$/i.test(request.headers["authorization"] ?? "") ||
        request.query["access_token"] !== undefined;
      return hasToken
        ? { status: 200, headers: {}, json: { ok: true } }
        : { status: 401, headers: { "www-authenticate": "Bearer" }, json: { error: "invalid_token" } };
    }
    return undefined;
  };
}

function refuse(): Answer {
  return { status: 400, headers: { ...NO_STORE }, json: { error: "invalid_grant" } };
}
