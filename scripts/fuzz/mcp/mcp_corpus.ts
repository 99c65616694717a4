/**
 * Values that the clients of the fuzzed tool server have received: sessions, cursors, states, tasks and server requests.
 * Some are valid, some are not any more.
 *
 * @module
 */
/** The name of a bearer token; `undefined` for an anonymous caller. */
export type Token = "reader" | "writer" | undefined;

export interface Session {
  /** The `Mcp-Session-Id`. */
  readonly id: string;
  readonly revision: string;
  readonly token: Token;
  live: boolean;
}

/** A request whose result required input. */
export interface InputRequiredCall {
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

export class Corpus {
  readonly sessions: Session[] = [];
  /** By the member of the list (`tools`). */
  readonly cursors: Map<string, Set<string>> = new Map();
  readonly inputRequired: InputRequiredCall[] = [];
  readonly tasks: { readonly id: string; readonly token: Token }[] = [];
  readonly events: { readonly session: Session; readonly id: string }[] = [];
  /** Server requests without a response yet. */
  readonly questions: Question[] = [];
  /** Ids of all server requests. */
  readonly seen: Set<string> = new Set();

  addCursor(member: string, cursor: string): void {
    const known = this.cursors.get(member) ?? new Set();
    this.cursors.set(member, known.add(cursor));
  }

  /** Finds the live session with this id that the token may use. */
  find(id: string, token: Token): Session | undefined {
    return this.sessions.find((each) =>
      each.id === id && each.live && (each.token === undefined || each.token === token)
    );
  }

  /** Removes all values, after they have expired. */
  clear(): void {
    this.seen.clear();
    for (const list of [this.sessions, this.inputRequired, this.tasks, this.events, this.questions]) {
      list.length = 0;
    }
  }
}
