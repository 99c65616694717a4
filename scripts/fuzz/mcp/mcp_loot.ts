/**
 * What a client of the fuzzed tool server has seen so far: sessions, cursors, states, tasks, questions. Some of it is
 * good at this moment, some was.
 *
 * @module
 */
/** What a bearer token stands for, by its name; `undefined` is an anonymous caller. */
export type Token = "reader" | "writer" | undefined;

export interface Session {
  /** As the client sends it. */
  readonly id: string;
  readonly revision: string;
  readonly token: Token;
  live: boolean;
}

/** A call that asked for input. */
export interface Asked {
  readonly method: string;
  /** Without `_meta`. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly state: string;
  readonly requests: Readonly<Record<string, { readonly method: string }>>;
  readonly token: Token;
}

/** A request of the server to the client of a session. */
export interface Question {
  readonly session: Session;
  readonly id: string;
  readonly method: string;
}

export class Loot {
  readonly sessions: Session[] = [];
  /** By the member of the list: `tools`. They are made of places, so they are few. */
  readonly cursors: Map<string, Set<string>> = new Map();
  readonly asked: Asked[] = [];
  readonly tasks: { readonly id: string; readonly token: Token }[] = [];
  readonly events: { readonly session: Session; readonly id: string }[] = [];
  /** Those without an answer yet. */
  readonly questions: Question[] = [];
  /** Ids of all questions. */
  readonly heard: Set<string> = new Set();

  addCursor(member: string, cursor: string): void {
    const known = this.cursors.get(member) ?? new Set();
    this.cursors.set(member, known.add(cursor));
  }

  /** The live session that an id names, for whoever has this token. */
  find(id: string, token: Token): Session | undefined {
    return this.sessions.find((each) =>
      each.id === id && each.live && (each.token === undefined || each.token === token)
    );
  }

  /** Time passed: nothing of it is good any more. */
  forget(): void {
    this.heard.clear();
    for (const list of [this.sessions, this.asked, this.tasks, this.events, this.questions]) list.length = 0;
  }
}
