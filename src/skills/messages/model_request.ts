/**
 * The request of each round to the model: the client's request with the catalogue, the two tools, and what was loaded so
 * far. The same conversation always gives the same bytes, which keeps prompt caches valid.
 *
 * @module
 */
import { SkillError } from "../error.ts";
import type { OpenSkill } from "../disclosure/library.ts";
import { addCatalogue, countBreakpoints, writeCatalogue } from "./catalogue.ts";
import { hasView, rebuildTurns } from "./history.ts";
import { type Block, isObject, type MessagesBody } from "./request.ts";
import { chooseTool, nameTools, replaceTools } from "./skill_tools.ts";
import type { ToolNames } from "./view.ts";

export interface ModelRequest {
  readonly names: ToolNames;
  /** The body of a round. `content` is the message so far, `outputTokens` the tokens that it took. */
  write(content: readonly Block[], round: number, outputTokens: number): string;
  /** The stop reason if the remaining tokens do not suffice for another round; thinking has a minimum. */
  findTokenStop(outputTokens: number): "max_tokens" | "pause_turn" | undefined;
}

/** Prepares what all rounds share. */
export function prepareRequest(body: MessagesBody, skills: readonly OpenSkill[]): ModelRequest {
  const { container: _, ...rest } = body;
  const own = body.tools ?? [];
  const names = nameTools(own);
  // Earlier turns may contain calls for skills that were removed since, and a call needs its tool.
  const tools = skills.length > 0 || body.messages.some(hasView) ? replaceTools(own, names, skills) : own;
  const system = skills.length === 0 ? body.system : addCatalogue(
    body.system,
    writeCatalogue(skills, names.load, names.read),
    countBreakpoints(body),
  );
  const budget = isObject(body.thinking) && typeof body.thinking.budget_tokens === "number"
    ? body.thinking.budget_tokens
    : 0;
  return {
    names,
    write(content, round, outputTokens) {
      const turns = content.length === 0 ? body.messages : [...body.messages, { role: "assistant", content }];
      const choice = chooseTool(body.tool_choice, names, own, round);
      return write({
        ...rest,
        max_tokens: body.max_tokens - outputTokens,
        ...(system !== undefined && { system }),
        ...(tools.length > 0 && { tools }),
        ...(choice !== undefined && { tool_choice: choice }),
        messages: rebuildTurns(turns, names, skills),
      });
    },
    findTokenStop(outputTokens) {
      const left = body.max_tokens - outputTokens;
      return left < 1 ? "max_tokens" : left <= budget ? "pause_turn" : undefined;
    },
  };
}

function write(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    // JSON.stringify() overflows the stack for deep values.
    throw new SkillError("invalid_request_error", "The request body is nested too deeply", { cause });
  }
}
