/**
 * oidc-provider set up as in its documentation: its own pages for login and consent (`example/routes/koa.js` there),
 * clients from `target.json`, and the grants and endpoints that are off by default. Policies are the defaults except
 * where noted below.
 *
 *   node server.mjs PORT [--remote-store | --one-use-store | --dpop-nonces | --fapi]
 *
 * @module
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import process from "node:process";
import { handleClockRequest } from "../adjustable_clock.mjs";
import { errors, Provider } from "oidc-provider";
import { OneUseStore, RemoteStore } from "./remote_store.mjs";

const [port, variant] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const { vars } = JSON.parse(readFileSync(new URL("target.json", import.meta.url), "utf8"));
const users = Object.values(vars.users);

const DEVICE = {
  grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
  response_types: [],
  application_type: "native",
};

/** Metadata of clients beyond what follows from their secret and redirect URIs. */
const CLIENT_METADATA = {
  confidential: { grant_types: ["authorization_code", "refresh_token", "client_credentials"] },
  other: { grant_types: ["authorization_code", "refresh_token", "client_credentials"] },
  odd_secret: { grant_types: ["client_credentials"], response_types: [] },
  service: { grant_types: ["client_credentials"], response_types: [], scope: "openid profile" },
  code_only: { grant_types: ["authorization_code"] },
  no_code: { grant_types: ["client_credentials"], response_types: [] },
  assertion: { grant_types: ["authorization_code", "client_credentials"] },
  signing: { grant_types: ["authorization_code"], require_signed_request_object: true },
  dpop_bound: { dpop_bound_access_tokens: true },
  jwt: { grant_types: ["authorization_code", "client_credentials"] },
  device: DEVICE,
  device_other: DEVICE,
  device_with_secret: DEVICE,
  pushing: { require_pushed_authorization_requests: true },
  asked: { application_type: "native" },
  loopback: { application_type: "native" },
};

/** The profile is an option for a part of it; the rest are options that its documentation names one by one. */
const FAPI_ALGORITHMS = ["PS256", "ES256", "EdDSA", "Ed25519"];
const isFapi = variant === "--fapi";
const FAPI = {
  clientAuthMethods: ["private_key_jwt"],
  pkce: { required: () => true },
  rotateRefreshToken: false,
  enabledJWA: {
    clientAuthSigningAlgValues: FAPI_ALGORITHMS,
    dPoPSigningAlgValues: FAPI_ALGORITHMS,
    requestObjectSigningAlgValues: FAPI_ALGORITHMS,
    idTokenSigningAlgValues: FAPI_ALGORITHMS,
  },
  clientDefaults: { id_token_signed_response_alg: "PS256" },
};

const provider = new Provider(issuer, {
  ...(variant === "--remote-store" && { adapter: RemoteStore }),
  ...(variant === "--one-use-store" && { adapter: OneUseStore }),
  clients: isFapi
    ? [{
      ...toMetadata(["assertion", vars.clients.assertion]),
      grant_types: ["authorization_code", "refresh_token"],
      dpop_bound_access_tokens: true,
    }]
    : Object.entries(vars.clients).map(toMetadata),
  scopes: ["openid", "offline_access", "profile", "admin"],
  claims: { openid: ["sub"], profile: ["name"] },
  findAccount: (_ctx, id) =>
    users.some(({ name }) => name === id)
      ? { accountId: id, claims: () => ({ sub: id, name: id }) }
      : undefined,
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  cookies: { keys: ["a key of this run alone"] },
  jwks: { keys: [generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" })] },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    registration: { enabled: true },
    registrationManagement: { enabled: true },
    deviceFlow: { enabled: true },
    requestObjects: { enabled: true },
    jwtResponseModes: { enabled: true },
    claimsParameter: { enabled: true },
    backchannelLogout: { enabled: true },
    ...(isFapi && {
      fapi: { enabled: true, profile: "2.0" },
      pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true },
      dPoP: { enabled: true },
    }),
    ...(variant === "--dpop-nonces" && {
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true },
    }),
    resourceIndicators: { defaultResource, getResourceServerInfo, useGrantedResource: () => true },
  },
  rotateRefreshToken: true,
  // Clients registered for refresh tokens get them; the default also requires the scope offline_access.
  issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
  ...(isFapi && FAPI),
});
// Its own responses have no policy; its example adds one with helmet.
provider.use((ctx, next) => {
  ctx.set("content-security-policy", "default-src 'self'; frame-ancestors 'self'");
  ctx.set("referrer-policy", "no-referrer");
  return next();
});
provider.on("server_error", (_ctx, error) => console.error(error));

