/**
 * The attack published against a popular MCP framework, in Debian's Chromium: a server in front of an identity provider, at
 * which it is one static client. The user is signed in everywhere and allowed one application. An attacker sends them to an
 * authorization request of the attacker's own client, or to one that the attacker began at the user's application.
 *
 * @module
 */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser, createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import type { OAuthOptions } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { oidc } from "../../sign_in.ts";
import { entries } from "../test_entries.ts";
import { CHROMIUM, launchChromium } from "./test_chromium.ts";

const test = suite("walking a user through another's approval, in a browser");
const [, serve] = Object.entries(entries)[0]!;
/** The example of RFC 7636, appendix B. */
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const running: RunningServer[] = [];
let browser: Browser;
/** The victim's browser. */
let context: BrowserContext;
/** The server under attack, its identity provider, and the attacker's web site. */
let issuer: string;
let provider: string;
let attacker: string;
let callback: string;
/** What the user's application and the attacker received. */
const received: { readonly app: URL[]; readonly attacker: URL[] } = { app: [], attacker: [] };

async function listen(handle: (request: Request) => Promise<Response> | Response): Promise<number> {
  const server = await serve({ fetch: async (request) => await handle(request) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  running.push(server);
  return server.port;
}

/** Starts a server at this host name: cookies do not distinguish ports. */
async function startServer(host: string, options: OAuthOptions): Promise<{ issuer: string; trivet: Trivet }> {
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  const issuer = `http://${host}:${await listen(async (request) => (await promise).fetch(request))}`;
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
  const trivet = createTrivet({ issuer, store, oauth: options });
  resolve(trivet);
  return { issuer, trivet };
}

async function start(): Promise<void> {
  browser = await launchChromium();
  const app = await listen((request) => {
    if (!request.url.endsWith("/favicon.ico")) received.app.push(new URL(request.url));
    return page("<p>Back at the application");
  });
  callback = `http://127.0.0.1:${app}/callback`;
  // The static client, whose approval the provider remembers for every navigation: the consent cookie of the attack.
  const secret = "secret of the static client";
  const idp = await startServer("127.0.0.1", {
    openid: true,
    clients: [{ id: "static", secret, domain: "http://localhost", trusted: true }],
  });
  provider = idp.issuer;
  const own = await startServer("localhost", {
    registration: "open",
    passwordLogin: false,
    signIn: [oidc({ id: "work", name: "Work", issuer: provider, clientId: "static", clientSecret: secret })],
    clients: [{ id: "notes", secret: "s", name: "Notes", redirect_uris: [callback] }],
  });
  issuer = own.issuer;
  const site = await listen((request) => {
    const url = new URL(request.url);
    const target = url.searchParams.get("to") ?? "";
    if (url.pathname === "/redirect") {
      return new Response(null, { status: 302, headers: { location: target } });
    }
    if (url.pathname === "/refresh") {
      return page(`<meta http-equiv="refresh" content="0;url=${escape(target)}">`);
    }
    if (url.pathname === "/link") return page(`<a href="${escape(target)}">Your free report</a>`);
    if (url.pathname === "/frame") return page(`<iframe src="${escape(target)}"></iframe>`);
    if (url.pathname !== "/favicon.ico") received.attacker.push(url);
    return page("<p>Thank you");
  });
  attacker = `http://127.0.0.1:${site}`;
  context = await browser.newContext();
  const victim = await context.newPage();
  await victim.goto(requestOf("notes", callback));
  await victim.getByRole("link", { name: "Work" }).click();
  await victim.getByLabel("User name").fill("alice");
  await victim.getByLabel("Password").fill("wonderland");
  await victim.getByRole("button", { name: "Sign in" }).click();
  // At the provider, which remembers it, and then here.
  await victim.getByRole("button", { name: "Allow" }).click();
  await victim.waitForURL(issuer + "/**");
  await victim.getByRole("button", { name: "Allow" }).click();
  await victim.waitForURL(callback + "**");
  await victim.close();
}

async function stop(): Promise<void> {
  await browser?.close();
  for (const server of running) await server.close();
}

const page = (body: string) => new Response(body, { headers: { "content-type": "text/html" } });
const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

function requestOf(client_id: string, redirect_uri: string): string {
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri,
    scope: "read",
    state: "of the attacker",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  });
  return `${issuer}/oauth/authorize?${query}`;
}

