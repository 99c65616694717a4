import { connectMcp } from "../../../src/mcp_client.ts";

/** The flows of Trivet's client, by name. @param base URL of the server @param text what `modern_text` sends */
export function createFlows(base, text) {
  const connect = (revision) =>
    connectMcp({
      url: base,
      name: "conformance-driver",
      version: "1.0.0",
      revision,
      limits: { timeout: 3000 },
    });

  return {
    tools: async () => await useTools(await connect("2025-11-25"), "hello"),
    measure: async () => {
      const client = await connect("2025-11-25");
      await client.listAll("tools");
      const result = await client.request("tools/call", { name: "measure", arguments: {} });
      await client.close();
      return result;
    },
    cancel: async () => {
      const client = await connect("2025-11-25");
      const abort = new AbortController();
      setTimeout(() => abort.abort(new Error("given up")), 300);
      const call = client.request("tools/call", { name: "wait", arguments: {} }, { signal: abort.signal });
      const result = await call.catch(() => "given up");
      if (result !== "given up") throw new Error("the call ended");
      await new Promise((resolve) => setTimeout(resolve, 200));
      return await callEcho(client, "hello");
    },
    modern: async () => await useTools(await connect(), "hello"),
    modern_text: async () => await useTools(await connect(), text),
  };
}

/** Calls `echo` if it is listed, and ends the session. */
async function useTools(client, text) {
  const tools = await client.listAll("tools");
  if (!tools.some(({ name }) => name === "echo")) throw new Error("echo is not offered");
  const result = await callEcho(client, text);
  await client.close();
  return result;
}

async function callEcho(client, text) {
  const { content } = await client.request("tools/call", { name: "echo", arguments: { text } });
  return content[0].text;
}
