/**
 * @modelcontextprotocol/server over stdio, by its own entry, with every revision that it supports.
 */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { buildServer } from "./definitions.mjs";

serveStdio(buildServer);
