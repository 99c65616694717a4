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
  // Node 22 warns that its SQLite is young, in the middle of what people read.
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...more: unknown[]): void => {
    if (!String(warning).startsWith("SQLite is an experimental")) {
      Reflect.apply(emitWarning, process, [warning, ...more]);
    }
  };
  const { main } = await import("./cli/main.ts");
  process.exitCode = await main(process.argv.slice(2));
}
