/**
 * Sessions of the revisions with a handshake (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management).
 * A session id holds what the handshake told, signed: any instance can read it, nobody can make one, and nothing is
 * stored for it until it is ended or sets something.
 *
 * @module
 */
import { randomId, secretDigest } from "../../crypto/secret.ts";
import { readSignedText, signText } from "../../crypto/signed_text.ts";
import type { Principal } from "../../http/principal.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { CACHED, type Check, type Entry, type Key, type Put, type Store } from "../../store/store.ts";
import type { LogLevel } from "../context.ts";
import { principalKey } from "./principal_key.ts";
import { RECORD_BYTES, type StorageAllowance, type Storing } from "./storage_limits.ts";
import { wakingKey } from "./wakeups.ts";

export interface Session {
  /** Names the session's records in the store. */
  readonly id: string;
  readonly revision: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly clientInfo: { readonly name?: string; readonly version?: string };
  /** Who made it: a digest of {@linkcode principalKey}, empty for an anonymous caller. */
  readonly principal: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** What a session sets by requests of its own. */
export interface SessionSettings {
  readonly level?: LogLevel;
  /** How many subscriptions there are (`session_subscriptions.ts`), and their bytes. */
  readonly subscriptions?: { readonly count: number; readonly bytes: number };
  /** What `initialize` told, where the id is older than that (2024-11-05). */
  readonly handshake?: Pick<Session, "revision" | "capabilities" | "clientInfo">;
}

export interface SessionOptions {
  readonly store: Store;
  readonly storage: StorageAllowance;
  readonly secret: () => Promise<Uint8Array>;
  readonly now: () => number;
  /** Milliseconds. */
  readonly lifetime: number;
}

const PURPOSE = "mcp_session";
/** Characters of an id. */
const LONGEST = 8000;
/** Opened ids that are remembered, to spare opening them again. */
const MAX_REMEMBERED = 1000;
/** Sessions of callers without a token last so long at the most: their end is stored for the rest of it. */
export const MAX_ANONYMOUS_SESSION_MS: number = 24 * 3_600_000;

/** The id travels in the open: it tells nobody who the caller is. */
function ownerOf(principal: Principal | undefined): string {
  return principal ? secretDigest(principalKey(principal)) : "";
}

export class Sessions {
  readonly #options: SessionOptions;
  #opened = new Map<string, Session>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** A new session, and its id for the client. */
  async start(
    handshake: Pick<Session, "revision" | "capabilities" | "clientInfo">,
    principal: Principal | undefined,
  ): Promise<string> {
    const { now, lifetime } = this.#options;
    const session: Session = {
      ...this.local(handshake, principal),
      expires: now() + (principal ? lifetime : Math.min(lifetime, MAX_ANONYMOUS_SESSION_MS)),
    };
    const signed = signText(await this.#options.secret(), PURPOSE, JSON.stringify(session));
    this.#remember(signed, session);
    return signed;
  }

  /** A session that only its connection knows. */
  local(
    { revision, capabilities, clientInfo }: Pick<Session, "revision" | "capabilities" | "clientInfo">,
    principal: Principal | undefined,
  ): Session {
    const { now, lifetime } = this.#options;
    return {
      id: randomId(""),
      revision,
      capabilities: knownCapabilities(capabilities),
      clientInfo,
      principal: ownerOf(principal),
      expires: now() + lifetime,
    };
  }

  /**
   * The session of an id; `undefined` when it was not made here, has ended, or is somebody else's. One that was begun
   * without a token may go on with one (the client was asked for it meanwhile).
   */
  async open(signed: string, principal: Principal | undefined): Promise<Session | undefined> {
    let session = this.#opened.get(signed);
    if (!session) {
      const text = signed.length > LONGEST
        ? undefined
        : readSignedText(await this.#options.secret(), PURPOSE, signed);
      if (text === undefined) return undefined;
      session = JSON.parse(text) as Session;
      this.#remember(signed, session);
    }
    if (session.expires <= this.#options.now()) return undefined;
    if (session.principal !== "" && session.principal !== ownerOf(principal)) return undefined;
    return await this.#options.store.get(endedKey(session), CACHED) ? undefined : session;
  }

  /**
   * Ends it everywhere: its id is refused from now on.
   * @throws {LimitError} when the caller may not have more stored
   */
  async end(session: Session, storing: Storing): Promise<void> {
    const { storage, store, now } = this.#options;
    const { expires } = session;
    storage.take(storing, 2 * RECORD_BYTES, expires - now());
    await store.commit({
      set: [
        { key: endedKey(session), value: true, expires },
        { key: streamKey(session), value: SESSION_ENDED, expires },
      ],
      remove: [settingsKey(session)],
    });
    for (const [signed, { id }] of this.#opened) if (id === session.id) this.#opened.delete(signed);
  }

  /** What the session set so far. */
  async settings(session: Session): Promise<SessionSettings> {
    return (await this.settingsEntry(session))?.value ?? {};
  }

  settingsEntry(session: Session): Promise<Entry<SessionSettings> | undefined> {
    return this.#options.store.get(settingsKey(session));
  }

  /** The condition that the settings are as they were read. */
  checkOf(session: Session, entry: Entry<SessionSettings> | undefined): Check {
    return { key: settingsKey(session), version: entry?.version ?? null };
  }

  putOf(session: Session, value: SessionSettings): Put {
    return { key: settingsKey(session), value, expires: session.expires };
  }

  /**
   * Sets something, whatever other requests of the session set at the same time.
   * @throws {LimitError} when the caller may not have more stored
   */
  async change(
    session: Session,
    storing: Storing,
    change: (settings: SessionSettings) => SessionSettings,
  ): Promise<void> {
    const { store, storage, now } = this.#options;
    let isPaid = false;
    await retryLostRaces(async () => {
      const entry = await this.settingsEntry(session);
      const put = this.putOf(session, change(entry?.value ?? {}));
      if (!entry && !isPaid) storage.take(storing, RECORD_BYTES, session.expires - now());
      isPaid = true;
      return await store.commit({ check: [this.checkOf(session, entry)], set: [put] }) || LOST_RACE;
    });
  }

  #remember(signed: string, session: Session): void {
    // The oldest goes: a stranger who opens many sessions costs others one look each.
    if (this.#opened.size >= MAX_REMEMBERED) this.#opened.delete(this.#opened.keys().next().value!);
    this.#opened.set(signed, session);
  }
}

/** Stands for a session that has ended. */
export function endedKey({ id }: Session): Key {
  return ["mcp_session_end", id];
}

/** Which stream of the session speaks, or {@linkcode SESSION_ENDED}. */
export function streamKey({ id }: Session): Key {
  return wakingKey("stream", id);
}

export const SESSION_ENDED = "ended";

/** What its streams listen to. */
export function settingsTopic({ id }: Session): readonly string[] {
  return ["session", id];
}

function settingsKey(session: Session): Key {
  return wakingKey(...settingsTopic(session));
}

/** Only what is looked at later: the id travels in a header field with every request. */
function knownCapabilities(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const [name, parts] of Object.entries(KNOWN)) {
    const value = given[name];
    if (typeof value !== "object" || value === null) continue;
    const having = parts.filter((part) => typeof (value as Record<string, unknown>)[part] === "object");
    known[name] = Object.fromEntries(having.map((part) => [part, {}]));
  }
  return known;
}

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  elicitation: ["form", "url"],
  sampling: ["tools", "context"],
  roots: [],
};
