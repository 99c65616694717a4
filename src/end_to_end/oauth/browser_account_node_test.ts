/**
 * A user walks through all account pages in Debian's Chromium: profile, e-mail address, password, sessions,
 * applications, a linked provider (another Trivet), the copy of the data and the deletion. axe-core checks every page, in
 * light and dark mode, on a phone and on a desktop. TRIVET_SCREENSHOTS names a folder for screenshots.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import {
  addUser,
  createTrivet,
  memoryStore,
  type OAuthOptions,
  type Trivet,
  type UserRegistration,
} from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { oidc } from "../../sign_in.ts";
import { entries } from "../test_entries.ts";
import { assertAccessible, CHROMIUM, launchChromium, SIZES } from "./test_chromium.ts";

const test = suite("the account pages in a browser");
const [, serve] = Object.entries(entries)[0]!;

let browser: Browser;
let server: RunningServer;
let provider: RunningServer;
let issuer: string;
let callback: string;

interface Listening {
  readonly server: RunningServer;
  readonly issuer: string;
  readonly run: (user: UserRegistration, options: OAuthOptions) => Promise<void>;
}

/** Another host name for each server: cookies do not distinguish ports. */
async function listen(host: string): Promise<Listening> {
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  const server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  const issuer = `http://${host}:${server.port}`;
  return {
    server,
    issuer,
    async run(user, options) {
      const store = memoryStore();
      await addUser(store, user, 1000);
      resolve(createTrivet({ issuer, store, oauth: { passwordIterations: 1000, ...options } }));
    },
  };
}

async function start(): Promise<void> {
  browser = await launchChromium();
  const [own, other] = await Promise.all([listen("localhost"), listen("127.0.0.1")]);
  ({ server, issuer } = own);
  provider = other.server;
  callback = `${issuer}/.well-known/oauth-authorization-server`;
  const [clientId, clientSecret] = ["trivet", "a secret of the account test"];
  await other.run(
    { username: "ally", password: "ally's password", name: "Ally", email: "ally@example.org" },
    {
      openid: true,
      clients: [
        {
          id: clientId,
          name: "Trivet",
          secret: clientSecret,
          redirect_uris: [`${issuer}/login/oidc/callback`],
        },
      ],
    },
  );
  await own.run({ username: "alice", password: "wonderland", name: "Alice", email: "alice@example.com" }, {
    pages: { name: "Rabbit Hole" },
    clients: [{ id: "notes", name: "Notes for Teams", secret: "s", redirect_uris: [callback] }],
    signIn: [oidc({ issuer: other.issuer, clientId, clientSecret, name: "Example Login" })],
  });
}

async function stop(): Promise<void> {
  await browser.close();
  await server.close();
  await provider.close();
}

async function newPage(locale = "en"): Promise<Page> {
  const context = await browser.newContext({ locale, acceptDownloads: true });
  return await context.newPage();
}

