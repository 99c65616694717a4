/**
 * `@node-oauth/oauth2-server` on Express, with the model of its documentation in Maps. The package has no pages and no
 * introspection: here a cookie identifies a session in a Map, and introspection uses the package's check of the token.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import process from "node:process";
import { CLIENT, LIFETIME_SECONDS, SCOPE, serveParent, USER } from "./child.ts";

const { default: OAuth2Server } = await import(process.argv[2]!);
const { default: express } = await import(process.argv[3]!);

interface Token {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly accessTokenExpiresAt: Date;
  readonly scope: string[];
  client: { readonly id: string };
  user: { readonly id: string };
}
interface Code {
  readonly authorizationCode: string;
  client: { readonly id: string };
  user: { readonly id: string };
}

const client = {
  id: CLIENT.id,
  grants: ["authorization_code", "refresh_token", "client_credentials"],
  redirectUris: [CLIENT.redirect_uri],
};
const accessTokens = new Map<string, Token>();
const refreshTokens = new Map<string, Token>();
const codes = new Map<string, Code>();
const sessions = new Map<string, { readonly id: string }>();

const model = {
  getClient: async (id: string, secret: string | null) =>
    id === CLIENT.id && (secret === null || secret === CLIENT.secret) ? client : false,
  getUserFromClient: async ({ id }: { id: string }) => ({ id }),
  validateScope: async (_user: unknown, _client: unknown, scope: string[] = []) =>
    scope.every((word) => word === SCOPE) ? scope : false,
  async saveToken(token: Token, { id }: { id: string }, user: { id: string }): Promise<Token> {
    const saved = { ...token, client: { id }, user: { id: user.id } };
    accessTokens.set(token.accessToken, saved);
    if (token.refreshToken !== undefined) refreshTokens.set(token.refreshToken, saved);
    return saved;
  },
  getAccessToken: async (token: string) => accessTokens.get(token),
  getRefreshToken: async (token: string) => refreshTokens.get(token),
  revokeToken: async ({ refreshToken }: Token) => refreshTokens.delete(refreshToken!),
  async saveAuthorizationCode(code: Code, { id }: { id: string }, user: { id: string }): Promise<Code> {
    const saved = { ...code, client: { id }, user: { id: user.id } };
    codes.set(code.authorizationCode, saved);
    return saved;
  },
  getAuthorizationCode: async (code: string) => codes.get(code),
  revokeAuthorizationCode: async ({ authorizationCode }: Code) => codes.delete(authorizationCode),
};
const oauth = new OAuth2Server({
  model,
  authorizationCodeLifetime: LIFETIME_SECONDS,
  accessTokenLifetime: LIFETIME_SECONDS,
  refreshTokenLifetime: LIFETIME_SECONDS,
  requireClientAuthentication: { authorization_code: true, refresh_token: true },
  allowExtendedTokenAttributes: false,
});
const { Request, Response } = OAuth2Server;

/** The members of Express's objects that are used. */
interface Incoming {
  readonly headers: Record<string, string | undefined>;
  readonly method: string;
  readonly query: Record<string, string>;
  readonly body: Record<string, string>;
  readonly originalUrl: string;
}
interface Outgoing {
  set(headers: Record<string, string>): Outgoing;
  status(status: number): Outgoing;
  json(body: unknown): void;
  send(body: string): void;
  end(): void;
}

function findSession({ headers }: Incoming): { readonly id: string } | undefined {
  return sessions.get(/\bsid=([^;]+)/.exec(headers.cookie ?? "")?.[1] ?? "");
}

const app = express();
app.disable("x-powered-by");
app.disable("etag");
app.use(express.urlencoded({ extended: false }));
app.post("/token", async (incoming: Incoming, outgoing: Outgoing) => {
  const response = new Response(outgoing);
  try {
    await oauth.token(new Request(incoming), response);
    outgoing.status(response.status).set(response.headers).json(response.body);
  } catch (error) {
    outgoing.status((error as { code: number }).code).json({ error: (error as Error).name });
  }
});
app.post("/introspect", async (incoming: Incoming, outgoing: Outgoing) => {
  const { client_id, client_secret, token } = incoming.body;
  if (!await model.getClient(client_id!, client_secret!)) {
    return outgoing.status(401).json({ error: "invalid_client" });
  }
  try {
    const bearer = { headers: { authorization: `Bearer ${token}` }, method: "GET", query: {}, body: {} };
    const found: Token = await oauth.authenticate(new Request(bearer), new Response({ headers: {} }));
    outgoing.set({ "cache-control": "no-store" }).json({
      active: true,
      client_id: found.client.id,
      sub: found.user.id,
      scope: found.scope.join(" "),
      exp: Math.floor(found.accessTokenExpiresAt.getTime() / 1000),
    });
  } catch {
    outgoing.json({ active: false });
  }
});
app.get("/authorize", async (incoming: Incoming, outgoing: Outgoing) => {
  const user = findSession(incoming);
  if (user === undefined) {
    const next = encodeURIComponent(incoming.originalUrl);
    return outgoing.send(
      `<form method="post" action="/login?next=${next}"><input name="login"><input name="password"></form>`,
    );
  }
  const response = new Response(outgoing);
  await oauth.authorize(new Request(incoming), response, { authenticateHandler: { handle: () => user } });
  outgoing.status(response.status).set(response.headers).end();
});
app.post("/login", (incoming: Incoming, outgoing: Outgoing) => {
  const { login, password } = incoming.body;
  if (login !== USER.username || password !== USER.password) return outgoing.status(403).end();
  const sid = randomUUID();
  sessions.set(sid, { id: "user_alice" });
  outgoing.status(303).set({ "set-cookie": `sid=${sid}; HttpOnly`, location: incoming.query.next! }).end();
});
const server = app.listen(0, "127.0.0.1", () =>
  serveParent(server.address().port, () => {
    const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": "1" };
    const body = {
      grant_type: "client_credentials",
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      scope: SCOPE,
    };
    return oauth.token(
      new Request({ headers, method: "POST", query: {}, body }),
      new Response({ headers: {} }),
    );
  }));
