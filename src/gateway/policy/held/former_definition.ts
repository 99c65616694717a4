/**
 * The definition of a changed tool with the description that was approved, for `whileHeld: "approved"`.
 *
 * @module
 */
import type { ToolDefinition } from "../../../mcp/definition/definition.ts";
import type { OfferedDefinition } from "../offered.ts";
import { republish, type ToolEntry } from "./tool_entry.ts";

/** Finds it by the changed tool and the approved entry, as JSON. */
export type FindFormer = (tool: OfferedDefinition & ToolDefinition, entry: string) => OfferedDefinition;

/** One definition has one object, as long as its tool is offered. */
export function createFormerDefinitions(): FindFormer {
  const formers = new WeakMap<
    OfferedDefinition,
    { readonly entry: string; readonly former: OfferedDefinition }
  >();
  return (tool, entry) => {
    const kept = formers.get(tool);
    if (kept?.entry === entry) return kept.former;
    const { name: _, ...approved } = JSON.parse(entry) as ToolEntry;
    const { title: _1, description: _2, input: _3, output: _4, annotations: _5, _meta: _6, ...rest } = tool;
    const former = {
      ...rest,
      ...approved,
      input: republish(tool.input, approved.input),
      output: republish(tool.output, approved.output),
    } as unknown as OfferedDefinition;
    formers.set(tool, { entry, former });
    return former;
  };
}
