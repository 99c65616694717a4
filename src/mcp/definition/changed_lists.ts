/**
 * Finds the lists that change when definitions are replaced, for `notifications/…/list_changed`.
 *
 * @module
 */
import { toJson } from "../../jsonrpc/to_json.ts";
import type { ListEntry } from "./list_pages.ts";
import type { Registry } from "./registry.ts";

/** The lists in which a client sees a difference. */
export function findChangedLists(before: Registry, after: Registry): ("tools" | "resources" | "prompts")[] {
  const text = (entries: Iterable<ListEntry>): string =>
    toJson(Array.from(entries, (entry) => [entry.scopes, entry.describe("9999-12-31")]))!;
  const resources = (
    { resources, templates }: Registry,
  ): ListEntry[] => [...resources.values(), ...templates];
  return [
    ...(text(before.tools.values()) !== text(after.tools.values()) ? ["tools" as const] : []),
    ...(text(resources(before)) !== text(resources(after)) ? ["resources" as const] : []),
    ...(text(before.prompts.values()) !== text(after.prompts.values()) ? ["prompts" as const] : []),
  ];
}
