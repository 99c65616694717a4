/**
 * Trivet as a target in this process with OpenAI's dialect of the Skills API. `trivet.ts` has the other dialects.
 *
 * @module
 */
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_target.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({ openai: true });
}
