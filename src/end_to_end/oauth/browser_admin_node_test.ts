/**
 * An administrator walks through the page at `/admin` in Debian's Chromium: signs in, searches, adds, changes, locks and
 * removes. axe-core checks the pages in light and dark mode, on a phone and on a desktop. TRIVET_SCREENSHOTS names a folder
 * for screenshots.
 *
 * @module
 */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { admin } from "../../admin/admin.ts";
import { addUser, createTrivet, memoryStore, type Store, tool, type Trivet } from "../../mod.ts";
import { createAudit } from "../../observability.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { assertAccessible, CHROMIUM, launchChromium, SIZES } from "./test_chromium.ts";

const test = suite("the administration in a browser");
const [, serve] = Object.entries(entries)[0]!;

let browser: Browser;
let server: RunningServer;
let issuer: string;
let store: Store;

async function start(): Promise<void> {
  browser = await launchChromium();
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
    hostname: "127.0.0.1",
  });
  issuer = `http://localhost:${server.port}`;
  store = memoryStore();
  const audit = createAudit({ store });
  await addUser(store, { username: "root", password: "correct horse", name: "Root", role: "admin" }, 1000);
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
  for (let i = 0; i < 30; i++) {
    await addUser(store, { username: `person${i}`, password: "x", name: `<b>Person ${i}</b>` }, 1);
  }
  resolve(createTrivet({
    issuer,
    store,
    admin: admin(),
    onEvent: (event) => audit.add(event),
    oauth: { passwordIterations: 1000, pages: { name: "Rabbit Hole" } },
    mcp: {
      tools: [tool({ name: "add", description: "Adds", input: { type: "object" }, run: () => "3" })],
    },
  }));
}

async function stop(): Promise<void> {
  await browser.close();
  await server.close();
}

/** A page whose console errors, such as violations of the policy, are collected. */
async function newPage(): Promise<{ page: Page; errors: string[] }> {
  const page = await (await browser.newContext({ locale: "en" })).newPage();
  page.setDefaultTimeout(10_000);
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  return { page, errors };
}

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.goto(`${issuer}/admin`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("User name").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Chooses an action of the dialog, and waits until the dialog is gone: until then both it and the page have the button. */
async function finishDialog(page: Page, name: string): Promise<void> {
  const dialog = page.locator("dialog");
  await dialog.getByRole("button", { name, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true, level: 1 });

function defineTests(): void {
  test.before(start);
  test.after(stop);

  test("an administrator signs in, finds a user, changes, locks and removes", async () => {
    const { page, errors } = await newPage();
    await signIn(page, "root", "correct horse");
    await page.getByRole("button", { name: /Allow/ }).click();
    await heading(page, "Users").waitFor();
    assert.is(new URL(page.url()).search, "");
    await assertAccessible(page, "admin-users", SIZES);
    // 32 users: a page of 20, and the rest.
    assert.is(await page.locator("tbody tr").count(), 20);
    await page.getByRole("button", { name: "More" }).click();
    await page.locator("tbody tr").nth(31).waitFor();
    // What users call themselves is text.
    assert.is(await page.locator("main b").count(), 0);
    await page.getByLabel("Search", { exact: true }).fill("liddell");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("link", { name: "alice" }).click();
    await heading(page, "alice").waitFor();
    await assertAccessible(page, "admin-user", SIZES);
    await page.getByRole("button", { name: "Change" }).click();
    await page.getByRole("dialog").getByLabel("Role").selectOption("author");
    await assertAccessible(page, "admin-change", SIZES);
    await finishDialog(page, "Change");
    await page.locator("dd", { hasText: "author" }).waitFor();
    await page.getByRole("button", { name: "Lock", exact: true }).click();
    await finishDialog(page, "Lock");
    await page.locator("dt:text-is('Locked') + dd time").waitFor();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await finishDialog(page, "Cancel");
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await finishDialog(page, "Remove");
    await heading(page, "Users").waitFor();
    await page.getByLabel("Search", { exact: true }).fill("liddell");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("Nothing here.").waitFor();
    assert.equal(errors, []);
  });

  test("a client is added; its secret is shown once", async () => {
    const { page, errors } = await newPage();
    await signIn(page, "root", "correct horse");
    await page.getByRole("button", { name: /Allow/ }).click();
    await page.getByRole("link", { name: "Clients", exact: true }).click();
    await heading(page, "Clients").waitFor();
    await page.getByRole("button", { name: "Add client" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Redirect URIs", { exact: true }).fill("not a uri");
    await dialog.getByRole("button", { name: "Add client" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Redirect URIs", { exact: true }).fill("https://app.example/callback");
    await dialog.getByLabel("Name", { exact: true }).fill("My app");
    await dialog.getByRole("button", { name: "Add client" }).click();
    const secret = dialog.locator("code.secret");
    await secret.waitFor();
    assert.match(await secret.textContent() ?? "", /^trivet_cs_/);
    await assertAccessible(page, "admin-secret", SIZES);
    await finishDialog(page, "Done");
    await page.getByRole("cell", { name: "My app" }).waitFor();
    // The refused addition.
    assert.is(errors.filter((each) => !each.includes("400")).length, 0, errors.join("\n"));
  });

  test("every page of the navigation is shown without an error", async () => {
    const { page, errors } = await newPage();
    await signIn(page, "root", "correct horse");
    await page.getByRole("button", { name: /Allow/ }).click();
    await heading(page, "Users").waitFor();
    const links = await page.locator("nav a").allTextContents();
    for (
      const name of [
        "Users",
        "Clients",
        "Providers",
        "Keys",
        "Skills",
        "Tools",
        "Tool calls",
        "Audit",
        "Health",
      ]
    ) {
      assert.ok(links.includes(name), `${name} in ${links.join(", ")}`);
    }
    for (const name of links) {
      await page.getByRole("link", { name, exact: true }).click();
      await heading(page, name).waitFor();
      assert.is(await page.getByRole("alert").count(), 0, name);
      await assertAccessible(page, `admin-${name.toLowerCase().replaceAll(" ", "-")}`, SIZES);
    }
    // A reload keeps the place, without another login. On loopback any program may listen, so consent is asked again.
    await page.reload();
    await page.getByRole("button", { name: /Allow/ }).click();
    await heading(page, links.at(-1)!).waitFor();
    assert.equal(errors, []);
  });

  test("a user without the role gets no token, and can sign in with another account", async () => {
    const { page } = await newPage();
    await signIn(page, "person1", "x");
    await page.getByRole("alert").waitFor();
    assert.is(await page.locator("nav a").count(), 0);
    await page.getByRole("button", { name: "Sign in with another account" }).waitFor();
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the page is the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: the page is not tested in a browser");
} else defineTests();

test.run();
