/**
 * Trivet's MCP server over stdio with every MCP feature, on the memory store: the target of vectors about message framing.
 * `trivet stdio` serves in the same way, with a data folder.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { everything } from "../../fixtures/everything/everything.ts";
import { createTrivet, memoryStore, type Trivet } from "../../src/mod.ts";
import { type ToolNames, vectorTools } from "./trivet_tools.ts";

/** The same names as in `trivet_stdio.json`. */
const names: ToolNames = JSON.parse(readFileSync(new URL("trivet.json", import.meta.url), "utf8")).vars.mcp;
const trivet: Trivet = createTrivet({
  issuer: "http://127.0.0.1:8787",
  store: memoryStore(),
  oauth: false,
  skills: { auth: "off" },
  mcp: { auth: "off", definitions: [...everything(() => trivet.mcp!), ...vectorTools(names)] },
});
await trivet.mcp!.serveStdio(process.stdin, process.stdout);
process.exit();
