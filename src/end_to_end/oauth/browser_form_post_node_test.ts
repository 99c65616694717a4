/**
 * `response_mode=form_post` in Debian's Chromium: the form posts itself under the Content-Security-Policy of the page, and
 * without scripts by its button.
 *
 * @module
 */
import { existsSync } from "node:fs";
import process from "node:process";
import type { Browser } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { addUser, createTrivet, memoryStore, type Trivet } from "../../mod.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { CHROMIUM, launchChromium } from "./test_chromium.ts";

const test = suite("form_post in a browser");
const [, serve] = Object.entries(entries)[0]!;

let browser: Browser;
let server: RunningServer;
let client: RunningServer;
let issuer: string;
/** The requests that the client got. */
const posted: { method: string; path: string; form: URLSearchParams; referer: string | null }[] = [];

async function start(): Promise<void> {
  browser = await launchChromium();
  client = await serve({
    fetch: async (request) => {
      const { pathname: path } = new URL(request.url);
      const form = new URLSearchParams(await request.text());
      const referer = request.headers.get("referer");
      if (path === "/callback") posted.push({ method: request.method, path, form, referer });
      // As most clients do: the answer to the POST redirects.
      return path === "/callback"
        ? new Response(null, { status: 303, headers: { location: "/done" } })
        : new Response("<title>client</title>", { headers: { "content-type": "text/html" } });
    },
  }, { port: 0 });
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
  });
  issuer = server.url;
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
  const clients = [{ id: "app", redirect_uris: [`${client.url}/callback`] }];
  resolve(createTrivet({ issuer, store, oauth: { clients, responseModes: ["form_post", "jwt"] } }));
}

async function stop(): Promise<void> {
  await browser.close();
  await server.close();
  await client.close();
}

/** Signs in and consents; what the browser shows then, and the complaints of its console. */
async function approve(javaScriptEnabled: boolean, response_mode: string) {
  const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  const query = new URLSearchParams({
    response_type: "code",
    response_mode,
    client_id: "app",
    redirect_uri: `${client.url}/callback`,
    state: `a"b<c>&d é`,
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  posted.length = 0;
  await page.goto(`${issuer}/oauth/authorize?${query}`);
  await page.getByLabel("User name").fill("alice");
  await page.getByLabel("Password").fill("wonderland");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Allow" }).click();
  return { page, complaints };
}

function defineTests(): void {
  test.before(start);
  test.after(stop);

  test("the form posts itself, once, without a complaint about the policy", async () => {
    const { page, complaints } = await approve(true, "form_post");
    await page.waitForURL(`${client.url}/done`);
    assert.equal(posted.map(({ method, referer }) => [method, referer]), [["POST", null]]);
    const { form } = posted[0]!;
    assert.equal([...form.keys()], ["code", "state", "iss"]);
    assert.equal([form.get("state"), form.get("iss")], [`a"b<c>&d é`, issuer]);
    assert.equal(complaints.filter((text) => /Content.Security.Policy/i.test(text)), []);
  });

  test("without scripts the button posts it", async () => {
    const { page } = await approve(false, "form_post.jwt");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(`${client.url}/done`);
    assert.equal([...posted[0]!.form.keys()], ["response"]);
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the responses are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: forms that post themselves are not tested");
} else defineTests();

test.run();
