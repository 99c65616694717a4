/**
 * Bundles the built package, so that Node, Deno and Bun read a few files at a start instead of hundreds. Bun runs this:
 * `bun scripts/bundle_package.ts dist` writes `dist/bundle/`, whose files have the paths of the modules that they replace.
 * Bundlers of apps get the modules instead, of which they leave out what the app does not use.
 *
 * Modules that load together at a start are one file each group. They are bundled first; then everything else is bundled,
 * split where modules are shared, against those files. So each module is in one file, and is loaded once.
 *
 * @module
 */
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve } from "node:path";
import process from "node:process";
import { keepFirstOfLines } from "./source_map.ts";

/** The part of Bun's build that is used. */
declare const Bun: {
  readonly Transpiler: new (options: { loader: "js" }) => {
    scan(code: string): {
      readonly exports: readonly string[];
      readonly imports: readonly { readonly path: string; readonly kind: string }[];
    };
  };
  build(
    options: Record<string, unknown>,
  ): Promise<{ readonly success: boolean; readonly logs: readonly unknown[] }>;
};
interface PluginBuild {
  onResolve(
    filter: { filter: RegExp },
    resolve: (args: { path: string; importer: string; kind: string }) => unknown,
  ): void;
  onLoad(filter: { filter: RegExp }, load: (args: { path: string }) => unknown): void;
}

/** The folder of the bundle, in that of the package. */
const OUT = "bundle";
/** The start of the command. Its file stays where it is, since people name its path. */
const COMMAND = "runtime/cli.js";
/** Files of modules that load together, in order: a module is in the first whose roots import it. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  mcp: [
    "mcp_service.js",
    "mcp/stdio/stdio.js",
    "mcp/stateful.js",
    "mcp/session/lifecycle_results.js",
    "mcp/http/call_stream.js",
    // The store of most servers over stdio.
    "store/drivers/memory.js",
  ],
  services: ["mod.js"],
  overview: ["runtime/cli/main.js"],
  stdio: ["runtime/cli/stdio.js"],
};
/** In a bundled file, replaced by the relative path of a file of the bundle, or of a module of the package. */
const BUNDLED = "@@bundled/";
const PACKAGED = "@@packaged/";
const DYNAMIC_IMPORT = new RegExp(`import\\("${BUNDLED}([\\w./-]+)"\\)`, "g");
const EXPORT_LIST = /\nexport \{([^}]*)\};/;

const root = resolve(process.argv[2]!);
const scanned = new Map<string, { exports: readonly string[]; static: string[]; dynamic: string[] }>();
const transpiler = new Bun.Transpiler({ loader: "js" });

const { exports: entries } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, string | { node?: string }>;
};
const published = Object.values(entries).flatMap((entry) => typeof entry === "string" ? [] : entry.node ?? [])
  .map((path) => posix.relative(OUT, posix.normalize(path)));

rmSync(join(root, OUT), { recursive: true, force: true });
const commandModules = closure([COMMAND]);
const groupOf = new Map<string, string>();
/** Modules that others load when they need them: the command, and what users import. */
const later = new Set([COMMAND, ...published]);
for (const [group, roots] of Object.entries(GROUPS)) {
  const modules = [...closure(roots)].filter((module) => !groupOf.has(module)).sort();
  await build([group], {
    [group]: modules.map((module) => {
      const names = scan(module).exports.map((name) => `${name} as ${exportName(module, name)}`);
      return `import "@@module/${module}";\nexport { ${names.join(", ")} } from "@@module/${module}";\n`;
    }).join(""),
  }, false);
  for (const module of modules) groupOf.set(module, group);
}
// A set grows while it is read: all that can be loaded later is found.
for (const module of later) {
  for (const each of closure([module])) for (const found of scan(each).dynamic) later.add(found);
}
await build([...later].sort(), {}, true);
for (const file of globSync("**/*.{map,js}", { cwd: join(root, OUT) }).sort().reverse()) {
  finish(file.replaceAll("\\", "/"));
}

