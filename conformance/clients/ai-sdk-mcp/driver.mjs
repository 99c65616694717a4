import { createMCPClient } from "@ai-sdk/mcp";
import { base, drive } from "../drive.mjs";

const call = { toolCallId: "1", messages: [] };

const connect = () => createMCPClient({ transport: { type: "http", url: base } });

// The library has no time limit of its own.
async function inTime(promise) {
  const { promise: late, reject } = Promise.withResolvers();
  setTimeout(() => reject(new Error("no response")), 3000).unref();
  return await Promise.race([promise, late]);
}

await drive({
  tools: async () => {
    const client = await inTime(connect());
    const { echo } = await inTime(client.tools());
    const { content } = await inTime(echo.execute({ text: "hello" }, call));
    await client.close();
    return content[0].text;
  },
  measure: async () => {
    const client = await inTime(connect());
    const { measure } = await inTime(client.tools());
    return await inTime(measure.execute({}, call));
  },
});
