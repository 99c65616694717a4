/**
 * A server with factors, and browsers that keep cookies. Only tests import this.
 *
 * @module
 */
import { fromBase32 } from "../../crypto/base32.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";
import { type Authenticator, newAuthenticator } from "./test_authenticator.ts";
import { stepAt, totpCode } from "./totp.ts";
import { passkeys } from "./web_authn.ts";

export const ALICE = { username: "alice", password: "wonderland" };

export interface FactorServer extends TestServer {
  /** The code that the app with this secret shows now. */
  codeOf(secret: Uint8Array, steps?: number): Promise<string>;
  newBrowser(ip?: string): Browser;
}

export interface Reply {
  readonly status: number;
  /** The path of the Location field, or "". */
  readonly location: string;
  readonly text: string;
}

/** A browser: it navigates, keeps cookies, and follows no redirects. */
export interface Browser {
  readonly cookies: Map<string, string>;
  get(path: string): Promise<Reply>;
  post(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Reply>;
  /** Enters user name and password. */
  enterPassword(form?: Record<string, string>, redirect?: string): Promise<Reply>;
  /** Whether it is signed in. */
  isSignedIn(): Promise<boolean>;
  /** Signs in and sets up an authenticator app. */
  addTotp(): Promise<{ readonly secret: Uint8Array; readonly codes: readonly string[] }>;
  /** Signs in where that is needed and creates a passkey. */
  addPasskey(
    authenticator?: Authenticator,
  ): Promise<{ readonly authenticator: Authenticator; readonly page: Reply }>;
}

export async function newFactorServer(
  options: Partial<AuthorizationServerOptions> = {},
): Promise<FactorServer> {
  const server = await newServer({
    factors: { passkeys: passkeys(), totp: true, acr: "mfa", hasAccount: true },
    acrValues: ["password", "mfa"],
    ...options,
  });
  return {
    ...server,
    codeOf: (secret, steps = 0) => totpCode(secret, stepAt(server.now()) + steps),
    newBrowser: (ip = "192.0.2.1") => newBrowser(server, ip),
  };
}

function newBrowser(server: TestServer, ip: string): Browser {
  const cookies = new Map<string, string>();

  async function send(path: string, init: RequestInit): Promise<Reply> {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const headers = {
      accept: "text/html",
      "sec-fetch-site": "same-origin",
      ...(cookie !== "" && { cookie }),
      ...init.headers as Record<string, string>,
    };
    const request = new Request(new URL(path, ISSUER), { ...init, headers });
    const response = await server.service.fetch(request, { ip });
    for (const field of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
      if (value === "") cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    const location = response.headers.get("location") ?? "";
    return { status: response.status, location, text: await response.text() };
  }

  const browser: Browser = {
    cookies,
    get: (path) => send(path, {}),
    post: (path, form, headers = {}) =>
      send(path, { method: "POST", body: new URLSearchParams(form), headers }),
    enterPassword: (form = ALICE, redirect = "/device") =>
      browser.post("/login?redirect=" + encodeURIComponent(redirect), form),
    isSignedIn: async () => (await browser.get("/account/factors")).status === 200,
    async addTotp() {
      if (!await browser.isSignedIn()) await browser.enterPassword();
      const page = await browser.get("/account/factors/totp");
      const secret = fromBase32(/<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)![1]!.replaceAll(" ", ""))!;
      const setup = hiddenOf(page.text, "setup");
      const code = await totpCode(secret, stepAt(server.now()));
      const shown = await browser.post("/account/factors/totp", { setup, code });
      return { secret, codes: codesOf(shown.text) };
    },
    async addPasskey(given) {
      if (!await browser.isSignedIn()) await browser.enterPassword();
      const authenticator = given ?? await newAuthenticator(ISSUER);
      const form = await browser.get("/account/factors/passkey");
      const credential = await authenticator.create(optionsOf(form.text));
      const page = await browser.post("/account/factors/passkey", { credential, label: "My key" });
      return { authenticator, page };
    },
  };
  return browser;
}

/** The recovery codes of a page. */
export function codesOf(page: string): string[] {
  return page.match(/\b[a-z2-7]{4}(-[a-z2-7]{4}){3}\b/g) ?? [];
}

export function hiddenOf(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(page)![1]!;
}

/** `data-options` of the form for a passkey. */
export function optionsOf(page: string): string {
  return /data-options="([^"]*)"/.exec(page)![1]!.replaceAll("&quot;", '"');
}
