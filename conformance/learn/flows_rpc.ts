/**
 * Flows of messages: the JSON-RPC examples, and an MCP session.
 *
 * @module
 */
import type { Flow } from "./flow.ts";

export const JSON_RPC: Flow = {
  name: "jsonrpc",
  title: "JSON-RPC 2.0",
  summary:
    "A client calls a method by name and receives its result. These are the examples of the specification.",
  explanations: [],
  parts: [
    { text: "A call with parameters by position.", vector: "jsonrpc/examples/by-position" },
    { text: "A call with parameters by name.", vector: "jsonrpc/examples/by-name" },
    { text: "An unknown method.", vector: "jsonrpc/examples/unknown-method" },
    { text: "Invalid parameters.", vector: "jsonrpc/examples/wrong-parameters" },
    { text: "Text that is not JSON.", vector: "jsonrpc/examples/parse-error" },
    { text: "JSON that is not a valid request.", vector: "jsonrpc/examples/invalid-request" },
    { text: "A notification has no id and no response.", vector: "jsonrpc/examples/update-notification" },
    { text: "A batch of several messages.", vector: "jsonrpc/examples/batch-mixed" },
    { text: "A batch of notifications has no response.", vector: "jsonrpc/examples/batch-of-notifications" },
  ],
};

export const MCP: Flow = {
  name: "mcp",
  title: "An MCP session over HTTP",
  summary:
    "A client finds the authorization server, gets a token, initializes a session, calls tools, and ends the session.",
  explanations: [
    {
      exchange: { endpoint: "token" },
      text: "The client gets a token for the MCP endpoint only.",
      rows: ["rfc6749#4.4.2/1", "mcp-2025-11-25#authorization/5"],
    },
    {
      exchange: { endpoint: "mcp", request: '"method":"initialize"', status: [200] },
      text:
        "The handshake: protocol revision and capabilities of both sides. A header field has the session id.",
      rows: [
        "mcp-2025-11-25#lifecycle/1",
        "mcp-2025-11-25#lifecycle/2",
        "mcp-2025-11-25#transports/5",
        "mcp-2025-11-25#transports/7",
      ],
    },
    {
      exchange: { endpoint: "mcp", request: '"method":"notifications/initialized"' },
      text: "The client is ready. A notification has no response.",
      rows: ["mcp-2025-11-25#transports/3"],
    },
  ],
  parts: [
    { text: "A request without a token is refused with a challenge.", vector: "mcp/authorization/no-token" },
    {
      text: "The challenge leads to the authorization server.",
      vector: "mcp/authorization/challenge-leads-to-metadata",
    },
    { text: "With a token, and after the handshake, requests succeed.", vector: "mcp/session/listed" },
    { text: "A ping checks the connection.", vector: "mcp/methods/ping" },
    { text: "An unknown tool.", vector: "mcp/methods/unknown-tool" },
    {
      text: "A tool that needs a wider scope than that of the token.",
      vector: "mcp/authorization/too-little-scope",
    },
    { text: "A token for another server.", vector: "mcp/authorization/wrong-audience" },
    {
      text: "A session id does not replace the token.",
      vector: "mcp/authorization/session-is-no-token",
    },
    {
      text: "A request from a foreign web page is refused.",
      vector: "mcp/http/origin-foreign",
    },
    { text: "The client ends the session.", vector: "mcp/session/ended" },
  ],
};
