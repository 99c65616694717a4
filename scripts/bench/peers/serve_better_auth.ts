/**
 * `better-auth` with its plugin `@better-auth/oauth-provider` on `node:http`, with SQLite in memory: its memory adapter
 * searches all records for each token. It has no pages, so a form signs the user in, and the client needs no consent. Limits
 * of its rate limiter are off.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { CLIENT, LIFETIME_SECONDS, SCOPE, serveParent, USER } from "./child.ts";

const [auth, plugin, jwt, node, migration] = await Promise.all(
  process.argv.slice(2).map((url) => import(url)),
);
const EMAIL = `${USER.username}@app.example`;
/** Parameters that the authorization endpoint adds for the page, with a signature. */
const PARAMETERS = [
  "response_type",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
];

const http = createServer();
await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
const { port } = http.address() as AddressInfo;
const origin = `http://127.0.0.1:${port}`;
const options = {
  baseURL: origin,
  secret: "a-secret-of-thirty-two-characters-or-more",
  database: new DatabaseSync(":memory:"),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
  plugins: [
    jwt.jwt(),
    plugin.oauthProvider({
      loginPage: "/login",
      consentPage: "/consent",
      scopes: [SCOPE, "offline_access"],
      cachedTrustedClients: new Set([CLIENT.id]),
      clientPrivileges: () => true,
      generateClientId: () => CLIENT.id,
      generateClientSecret: () => CLIENT.secret,
      codeExpiresIn: LIFETIME_SECONDS,
      accessTokenExpiresIn: LIFETIME_SECONDS,
      m2mAccessTokenExpiresIn: LIFETIME_SECONDS,
      refreshTokenExpiresIn: LIFETIME_SECONDS,
      silenceWarnings: { oauthAuthServerConfig: true, openidConfig: true },
    }),
  ],
};
await (await migration.getMigrations(options)).runMigrations();
const server = auth.betterAuth(options);
await server.api.signUpEmail({ body: { name: USER.username, email: EMAIL, password: USER.password } });
const administrator = await server.api.signInEmail({
  body: { email: EMAIL, password: USER.password },
  returnHeaders: true,
});
await server.api.adminCreateOAuthClient({
  body: {
    redirect_uris: [CLIENT.redirect_uri],
    token_endpoint_auth_method: "client_secret_post",
    grant_types: ["authorization_code", "refresh_token", "client_credentials"],
    response_types: ["code"],
    scope: `${SCOPE} offline_access`,
    client_credentials_scopes: [SCOPE],
    skip_consent: true,
  },
  headers: new Headers({ cookie: administrator.headers.getSetCookie().map(toPair).join("; ") }),
});

/** The name and the value of a cookie. */
function toPair(cookie: string): string {
  return cookie.split(";")[0]!;
}

const handle = node.toNodeHandler(server);
http.on("request", (request: IncomingMessage, response: ServerResponse) => {
  const { pathname, searchParams } = new URL(request.url!, origin);
  if (pathname !== "/login") return handle(request, response);
  if (request.method === "GET") {
    response.end(
      `<form method="post" action="/login?${
        searchParams.toString().replaceAll("&", "&amp;")
      }"><input name="login"><input name="password"></form>`,
    );
    return;
  }
  void signIn(request, searchParams, response);
});

/** Signs in with the form, and goes on with the authorization request. */
async function signIn(
  request: IncomingMessage,
  parameters: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  let body = "";
  for await (const chunk of request) body += chunk;
  const form = new URLSearchParams(body);
  const { headers }: { headers: Headers } = await server.api.signInEmail({
    body: { email: `${form.get("login")}@app.example`, password: form.get("password") },
    returnHeaders: true,
  });
  const query = new URLSearchParams(PARAMETERS.map((name) => [name, parameters.get(name) ?? ""]));
  response.writeHead(303, {
    "set-cookie": headers.getSetCookie(),
    location: `/api/auth/oauth2/authorize?${query}`,
  }).end();
}

const body = new URLSearchParams({
  grant_type: "client_credentials",
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  scope: SCOPE,
}).toString();
serveParent(port, async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const { status } = await server.handler(
    new Request(`${origin}/api/auth/oauth2/token`, { method: "POST", body, headers }),
  );
  if (status !== 200) throw new Error(`better-auth responded with ${status}`);
});
