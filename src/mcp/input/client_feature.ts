/**
 * What a client can do, as its capabilities say (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation).
 *
 * @module
 */
import type { ClientFeature } from "../context.ts";

export type Capabilities = Readonly<Record<string, unknown>>;

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Whether the capabilities hold the feature. `elicitation: {}` stands for forms. */
export function hasFeature(capabilities: Capabilities, feature: ClientFeature): boolean {
  if (feature === "tasks") return has(capabilities.extensions, TASKS_EXTENSION);
  const [name, part] = feature.split(".") as [string, string?];
  if (!has(capabilities, name)) return false;
  const value = capabilities[name] as Capabilities;
  if (part !== undefined) return has(value, part);
  return name !== "elicitation" || has(value, "form") || !has(value, "url");
}

/** The capabilities that a client would have to declare for it. */
export function requiredCapabilities(feature: ClientFeature): Capabilities {
  if (feature === "tasks") return { extensions: { [TASKS_EXTENSION]: {} } };
  const [name, part] = feature.split(".") as [string, string?];
  return { [name]: part === undefined ? {} : { [part]: {} } };
}

function has(value: unknown, name: string): boolean {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return false;
  const member = (value as Capabilities)[name];
  return typeof member === "object" && member !== null;
}
