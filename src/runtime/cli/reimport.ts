/**
 * Imports a module of the user's, and imports it again after it or what it imports has changed. Runtimes keep modules: in
 * Node and Deno an address with another query is another module, in Bun (and for CommonJS) one that was struck from
 * `require.cache`. What packages bring is never imported twice.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
// By its default: Bun has no `registerHooks`, and refuses to import the name.
import nodeModule, { createRequire } from "node:module";
import { sep } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect, stripVTControlCharacters } from "node:util";

export interface Importer {
  /** The module as it is now. Throws what the runtime or the module throws. */
  load(): Promise<Readonly<Record<string, unknown>>>;
  /** What was thrown, for people: the message, and its place in the module's files. */
  tell(thrown: unknown): string;
  /** Absolute paths of the module and of what it imports, as far as the runtime tells; those of before count as well. */
  readonly files: ReadonlySet<string>;
}

/** Marks an address as the user's module, or as imported by it. */
const MARK = /[?&]trivet=\d+$/;
const MARKS = /[?&]trivet=\d+/g;
/** What a module says to mean a file of its own, rather than a package. */
const OWN = /^(\.|\/|#|file:)/;
/** Where Trivet itself is. */
const HERE = fileURLToPath(new URL("../../", import.meta.url));

/** @param again whether it will be loaded more than once */
export function createImporter(path: string, again: boolean): Importer {
  const { href } = pathToFileURL(path);
  const { cache } = createRequire(import.meta.url);
  const files = new Set([path]);
  if (again) followImports(files);
  let times = 0;
  return {
    files,
    tell: (thrown) => tell(thrown, files),
    async load() {
      // Bun also keeps those that failed, under no name that it shows.
      for (const file of files) delete cache[file];
      const before = new Set(Object.keys(cache));
      try {
        return await import(again ? `${href}?trivet=${++times}` : href);
      } finally {
        for (const file of Object.keys(cache)) if (!before.has(file) && isOwn(file)) files.add(file);
      }
    },
  };
}

/** Gives what a marked module imports the same mark, so that it is loaded again with it; and notes its files. */
function followImports(files: Set<string>): void {
  nodeModule.registerHooks?.({
    resolve(specifier, context, next) {
      const mark = MARK.exec(context.parentURL ?? "")?.[0].slice(1);
      if (mark === undefined || !OWN.test(specifier)) return next(specifier, context);
      // Noted before it is found: a file that is missing may come.
      const asked = URL.parse(specifier, context.parentURL);
      if (asked?.protocol === "file:") files.add(fileURLToPath(asked));
      const found = next(specifier, context);
      if (!found.url.startsWith("file:") || !isOwn(fileURLToPath(found.url))) return found;
      files.add(fileURLToPath(found.url));
      return { ...found, url: `${found.url}${found.url.includes("?") ? "&" : "?"}${mark}` };
    },
  });
}

function isOwn(file: string): boolean {
  return !file.includes(`${sep}node_modules${sep}`) && !file.startsWith(HERE);
}

function tell(thrown: unknown, files: ReadonlySet<string>): string {
  const { message, stack, position, errors } = thrown as {
    message?: string;
    stack?: string;
    position?: { file: string; line: number; column: number };
    errors?: readonly unknown[];
  } & object ?? {};
  // Bun: what is wrong with the text of one or of several places.
  if (errors) return errors.map((each) => tell(each, files)).join("\n");
  if (position) return `${position.file}:${position.line}:${position.column}: ${message}`;
  const lines = (stack ?? message ?? inspect(thrown)).replace(MARKS, "").split("\n");
  const inFiles = (line: string): boolean => [...files].some((file) => line.includes(file));
  const told = lines.filter((line) => !/^ +at /.test(line) || inFiles(line));
  if (thrown instanceof SyntaxError && !told.some(inFiles)) told.unshift(...placeOfSyntaxError(files));
  return stripVTControlCharacters(told.join("\n")).trim();
}

/** Node tells where an ES module is malformed only to a terminal. */
function placeOfSyntaxError(files: ReadonlySet<string>): readonly string[] {
  if (process.versions.bun !== undefined || "Deno" in globalThis) return [];
  for (const file of files) {
    if (!/\.[cm]?[jt]s$/.test(file) || !existsSync(file)) continue;
    const source = readFileSync(file, "utf8");
    const input = file.endsWith("ts") ? nodeModule.stripTypeScriptTypes(source) : source;
    const words = ["--no-warnings", "--input-type=module", "--check", "-"];
    const { stderr } = spawnSync(process.execPath, words, { input, encoding: "utf8" });
    const end = stderr.indexOf("\n\n");
    if (stderr.startsWith("[stdin]:") && end > 0) {
      return stderr.slice(0, end).replace("[stdin]", () => file).split("\n");
    }
  }
  return [];
}
