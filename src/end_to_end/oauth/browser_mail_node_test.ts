/**
 * Password reset, sign-up and invitations in Debian's Chromium, with axe-core on every page in light and dark mode.
 * TRIVET_SCREENSHOTS names a folder for screenshots.
 *
 * @module
 */
import { existsSync } from "node:fs";
import type { Browser, Page, Request } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser, createTrivet, inviteUser, type Mail, memoryStore, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { assertAccessible, CHROMIUM, launchChromium } from "./test_chromium.ts";

const test = suite("reset and sign-up in a browser");
const [, serve] = Object.entries(entries)[0]!;
const PASSWORD = "down the rabbit hole";

const store = memoryStore();
const mails: Mail[] = [];
let browser: Browser;
let server: RunningServer;
let webmail: RunningServer;
let issuer: string;

async function start(): Promise<void> {
  browser = await launchChromium();
  const alice = {
    username: "alice",
    password: "wonderland",
    name: "Alice Liddell",
    email: "alice@example.com",
  };
  await addUser(store, alice, 1000);
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  issuer = `http://localhost:${server.port}`;
  // Another site, on which the user reads mail: its page shows the text of the last mail with its link.
  webmail = await serve({
    fetch: () => {
      const link = /^http\S+$/m.exec(mails.at(-1)!.text)![0];
      const page = `<!doctype html><title>mail</title><a href="${link}">link</a>`;
      return Promise.resolve(new Response(page, { headers: { "content-type": "text/html" } }));
    },
  }, { port: 0, hostname: "127.0.0.1" });
  resolve(createTrivet({
    issuer,
    store,
    oauth: {
      sendMail: (mail) => Promise.resolve(void mails.push(mail)),
      signUp: "open",
      passwordIterations: 1000,
    },
  }));
}

async function stop(): Promise<void> {
  await browser.close();
  await server.close();
  await webmail.close();
}

async function newPage(locale = "en-US"): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 420, height: 720 }, locale });
  return await context.newPage();
}

/** Waits for a mail after the `before` ones. */
async function nextMail(before: number): Promise<Mail> {
  for (let i = 0; i < 1500 && mails.length <= before; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return mails[before]!;
}

/** Follows the link of the last mail from the other site. */
async function followLink(page: Page): Promise<void> {
  await page.goto(webmail.url);
  await page.getByRole("link").click();
  await page.waitForLoadState();
}

async function signIn(page: Page, password: string, username = "alice"): Promise<void> {
  await page.goto(`${issuer}/login?redirect=/device`);
  await page.getByLabel("User name").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the pages are the same on every runtime");
} else if (!existsSync(CHROMIUM)) {
  skipBecause(test, "Chromium is not installed: the pages are not tested in a browser");
} else {
  test.before(start);
  test.after(stop);

  test("a forgotten password is reset through a link in a mail, whose token no page and no referrer has", async () => {
    const page = await newPage();
    await page.goto(`${issuer}/login`);
    await page.getByRole("link", { name: "Forgot your password?" }).click();
    await assertAccessible(page, "forgot");
    await page.getByLabel("User name or e-mail address").fill("alice");
    const before = mails.length;
    await page.getByRole("button", { name: "Send the link" }).click();
    await page.getByRole("heading", { name: "Check your mail" }).waitFor();
    await assertAccessible(page, "reset-sent");
    const token = /token=(\S+)/.exec((await nextMail(before)).text)![1]!;
    const requests: Request[] = [];
    page.on("request", (request) => requests.push(request));
    await followLink(page);
    assert.is(page.url(), `${issuer}/login/reset`);
    assert.not.match(await page.content(), token);
    assert.is(await page.evaluate("document.referrer"), "");
    await assertAccessible(page, "reset");
    const field = page.getByLabel("New password");
    await field.fill("too short");
    await page.getByRole("button", { name: "Change the password" }).click();
    await page.getByRole("alert").waitFor();
    await assertAccessible(page, "reset-problem");
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Change the password" }).click();
    await page.getByRole("heading", { name: "Password changed" }).waitFor();
    await assertAccessible(page, "reset-done");
    // Requests after the one for the link have no referrer with the token.
    for (const request of requests) {
      assert.not.match((await request.allHeaders()).referer ?? "", "token=", request.url());
    }
    const entries = await page.evaluate(
      "performance.getEntries().map(({ name }) => name).join(' ')",
    ) as string;
    assert.not.match(entries, token);
    const session = await page.context().newCDPSession(page);
    const history = await session.send("Page.getNavigationHistory");
    assert.ok(history.entries.length > 2);
    assert.not.match(history.entries.map(({ url }) => url).join(" "), token);
    await signIn(page, "wonderland");
    await page.getByRole("alert").waitFor();
    await signIn(page, PASSWORD);
    await page.getByLabel("Code").waitFor();
  });

  test("a used link shows where to get a new one", async () => {
    const page = await newPage();
    const link = /^http\S+reset\S+$/m.exec(mails.find(({ kind }) => kind === "password_reset")!.text)![0];
    await page.goto(link);
    await page.getByRole("heading", { name: "This link is no longer valid" }).waitFor();
    await assertAccessible(page, "link-ended");
    await page.getByRole("link", { name: "Request a new link" }).click();
    await page.getByLabel("User name or e-mail address").waitFor();
  });

  test("a person signs up, confirms the address and comes back to where they began", async () => {
    const page = await newPage();
    await page.goto(`${issuer}/login?redirect=/device`);
    await page.getByRole("link", { name: "Create an account" }).click();
    await assertAccessible(page, "sign-up");
    await page.getByLabel("User name").fill("alice");
    await page.getByLabel("Your name").fill("Carol Danvers");
    await page.getByLabel("E-mail address").fill("carol@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("alert").waitFor();
    await assertAccessible(page, "sign-up-taken");
    assert.is(await page.getByLabel("E-mail address").inputValue(), "carol@example.com");
    assert.is(await page.getByLabel("Password").inputValue(), "");
    await page.getByLabel("User name").fill("carol");
    await page.getByLabel("Password").fill(PASSWORD);
    const before = mails.length;
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("heading", { name: "Check your mail" }).waitFor();
    await assertAccessible(page, "sign-up-sent");
    await nextMail(before);
    const other = await newPage();
    await followLink(other);
    await other.getByLabel("Password that you chose").waitFor();
    await assertAccessible(other, "sign-up-other-browser");
    await followLink(page);
    assert.is(page.url(), `${issuer}/login/sign-up/confirm`);
    await assertAccessible(page, "sign-up-confirm");
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByLabel("Code").waitFor();
    assert.is(new URL(page.url()).pathname, "/device");
  });

  test("an invitation leads to the form, in German, and signs in", async () => {
    const page = await newPage("de-DE");
    const { token } = await inviteUser(store, { email: "dora@example.com" });
    await page.goto(`${issuer}/login/invitation?token=${token}`);
    assert.is(page.url(), `${issuer}/login/sign-up`);
    assert.is(await page.locator("html").getAttribute("lang"), "de");
    await assertAccessible(page, "invitation-de");
    await page.getByLabel("Benutzername").fill("dora");
    await page.getByLabel("Passwort").fill(PASSWORD);
    await page.getByRole("button", { name: "Konto anlegen" }).click();
    await page.goto(`${issuer}/device`);
    assert.is(new URL(page.url()).pathname, "/device");
  });
}

test.run();