/** What a module exports and imports. */
function scan(module: string) {
  const known = scanned.get(module);
  if (known) return known;
  const { exports, imports } = transpiler.scan(readFileSync(join(root, module), "utf8"));
  const own = (kind: string): string[] =>
    imports.filter((each) => each.kind === kind && each.path.startsWith("."))
      .map(({ path }) => posix.join(posix.dirname(module), path));
  const found = { exports, static: own("import-statement"), dynamic: own("dynamic-import") };
  scanned.set(module, found);
  return found;
}

/** These modules and all that load with them. */
function closure(roots: Iterable<string>): Set<string> {
  const found = new Set(roots);
  for (const module of found) for (const each of scan(module).static) found.add(each);
  return found;
}

/** The name of an export in the file of its group. */
function exportName(module: string, name: string): string {
  return `${module.replace(/\.js$/, "").replace(/\W/g, "_")}$${name}`;
}

/** Bundles files, whose text may be given instead of a module's. Modules of earlier groups are imported from their files. */
async function build(
  files: readonly string[],
  texts: Readonly<Record<string, string>>,
  splitting: boolean,
): Promise<void> {
  const plugin = {
    name: "trivet",
    setup(build: PluginBuild) {
      build.onResolve(
        { filter: /^@@/ },
        ({ path }) =>
          path.startsWith("@@module/")
            ? { path: join(root, path.slice("@@module/".length)) }
            : { path, external: true },
      );
      build.onResolve({ filter: /^\./ }, ({ path, importer, kind }) => {
        const module = relative(root, resolve(dirname(importer), path)).replaceAll("\\", "/");
        return kind === "dynamic-import" && (!splitting || groupOf.has(module))
          ? { path: BUNDLED + module, external: true }
          : undefined;
      });
      build.onLoad({ filter: /\.js$/ }, ({ path }) => {
        const module = relative(root, path).replaceAll("\\", "/");
        const group = groupOf.get(module);
        const contents = texts[module.replace(/\.js$/, "")] ??
          (group === undefined ? toBundled(module) : facade(module, group));
        return { contents, loader: "js" };
      });
    },
  };
  const temporary = Object.keys(texts).map((name) => join(root, `${name}.js`));
  for (const file of temporary) writeFileSync(file, "");
  try {
    const { success, logs } = await Bun.build({
      entrypoints: files.map((file) => join(root, file.replace(/(\.js)?$/, ".js"))),
      outdir: join(root, OUT),
      root,
      target: "node",
      format: "esm",
      splitting,
      packages: "external",
      sourcemap: "linked",
      naming: { entry: "[dir]/[name].[ext]", chunk: "shared/[hash].[ext]" },
      plugins: [plugin],
    });
    if (!success) throw new Error(logs.map(String).join("\n"));
  } finally {
    for (const file of temporary) rmSync(file);
  }
}

/** The text of a module that the file of a group contains. */
function facade(module: string, group: string): string {
  const names = scan(module).exports.map((name) => `${exportName(module, name)} as ${name}`);
  const from = JSON.stringify(`${BUNDLED}${group}.js`);
  return `import ${from};\nexport { ${names.join(", ")} } from ${from};\n`;
}

/**
 * The text of a module, for which `import.meta.url` stays its place in the package. Modules of Node are not imported: an
 * `import` reads all that they export, and so loads what no module uses, with `node:process` for 16 ms of a start of 42.
 */
function toBundled(module: string): string {
  // An old Node without the function must get as far as its message.
  const get = commandModules.has(module) ? ["getBuiltinModule?.", " ?? {}"] : ["getBuiltinModule", ""];
  return readFileSync(join(root, module), "utf8")
    .replaceAll("import.meta.url", `new URL("${PACKAGED}${module}", import.meta.url).href`)
    .replace(
      /^import (?:([\w$]+)(?:, )?)?(\{[^}]*\})? ?from ("node:[\w/]+");/gm,
      (_, main: string | undefined, named: string | undefined, name: string) => {
        const found = name === '"node:process"'
          ? "globalThis.process"
          : `globalThis.process.${get[0]}(${name})${get[1]}`;
        const names = [main, named?.replace(/(\w) as (\w)/g, "$1: $2")];
        return `var ${names.flatMap((each) => each ? `${each} = ${found}` : []).join(", ")};`;
      },
    );
}

