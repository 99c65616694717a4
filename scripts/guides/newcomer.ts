/**
 * What a newcomer has: an empty folder, Node, and `npm install trivet`, which here installs the package that the build
 * makes from this checkout.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));
/** What a build makes, and folders that it does not read. */
const NOT_SOURCES = new Set(["dist", "dist-conformance", "release", "data", ".git"]);

/** The built packages, and the commands that guides use. */
export interface Packages {
  /** An empty folder, with the environment of a new terminal in it. */
  newFolder(): { readonly path: string; readonly env: Readonly<Record<string, string>> };
  remove(): void;
}

/** Builds the packages in a temporary folder, which links to the sources. */
export function buildPackages(): Packages {
  const folder = mkdtempSync(join(tmpdir(), "trivet-guides-"));
  const sources = join(folder, "sources");
  mkdirSync(sources);
  for (const name of readdirSync(ROOT)) {
    if (!NOT_SOURCES.has(name)) symlinkSync(join(ROOT, name), join(sources, name));
  }
  execFileSync(process.execPath, ["scripts/build.ts"], {
    cwd: sources,
    stdio: ["ignore", "ignore", "inherit"],
  });

  const bin = join(folder, "bin");
  mkdirSync(bin);
  const addCommand = (name: string, script: string) => {
    writeFileSync(join(bin, name), `#!/usr/bin/env bash\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const script = (name: string) => JSON.stringify(join(ROOT, "scripts/guides", name));
  const node = JSON.stringify(process.execPath);
  addCommand(
    "npm",
    `if [ "$1" = install ]; then exec ${node} ${script("install.ts")} ${JSON.stringify(sources)} "\${@:2}"; fi
PATH=\${PATH#*:} exec npm "$@"`,
  );
  // As npx does, for a package that is installed; it downloads nothing.
  addCommand("npx", 'exec "./node_modules/.bin/$1" "${@:2}"');
  addCommand("sign-in-and-call", `exec ${node} ${script("sign_in_and_call.ts")} "$@"`);

  const path = [bin, dirname(process.execPath), process.env.PATH].join(delimiter);
  let count = 0;
  return {
    newFolder() {
      const work = join(folder, `guide-${++count}`);
      mkdirSync(join(work, "home"), { recursive: true });
      mkdirSync(join(work, "my-server"));
      return {
        path: join(work, "my-server"),
        env: { PATH: path, HOME: join(work, "home"), TMPDIR: work, LANG: "C.UTF-8", NO_COLOR: "1" },
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
