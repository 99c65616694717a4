/**
 * Runs procedures in a real browser, for pages that need scripts: fills in the fields and presses the buttons that the
 * target file names, and returns cookies and the URL of the redirect to the client. A program that keeps running: reads a
 * line of JSON for each call and writes one (`FORMAT.md` section 9).
 *
 *   "login": { "exec": ["node", "…/browser/main.mjs"], "stays": true, "page": "/login", "fields": { … }, "press": "…" }
 *
 * `BROWSER` is the path of the program (default: Debian's chromium). It can reach only the target's host.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const MAX_PAGES = 8;
const TIMEOUT_MS = 10_000;

/** One browser for each host, because its allowed host is set at launch. */
const browsers = new Map();

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = await call(JSON.parse(line));
  } catch (error) {
    answer = { error: String(error?.message ?? error).split("\n")[0] };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
for (const browser of browsers.values()) await (await browser).close();

async function call({ base, cookies, page: { page: path, query, fields = {}, press = [] } }) {
  const context = await (await browserFor(new URL(base).hostname)).newContext({ ignoreHTTPSErrors: true });
  try {
    await context.addCookies(
      cookies.map(({ name, value, host, path }) => ({ name, value, domain: host, path })),
    );
    const page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    const left = watchRedirect(page, new URL(base).origin, query?.redirect_uri);
    await goTo(page, toUrl(path, base, query), left);
    for (let pages = 0; pages < MAX_PAGES && left.to === undefined; pages++) {
      if (!await submitPage(page, fields, [press].flat(), left)) break;
    }
    const cookiesAfter = await context.cookies();
    return {
      cookies: cookiesAfter.map(({ name, value, domain, path }) => ({
        name,
        value,
        host: domain.replace(/^\./, ""),
        path,
      })),
      ...(left.to !== undefined && { answer: left.to }),
      ...(query && left.to === undefined && {
        error: `the browser stays at ${page.url()} with the text: ${
          (await page.innerText("body")).replace(/\s+/g, " ").slice(0, 160)
        }`,
      }),
    };
  } finally {
    await context.close();
  }
}

function browserFor(host) {
  const known = browsers.get(host);
  if (known) return known;
  const browser = chromium.launch({
    executablePath: process.env.BROWSER ?? "/usr/bin/chromium",
    args: [
      `--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE ${host}`,
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
  });
  browsers.set(host, browser);
  return browser;
}

function toUrl(path, base, query) {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const each of [value ?? []].flat()) url.searchParams.append(name, String(each));
  }
  return url.href;
}

/** Records the URL at which the browser leaves the target. No request reaches the client. */
function watchRedirect(page, origin, redirectUri) {
  const left = { to: undefined };
  left.happened = new Promise((resolve) => {
    page.on("request", (request) => {
      const url = request.url();
      const isOutside = new URL(url).origin !== origin || redirectUri && url.startsWith(redirectUri);
      if (!request.isNavigationRequest() || request.frame() !== page.mainFrame() || !isOutside) return;
      if (!/^(about|chrome-error|data):/.test(url)) {
        left.to ??= url;
        resolve();
      }
    });
  });
  return left;
}

async function goTo(page, url, left) {
  await Promise.race([page.goto(url, { waitUntil: "load" }).catch(unlessLeft(left)), left.happened]);
}

/** Leaving a page while it loads is not an error. */
function unlessLeft(left) {
  return (error) => {
    if (left.to === undefined) throw error;
  };
}

/** Fills in fields and presses a button. Returns whether the page had any. */
async function submitPage(page, fields, press, left) {
  let filled;
  for (const [name, value] of Object.entries(fields)) {
    const field = page.locator(`[name=${JSON.stringify(name)}]:visible`).first();
    if (await field.count() === 0) continue;
    const type = await field.getAttribute("type");
    if (type === "checkbox" || type === "radio") await field.check();
    else if (await field.evaluate(({ tagName }) => tagName === "SELECT")) {
      await field.selectOption(String(value));
    } else await field.fill(String(value));
    filled = field;
  }
  const button = await findButton(page, press);
  if (!button && !filled) return false;
  const moved = page.waitForEvent("framenavigated", { timeout: TIMEOUT_MS }).catch(() => {});
  if (button) await button.click({ noWaitAfter: true });
  else await filled.press("Enter", { noWaitAfter: true });
  await Promise.race([moved, left.happened]);
  if (left.to === undefined) await page.waitForLoadState("load").catch(unlessLeft(left));
  return true;
}

async function findButton(page, press) {
  for (const wanted of press) {
    const [name, value] = wanted.split("=");
    const text = JSON.stringify(wanted);
    const all = [
      page.getByRole("button", { name: wanted, exact: true }),
      page.getByRole("link", { name: wanted, exact: true }),
      page.locator(`button[name=${text}], button[value=${text}], input[type=submit][value=${text}]`),
      ...(value === undefined ? [] : [
        page.locator(
          `[name=${JSON.stringify(name)}][value=${JSON.stringify(value)}]:is(button, [type=submit])`,
        ),
      ]),
    ];
    for (const each of all) if (await each.first().isVisible()) return each.first();
  }
  return undefined;
}
