/**
 * Every basic page in Debian's Chromium: axe-core (WCAG 2.2 AA and best practices) in both languages, light and dark mode, on
 * a phone and on a desktop; and the code grant without scripts, with another user after "Not you?".
 * TRIVET_SCREENSHOTS names a folder for screenshots.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser, createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import type {
  AccessView,
  AccountView,
  ApplicationView,
  BasicView,
  SignInView,
} from "../../oauth/pages/basic_views.ts";
import { showPage } from "../../oauth/pages/page.ts";
import { completePages } from "../../oauth/pages/settings.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { CHROMIUM, findViolations, launchChromium } from "./test_chromium.ts";

const test = suite("every page in a browser");
const [, serve] = Object.entries(entries)[0]!;
const app: ApplicationView = { name: "Notes for Teams", isVerified: true };
const stranger: ApplicationView = {
  name: "W".repeat(79) + "…",
  isVerified: false,
  documentHost: "a-rather-long-subdomain.of-a-client.example",
};
const account: AccountView = {
  name: "Alice Liddell",
  email: "alice.liddell.with-a-long-name@department.example",
  switchAccount: { action: "/logout?redirect=%2F", hidden: {} },
};
const access: AccessView = {
  scopes: [
    { scope: "profile", description: "See your name and e-mail address", isAllowedBefore: false },
    { scope: "skills:write", description: "Add and remove skills", isAllowedBefore: false },
    { scope: "read", description: "Read your data", isAllowedBefore: true },
  ],
  details: ["Transfer 120.00 EUR to Merchant"],
  resources: ["https://agents.example/a/resource/with/a/long/identifier"],
};
const signIn: SignInView = {
  name: "sign_in",
  action: "/login",
  application: app,
  isAgain: false,
  hasPassword: true,
  username: "",
  fields: [{ name: "tenant", label: "Tenant" }],
  providers: [],
};
const question = { action: "/", hidden: { transaction: "t" }, account, access };
const VIEWS: Readonly<Record<string, BasicView>> = {
  "sign-in": { ...signIn, signUp: "/sign-up", passwordReset: "/reset" },
  "sign-in-failed-attempt": {
    ...signIn,
    application: stranger,
    username: "alice",
    providers: [{ id: "google", name: "Google", url: "/a" }, { id: "entra", name: "Microsoft", url: "/b" }],
    problem: { code: "wrong_credentials" },
  },
  "sign-in-again": { ...signIn, isAgain: true, problem: { code: "too_many_attempts", seconds: 900 } },
  "sign-in-providers-only": { ...signIn, hasPassword: false },
  "sign-in-failed": { name: "sign_in_failed", provider: "Google", reason: "not_admitted", signIn: "/login" },
  "signed-in": { name: "signed_in", user: "Alice", account: "/account", signOut: "/logout" },
  "sign-out": { name: "sign_out", action: "/logout", hidden: {}, application: stranger, user: "Alice" },
  "signed-out": { name: "signed_out", signIn: "/login" },
  "consent": {
    name: "consent",
    ...question,
    application: app,
    destination: { kind: "host", host: "notes.example" },
    duration: { seconds: 604_800, isRenewedByUse: true },
  },
  "consent-unverified": {
    name: "consent",
    ...question,
    application: stranger,
    destination: { kind: "device_host", host: "127.0.0.1:52111" },
    duration: { seconds: 7200, isRenewedByUse: false },
  },
  "consent-scheme": {
    name: "consent",
    ...question,
    application: stranger,
    destination: { kind: "scheme", scheme: "com.example.app" },
    duration: { seconds: 60, isRenewedByUse: false },
  },
  "device": {
    name: "device_code",
    action: "/device",
    userCode: "BBBB-BBBB",
    problem: { code: "unknown_code" },
  },
  "device-consent": { name: "device_consent", ...question, application: stranger, userCode: "WDJB-MJHT" },
  "device-connected": { name: "device_connected" },
  "device-denied": { name: "device_denied" },
  "form-post": { name: "form_post", action: "/", hidden: { code: "c" }, host: "notes.example" },
  "error": {
    name: "error",
    code: "invalid_request",
    status: 400,
    error: { code: "invalid_request", description: "redirect_uri is not registered: " + "x".repeat(300) },
  },
  "not-found": { name: "error", code: "not_found", status: 404, link: "/" },
  "home": {
    name: "home",
    issuer: "https://agents.example",
    base: "https://agents.example",
    oauth: true,
    skills: true,
    mcp: true,
  },
};

/** The default design, and one of an operator. */
const DESIGNS = {
  plain: completePages(),
  acme: completePages({
    name: "Acme Cloud for Everyone",
    logo: `data:image/svg+xml,${
      encodeURIComponent(
        '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><circle cx="40" cy="20" r="18" fill="#4f46e5"/></svg>',
      )
    }`,
    colors: { accent: "#4f46e5", background: "#fff", backgroundDark: "#000" },
  }),
};

