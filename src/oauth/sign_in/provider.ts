/**
 * What an identity provider is to this server: where it sends the browser, and who it says the user is. Embedders can
 * write their own; `oidc.ts` and `github.ts` make those of the standards and of GitHub.
 *
 * @module
 */
import { checkNames, checkTexts, invalidOption, type Names } from "../../options/option_check.ts";
import type { Claims } from "../../crypto/jws.ts";
import type { PublicFetch } from "../../http/network/public_fetch.ts";
import type { RemoteDocuments } from "../clients/remote_document.ts";
import type { StoredProvider } from "../records/provider_record.ts";
import type { UserRole } from "../records/user_record.ts";

/** Who signed in, as the provider says. */
export interface Identity {
  /** The issuer identifier. With `subject` it is the identity: nothing else of this is. */
  readonly issuer: string;
  /** The user's id at this issuer, which is never given to another user. */
  readonly subject: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  /** Whether the provider says that the address is the user's. */
  readonly emailVerified: boolean;
  /** Groups, roles or organisations of the user. */
  readonly groups: readonly string[];
  /** When the user proved who they are, in seconds since the epoch, if the provider says it. */
  readonly authTime?: number | undefined;
  /** What the provider sent, for the functions of the operator. */
  readonly claims: Claims;
  /** Present where the provider keeps them. */
  readonly tokens?: ProviderTokens | undefined;
}

/** What the token endpoint of a provider returned. */
export interface ProviderTokens {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
  readonly id_token?: string | undefined;
  /** Space-separated, if the provider says it. */
  readonly scope?: string | undefined;
  /** Seconds for which the access token is valid, if the provider says it. */
  readonly expires_in?: number | undefined;
}

/** Whom of the users of a provider this server admits: all that is set must hold. */
export interface Admission {
  /** Domains of verified e-mail addresses, such as `example.com`; subdomains are others. @default any */
  readonly domains?: readonly string[];
  /** The user must be in one of these groups, roles or organisations. @default any */
  readonly groups?: readonly string[];
  /** Decides what the others cannot. @default everyone */
  admits?(identity: Identity): boolean | Promise<boolean>;
}

/** What every provider is given. */
export interface ProviderSettings extends Admission {
  /** In the path of its redirect URI, `ISSUER/login/ID/callback`: 1 to 32 characters of `a-z`, `0-9` and `-`. */
  readonly id?: string;
  /** On the button. */
  readonly name?: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  /** The groups whose members have a role; the highest counts. @default the option `defaultRole` */
  readonly roles?: Readonly<Partial<Record<UserRole, readonly string[]>>>;
  /**
   * Scopes that depend on groups instead of the role: a user who signs in here may grant such a scope, and what implies it,
   * only as a member of one of its groups. As at the last sign-in, also for what the user granted before. @default none
   */
  readonly scopes?: Readonly<Record<string, readonly string[]>>;
  /**
   * Whether the tokens of the provider are kept, sealed, for `getProviderToken`. Most providers give a refresh token only
   * for a further scope, such as `offline_access`. @default false
   */
  readonly keepTokens?: boolean;
}

export const PROVIDER_NAMES: Names<ProviderSettings> = {
  id: "string",
  name: "string",
  clientId: "string",
  clientSecret: "string",
  domains: "string[]",
  groups: "string[]",
  admits: "function",
  roles: "object",
  scopes: "object",
  keepTokens: "boolean",
};

const ROLE_NAMES: Names<Record<UserRole, unknown>> = {
  reader: "unknown",
  author: "unknown",
  admin: "unknown",
};

