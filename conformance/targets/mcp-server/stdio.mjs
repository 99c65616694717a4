/**
 * @modelcontextprotocol/server on standard input and output: its own entry, with every revision that it serves.
 */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { buildServer } from "./definitions.mjs";

serveStdio(buildServer);
