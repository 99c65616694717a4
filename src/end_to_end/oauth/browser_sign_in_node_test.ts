/**
 * Sign-in at identity providers in Debian's Chromium, click by click: oidc-provider, another Trivet, and one that answers by
 * a form post, as Apple does.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { listLinkedUsers, oidc } from "../../sign_in.ts";
import { entries } from "../test_entries.ts";
import { isOidcProviderInstalled, OIDC_PROVIDER, startOidcProvider } from "./test_oidc_provider.ts";
import { type Running, start } from "./test_sign_in.ts";
import { CHROMIUM, launchChromium } from "./test_chromium.ts";

const test = suite("sign-in at identity providers in a browser");
const [, serve] = Object.entries(entries)[0]!;
const CLIENT = { clientId: "other", clientSecret: "a-secret-of-32-characters-or-more" };
const APP = { id: "app", secret: "s", name: "Notes for Teams" };

let browser: Browser;
let application: RunningServer;
let callback: string;

async function startAll(): Promise<void> {
  browser = await launchChromium();
  application = await serve({
    fetch: () => Promise.resolve(new Response("<title>client</title><p>Back at the client")),
  }, { port: 0, hostname: "127.0.0.1" });
  callback = `http://127.0.0.1:${application.port}/callback`;
}

async function stopAll(): Promise<void> {
  await browser.close();
  await application.close();
}

/** A server with the application and a provider, beside its own passwords. */
function startOwn(options: Record<string, unknown>): Promise<Running> {
  return start("localhost", () => ({
    clients: [{ ...APP, redirect_uris: [callback] }],
    passwordIterations: 1000,
    ...options,
  }));
}

/** Opens the application's authorization request and chooses the provider. */
async function chooseWork(page: Page, { issuer }: Running): Promise<void> {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: APP.id,
    redirect_uri: callback,
    scope: "profile",
    state: "xyz",
  });
  await page.goto(`${issuer}/oauth/authorize?${query}`);
  await page.getByRole("link", { name: "Work" }).click();
}

/** Consents at this server, and is back at the application: who signed in, by the token. */
async function allow(page: Page, own: Running): Promise<{ name: string }> {
  await page.waitForURL(`${own.issuer}/oauth/authorize**`);
  assert.match(await page.textContent("main") ?? "", APP.name);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.waitForURL(callback + "**");
  const { searchParams } = new URL(page.url());
  assert.equal([searchParams.get("state"), searchParams.get("iss")], ["xyz", own.issuer]);
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: searchParams.get("code")!,
    redirect_uri: callback,
    client_id: APP.id,
    client_secret: APP.secret,
  });
  const { access_token } = await (await fetch(own.issuer + "/oauth/token", { method: "POST", body })).json();
  const headers = { authorization: `Bearer ${access_token}` };
  return await (await fetch(own.issuer + "/api/user", { headers })).json();
}

/** The cookies of this server that scripts could read: there is none. */
async function checkCookies(page: Page): Promise<void> {
  assert.is(await page.evaluate("document.cookie"), "");
}

async function newPage(): Promise<Page> {
  const context = await browser.newContext();
  return await context.newPage();
}

function startUpstream(more: Record<string, unknown> = {}): Promise<Running> {
  return start("127.0.0.1", () => ({
    openid: true,
    passwordIterations: 1000,
    clients: [{
      id: CLIENT.clientId,
      secret: CLIENT.clientSecret,
      redirect_uris: ["http://localhost/login/work/callback"],
    }],
    ...more,
  }));
}

