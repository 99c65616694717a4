/**
 * @node-oauth/oauth2-server behind Express. According to its compliance guide the integration sends the library's
 * `Response`, as this file does. With `--adapter` @node-oauth/express-oauth-server does it, which the guide recommends. The
 * library has no login and consent pages, so this file has its own.
 *
 *   node server.mjs PORT [--adapter]
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";
import { handleClockRequest } from "../adjustable_clock.mjs";
import ExpressOAuthServer from "@node-oauth/express-oauth-server";
import OAuth2Server from "@node-oauth/oauth2-server";
import express from "express";
import { createModel } from "./model.mjs";

const { vars } = JSON.parse(readFileSync(new URL("target.json", import.meta.url), "utf8"));
const options = {
  model: createModel(vars),
  // Public clients refresh without a secret; the model refuses others.
  requireClientAuthentication: { refresh_token: false },
};
const oauth = process.argv[3] === "--adapter" ? new ExpressOAuthServer(options) : integrate(options);
const sessions = new Map();

const app = express();
app.use(async (request, response, next) => await handleClockRequest(request, response) || next());
app.use(express.urlencoded({ extended: false }));
app.use((_request, response, next) => {
  response.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  next();
});

app.get("/login", (request, response) => page(response, "/login", { back: request.query.back }));
app.post("/login", (request, response) => {
  const { name, password, back = "/login" } = request.body;
  const user = Object.values(vars.users).find((each) => each.name === name && each.password === password);
  if (!user) return response.status(401).send("Wrong name or password\n");
  const session = randomBytes(32).toString("base64url");
  sessions.set(session, { user: { id: user.name }, decision: randomBytes(32).toString("base64url") });
  response.cookie("session", session, { httpOnly: true, sameSite: "lax" });
  response.redirect(303, /^\/(?![/\\])/.test(back) ? back : "/login");
});
app.get("/consent", (request, response) => {
  const session = sessions.get(cookieOf(request));
  page(response, "/authorize", { ...request.query, decision: session?.decision, allowed: "true" });
});

app.all("/authorize", oauth.authorize({ authenticateHandler: { handle: findUser } }));
app.post("/token", oauth.token());
app.all("/api/user", oauth.authenticate(), (_request, response) => {
  response.json({ user: response.locals.oauth.token.user.id });
});
const readScope = { scope: "read", addAcceptedScopesHeader: true, addAuthorizedScopesHeader: true };
app.get("/api/read", oauth.authenticate(readScope), (_request, response) => response.json({}));
app.listen(Number(process.argv[2]), "127.0.0.1");

/** Returns the signed-in user after consent. The library calls it when client and redirect URI are valid. */
function findUser(request, response) {
  const session = sessions.get(cookieOf(request));
  if (!session) return redirectTo(response, `/login?${new URLSearchParams({ back: request.originalUrl })}`);
  const isDecided = request.method === "POST" && request.body.decision === session.decision;
  const needsConsent = request.query.client_id === vars.clients.asked.id || request.method === "POST";
  if (needsConsent && !isDecided) {
    return redirectTo(response, `/consent?${new URLSearchParams(request.query)}`);
  }
  return session.user;
}

function redirectTo(response, address) {
  response.redirect(address);
  throw new OAuth2Server.OAuthError("The user must decide first", { code: 302, name: "interaction" });
}

/** The interface of the official adapter. Sends the library's response also when it throws. */
function integrate(serverOptions) {
  const server = new OAuth2Server(serverOptions);
  const middleware = (method, continues) => (more) => async (request, response, next) => {
    const written = new OAuth2Server.Response(response);
    try {
      const result = await server[method](new OAuth2Server.Request(request), written, more);
      if (continues) {
        response.locals.oauth = { token: result };
        return next();
      }
    } catch (error) {
      if (written.status !== 302) {
        written.status = error.code ?? 500;
        written.body = { error: error.name, error_description: error.message };
      }
    }
    response.set(written.headers).status(written.status).send(written.body);
  };
  return {
    authenticate: middleware("authenticate", true),
    authorize: middleware("authorize", false),
    token: middleware("token", false),
  };
}

function cookieOf(request) {
  return /(?:^|; )session=([^;]+)/.exec(request.get("cookie") ?? "")?.[1];
}

function page(response, action, hidden) {
  const escape = (text) => String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const inputs = Object.entries(hidden).map(([name, value]) =>
    `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`
  );
  const fields = action === "/login" ? '<input name="name"><input name="password" type="password">' : "";
  response.send(
    `<!doctype html><title>${action}</title><form method="post" action="${action}">${
      inputs.join("")
    }${fields}` +
      "<button>Continue</button></form>",
  );
}
