/**
 * Sends commits to PostgreSQL: at once while few are on their way, otherwise many in one round trip and one transaction,
 * each with its own checks and its own answer. So one caller waits for nothing, and many callers share the costs of a
 * transaction.
 *
 * Commits on their way have no key in common: those that race go one after the other, and the first one wins. So a record
 * that is locked keeps up its own commits only.
 *
 * @module
 */
import { type Commit, StoreUnavailableError } from "../../store.ts";
import { toArray, toElements } from "./rows.ts";

/** Executes a statement of `rows.ts`, by its name. */
export interface CommitStatements {
  /** One commit; `parameters` are array literals without the time. */
  one(parameters: readonly string[]): Promise<boolean>;
  /** Several commits; resolves to a text with `1` for each that was done and `0` for each whose check failed. */
  many(parameters: readonly (string | number)[]): Promise<string>;
}

interface Waiting {
  /** The elements of the array literals, in the order of the parameters. */
  readonly elements: readonly (readonly string[])[];
  /** As literals. */
  readonly keys: ReadonlySet<string>;
  readonly characters: number;
  readonly resolve: (done: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Commits beyond these wait for one of them, and then go together. */
const MAX_ON_THEIR_WAY = 2;
/** The function in the database locks each key up to this number, and more keys by a lock on everything. */
const MAX_KEYS = 100;
/** The code of a statement that waited for a lock too long. */
const LOCK_TIMEOUT = "55P03";
/** Larger commits go alone. */
const MAX_CHARACTERS = 256 * 1024;

export class PostgresCommits {
  readonly #statements: CommitStatements;
  #waiting: Waiting[] = [];
  #onTheirWay = 0;
  /** The keys of the commits on their way: another commit of them would wait for a lock, and with it all others. */
  #busy = new Set<string>();

  constructor(statements: CommitStatements) {
    this.#statements = statements;
  }

  /** Executes a commit. `abandon` gives it up if it was not sent yet. */
  run(commit: Commit): { readonly done: Promise<boolean>; abandon(): void } {
    const elements = toElements(commit);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const [checks, , removes, puts] = elements;
    let characters = 0;
    for (const list of elements) for (const each of list) characters += each.length;
    const waiting: Waiting = {
      elements,
      keys: new Set([...checks!, ...removes!, ...puts!]),
      characters,
      resolve,
      reject,
    };
    this.#waiting.push(waiting);
    this.#send();
    return {
      done: promise,
      abandon: () => this.#waiting = this.#waiting.filter((each) => each !== waiting),
    };
  }

  #send(): void {
    while (this.#onTheirWay < MAX_ON_THEIR_WAY) {
      const group = this.#takeGroup();
      if (group.length === 0) return;
      this.#onTheirWay++;
      for (const { keys } of group) for (const key of keys) this.#busy.add(key);
      this.#execute(group).finally(() => {
        this.#onTheirWay--;
        for (const { keys } of group) for (const key of keys) this.#busy.delete(key);
        this.#send();
      });
    }
  }

  /** The first waiting commits that have no key in common with each other and with those on their way; the others keep their order. */
  #takeGroup(): Waiting[] {
    const group: Waiting[] = [];
    const rest: Waiting[] = [];
    const passed = new Set(this.#busy);
    let size = 0;
    let total = 0;
    for (const each of this.#waiting) {
      const { keys, characters } = each;
      const fits = group.length === 0 || size + keys.size <= MAX_KEYS && total + characters <= MAX_CHARACTERS;
      if (fits && keys.isDisjointFrom(passed)) {
        group.push(each);
        size += keys.size;
        total += characters;
      } else rest.push(each);
      // Also of those that stay: a later commit of the same key must not overtake them.
      for (const key of keys) passed.add(key);
    }
    this.#waiting = rest;
    return group;
  }

  /** Never rejects. */
  async #execute(group: readonly Waiting[]): Promise<void> {
    if (group.length === 1) return await this.#executeOne(group[0]!);
    try {
      const answers = await this.#statements.many(toGroup(group.map(({ elements }) => elements)));
      for (const [i, { resolve }] of group.entries()) resolve(answers[i] === "1");
    } catch (error) {
      if (error instanceof StoreUnavailableError && codeOf(error.cause) !== LOCK_TIMEOUT) {
        for (const { reject } of group) reject(error);
        return;
      }
      // One of them is invalid or waits for a lock, and all were rolled back: each gets its own answer.
      await Promise.all(group.map((each) => this.#executeOne(each)));
    }
  }

  async #executeOne({ elements, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await this.#statements.one(elements.map((list) => toArray(list, (each) => each))));
    } catch (error) {
      reject(error);
    }
  }
}

/** The error code of PostgreSQL; empty for other errors. */
export function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? "");
}

/** The parameters of `many`: each list with the elements of all commits, and the number of the commit of each element. */
function toGroup(commits: readonly (readonly (readonly string[])[])[]): (string | number)[] {
  const merged = (list: number): string => toArray(commits.flatMap((each) => each[list]!), (each) => each);
  const numbers = (list: number): string =>
    toArray(commits.flatMap((each, i) => each[list]!.map(() => i + 1)), String);
  return [
    commits.length,
    merged(0),
    merged(1),
    numbers(0),
    merged(2),
    numbers(2),
    merged(3),
    merged(4),
    merged(5),
    merged(6),
    numbers(3),
  ];
}
