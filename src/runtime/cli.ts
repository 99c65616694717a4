#!/usr/bin/env node
/**
 * The command line, `trivet`, on Node, Deno and Bun. Checks the version of Node before it loads code that needs it.
 *
 * @module
 */
import process from "node:process";
import { keepCompiled } from "./cli/compile_cache.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || major === 22 && minor < 18) {
  process.stderr.write(`trivet needs Node 22.18 or later, but this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  // Hides warnings that the user cannot act on: Node 22 calls its SQLite and TypeScript support experimental, and each
  // load of a user's module may warn of its module type.
  const HIDDEN = /^((SQLite|Type Stripping|stripTypeScriptTypes) is an experimental|Module type of )/;
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...more: unknown[]): void => {
    if (!HIDDEN.test(String(warning))) {
      Reflect.apply(emitWarning, process, [warning, ...more]);
    }
  };
  keepCompiled();
  const [{ main }, { surviveClosedOutput }] = await Promise.all([
    import("./cli/main.ts"),
    import("./cli/output.ts"),
  ]);
  surviveClosedOutput();
  process.exitCode = await main(process.argv.slice(2));
}
