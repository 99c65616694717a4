/**
 * Lists of an MCP server whose tools are held, for tests.
 *
 * @module
 */
import type { TrivetEvent } from "../../../events.ts";
import { tool } from "../../../mcp/definition/define.ts";
import type { ToolDefinition } from "../../../mcp/definition/definition.ts";
import { memoryStore } from "../../../store/drivers/memory.ts";
import type { Store } from "../../../store/store.ts";
import type { OfferedDefinition } from "../offered.ts";
import { createHolding } from "./create_holding.ts";
import type { HeldTool } from "./held_tools.ts";
import type { Holding, HoldingOptions } from "./holding.ts";

export const toolOf = (name: string, more: Partial<ToolDefinition> = {}): OfferedDefinition => ({
  ...tool({ name: `files_${name}`, description: `Does ${name}`, run: () => name }),
  ...more,
  upstream: "files",
  originalName: name,
});
export const READ: OfferedDefinition = toolOf("read");

export interface TestHolding {
  readonly store: Store;
  readonly events: TrivetEvent[];
  readonly holding: Holding;
  /** The descriptions of what is offered of a list, and how many are held. */
  list(
    definitions: readonly OfferedDefinition[],
    partition?: string,
    upstream?: string,
  ): Promise<[offered: (string | undefined)[], held: number]>;
  heldTools(): Promise<(HeldTool & { readonly id: string })[]>;
  advance(ms: number): void;
}

export function setUp(options: HoldingOptions = {}, store: Store = memoryStore()): TestHolding {
  const events: TrivetEvent[] = [];
  let at = Date.now();
  const holding = createHolding(options, { store, now: () => at, observe: (event) => events.push(event) });
  return {
    store,
    events,
    holding,
    async list(definitions, partition = "", upstream = "files") {
      const { offered, held } = await holding.filter(upstream, partition, definitions);
      return [offered.map((each) => (each as ToolDefinition).description), held.length];
    },
    heldTools: async () =>
      (await store.list<HeldTool>(["held_tool"], { limit: 1000 })).map(({ key, value }) => ({
        id: String(key[1]),
        ...value,
      })),
    advance: (ms) => void (at += ms),
  };
}
