/**
 * Sessions of the revisions with a handshake (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management).
 * A session id is the signed content of the handshake: any instance can verify it, and nothing is stored for a session until
 * it ends or changes a setting.
 *
 * @module
 */
import { decodeBase64url, encodeTextBase64url } from "../../crypto/base64url.ts";
import { randomId } from "../../crypto/secret.ts";
import type { FindSecrets, ServerSecrets } from "../../crypto/server_secrets.ts";
import { readSignedToken, signToken } from "../../crypto/signed_text.ts";
import type { Principal } from "../../http/principal.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Telemetry } from "../../http/telemetry.ts";
import { CACHED, type Check, type Entry, type Key, type Put, type Store } from "../../store/store.ts";
import type { LogLevel } from "../context.ts";
import { isOwner, ownerOf } from "./principal_key.ts";
import { decodeCapabilities, encodeCapabilities } from "./session_capabilities.ts";
import { type Caller, RECORD_BYTES, type StorageAllowance } from "./storage_limits.ts";
import { watchedKey } from "./wakeups.ts";

export interface Session {
  /** The key of the session's records in the store. */
  readonly id: string;
  readonly revision: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly clientInfo: { readonly name?: string; readonly version?: string };
  /** The principal that started it: a digest of {@linkcode principalKey}, empty for an anonymous caller. */
  readonly principal: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** The content of `initialize`. */
export type Handshake = Pick<Session, "revision" | "capabilities" | "clientInfo">;

/** The stored settings of a session. */
export interface SessionSettings {
  readonly level?: LogLevel;
  /** The number and bytes of its subscriptions (`session_subscriptions.ts`). */
  readonly subscriptions?: { readonly count: number; readonly bytes: number };
  /** The content of `initialize` over HTTP+SSE (2024-11-05), where the id exists before it. */
  readonly handshake?: Handshake;
}

export interface SessionOptions {
  readonly store: Store;
  readonly storage: StorageAllowance;
  readonly secret: FindSecrets;
  readonly now: () => number;
  /** Milliseconds. */
  readonly lifetime: number;
  readonly telemetry?: Telemetry | undefined;
}

/** Another one than of earlier formats: an id of theirs is refused (404), in both directions of an upgrade. */
const PURPOSE = "session_3";
/** Between the parts of an id. Only the last one, the version of the client, may contain it. */
const SEPARATOR = ".";
/** Name and, without separators, version of most clients. Others are written as JSON. */
const USUAL = /^[\w-]*$/;
const MAX_SESSION_ID_CHARACTERS = 8000;
/** Verified ids that are cached, at least; twice as many at most. */
const MIN_CACHED_SESSIONS = 500;
/** The maximum lifetime of a session without a token. Its end is stored for the rest of that time. */
const MAX_ANONYMOUS_SESSION_MS: number = 24 * 3_600_000;

function verify(secrets: ServerSecrets, signed: string): Session | undefined {
  if (signed.length > MAX_SESSION_ID_CHARACTERS) return undefined;
  const text = readSignedToken(secrets, PURPOSE, signed);
  return text === undefined ? undefined : parseSession(text);
}

export class Sessions {
  readonly #options: SessionOptions;
  /** Verified sessions by id: those that were used last, and those of before that. */
  #opened = new Map<string, Session>();
  #openedBefore = new Map<string, Session>();
  /** Which verified them. */
  #secrets: ServerSecrets | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Starts a session. Returns its id for the client, at once when the secret is known. */
  start(handshake: Handshake, principal: Principal | undefined): string | Promise<string> {
    const secrets = this.#options.secret();
    const lifetime = this.#lifetimeOf(principal !== undefined);
    const session = this.#create(randomId(""), handshake, principal, lifetime);
    return secrets instanceof Promise
      ? secrets.then((secrets) => this.#sign(secrets, session))
      : this.#sign(secrets, session);
  }

  #sign(secrets: ServerSecrets, session: Session): string {
    const { id, expires, principal, revision, capabilities, clientInfo: { name, version } } = session;
    const client = USUAL.test(name ?? " ") && USUAL.test(version?.replaceAll(SEPARATOR, "") ?? " ")
      ? name + SEPARATOR + version
      : encodeTextBase64url(JSON.stringify([name ?? null, version ?? null]));
    // Not base64url of JSON: that made ids longer, and took 0.9 of the 3.8 microseconds of making one.
    const known = encodeCapabilities(capabilities);
    const text = `${id}.${expires.toString(36)}.${principal}.${revision}.${known}.${client}`;
    const signed = signToken(secrets, PURPOSE, text);
    this.#use(secrets);
    // Not first when it is used: that takes 3 of the 25 microseconds of `initialize`, and adds 4 to the first request.
    this.#cache(signed, session);
    return signed;
  }

  /**
   * Creates a session without an id for the client: the connection itself is the session, so it does not expire. Its end moves
   * on with the clock; `Subscriptions.keep` renews its records.
   */
  createLocal(handshake: Handshake, principal: Principal | undefined): Session {
    const { now, lifetime } = this.#options;
    // Unique, but no secret. Node loads Web Crypto when it is first used, which takes 4 ms of the start over stdio.
    const id = `${now().toString(36)}_${Math.random().toString(36).slice(2)}`;
    const session = this.#create(id, handshake, principal, lifetime);
    return {
      ...session,
      get expires() {
        return Math.floor(now() + lifetime);
      },
    };
  }

  #create(
    id: string,
    { revision, capabilities, clientInfo }: Handshake,
    principal: Principal | undefined,
    lifetime: number,
  ): Session {
    const { now } = this.#options;
    return {
      id,
      revision,
      capabilities: decodeCapabilities(encodeCapabilities(capabilities)),
      clientInfo,
      principal: ownerOf(principal),
      // Whole milliseconds: an id has no other dots than those between its parts.
      expires: Math.floor(now() + lifetime),
    };
  }

