/**
 * Which lists changed when definitions were replaced.
 *
 * @module
 */
import type { ListEntry } from "./list_pages.ts";
import type { Registry } from "./registry.ts";

/** Which lists differ in anything that a client sees. */
export function changedLists(before: Registry, after: Registry): ("tools" | "resources" | "prompts")[] {
  const text = (entries: Iterable<ListEntry>): string =>
    JSON.stringify(Array.from(entries, (entry) => [entry.scopes, entry.describe("9999-12-31")]));
  const resources = (
    { resources, templates }: Registry,
  ): ListEntry[] => [...resources.values(), ...templates];
  return [
    ...(text(before.tools.values()) !== text(after.tools.values()) ? ["tools" as const] : []),
    ...(text(resources(before)) !== text(resources(after)) ? ["resources" as const] : []),
    ...(text(before.prompts.values()) !== text(after.prompts.values()) ? ["prompts" as const] : []),
  ];
}
