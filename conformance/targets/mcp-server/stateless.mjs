/**
 * @modelcontextprotocol/server as one createMcpHandler on node:http, behind its checks for Fetch handlers. It serves
 * revisions before 2026-07-28 without sessions.
 *
 *   node stateless.mjs PORT
 */
import { createServer } from "node:http";
import process from "node:process";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  oauthMetadataResponse,
  originValidationResponse,
  requireBearerAuth,
} from "@modelcontextprotocol/server";
import { createAuthorization } from "./authorization.mjs";
import { buildServer } from "./definitions.mjs";

const port = Number(process.argv[2]);
const { gate, metadata } = createAuthorization(`http://127.0.0.1:${port}`);
const requireToken = requireBearerAuth(gate);

const handler = createMcpHandler(() => buildServer(changed));
const changed = {
  tools: () => handler.notify.toolsChanged(),
  prompts: () => handler.notify.promptsChanged(),
};

async function fetch(request) {
  const early = hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins()) ??
    oauthMetadataResponse(request, metadata);
  if (early) return early;
  if (new URL(request.url).pathname !== "/mcp") {
    return new Response(null, { status: 404 });
  }
  const auth = await requireToken(request);
  return auth instanceof Response ? auth : await handler.fetch(request, { authInfo: auth });
}

createServer(toNodeHandler({ fetch })).listen(port, "127.0.0.1");
