/**
 * What is stored of a login: sessions, the clients that are notified of their end, and attempts that failed.
 *
 * @module
 */
import type { Key } from "../../store/store.ts";

/** Written at login, under a new id; ended by logout or its lifetimes. */
export interface Session {
  /** Its public name, which is shown to the user; absent in sessions of earlier versions. */
  readonly id?: string;
  /** The digest of the session of the same user in the same browser that it continues. @default its own digest */
  readonly origin?: string;
  readonly user: string;
  readonly created: number;
  /** When it was last used, to within a tenth of its idle lifetime. */
  readonly seen: number;
  /** How the user proved who they are: RFC 9470 §3. */
  readonly acr: string;
  /** RFC 8176: the authentication methods, where `authenticateUser` names them. */
  readonly amr?: readonly string[];
  /** Weaker classes that the login is good enough for. */
  readonly satisfies?: readonly string[];
  /** When the user did so, if that was at an identity provider: 0 if the provider does not say. @default `created` */
  readonly authenticated?: number;
  /** The IP address of the login. */
  readonly address?: string;
  /** The beginning of its `User-Agent`. */
  readonly agent?: string;
}

/** The index record of a session: its origin; `true` for its own digest. */
export type SessionIndex = true | string;

/** A client that is notified when the session ends. Written with its code; ended by the end of the session. */
export interface SessionClient {
  readonly client_id: string;
  readonly user: string;
}

/** A logout token that a client is to get. Written at the end of a session; ended by its delivery or a day later. */
export interface LogoutNotice extends SessionClient {
  /** The origin of the session. */
  readonly session: string;
  /** Deliveries that failed. */
  readonly failures: number;
  /** Until when it is kept. */
  readonly until: number;
}

/** A series of attempts that failed, and when the next one may be made. */
export interface Attempts {
  readonly made: number;
  readonly until: number;
}

/** How many attempts were made, and until when the next one waits, or when the last one was, in milliseconds. */
export type Attempt = readonly [made: number, until: number];

/**
 * Attempts to sign in from one network, or from those that share a record. Written by `login_throttle.ts`; ended a day after
 * the last wait.
 */
export interface LoginAttempts {
  readonly all: Attempt;
  /** By a digest of the account. */
  readonly accounts: Readonly<Record<string, Attempt>>;
}

/** How long an ended session waits for the notices to its clients, while no server runs. */
export const NOTICE_LIFETIME_MS = 86_400_000;

export const sessionKey = (digest: string): Key => ["session", digest];
/** The sessions of a user: each record says that one with this digest was started (`user_sessions.ts`). */
export const userSessionsPrefix = (user: string): Key => ["user_session", user];
export const userSessionKey = (user: string, digest: string): Key => [...userSessionsPrefix(user), digest];
/** When all sessions of a user were ended, in milliseconds: no login that began before starts another. */
export const signedOutKey = (user: string): Key => ["signed_out", user];
/** A session that was ended by no request of its own, and whose clients are to be notified. */
export const ENDED_SESSIONS: Key = ["ended_session"];
export const endedSessionKey = (origin: string): Key => [...ENDED_SESSIONS, origin];
export const sessionClientsPrefix = (origin: string): Key => ["session_client", origin];
export const sessionClientKey = (origin: string, client: string): Key => [
  ...sessionClientsPrefix(origin),
  client,
];
export const LOGOUT_NOTICES: Key = ["logout_notice"];
/** By the time at which it is due, so that the due ones come first. */
export const logoutNoticeKey = (due: number, id: string): Key => [...LOGOUT_NOTICES, due, id];
export const loginAttemptsKey = (digest: string): Key => ["attempts", "login", digest];
export const attemptsKey = (kind: string, digest: string): Key => ["attempts", kind, digest];
