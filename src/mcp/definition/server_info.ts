/**
 * `serverInfo`, by revision (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization).
 *
 * @module
 */
import type { Icon } from "./content.ts";
import { membersFor } from "../revision_shape.ts";

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  /** Display name (2025-06-18). */
  readonly title?: string | undefined;
  /** Since 2025-11-25, as `websiteUrl`. */
  readonly description?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
}

/** The `Implementation` of `initialize` and `server/discover`. */
export function implementation(info: ServerInfo, revision: string): Record<string, unknown> {
  const { name, version, title, description, websiteUrl, icons } = info;
  const newer = revision >= "2025-11-25" && { description, websiteUrl };
  return membersFor(revision, { name, title, version, ...newer, icons });
}
