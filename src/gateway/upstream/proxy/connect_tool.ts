/**
 * The tool that an upstream offers to users who are not connected to it yet.
 *
 * @module
 */
import type { ToolDefinition } from "../../../mcp/definition/definition.ts";
import { toToolError } from "../failure.ts";
import { createNames } from "../names.ts";
import type { FromUpstream } from "../upstream_definition.ts";
import type { CallTarget } from "./call_target.ts";
import { connectUser } from "./connect_user.ts";

/** `NAME_connect`: sends the user to the page where the upstream is connected. */
export function connectTool(
  target: CallTarget,
  prefix: string,
  prefixes: readonly string[],
): ToolDefinition & FromUpstream {
  const { name, serverDigest, timeout } = target;
  return {
    kind: "tool",
    name: createNames(prefix, prefixes)("connect"),
    description: `Connects the user's account at "${name}". Its tools are available afterwards.`,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    upstream: name,
    serverDigest,
    originalName: "connect",
    isOwn: true,
    async run(_, context) {
      try {
        await enter(target, context).catch(async (error) => {
          await connectUser(error, target, context);
          await enter(target, context);
        });
      } catch (error) {
        throw toToolError(name, error, timeout);
      }
      return `"${name}" is connected. Its tools are available now.`;
    },
  };
}

async function enter(target: CallTarget, context: Parameters<CallTarget["enter"]>[0]): Promise<void> {
  target.leave(await target.enter(context));
}
