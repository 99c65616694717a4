/**
 * @modelcontextprotocol/server on its Express adapter, set up as in its guides: 2026-07-28 on a strict createMcpHandler,
 * earlier revisions on a transport for each session.
 *
 *   node server.mjs PORT
 */
import { randomUUID } from "node:crypto";
import process from "node:process";
import { createMcpExpressApp, mcpAuthMetadataRouter, requireBearerAuth } from "@modelcontextprotocol/express";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from "@modelcontextprotocol/server";
import { createAuthorization } from "./authorization.mjs";
import { buildServer } from "./definitions.mjs";
import { EventStore } from "./event_store.mjs";

const port = Number(process.argv[2]);
const { gate, metadata } = createAuthorization(`http://127.0.0.1:${port}`);

const modern = createMcpHandler(() => buildServer(changed), {
  legacy: "reject",
});
const changed = {
  tools: () => modern.notify.toolsChanged(),
  prompts: () => modern.notify.promptsChanged(),
};
const answerModern = toNodeHandler(modern);
const sessions = new Map();

async function answerLegacy(request, response) {
  const id = request.headers["mcp-session-id"];
  const known = sessions.get(id);
  if (known) return await known.handleRequest(request, response, request.body);
  if (id !== undefined) {
    return refuse(response, 404, -32001, "Session not found");
  }
  if (!isInitializeRequest(request.body)) {
    return refuse(response, 400, -32000, "Bad Request: Session ID required");
  }
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: new EventStore(),
    onsessioninitialized: (session) => void sessions.set(session, transport),
  });
  transport.onclose = () => sessions.delete(transport.sessionId);
  await buildServer().connect(transport);
  await transport.handleRequest(request, response, request.body);
}

function refuse(response, status, code, message) {
  response.status(status).json({
    jsonrpc: "2.0",
    error: { code, message },
    id: null,
  });
}

const app = createMcpExpressApp();
app.use(mcpAuthMetadataRouter(metadata));
app.use("/mcp", requireBearerAuth(gate));
app.post("/mcp", async (request, response) => {
  const isLegacy = await isLegacyRequest(
    await toWebRequest(request, request.body),
  );
  await (isLegacy ? answerLegacy(request, response) : answerModern(request, response, request.body));
});
app.get("/mcp", answerLegacy);
app.delete("/mcp", answerLegacy);
app.listen(port, "127.0.0.1");
