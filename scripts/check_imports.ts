/**
 * The import rules, as a test: in `src/` arrows run one way, services do not know each other, and the core touches no
 * runtime; the runner of `conformance/` stands alone; nowhere do files import each other in a circle.
 *
 *   runtime -> trivet -> oauth | skills | mcp -> jsonrpc | json_schema | http | crypto | store/store.ts
 *   store -> crypto (digests of what is copied)
 *
 * Reads sources as text: `import`, `export … from` and `import()`, with comments and strings taken out first.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** The store as services know it: the interface, and what stands on it. */
const OF_EVERY_DRIVER: readonly string[] = ["src/store/store.ts", "src/store/retry.ts"];

/** Rooms that a room may import, beside itself. `store` stands for the contract only, `root` for events.ts. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  http: [],
  crypto: [],
  store: ["crypto"],
  jsonrpc: ["http"],
  json_schema: [],
  oauth: ["http", "crypto", "store", "root"],
  skills: ["http", "crypto", "store", "root"],
  mcp: ["http", "crypto", "store", "root", "jsonrpc", "json_schema"],
  runtime: ["http", "crypto", "store", "root", "jsonrpc", "json_schema", "oauth", "skills", "mcp"],
};

/** Files of the top folder: what they may import is told one by one. Only trivet.ts composes services. */
const TOP: Readonly<Record<string, readonly string[]>> = {
  "src/events.ts": [],
  "src/version.ts": [],
  "src/home.ts": ["http"],
  "src/server_secret.ts": ["crypto", "store"],
  "src/options.ts": ["root"],
  "src/server_options.ts": ["root", "http", "store"],
  "src/mount.ts": ["root", "http"],
  "src/oauth_options.ts": ["root", "crypto", "http", "oauth"],
  "src/mcp_options.ts": ["root", "mcp"],
  "src/skills_options.ts": ["root", "skills"],
  "src/oauth_service.ts": ["root", "http", "oauth"],
  "src/skills_service.ts": ["root", "http", "skills"],
  "src/mcp_service.ts": ["root", "http", "mcp", "jsonrpc"],
  "src/trivet.ts": ["root", "http", "oauth", "skills", "mcp"],
  "src/mod.ts": ["root", "http", "store", "oauth", "skills", "mcp", "jsonrpc"],
};

/** Packages, and the files that may import them. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  postgres: /^src\/store\/drivers\/postgres_pool\.ts$/,
  redis: /^src\/store\/drivers\/redis\.ts$/,
  aws4fetch: /^src\/skills\/blobs\/s3\.ts$/,
  yaml: /^src\/skills\/package\/front_matter\.ts$/,
  "srvx/node": /^src\/runtime\/node\.ts$/,
  "@hattip/adapter-node": /^src\/runtime\/hattip_node\.ts$/,
  "@hattip/core": /^src\/runtime\/hattip_node\.ts$/,
};

/** Files that may touch a runtime. */
const OUTSIDE = /^src\/(runtime\/|end_to_end\/|store\/drivers\/(sqlite|redis))/;
const TESTS =
  /_test\.ts$|^src\/end_to_end\/|^conformance\/runner\/test_|^src\/store\/(contract|cloudflare_suite)\.ts$|^src\/(?:[a-z_]+\/)+test_[a-z_]+\.ts$/;
