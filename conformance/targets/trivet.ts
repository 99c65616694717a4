/**
 * Trivet as a target in this process: every service on the memory store, with an adjustable clock. `trivet.json` lists the
 * registered clients, users and keys.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { skillFolder } from "../../src/runtime/skill_folder.ts";
import { type RegisteredData, startTarget, type TargetOptions, type TrivetTarget } from "./trivet_target.ts";

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export type StartOptions = Omit<TargetOptions, "registered" | "folder">;

export function start(options: StartOptions = {}): Promise<TrivetTarget> {
  const registered: RegisteredData = JSON.parse(readFileSync(pathOf("trivet.json"), "utf8"));
  return startTarget({ ...options, registered, folder: skillFolder(pathOf("../../fixtures/skills")) });
}
