/**
 * Rebuilds the conversation for the model endpoint: skills that were loaded in earlier turns, which clients send back as
 * blocks of a server tool, become tool calls and results again.
 *
 * One turn of the client may contain several rounds of the model: blocks, then calls, then their results, which end the
 * round. Results at the end of a turn begin the next user message, together with the client's own results.
 *
 * @module
 */
import type { OpenSkill } from "../disclosure/library.ts";
import type { Block, Turn } from "./request.ts";
import { isView, type ToolNames, toToolResult, toToolUse, VIEW_RESULT } from "./view.ts";

/** The turns, with every loaded skill as the model saw it. Turns without one are returned unchanged. */
export function rebuildTurns(
  turns: readonly Turn[],
  names: ToolNames,
  skills: readonly OpenSkill[],
): Turn[] {
  const rebuilt: Turn[] = [];
  let results: Block[] = [];
  const flushResults = (): void => {
    if (results.length > 0) rebuilt.push({ role: "user", content: results });
    results = [];
  };
  for (const turn of turns) {
    if (turn.role === "user" && results.length > 0) {
      const own = typeof turn.content === "string" ? toBlocks(turn.content) : turn.content;
      rebuilt.push({ ...turn, content: [...results, ...own] });
      results = [];
      continue;
    }
    flushResults();
    if (typeof turn.content === "string" || !hasView(turn)) {
      rebuilt.push(turn);
      continue;
    }
    const ids = findAnsweredCalls(turn.content);
    let content: Block[] = [];
    for (const block of turn.content) {
      if (isResult(block, ids)) {
        if (content.length > 0) rebuilt.push({ role: "assistant", content });
        content = [];
        results.push(toToolResult(block));
        continue;
      }
      // The Messages API refuses a call without a result, which an aborted stream leaves.
      if (isView(block) && !ids.has(block.id as string)) continue;
      if (block.type === "text" && block.text === "") continue;
      if (results.length > 0) flushResults();
      content.push(isView(block) ? toToolUse(block, names, skills) : block);
    }
    if (content.length > 0) rebuilt.push({ ...turn, content });
  }
  flushResults();
  return rebuilt;
}

/** Whether a skill was loaded in the turn. */
export function hasView({ role, content }: Turn): boolean {
  return role === "assistant" && typeof content !== "string" && content.some(isView);
}

/** The ids of calls that have a result. */
function findAnsweredCalls(content: readonly Block[]): ReadonlySet<string> {
  const asked = new Set(content.filter(isView).map(({ id }) => id as string));
  const answered = content.filter(({ type }) => type === VIEW_RESULT).map(({ tool_use_id }) => tool_use_id);
  return new Set(answered.filter((id): id is string => typeof id === "string" && asked.has(id)));
}

function isResult({ type, tool_use_id }: Block, ids: ReadonlySet<string>): boolean {
  return type === VIEW_RESULT && typeof tool_use_id === "string" && ids.has(tool_use_id);
}

function toBlocks(text: string): Block[] {
  return text === "" ? [] : [{ type: "text", text }];
}
