/**
 * What each row of a benchmark does and what it leaves out. A row has the sentences of all patterns that its name matches:
 * one of the operation, and one of the server or the mode.
 *
 * @module
 */

const NETWORK = "The client is another process on the same machine, which also uses processor time.";

const EXPLANATIONS: readonly (readonly [name: RegExp, sentence: string])[] = [
  // In process.
  [
    /^floor: (GET|POST), bare Response\.json$/,
    "A handler that returns a constant as JSON: the cost of a Request and a Response. It reads no body, finds no route and checks nothing, so no server can reach it.",
  ],
  [
    /^MCP tools\/call, /,
    "Parses a JSON-RPC message of revision 2025-11-25, validates the arguments by the tool's JSON Schema, runs the tool and responds as JSON. No session and no token; no network.",
  ],
  [
    /^client_credentials, opaque/,
    "Authenticates the client by its secret, stores an opaque token in the memory store and responds. No network and no database.",
  ],
  [
    /tokens stored$/,
    "The store contains that many other tokens, to show whether the number of records matters.",
  ],
  [
    /, rate limits$/,
    "With limits on address, client and user that the calls never reach.",
  ],
  [
    /^baseline: ES256 sign/,
    "Signs 300 bytes with ES256 by WebCrypto and returns a constant as JSON: what a signed token costs at least. It builds no token and authenticates no client.",
  ],
  [
    /^client_credentials, signed JWT$/,
    "Like client_credentials, but the access token is a JWT that is signed with ES256.",
  ],
  [
    /^GET \/api\/user$/,
    "Finds an access token of a user in the memory store and responds with the user's claims. No network.",
  ],
  [
    /GET \/v1\/skills, (page of 20|first page)/,
    "Checks an API key and lists the first 20 skills. No content of a skill is read.",
  ],
  // Over HTTP.
  [
    /^floor: (GET|POST), raw node:http$/,
    `Bare node:http that parses the JSON body and responds with a constant: no routes, no checks, no tools. ${NETWORK}`,
  ],
  [
    /^GET metadata document$/,
    `The authorization server's metadata (RFC 8414), on trivet/node. ${NETWORK}`,
  ],
  [
    /^POST MCP tools\/call$/,
    `Calls a tool without a session and without a token, on trivet/node. ${NETWORK}`,
  ],
  [
    /^POST client_credentials, opaque$/,
    `Issues an opaque token from the memory store, on trivet/node. ${NETWORK}`,
  ],
  // Authorization servers.
  [
    /^floor: raw node:http$/,
    "Bare node:http that reads the form and responds with a constant token: it parses nothing, authenticates no client and stores nothing.",
  ],
  [
    /^client_credentials: /,
    "Authenticates the client by its secret in the form, issues and stores an access token.",
  ],
  [
    /^introspection: /,
    "Authenticates the client and tells whether one of 1,000 access tokens is active (RFC 7662).",
  ],
  [
    /^authorize, live session: /,
    "Issues a code, with PKCE, to a user who has signed in and consented before: no page is shown.",
  ],
  [
    /^code exchange: /,
    "Exchanges a code with its verifier for an access token and a refresh token.",
  ],
  [
    /^refresh: /,
    "Consumes a refresh token and issues a new one with an access token.",
  ],
  [
    /^(?!floor).*: floor$/,
    "Bare node:http with the digests, the random values and the reads and the commit in a memory store that the operation needs: it checks nothing beyond the secrets, and finds parameters by a search in the text.",
  ],
  [
    /: Trivet$/,
    "Trivet on trivet/node with its memory store, with all its checks: reuse of a refresh token revokes the family, secrets and tokens are stored as digests.",
  ],
  [
    /: oidc-provider$/,
    "oidc-provider on node:http with an adapter of Maps instead of its own memory adapter, which keeps only 1,000 records.",
  ],
  [
    /: @node-oauth\/oauth2-server$/,
    "@node-oauth/oauth2-server on Express with the model of its documentation in Maps. The model keeps tokens, codes and the client secret in the clear and compares the secret without a digest. A refresh deletes the old token: a client that lost the response cannot repeat its request, and reuse of an old token ends nothing. It has no introspection and no pages: both are written for this bench, with the package's own check of a token.",
  ],
  [
    /: floor$/,
    "The floor of this operation: bare node:http with the digests, random values, reads and the commit in the memory store that the operation needs. It checks nothing.",
  ],
  [
    /: better-auth$/,
    "better-auth with its plugin oauth-provider on node:http and SQLite in memory, because its memory adapter searches all records for each token. Every call runs statements of SQLite, which the servers with Maps do not. It issues refresh tokens only for offline_access, and caches the client. Its rate limiter is off. It has no row with many tokens, because it issues only some hundred per second.",
  ],
  [
    /: workers-oauth-provider$/,
    "@cloudflare/workers-oauth-provider in workerd, started by Miniflare, with Miniflare's KV, which writes to files and is not the KV of Cloudflare. It runs on another runtime than the others, and the processor time is that of workerd with its KV. It encrypts the properties of each grant. It has neither client_credentials nor introspection, so these rows are missing, as are the rows with many tokens.",
  ],
  // Stores.
  [
    /^raw client: /,
    "The client of the engine executes the statements of the driver and parses the same JSON. It encodes no keys of lists, checks no conditions and tells no watcher.",
  ],
  [/: get, /, "Reads one record by its key, chosen at random."],
  [
    /: commit, one set, /,
    "Writes one record, chosen at random, and waits until the engine has it.",
  ],
  [
    /: put and take once, /,
    "Writes a record that must not exist, and removes it: two commits with conditions.",
  ],
  [
    /: list, page of 20, /,
    "Reads 20 records in the order of their keys, from a random one.",
  ],
  [
    /^(memory|SQLite|PostgreSQL|Redis): /,
    "The engine is on the same machine, with its durable settings.",
  ],
  [
    /^floor: bare/,
    "Responds with a constant: no routes, no checks and no store.",
  ],
  [
    /: token endpoint$|^token endpoint: /,
    "Issues an access token for client credentials, which writes one record. The server is `trivet serve`.",
  ],
  [
    /: introspection$/,
    "Tells whether one access token is active, which reads records. The server is `trivet serve`.",
  ],
  // Observers, telemetry and the gateway.
  [/^tools\/call: /, "Calls a tool that adds, without a session."],
  [
    /: (all off|logs|audit|metrics|logs, audit, metrics)$/,
    "The part after the colon names what `trivet serve` writes during the calls: log lines, the audit log, metrics. No program reads the metrics during the run.",
  ],
  [
    /: built without the hook$/,
    "The same sources, from which the code that calls `telemetry` was cut out.",
  ],
  [/: telemetry off$/, "The sources as they are, without the option."],
  [
    /: OpenTelemetry/,
    "With the option, and what the name says. No exporter sends anything.",
  ],
  [
    /^in process, direct$|^over HTTP, direct$/,
    "The client calls the tool at the upstream itself, without a gateway. The processor time is that of the client and of all servers.",
  ],
  [
    /^(in process|over HTTP), \d+ upstream/,
    "The client calls the tool through a gateway in front of that many upstreams. The processor time is that of the client and of all servers.",
  ],
  [
    /^gateway, /,
    "The client calls a tool of one server over stdio through the gateway, over HTTP. The processor time is that of the gateway's process alone. `trivet serve` writes its audit trail; the others have none.",
  ],
  // Skills.
  [
    /^(memory|SQLite|PostgreSQL): GET \/v1\/skills, the page after/,
    "Lists the fourth page, by its cursor.",
  ],
  [/: GET \/v1\/skills\/\{id\} of/, "Reads one skill, chosen at random."],
  [
    /: GET \/v1\/skills\/\{id\}\/versions/,
    "Lists the versions of a skill, chosen at random.",
  ],
  [
    /: load_skill by name/,
    "Calls the tool that returns the instructions of a skill, found by its name.",
  ],
  [/: skills\/list/, "Lists a page of skills as the MCP extension does."],
  [
    /: POST \/v1\/messages/,
    "Starts a message with two skills on a scripted model, which responds at once.",
  ],
  [
    /: upload, /,
    "Uploads a skill of 8 MB, through the handler: parses the form and the archive, checks every rule of skills, hashes and stores. Each pays for its own garbage.",
  ],
  [
    /: hash and write, /,
    "Hashes 8 MB by Web Crypto and writes them to the store in records of 512 KB. It reads no request, unpacks nothing and checks nothing.",
  ],
  [
    /^memory of an upload: /,
    "The peak of a new server on SQLite during one upload over HTTP, minus its memory before. The limit is 16 MB.",
  ],
  // Streams and instances.
  [
    /^idle streams: bare node:http$/,
    "Keeps the responses in a Set and writes the same text to each: what a connection costs on Node.",
  ],
  [
    /^idle streams: Trivet$/,
    "The GET stream of a session of its own each, on trivet/node. The notification is a change of the tools, by the store.",
  ],
  [
    /^instances: request$/,
    "One instance at a time has the load; the others on the same store pay for being there. The rate is on paper: instances, times the processor time of one alone, divided by that of all.",
  ],
  [
    /^instances: commit, /,
    "What a commit costs all instances that watch the store, of a record that they watch or of another one.",
  ],
  // Tool servers (MCP).
  [
    /^floor$/,
    "The cost of any handler: in process a constant Response.json, over HTTP bare node:http, over stdio one parsed and one written line. It checks nothing and has no tools.",
  ],
  [
    /^a bare switch$/,
    "The minimum of a server: it parses the message and responds completely, almost without checks. It has no sessions, no limits, no schemas and no cancellation.",
  ],
  [
    /^Trivet(, JSON Schema)?$/,
    "One server for all requests. It checks Host and Origin, limits bodies, validates arguments and reads access tokens.",
  ],
  [/^bare Node$/, "Node with a line of code that answers everything alike: what its start takes."],
  [
    /^trivet stdio$/,
    "The published command with a file of tools. It opens its store, and loads later what no tool needs.",
  ],
  [/^Trivet, trivet\/mcp alone$/, "The built package, of which only the tool server is loaded."],
  [/^Trivet, from sources$/, "The sources, from which Node strips the types at each start."],
  [
    /^sdk 1/,
    "@modelcontextprotocol/sdk, as its documentation says: without a session a new server with all tools for each request, in a session one in a Map. Responses are JSON, which is faster than its default.",
  ],
  [
    /^server 2/,
    "@modelcontextprotocol/server with createMcpHandler: a new server with all tools for each request; sessions in a Map. Without a session it always responds with an event stream.",
  ],
  [/, JSON Schema$/, "Tools have JSON Schema instead of zod schemas."],
  [
    /, schemas in factory$/,
    "The zod schemas are created for each request, as its documentation shows.",
  ],
  [
    /^mcp-lite/,
    "One server for all requests, sessions in its memory adapter. It supports handshakes up to 2025-06-18, has no stdio, does not limit bodies and does not check Host and Origin by default.",
  ],
  [
    /, JSON responses$/,
    "Its clients accept only JSON, which the transport does not allow; it then sends no event stream.",
  ],
  [
    /^tmcp/,
    "One server and one transport for all requests. It always responds with an event stream, supports handshakes up to 2025-06-18, and does not limit bodies.",
  ],
  [
    /^fastmcp/,
    "fastmcp, which is built on @modelcontextprotocol/sdk: a new session with all tools for each request or in a session. Over HTTP its own listener, which is not a handler; in process therefore `fastmcp/edge`, a smaller implementation without sessions. Responses are JSON where its listener allows it.",
  ],
];

/** The sentences of all patterns that the name matches; `undefined` if there are none. */
export function explain(name: string): string | undefined {
  const sentences = EXPLANATIONS.filter(([pattern]) => pattern.test(name)).map((
    [, sentence],
  ) => sentence);
  return sentences.length === 0 ? undefined : sentences.join(" ");
}
