/**
 * Starts upstreams and calls their tools. Only tests import this.
 *
 * @module
 */
import type { ToolDefinition } from "../../mcp/definition/definition.ts";
import { type Script, scripted } from "./test_scripted_client.ts";
import type { Upstreams } from "./upstream_definition.ts";
import { createUpstreams, type UpstreamsOptions } from "./upstreams.ts";

/** Upstreams whose servers follow these scripts. */
export function start(
  scripts: Record<string, Script>,
  options: Partial<UpstreamsOptions> = {},
): { readonly clients: ReturnType<typeof scripted>["clients"]; readonly upstreams: Upstreams } {
  const { clients, upstreams } = scripted(scripts);
  return {
    clients,
    upstreams: createUpstreams({
      ...upstreams,
      startTimeout: 30_000,
      ...options,
    }),
  };
}

/** The names of the tools and prompts that are offered. */
export const names = (upstreams: Upstreams): string[] =>
  upstreams.list(undefined).flatMap((each) =>
    each.kind === "tool" || each.kind === "prompt" ? [each.name] : []
  );

export const findTool = (upstreams: Upstreams, name: string): ToolDefinition =>
  upstreams.list(undefined).find((each) => each.kind === "tool" && each.name === name) as ToolDefinition;

/** The first value that a function of {@linkcode Upstreams} reports. */
export const first = <Value>(watch: (report: (value: Value) => void) => () => void): Promise<Value> =>
  new Promise((resolve) => {
    // The timers of upstreams keep no process alive.
    const alive = setInterval(() => {}, 1000);
    const stop = watch((value) => {
      clearInterval(alive);
      stop();
      resolve(value);
    });
  });
