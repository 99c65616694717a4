/**
 * A file of the user's that says what tools there are: what of its exports is offered, and what cannot be.
 *
 * @module
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Definition } from "../../../mcp/definition/definition.ts";
import type { Store } from "../../../store/store.ts";
import { UsageError, type Values } from "../output.ts";
import { createImporter } from "../reimport.ts";

export const MODULE_HELP =
  `MODULE is a TypeScript or JavaScript file. All that it exports is offered: what tool(), resource(),
resourceTemplate(), prompt() and group() of "trivet" make, and lists of it. Its default export may also be a
function ({ store }) => definitions, which may be async. Records that it keeps in the store must have keys that
begin with a word of your own.`;
export const WATCH_HELP =
  `  --watch        load MODULE again when it, or a file that it imports, changes; clients are told. What
                 cannot be loaded is reported, and what was there before stays`;

/** What a module is given when its default export is a function. */
export interface ToolModuleContext {
  readonly store: Store;
}

export interface ToolModule {
  /** Its path, as the user gave it. */
  readonly name: string;
  /** Absolute paths of the files that it consists of. */
  readonly files: ReadonlySet<string>;
  /** Whether it is to be loaded again when they change. */
  readonly watched: boolean;
  /** What it offers now. @throws {Error} saying what is wrong with it */
  load(context: ToolModuleContext): Promise<Definition[]>;
}

/** The options of a command that takes a module. */
export const MODULE_OPTION = { watch: { type: "boolean" } } as const;

/**
 * The module that a command was given.
 * @throws {UsageError} when there is no such file, or nothing to watch
 */
export function readModule(path: string | undefined, values: Values): ToolModule | undefined {
  const watched = values.watch === true;
  if (path === undefined) {
    if (watched) throw new UsageError("--watch needs a MODULE, such as ./tools.ts");
    return undefined;
  }
  const full = resolve(path);
  if (!statSync(full, { throwIfNoEntry: false })?.isFile()) {
    throw new UsageError(`Cannot load "${path}": there is no such file`);
  }
  const importer = createImporter(full, watched);
  return {
    name: path,
    files: importer.files,
    watched,
    async load(context) {
      try {
        return await readExports(await importer.load(), context);
      } catch (cause) {
        const reason = cause instanceof ExportError ? cause.message : importer.tell(cause);
        throw new Error(`Cannot load "${path}": ${reason}`, { cause });
      }
    },
  };
}

/** A module exports what cannot be offered. */
class ExportError extends TypeError {
  override readonly name = "ExportError";
}

const MAKERS =
  "Export what tool(), resource(), resourceTemplate(), prompt() and group() make, or lists of it; " +
  "the default export may be a function ({ store }) => definitions";

/** The texts and the handler of each kind. Schemas and the form of names are looked at later. */
const MEMBERS: Readonly<Record<Definition["kind"], readonly [texts: readonly string[], handler: string]>> = {
  tool: [["name", "description"], "run"],
  resource: [["name", "uri"], "read"],
  resource_template: [["name", "uriTemplate"], "read"],
  prompt: [["name"], "get"],
};

/**
 * The definitions among the exports of a module, each once, those of the default export first.
 * @throws {ExportError} naming every export that is none
 */
async function readExports(
  exports: Readonly<Record<string, unknown>>,
  context: ToolModuleContext,
): Promise<Definition[]> {
  const found = new Set<Definition>();
  const strange: string[] = [];
  const collect = (name: string, value: unknown): void => {
    if (Array.isArray(value)) return value.forEach((each, i) => collect(`${name}[${i}]`, each));
    const problem = problemOf(value);
    if (problem === undefined) found.add(value as Definition);
    else strange.push(`"${name}", which is ${problem}`);
  };
  const entries = entriesOf(exports);
  for (const [name, value] of entries) {
    if (name !== "default") collect(name, value);
    else if (typeof value === "function") collect("default()", await value(context));
    else collect("default", await value);
  }
  if (strange.length > 0) throw new ExportError(`it exports ${strange.join(", and ")}. ${MAKERS}`);
  // A file that is just being written is empty for a moment.
  if (entries.length === 0) throw new ExportError(`it exports nothing. ${MAKERS}`);
  return [...found];
}

/** Exports by name, the default first; those of a CommonJS module come also as members of its default: once is enough. */
function entriesOf(exports: Readonly<Record<string, unknown>>): [name: string, value: unknown][] {
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

/** What keeps a value from being a definition. */
function problemOf(value: unknown): string | undefined {
  if (value === null || typeof value !== "object") {
    return value == null ? String(value) : `a ${typeof value}`;
  }
  const definition = value as Readonly<Record<string, unknown>>;
  const kind = String(definition.kind);
  if (!Object.hasOwn(MEMBERS, kind)) return "an object that none of them made";
  const [texts, handler] = MEMBERS[kind as Definition["kind"]];
  const missing = texts.find((text) => typeof definition[text] !== "string") ??
    (typeof definition[handler] === "function" ? undefined : handler);
  return missing === undefined ? undefined : `a ${kind} without "${missing}"`;
}
