/**
 * The pages in Debian's Chromium, with axe-core on every page in light and dark mode: the code grant and the device grant.
 * TRIVET_SCREENSHOTS names a folder for screenshots.
 *
 * @module
 */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser, createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { assertAccessible, CHROMIUM, launchChromium } from "./test_chromium.ts";

const test = suite("the pages in a browser");
const [, serve] = Object.entries(entries)[0]!;
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
/** Markup, right-to-left text, an invisible character, the name of another client, and 500 characters. */
const SPOOF = `<img src=x onerror=alert(1)> \u202egnp.exe\u202c \u200bGoogle Accounts ${
  "very ".repeat(100)
}official`;

let browser: Browser;
let server: RunningServer;
let client: RunningServer;
let issuer: string;
let callback: string;

async function start(): Promise<void> {
  browser = await launchChromium();
  client = await serve({
    fetch: () => Promise.resolve(new Response("<title>client</title><p>Back at the client")),
  }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  callback = `http://127.0.0.1:${client.port}/callback`;
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  issuer = `http://localhost:${server.port}`;
  resolve(createTrivet({
    issuer,
    store,
    oauth: {
      clients: [
        { id: "app", secret: "s", name: "Notes for Teams", redirect_uris: [callback] },
        { id: "tv", name: "Television", grant_types: [DEVICE] },
      ],
    },
  }));
}

async function stop(): Promise<void> {
  await browser.close();
  await server.close();
  await client.close();
}

/** A page in a new browser context, and its errors, dialogs and requests to other origins. */
async function newPage(): Promise<{ page: Page; problems: string[] }> {
  const context = await browser.newContext({ viewport: { width: 420, height: 720 } });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(issuer) && !url.startsWith("data:") && !url.startsWith(callback)) {
      problems.push(`a request to ${url}`);
    }
  });
  return { page, problems };
}

async function signIn(page: Page, password = "wonderland"): Promise<void> {
  await page.getByLabel("User name").fill("alice");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForLoadState();
}

function authorizeUrl(parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "app",
    redirect_uri: callback,
    scope: "profile read",
    state: "xyz",
    ...parameters,
  });
  return `${issuer}/oauth/authorize?${query}`;
}

function defineTests(): void {
  test.before(start);
  test.after(stop);

  test("the code grant: login with a wrong and the right password, consent, redirect to the client", async () => {
    const { page, problems } = await newPage();
    await page.goto(authorizeUrl());
    await assertAccessible(page, "login");
    await signIn(page, "wrong");
    assert.ok(await page.getByRole("alert").textContent());
    await assertAccessible(page, "login-wrong");
    await signIn(page);
    assert.match(await page.getByRole("heading").textContent() ?? "", "Notes for Teams");
    assert.match(await page.textContent("main") ?? "", new URL(callback).host);
    await assertAccessible(page, "consent");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(callback + "**");
    const { searchParams } = new URL(page.url());
    assert.equal([searchParams.get("state"), searchParams.get("iss")], ["xyz", issuer]);
    const body = new URLSearchParams({
      grant_type: "authorization_code",
      code: searchParams.get("code")!,
      redirect_uri: callback,
      client_id: "app",
      client_secret: "s",
    });
    const tokens = await (await fetch(issuer + "/oauth/token", { method: "POST", body })).json();
    assert.is(tokens.scope, "profile read");

    // A second request needs no consent, and a new scope needs consent for that scope only.
    // A remembered consent counts after a login here, and not for an address that another program opens.
    await page.goto(authorizeUrl());
    await page.getByRole("button", { name: "Allow" }).waitFor();
    await page.context().clearCookies();
    await page.goto(authorizeUrl());
    await signIn(page);
    await page.waitForURL(callback + "**");
    await page.goto(authorizeUrl({ scope: "profile write" }));
    assert.match(await page.textContent("ul:not(.soft)") ?? "", "Change your data");
    assert.match(await page.textContent("ul.soft") ?? "", "See your name");
    await assertAccessible(page, "consent-more");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL(callback + "**");
    assert.is(new URL(page.url()).searchParams.get("error"), "access_denied");
    assert.equal(problems, []);
  });

  test("the device grant: user code, consent, token", async () => {
    const { page, problems } = await newPage();
    const start = await fetch(issuer + "/oauth/device_authorization", {
      method: "POST",
      body: new URLSearchParams({ client_id: "tv", scope: "read" }),
    });
    const device = await start.json();
    await page.goto(device.verification_uri);
    await signIn(page);
    await assertAccessible(page, "device");
    await page.getByLabel("Code").fill("BBBB-BBBB");
    await page.getByRole("button", { name: "Continue" }).click();
    assert.ok(await page.getByRole("alert").textContent());
    await assertAccessible(page, "device-wrong");
    await page.getByLabel("Code").fill(device.user_code.toLowerCase().replace("-", ""));
    await page.getByRole("button", { name: "Continue" }).click();
    assert.match(await page.textContent("main") ?? "", device.user_code);
    await assertAccessible(page, "device-question");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.locator("main:not(:has(form))").waitFor();
    await assertAccessible(page, "device-done");
    const body = new URLSearchParams({
      grant_type: DEVICE,
      device_code: device.device_code,
      client_id: "tv",
    });
    assert.is((await fetch(issuer + "/oauth/token", { method: "POST", body })).status, 200);
    assert.equal(problems, []);
  });

  test("a hostile client name is shown as text, without control characters, shortened and within the page", async () => {
    const { page, problems } = await newPage();
    const registered = await fetch(issuer + "/oauth/register", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        redirect_uris: [callback],
        client_name: SPOOF,
        token_endpoint_auth_method: "none",
      }),
    });
    const { client_id } = await registered.json();
    const pkce = {
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
    };
    await page.goto(authorizeUrl({ client_id, ...pkce }));
    await signIn(page);
    const heading = await page.getByRole("heading").textContent() ?? "";
    assert.ok(heading.length < 110, heading);
    assert.match(heading, "<img src=x onerror=alert(1)>");
    assert.not.match(heading, /[\u202e\u200b]/);
    assert.is(await page.locator("img").count(), 0);
    assert.is(await page.locator(".note").count(), 1);
    assert.match(await page.textContent("main") ?? "", new URL(callback).host);
    const { width } = (await page.locator("main").boundingBox())!;
    assert.ok(width <= 420, "no overflow");
    await assertAccessible(page, "consent-spoof");
    assert.equal(problems, []);
  });

  test("an invalid request shows an error page; logout ends the session", async () => {
    const { page, problems } = await newPage();
    await page.goto(authorizeUrl({ redirect_uri: "https://evil.example/" }));
    assert.match(await page.textContent("main") ?? "", "redirect_uri");
    await assertAccessible(page, "error");
    await page.goto(authorizeUrl());
    await signIn(page);
    await page.goto(issuer + "/logout");
    await assertAccessible(page, "logout");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.goto(authorizeUrl());
    assert.match(page.url(), "/login?redirect=");
    assert.equal(problems, []);
  });

  test("no page can be framed", async () => {
    const { page } = await newPage();
    for (const path of ["/login", "/oauth/authorize", "/device", "/logout", "/"]) {
      await page.goto(callback);
      const blocked = page.waitForEvent("console", (message) => /frame/i.test(message.text()));
      const frame = `document.body.append(Object.assign(document.createElement("iframe"), { src: ${
        JSON.stringify(issuer + path)
      } }))`;
      await page.evaluate(frame);
      assert.match((await blocked).text(), /frame-ancestors|X-Frame-Options/i, path);
    }
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the pages are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: the pages are not tested in a browser");
} else defineTests();

test.run();
