/**
 * @modelcontextprotocol/sdk on standard input and output.
 */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { buildServer } from "./definitions.mjs";

await buildServer().connect(new StdioServerTransport());