async function signInUpstream(page: Page, { issuer }: Running): Promise<void> {
  await page.waitForURL(`${issuer}/login**`);
  await page.getByLabel("User name").fill("alice");
  await page.getByLabel("Password").fill("wonderland");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${issuer}/oauth/authorize**`);
  await page.getByRole("button", { name: "Allow" }).click();
}

function defineTests(): void {
  test.before(startAll);
  test.after(stopAll);

  if (isOidcProviderInstalled) {
    test("a user chooses oidc-provider, signs in there, consents, and is back at the application", async () => {
      const { vars: { users: { alice } } } = JSON.parse(
        readFileSync(join(OIDC_PROVIDER, "target.json"), "utf8"),
      );
      const upstream = await startOidcProvider();
      const registered = await (await fetch(`${upstream.issuer}/reg`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          redirect_uris: ["http://localhost/login/work/callback"],
          application_type: "native",
          token_endpoint_auth_method: "client_secret_basic",
        }),
      })).json();
      const client = { clientId: registered.client_id, clientSecret: registered.client_secret };
      const own = await startOwn({
        signIn: [oidc({ id: "work", name: "Work", issuer: upstream.issuer, ...client })],
      });
      try {
        const page = await newPage();
        await chooseWork(page, own);
        await page.waitForURL(`${upstream.issuer}/**`);
        // Its pages are forms without scripts: each is filled in and sent.
        while (page.url().startsWith(upstream.issuer)) {
          for (
            const [name, value] of Object.entries({
              login: alice.name,
              name: alice.name,
              password: alice.password,
            })
          ) {
            const field = page.locator(`input[name="${name}"]:not([type=hidden])`);
            if (await field.count() > 0) await field.fill(String(value));
          }
          await Promise.all([
            page.waitForNavigation(),
            page.locator("button[type=submit], input[type=submit], form button").first().click(),
          ]);
        }
        await allow(page, own);
        await checkCookies(page);
        const [user] = await Array.fromAsync(listLinkedUsers(own.store));
        assert.equal([user!.issuer, user!.subject], [upstream.issuer, alice.name]);
      } finally {
        await own.server.close();
        upstream.stop();
      }
    });
  } else skipBecause(test, "oidc-provider is not installed (npm ci in conformance/targets/oidc-provider)");

  test("a user chooses another Trivet, and cancels there first", async () => {
    const upstream = await startUpstream();
    await addUser(upstream.store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
    const own = await startOwn({
      signIn: [oidc({ id: "work", name: "Work", issuer: upstream.issuer, ...CLIENT })],
    });
    try {
      const page = await newPage();
      await chooseWork(page, own);
      await page.waitForURL(`${upstream.issuer}/login**`);
      await page.getByLabel("User name").fill("alice");
      await page.getByLabel("Password").fill("wonderland");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.waitForURL(`${upstream.issuer}/oauth/authorize**`);
      await page.getByRole("button", { name: "Deny" }).click();
      await page.waitForURL(`${own.issuer}/login/work/callback**`);
      assert.ok(await page.getByRole("alert").textContent());
      await page.locator('main a[href*="/login?redirect="]').click();
      await page.getByRole("link", { name: "Work" }).click();
      await page.waitForURL(`${upstream.issuer}/oauth/authorize**`);
      await page.getByRole("button", { name: "Allow" }).click();
      assert.is((await allow(page, own)).name, "Alice Liddell");
      await checkCookies(page);
      // The page of the finished sign-in cannot be used again.
      await page.goBack();
      await page.goto(`${own.issuer}/login/work/callback?code=a&state=b`);
      assert.ok(await page.getByRole("alert").textContent());
    } finally {
      await own.server.close();
      await upstream.server.close();
    }
  });

  test("a provider that posts its answer as a form: the browser finishes with its cookie", async () => {
    const upstream = await startUpstream({ responseModes: ["form_post"] });
    await addUser(upstream.store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
    const parameters = { response_mode: "form_post" };
    const provider = oidc({ id: "work", name: "Work", issuer: upstream.issuer, ...CLIENT, parameters });
    const own = await startOwn({ signIn: [provider] });
    try {
      const page = await newPage();
      const posts: string[] = [];
      page.on("request", (request) => {
        if (request.method() === "POST" && request.url().startsWith(own.issuer)) posts.push(request.url());
      });
      await chooseWork(page, own);
      await signInUpstream(page, upstream);
      await page.waitForURL(`${own.issuer}/oauth/authorize**`);
      assert.equal(posts, [`${own.issuer}/login/work/callback`]);
      assert.is((await allow(page, own)).name, "Alice Liddell");
    } finally {
      await own.server.close();
      await upstream.server.close();
    }
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the pages are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: the pages are not tested in a browser");
} else defineTests();

test.run();
