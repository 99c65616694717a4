/**
 * What a target file says, and which description a command line means (`FORMAT.md` section 9).
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import type { Program } from "./execute.ts";
import type { FetchHandler } from "./send_module.ts";
import type { StdioCommand } from "./send_stdio.ts";
import type { StartCommand } from "./server_process.ts";
import { isMembers, type Members, type Step } from "./vector_file.ts";
import type { PageWalk } from "./walk.ts";

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

export interface Asked {
  /** A target file, or the address of a server. */
  readonly target?: string;
  readonly stdio?: string;
  readonly module?: string;
  readonly seconds?: number;
  readonly jobs?: number;
}

/** The description, and the folder that its paths start from. @throws {TypeError} that says what to do */
export function readDescription(
  { target, stdio, module }: Asked,
): { description: TargetDescription; folder: string } {
  if (stdio !== undefined) {
    const command = stdio.split(/\s+/).filter((part) => part !== "");
    return {
      description: { name: stdio, stdio: { command }, ...fileOf(target)?.description },
      folder: process.cwd(),
    };
  }
  if (module !== undefined) {
    // What stands in a file of the same name beside it need not be said again.
    const beside = module.replace(/\.[a-z]+$/, ".json");
    const found = fileOf(target ?? (existsSync(beside) ? beside : undefined));
    return {
      description: { name: module, ...found?.description, module: resolve(module) },
      folder: process.cwd(),
    };
  }
  if (target === undefined) {
    throw new TypeError("Cannot run: name a target by --target file|URL, --stdio command or --module file");
  }
  if (/^https?:\/\//.test(target)) {
    const oauth = "/.well-known/oauth-authorization-server";
    return { description: { name: target, base: target, discover: oauth }, folder: process.cwd() };
  }
  return fileOf(target)!;
}

function fileOf(path: string | undefined): { description: TargetDescription; folder: string } | undefined {
  if (path === undefined) return undefined;
  const folder = dirname(resolve(path));
  const own = withFolder(readTarget(path), folder);
  if (own.extends === undefined) return { description: own, folder };
  const parent = fileOf(resolve(folder, own.extends))!.description;
  // How the parent is reached is not how this one is.
  const { module: _, start: __, stdio: ___, base: ____, ...kept } = parent;
  const reach = own.module ?? own.start ?? own.stdio ?? own.base;
  const description = {
    ...(reach === undefined ? parent : kept),
    ...own,
    features: own.features ?? parent.features ?? [],
    endpoints: { ...parent.endpoints, ...own.endpoints },
    vars: { ...parent.vars, ...own.vars },
    procedures: { ...parent.procedures, ...own.procedures },
    deviations: { ...parent.deviations, ...own.deviations },
  };
  return { description, folder };
}

/** Programs are found from the file that names them. */
function withFolder(description: TargetDescription, folder: string): TargetDescription {
  if (description.procedures === undefined) return description;
  const procedures = Object.entries(description.procedures).map(([name, procedure]) => [
    name,
    isMembers(procedure) && "exec" in procedure
      ? { ...procedure, cwd: resolve(folder, (procedure as Program).cwd ?? ".") }
      : procedure,
  ]);
  return { ...description, procedures: Object.fromEntries(procedures) };
}

function readTarget(path: string): TargetDescription {
  let description: unknown;
  try {
    description = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new TypeError(`Cannot read the target "${path}": ${(error as Error).message}`, { cause: error });
  }
  if (!isMembers(description)) throw new TypeError(`Cannot read the target "${path}": it must be an object`);
  return description as TargetDescription;
}
