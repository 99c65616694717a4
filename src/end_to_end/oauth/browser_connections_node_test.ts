/**
 * A user connects upstreams in Debian's Chromium: from a link through the consent here and at the authorization server of the
 * upstream to the list, then a secret, and the end of a connection. Both servers answer in process; the browser enforces their
 * header fields. axe-core checks every page, in light and dark mode, on a phone and on a desktop.
 *
 * @module
 */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import {
  callerOf,
  connectUrl,
  newGateway,
  newUpstream,
  sendTo,
  type TestGateway,
  type TestUpstream,
  UPSTREAM,
  UPSTREAM_URL,
  whoami,
} from "../../gateway/credentials/test_credentials.ts";
import { ISSUER } from "../../oauth/test_server.ts";
import { assertAccessible, CHROMIUM, launchChromium, SIZES } from "./test_chromium.ts";

const test = suite("the pages of connections in a browser");
const LIST = `${ISSUER}/account/connections`;

let browser: Browser;
let upstream: TestUpstream;
let gateway: TestGateway;

async function start(): Promise<void> {
  browser = await launchChromium();
  upstream = await newUpstream({ clientMetadataDocuments: false });
  gateway = await newGateway({ upstream });
  gateway.credentials.add("up", { url: UPSTREAM_URL, auth: { type: "oauth" } });
  const auth = { type: "secret", label: "API key" };
  gateway.credentials.add("A longer name with spaces", { url: "https://api.example.com/mcp", auth });
}

/** A page whose requests to both servers are answered in process, and that reports violations of the policy. */
async function newPage(locale: string, problems: string[]): Promise<Page> {
  const context = await browser.newContext({ locale });
  await context.route("**/*", async (route) => {
    const given = route.request();
    const { origin } = new URL(given.url());
    if (origin !== ISSUER && origin !== UPSTREAM) return await route.abort();
    const body = given.postData();
    const request = new Request(given.url(), {
      method: given.method(),
      headers: {
        ...given.headers(),
        // The network service adds these after a request was intercepted.
        cookie: (await context.cookies(given.url())).map(({ name, value }) => `${name}=${value}`).join("; "),
        "sec-fetch-site": siteOf(given.frame().url(), origin),
      },
      ...(body !== null && { body }),
    });
    const response = origin === ISSUER
      ? await gateway.server.service.fetch(request, { waitUntil: (work) => void gateway.work.push(work) })
      : await sendTo(upstream, request);
    const headers: Record<string, string> = {};
    for (const [name, value] of response.headers) {
      if (name !== "set-cookie") headers[name] = value;
    }
    const cookies = response.headers.getSetCookie();
    if (cookies.length > 0) headers["set-cookie"] = cookies.join("\n");
    const { location } = headers;
    if (location === undefined) {
      return await route.fulfill({ status: response.status, headers, body: await response.text() });
    }
    // A redirect of an answer that is made up here would be followed over the network.
    delete headers["location"];
    const url = new URL(location, given.url()).href.replaceAll("&", "&amp;");
    const refresh =
      `<!doctype html><title>Redirect</title><meta http-equiv="refresh" content="0;url=${url}">`;
    await route.fulfill({ headers: { ...headers, "content-type": "text/html" }, body: refresh });
  });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  return page;
}

/** The value of `Sec-Fetch-Site` for a request of the page at this URL. */
function siteOf(from: string, to: string): string {
  return !URL.canParse(from) || from === "about:blank"
    ? "none"
    : new URL(from).origin === to
    ? "same-origin"
    : "cross-site";
}

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.locator("#username").fill(username);
  await page.locator("#password").fill(password);
  await page.locator("form button").first().click();
}

function defineTests(): void {
  test.before(start);
  test.after(() => browser.close());

  test("from a link to a connection, a secret, and the end of both", async () => {
    const problems: string[] = [];
    const page = await newPage("en", problems);
    await page.goto(await connectUrl(gateway, gateway.alice));
    await signIn(page, "alice", "wonderland");
    await page.getByRole("heading", { name: "Connect up?" }).waitFor();
    await assertAccessible(page, "connect", SIZES);
    await page.getByRole("button", { name: "Continue to up" }).click();
    await signIn(page, "alice", "alice there");
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${LIST}?done=**`);
    assert.match(await page.getByRole("status").textContent() ?? "", "Connected");
    await assertAccessible(page, "list", SIZES);
    const access = gateway.credentials.accessFor("up");
    assert.is(
      await whoami(upstream, await access.headers(callerOf(gateway.alice))),
      upstream.users["alice"]!,
    );

    await page.getByRole("link", { name: "Connect: A longer name with spaces" }).click();
    await page.getByLabel("API key").fill("ünprintable");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").waitFor();
    await assertAccessible(page, "secret-invalid", SIZES);
    await page.getByLabel("API key").fill("hush");
    await page.getByRole("button", { name: "Save" }).click();
    await page.waitForURL(`${LIST}?done=**`);
    assert.not.match(await page.content(), "hush");

    await page.getByRole("link", { name: "Disconnect: up" }).click();
    await assertAccessible(page, "disconnect", SIZES);
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page.waitForURL(`${LIST}?done=**`);
    assert.is(await page.getByText("Not connected").count(), 1);
    await page.goto(await connectUrl(gateway, gateway.mallory));
    await page.getByRole("alert").waitFor();
    await assertAccessible(page, "other-user", SIZES);
    await page.goto(`${ISSUER}/account`);
    await page.getByRole("link", { name: "Connections" }).click();
    assert.is(page.url(), LIST);
    // The statuses of refused pages are reported as well; only the policy matters here.
    assert.equal(problems.filter((text) => /Content.Security.Policy/i.test(text)), []);
  });

  test("the pages in German", async () => {
    const page = await newPage("de", []);
    await page.goto(LIST);
    await signIn(page, "alice", "wonderland");
    await page.getByRole("heading", { name: "Verbindungen" }).waitFor();
    await assertAccessible(page, "german-list", SIZES);
    for (const name of ["up", "A longer name with spaces"]) {
      await page.goto(`${LIST}/connect?upstream=${encodeURIComponent(name)}`);
      await assertAccessible(page, `german-connect-${name}`, SIZES);
    }
    await page.goto(`${LIST}/disconnect?upstream=${encodeURIComponent("A longer name with spaces")}`);
    await assertAccessible(page, "german-disconnect", SIZES);
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the pages are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: the pages are not tested in a browser");
} else defineTests();

test.run();