  /**
   * The session of an id; `undefined` when its signature is invalid, it has ended or expired, or it belongs to another
   * principal. A session that was started without a token may continue with one, after a challenge.
   */
  open(signed: string, principal: Principal | undefined): Promise<Session | undefined> {
    const secrets = this.#options.secret();
    return secrets instanceof Promise
      ? secrets.then((secrets) => this.#open(secrets, signed, principal))
      : this.#open(secrets, signed, principal);
  }

  /** Not `async`: on the path of every request of a session a promise less. */
  #open(
    secrets: ServerSecrets,
    signed: string,
    principal: Principal | undefined,
  ): Promise<Session | undefined> {
    this.#use(secrets);
    let session = this.#opened.get(signed);
    if (!session && (session = this.#openedBefore.get(signed) ?? verify(secrets, signed))) {
      this.#cache(signed, session);
    }
    return session ? this.#check(session, principal) : Promise.resolve(undefined);
  }

  /** Forgets the verified sessions when a secret was rotated: it may no longer be accepted. */
  #use(secrets: ServerSecrets): void {
    if (this.#secrets === secrets) return;
    this.#secrets = secrets;
    this.#opened.clear();
    this.#openedBefore.clear();
  }

  async #check(session: Session, principal: Principal | undefined): Promise<Session | undefined> {
    if (session.expires <= this.#options.now()) return undefined;
    if (!isOwner(session.principal, principal)) return undefined;
    return await this.#options.store.get(endedKey(session), CACHED) ? undefined : session;
  }

  /**
   * Ends a session on all instances.
   * @throws {LimitError} at the caller's storage limit
   */
  async end(session: Session, caller: Caller): Promise<void> {
    const { storage, store, now, telemetry } = this.#options;
    const { expires, revision } = session;
    storage.take(caller, 2 * RECORD_BYTES, expires - now());
    await store.commit({
      set: [
        { key: endedKey(session), value: true, expires },
        { key: streamKey(session), value: SESSION_ENDED, expires },
      ],
      remove: [settingsKey(session)],
    });
    const began = expires - this.#lifetimeOf(session.principal !== "");
    telemetry?.recordSession({ revision, seconds: (now() - began) / 1000, transport: "tcp" });
  }

  /** The current settings. */
  async settings(session: Session): Promise<SessionSettings> {
    return (await this.settingsEntry(session))?.value ?? {};
  }

  settingsEntry(session: Session): Promise<Entry<SessionSettings> | undefined> {
    return this.#options.store.get(settingsKey(session));
  }

  /** The check that the settings have not changed since they were read. */
  settingsCheck(session: Session, entry: Entry<SessionSettings> | undefined): Check {
    return { key: settingsKey(session), version: entry?.version ?? null };
  }

  settingsPut(session: Session, value: SessionSettings): Put {
    return { key: settingsKey(session), value, expires: session.expires };
  }

  /**
   * Changes the settings. Concurrent changes of other requests are kept.
   * @throws {LimitError} at the caller's storage limit
   */
  async change(
    session: Session,
    caller: Caller,
    change: (settings: SessionSettings) => SessionSettings,
  ): Promise<void> {
    const { store, storage, now } = this.#options;
    let isCounted = false;
    await retryLostRaces(async () => {
      const entry = await this.settingsEntry(session);
      const put = this.settingsPut(session, change(entry?.value ?? {}));
      if (!entry && !isCounted) storage.take(caller, RECORD_BYTES, session.expires - now());
      isCounted = true;
      return await store.commit({ check: [this.settingsCheck(session, entry)], set: [put] }) || LOST_RACE;
    });
  }

  /** Milliseconds. */
  #lifetimeOf(hasPrincipal: boolean): number {
    const { lifetime } = this.#options;
    return hasPrincipal ? lifetime : Math.min(lifetime, MAX_ANONYMOUS_SESSION_MS);
  }

  #cache(signed: string, session: Session): void {
    // Drops those not used of late: many sessions of one caller cost others one verification each. Not the oldest one by
    // one: deleting from a map costs 3 microseconds for each new session.
    if (this.#opened.size >= MIN_CACHED_SESSIONS) {
      this.#openedBefore = this.#opened;
      this.#opened = new Map();
    }
    this.#opened.set(signed, session);
  }
}

/** The key of the record of a session that has ended. */
export function endedKey({ id }: Session): Key {
  return ["mcp_session_end", id];
}

/** The key of the active stream of a session, or of {@linkcode SESSION_ENDED}. */
export function streamKey({ id }: Session): Key {
  return watchedKey("stream", id);
}

export const SESSION_ENDED = "ended";

/** The topic that the streams of a session listen to. */
export function settingsTopic({ id }: Session): readonly string[] {
  return ["session", id];
}

function settingsKey(session: Session): Key {
  return watchedKey(...settingsTopic(session));
}

/** Reads the signed text of a session. */
function parseSession(text: string): Session {
  const [id, expires, principal, revision, capabilities, client, ...rest] = text.split(SEPARATOR) as string[];
  const [name, version] = rest.length > 0
    ? [client, rest.join(SEPARATOR)]
    : JSON.parse(new TextDecoder().decode(decodeBase64url(client!)));
  return {
    id: id!,
    expires: parseInt(expires!, 36),
    principal: principal!,
    revision: revision!,
    capabilities: decodeCapabilities(capabilities!),
    clientInfo: { ...(name !== null && { name }), ...(version !== null && { version }) },
  };
}
