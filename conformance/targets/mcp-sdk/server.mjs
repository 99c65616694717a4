/**
 * @modelcontextprotocol/sdk behind its own Express app, set up like its examples: the package's bearer middleware and
 * metadata, and a transport for each session or, with `stateless`, for each request. With sessions it also serves the
 * transport of 2024-11-05. The package has no middleware for Origin; its transports check it by a deprecated option.
 *
 *   node server.mjs PORT [stateless]
 */
import { randomUUID } from "node:crypto";
import process from "node:process";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { buildServer } from "./definitions.mjs";
import { EventStore } from "./event_store.mjs";

const port = Number(process.argv[2]);
const isStateless = process.argv[3] === "stateless";
const base = `http://127.0.0.1:${port}`;
const resource = new URL(`${base}/mcp`);
const checks = { enableDnsRebindingProtection: true, allowedOrigins: [base] };

/** Access tokens, with their client and resource, as an authorization server would issue them. */
const TOKENS = new Map([
  ["good-token-Lw83kd", { clientId: "one", resource }],
  ["other-token-Vr95xc", { clientId: "two", resource }],
  ["foreign-token-Pq72ms", {
    clientId: "one",
    resource: new URL(`${base}/other`),
  }],
]);

const gate = requireBearerAuth({
  verifier: {
    async verifyAccessToken(token) {
      const known = TOKENS.get(token);
      if (!known) throw new InvalidTokenError("Unknown token");
      return {
        token,
        scopes: ["mcp"],
        expiresAt: Math.floor(Date.now() / 1000) + 3600,
        ...known,
      };
    },
  },
  requiredScopes: ["mcp"],
  resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
  expectedResource: resource,
});

const app = createMcpExpressApp();
app.use(mcpAuthMetadataRouter({
  oauthMetadata: {
    issuer: base,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    response_types_supported: ["code"],
  },
  resourceServerUrl: resource,
  scopesSupported: ["mcp"],
}));

if (isStateless) {
  app.post("/mcp", gate, async (request, response) => {
    const server = buildServer();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      ...checks,
    });
    response.on("close", () => {
      transport.close();
      server.close();
    });
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  app.all(
    "/mcp",
    gate,
    (_request, response) => refuse(response, 405, -32000, "Method not allowed."),
  );
} else {
  const sessions = new Map();
  app.all("/mcp", gate, async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = sessions.get(id);
    if (known) {
      return await known.handleRequest(request, response, request.body);
    }
    if (id !== undefined) {
      return refuse(response, 404, -32001, "Session not found");
    }
    if (!isInitializeRequest(request.body)) {
      return refuse(
        response,
        400,
        -32000,
        "Bad Request: No valid session ID provided",
      );
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: new EventStore(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
      ...checks,
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await buildServer().connect(transport);
    await transport.handleRequest(request, response, request.body);
  });

  const streams = new Map();
  app.get("/sse", gate, async (_request, response) => {
    const transport = new SSEServerTransport("/messages", response, checks);
    streams.set(transport.sessionId, transport);
    response.on("close", () => streams.delete(transport.sessionId));
    await buildServer().connect(transport);
  });
  app.post("/messages", gate, async (request, response) => {
    const transport = streams.get(request.query.sessionId);
    if (!transport) {
      return response.status(400).send("No transport found for sessionId");
    }
    await transport.handlePostMessage(request, response, request.body);
  });
}

function refuse(response, status, code, message) {
  response.status(status).json({
    jsonrpc: "2.0",
    error: { code, message },
    id: null,
  });
}

app.listen(port, "127.0.0.1");