/** What a provider uses of the server. */
export interface ProviderContext {
  /** Fetches JSON; the URL must be https, or http on loopback. */
  readonly fetch: PublicFetch;
  readonly documents: RemoteDocuments;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** One sign-in, from the first redirect to the callback. */
export interface SignInAttempt {
  /** The redirect URI of this server for this provider. */
  readonly redirect_uri: string;
  /** Also in the callback, and bound to the browser. */
  readonly state: string;
  readonly nonce: string;
  readonly code_verifier: string;
  /** The user must prove who they are again, although they may have a session at the provider. */
  readonly isNewLogin: boolean;
  /** When it began, in milliseconds since the epoch. */
  readonly began: number;
}

/** An identity provider. */
export interface SignInProvider extends Admission {
  readonly id: string;
  readonly name: string;
  readonly roles?: Readonly<Partial<Record<UserRole, readonly string[]>>> | undefined;
  /**
   * Whether it asks the user to sign in again on demand, and says when they did. Without it a new sign-in there counts as a
   * recent login on the account pages, although the provider may not have asked for anything. @default true
   */
  readonly asksAgain?: boolean;
  readonly scopes?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Whether `tokens` of its identities are kept. @default false */
  readonly keepTokens?: boolean | undefined;
  /** The URL to which the browser is sent. @throws {PublicFetchError} when the provider cannot be reached */
  start(context: ProviderContext, attempt: SignInAttempt): Promise<string>;
  /**
   * Who the callback is about. `parameters` are those of the query, each once, with a `code`.
   * @throws {SignInError} for an answer that must not be believed
   * @throws {PublicFetchError} when the provider cannot be reached or refuses
   */
  finish(
    context: ProviderContext,
    attempt: SignInAttempt,
    parameters: ReadonlyMap<string, string>,
  ): Promise<Identity>;
  /**
   * New tokens for a refresh token (RFC 6749 §6). @default the tokens of this provider are not refreshed
   * @throws {TokenRefusedError} when the provider refuses the refresh token for good
   * @throws {SignInError | PublicFetchError} when it cannot be asked now
   */
  refreshTokens?(context: ProviderContext, refresh_token: string): Promise<ProviderTokens>;
  /**
   * Ends the tokens at the provider (RFC 7009). Does nothing where it has no endpoint for it.
   * @throws {SignInError | PublicFetchError} when the provider refuses or cannot be reached
   */
  revokeTokens?(context: ProviderContext, tokens: ProviderTokens): Promise<void>;
}

/** A provider of a server. */
export type FoundProvider = SignInProvider & {
  /** As they were when it was found. Absent for a provider of the option `signIn`. */
  readonly settings?: StoredProvider;
};

/** The providers of a server. */
export interface ProviderDirectory {
  /** One whose settings cannot be used is found, too: it refuses all that it is asked. */
  find(id: string): Promise<FoundProvider | undefined>;
  /** Whether users can sign in at the provider with this id. */
  isUsable(id: string): Promise<boolean>;
  /** For the login page. */
  list(): Promise<readonly Pick<SignInProvider, "id" | "name">[]>;
  /** Why a stored provider with this id does not count, after "the id"; `undefined` when it counts. */
  findConflict(id: string): string | undefined;
}

/** Why an answer of a provider is not believed. For the operator's log, not for the page. */
export class SignInError extends Error {
  override readonly name = "SignInError";
}

/** The provider refuses a code or a refresh token with this error code (RFC 6749 §5.2). */
export class TokenRefusedError extends SignInError {
  readonly code: string;
  constructor(code: string) {
    super(`The token endpoint answered ${code}`);
    this.code = code;
  }
}

/** The members that all providers made from settings have. @throws {TypeError} without a client id, or for a bad list */
export function toProviderBase(
  { id, name, clientId, domains, groups, admits, roles, scopes, keepTokens }: ProviderSettings,
  defaults: { readonly id: string; readonly name: string },
): Omit<SignInProvider, "start" | "finish"> {
  if (typeof clientId !== "string" || clientId === "") {
    throw new TypeError(`Cannot create provider "${id ?? defaults.id}": clientId is required`);
  }
  checkDomains(`${defaults.id}.domains`, domains);
  checkNames(`${defaults.id}.roles`, roles ?? {}, ROLE_NAMES);
  checkGroups(`${defaults.id}.groups`, groups);
  if (groups?.length === 0) throw admitsNoOne(`${defaults.id}.groups`);
  for (const [option, lists] of Object.entries({ roles, scopes })) {
    for (const [name, each] of Object.entries(lists ?? {})) {
      checkGroups(`${defaults.id}.${option}.${name}`, each);
    }
  }
  return {
    id: id ?? defaults.id,
    name: name ?? defaults.name,
    roles,
    scopes,
    keepTokens,
    ...(domains && { domains }),
    ...(groups && { groups }),
    ...(admits && { admits }),
  };
}

/** @throws {TypeError} for an empty name */
function checkGroups(name: string, groups: readonly string[] | undefined): void {
  checkTexts(name, groups);
  if (groups?.includes("")) throw invalidOption(name, "names of groups", "");
}

function admitsNoOne(name: string): TypeError {
  return new TypeError(`Invalid options: "${name}" is empty, so that it would admit no one`);
}

/** @throws {TypeError} for an empty list, and for a text that is no domain: no address would be equal to it */
export function checkDomains(name: string, domains: readonly string[] | undefined): void {
  if (domains === undefined) return;
  if (domains.length === 0) throw admitsNoOne(name);
  for (const domain of domains) {
    if (!/^[^\s@*/:,]+$/.test(domain)) {
      throw invalidOption(name, "domains such as example.com, each a text of its own", domain);
    }
  }
}

/** Whether the provider's users include this one. */
export async function isAdmitted(
  { domains, groups, admits }: Admission,
  identity: Identity,
): Promise<boolean> {
  if (domains !== undefined) {
    const domain = identity.emailVerified
      ? /^[^@]+@([^@]+)$/.exec(identity.email ?? "")?.[1]?.toLowerCase()
      : undefined;
    if (domain === undefined || !domains.some((each) => each.toLowerCase() === domain)) return false;
  }
  if (groups !== undefined && !groups.some((each) => identity.groups.includes(each))) return false;
  return admits === undefined || await admits(identity) === true;
}

/** What the user's groups decide on scopes; `undefined` when the provider leaves all scopes to the role. */
export function scopesOf(
  { scopes }: Pick<SignInProvider, "scopes">,
  { groups }: Identity,
): Readonly<Record<string, boolean>> | undefined {
  if (scopes === undefined) return undefined;
  const decided = Object.entries(scopes).map(([scope, allowed]) =>
    [scope, allowed.some((each) => groups.includes(each))] as const
  );
  return decided.length === 0 ? undefined : Object.fromEntries(decided);
}

/** The highest role that the user's groups give; `undefined` for the default. */
export function roleOf({ roles }: Pick<SignInProvider, "roles">, { groups }: Identity): UserRole | undefined {
  return (["admin", "author", "reader"] as const).find((role) =>
    roles?.[role]?.some((each) => groups.includes(each))
  );
}
