/**
 * The call that gateways are compared by.
 *
 * @module
 */
import type { McpClient } from "../../../src/mcp_client/client.ts";

/** Calls until the server's code is compiled: before some 10,000 calls each slice is faster than the one before. */
const WARM_UP_CALLS = 12_000;
const WARM_UP_CONCURRENCY = 8;

/** A call of a tool that adds. It throws if the tool failed. */
export function toCall(client: McpClient, name: string): () => Promise<void> {
  return async () => {
    const { isError } = await client.request("tools/call", {
      name,
      arguments: { a: 1, b: 2 },
    });
    if (isError) throw new Error("The tool failed");
  };
}

/** Calls a server in another process until it is warm; resolves to the call. */
export async function warmUp(
  call: () => Promise<void>,
): Promise<() => Promise<void>> {
  let left = WARM_UP_CALLS;
  const repeat = async () => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: WARM_UP_CONCURRENCY }, repeat));
  return call;
}
