import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { randomUUID } from "node:crypto";
import { base, drive, redirectUri, signIn, text } from "../drive.mjs";

const TIMEOUT = { timeout: 3000 };

async function connect(options) {
  const transport = new StreamableHTTPClientTransport(new URL(base), options);
  const client = new Client({ name: "conformance-driver", version: "1.0.0" });
  await client.connect(transport, TIMEOUT);
  return { client, transport };
}

/** Calls `echo` of the listed tools, by 2026-07-28. */
async function useModernTools(text) {
  const client = new Client({ name: "conformance-driver", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(base)), TIMEOUT);
  const { tools } = await client.listTools(undefined, TIMEOUT);
  const { name } = tools.find((tool) => tool.name === "echo");
  const { content } = await client.callTool({ name, arguments: { text } }, TIMEOUT);
  await client.close();
  return content[0].text;
}

/** Signs in, and connects with the tokens. */
async function authorize() {
  const authProvider = new Memory();
  const transport = new StreamableHTTPClientTransport(new URL(base), { authProvider });
  await new Client({ name: "conformance-driver", version: "1.0.0" }).connect(transport, TIMEOUT)
    .catch((error) => {
      if (!authProvider.url) throw error;
    });
  const { searchParams } = await signIn(authProvider.url);
  await transport.finishAuth(searchParams);
  return await connect({ authProvider });
}

async function useTools({ client, transport }) {
  const { tools } = await client.listTools(undefined, TIMEOUT);
  const text = await callEcho(client);
  await transport.terminateSession();
  await client.close();
  return { tools: tools.length, text };
}

async function callEcho(client) {
  const { content } = await client.callTool({ name: "echo", arguments: { text: "hello" } }, TIMEOUT);
  return content[0].text;
}

/** An application that keeps what the client gives it to keep. */
class Memory {
  redirectUrl = redirectUri;
  clientMetadata = {
    redirect_uris: [redirectUri],
    client_name: "Driver",
    token_endpoint_auth_method: "none",
  };
  stored = {};
  state() {
    return this.stored.state ??= randomUUID();
  }
  clientInformation() {
    return this.stored.client;
  }
  saveClientInformation(client) {
    this.stored.client = client;
  }
  tokens() {
    return this.stored.tokens;
  }
  saveTokens(tokens) {
    this.stored.tokens = tokens;
  }
  redirectToAuthorization(url) {
    this.url = url;
  }
  saveCodeVerifier(verifier) {
    this.stored.verifier = verifier;
  }
  codeVerifier() {
    return this.stored.verifier;
  }
  saveDiscoveryState(state) {
    this.stored.discovery = state;
  }
  discoveryState() {
    return this.stored.discovery;
  }
}

await drive({
  tools: async () => await useTools(await connect()),
  measure: async () => {
    const { client } = await connect();
    await client.listTools(undefined, TIMEOUT);
    return await client.callTool({ name: "measure", arguments: {} }, TIMEOUT);
  },
  cancel: async () => {
    const { client } = await connect();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 300);
    const options = { ...TIMEOUT, signal: abort.signal };
    const result = await client.callTool({ name: "wait", arguments: {} }, options).catch(() => "given up");
    if (result !== "given up") throw new Error("the call ended");
    await new Promise((resolve) => setTimeout(resolve, 200));
    return await callEcho(client);
  },
  modern: () => useModernTools("hello"),
  modern_text: () => useModernTools(text),
  authorize: async () => await useTools(await authorize()),
  refresh_at_once: async () => {
    const { client } = await authorize();
    return await Promise.all([callEcho(client), callEcho(client)]);
  },
});