/** The import of a module by need, from the file of its group: its own file would be one more. */
function importFromGroup(module: string, group: string): string {
  const members = scan(module).exports.map((name) => `${name}: m.${exportName(module, name)}`);
  return `import("${BUNDLED}${group}.js").then((m) => ({ ${members.join(", ")} }))`;
}

/**
 * The text of a file in which modules of its own group are a promise of what is already there, without Node's loader: a
 * server over stdio answers `initialize` 1 ms earlier.
 */
function importFromItself(text: string, group: string): string {
  const locals = readLocals(text);
  const loaded = new Map<string, string>();
  const body = text.replace(DYNAMIC_IMPORT, (found, module) => {
    if (groupOf.get(module) !== group) return found;
    const load = exportName(module, "load");
    // A function, as names at the place of the import may hide those of the file.
    const members = scan(module).exports.map((name) => {
      const local = locals.get(exportName(module, name));
      if (local === undefined) throw new Error(`The bundle of ${group} does not export ${name} of ${module}`);
      return `${name}: ${local}`;
    });
    loaded.set(load, `async function ${load}() {\n  return { ${members.join(", ")} };\n}\n`);
    return `${load}()`;
  });
  return body.replace(EXPORT_LIST, (list) => `\n${[...loaded.values()].join("")}${list.slice(1)}`);
}

/** The names in a bundled file of what it exports, from its last statement. */
function readLocals(text: string): Map<string, string> {
  const [, list = ""] = EXPORT_LIST.exec(text) ?? [];
  return new Map(
    list.split(",").map((each) => {
      const [local, exported = local] = each.trim().split(" as ");
      return [exported!, local!];
    }),
  );
}

/** Makes paths in a file of the bundle relative, and its map refer to the modules of the package instead of containing them. */
function finish(file: string): void {
  const path = join(root, OUT, file);
  const from = file === COMMAND ? posix.dirname(file) : posix.join(OUT, posix.dirname(file));
  const toRelative = (target: string): string => posix.relative(from, target).replace(/^(?!\.)/, "./");
  const text = readFileSync(path, "utf8");
  if (file.endsWith(".js")) {
    const finished = importFromItself(text, file.replace(/\.js$/, ""))
      .replace(DYNAMIC_IMPORT, (found, module) => {
        const group = groupOf.get(module);
        return group === undefined ? found : importFromGroup(module, group);
      })
      .replace(
        new RegExp(`(${BUNDLED}|${PACKAGED})([\\w./-]+)`, "g"),
        (_, kind, target) => toRelative(kind === BUNDLED ? posix.join(OUT, target) : target),
      )
      // In a string, pattern or template. V8 keeps a file that is not ASCII at two bytes a character, and compiles it slower.
      .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    if (file !== COMMAND) return writeFileSync(path, finished);
    // Its map would be longer than itself.
    for (const each of [path, path + ".map", join(root, file + ".map")]) rmSync(each);
    writeFileSync(join(root, file), finished.replace(/\n\/\/# [\s\S]*$/, "\n"));
  } else {
    const map = JSON.parse(text);
    const { sourcesContent: _, debugId: __, ...kept } = map;
    const sources = (map.sources as string[]).map((source) =>
      posix.relative(from, relative(root, resolve(dirname(path), source)).replaceAll("\\", "/"))
    );
    // More positions would add a tenth to the package.
    writeFileSync(path, JSON.stringify({ ...kept, sources, mappings: keepFirstOfLines(map.mappings) }));
  }
}
