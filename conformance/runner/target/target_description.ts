/**
 * What is known of a server under test before it is opened (`FORMAT.md` section 9).
 *
 * @module
 */
import type { Program } from "./execute.ts";
import type { FetchHandler } from "../exchange/send_module.ts";
import type { StdioCommand } from "../exchange/send_stdio.ts";
import type { StartCommand } from "./server_process.ts";
import type { Members, Step } from "../vector/vector_file.ts";

/** A procedure by pages, its templates filled. */
export interface PageWalk {
  /** The page that is opened. */
  readonly page: string;
  readonly query?: Members;
  /** Names of a form's fields to what is filled in. */
  readonly fields?: Members;
  /** Names, values or texts of buttons. */
  readonly press?: string | readonly string[];
}

/** A procedure of a target: steps, pages, cookies, a program, a question to a person, or a function of a module. */
export type Procedure =
  | readonly Step[]
  | PageWalk
  | { readonly cookies: unknown }
  | Program
  | { readonly ask: string; readonly capture: string }
  | ((variables: Members) => Promise<Members | void> | Members | void);

/** A target file, or what a module's `start()` adds to it. */
export interface TargetDescription {
  /** Another target file, whose members hold where this one has none. */
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
  readonly vars?: Members;
  /** Variables that nearly every target has, written outside `vars`. */
  readonly clients?: Members;
  readonly users?: Members;
  readonly scope?: string | null;
  readonly procedures?: Readonly<Record<string, Procedure>>;
  readonly send_headers?: Readonly<Record<string, string>>;
  readonly limits?: { readonly seconds?: number; readonly bytes?: number; readonly jobs?: number };
  readonly deviations?: Readonly<Record<string, string>>;
}

/** What a module gives, by `start()` or as its own exports. */
export interface ModuleTarget extends TargetDescription {
  readonly fetch?: FetchHandler;
  readonly close?: () => Promise<void> | void;
}