/** Registers a client of the attacker, with the name of the user's application. */
async function registerAttacker(): Promise<string> {
  const body = JSON.stringify({
    client_name: "Notes",
    redirect_uris: [`${attacker}/callback`],
    token_endpoint_auth_method: "none",
  });
  const headers = { "content-type": "application/json" };
  const { client_id } = await (await fetch(`${issuer}/oauth/register`, { method: "POST", headers, body }))
    .json();
  return requestOf(client_id, `${attacker}/callback`);
}

/** How the attacker sends the user there. */
const WAYS: Readonly<Record<string, (victim: Page, target: string) => Promise<unknown>>> = {
  "a link": async (victim, target) => {
    await victim.goto(`${attacker}/link?to=${encodeURIComponent(target)}`);
    await victim.getByRole("link").click();
  },
  "a redirect": (victim, target) => victim.goto(`${attacker}/redirect?to=${encodeURIComponent(target)}`),
  "a refresh": async (victim, target) => {
    await victim.goto(`${attacker}/refresh?to=${encodeURIComponent(target)}`);
    await victim.waitForURL(issuer + "/**");
  },
  "another program": (victim, target) => victim.goto(target),
};

/** Asserts that the consent page names this destination, and that no code went anywhere. */
async function checkAsked(victim: Page, destination: string): Promise<void> {
  await victim.getByRole("button", { name: "Allow" }).waitFor();
  assert.is(new URL(victim.url()).origin, issuer);
  assert.match(await victim.textContent("main") ?? "", new URL(destination).host);
  assert.equal(received.attacker, []);
  assert.is(received.app.length, 1, "only the user's own approval");
}

function defineTests(): void {
  test.before(start);
  test.after(stop);

  for (const [way, send] of Object.entries(WAYS)) {
    test(`${way} to the attacker's own client: the user is asked, and sees where the code goes`, async () => {
      const victim = await context.newPage();
      await send(victim, await registerAttacker());
      await checkAsked(victim, attacker);
      await victim.close();
    });

    test(`${way} to a request of the user's application that the attacker began: the user is asked`, async () => {
      const victim = await context.newPage();
      await send(victim, requestOf("notes", callback));
      await checkAsked(victim, callback);
      await victim.close();
    });
  }

  test("a frame of the attacker gets nothing", async () => {
    const victim = await context.newPage();
    for (const target of [await registerAttacker(), requestOf("notes", callback)]) {
      await victim.goto(`${attacker}/frame?to=${encodeURIComponent(target)}`, { waitUntil: "networkidle" });
    }
    assert.equal([received.attacker.length, received.app.length], [0, 1]);
    await victim.close();
  });

  test("signed out here, signed in at the provider: its silent answer is no approval", async () => {
    for (const [way, send] of Object.entries(WAYS)) {
      for (const own of [true, false]) {
        const [target, destination] = own
          ? [await registerAttacker(), attacker]
          : [requestOf("notes", callback), callback];
        await context.clearCookies({ domain: "localhost" });
        const victim = await context.newPage();
        await send(victim, target);
        await victim.getByRole("link", { name: "Work" }).click();
        await checkAsked(victim, destination).catch((error) => {
          throw new Error(`${way}, ${own ? "the attacker's client" : "the application"}`, { cause: error });
        });
        await victim.close();
      }
    }
  });

  test("a click on Cancel sends no code, and tells the client", async () => {
    const victim = await context.newPage();
    await victim.goto(await registerAttacker());
    await victim.getByRole("button", { name: /deny|cancel/i }).click();
    await victim.waitForURL(attacker + "/**");
    assert.equal(
      received.attacker.map(({ searchParams }) => [searchParams.get("error"), searchParams.get("code")]),
      [
        ["access_denied", null],
      ],
    );
    await victim.close();
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the answers are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: the attack is performed by protocol only");
} else defineTests();

test.run();
