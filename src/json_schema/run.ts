/**
 * One validation on its way through the closures that a schema was compiled to: what it found, and what it may still
 * cost. A value from a stranger can be deep, long, or made to fit a schema badly, so each run has a depth and a number
 * of steps that end it, with a violation.
 *
 * @module
 */
import type { Resource } from "./document.ts";
import type { Seen } from "./seen.ts";
import { clip, pointerStep, show } from "./words.ts";

/** One thing that is wrong: where (a JSON Pointer, RFC 6901, `""` for the whole value) and what it must be. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/**
 * What a schema or a keyword is compiled to: says whether a value fits, and notes in the run why not. A schema that
 * must know which parts of the value other schemas looked at hands in `seen`.
 */
export type Check<Value = unknown> = (value: Value, run: Run, seen: Seen | undefined) => boolean;

/** More violations than these help nobody. */
const MOST_VIOLATIONS = 20;
/** A step takes ten to a hundred nanoseconds. */
const MOST_STEPS = 1_000_000;
/** Schemas inside each other while validating: far from where the stack of any runtime ends. */
const DEEPEST = 512;
const LONGEST_MESSAGE = 600;
const LONGEST_PATH = 200;
const LONGEST_STEP = 60;

/** Never pushed to. */
const NONE = Object.freeze([]) as readonly Finding[] as Finding[];

export class Run {
  /** What was found, its paths relative to where the run is. */
  found: Finding[] = NONE;
  /** Whether what is wrong is noted and looked for on; else the first failure ends the search. */
  loud = true;
  /** How many schemas the run is inside of. */
  depth = 0;
  /** Schemas, members and items that may still be looked at. */
  steps: number;
  /** The dynamic scope: the resources that the run is in, the outermost first. Kept only where it is asked for. */
  readonly scope: Resource[] | undefined;
  #most = MOST_VIOLATIONS;
  #stopped: string | undefined;

  constructor(steps: number = MOST_STEPS, scope?: Resource[]) {
    this.steps = steps;
    this.scope = scope;
  }

  /** What is wrong with the value, given what its check said. */
  violations(fits: boolean): readonly Violation[] {
    if (fits && this.#stopped === undefined) return NONE;
    // Nothing is let through because nobody said why not.
    const message = this.#stopped ?? "must match the schema";
    const isTold = this.found.some((each) => this.#stopped === undefined || each.message.endsWith(message));
    return isTold ? this.found : [...this.found, { path: "", message }];
  }

  /** Notes that the value here is wrong. */
  refuse(message: string): false {
    if (!this.loud) return false;
    if (this.found.length === 0) this.found = [];
    this.loud = this.found.push({ path: "", message: clip(message, LONGEST_MESSAGE) }) < this.#most;
    return false;
  }

  /** The same, and says what came instead. */
  refuseFor(expected: string, came: unknown, verb = "is"): false {
    return this.loud ? this.refuse(`${expected}, but ${verb} ${show(came)}`) : false;
  }

  /** Ends the run: nothing more is looked at, and the value is refused whatever the checks say. */
  stop(message: string): false {
    if (this.#stopped !== undefined) return false;
    this.refuse(message);
    this.#stopped = message;
    this.loud = false;
    return false;
  }

  /** Enters a schema, to be left by `depth--`. Says whether the run may go on. */
  enter(): boolean {
    if (--this.steps < 0) return this.spend(0);
    if (++this.depth > DEEPEST) {
      return this.stop(`is nested too deeply: at most ${DEEPEST} schemas are applied inside each other`);
    }
    return true;
  }

  /** Takes steps for work that enters no schema. Says whether the run may go on. */
  spend(steps: number): boolean {
    this.steps -= steps;
    return this.steps >= 0 || this.stop("validation limit exceeded: send a smaller or simpler value");
  }

  /** Whether the value fits, without noting why not. */
  probe(check: Check, value: unknown, seen: Seen | undefined): boolean {
    const { loud } = this;
    this.loud = false;
    const mark = seen?.mark();
    const fits = check(value, this, seen);
    if (!fits && mark) seen!.forget(mark);
    this.loud = loud && this.#stopped === undefined;
    return fits;
  }

  /** The first thing that is wrong with a value, in words. */
  explain(check: Check, value: unknown): string {
    const { found } = this;
    const most = this.#most;
    this.found = NONE;
    this.#most = 1;
    check(value, this, undefined);
    const [first] = this.found;
    this.found = found;
    this.#most = most;
    this.loud = this.#stopped === undefined;
    return first ? (first.path && `${first.path}: `) + first.message : "";
  }

  /** Notes that what was found since there were so many is one step further down. */
  below(count: number, name: string | number, before = ""): false {
    for (; count < this.found.length; count++) {
      const violation = this.found[count]!;
      const { path } = violation;
      // The end of a long path says more than its middle.
      const end = path.length > LONGEST_PATH ? `/…${path.slice(-LONGEST_PATH / 2)}` : path;
      violation.path = pointerStep(clip(String(name), LONGEST_STEP)) + end;
      violation.message = before + violation.message;
    }
    return false;
  }
}

/** What is found before it is known where. */
type Finding = { -readonly [Key in keyof Violation]: Violation[Key] };
