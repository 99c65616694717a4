/**
 * @modelcontextprotocol/sdk over stdio.
 */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { buildServer } from "./definitions.mjs";

await buildServer().connect(new StdioServerTransport());
