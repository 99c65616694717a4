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
  const { main } = await import("./cli/main.ts");
  process.exitCode = await main(process.argv.slice(2));
}
