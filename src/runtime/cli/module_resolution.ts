/**
 * Loads a user's module as its author meant it, where Node alone would not: a file with `import` in a folder that
 * `npm init -y` made (`"type": "commonjs"`), a specifier with `.js` of a file with `.ts`, and `trivet` itself where it is
 * not installed beside the module. What Node finds by itself stays as it is. Bun does the first two itself; Deno
 * does the first, and its error for the second names its own option.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
// By its default: Bun has no `registerHooks`, and refuses to import the name.
import nodeModule from "node:module";
import { fileURLToPath } from "node:url";

/** A line that only an ES module can have. */
const MODULE_SYNTAX =
  /^\s*(import\s*["'{*\w]|export\s+(default|const|let|function|async|class|type|interface|[{*]))/m;
const TYPESCRIPT_ENDINGS: Readonly<Record<string, string>> = { ".js": ".ts", ".mjs": ".mts", ".cjs": ".cts" };
/** Formats that Node assumes from `"type": "commonjs"`, and those that a file with `import` has. */
const MODULE_FORMATS: Readonly<Record<string, string>> = {
  "commonjs": "module",
  "commonjs-typescript": "module-typescript",
};

let isRegistered = false;

/** Does so from now on, for the files for which `isOwn` is true. */
export function resolveUserModules(isOwn: (file: string) => boolean): void {
  // Deno has hooks too, which do not know how it resolves.
  if (isRegistered || "Deno" in globalThis) return;
  isRegistered = true;
  nodeModule.registerHooks?.({
    resolve(specifier, context, next) {
      const parent = context.parentURL;
      if (parent === undefined || !parent.startsWith("file:")) return next(specifier, context);
      const found = findModule(specifier, parent, (...given) => next(...given), context);
      const format = MODULE_FORMATS[found.format ?? ""];
      if (format === undefined || !found.url.startsWith("file:")) return found;
      const file = fileURLToPath(found.url);
      return isOwn(file) && MODULE_SYNTAX.test(readFileSync(file, "utf8")) ? { ...found, format } : found;
    },
  });

  type Resolve = NonNullable<Parameters<typeof nodeModule.registerHooks>[0]["resolve"]>;
  type Next = Parameters<Resolve>[2];
  function findModule(
    specifier: string,
    parent: string,
    next: Next,
    context: Parameters<Resolve>[1],
  ): ReturnType<Next> {
    try {
      return next(specifier, context);
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND" || !isOwn(fileURLToPath(parent))) {
        throw error;
      }
      const typescript = findTypescript(specifier, parent);
      if (typescript !== undefined) return next(typescript, context);
      if (!/^trivet(\/|$)/.test(specifier)) throw error;
      return next(specifier, { ...context, parentURL: import.meta.url });
    }
  }
}

/** The specifier of the TypeScript file whose JavaScript a relative specifier names. */
function findTypescript(specifier: string, parent: string): string | undefined {
  const [, stem, ending] = /^(\.{1,2}\/.*?)(\.[cm]?js)$/.exec(specifier) ?? [];
  if (stem === undefined) return undefined;
  const found = stem + TYPESCRIPT_ENDINGS[ending!];
  return existsSync(fileURLToPath(new URL(found, parent))) ? found : undefined;
}
