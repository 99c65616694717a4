/**
 * @modelcontextprotocol/server behind node:http, put together as its guides say: the Origin check and the bearer gate of the
 * package in front, revision 2026-07-28 on createMcpHandler, those before it on a transport for each session or, with
 * `stateless`, on the handler's own stateless fallback.
 *
 *   node server.mjs PORT [stateless]
 */
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import process from "node:process";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  hostHeaderValidationResponse,
  isInitializeRequest,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  originValidationResponse,
  requireBearerAuth,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { buildServer } from "./definitions.mjs";

const port = Number(process.argv[2]);
const isStateless = process.argv[3] === "stateless";
const base = `http://127.0.0.1:${port}`;
const resource = new URL(`${base}/mcp`);

/** The tokens that an authorization server would have given, and what they are good for. */
const TOKENS = new Map([
  ["good-token-Lw83kd", resource],
  ["foreign-token-Pq72ms", new URL(`${base}/other`)],
]);

const metadata = {
  resourceServerUrl: resource,
  scopesSupported: ["mcp", "files:write"],
  oauthMetadata: {
    issuer: base,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    response_types_supported: ["code"],
  },
};

const gate = requireBearerAuth({
  verifier: {
    async verifyAccessToken(token) {
      const audience = TOKENS.get(token);
      if (!audience) {
        throw new OAuthError(OAuthErrorCode.InvalidToken, "Unknown token");
      }
      const expiresAt = Math.floor(Date.now() / 1000) + 3600;
      return {
        token,
        clientId: "conformance",
        scopes: ["mcp"],
        expiresAt,
        resource: audience,
      };
    },
  },
  requiredScopes: ["mcp"],
  resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
  expectedResource: resource,
});

const modern = createMcpHandler(buildServer, {
  legacy: isStateless ? "stateless" : "reject",
});
const sessions = new Map();

/** One transport for each session, as the guide on sessions has it. */
async function legacy(request, authInfo) {
  const id = request.headers.get("mcp-session-id");
  if (id !== null) {
    return await sessions.get(id)?.handleRequest(request, { authInfo }) ??
      refuse(404, -32001, "Session not found");
  }
  const body = request.method === "POST"
    ? await request.clone().json().catch(() => undefined)
    : undefined;
  if (body !== undefined && !isInitializeRequest(body)) {
    return refuse(400, -32000, "Session ID required");
  }
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => void sessions.set(session, transport),
  });
  transport.onclose = () => sessions.delete(transport.sessionId);
  await buildServer().connect(transport);
  return await transport.handleRequest(request, { authInfo });
}

function refuse(status, code, message) {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, {
    status,
  });
}

async function fetch(request) {
  const refusal =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins()) ??
      oauthMetadataResponse(request, metadata);
  if (refusal) return refusal;
  if (new URL(request.url).pathname !== "/mcp") {
    return new Response(null, { status: 404 });
  }
  const auth = await gate(request);
  if (auth instanceof Response) return auth;
  if (!isStateless && await isLegacyRequest(request)) {
    return await legacy(request, auth);
  }
  return await modern.fetch(request, { authInfo: auth });
}

createServer(toNodeHandler({ fetch })).listen(port, "127.0.0.1");
