/**
 * Checks the import rules: in `src/` folders import in one direction only, services do not import each other, and the core
 * uses no runtime; the runner of `conformance/` imports nothing outside its folder; no files import each other in a cycle.
 *
 *   runtime -> trivet -> oauth | skills | mcp -> jsonrpc | json_schema | http | crypto | store/store.ts
 *   store -> crypto (digests of copied records)
 *
 * Reads sources as text: `import`, `export … from` and `import()`, after it has blanked comments and strings.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** The modules of `src/store/` that services may import: the interface, and helpers for every driver. */
const STORE_INTERFACE: readonly string[] = [
  "src/store/store.ts",
  "src/store/retry.ts",
  "src/store/change_all.ts",
];

/** Modules that every folder may import. They import nothing. */
const FOR_ALL: readonly string[] = ["src/timer.ts", "src/options/option_check.ts"];

/** Folders that a folder may import, besides itself. `store` means the interface only, `root` the files of `src/`. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  http: [],
  crypto: [],
  store: ["crypto"],
  server_secret: ["crypto", "store", "oauth", "gateway"],
  observability: ["http", "crypto", "store", "root"],
  rate_limits: ["http", "crypto", "store", "root"],
  jsonrpc: ["http"],
  json_schema: [],
  text: [],
  oauth: ["http", "crypto", "store", "root", "text"],
  skills: ["http", "crypto", "store", "root", "text"],
  mcp: ["http", "crypto", "store", "root", "jsonrpc", "json_schema"],
  mcp_client: ["http", "crypto", "store", "root", "jsonrpc", "json_schema"],
  openapi: ["http", "crypto", "root", "mcp", "json_schema"],
  gateway: [
    "http",
    "crypto",
    "store",
    "root",
    "jsonrpc",
    "json_schema",
    "rate_limits",
    "text",
    "mcp",
    "mcp_client",
    "oauth",
  ],
  admin: [
    "http",
    "crypto",
    "store",
    "root",
    "observability",
    "json_schema",
    "oauth",
    "skills",
    "server_secret",
    "gateway",
  ],
  runtime: [
    "admin",
    "gateway",
    "mcp_client",
    "openapi",
    "http",
    "crypto",
    "store",
    "root",
    "observability",
    "rate_limits",
    "jsonrpc",
    "json_schema",
    "oauth",
    "skills",
    "mcp",
  ],
};

/** Folders that each file of `src/` itself, and of `src/options/`, may import. Only trivet.ts composes services. */
const TOP_FILES: Readonly<Record<string, readonly string[]>> = {
  "src/events.ts": [],
  "src/timer.ts": [],
  "src/version.ts": [],
  "src/home.ts": ["oauth"],
  "src/server_secret.ts": ["crypto", "store", "server_secret"],
  "src/options/trivet_options.ts": ["root", "admin", "gateway"],
  "src/options/server_options.ts": ["root", "http", "store", "observability", "rate_limits"],
  "src/mount.ts": ["root", "http", "observability"],
  "src/options/oauth_options.ts": ["root", "crypto", "http", "oauth"],
  "src/options/oauth_option_checks.ts": ["root", "crypto", "http", "oauth"],
  "src/options/mcp_options.ts": ["root", "mcp"],
  "src/options/skills_options.ts": ["root", "skills"],
  "src/oauth_service.ts": ["root", "http", "oauth", "server_secret"],
  "src/skills_service.ts": ["root", "http", "skills"],
  "src/mcp_service.ts": ["root", "http", "mcp", "jsonrpc", "gateway"],
  "src/resource_server.ts": ["root", "crypto", "http", "store", "oauth"],
  "src/sign_in.ts": ["oauth"],
  "src/pages.ts": ["http", "oauth"],
  "src/gateway.ts": ["gateway", "mcp"],
  "src/mcp_client.ts": ["mcp_client"],
  "src/openapi.ts": ["openapi"],
  "src/observability.ts": ["observability"],
  "src/passkeys.ts": ["oauth"],
  "src/trivet.ts": ["root", "http", "oauth", "skills", "mcp", "gateway"],
  "src/mod.ts": ["root", "http", "store", "oauth", "skills", "mcp", "jsonrpc", "server_secret"],
};

