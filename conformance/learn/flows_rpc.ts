/**
 * The flows that are messages: JSON-RPC by its own examples, and a session of MCP.
 *
 * @module
 */
import type { Flow } from "./flow.ts";

export const JSON_RPC: Flow = {
  name: "jsonrpc",
  title: "JSON-RPC 2.0",
  about: "A method is called by name, and its result comes back: the specification's own examples.",
  points: [],
  parts: [
    { says: "A call, with parameters by position.", vector: "jsonrpc/examples/by-position" },
    { says: "The same by name.", vector: "jsonrpc/examples/by-name" },
    { says: "A method that there is not.", vector: "jsonrpc/examples/unknown-method" },
    { says: "Parameters that do not fit.", vector: "jsonrpc/examples/wrong-parameters" },
    { says: "Text that is not JSON.", vector: "jsonrpc/examples/parse-error" },
    { says: "JSON that is no request.", vector: "jsonrpc/examples/invalid-request" },
    { says: "A notification has no id, and so no answer.", vector: "jsonrpc/examples/update-notification" },
    { says: "Several at once.", vector: "jsonrpc/examples/batch-mixed" },
    { says: "Several that want no answer.", vector: "jsonrpc/examples/batch-of-notifications" },
  ],
};

export const MCP: Flow = {
  name: "mcp",
  title: "A session of MCP over HTTP",
  about: "An agent finds out who may let it in, gets a token, shakes hands, uses tools, and leaves.",
  points: [
    {
      fits: { endpoint: "token" },
      says: "The client gets a token for the tool endpoint, and for nothing else.",
      rows: ["rfc6749#4.4.2/1", "mcp-2025-11-25#authorization/5"],
    },
    {
      fits: { endpoint: "mcp", request: '"method":"initialize"', status: [200] },
      says: "The handshake: which revision, what each side can do. The session's id comes in a field.",
      rows: [
        "mcp-2025-11-25#lifecycle/1",
        "mcp-2025-11-25#lifecycle/2",
        "mcp-2025-11-25#transports/5",
        "mcp-2025-11-25#transports/7",
      ],
    },
    {
      fits: { endpoint: "mcp", request: '"method":"notifications/initialized"' },
      says: "The client says that it is ready. There is nothing to answer.",
      rows: ["mcp-2025-11-25#transports/3"],
    },
  ],
  parts: [
    { says: "A stranger knocks, and is told whom to ask.", vector: "mcp/authorization/no-token" },
    {
      says: "From the challenge to the authorization server.",
      vector: "mcp/authorization/challenge-leads-to-metadata",
    },
    { says: "With a token, and after the handshake, requests are answered.", vector: "mcp/session/listed" },
    { says: "Is the other side still there?", vector: "mcp/methods/ping" },
    { says: "A tool that there is not.", vector: "mcp/methods/unknown-tool" },
    { says: "A tool that wants more than the token allows.", vector: "mcp/authorization/too-little-scope" },
    { says: "A token for another server.", vector: "mcp/authorization/wrong-audience" },
    {
      says: "A session's id says which session, not who asks.",
      vector: "mcp/authorization/session-is-no-token",
    },
    {
      says: "A page in a browser is not the client, whatever it can reach.",
      vector: "mcp/http/origin-foreign",
    },
    { says: "The client leaves.", vector: "mcp/session/ended" },
  ],
};
