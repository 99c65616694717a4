/**
 * A user's module of tools, resources and prompts: which of its exports are served, and what is wrong with the others.
 *
 * @module
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Definition } from "../../../mcp/definition/definition.ts";
import type { Store } from "../../../store/store.ts";
import { UsageError } from "../output.ts";
import { createImporter } from "../reimport.ts";
import type { WatchedFiles } from "./watch_files.ts";

export const MODULE_HELP =
  `MODULE is a TypeScript or JavaScript file. The server offers all that it exports: what tool(),
resource(), resourceTemplate(), prompt() and group() of "trivet" return, and lists of it. The default
export can also be a function ({ store }) => definitions, which can be async. If it writes to the store,
its keys must begin with a word of your own.`;

/** The options of a command that takes a module. */
export const MODULE_OPTIONS = {
  watch: {
    summary: `reload MODULE when it, or a file that it imports, changes, and notify clients; when it cannot be
      loaded, the error is printed and the previous definitions stay in use`,
  },
} as const;

/** What a module is given when its default export is a function. */
export interface ToolModuleContext {
  readonly store: Store;
}

export interface ToolModule {
  /** Its path, as the user gave it. */
  readonly name: string;
  /** Absolute paths of the files that it consists of. */
  readonly files: WatchedFiles;
  /** Whether it is loaded again when they change. */
  readonly isWatched: boolean;
  /** Its definitions as it is now. @throws {Error} naming what is wrong with it */
  load(context: ToolModuleContext): Promise<Definition[]>;
}

/**
 * The module that a command was given.
 * @throws {UsageError} when there is no such file, or no module to watch
 */
export function readModule(
  path: string | undefined,
  { watch: isWatched }: { readonly watch: boolean },
): ToolModule | undefined {
  if (path === undefined) {
    if (isWatched) throw new UsageError("--watch needs a MODULE, such as ./tools.ts");
    return undefined;
  }
  const full = resolve(path);
  if (!statSync(full, { throwIfNoEntry: false })?.isFile()) {
    throw new UsageError(`Cannot load "${path}": file not found`);
  }
  const importer = createImporter(full, isWatched);
  return {
    name: path,
    files: importer.files,
    isWatched,
    async load(context) {
      try {
        return await readExports(await importer.load(), context);
      } catch (cause) {
        const reason = cause instanceof ExportError ? cause.message : importer.describe(cause);
        throw new Error(`Cannot load "${path}": ${reason}`, { cause });
      }
    },
  };
}

/** A module exports what cannot be served. */
class ExportError extends TypeError {
  override readonly name = "ExportError";
}

const MAKERS =
  "Export what tool(), resource(), resourceTemplate(), prompt() and group() return, or lists of it; " +
  "the default export can be a function ({ store }) => definitions";

/** The members of each kind that are texts, and its handler. Schemas and the syntax of names are checked later. */
const MEMBERS: Readonly<Record<Definition["kind"], readonly [texts: readonly string[], handler: string]>> = {
  tool: [["name", "description"], "run"],
  resource: [["name", "uri"], "read"],
  resource_template: [["name", "uriTemplate"], "read"],
  prompt: [["name"], "get"],
};

/**
 * The definitions among the exports of a module, each once, those of the default export first.
 * @throws {ExportError} naming every export that is not a definition
 */
async function readExports(
  exports: Readonly<Record<string, unknown>>,
  context: ToolModuleContext,
): Promise<Definition[]> {
  const found = new Set<Definition>();
  const invalid: string[] = [];
  const collect = (name: string, value: unknown): void => {
    if (Array.isArray(value)) return value.forEach((each, i) => collect(`${name}[${i}]`, each));
    const problem = findProblem(value);
    if (problem === undefined) found.add(value as Definition);
    else invalid.push(`"${name}", which is ${problem}`);
  };
  const entries = listExports(exports);
  for (const [name, value] of entries) {
    if (name !== "default") collect(name, value);
    else if (typeof value === "function") collect("default()", await value(context));
    else collect("default", await value);
  }
  if (invalid.length > 0) throw new ExportError(`it exports ${invalid.join(", and ")}. ${MAKERS}`);
  // A file that is just being written is empty for a moment.
  if (entries.length === 0) throw new ExportError(`it exports nothing. ${MAKERS}`);
  return [...found];
}

/** Exports by name, the default first. Those of a CommonJS module are members of its default too, and are listed once. */
function listExports(exports: Readonly<Record<string, unknown>>): [name: string, value: unknown][] {
  const { default: main, "module.exports": _, __esModule: __, ...named } = exports;
  const others = Object.entries(named);
  if (!("default" in exports)) return others;
  // Bun names the members of lists and functions as well.
  if (main === null || typeof main !== "object" && typeof main !== "function") {
    return [["default", main], ...others];
  }
  const members = main as Readonly<Record<string, unknown>>;
  const own = others.filter(([name, value]) => !Object.hasOwn(members, name) || members[name] !== value);
  const isBag = Object.getPrototypeOf(main) === Object.prototype && !Object.hasOwn(main, "kind") &&
    Object.keys(main).length === others.length - own.length;
  return isBag ? others : [["default", main], ...own];
}

/** Why a value is not a definition; `undefined` when it is one. */
function findProblem(value: unknown): string | undefined {
  if (value === null || typeof value !== "object") {
    return value == null ? String(value) : `a ${typeof value}`;
  }
  const definition = value as Readonly<Record<string, unknown>>;
  const kind = String(definition.kind);
  if (!Object.hasOwn(MEMBERS, kind)) return "an object that none of these functions returned";
  const [texts, handler] = MEMBERS[kind as Definition["kind"]];
  const missing = texts.find((text) => typeof definition[text] !== "string") ??
    (typeof definition[handler] === "function" ? undefined : handler);
  return missing === undefined ? undefined : `a ${kind} without "${missing}"`;
}
