/**
 * The description of a server under test before it is opened (`FORMAT.md` section 9).
 *
 * @module
 */
import type { Program } from "./execute.ts";
import type { FetchHandler } from "../exchange/send_module.ts";
import type { StdioCommand } from "../exchange/send_stdio.ts";
import type { StartCommand } from "./server_process.ts";
import type { JsonObject, Step } from "../vector/vector_file.ts";

/** A procedure that walks pages. Its templates are filled. */
export interface PageWalk {
  /** The page to open. */
  readonly page: string;
  readonly query?: JsonObject;
  /** Values by name of form field. */
  readonly fields?: JsonObject;
  /** Names, values or labels of buttons. */
  readonly press?: string | readonly string[];
}

/** A procedure of a target: steps, pages, cookies, a program, a question to a person, or a function of a module. */
export type Procedure =
  | readonly Step[]
  | PageWalk
  | { readonly cookies: unknown }
  | Program
  | { readonly ask: string; readonly capture: string }
  | ((variables: JsonObject) => Promise<JsonObject | void> | JsonObject | void);

/** A target file, or what a module's `start()` adds to it. */
export interface TargetDescription {
  /** Another target file that provides the members missing here. */
  readonly extends?: string;
  readonly name?: string;
  readonly version?: string;
  readonly note?: string;
  readonly base?: string;
  readonly origins?: readonly string[];
  readonly stdio?: StdioCommand;
  readonly start?: StartCommand;
  readonly module?: string;
  readonly discover?: string;
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly features?: readonly string[];
  readonly vars?: JsonObject;
  /** Variables that nearly every target has, written outside `vars`. */
  readonly clients?: JsonObject;
  readonly users?: JsonObject;
  readonly scope?: string | null;
  readonly procedures?: Readonly<Record<string, Procedure>>;
  readonly send_headers?: Readonly<Record<string, string>>;
  readonly limits?: { readonly seconds?: number; readonly bytes?: number; readonly jobs?: number };
  readonly deviations?: Readonly<Record<string, string>>;
}

/** What a module returns from `start()`, or exports. */
export interface ModuleTarget extends TargetDescription {
  readonly fetch?: FetchHandler;
  readonly close?: () => Promise<void> | void;
}
