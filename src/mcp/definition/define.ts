/**
 * Makes definitions: checks what an author writes, as far as one definition alone shows it. `registry.ts` checks the rest.
 *
 * @module
 */
import { isObject } from "../../json_schema/value.ts";
import { checkNames, type Names } from "../../options/option_check.ts";
import type { CallContext } from "../context.ts";
import { cannotDefine } from "../error.ts";
import type { AnySchema, Parsed, Unparsed } from "../schema/standard_schema.ts";
import type { ToolResult } from "./content.ts";
import type {
  PromptArgument,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from "./definition.ts";
import { variableNames } from "./uri/uri_expression.ts";

// Other names are refused: a tool with `scope` for `scopes` would be open to all callers. What the tables share is not spread
// into them: bundlers would keep those of kinds that an app does not use.
const TOOL_NAMES: Names<ToolDefinition, "unknown"> = {
  kind: "unknown",
  name: "unknown",
  title: "unknown",
  description: "unknown",
  icons: "unknown",
  scopes: "string[]",
  _meta: "unknown",
  input: "unknown",
  output: "unknown",
  annotations: "unknown",
  task: "unknown",
  run: "function",
};
const RESOURCE_NAMES: Names<ResourceDefinition, "unknown"> = {
  kind: "unknown",
  name: "unknown",
  title: "unknown",
  description: "unknown",
  icons: "unknown",
  scopes: "string[]",
  _meta: "unknown",
  uri: "unknown",
  mimeType: "unknown",
  size: "unknown",
  annotations: "unknown",
  ttl: "unknown",
  cacheScope: "unknown",
  read: "function",
};
const TEMPLATE_NAMES: Names<ResourceTemplateDefinition, "unknown"> = {
  kind: "unknown",
  name: "unknown",
  title: "unknown",
  description: "unknown",
  icons: "unknown",
  scopes: "string[]",
  _meta: "unknown",
  uriTemplate: "unknown",
  mimeType: "unknown",
  annotations: "unknown",
  ttl: "unknown",
  cacheScope: "unknown",
  list: "function",
  complete: "unknown",
  isListed: "boolean",
  read: "function",
  exists: "function",
};
const PROMPT_NAMES: Names<PromptDefinition, "unknown"> = {
  kind: "unknown",
  name: "unknown",
  title: "unknown",
  description: "unknown",
  icons: "unknown",
  scopes: "string[]",
  _meta: "unknown",
  arguments: "unknown",
  get: "function",
};
// `registry.ts` checks `required`: its message names the prompt.
const ARGUMENT_NAMES: Readonly<Record<keyof PromptArgument, "unknown" | "function">> = {
  name: "unknown",
  title: "unknown",
  description: "unknown",
  required: "unknown",
  complete: "function",
};

/** The parameter of {@linkcode tool}: `run` gets values of `input` and returns values of `output`. */
export type ToolOf<Input extends AnySchema, Output extends AnySchema | undefined> =
  & Omit<ToolDefinition, "kind" | "run" | "input" | "output">
  & {
    readonly input?: Input;
    readonly output?: Output;
    readonly run: (
      input: Parsed<Input>,
      context: CallContext,
    ) => Output extends AnySchema ? ResultOf<Output> | Promise<ResultOf<Output>> : unknown;
  };

type ResultOf<Output extends AnySchema> = Unparsed<Output> | ToolResult;

/**
 * Defines a tool. `run` gets the arguments as parsed by the `input` schema. It returns text, one or several content
 * items, a `ToolResult`, or any JSON value, which is sent as text. With an `output` schema, `run` returns a value of that
 * schema, which is sent as structured content and as text; a `ToolResult` is recognized there by `structuredContent` or
 * `isError: true`.
 * @throws {TypeError} naming a member that does not exist or is of another type
 */
export function tool<
  const Input extends AnySchema = Record<never, never>,
  const Output extends AnySchema | undefined = undefined,
>(definition: ToolOf<Input, Output>): ToolDefinition {
  checkNames("tool", definition, TOOL_NAMES);
  return { kind: "tool", ...definition } as ToolDefinition;
}

/**
 * Defines a resource with a fixed URI.
 * @throws {TypeError} naming a member that does not exist or is of another type
 */
export function resource(definition: Omit<ResourceDefinition, "kind">): ResourceDefinition {
  checkNames("resource", definition, RESOURCE_NAMES);
  return { kind: "resource", ...definition };
}

/**
 * Defines all resources whose URI matches a template.
 * @throws {TypeError} naming a member that does not exist or is of another type, or the invalid part of the template
 */
export function resourceTemplate(
  definition: Omit<ResourceTemplateDefinition, "kind">,
): ResourceTemplateDefinition {
  checkNames("resourceTemplate", definition, TEMPLATE_NAMES);
  const { uriTemplate, complete = {} } = definition;
  const variables = Object.fromEntries(variableNames(`${uriTemplate}`).map((name) => [name, "function"]));
  checkNames("complete", complete, variables);
  return { kind: "resource_template", ...definition };
}

/**
 * Defines a prompt: text for one user message, or a list of messages.
 * @throws {TypeError} naming a member that does not exist or is of another type, or for arguments that are no list of objects
 */
export function prompt(definition: Omit<PromptDefinition, "kind">): PromptDefinition {
  checkNames("prompt", definition, PROMPT_NAMES);
  const { name, arguments: variables = [] } = definition;
  if (!Array.isArray(variables) || !variables.every(isObject)) {
    throw cannotDefine(name, "arguments must be a list of objects");
  }
  for (const each of variables) checkNames("prompt.arguments", each, ARGUMENT_NAMES);
  return { kind: "prompt", ...definition };
}
