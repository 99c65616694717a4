/**
 * Counts the calls of tools of one instance, for `listTools`.
 *
 * @module
 */
import type { Observe } from "../events.ts";
import type { AdminTool } from "./operation.ts";

interface Counts {
  calls: number;
  failed: number;
}

/** An observer that counts calls, and the tools of a server with their counts. */
export interface ToolCounts {
  /** Passes each event on. */
  readonly observe: Observe;
  list(
    tools: readonly {
      readonly entry: Readonly<Record<string, unknown>>;
      readonly scopes: readonly string[];
    }[],
  ): readonly AdminTool[];
}

/** Starts counting. */
export function createToolCounts(observe: Observe): ToolCounts {
  // Names are those of tools that the server has or had.
  const counts = new Map<string, Counts>();
  return {
    observe(event) {
      if (event.type === "tool_called" && event.outcome !== "input_required") {
        let one = counts.get(event.name);
        if (!one) counts.set(event.name, one = { calls: 0, failed: 0 });
        one.calls++;
        if (event.failed) one.failed++;
      }
      observe(event);
    },
    list: (tools) =>
      tools.map(({ entry, scopes }) => {
        const { calls = 0, failed = 0 } = counts.get(String(entry.name)) ?? {};
        return {
          name: String(entry.name),
          title: typeof entry.title === "string" ? entry.title : null,
          description: typeof entry.description === "string" ? entry.description : null,
          scopes,
          calls,
          failed_calls: failed,
        };
      }),
  };
}
