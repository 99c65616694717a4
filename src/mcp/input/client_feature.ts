/**
 * The features that a client declares in its capabilities (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation).
 *
 * @module
 */
import type { ClientFeature } from "../context.ts";

export type Capabilities = Readonly<Record<string, unknown>>;

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Whether the client declared the feature. `elicitation: {}` means forms. */
export function hasFeature(capabilities: Capabilities, feature: ClientFeature): boolean {
  if (feature === "tasks") return hasMember(capabilities.extensions, TASKS_EXTENSION);
  const [name, part] = feature.split(".") as [string, string?];
  if (!hasMember(capabilities, name)) return false;
  const value = capabilities[name] as Capabilities;
  if (part) return hasMember(value, part);
  return name !== "elicitation" || hasMember(value, "form") || !hasMember(value, "url");
}

/** The capabilities that a client must declare to have the feature. */
export function requiredCapabilities(feature: ClientFeature): Capabilities {
  if (feature === "tasks") return { extensions: { [TASKS_EXTENSION]: {} } };
  const [name, part] = feature.split(".") as [string, string?];
  return { [name]: part ? { [part]: {} } : {} };
}

function hasMember(value: unknown, name: string): boolean {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return false;
  const member = (value as Capabilities)[name];
  return typeof member === "object" && member !== null;
}
