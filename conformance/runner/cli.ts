#!/usr/bin/env node
/**
 * `trivet-conformance`: says so where it cannot run, before anything is loaded that an old Node does not have.
 *
 * @module
 */
import process from "node:process";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > 22 || major === 22 && minor >= 18) await import("./command.ts");
else {
  process.stderr.write(`Cannot run: it needs Node 22.18 or later, but this is ${process.versions.node}\n`);
  process.exitCode = 2;
}
