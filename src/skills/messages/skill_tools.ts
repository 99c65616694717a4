/**
 * The two tools by which a model without a sandbox loads skills. They replace the code execution tool of the request; the
 * client's own tools are unchanged.
 *
 * @module
 */
import type { OpenSkill } from "../disclosure/library.ts";
import { invalid, isObject, type Members, type Tool } from "./request.ts";
import type { ToolNames } from "./view.ts";

const CODE_EXECUTION = /^code_execution_\d{8}$/;

/** @throws {SkillError} when `tools` lacks the code execution tool, which skills require */
export function checkCodeExecution(tools: readonly Tool[] | undefined): void {
  if (tools?.some(isCodeExecution)) return;
  throw invalid(
    "tools",
    'skills require a code execution tool. Add {"type":"code_execution_20250825","name":"code_execution"}',
  );
}

function isCodeExecution({ type }: Tool): boolean {
  return typeof type === "string" && CODE_EXECUTION.test(type);
}

/** Names for the two tools that differ from the client's tools. */
export function nameTools(tools: readonly Tool[]): ToolNames {
  const taken = new Set(tools.map(({ name }) => name));
  return { load: findFreeName("load_skill", taken), read: findFreeName("read_skill_file", taken) };
}

function findFreeName(name: string, taken: ReadonlySet<string>): string {
  let candidate = name;
  for (let number = 2; taken.has(candidate); number++) candidate = `${name}_${number}`;
  return candidate;
}

/** The tools that the model receives. */
export function replaceTools(
  tools: readonly Tool[],
  names: ToolNames,
  skills: readonly Pick<OpenSkill, "name">[],
): Members[] {
  const replaced: Members[] = [];
  const ours = defineTools(names, skills);
  const marks = tools.filter(isCodeExecution).map(({ cache_control }) => cache_control).filter(isObject);
  // Keep the cache breakpoint of the tool that is replaced.
  if (marks.length > 0) ours[1] = { ...ours[1], cache_control: marks[0] };
  let placed = false;
  for (const tool of tools) {
    if (!isCodeExecution(tool)) replaced.push(tool);
    else if (!placed) {
      replaced.push(...ours);
      placed = true;
    }
  }
  return placed ? replaced : [...replaced, ...ours];
}

function defineTools(names: ToolNames, skills: readonly Pick<OpenSkill, "name">[]): Members[] {
  const name = {
    type: "string",
    description: "Name of the skill, as listed in <available_skills>",
    // JSON Schema: an enum should have at least one value.
    ...(skills.length > 0 && { enum: skills.map((skill) => skill.name) }),
  };
  const object = (properties: Members, required: readonly string[]): Members => ({
    type: "object",
    properties,
    required,
    additionalProperties: false,
  });
  return [{
    name: names.load,
    description: "Returns the instructions of a skill and the list of its files. " +
      "Call it once for each skill that matches the task, before anything else.",
    input_schema: object({ name }, ["name"]),
  }, {
    name: names.read,
    description: "Returns a text file of a skill, whole or in part. " +
      "Call it when the instructions of the skill refer to the file.",
    input_schema: object({
      name,
      path: { type: "string", description: "Path in the skill, such as references/forms.md" },
      offset: { type: "integer", minimum: 1, description: "First line to read. Default: 1" },
      limit: { type: "integer", minimum: 1, description: "Number of lines to read. Default: all" },
    }, ["name", "path"]),
  }];
}

/**
 * `tool_choice` for a round. Choosing the code execution tool means loading a skill. A forced tool is forced in the first
 * round only: otherwise the model could never answer.
 */
export function chooseTool(
  choice: unknown,
  names: ToolNames,
  tools: readonly Tool[],
  round: number,
): unknown {
  if (!isObject(choice) || choice.type !== "tool" && choice.type !== "any") return choice;
  if (round > 0) {
    const { disable_parallel_tool_use } = choice;
    return { type: "auto", ...(disable_parallel_tool_use !== undefined && { disable_parallel_tool_use }) };
  }
  const isOurs = choice.type === "tool" &&
    tools.some((tool) => isCodeExecution(tool) && tool.name === choice.name);
  return isOurs ? { ...choice, name: names.load } : choice;
}
