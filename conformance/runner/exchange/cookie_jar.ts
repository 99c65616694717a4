/**
 * The cookies of one browser within a vector, by host, path and name. `Secure` is not enforced, because
 * targets are often on loopback.
 *
 * @module
 */
import type { HeaderField } from "./exchange.ts";
import { parseCookie } from "../vector/view.ts";

/** A cookie of a jar. */
export interface JarCookie {
  readonly host: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
}

export class CookieJar {
  readonly #kept = new Map<string, JarCookie>();

  /** The `Cookie` field for a URL, or `undefined`. */
  cookieField(address: string): string | undefined {
    const url = new URL(address);
    const fitting = [...this.#kept.values()].filter(({ host, path }) =>
      host === url.hostname &&
      (url.pathname === path || url.pathname.startsWith(path.endsWith("/") ? path : `${path}/`))
    );
    fitting.sort((one, other) => other.path.length - one.path.length);
    return fitting.length === 0 ? undefined : fitting.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  /** All cookies of the jar. */
  listCookies(): JarCookie[] {
    return [...this.#kept.values()];
  }

  /** Adds or replaces a cookie. */
  setCookie({ host, path, name, value }: JarCookie): void {
    this.#kept.set(`${host} ${path} ${name}`, { host, path, name, value });
  }

  /** Applies the `Set-Cookie` fields of a response. */
  applySetCookie(address: string, fields: readonly HeaderField[]): void {
    const url = new URL(address);
    for (const [field, text] of fields) {
      if (field.toLowerCase() !== "set-cookie") continue;
      const [name, cookie] = parseCookie(text);
      const cookiePath = typeof cookie["path"] === "string" && cookie["path"].startsWith("/")
        ? cookie["path"]
        : undefined;
      const path = cookiePath ?? (url.pathname.replace(/\/[^/]*$/, "") || "/");
      if (isExpired(cookie)) this.#kept.delete(`${url.hostname} ${path} ${name}`);
      else this.setCookie({ host: url.hostname, path, name, value: String(cookie["value"]) });
    }
  }
}

function isExpired(cookie: Readonly<Record<string, string | true>>): boolean {
  if (cookie["max-age"] !== undefined) return Number(cookie["max-age"]) <= 0;
  const expires = typeof cookie["expires"] === "string" ? Date.parse(cookie["expires"]) : NaN;
  return expires < Date.now();
}
