#!/usr/bin/env node
/**
 * The command line, `trivet`, on Node, Deno and Bun. A Node that is too old is told so, before anything is loaded that
 * it does not have.
 *
 * @module
 */
import process from "node:process";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || major === 22 && minor < 18) {
  process.stderr.write(`trivet needs Node 22.18 or later, but this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  // Node warns that its SQLite and its TypeScript are young (22), and, at each load, that a module of the user's may be
  // one of two kinds: in the middle of what people read.
  const known = /^((SQLite|Type Stripping|stripTypeScriptTypes) is an experimental|Module type of )/;
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...more: unknown[]): void => {
    if (!known.test(String(warning))) {
      Reflect.apply(emitWarning, process, [warning, ...more]);
    }
  };
  const { main } = await import("./cli/main.ts");
  process.exitCode = await main(process.argv.slice(2));
}
