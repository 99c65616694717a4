#!/usr/bin/env node
/**
 * The command `trivet-conformance`. Checks the Node.js version before it loads anything that an old version
 * cannot run.
 *
 * @module
 */
import process from "node:process";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > 22 || major === 22 && minor >= 18) {
  if (process.argv[2] === "client") await import("./client/client_command.ts");
  else await import("./command.ts");
} else {
  process.stderr.write(`Node.js 22.18 or later is required. This is ${process.versions.node}.\n`);
  process.exitCode = 2;
}
