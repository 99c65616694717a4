/**
 * The state of one validation: its findings, and the remaining steps. A value from a caller can be deep, long, or made to
 * be expensive for the schema, so the depth and the number of steps are limited; beyond a limit the value is invalid.
 *
 * @module
 */
import type { Resource } from "./document.ts";
import type { Evaluated } from "./evaluated.ts";
import { describeValue, pointerStep, truncate } from "./message_text.ts";

/** A violation: the JSON Pointer of the invalid part (RFC 6901; `""` for the whole value), and what it must be. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/**
 * The compiled form of a schema or keyword. Returns whether a value is valid, and reports violations to the run. A schema
 * that needs to know what its subschemas evaluate passes `evaluated`.
 */
export type Check<Value = unknown> = (value: Value, run: Run, evaluated: Evaluated | undefined) => boolean;

/** Violations in one answer. */
const MAX_VIOLATIONS = 20;
/** A step takes 10 to 100 ns. */
const MAX_STEPS = 1_000_000;
/** Nested schemas during validation: far below the stack limit of any runtime. */
const MAX_DEPTH = 512;
const MAX_MESSAGE_CHARACTERS = 600;
const MAX_PATH_CHARACTERS = 200;
const MAX_POINTER_STEP_CHARACTERS = 60;

/** Must not be changed. */
const NO_FINDINGS = Object.freeze([]) as readonly Finding[] as Finding[];

export class Run {
  /** The violations; their paths are relative to the current value. */
  found: Finding[] = NO_FINDINGS;
  /** Whether violations are collected; otherwise the first failure ends the check. */
  isReporting = true;
  /** The number of schemas around the current value. */
  depth = 0;
  /** The remaining steps. */
  steps: number;
  /** The dynamic scope: the resources around the current value, outermost first. Only for schemas with `$dynamicRef`. */
  readonly scope: Resource[] | undefined;
  #maxFindings = MAX_VIOLATIONS;
  #abortMessage: string | undefined;

  constructor(steps: number = MAX_STEPS, scope?: Resource[]) {
    this.steps = steps;
    this.scope = scope;
  }

  /** The violations, given the result of the check. */
  violations(fits: boolean): readonly Violation[] {
    if (fits && this.#abortMessage === undefined) return NO_FINDINGS;
    // An invalid value always has a violation.
    const message = this.#abortMessage ?? "must match the schema";
    const isReported = this.found.some((each) =>
      this.#abortMessage === undefined || each.message.endsWith(message)
    );
    return isReported ? this.found : [...this.found, { path: "", message }];
  }

  /** Reports that the current value is invalid. */
  report(message: string): false {
    if (!this.isReporting) return false;
    if (this.found.length === 0) this.found = [];
    this.isReporting =
      this.found.push({ path: "", message: truncate(message, MAX_MESSAGE_CHARACTERS) }) < this.#maxFindings;
    return false;
  }

  /** The same, with the value that came instead. */
  reportMismatch(expected: string, came: unknown, verb = "is"): false {
    return this.isReporting ? this.report(`${expected}, but ${verb} ${describeValue(came)}`) : false;
  }

  /** Ends the run: the value is invalid whatever the checks return. */
  abort(message: string): false {
    if (this.#abortMessage !== undefined) return false;
    this.report(message);
    this.#abortMessage = message;
    this.isReporting = false;
    return false;
  }

  /** Enters a schema; the caller leaves it with `depth--`. Returns whether the run may go on. */
  enter(): boolean {
    if (--this.steps < 0) return this.takeSteps(0);
    if (++this.depth > MAX_DEPTH) {
      return this.abort(`is nested too deeply: at most ${MAX_DEPTH} schemas are applied inside each other`);
    }
    return true;
  }

  /** Takes steps for work without a schema. Returns whether the run may go on. */
  takeSteps(steps: number): boolean {
    this.steps -= steps;
    return this.steps >= 0 || this.abort("validation limit exceeded: send a smaller or simpler value");
  }

  /** Whether the value is valid, without reports. */
  matches(check: Check, value: unknown, evaluated: Evaluated | undefined): boolean {
    const { isReporting } = this;
    this.isReporting = false;
    const mark = evaluated?.snapshot();
    const fits = check(value, this, evaluated);
    if (!fits && mark) evaluated!.restore(mark);
    this.isReporting = isReporting && this.#abortMessage === undefined;
    return fits;
  }

  /** The text of the first violation of a value. */
  findFirst(check: Check, value: unknown): string {
    const { found } = this;
    const maxFindings = this.#maxFindings;
    this.found = NO_FINDINGS;
    this.#maxFindings = 1;
    check(value, this, undefined);
    const [first] = this.found;
    this.found = found;
    this.#maxFindings = maxFindings;
    this.isReporting = this.#abortMessage === undefined;
    return first ? (first.path && `${first.path}: `) + first.message : "";
  }

  /** Adds a step to the paths of the findings after the first `count`. */
  prefixPaths(count: number, name: string | number, before = ""): false {
    for (; count < this.found.length; count++) {
      const violation = this.found[count]!;
      const { path } = violation;
      // Of a long path, the beginning and the end are kept.
      const end = path.length > MAX_PATH_CHARACTERS ? `/…${path.slice(-MAX_PATH_CHARACTERS / 2)}` : path;
      violation.path = pointerStep(truncate(String(name), MAX_POINTER_STEP_CHARACTERS)) + end;
      violation.message = before + violation.message;
    }
    return false;
  }
}

/** A violation whose path is not complete yet. */
type Finding = { -readonly [Key in keyof Violation]: Violation[Key] };
