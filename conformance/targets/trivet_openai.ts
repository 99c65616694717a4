/**
 * Trivet with OpenAI's dialect of the Skills API, as a target in this process: the other dialects are `trivet.ts`.
 *
 * @module
 */
import type { ModuleTarget } from "../runner/target_file.ts";
import { start as startTrivet } from "./trivet.ts";

export function start(): Promise<ModuleTarget> {
  return startTrivet({ openai: true });
}