/** Packages, and the files that may import them. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  "@opentelemetry/api": /^src\/(observability\/opentelemetry\/|runtime\/cli\/telemetry\.ts$)/,
  "@opentelemetry/sdk-node": /^src\/runtime\/cli\/telemetry\.ts$/,
  "quickjs-emscripten-core": /^src\/runtime\/code\/sandbox\.ts$/,
  "@jitl/quickjs-wasmfile-release-sync": /^src\/runtime\/code\/sandbox\.ts$/,
  postgres: /^src\/store\/drivers\/postgres\/pool\.ts$/,
  redis: /^src\/store\/drivers\/redis\/connection\.ts$/,
  "@valibot/to-json-schema": /^src\/mcp\/schema\/valibot_schema\.ts$/,
  aws4fetch: /^src\/skills\/blobs\/s3\.ts$/,
  "@simplewebauthn/server": /^src\/oauth\/factors\/web_authn\.ts$/,
  "@simplewebauthn/server/helpers": /^src\/oauth\/factors\/web_authn\.ts$/,
  "reflect-metadata": /^src\/oauth\/factors\/web_authn\.ts$/,
  uqr: /^src\/oauth\/factors\/pages\/qr_code\.ts$/,
  yaml: /^src\/skills\/package\/front_matter\.ts$/,
  "srvx/node": /^src\/runtime\/(?:node(?:_answer)?|node\/(?:event_pipe|parser_request))\.ts$/,
  "@hattip/adapter-node": /^src\/runtime\/hattip_node\.ts$/,
  "@hattip/core": /^src\/runtime\/hattip_node\.ts$/,
};

/** Files that may use a runtime. */
const RUNTIME_FILES = /^src\/(runtime\/|end_to_end\/|store\/drivers\/(sqlite|redis))/;
const TESTS =
  /_test\.ts$|^src\/end_to_end\/|^conformance\/runner\/test_|^src\/store\/contract\/|^src\/(?:[a-z_]+\/)+test_[a-z_]+\.ts$/;