const serve = provider.callback();
createServer(async (request, response) => {
  try {
    if (await handleClockRequest(request, response)) return;
    const [, uid, action] = /^\/interaction\/([\w-]+)(?:\/(login|confirm|abort))?$/.exec(request.url) ?? [];
    if (uid === undefined) await serve(request, response);
    else await interact(request, response, uid, action);
  } catch (error) {
    response.writeHead(error instanceof errors.SessionNotFound ? 400 : 500, { "content-type": "text/plain" });
    response.end(`${error.message}\n`);
  }
}).listen(Number(port), "127.0.0.1");

/** Serves the interaction pages that the documentation requires, and handles their forms. */
async function interact(request, response, uid, action) {
  const details = await provider.interactionDetails(request, response);
  const { prompt, params, session } = details;
  if (action === "abort") {
    return provider.interactionFinished(request, response, { error: "access_denied" });
  }
  if (action === "login" && request.method === "POST" && prompt.name === "login") {
    const form = await readForm(request);
    const user = users.find(({ name, password }) =>
      name === form.get("name") && password === form.get("password")
    );
    if (user) {
      return provider.interactionFinished(request, response, { login: { accountId: user.name } });
    }
  }
  if (action === "confirm" && request.method === "POST" && prompt.name === "consent") {
    const grant = details.grantId
      ? await provider.Grant.find(details.grantId)
      : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(" "));
    grant.addOIDCClaims(prompt.details.missingOIDCClaims ?? []);
    for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
      grant.addResourceScope(resource, scopes.join(" "));
    }
    const consent = { grantId: await grant.save() };
    return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  }
  const client = await provider.Client.find(params.client_id);
  const label = `${client.clientName ?? client.clientId}, ${params.redirect_uri}`.replace(
    /[&<>"']/g,
    (sign) => `&#${sign.charCodeAt(0)};`,
  );
  const fields = prompt.name === "login" ? '<input name="name"><input name="password" type="password">' : "";
  const step = prompt.name === "login" ? "login" : "confirm";
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
  });
  response.end(
    `<!doctype html><title>${step}</title><p>${label}</p>` +
      `<form method="post" action="/interaction/${uid}/${step}">${fields}<button>${step}</button></form>`,
  );
}

async function readForm(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}

/** Two APIs with the same scopes. The documentation leaves the policy to the deployment. */
function getResourceServerInfo(_ctx, resource, client) {
  if (!Object.values(vars.resources).includes(resource)) throw new errors.InvalidTarget();
  const format = client.clientId === vars.clients.jwt.id ? "jwt" : "opaque";
  return { scope: "openid profile", accessTokenFormat: format };
}

/** Only tokens for APIs can be JWTs, so the JWT client has a default one. */
function defaultResource(_ctx, client, oneOf) {
  return oneOf ?? (client.clientId === vars.clients.jwt.id ? vars.resources.one : undefined);
}

function toMetadata([name, client]) {
  const { id, name: client_name, secret, private: key, redirect_uri, second_redirect_uri } = client;
  const { post_logout_redirect_uri } = client;
  const { d: _, ...publicKey } = key ?? {};
  const redirect_uris = [redirect_uri, second_redirect_uri].filter((uri) => uri !== undefined);
  return {
    client_id: id,
    ...(client_name && { client_name }),
    ...(secret && { client_secret: secret }),
    ...(key && {
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_signing_alg: "ES256",
      jwks: { keys: [publicKey] },
    }),
    ...(!secret && !key && { token_endpoint_auth_method: "none" }),
    grant_types: ["authorization_code", "refresh_token"],
    redirect_uris,
    ...(post_logout_redirect_uri && { post_logout_redirect_uris: [post_logout_redirect_uri] }),
    ...CLIENT_METADATA[name],
  };
}
