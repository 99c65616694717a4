/**
 * A server whose mails are kept in a list, and a browser that follows their links. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { compareAndSet } from "../../store/store.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { type User, userKey } from "../records/user_record.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";
import type { Mail } from "./mail.ts";

export interface MailServer extends TestServer {
  readonly mails: Mail[];
  /** Sends a request with this client address, and waits until its mails were sent. */
  request(path: string, options?: MailRequest): Promise<Response>;
  /** A new browser: it keeps cookies by path, as RFC 6265 says. */
  browser(): Browser;
}

export interface MailRequest {
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ip?: string;
}

export interface Browser {
  readonly cookies: Map<string, { readonly value: string; readonly path: string }>;
  open(path: string, options?: MailRequest): Promise<Response>;
  /** Opens a link and the page that it redirects to. */
  follow(link: string): Promise<Response>;
}

export async function newMailServer(
  options: Partial<AuthorizationServerOptions> = {},
): Promise<MailServer> {
  const mails: Mail[] = [];
  const server = await newServer({
    sendMail: (mail) => Promise.resolve(void mails.push(mail)),
    ...options,
  });
  const issuer = options.issuer ?? ISSUER;
  const { origin } = new URL(issuer);
  async function request(
    path: string,
    { form, headers = {}, ip = "203.0.113.7" }: MailRequest = {},
  ): Promise<Response> {
    const waiting: Promise<unknown>[] = [];
    const response = await server.service.fetch(
      new Request(path.startsWith("/") ? origin + path : path, {
        method: form ? "POST" : "GET",
        headers,
        ...(form && { body: new URLSearchParams(form) }),
      }),
      { ip, waitUntil: (promise) => waiting.push(promise) },
    );
    await Promise.all(waiting);
    return response;
  }
  function browser(): Browser {
    const cookies: Browser["cookies"] = new Map();
    async function open(path: string, { headers, ...options }: MailRequest = {}): Promise<Response> {
      const { pathname } = new URL(path, origin);
      const cookie = [...cookies].filter(([, { path }]) =>
        path === "/" || pathname === path || pathname.startsWith(path + "/")
      ).map(([name, { value }]) => `${name}=${value}`).join("; ");
      const response = await request(path, {
        ...options,
        headers: {
          accept: "text/html",
          "sec-fetch-site": "same-origin",
          ...(cookie !== "" && { cookie }),
          ...headers,
        },
      });
      for (const field of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(field)!;
        const path = /; Path=([^;]+)/.exec(field)![1]!;
        if (/; Max-Age=0(?:;|$)/.test(field)) cookies.delete(name!);
        else cookies.set(name!, { value: value!, path });
      }
      return response;
    }
    return {
      cookies,
      open,
      async follow(link) {
        const response = await open(link, { headers: { "sec-fetch-site": "none" } });
        return response.status === 303 ? await open(response.headers.get("location")!) : response;
      },
    };
  }
  return { ...server, mails, request, browser };
}

/** The link in a mail. @throws {Error} when there is none */
export function linkOf(mail: Mail | undefined): string {
  const link = /^https?:\/\/\S+$/m.exec(mail?.text ?? "")?.[0];
  if (link === undefined) throw new Error("No link in " + JSON.stringify(mail));
  return link;
}

/** Whether the response starts a session. */
export function isSignedIn(response: Response): boolean {
  return response.headers.getSetCookie().some((field) => /session[^=]*=[^;]/.test(field));
}

/** The user alice. */
export async function aliceOf({ store }: MailServer): Promise<User> {
  const { value } = (await store.get<string>(["username", "alice"]))!;
  return (await store.get<User>(userKey(value)))!.value;
}

/** Changes the record of alice. */
export async function changeAlice(server: MailServer, members: Partial<User>): Promise<void> {
  const { id } = await aliceOf(server);
  const entry = (await server.store.get<User>(userKey(id)))!;
  assert.ok(await compareAndSet(server.store, entry.key, entry.version, { ...entry.value, ...members }));
}

/** Asks for a new password. */
export const forgot = (
  server: MailServer,
  identifier: string = "alice",
  ip: string = "203.0.113.7",
): Promise<Response> => server.request("/login/forgot", { form: { identifier }, ip });
