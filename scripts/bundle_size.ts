/**
 * Measures the bundle of an app that imports Trivet or one of its services, minified and gzipped, against a budget. Only
 * modules that load at start count; those behind `import()` are shown beside them. Fails when a budget is exceeded or a
 * bundle uses names of a runtime. `node scripts/bundle_size.ts --modules` also lists the largest modules.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";

interface App {
  readonly name: string;
  /** The module that replaces `ENTRY` in `source`, the app's code. */
  readonly entry: string;
  readonly source: string;
  /** KB, gzipped. */
  readonly budget: number;
}

const APPS: readonly App[] = [
  {
    name: "MCP alone",
    entry: "src/mcp_service.ts",
    source: `import { tool, toolServer } from ENTRY;
      const tools = [tool({ name: "a", description: "", run: () => 1 })];
      export default toolServer({ url: "https://a.example", store: globalThis.store, tools });`,
    // HTTP, sessions, streams, tasks, resources, prompts and requests to the client load on first use: `src/mcp/lazy.ts`.
    budget: 30,
  },
  {
    name: "protect alone",
    entry: "src/resource_server.ts",
    source: `import { resourceServer } from ENTRY;
      export default resourceServer({ issuer: "https://a.example", resource: "https://b.example" });`,
    budget: 16,
  },
  {
    name: "OAuth alone",
    entry: "src/oauth_service.ts",
    source: `import { authorizationServer } from ENTRY;
      export default authorizationServer({ issuer: "https://a.example", store: globalThis.store });`,
    budget: 60,
  },
  {
    name: "Skills alone",
    entry: "src/skills_service.ts",
    source: `import { skillsService } from ENTRY;
      export default skillsService({ url: "https://a.example", store: globalThis.store });`,
    budget: 60,
  },
  {
    name: "all three services",
    entry: "src/mod.ts",
    source: `import { createTrivet } from ENTRY;
      export default createTrivet({ issuer: "https://a.example", store: globalThis.store });`,
    budget: 130,
  },
];

interface Output {
  readonly entryPoint?: string;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
}

export interface BundleSize {
  readonly name: string;
  readonly passed: boolean;
  /** One line: sizes and budget. */
  readonly text: string;
  /** The modules that load at start, the largest first, with their minified bytes. */
  readonly modules: readonly (readonly [module: string, bytes: number])[];
}

/** Bundles each app and measures it. */
export function measureBundles(): BundleSize[] {
  const folder = mkdtempSync(join(tmpdir(), "trivet-size-"));
  try {
    return APPS.map((app) => measureApp(app, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measureApp({ name, entry, source, budget }: App, parent: string): BundleSize {
  const folder = mkdtempSync(join(parent, "app-"));
  const app = join(folder, "app.ts");
  writeFileSync(app, source.replace("ENTRY", JSON.stringify(resolve(entry))));
  const metafile = join(folder, "meta.json");
  const built = spawnSync("node_modules/.bin/bun", [
    "build",
    app,
    "--minify",
    "--splitting",
    "--target=browser",
    `--outdir=${join(folder, "out")}`,
    `--metafile=${metafile}`,
  ], { encoding: "utf8" });
  if (built.status !== 0) throw new Error(built.stderr);
  const { outputs } = JSON.parse(readFileSync(metafile, "utf8")) as {
    readonly outputs: Readonly<Record<string, Output>>;
  };
  const chunks = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const atStart = new Set(["app.js"]);
  for (const chunk of atStart) {
    for (const { path, kind } of chunks.get(chunk)!.imports) {
      if (kind === "import-statement" && chunks.has(basename(path))) atStart.add(basename(path));
    }
  }
  const later = [...chunks.keys()].filter((chunk) => !atStart.has(chunk));
  const read = (names: Iterable<string>): Buffer =>
    Buffer.concat([...names].map((name) => readFileSync(join(folder, "out", name))));
  const start = read(atStart);
  const zipped = toKilobytes(gzipSync(start, { level: 9 }).length);
  const foreign = /["']node:[a-z_/]+["']|\bDeno\.|\bBun\./.exec(start.toString() + read(later))?.[0];
  const text =
    `${name}: ${toKilobytes(start.length).toFixed(1)} KB, ${
      zipped.toFixed(1)
    } KB gzipped (budget ${budget} KB)` +
    `, and ${toKilobytes(gzipSync(read(later), { level: 9 }).length).toFixed(1)} KB loaded on first use` +
    (foreign ? `, but it uses ${foreign}` : "");
  const modules = [...atStart].flatMap((chunk) =>
    Object.entries(chunks.get(chunk)!.inputs).map(([path, { bytesInOutput }]) =>
      [path, bytesInOutput] as const
    )
  ).sort(([, a], [, b]) => b - a);
  return { name, passed: zipped <= budget && foreign === undefined, text, modules };
}

function toKilobytes(bytes: number): number {
  return bytes / 1024;
}

if (process.argv[1]?.endsWith("bundle_size.ts")) {
  for (const { passed, text, modules } of measureBundles()) {
    console.log(`${passed ? "ok  " : "FAIL"} ${text}`);
    if (process.argv.includes("--modules")) {
      for (const [path, bytes] of modules.slice(0, 30)) console.log(`       ${bytes} ${path}`);
    }
    if (!passed) process.exitCode = 1;
  }
}