const RUNTIME_NAMES = /(?<![\w.$'"])(Deno|Bun|process|Buffer|setImmediate|require|__dirname)(?=\s*[.([])/g;

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Everything that breaks a rule below a root folder that holds `src/`, `conformance/` and `scripts/`. */
export function checkImports(root: string): Finding[] {
  const files = globSync(["src/**/*.ts", "conformance/**/*.ts", "scripts/**/*.ts"], {
    cwd: root,
    exclude: ["**/node_modules/**"],
  }).map((file) => file.replaceAll("\\", "/")).sort();
  const found: Finding[] = [];
  const graph = new Map<string, string[]>();
  for (const file of files) {
    const source = withoutComments(readFileSync(join(root, file), "utf8"));
    const targets: string[] = [];
    graph.set(file, targets);
    for (const { specifier, index } of importsOf(source)) {
      const line = lineAt(source, index);
      const target = specifier.startsWith(".")
        ? normalize(join(dirname(file), specifier)).replaceAll("\\", "/")
        : undefined;
      if (target) targets.push(target);
      const message = TESTS.test(file) ? undefined : judge(file, specifier, target);
      if (message) found.push({ file, line, message });
      // Benches and fuzzers may use what tests do.
      if (target && /^(src|conformance\/runner)\//.test(file) && !TESTS.test(file) && TESTS.test(target)) {
        found.push({ file, line, message: `only tests import "${specifier}"` });
      }
    }
    if (file.startsWith("src/") && !OUTSIDE.test(file) && !TESTS.test(file)) {
      for (const match of withoutStrings(source).matchAll(RUNTIME_NAMES)) {
        const message = `"${match[1]}" belongs to a runtime: move it to src/runtime/`;
        found.push({ file, line: lineAt(source, match.index), message });
      }
    }
  }
  return [...found, ...findCycles(graph)];
}

function judge(file: string, specifier: string, target: string | undefined): string | undefined {
  if (!file.startsWith("src/")) return judgeTool(file, specifier, target);
  if (target === undefined) {
    if (specifier.startsWith("node:")) {
      return OUTSIDE.test(file)
        ? undefined
        : `"${specifier}" belongs to a runtime: only src/runtime/ and store drivers may import it`;
    }
    const allowed = PACKAGES[specifier];
    return allowed?.test(file) ? undefined : `the package "${specifier}" may not be imported here`;
  }
  if (!target.startsWith("src/")) return `"${specifier}" leads out of src/`;
  const from = roomOf(file);
  const to = roomOf(target);
  if (from === to && from !== "root") return undefined;
  if (from === "runtime") return undefined;
  if (to === "root" && (target === "src/trivet.ts" || target === "src/options.ts")) {
    return /^src\/(mod|trivet)\.ts$/.test(file)
      ? undefined
      : "only src/mod.ts and runtime entries import the composed server";
  }
  const allowed = from === "root" ? [...(TOP[file] ?? []), "root"] : ARROWS[from];
  if (!allowed?.includes(to)) return `${from} may not import ${to}: see the arrows in src/README.md`;
  if (to === "store" && !OF_EVERY_DRIVER.includes(target) && file !== "src/mod.ts") {
    return "import src/store/store.ts, not a driver";
  }
  return undefined;
}

/** The kit's runner is published by itself: it knows neither Trivet nor the other folders of the kit. */
function judgeTool(file: string, specifier: string, target: string | undefined): string | undefined {
  const isRunner = file.startsWith("conformance/runner/");
  if (!isRunner || target === undefined || target.startsWith("conformance/runner/")) return undefined;
  return `"${specifier}" leads out of conformance/runner/`;
}

function roomOf(file: string): string {
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? "root";
}

function importsOf(source: string): { specifier: string; index: number }[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s+(?:[\w*${},\s]+?\sfrom\s+)?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']/g;
  return [...source.matchAll(pattern)].map((match) => ({
    specifier: match[1] ?? match[2]!,
    index: match.index + match[0].length - 1,
  }));
}

/** Comments as blanks, so that positions stay. Strings and regular expressions are stepped over. */
function withoutComments(source: string): string {
  return source.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[^]*?\*\/|(?<![:\\/])\/\/[^\n]*/g,
    (all, text?: string) => text ?? all.replace(/[^\n]/g, " "),
  );
}

function withoutStrings(source: string): string {
  return source.replace(
    /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g,
    (all) => all.replace(/[^\n]/g, " "),
  );
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split("\n").length;
}

function findCycles(graph: ReadonlyMap<string, readonly string[]>): Finding[] {
  const done = new Set<string>();
  const found: Finding[] = [];
  function visit(file: string, path: readonly string[]): void {
    if (path.includes(file)) {
      const cycle = [...path.slice(path.indexOf(file)), file];
      found.push({ file, line: 1, message: `these files import each other: ${cycle.join(" -> ")}` });
      return;
    }
    if (done.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  }
  for (const file of graph.keys()) visit(file, []);
  return found;
}