async function signIn(page: Page, username = "alice", password = "wonderland"): Promise<void> {
  await page.getByLabel("User name").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function open(page: Page, section: string): Promise<void> {
  await page.goto(`${issuer}/account`);
  await page.getByRole("link", { name: section }).click();
  await page.waitForLoadState();
}

const statusOf = (page: Page) => page.getByRole("status").textContent();

function defineTests(): void {
  test.before(start);
  test.after(stop);

  test("from the start page through all account pages to the deletion", async () => {
    const page = await newPage();
    await page.goto(issuer);
    await page.getByRole("link", { name: "Your account" }).click();
    await signIn(page);
    assert.is(page.url(), `${issuer}/account`);
    await assertAccessible(page, "account-overview", SIZES);

    await open(page, "Profile");
    await page.getByLabel("Name", { exact: true }).fill("Alice Liddell");
    await page.getByRole("button", { name: "Save" }).click();
    assert.match(await statusOf(page) ?? "", "name");
    assert.is(await page.getByLabel("Name", { exact: true }).inputValue(), "Alice Liddell");
    await assertAccessible(page, "account-profile", SIZES);
    await page.getByRole("link", { name: "Change e-mail address" }).click();
    await assertAccessible(page, "account-email", SIZES);
    await page.getByLabel("New e-mail address").fill("liddell@example.com");
    await page.getByRole("button", { name: "Save" }).click();
    assert.ok(await statusOf(page));
    assert.match(await page.textContent("main") ?? "", "liddell@example.com (not verified)");

    const other = await newPage();
    await other.goto(`${issuer}/login`);
    await signIn(other);
    assert.is(other.url(), `${issuer}/account`);
    await open(page, "Sessions");
    assert.is(await page.locator(".items li").count(), 2);
    assert.match(
      await page.locator(".items li").first().textContent() ?? "",
      /Chrome.*This session.*127\.0\.0\.1/s,
    );
    await assertAccessible(page, "account-sessions", SIZES);
    await page.getByRole("button", { name: /Sign out the session/ }).click();
    assert.ok(await statusOf(page));
    await other.reload();
    assert.match(other.url(), "/login?redirect=");

    await signIn(other);
    await open(page, "Password");
    const change = async (password: string) => {
      await page.getByLabel("Current password").fill(password);
      await page.getByLabel("New password", { exact: true }).fill("curiouser and curiouser");
      await page.getByLabel("New password again").fill("curiouser and curiouser");
      await page.getByRole("button", { name: "Change password" }).click();
    };
    await change("wrong");
    assert.match(await page.getByRole("alert").textContent() ?? "", "wrong");
    await assertAccessible(page, "account-password-wrong", SIZES);
    await change("wonderland");
    assert.ok(await statusOf(page));
    await assertAccessible(page, "account-password", SIZES);
    await other.reload();
    assert.match(other.url(), "/login?redirect=");

    await open(page, "Applications");
    await assertAccessible(page, "account-applications-none", SIZES);
    const query = new URLSearchParams({
      response_type: "code",
      client_id: "notes",
      redirect_uri: callback,
      scope: "profile write skills:read",
    });
    const authorize = `${issuer}/oauth/authorize?${query}`;
    await page.goto(authorize);
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(/code=/);
    const tokens = await (await fetch(`${issuer}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code: new URL(page.url()).searchParams.get("code")!,
        redirect_uri: callback,
        client_id: "notes",
        client_secret: "s",
      }),
    })).json();
    const callApi = async () =>
      (await fetch(`${issuer}/api/user`, { headers: { authorization: `Bearer ${tokens.access_token}` } }))
        .status;
    assert.is(await callApi(), 200);
    await open(page, "Applications");
    assert.match(await page.textContent("main") ?? "", /Notes for Teams.*Change your data/s);
    await assertAccessible(page, "account-applications", SIZES);
    await page.getByRole("button", { name: /Take back/ }).click();
    assert.ok(await statusOf(page));
    assert.is(await callApi(), 401);
    await page.goto(authorize);
    assert.match(page.url(), "/oauth/authorize");

    await open(page, "Linked providers");
    await assertAccessible(page, "account-providers-none", SIZES);
    await page.getByRole("button", { name: "Link an account at Example Login" }).click();
    await signIn(page, "ally", "ally's password");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${issuer}/account/providers**`);
    assert.ok(await statusOf(page));
    assert.match(await page.textContent("main") ?? "", "Example Login");
    await assertAccessible(page, "account-providers", SIZES);
    await page.goto(`${issuer}/logout`);
    await assertAccessible(page, "account-logout", SIZES);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.goto(`${issuer}/login`);
    await page.getByRole("link", { name: "Continue with Example Login" }).click();
    await page.waitForURL(/\/account$|127\.0\.0\.1.*authorize/);
    if (!page.url().startsWith(issuer)) await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${issuer}/account`);
    assert.match(await page.textContent("main") ?? "", "Alice Liddell");
    await open(page, "Linked providers");
    await page.getByRole("button", { name: /Unlink/ }).click();
    assert.ok(await statusOf(page));

    await open(page, "Your data");
    await assertAccessible(page, "account-data", SIZES);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const download = await downloading;
    assert.match(download.suggestedFilename(), /^account-.*\.json$/);
    const data = JSON.parse(readFileSync((await download.path())!, "utf8"));
    assert.is(data.profile.username, "alice");
    await page.getByRole("link", { name: "Delete account" }).click();
    await page.getByLabel(/to confirm/).fill("bob");
    await page.getByRole("button", { name: "Delete account" }).click();
    assert.match(await page.getByRole("alert").textContent() ?? "", "alice");
    await assertAccessible(page, "account-delete-wrong", SIZES);
    await page.getByLabel(/to confirm/).fill("alice");
    await page.getByRole("button", { name: "Delete account" }).click();
    await page.getByRole("heading", { name: "Your account is deleted" }).waitFor();
    await assertAccessible(page, "account-deleted", SIZES);
    await page.goto(`${issuer}/account`);
    assert.match(page.url(), "/login?redirect=");
  });

  test("the pages in German", async () => {
    const page = await newPage("de");
    await page.goto(`http://127.0.0.1:${provider.port}/account`);
    await page.getByLabel("Benutzername").fill("ally");
    await page.getByLabel("Passwort", { exact: true }).fill("ally's password");
    await page.getByRole("button", { name: "Anmelden" }).click();
    for (
      const section of ["profile", "email", "password", "sessions", "applications", "data", "delete", ""]
    ) {
      await page.goto(`http://127.0.0.1:${provider.port}/account/${section}`.replace(/\/$/, ""));
      await assertAccessible(page, `account-german-${section || "overview"}`, SIZES);
    }
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the pages are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: the pages are not tested in a browser");
} else defineTests();

test.run();
