/**
 * Trivet as a target in this process: every service, on the memory store, with a clock that is moved by hand. What is
 * registered stands in `trivet.json`, beside it.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { skillFolder } from "../../src/runtime/skill_folder.ts";
import { type Described, startWorlds, type TrivetTarget, type WorldOptions } from "./trivet_world.ts";

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export type StartOptions = Omit<WorldOptions, "described" | "folder">;

export function start(options: StartOptions = {}): Promise<TrivetTarget> {
  const described: Described = JSON.parse(readFileSync(pathOf("trivet.json"), "utf8"));
  return startWorlds({ ...options, described, folder: skillFolder(pathOf("../../fixtures/skills")) });
}
