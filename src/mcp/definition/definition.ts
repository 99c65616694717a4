/**
 * What the author of a tool server writes: tools, resources, resource templates, prompts
 * (https://modelcontextprotocol.io/specification/2025-11-25/server). Plain values; `registry.ts` compiles them.
 *
 * @module
 */
import { matchAcrossCopies } from "../../jsonrpc/error.ts";
import { isObject } from "../../json_schema/value.ts";
import type { Annotations, Icon, Meta, PromptMessage, PromptResult, ReadResult } from "./content.ts";
import type { CallContext, TaskOptions } from "../context.ts";
import { checkNames, type Names } from "../../options/option_check.ts";
import type { AnySchema, Parsed, Unparsed } from "../schema/standard_schema.ts";
import { cannotDefine } from "../error.ts";
import { variableNames } from "./uri/uri_expression.ts";

/** A failure with a message for the model. The message of any other error is not sent to the client. */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
matchAcrossCopies(ToolError, "ToolError");

/** Members that every definition may have. */
interface Described {
  /** For people; `name` is for programs. */
  readonly title?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  /** Scopes that the access token must have; other callers can neither list nor use the definition. */
  readonly scopes?: readonly string[] | undefined;
  readonly _meta?: Meta | undefined;
}

/** Hints to clients about what a tool does. Clients must not trust them if they do not trust the server. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolTask extends TaskOptions {
  /** `optional`: a task for clients with the tasks extension. `required`: also refuses 2026-07-28 clients without it. */
  readonly support: "optional" | "required";
  /** `by_run`: the call becomes a task when `run` calls {@linkcode CallContext.startTask}. @default "at_once" */
  readonly start?: "at_once" | "by_run";
  /** Whether another instance runs the tool again when the first instance stopped. @default false: the task fails */
  readonly restart?: boolean;
}

/** A tool: what {@linkcode tool} returns. */
export interface ToolDefinition extends Described {
  readonly kind: "tool";
  readonly name: string;
  readonly description: string;
  /** A Standard Schema or JSON Schema 2020-12 of an object. @default no arguments are allowed */
  readonly input?: AnySchema | undefined;
  readonly output?: AnySchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly task?: ToolTask | "optional" | "required" | undefined;
  run(input: unknown, context: CallContext): unknown;
}

/** Values for a completion, of more that there may be (server/utilities/completion). */
export interface CompletionValues {
  readonly values: readonly string[];
  /** How many there are in all. */
  readonly total?: number | undefined;
  readonly hasMore?: boolean | undefined;
}

/** What a completion is given beside the value: the earlier variables, and the caller. */
export interface CompletionContext extends Pick<CallContext, "principal"> {
  readonly arguments: Readonly<Record<string, string>>;
}

/**
 * Completes a variable: possible values for what the user typed, given the earlier variables; all of them, or the first with
 * what is known of the others. At most 100 are sent.
 */
export type Complete = (
  value: string,
  context: CompletionContext,
) => readonly string[] | CompletionValues | Promise<readonly string[] | CompletionValues>;

/** Cache hints of a resource (2026-07-28, server/utilities/caching). */
interface Cached {
  /** Milliseconds for which a client may treat the contents as fresh. @default 0 */
  readonly ttl?: number | undefined;
  /**
   * `public`: the contents are the same for all callers. Sent as `private` where tokens or scopes are required.
   * @default "private"
   */
  readonly cacheScope?: "public" | "private" | undefined;
}

/** A resource with a fixed URI: what {@linkcode resource} returns. */
export interface ResourceDefinition extends Described, Cached {
  readonly kind: "resource";
  readonly uri: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  /** Bytes. */
  readonly size?: number | undefined;
  readonly annotations?: Annotations | undefined;
  readonly read: (context: CallContext) => ReadResult | Promise<ReadResult>;
}

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

/** The resources whose URI matches a template: what {@linkcode resourceTemplate} returns. */
export interface ResourceTemplateDefinition extends Described, Cached {
  readonly kind: "resource_template";
  /** RFC 6570: `{name}` matches one path segment, `{+name}` any path. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  /** Resources of this template for `resources/list`. */
  readonly list?: ((context: CallContext) => Promise<readonly ListedResource[]>) | undefined;
  /** By the name of the variable. */
  readonly complete?: Readonly<Record<string, Complete>> | undefined;
  /** Whether `resources/templates/list` has the template. @default true */
  readonly isListed?: boolean | undefined;
  /** Returns `undefined` for an unknown resource. */
  readonly read: (
    variables: Readonly<Record<string, string>>,
    context: CallContext,
    uri: string,
  ) => ReadResult | undefined | Promise<ReadResult | undefined>;
  /** Whether the resource exists, if that takes less work than `read`. @default calls `read` */
  readonly exists?:
    | ((variables: Readonly<Record<string, string>>, context: CallContext) => boolean | Promise<boolean>)
    | undefined;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly complete?: Complete;
}

/** A prompt: what {@linkcode prompt} returns. */
export interface PromptDefinition extends Described {
  readonly kind: "prompt";
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments?: readonly PromptArgument[] | undefined;
  readonly get: (
    values: Readonly<Record<string, string>>,
    context: CallContext,
  ) => PromptReply | Promise<PromptReply>;
}

/** Text for one user message, a list of messages, or a complete result. */
export type PromptReply = string | readonly PromptMessage[] | PromptResult;

/** A tool, a prompt, a resource or a resource template. */
export type Definition = ToolDefinition | ResourceDefinition | ResourceTemplateDefinition | PromptDefinition;

// Other names are refused: a tool with `scope` for `scopes` would be open to all callers.
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

type ResultOf<Output extends AnySchema> = Unparsed<Output> | FullResult;
type FullResult = import("./content.ts").ToolResult;

/**
 * Defines a tool. `run` gets the arguments as parsed by the `input` schema. It returns text, one or several content
 * items, a `ToolResult`, or any JSON value, which is sent as text. With an `output` schema, `run` returns a value of that
 * schema, sent as structured content and as text; a \`ToolResult\` is known there by \`structuredContent\` or \`isError: true\`.
 * @throws {TypeError} naming a member that does not exist
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
 * @throws {TypeError} naming a member that does not exist
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
  for (const { complete } of variables) checkNames(`${name}`, { complete }, { complete: "function" });
  return { kind: "prompt", ...definition };
}
