/**
 * Trivet with OpenAI's dialect of the Skills API, as a target in this process: the other dialects are `trivet.ts`.
 *
 * @module
 */
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_world.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({ openai: true });
}