let browser: Browser;
let server: RunningServer;

async function start(): Promise<void> {
  browser = await launchChromium();
  server = await serve({
    fetch(request) {
      const [, design, name] = new URL(request.url).pathname.split("/");
      const view = VIEWS[name ?? ""];
      if (!view) return Promise.resolve(new Response(null, { status: 404 }));
      const { origin } = new URL(request.url);
      const pages = DESIGNS[design as keyof typeof DESIGNS];
      return showPage({ pages, issuer: origin, origin, base: "", observe: () => {} }, request, view);
    },
  }, { port: 0, hostname: "127.0.0.1" });
}

async function stop(): Promise<void> {
  await browser.close();
  await server.close();
}

/** What axe-core finds, and whether the page is wider than the window. */
async function findProblems(page: Page): Promise<string[]> {
  const [width, window] = await page.evaluate(() => {
    // deno-lint-ignore no-explicit-any
    const { scrollWidth, clientWidth } = (globalThis as any).document.documentElement;
    return [scrollWidth, clientWidth] as [number, number];
  });
  const overflow = width > window ? [`wider than the window: ${width} of ${window}`] : [];
  return [...await findViolations(page), ...overflow];
}

const SCREENS = {
  phone: { width: 390, height: 844 },
  narrow: { width: 320, height: 640 },
  desktop: { width: 1280, height: 800 },
};

/** A page whose console errors, such as violations of the policy, are collected. */
async function newPage(options: BrowserContextOptions): Promise<{ page: Page; errors: string[] }> {
  const page = await (await browser.newContext(options)).newPage();
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  return { page, errors };
}

