/**
 * Trivet's tool server on standard input and output, with everything that MCP has, on the memory store: what vectors about
 * the framing of messages talk to. `trivet stdio` serves in the same way, over a data folder.
 *
 * @module
 */
import process from "node:process";
import { Readable, Writable } from "node:stream";
import { everything } from "../../fixtures/everything/everything.ts";
import { createTrivet, memoryStore, type Trivet } from "../../src/mod.ts";

const trivet: Trivet = createTrivet({
  issuer: "http://127.0.0.1:8787",
  store: memoryStore(),
  oauth: false,
  skills: { auth: "off" },
  mcp: { auth: "off", definitions: everything(() => trivet.mcp!) },
});
await trivet.mcp!.serveStdio(
  Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
);
process.exit();
