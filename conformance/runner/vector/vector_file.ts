/**
 * Types of vector files and requirement files (`FORMAT.md` sections 1, 2, 5 and 8).
 *
 * @module
 */

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface RequestDescription {
  readonly method?: string;
  readonly url?: string;
  readonly query?: JsonObject;
  readonly headers?: JsonObject;
  readonly form?: JsonObject;
  readonly json?: unknown;
  readonly text?: string;
  readonly base64?: string;
  readonly repeat?: readonly [string, number];
  readonly zip?: JsonObject;
  readonly multipart?: readonly JsonObject[];
  readonly boundary?: string;
  readonly unclosed?: boolean;
  readonly wire?: string;
}

export interface Step {
  readonly title?: string;
  /** The rows that this step can fail. Empty for a step that only prepares. @default all rows of the vector */
  readonly covers?: readonly string[];
  readonly let?: JsonObject;
  readonly call?: string;
  readonly with?: JsonObject;
  readonly as?: string;
  readonly request?: RequestDescription;
  readonly parallel?: number | readonly RequestDescription[];
  readonly follow?: true;
  readonly raw?: boolean;
  readonly stream?: string;
  readonly read?: string;
  readonly until?: unknown;
  readonly close?: string;
  readonly send?: readonly unknown[];
  readonly headers?: JsonObject;
  readonly end?: true;
  readonly advance?: number | string;
  readonly answer?: JsonObject;
  readonly answers?: readonly JsonObject[];
  readonly echo?: true;
  readonly expect?: JsonObject;
  readonly capture?: Readonly<Record<string, JsonObject>>;
  readonly when?: JsonObject;
}

export interface Vector {
  readonly id: string;
  readonly title: string;
  readonly covers: readonly string[];
  readonly flags?: readonly string[];
  readonly needs?: readonly string[];
  readonly steps: readonly Step[];
  readonly alone?: true;
  readonly slow?: true;
  readonly since?: string;
  readonly supersedes?: string;
  readonly note?: string;
  readonly outcome?: Outcome;
  /** In `self/` only, beside `outcome`: the rest of the verdict of a correct runner. */
  readonly verdict?: StatedVerdict;
}

export interface StatedVerdict {
  readonly class?: FailureClass;
  readonly failed: readonly string[];
  readonly harm: readonly string[];
}

export interface VectorFile {
  readonly format: 2;
  readonly suite: string;
  readonly title: string;
  /** Rows about form. A vector covers those that govern an assertion of its own steps. */
  readonly covers?: readonly string[];
  readonly needs?: readonly string[];
  readonly count: number;
  readonly since?: string;
  /** Parts of steps that vectors share; the loader has put them in place. */
  readonly fragments?: JsonObject;
  readonly before?: readonly Step[];
  readonly vectors: readonly Vector[];
}

/** The outcome of a vector (`FORMAT.md` section 7). */
export type Outcome = "pass" | "fail" | "warn" | "observe" | "skip" | "setup" | "error";

/** The class of a failure: a MUST is not met, the server refused with another error, or advice is not followed. */
export type FailureClass = "broken" | "other-refusal" | "advice";

/** An assertion that a row about form governs. */
export interface About {
  /** A place in the view, its parts joined by dots, with all that is below it: `json.error`. */
  readonly at: string;
  /** Only assertions that expect this value; `*` for those that name none, `$absent` for those that there is none. */
  readonly value?: string | number | null;
}

export interface Requirement {
  readonly id: string;
  readonly level: string;
  readonly text: string;
  /** Whom the row binds. @default the server */
  readonly binds?: readonly ("server" | "client")[];
  /** The assertions that a row about the form of a response governs. */
  readonly about?: readonly About[];
  readonly shows?: string;
  readonly excluded?: string;
}

export interface RequirementFile {
  readonly document: string;
  readonly title: string;
  /** Address of a section, with `{section}` for the part of a row's id between `#` and `/`. */
  readonly url: string;
  /** URLs of sections that the template does not give. */
  readonly sections?: Readonly<Record<string, string>>;
  readonly rows: readonly Requirement[];
}

/** Whether a value is a JSON object, not an array or `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
