/**
 * Factors in Debian's Chromium, with its virtual authenticator: a passkey is created, signs in by button and by autofill,
 * and is the second step; an authenticator app is set up. Without script the password form works.
 *
 * @module
 */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { fromBase32 } from "../../crypto/base32.ts";
import { addUser, createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import { stepAt, totpCode } from "../../oauth/factors/totp.ts";
import { passkeys } from "../../passkeys.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { assertAccessible, CHROMIUM, launchChromium } from "./test_chromium.ts";

const test = suite("factors in a browser");
const [, serve] = Object.entries(entries)[0]!;

let browser: Browser;
let server: RunningServer;
let issuer: string;

async function start(): Promise<void> {
  browser = await launchChromium();
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "localhost",
  });
  issuer = `http://localhost:${new URL(server.url).port}`;
  const store = memoryStore();
  for (const username of ["alice", "bob", "carol", "dave", "erin"]) {
    await addUser(store, { username, password: "wonderland" }, 1000);
  }
  resolve(createTrivet({ issuer, store, oauth: { passkeys: passkeys() }, skills: false, mcp: false }));
}

async function stop(): Promise<void> {
  await browser.close();
  await server.close();
}

/** A page with an authenticator like that of a phone: it stores passkeys and verifies its user. */
async function newPage() {
  const page = await (await browser.newContext()).newPage();
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      ctap2Version: "ctap2_1",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const credentials = async () =>
    (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  return { page, session, authenticatorId, credentials, problems };
}

async function enterPassword(page: Page, username: string): Promise<void> {
  await page.getByLabel("User name").fill(username);
  await page.getByLabel("Password", { exact: true }).fill("wonderland");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function createPasskey(page: Page, username: string): Promise<void> {
  await page.goto(`${issuer}/account/factors`);
  await enterPassword(page, username);
  await page.getByRole("link", { name: "Add a passkey" }).click();
  await page.getByLabel("Name, such as the device").fill("Phone");
  await page.getByRole("button", { name: "Create the passkey" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  await page.getByRole("link", { name: "I have kept them" }).click();
  await page.getByText("Phone", { exact: true }).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.goto(`${issuer}/logout`);
  await page.getByRole("button", { name: "Sign out" }).click();
}

function defineTests(): void {
  test.before(start);
  test.after(stop);

  test("a passkey is created and signs in by the button", async () => {
    const { page, credentials, problems } = await newPage();
    await createPasskey(page, "alice");
    const [credential] = await credentials();
    assert.is(credential!.isResidentCredential, true);
    assert.is(credential!.rpId, "localhost");
    await signOut(page);
    // Else autofill signs in at once.
    await page.addInitScript("delete PublicKeyCredential.isConditionalMediationAvailable");
    await page.goto(`${issuer}/login?redirect=%2Faccount%2Ffactors`);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByText("last used").waitFor();
    assert.equal(problems, []);
  });

  test("the field of the user name offers the passkey (conditional mediation)", async () => {
    const { page, problems } = await newPage();
    await createPasskey(page, "bob");
    await signOut(page);
    await page.goto(`${issuer}/login?redirect=%2Faccount%2Ffactors`);
    await page.waitForURL(`${issuer}/account/factors`);
    assert.equal(problems, []);
  });

  test("after the password the passkey is the second step; a user who is not verified cannot sign in by it alone", async () => {
    const { page, session, authenticatorId } = await newPage();
    await createPasskey(page, "carol");
    await signOut(page);
    await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    await page.goto(`${issuer}/login?redirect=%2Faccount%2Ffactors`);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByText("No passkey was used").waitFor();
    await enterPassword(page, "carol");
    await page.waitForURL(/\/login\/factor/);
    await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.waitForURL(`${issuer}/account/factors`);
  });

  test("without script: an app is set up, and after the password a code is asked for", async () => {
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(`${issuer}/account/factors/totp`);
    assert.is(await page.getByRole("button", { name: "Sign in with a passkey" }).count(), 0);
    await enterPassword(page, "dave");
    await page.getByRole("img", { name: "QR code for your authenticator app" }).waitFor();
    const secret = fromBase32((await page.locator("code").textContent())!.replaceAll(" ", ""))!;
    await page.getByLabel("Code that the app shows").fill(await totpCode(secret, stepAt(Date.now())));
    await page.getByRole("button", { name: "Confirm" }).click();
    const [code] = (await page.locator("pre").textContent())!.split("\n");
    await page.getByRole("link", { name: "I have kept them" }).click();
    await signOut(page);
    await page.goto(`${issuer}/login?redirect=%2Faccount%2Ffactors`);
    await enterPassword(page, "dave");
    await page.getByLabel("Code from your authenticator app").fill("000000");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Code from your authenticator app").fill(code!);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(`${issuer}/account/factors`);
  });

  test("axe-core finds nothing on the pages, in light and dark mode", async () => {
    const { page } = await newPage();
    await page.goto(`${issuer}/account/factors/totp`);
    await assertAccessible(page, "factors-1");
    await enterPassword(page, "erin");
    await page.getByLabel("Code that the app shows").fill("000000");
    await page.getByRole("button", { name: "Confirm" }).click();
    await assertAccessible(page, "factors-2");
    const secret = fromBase32((await page.locator("code").textContent())!.replaceAll(" ", ""))!;
    await page.getByLabel("Code that the app shows").fill(await totpCode(secret, stepAt(Date.now())));
    await page.getByRole("button", { name: "Confirm" }).click();
    await assertAccessible(page, "factors-3");
    await page.goto(`${issuer}/account/factors/passkey`);
    await assertAccessible(page, "factors-4");
    await page.getByRole("button", { name: "Create the passkey" }).click();
    await page.waitForURL(`${issuer}/account/factors`);
    await page.getByText("Rename", { exact: true }).first().click();
    await assertAccessible(page, "factors-5");
    await signOut(page);
    await page.goto(`${issuer}/login/factor`);
    const other = await newPage();
    await other.page.goto(`${issuer}/login?redirect=%2Faccount%2Ffactors`);
    await enterPassword(other.page, "erin");
    await other.page.waitForURL(/\/login\/factor/);
    await assertAccessible(other.page, "factors-6");
  });

  test("a page of another origin cannot use a passkey of this server", async () => {
    const { page, credentials } = await newPage();
    await page.goto(server.url.replace("localhost", "127.0.0.1") + "/login");
    const name = await page.evaluate(async () => {
      try {
        const publicKey = { challenge: new Uint8Array(32), rpId: "localhost", userVerification: "required" };
        // deno-lint-ignore no-explicit-any
        await (navigator as any).credentials.get({ publicKey });
        return "";
      } catch (error) {
        return (error as Error).name;
      }
    });
    assert.is(name, "SecurityError");
    assert.equal(await credentials(), []);
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the responses are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: passkeys are not tested in a browser");
} else defineTests();

test.run();
