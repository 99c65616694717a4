/**
 * Sign-in with Trivet in web applications that use the OpenID Connect libraries of their frameworks, unchanged: Auth.js
 * and Passport.
 *
 * @module
 */
import { Auth } from "@auth/core";
import express from "express";
import session from "express-session";
import passport from "passport";
import { Strategy } from "passport-openidconnect";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type RunningTrivet, startTrivet, temporaryFolder } from "../test_process.ts";
import { newPerson } from "./test_person.ts";

const test = suite("OpenID Connect libraries of web frameworks");
const folder = temporaryFolder();
let server: RunningTrivet;

test.before(async () => {
  server = await startTrivet(["--data", folder.path, "--openid"]);
});
test.after(async () => {
  await server.stop();
  folder.remove();
});

const newUser = () => newPerson(server.facts.user.username, server.facts.user.password!);

/** A client with this redirect URI that registers itself. */
async function register(redirect_uri: string): Promise<{ client_id: string; client_secret: string }> {
  const response = await fetch(`${server.facts.issuer}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ redirect_uris: [redirect_uri], client_name: "A web application" }),
  });
  assert.is(response.status, 201);
  return await response.json();
}

/** The cookies of one site, as a browser keeps them. */
function newJar() {
  const cookies = new Map<string, string>();
  return {
    header: () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
    keep(response: Response): Response {
      for (const field of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
        cookies.set(name!, value!);
      }
      return response;
    },
  };
}

test("@auth/core signs in with nothing but issuer, id and secret", async () => {
  const app = "http://127.0.0.1:3999";
  const { client_id, client_secret } = await register(`${app}/auth/callback/trivet`);
  const config = {
    basePath: "/auth",
    secret: "a secret of the application",
    trustHost: true,
    providers: [{
      id: "trivet",
      name: "Trivet",
      type: "oidc" as const,
      issuer: server.facts.issuer,
      clientId: client_id,
      clientSecret: client_secret,
      checks: ["pkce", "state", "nonce"] as ("pkce" | "state" | "nonce")[],
    }],
  };
  const jar = newJar();
  const send = async (url: string, form?: Record<string, string>) => {
    const headers = { cookie: jar.header() };
    const init = form ? { method: "POST", headers, body: new URLSearchParams(form) } : { headers };
    return jar.keep(await Auth(new Request(url, init), config));
  };
  const { csrfToken } = await (await send(`${app}/auth/csrf`)).json();
  const started = await send(`${app}/auth/signin/trivet`, { csrfToken, callbackUrl: `${app}/home` });
  const callback = await newUser().allow(started.headers.get("location")!);
  const back = await send(callback.href);
  assert.equal([back.status, back.headers.get("location")], [302, `${app}/home`]);
  const { user } = await (await send(`${app}/auth/session`)).json();
  assert.equal([user.name, user.email], ["Demo User", "demo@example.com"]);
});

test("passport-openidconnect signs in an Express application", async () => {
  const app = express();
  const listening = app.listen(0, "127.0.0.1");
  await new Promise((resolve) => listening.once("listening", resolve));
  const { port } = listening.address() as { port: number };
  const origin = `http://127.0.0.1:${port}`;
  try {
    const { issuer } = server.facts;
    const { client_id, client_secret } = await register(`${origin}/callback`);
    const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
    passport.use(
      new Strategy(
        {
          issuer,
          authorizationURL: metadata.authorization_endpoint,
          tokenURL: metadata.token_endpoint,
          userInfoURL: metadata.userinfo_endpoint,
          clientID: client_id,
          clientSecret: client_secret,
          callbackURL: `${origin}/callback`,
          scope: "profile email",
        },
        (_: string, profile: object, done: (error: null, user: object) => void) => done(null, profile),
      ),
    );
    passport.serializeUser((user: object, done: (error: null, id: object) => void) => done(null, user));
    passport.deserializeUser((user: object, done: (error: null, user: object) => void) => done(null, user));
    app.use(session({ secret: "a secret of the application", resave: false, saveUninitialized: false }));
    app.use(passport.initialize());
    app.use(passport.session());
    app.get("/login", passport.authenticate("openidconnect"));
    app.get(
      "/callback",
      passport.authenticate("openidconnect", { failureRedirect: "/failed", successRedirect: "/me" }),
    );
    app.get("/me", (request: { user?: object }, response: { json(value: unknown): void }) => {
      response.json(request.user ?? null);
    });
    const jar = newJar();
    const send = async (path: string) =>
      jar.keep(await fetch(new URL(path, origin), { redirect: "manual", headers: { cookie: jar.header() } }));
    const started = await send("/login");
    const callback = await newUser().allow(started.headers.get("location")!);
    const back = await send(callback.href);
    assert.equal([back.status, back.headers.get("location")], [302, "/me"]);
    const profile = await (await send("/me")).json();
    assert.equal([profile.displayName, profile.emails], ["Demo User", [{ value: "demo@example.com" }]]);
    assert.match(profile.id, /^user_/);
  } finally {
    listening.close();
    listening.closeAllConnections();
  }
});

test.run();