function defineTests(): void {
  test.before(start);
  test.after(stop);

  for (const [screen, viewport] of Object.entries(SCREENS)) {
    for (const locale of ["en", "de"]) {
      for (const design of Object.keys(DESIGNS)) {
        // The texts of German are longer; that the page fits is the same in both designs.
        if (screen === "narrow" && (locale === "en" || design === "acme")) continue;
        test(`every page is accessible: ${screen}, ${locale}, ${design}, light and dark`, async () => {
          const { page, errors } = await newPage({ viewport, locale });
          for (const name of Object.keys(VIEWS)) {
            await page.goto(`http://127.0.0.1:${server.port}/${design}/${name}`);
            assert.is(await page.getAttribute("html", "lang"), locale);
            for (const colorScheme of ["light", "dark"] as const) {
              await page.emulateMedia({ colorScheme });
              const folder = process.env.TRIVET_SCREENSHOTS;
              const path = join(folder ?? "", `${name}-${design}-${screen}-${locale}-${colorScheme}.png`);
              if (folder) await page.screenshot({ path, fullPage: true });
              assert.equal(await findProblems(page), [], `${name} ${colorScheme}`);
            }
          }
          assert.equal(errors, []);
          await page.context().close();
        });
      }
    }
  }

  test("controls are at least 24 by 24 pixels (WCAG 2.2, 2.5.8), buttons 40 high", async () => {
    const { page } = await newPage({ viewport: SCREENS.phone });
    for (const name of Object.keys(VIEWS)) {
      await page.goto(`http://127.0.0.1:${server.port}/plain/${name}`);
      for (const control of await page.locator("button, input:not([type=hidden])").all()) {
        const { width, height } = (await control.boundingBox())!;
        assert.ok(width >= 24 && height >= 24, `${name}: ${width} x ${height}`);
        const isLink = await control.evaluate((element) => element.classList.contains("link"));
        assert.ok(isLink || height >= 40, `${name}: ${height}`);
      }
    }
    await page.context().close();
  });

  test("the keyboard reaches every control, in the order of the page, and each shows its focus", async () => {
    const { page } = await newPage({ viewport: SCREENS.desktop });
    await page.goto(`http://127.0.0.1:${server.port}/plain/consent`);
    const reached: string[] = [];
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press("Tab");
      const { text, outline } = await page.evaluate(() => {
        // deno-lint-ignore no-explicit-any
        const { document, getComputedStyle } = globalThis as any;
        const element = document.activeElement;
        return { text: element.textContent, outline: getComputedStyle(element).outlineWidth };
      });
      reached.push(text);
      assert.is(outline, "3px");
    }
    assert.equal(reached, ["Not you?", "Allow", "Deny"]);
    await page.context().close();
  });

  test("without scripts: sign in, not you, sign in as another user, allow, sign out", async () => {
    const store = memoryStore();
    await addUser(store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
    await addUser(store, { username: "bob", password: "builder", name: "Bob Builder" }, 1000);
    const { promise, resolve } = Promise.withResolvers<Trivet>();
    const trivet = await serve(
      { fetch: async (request, context) => (await promise).fetch(request, context) },
      { port: 0, hostname: "127.0.0.1" },
    );
    const client = await serve(
      { fetch: () => Promise.resolve(new Response("<title>client</title>Back at the client")) },
      { port: 0, hostname: "127.0.0.1" },
    );
    const issuer = `http://localhost:${trivet.port}`;
    const callback = `http://127.0.0.1:${client.port}/callback`;
    resolve(createTrivet({
      issuer,
      store,
      oauth: { clients: [{ id: "app", secret: "s", name: "Notes for Teams", redirect_uris: [callback] }] },
    }));
    const { page } = await newPage({ javaScriptEnabled: false, locale: "de-DE", viewport: SCREENS.phone });
    const query = new URLSearchParams({
      response_type: "code",
      client_id: "app",
      redirect_uri: callback,
      scope: "profile read",
      state: "xyz",
    });
    await page.goto(`${issuer}/oauth/authorize?${query}`);
    assert.match(await page.textContent("main") ?? "", "Notes for Teams");
    await page.getByLabel("Benutzername").fill("alice");
    await page.getByLabel("Passwort").fill("wrong");
    await page.getByRole("button", { name: "Anmelden" }).click();
    assert.ok(await page.getByRole("alert").textContent());
    assert.is(await page.getByLabel("Benutzername").inputValue(), "alice");
    await page.getByLabel("Passwort").fill("wonderland");
    await page.getByRole("button", { name: "Anmelden" }).click();
    assert.match(await page.textContent(".who") ?? "", "Alice Liddell");
    assert.match(await page.textContent("main") ?? "", new URL(callback).host);

    await page.getByRole("button", { name: "Nicht Sie?" }).click();
    assert.match(page.url(), "/login?redirect=");
    await page.getByLabel("Benutzername").fill("bob");
    await page.getByLabel("Passwort").fill("builder");
    await page.getByRole("button", { name: "Anmelden" }).click();
    assert.match(await page.textContent(".who") ?? "", "Bob Builder");
    await page.getByRole("button", { name: "Erlauben" }).click();
    await page.waitForURL(callback + "**");
    assert.is(new URL(page.url()).searchParams.get("state"), "xyz");

    await page.goto(`${issuer}/logout`);
    assert.match(await page.textContent("main") ?? "", "Bob Builder");
    await page.getByRole("button", { name: "Abmelden" }).click();
    assert.is(await page.getByRole("heading").textContent(), "Sie sind abgemeldet");
    await page.goto(`${issuer}/nirgends`);
    assert.is(await page.getByRole("heading").textContent(), "Seite nicht gefunden");
    await page.context().close();
    await trivet.close();
    await client.close();
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the pages are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: the pages are not tested in a browser");
} else defineTests();

test.run();
