/**
 * A server on loopback in Debian's Chromium: what a page of another site and a server on another port can read.
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
import { folderOf } from "../../skills/test_service.ts";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import { CHROMIUM, launchChromium } from "./test_chromium.ts";

const test = suite("loopback in a browser");
const [, serve] = Object.entries(entries)[0]!;
const SKILL = "---\nname: greet\ndescription: How to greet\n---\nSay hello.\n";

let browser: Browser;
let server: RunningServer;
let other: RunningServer;
let issuer: string;
/** Cookies that the server on the other port received, newest last. */
const seen: string[] = [];

async function start(): Promise<void> {
  browser = await launchChromium();
  other = await serve({
    fetch: (request) => {
      seen.push(request.headers.get("cookie") ?? "");
      return new Response("<title>other</title>", { headers: { "content-type": "text/html" } });
    },
  }, { port: 0 });
  const { promise, resolve } = Promise.withResolvers<Trivet>();
  server = await serve({ fetch: async (request, context) => (await promise).fetch(request, context) }, {
    port: 0,
  });
  issuer = server.url;
  const store = memoryStore();
  await addUser(store, { username: "alice", password: "wonderland", name: "Alice Liddell" }, 1000);
  const clients = [{ id: "app", redirect_uris: [`${other.url}/callback`] }];
  const folders = [folderOf(new Map([["greet/SKILL.md", SKILL]]))];
  resolve(createTrivet({ issuer, store, oauth: { clients }, skills: { folders } }));
}

async function stop(): Promise<void> {
  await browser.close();
  await server.close();
  await other.close();
}

function defineTests(): void {
  test.before(start);
  test.after(stop);

  test("the session cookie is sent to another port, but gives no access there", async () => {
    const page = await (await browser.newContext()).newPage();
    const query = new URLSearchParams({
      response_type: "code",
      client_id: "app",
      redirect_uri: `${other.url}/callback`,
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
    });
    const address = `${issuer}/oauth/authorize?${query}`;
    await page.goto(address);
    await page.getByLabel("User name").fill("alice");
    await page.getByLabel("Password").fill("wonderland");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${other.url}/callback?**`);
    const cookie = seen.at(-1)!;
    assert.match(cookie, "session_id=", "cookies are not isolated by port (RFC 6265 section 8.5)");
    const replayed = await fetch(address, { headers: { cookie }, redirect: "manual" });
    assert.is(replayed.status, 302);
    assert.match(replayed.headers.get("location")!, "/login?redirect=");
    await page.goto(`${issuer}/device`);
    assert.is(new URL(page.url()).pathname, "/device", "the browser itself is signed in");
  });

  test("a page of localhost reads skills; a page of another site reads neither skills nor tools", async () => {
    const page = await (await browser.newContext()).newPage();
    const read = async (path: string): Promise<string> =>
      await page.evaluate(
        (url) => fetch(url).then((response) => response.text(), () => "refused"),
        issuer + path,
      );
    // Chromium resolves every name below localhost to loopback; the server refuses these names.
    await page.goto(`http://evil.localhost:${other.port}/`);
    for (
      const path of [
        "/.well-known/skills/index.json",
        "/.well-known/skills/greet/SKILL.md",
        "/v1/skills",
        "/mcp",
      ]
    ) {
      assert.is(await read(path), "refused", path);
    }
    assert.match(await read("/.well-known/oauth-authorization-server"), '"issuer"');
    await page.goto(`http://localhost:${other.port}/`);
    assert.match(await read("/.well-known/skills/greet/SKILL.md"), "Say hello.");
    // DNS rebinding: the name of the page resolves to this server.
    await page.goto(`http://evil.localhost:${server.port}/.well-known/skills/greet/SKILL.md`);
    assert.match(await page.textContent("body") ?? "", "--allow-host");
  });
}

if ("Deno" in globalThis || "Bun" in globalThis) {
  skipBecause(test, "playwright runs on Node; the responses are the same on every runtime");
} else if (!existsSync(CHROMIUM) && process.env.CI !== "true") {
  skipBecause(test, "Chromium is not installed: pages of other sites are not tested");
} else defineTests();

test.run();
