/**
 * Cookies of one browser within a vector: kept by origin, path and name, until they are deleted. `Secure` is not
 * enforced, since targets under test are often on loopback.
 *
 * @module
 */
import type { Field } from "./exchange.ts";
import { readCookie } from "../vector/view.ts";

/** A cookie of a jar. */
export interface Kept {
  readonly host: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
}

export class CookieJar {
  readonly #kept = new Map<string, Kept>();

  /** The value of the `Cookie` field for an address, or nothing. */
  fieldFor(address: string): string | undefined {
    const url = new URL(address);
    const fitting = [...this.#kept.values()].filter(({ host, path }) =>
      host === url.hostname &&
      (url.pathname === path || url.pathname.startsWith(path.endsWith("/") ? path : `${path}/`))
    );
    fitting.sort((one, other) => other.path.length - one.path.length);
    return fitting.length === 0 ? undefined : fitting.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  /** What the jar holds, as programs are given it. */
  list(): Kept[] {
    return [...this.#kept.values()];
  }

  /** Puts a cookie in that no answer set. */
  put({ host, path, name, value }: Kept): void {
    this.#kept.set(`${host} ${path} ${name}`, { host, path, name, value });
  }

  /** Takes what an answer sets and deletes. */
  take(address: string, fields: readonly Field[]): void {
    const url = new URL(address);
    for (const [field, text] of fields) {
      if (field.toLowerCase() !== "set-cookie") continue;
      const [name, cookie] = readCookie(text);
      const asked = typeof cookie["path"] === "string" && cookie["path"].startsWith("/")
        ? cookie["path"]
        : undefined;
      const path = asked ?? (url.pathname.replace(/\/[^/]*$/, "") || "/");
      if (isOver(cookie)) this.#kept.delete(`${url.hostname} ${path} ${name}`);
      else this.put({ host: url.hostname, path, name, value: String(cookie["value"]) });
    }
  }
}

function isOver(cookie: Readonly<Record<string, string | true>>): boolean {
  if (cookie["max-age"] !== undefined) return Number(cookie["max-age"]) <= 0;
  const expires = typeof cookie["expires"] === "string" ? Date.parse(cookie["expires"]) : NaN;
  return expires < Date.now();
}
