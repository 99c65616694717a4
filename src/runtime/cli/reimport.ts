/**
 * Imports a user's module, and imports it again after it or a file that it imports has changed. Runtimes cache modules: in
 * Node and Deno a URL with another query is another module; in Bun, and for CommonJS, a module is loaded again when it is
 * deleted from `require.cache`. Modules of packages are never imported twice.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
// By its default: Bun has no `registerHooks`, and refuses to import the name.
import nodeModule, { createRequire } from "node:module";
import { sep } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect, stripVTControlCharacters } from "node:util";
import { resolveUserModules } from "./module_resolution.ts";
import { WatchedFiles } from "./serve/watch_files.ts";

export interface Importer {
  /** The module as it is now. Throws what the runtime or the module throws. */
  load(): Promise<Readonly<Record<string, unknown>>>;
  /** What was thrown, for people: the message, and where in the module's files it was thrown. */
  describe(thrown: unknown): string;
  /** Absolute paths of the module and of what it imports or imported, as far as the runtime reports them. */
  readonly files: WatchedFiles;
}

/** Marks a URL as the user's module, or as imported by it. */
const MARK = /[?&]trivet=\d+$/;
const MARKS = /[?&]trivet=\d+/g;
/** Specifiers of the module's own files, rather than of a package. */
const OWN_SPECIFIER = /^(\.|\/|#|file:)/;
/** The folder of Trivet itself. */
const TRIVET_FOLDER = fileURLToPath(new URL("../../", import.meta.url));

/** @param isReloaded whether it is loaded more than once */
export function createImporter(path: string, isReloaded: boolean): Importer {
  const { href } = pathToFileURL(path);
  const { cache } = createRequire(import.meta.url);
  const files = new WatchedFiles(path);
  resolveUserModules(isOwn);
  // Deno with hooks cannot resolve what a CommonJS module requires; deleting from its cache is enough there.
  const needsHooks = !("Deno" in globalThis && /\.c[jt]s$/.test(path));
  if (isReloaded && needsHooks) followImports(files);
  let times = 0;
  return {
    files,
    describe: (thrown) => describe(thrown, files),
    async load() {
      // Bun also caches modules that failed, without listing them.
      for (const file of files) delete cache[file];
      const before = new Set(Object.keys(cache));
      try {
        return await import(isReloaded ? `${href}?trivet=${++times}` : href);
      } finally {
        for (const file of Object.keys(cache)) if (!before.has(file) && isOwn(file)) files.add(file);
      }
    },
  };
}

/** Marks what a marked module imports, so that it is loaded again too, and adds its files. */
function followImports(files: WatchedFiles): void {
  nodeModule.registerHooks?.({
    resolve(specifier, context, next) {
      const mark = MARK.exec(context.parentURL ?? "")?.[0].slice(1);
      if (mark === undefined || !OWN_SPECIFIER.test(specifier)) return next(specifier, context);
      // Added before it is resolved: a missing file may be written later.
      const requested = URL.parse(specifier, context.parentURL);
      if (requested?.protocol === "file:") files.add(fileURLToPath(requested));
      const found = next(specifier, context);
      if (!found.url.startsWith("file:") || !isOwn(fileURLToPath(found.url))) return found;
      files.add(fileURLToPath(found.url));
      return { ...found, url: `${found.url}${found.url.includes("?") ? "&" : "?"}${mark}` };
    },
  });
}

function isOwn(file: string): boolean {
  return !file.includes(`${sep}node_modules${sep}`) && !file.startsWith(TRIVET_FOLDER);
}

function describe(thrown: unknown, files: WatchedFiles): string {
  const { message, stack, position, errors } = thrown as {
    message?: string;
    stack?: string;
    position?: { file: string; line: number; column: number };
    errors?: readonly unknown[];
  } & object ?? {};
  // Bun: syntax errors in one or several places.
  if (errors) return errors.map((each) => describe(each, files)).join("\n");
  if (position) return `${position.file}:${position.line}:${position.column}: ${message}`;
  const lines = (stack ?? message ?? inspect(thrown)).replace(MARKS, "").split("\n");
  const inFiles = (line: string): boolean => [...files].some((file) => line.includes(file));
  const shown = lines.filter((line) => !/^ +at /.test(line) || inFiles(line));
  if (thrown instanceof SyntaxError && !shown.some(inFiles)) shown.unshift(...findSyntaxError(files));
  return stripVTControlCharacters(shown.join("\n")).trim();
}

/** Where a file has a syntax error: Node prints the place for an ES module only on a terminal. */
function findSyntaxError(files: WatchedFiles): readonly string[] {
  if (process.versions.bun !== undefined || "Deno" in globalThis) return [];
  for (const file of files) {
    if (!/\.[cm]?[jt]s$/.test(file) || !existsSync(file)) continue;
    const source = readFileSync(file, "utf8");
    const input = file.endsWith("ts") ? nodeModule.stripTypeScriptTypes(source) : source;
    const args = ["--no-warnings", "--input-type=module", "--check", "-"];
    // Not imported above: it takes 4 ms, and only an error needs it.
    const { stderr } = process.getBuiltinModule("node:child_process").spawnSync(process.execPath, args, {
      input,
      encoding: "utf8",
    });
    const end = stderr.indexOf("\n\n");
    if (stderr.startsWith("[stdin]:") && end > 0) {
      return stderr.slice(0, end).replace("[stdin]", () => file).split("\n");
    }
  }
  return [];
}
