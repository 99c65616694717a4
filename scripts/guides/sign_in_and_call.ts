/**
 * What a user does with an MCP client, as a command for the hidden steps of guides: the official client knows the URL
 * alone, the user signs in and consents, and the tool is called. Prints the text of the result.
 * Arguments: URL, tool, its arguments as JSON, then NAME=VALUE for the fields of the sign-in form.
 *
 * @module
 */
import * as mcp from "@modelcontextprotocol/client";
import process from "node:process";
import { browse, CALLBACK } from "../../src/end_to_end/oauth/test_browser.ts";

const [url, name, input, ...fields] = process.argv.slice(2) as [string, string, string, ...string[]];
const login = Object.fromEntries(fields.map((field) => field.split(/=(.*)/s).slice(0, 2)));

const stored: Record<string, unknown> = {};
let redirect: URL | undefined;
const provider = {
  redirectUrl: CALLBACK,
  clientMetadata: { client_name: "Some agent", redirect_uris: [CALLBACK] },
  clientInformation: () => stored["client"],
  saveClientInformation: (client: unknown) => void (stored["client"] = client),
  tokens: () => stored["tokens"],
  saveTokens: (tokens: unknown) => void (stored["tokens"] = tokens),
  redirectToAuthorization: (to: URL) => void (redirect = to),
  codeVerifier: () => stored["verifier"],
  saveCodeVerifier: (verifier: string) => void (stored["verifier"] = verifier),
  discoveryState: () => stored["discovery"],
  saveDiscoveryState: (state: unknown) => void (stored["discovery"] = state),
} as unknown as mcp.OAuthClientProvider;

const newTransport = () => new mcp.StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
const newClient = () => new mcp.Client({ name: "guide", version: "1" });

const first = newTransport();
const error = await newClient().connect(first).catch((error) => error);
if (redirect === undefined) throw new Error(`the client was not sent to a login: ${error}`);
const { searchParams } = await browse(redirect, login);
const code = searchParams.get("code");
if (code === null) throw new Error(`no code: ${searchParams}`);
await first.finishAuth(code, searchParams.get("iss") ?? undefined);
const client = newClient();
await client.connect(newTransport());
const { content, isError } = await client.callTool({ name, arguments: JSON.parse(input) }) as {
  content: { text: string }[];
  isError?: boolean;
};
for (const { text } of content) console.log(text);
await client.close();
process.exit(isError ? 1 : 0);
