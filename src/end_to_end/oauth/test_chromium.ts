/**
 * Debian's Chromium, and axe-core for its pages. Only tests import this.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import type { Browser, Page } from "playwright-core";
import * as assert from "uvu/assert";

/** The path of the browser. */
export const CHROMIUM: string = process.env.TRIVET_TEST_CHROMIUM ?? "/usr/bin/chromium";

/** A phone and a desktop, in CSS pixels. */
export const SIZES: Readonly<Record<string, { readonly width: number; readonly height: number }>> = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 900 },
};

/** Evaluated in the page, since Content-Security-Policy blocks a script element. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts the browser. */
export async function launchChromium(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

/** What axe-core finds: a line for each rule, with the elements that break it. */
export async function findViolations(page: Page): Promise<string[]> {
  if (await page.evaluate("globalThis.axe === undefined")) await page.evaluate(axe);
  return await page.evaluate(async () => {
    // deno-lint-ignore no-explicit-any
    const { violations } = await (globalThis as any).axe.run();
    return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) =>
      `${id}: ${nodes.map(({ html }) => html).join(" ")}`
    );
  });
}

/**
 * Asserts that axe-core finds nothing in light and dark mode, and that nothing overflows in any of the sizes.
 * TRIVET_SCREENSHOTS names a folder for screenshots.
 * @param name of the screenshots
 * @param sizes of the window. @default its present size
 */
export async function assertAccessible(page: Page, name: string, sizes?: typeof SIZES): Promise<void> {
  // A click waits until the next page begins, not until it is complete.
  await page.waitForLoadState();
  for (const [size, viewport] of Object.entries(sizes ?? { "": page.viewportSize()! })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const shot = [name, size, colorScheme].filter((part) => part !== "").join("-");
      assert.equal(await findViolations(page), [], shot);
      const width = await page.evaluate("document.documentElement.scrollWidth") as number;
      assert.ok(width <= viewport.width, `${shot} overflows`);
      const folder = process.env.TRIVET_SCREENSHOTS;
      if (folder) await page.screenshot({ path: join(folder, `${shot}.png`), fullPage: true });
    }
  }
}
