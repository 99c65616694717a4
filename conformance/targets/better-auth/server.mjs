/**
 * better-auth with its OAuth provider plugin and SQLite in memory, set up as in its documentation: sign-in by
 * e-mail address and password, login and consent pages of the application, opaque access tokens unless a
 * resource is requested. Rate limits are off, because a run exceeds them.
 *
 *   npm ci --prefix conformance/targets/better-auth
 *   node conformance/targets/better-auth/server.mjs [PORT]
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { handleClockRequest } from "../adjustable_clock.mjs";
import { oauthProvider } from "@better-auth/oauth-provider";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { jwt } from "better-auth/plugins";

const port = Number(process.argv[2] ?? 8811);
const base = `http://127.0.0.1:${port}`;
const { vars } = JSON.parse(
  readFileSync(new URL("target.json", import.meta.url), "utf8").replaceAll("{{base}}", `${base}/api/auth`),
);

/** Id and secret of the client that is being registered, for clients of the target file. */
let next;

/** @type {import("better-auth").BetterAuthOptions} */
const options = {
  baseURL: base,
  secret: "better-auth-conformance-secret-of-32-letters",
  database: new DatabaseSync(":memory:"),
  emailAndPassword: { enabled: true },
  disabledPaths: ["/token"],
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [
    jwt(),
    oauthProvider({
      loginPage: "/sign-in",
      consentPage: "/consent",
      scopes: ["openid", "profile", "email", "offline_access", "read", "admin"],
      resources: Object.values(vars.resources),
      resourcePrivileges: () => true,
      allowDynamicClientRegistration: true,
      allowUnauthenticatedClientRegistration: true,
      clientRegistrationDefaultScopes: ["openid", "profile", "offline_access", "read"],
      clientPrivileges: () => true,
      // Without a value, the plugin generates one.
      generateClientId: () => next?.id,
      generateClientSecret: () => next?.secret,
    }),
  ],
};
await (await getMigrations(options)).runMigrations();
const auth = betterAuth(options);

for (const { name: email, password } of Object.values(vars.users)) {
  await auth.api.signUpEmail({ body: { email, password, name: email } });
}
const admin = await auth.api.signUpEmail({
  body: { email: "admin@example.com", password: "through the mirror", name: "Admin" },
  returnHeaders: true,
});
const headers = new Headers({
  cookie: admin.headers.getSetCookie().map((each) => each.split(";")[0]).join("; "),
});

/** Grants of clients that differ from the default. */
const GRANTS = {
  service: ["client_credentials"],
  odd_secret: ["client_credentials"],
  assertion: ["client_credentials"],
  no_code: ["client_credentials"],
  code_only: ["authorization_code"],
};
for (const [name, client] of Object.entries(vars.clients)) {
  next = client;
  const grants = GRANTS[name] ?? [
    "authorization_code",
    "refresh_token",
    ...(client.secret === undefined ? [] : ["client_credentials"]),
  ];
  const uris = [client.redirect_uri, client.second_redirect_uri].filter((uri) => uri !== undefined);
  const { d: _, ...publicKey } = client.private ?? {};
  await auth.api.adminCreateOAuthClient({
    headers,
    body: {
      client_name: client.name ?? client.id,
      ...(uris.length > 0 && { redirect_uris: uris }),
      grant_types: grants,
      ...(grants.includes("authorization_code") ? { response_types: ["code"] } : {}),
      ...(client.redirect_uri?.startsWith("http://") && { application_type: "native" }),
      scope: "openid profile offline_access read",
      ...(grants.includes("client_credentials") && { client_credentials_scopes: ["read"] }),
      ...(client.private
        ? { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [publicKey] } }
        : { token_endpoint_auth_method: client.secret === undefined ? "none" : "client_secret_basic" }),
    },
  });
  for (const identifier of Object.values(vars.resources)) {
    await auth.api.adminLinkClientResource({ headers, params: { identifier, client_id: client.id } });
  }
}
next = undefined;

const handle = toNodeHandler(auth);
createServer(async (request, response) => {
  if (await handleClockRequest(request, response)) return;
  const { pathname, search } = new URL(request.url, base);
  if (pathname !== "/sign-in" && pathname !== "/consent") return handle(request, response);
  const query = search.slice(1).replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  response.writeHead(200, { "content-type": "text/html;charset=utf-8" });
  response.end(PAGE.replace("QUERY", () => query));
}).listen(port, "127.0.0.1");

/** Both pages. Each calls the plugin's API with the query of its URL. */
const PAGE = `<!doctype html>
<title>Sign in, or allow</title>
<form>
  <input type="hidden" name="oauth_query" value="QUERY">
  <input name="email"><input name="password" type="password">
  <button>Continue</button>
</form>
<script type="module">
  const consents = location.pathname === "/consent";
  document.forms[0].onsubmit = async (event) => {
    event.preventDefault();
    const { oauth_query, ...fields } = Object.fromEntries(new FormData(event.target));
    const answer = await fetch("/api/auth/" + (consents ? "oauth2/consent" : "sign-in/email"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ oauth_query, ...(consents ? { accept: true } : fields) }),
    });
    location = (await answer.json()).url;
  };
</script>
`;