const RUNTIME_NAMES = /(?<![\w.$'"])(Deno|Bun|process|Buffer|setImmediate|require|__dirname)(?=\s*[.([])/g;

/** Identifies the broken rule, for tests. */
export type Rule =
  | "folder"
  | "driver"
  | "composed server"
  | "runtime"
  | "package"
  | "outside"
  | "test"
  | "cycle"
  | "file size"
  | "folder size"
  | "word"
  | "commit";

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly rule: Rule;
  readonly message: string;
}

/** Finds broken rules below a root folder that contains `src/`, `conformance/` and `scripts/`. */
export function checkImports(root: string): Finding[] {
  const files = globSync(["src/**/*.ts", "conformance/**/*.ts", "scripts/**/*.ts"], {
    cwd: root,
    exclude: ["**/node_modules/**"],
  }).map((file) => file.replaceAll("\\", "/")).sort();
  const found: Finding[] = [];
  const graph = new Map<string, string[]>();
  for (const file of files) {
    const source = blankComments(readFileSync(join(root, file), "utf8"));
    const targets: string[] = [];
    graph.set(file, targets);
    for (const { specifier, index } of parseImports(source)) {
      const line = lineAt(source, index);
      const target = specifier.startsWith(".")
        ? normalize(join(dirname(file), specifier)).replaceAll("\\", "/")
        : undefined;
      if (target) targets.push(target);
      const problem = TESTS.test(file) ? undefined : findProblem(file, specifier, target);
      if (problem) found.push({ file, line, ...problem });
      // Benchmarks and fuzzers may import helpers of tests.
      if (target && /^(src|conformance\/runner)\//.test(file) && !TESTS.test(file) && TESTS.test(target)) {
        found.push({ file, line, rule: "test", message: `only tests may import "${specifier}"` });
      }
    }
    if (file.startsWith("src/") && !RUNTIME_FILES.test(file) && !TESTS.test(file)) {
      for (const match of blankStrings(source).matchAll(RUNTIME_NAMES)) {
        const message = `"${match[1]}" is a name of a runtime: use it in src/runtime/ only`;
        found.push({ file, line: lineAt(source, match.index), rule: "runtime", message });
      }
    }
  }
  return [...found, ...findCycles(graph)];
}

type Problem = Pick<Finding, "rule" | "message">;

function findProblem(file: string, specifier: string, target: string | undefined): Problem | undefined {
  if (!file.startsWith("src/")) return findRunnerProblem(file, specifier, target);
  if (target === undefined) {
    if (specifier.startsWith("node:")) {
      return RUNTIME_FILES.test(file) ? undefined : {
        rule: "runtime",
        message: `"${specifier}" is a module of a runtime: only src/runtime/ and store drivers may import it`,
      };
    }
    if (PACKAGES[specifier]?.test(file)) return undefined;
    return { rule: "package", message: `the package "${specifier}" may not be imported here` };
  }
  if (!target.startsWith("src/")) return { rule: "outside", message: `"${specifier}" is outside src/` };
  const from = getFolder(file);
  const to = getFolder(target);
  if (from === to && from !== "root") return undefined;
  if (from === "runtime" || FOR_ALL.includes(target)) return undefined;
  if (target === "src/trivet.ts" || target === "src/options/trivet_options.ts") {
    if (/^src\/(mod|trivet)\.ts$/.test(file)) return undefined;
    const message = "only src/mod.ts and runtime entries may import the composed server";
    return { rule: "composed server", message };
  }
  if (FOR_ALL.includes(file)) return { rule: "folder", message: `${file} may import nothing` };
  const allowed = from === "root" || from === "options"
    ? [...(TOP_FILES[file] ?? []), "root", "options"]
    : ARROWS[from];
  if (!allowed?.includes(to)) {
    return { rule: "folder", message: `${from} may not import ${to}: see the arrows in src/README.md` };
  }
  if (to === "store" && !STORE_INTERFACE.includes(target) && file !== "src/mod.ts") {
    return { rule: "driver", message: "import src/store/store.ts, not a driver" };
  }
  return undefined;
}

/** The kit's runner is published alone, so it imports neither Trivet nor the other folders of the kit. */
function findRunnerProblem(file: string, specifier: string, target: string | undefined): Problem | undefined {
  const isRunner = file.startsWith("conformance/runner/");
  if (!isRunner || target === undefined || target.startsWith("conformance/runner/")) return undefined;
  return { rule: "outside", message: `"${specifier}" is outside conformance/runner/` };
}

function getFolder(file: string): string {
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? "root";
}

function parseImports(source: string): { specifier: string; index: number }[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s+(?:[\w*${},\s]+?\sfrom\s+)?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']/g;
  return [...source.matchAll(pattern)].map((match) => ({
    specifier: match[1] ?? match[2]!,
    index: match.index + match[0].length - 1,
  }));
}

/** Replaces comments by spaces, which keeps positions. Strings are left as they are. */
function blankComments(source: string): string {
  return source.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[^]*?\*\/|(?<![:\\/])\/\/[^\n]*/g,
    (all, text?: string) => text ?? all.replace(/[^\n]/g, " "),
  );
}

function blankStrings(source: string): string {
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
      found.push({ file, line: 1, rule: "cycle", message: `import cycle: ${cycle.join(" -> ")}` });
      return;
    }
    if (done.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  }
  for (const file of graph.keys()) visit(file, []);
  return found;
}
