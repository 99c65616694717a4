/**
 * What a `User-Agent` says to a person: the names of the browser and the system. A guess for people who look at their
 * sessions, and nothing depends on it.
 *
 * @module
 */

/** In order: browsers name those that they resemble, too. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOpera\b/, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\/|\bHeadlessChrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
  [/^(?:node|undici)\b/i, "Node.js"],
  [/^Deno\//, "Deno"],
  [/^Bun\//, "Bun"],
  [/^python-(?:requests|httpx)\/|^Python\b/, "Python"],
  [/^Go-http-client\//, "Go"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** The names that are known. */
export function describeAgent(agent: string = ""): { readonly browser?: string; readonly system?: string } {
  const find = (names: typeof BROWSERS) => names.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  return { ...(browser !== undefined && { browser }), ...(system !== undefined && { system }) };
}
