/**
 * The part of the page's script that signs in and calls the API. Tokens stay in memory; `sessionStorage` has the verifier
 * and the state of a sign-in that is under way, and where the page was.
 *
 * @module
 */

/** JavaScript for browsers. */
export const SESSION_SCRIPT: string = `
const settings = JSON.parse(document.body.dataset.settings);
const PENDING = "trivet-admin-sign-in";
const WAS_SIGNED_IN = "trivet-admin-signed-in";
let token;

class ApiError extends Error {}

function toBase64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
}

function randomText() {
  return toBase64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Sends the browser to the login of this server (RFC 6749 section 4.1, RFC 7636, RFC 8707). */
async function signIn(more = {}) {
  const pending = { verifier: randomText(), state: randomText(), hash: location.hash };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier));
  location.assign(settings.place + "/oauth/authorize?" + new URLSearchParams({
    response_type: "code",
    client_id: settings.client,
    redirect_uri: settings.place + "/admin",
    scope: "admin",
    resource: settings.resource,
    state: pending.state,
    code_challenge: toBase64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    ...more,
  }));
}

/** Completes a sign-in, if the address has its answer. Returns a text that says why it failed, or undefined. */
async function completeSignIn() {
  const answer = new URLSearchParams(location.search);
  const pending = JSON.parse(sessionStorage.getItem(PENDING) ?? "null");
  if (!answer.has("state") || !pending) return undefined;
  sessionStorage.removeItem(PENDING);
  history.replaceState(null, "", settings.place + "/admin" + pending.hash);
  // RFC 9207: the answer must be of this server.
  if (answer.get("state") !== pending.state || answer.get("iss") !== settings.issuer) {
    return "The answer of the login does not belong to this page. Sign in again.";
  }
  if (answer.has("error")) {
    sessionStorage.removeItem(WAS_SIGNED_IN);
    return answer.get("error_description") ?? answer.get("error");
  }
  const response = await fetch(settings.place + "/oauth/token", {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code: answer.get("code"),
      redirect_uri: settings.place + "/admin",
      client_id: settings.client,
      code_verifier: pending.verifier,
      resource: settings.resource,
    }),
  });
  const body = await response.json();
  if (!response.ok) return body.error_description ?? body.error;
  if (!String(body.scope ?? "admin").split(" ").includes("admin")) {
    return "Your account is not an administrator's.";
  }
  token = body.access_token;
  sessionStorage.setItem(WAS_SIGNED_IN, "1");
  return undefined;
}

/** Calls the API. GET and DELETE send the input as query, the others as JSON. Throws an ApiError with its message. */
async function call(method, path, input = {}) {
  const isQuery = method === "GET" || method === "DELETE";
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== "");
  const query = isQuery && given.length > 0 ? "?" + new URLSearchParams(given) : "";
  const response = await fetch(settings.place + "/admin" + path + query, {
    method,
    headers: {
      authorization: "Bearer " + token,
      accept: "application/json",
      ...(!isQuery && { "content-type": "application/json" }),
    },
    ...(!isQuery && { body: JSON.stringify(input) }),
  });
  if (response.status === 401) {
    // The token expired or was revoked.
    await signIn();
    return await new Promise(() => {});
  }
  const text = await response.text();
  const body = text === "" ? undefined : JSON.parse(text);
  if (response.ok) return body;
  const id = body?.request_id ? " (request " + body.request_id + ")" : "";
  throw new ApiError((body?.error?.message ?? "The server answered " + response.status) + id);
}
`;
