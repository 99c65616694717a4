/**
 * Tools that vectors need beside those of the official suite: one that can be cancelled, one that needs a scope, one with
 * an output schema, and one whose task ends at once with an error.
 *
 * @module
 */
import { pause } from "../../fixtures/everything/pause.ts";
import { type Definition, tool, ToolError } from "../../src/mod.ts";

/** Names of the tools, from `trivet.json`. */
export interface ToolNames {
  readonly scoped_tool: string;
  readonly missing_scope: string;
  readonly slow_tool: string;
  readonly structured_tool: { readonly name: string };
}

/** How long the slow tool runs if it is not cancelled. */
const SLOW_TOOL_MS = 1000;

export function vectorTools(
  { scoped_tool, missing_scope, slow_tool, structured_tool }: ToolNames,
): readonly Definition[] {
  return [
    tool({
      name: scoped_tool,
      description: "Needs a scope",
      scopes: [missing_scope],
      run: () => "Called",
    }),
    tool({
      name: slow_tool,
      description: "Reports progress and takes a second",
      async run(_, context) {
        await context.progress(1, 2);
        await pause(SLOW_TOOL_MS, context.signal);
        return "Not cancelled";
      },
    }),
    tool({
      name: structured_tool.name,
      description: "Measures the temperature",
      output: {
        type: "object",
        properties: { celsius: { type: "number" } },
        required: ["celsius"],
      },
      run: () => ({ celsius: 21.5 }),
    }),
    tool({
      name: "failing_task",
      description: "Ends its task with a tool error",
      task: "optional",
      run() {
        throw new ToolError("It failed");
      },
    }),
  ];
}
