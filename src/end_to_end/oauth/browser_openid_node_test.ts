/**
 * A whole OpenID Connect login in Debian's Chromium with two applications: sign-in, single sign-on, logout from one of
 * them, and the back-channel logout of the other. The applications use openid-client.
 *
 * @module
 */
import { existsSync } from "node:fs";
import process from "node:process";
import * as openid from "openid-client";
import type { Browser } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { readJws } from "../../crypto/jws.ts";
import { addUser, createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { until } from "../../test_until.ts";
import { CHROMIUM, launchChromium } from "./test_chromium.ts";

const test = suite("OpenID Connect in a browser");
const [, serve] = Object.entries(entries)[0]!;
const NAMES = ["notes", "files"] as const;

/** A web application with one visitor. */
interface Application {
  readonly url: string;
  readonly server: RunningServer;
  /** The claims of the visitor; `undefined` while no one is signed in. */
  visitor(): openid.IDToken | undefined;
}

let browser: Browser;
let provider: RunningServer;
let issuer: string;
const applications: Application[] = [];

async function startApplication(id: string): Promise<Application> {
  let claims: openid.IDToken | undefined;
  let id_token = "";
  let checks: openid.AuthorizationCodeGrantChecks = {};
  let url = "";
  const discover = () =>
    openid.discovery(new URL(issuer), id, `secret of ${id}`, undefined, {
      execute: [openid.allowInsecureRequests],
    });
  const redirect = (location: string) => new Response(null, { status: 303, headers: { location } });
  const routes: Record<string, (request: Request) => Promise<Response>> = {
    async "/login"() {
      const [pkceCodeVerifier, expectedNonce, expectedState] = [
        openid.randomPKCECodeVerifier(),
        openid.randomNonce(),
        openid.randomState(),
      ];
      checks = { pkceCodeVerifier, expectedNonce, expectedState, idTokenExpected: true };
      const asked = openid.buildAuthorizationUrl(await discover(), {
        redirect_uri: `${url}/callback`,
        scope: "openid profile",
        nonce: expectedNonce,
        state: expectedState,
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: "S256",
      });
      return redirect(asked.href);
    },
    async "/callback"(request) {
      const tokens = await openid.authorizationCodeGrant(await discover(), new URL(request.url), checks);
      claims = tokens.claims();
      id_token = tokens.id_token!;
      return redirect("/");
    },
    async "/logout"() {
      claims = undefined;
      const asked = { id_token_hint: id_token, post_logout_redirect_uri: `${url}/out`, state: "left" };
      return redirect(openid.buildEndSessionUrl(await discover(), asked).href);
    },
    async "/backchannel"(request) {
      const token = new URLSearchParams(await request.text()).get("logout_token")!;
      if (readJws(token)?.claims.sid === claims?.sid) claims = undefined;
      return new Response(null, { status: 200 });
    },
  };
  const server = await serve({
    fetch: async (request) =>
      await routes[new URL(request.url).pathname]?.(request) ??
        new Response(`<title>${id}</title><p>${claims?.name ?? "no one"}`, {
          headers: { "content-type": "text/html" },
        }),
  }, { port: 0, hostname: "127.0.0.1" });
  url = `http://127.0.0.1:${server.port}`;
  return { url, server, visitor: () => claims };
}

async function start(): Promise<void> {
  browser = await launchChromium();
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  provider = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  issuer = `http://localhost:${provider.port}`;
  for (const name of NAMES) applications.push(await startApplication(name));
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
  const clients = NAMES.map((id, i) => ({
    id,
    secret: `secret of ${id}`,
    redirect_uris: [`${applications[i]!.url}/callback`],
    post_logout_redirect_uris: [`${applications[i]!.url}/out`],
    backchannel_logout_uri: `${applications[i]!.url}/backchannel`,
  }));
  resolve(createTrivet({ issuer, store, oauth: { openid: true, clients, passwordIterations: 1000 } }));
}

async function stop(): Promise<void> {
  await browser.close();
  for (const { server } of [...applications, { server: provider }]) await server.close();
}

function defineTests(): void {
  test.before(start);
  test.after(stop);

  test("sign in, single sign-on, and a logout that reaches both applications", async () => {
    const page = await (await browser.newContext()).newPage();
    const [notes, files] = applications as [Application, Application];
    const allow = async ({ url }: Application) => {
      await page.locator("button[value=approve]").click();
      await page.waitForURL(`${url}/`);
      assert.is(await page.textContent("p"), "Alice Liddell");
    };
    await page.goto(`${notes.url}/login`);
    await page.locator("input[name=username]").fill("alice");
    await page.locator("input[name=password]").fill("wonderland");
    await page.locator("input[name=password]").press("Enter");
    await allow(notes);
    // The other application asks for consent, and not for the password.
    await page.goto(`${files.url}/login`);
    await allow(files);
    assert.is(notes.visitor()!.sub, files.visitor()!.sub);
    assert.is.not(notes.visitor()!.sid, files.visitor()!.sid);

    await page.goto(`${notes.url}/logout`);
    assert.is(page.url(), `${notes.url}/out?state=left`);
    assert.is(notes.visitor(), undefined);
    await until(() => files.visitor() === undefined, "the other application ends its session");
    await page.goto(`${files.url}/login`);
    assert.ok(page.url().startsWith(`${issuer}/login`), page.url());
  });

  test("attack: a page of another site cannot sign the user out without a question", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${issuer}/login?redirect=%2Fdevice`);
    await page.locator("input[name=username]").fill("alice");
    await page.locator("input[name=password]").fill("wonderland");
    await page.locator("input[name=password]").press("Enter");
    await page.waitForURL(`${issuer}/device`);
    await page.route("https://evil.example/", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<title>evil</title><form method="post" action="${issuer}/oauth/logout">
          <input name="decision" value="sign_out"></form><script>document.forms[0].submit()</script>`,
      }));
    await page.goto("https://evil.example/");
    await page.waitForURL(`${issuer}/oauth/logout`);
    await page.goto(`${issuer}/device`);
    assert.is(page.url(), `${issuer}/device`);
    await page.goto(`${issuer}/oauth/logout?client_id=notes`);
    assert.match(await page.textContent("main") ?? "", "notes");
    await page.locator("button[value=sign_out]").click();
    await page.waitForURL(`${issuer}/oauth/logout`);
    await page.goto(`${issuer}/device`);
    assert.ok(page.url().startsWith(`${issuer}/login`), page.url());
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the responses are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: OpenID Connect in a browser is not tested");
} else defineTests();

test.run();
