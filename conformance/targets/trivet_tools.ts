/**
 * Tools that vectors need and the official suite does not: what works until it is told to stop, what needs a scope.
 *
 * @module
 */
import { pause } from "../../fixtures/everything/pause.ts";
import { type Definition, tool } from "../../src/mod.ts";

/** As `trivet.json` names them. */
export interface ToolNames {
  readonly scoped_tool: string;
  readonly missing_scope: string;
  readonly slow_tool: string;
}

/** Milliseconds that the slow tool works when nobody stops it. */
const SLOW = 1000;

export function vectorTools({ scoped_tool, missing_scope, slow_tool }: ToolNames): readonly Definition[] {
  return [
    tool({
      name: scoped_tool,
      description: "Needs a scope",
      scopes: [missing_scope],
      run: () => "It was called",
    }),
    tool({
      name: slow_tool,
      description: "Tells that it has begun, and takes a second",
      async run(_, context) {
        await context.progress(1, 2);
        await pause(SLOW, context.signal);
        return "It was not stopped";
      },
    }),
  ];
}
