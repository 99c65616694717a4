/**
 * What stands in a file of vectors and in a file of requirements, as `FORMAT.md` sections 1, 2, 5 and 8 say it.
 *
 * @module
 */

/** Any object of JSON. */
export type Members = Readonly<Record<string, unknown>>;

export interface RequestDescription {
  readonly method?: string;
  readonly url?: string;
  readonly query?: Members;
  readonly headers?: Members;
  readonly form?: Members;
  readonly json?: unknown;
  readonly text?: string;
  readonly base64?: string;
  readonly repeat?: readonly [string, number];
  readonly zip?: Members;
  readonly multipart?: readonly Members[];
  readonly boundary?: string;
  readonly unclosed?: boolean;
  readonly wire?: string;
}

export interface Step {
  readonly title?: string;
  readonly let?: Members;
  readonly call?: string;
  readonly with?: Members;
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
  readonly headers?: Members;
  readonly end?: true;
  readonly advance?: number | string;
  readonly answer?: Members;
  readonly echo?: true;
  readonly expect?: Members;
  readonly capture?: Readonly<Record<string, Members>>;
  readonly when?: Members;
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
  readonly outcome?: OutcomeWord;
}

export interface VectorFile {
  readonly format: 1;
  readonly suite: string;
  readonly title: string;
  readonly needs?: readonly string[];
  readonly count: number;
  readonly since?: string;
  readonly before?: readonly Step[];
  readonly vectors: readonly Vector[];
}

/** How a vector came out, `FORMAT.md` section 7. */
export type OutcomeWord = "pass" | "fail" | "warn" | "observe" | "skip" | "setup" | "error";

export interface Requirement {
  readonly id: string;
  readonly level: string;
  readonly text: string;
  readonly shows?: string;
  readonly excluded?: string;
}

export interface RequirementFile {
  readonly document: string;
  readonly title: string;
  readonly url: string;
  readonly rows: readonly Requirement[];
}

/** Says whether a value is an object of JSON: no list, no null. */
export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
