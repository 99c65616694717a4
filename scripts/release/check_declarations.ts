/**
 * Compiles programs that import every entry of the installed package, as strictly as TypeScript can, with the declarations
 * of the package checked too (`skipLibCheck: false`), and with the libraries that users have: Fetch from `dom`, from
 * `webworker`, or from Node's types alone.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Packages to install together with Trivet. */
export const COMPILER: readonly string[] = ["typescript@5.9.3", "@types/node@24"];

/** Entries whose declarations name Node's types. */
const NEEDS_NODE_TYPES: readonly string[] = ["./node-listener"];

/** Passes exports of one entry to another, to find incompatible types. */
const PROGRAM = `
import { createTrivet, memoryStore, tool, type Principal } from "trivet";
import { toolServer } from "trivet/mcp";
import { resourceServer } from "trivet/protect";
import { skillsService } from "trivet/skills";

const guard = resourceServer({ issuer: "https://login.example", resource: "https://tools.example/mcp" });
const store = memoryStore();
export const add = tool({ name: "add", description: "Adds", run: (_, call) => call.principal?.subject ?? "none" });
export const tools = toolServer({ url: "https://tools.example", store, authenticate: guard, tools: [add] });
export const skills = skillsService({ url: "https://skills.example", store, authenticate: guard });
export default createTrivet({ issuer: "https://a.example", store, mcp: { tools: [add] } });
export async function answer(request: Request): Promise<Response> {
  const caller: Principal | Response = await guard.protect(request, { scopes: ["read"] });
  return caller instanceof Response ? caller : Response.json({ hello: caller.subject });
}
`;

/**
 * Compiles in a folder where the package and the compiler are installed.
 * @param entries as \`exports\` names them
 * @throws {Error} with the messages of the compiler
 */
export function checkDeclarations(folder: string, entries: readonly string[]): void {
  const portable = entries.filter((entry) => !NEEDS_NODE_TYPES.includes(entry));
  const runs = [
    {
      lib: ["es2024", "dom"],
      types: [],
      module: "nodenext",
      moduleResolution: "nodenext",
      entries: portable,
    },
    {
      lib: ["es2024", "webworker"],
      types: [],
      module: "esnext",
      moduleResolution: "bundler",
      entries: portable,
    },
    { lib: ["es2024"], types: ["node"], module: "nodenext", moduleResolution: "nodenext", entries },
    { lib: ["es2024", "dom"], types: ["node"], module: "esnext", moduleResolution: "bundler", entries },
  ];
  for (const { entries, ...options } of runs) {
    const imports = entries.map((entry, n) =>
      `import * as entry${n} from ${JSON.stringify(join("trivet", entry))};\nvoid entry${n};\n`
    );
    writeFileSync(join(folder, "program.ts"), imports.join("") + PROGRAM);
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      verbatimModuleSyntax: true,
      skipLibCheck: false,
      // As in a library: the compiler must be able to name the types of what the program exports.
      declaration: true,
      noEmit: true,
      target: "es2024",
      ...options,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    const compiler = join(folder, "node_modules/typescript/bin/tsc");
    const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, "-p", folder], {
      encoding: "utf8",
    });
    const name = `lib ${options.lib.join(", ")}; types ${options.types.join(", ") || "none"}`;
    if (status !== 0) throw new Error(`The declarations do not compile (${name}):\n${stdout}${stderr}`);
    console.log(`${entries.length} entries compile with ${name}`);
  }
}
