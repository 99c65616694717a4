/**
 * What a user may give, every default, and every check that can be made before the first request.
 *
 * @module
 */
import type { Observe } from "./events.ts";
import type { Definition } from "./mcp/definition.ts";
import type { AuthorizationServerOptions } from "./oauth/authorization_server.ts";
import { type ClientRegistration, toClient } from "./oauth/client.ts";
import { ITERATIONS } from "./crypto/password.ts";
import type { BlobStore } from "./skills/blob_store.ts";
import type { SkillFolder } from "./skills/folder.ts";
import type { Store } from "./store/store.ts";

export interface TrivetOptions {
  /**
   * Where clients reach this server: https (http on loopback), no query or fragment. Never taken from a
   * request: who chose the Host field would choose what tokens are for.
   */
  readonly issuer: string;
  readonly store: Store;
  /** `false` leaves the authorization server out; API keys still work. */
  readonly oauth?: OAuthOptions | false;
  /** `false` leaves the Skills service out. */
  readonly skills?: SkillsOptions | false;
  /** `false` leaves the tool server out. */
  readonly mcp?: McpOptions | false;
  /** Hears of every security-relevant act, and of faults. @default nobody */
  readonly onEvent?: Observe;
  /** Milliseconds since the epoch, for tests. @default the store's clock, else Date.now */
  readonly now?: () => number;
  /** What weakens a rule of the standards. Grouped, so that it stands out. */
  readonly unsafe?: {
    /** Allows an http issuer that is not on loopback: tokens and passwords then travel in the clear. */
    readonly httpIssuer?: boolean;
  };
}

export interface OAuthOptions {
  /** Clients beside those in the store. */
  readonly clients?: readonly ClientRegistration[];
  /** Scope to what it allows, as the consent page says it. @default {@linkcode SCOPES} */
  readonly scopes?: Readonly<Record<string, string>>;
  /** @default "opaque" */
  readonly accessTokenFormat?: "opaque" | "jwt";
  /** Seconds. @default 7200 */
  readonly accessTokenLifetime?: number;
  /** Seconds since the last rotation. @default 604800 */
  readonly refreshTokenLifetime?: number;
  /** Seconds in which a retried refresh hears the same answer; 0 ends the family at once. @default 30 */
  readonly refreshRetryGrace?: number;
  /** Seconds. @default 60 */
  readonly codeLifetime?: number;
  /** Seconds. @default 43200 */
  readonly sessionLifetime?: number;
  /** Of PBKDF2-HMAC-SHA-256. @default 600000 */
  readonly passwordIterations?: number;
}

export interface SkillsOptions {
  /** Local folders whose skills are served as they are; the runtime entries make them. @default none */
  readonly folders?: readonly SkillFolder[];
  /** Where the files of uploaded skills are kept: {@linkcode s3Blobs}, say. @default the store */
  readonly blobs?: BlobStore;
  /** Bytes of an upload, packed and unpacked. @default 8388608 */
  readonly uploadLimit?: number;
  /** `off` lets everybody read and write: for a machine of one's own. @default "required" */
  readonly auth?: "required" | "off";
}

export interface McpOptions {
  readonly tools?: readonly Definition[];
  readonly resources?: readonly Definition[];
  readonly prompts?: readonly Definition[];
  /** What `initialize` says of the server. */
  readonly name?: string;
  readonly version?: string;
  readonly instructions?: string;
  /** Whether the skills come as tools, resources and a prompt. @default true */
  readonly skills?: boolean;
  /** `optional`: anonymous callers see and call what needs no scope. @default "optional" */
  readonly auth?: "required" | "optional" | "off";
  /** Values of Host beside the issuer's (DNS rebinding); `*` allows all. @default none */
  readonly allowedHosts?: readonly string[];
  /** Values of Origin beside the issuer's; `*` allows all. @default none */
  readonly allowedOrigins?: readonly string[];
  /** Bytes of a message. @default 4194304 */
  readonly bodyLimit?: number;
}

/** The scopes of an operator who named none. */
export const SCOPES: Readonly<Record<string, string>> = {
  profile: "See your name and e-mail address",
  read: "Read your data",
  write: "Change your data",
  "skills:read": "See and load skills",
  "skills:write": "Add and remove skills",
  admin: "Administer this server",
};

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The issuer, checked. @throws {TypeError} naming the rule that it breaks */
export function checkIssuer({ issuer, unsafe }: TrivetOptions): string {
  const url = URL.parse(issuer);
  const secure = url?.protocol === "https:" ||
    url?.protocol === "http:" && (LOOPBACK.has(url.hostname) || unsafe?.httpIssuer === true);
  if (!url || !secure || /[?#]/.test(issuer) || url.username !== "" || url.password !== "") {
    throw new TypeError(
      `Cannot create Trivet: "issuer" must be an https URL (http on loopback) without query, fragment or user, but is "${issuer}"`,
    );
  }
  return issuer;
}

/** The store, checked. @throws {TypeError} when it cannot keep single use and rotation */
export function checkStore(store: Store): Store {
  const { atomic, readYourWrites } = store.guarantees;
  if (!atomic || !readYourWrites) {
    throw new TypeError(
      "Cannot create Trivet: the store must be atomic and must read its own writes, else a code could be redeemed twice",
    );
  }
  return store;
}

/** The authorization server's options, complete. @throws {TypeError | RangeError} for what cannot stand */
export function completeOAuth(
  { issuer, store }: TrivetOptions,
  oauth: OAuthOptions,
  observe: Observe,
  now: () => number,
): AuthorizationServerOptions {
  const complete: AuthorizationServerOptions = {
    issuer,
    store,
    observe,
    now,
    clients: (oauth.clients ?? []).map((client) => toClient(client, now())),
    scopes: oauth.scopes ?? SCOPES,
    accessTokenFormat: oauth.accessTokenFormat ?? "opaque",
    accessTokenLifetime: oauth.accessTokenLifetime ?? 7200,
    refreshTokenLifetime: oauth.refreshTokenLifetime ?? 604_800,
    refreshRetryGrace: oauth.refreshRetryGrace ?? 30,
    codeLifetime: oauth.codeLifetime ?? 60,
    sessionLifetime: oauth.sessionLifetime ?? 43_200,
    passwordIterations: oauth.passwordIterations ?? ITERATIONS,
  };
  for (
    const name of ["accessTokenLifetime", "refreshTokenLifetime", "codeLifetime", "sessionLifetime"] as const
  ) {
    checkWhole(`oauth.${name}`, complete[name], 1);
  }
  checkWhole("oauth.refreshRetryGrace", complete.refreshRetryGrace, 0);
  checkWhole("oauth.passwordIterations", complete.passwordIterations, 1000);
  for (const scope of Object.keys(complete.scopes)) {
    if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) {
      throw new TypeError(
        `Cannot create Trivet: scope "${scope}" must be printable ASCII without blanks and quotes`,
      );
    }
  }
  return complete;
}

/** @throws {RangeError} when the value is no whole number or below `least` */
export function checkWhole(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(
      `Cannot create Trivet: "${name}" must be a whole number of at least ${least}, but is ${value}`,
    );
  }
  return value;
}
