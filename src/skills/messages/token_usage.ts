/**
 * Token usage. Within one response later numbers replace earlier ones; those of several responses are added.
 *
 * @module
 */
import { isObject, type Members } from "./request.ts";

/** Usage of one response, merged from its events: a null member keeps its earlier value. */
export function replaceUsage(before: unknown, after: unknown): Members {
  const given = Object.entries(isObject(after) ? after : {}).filter(([, value]) => value !== null);
  return { ...isObject(before) ? before : {}, ...Object.fromEntries(given) };
}

/** Usage of two responses: numbers are added, also in nested objects; other values are replaced. */
export function addUsage(a: Members, b: Members): Members {
  const sum: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const other = sum[name];
    if (typeof value === "number" && typeof other === "number") sum[name] = other + value;
    else if (isObject(value) && isObject(other)) sum[name] = addUsage(other, value);
    else if (value !== null || other === undefined) sum[name] = value;
  }
  return sum;
}

/** A member that is a number; 0 otherwise. */
export function countOf(usage: Members, name: string): number {
  const value = usage[name];
  return typeof value === "number" ? value : 0;
}
