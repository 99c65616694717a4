/**
 * Compiles definitions once, at start: schemas, list entries, and tables by name.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { CallContext } from "../context.ts";
import type {
  Definition,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
  ToolTask,
} from "./definition.ts";
import { type HeaderParameter, headerParameters } from "../http/header_parameters.ts";
import { findWrongMember } from "./entry_members.ts";
import type { ListEntry } from "./list_pages.ts";
import { toJson } from "../../jsonrpc/to_json.ts";
import { MODERN } from "../era.ts";
import { membersFor, toolMembersFor } from "../revision_shape.ts";
import type { ConvertSchema } from "../schema/convert_schema.ts";
import { compileAnySchema, type CompiledSchema } from "../schema/standard_schema.ts";
import { cannotDefine } from "../error.ts";
import { checkTaskTimes } from "../tasks/task_times.ts";

export interface CompiledTool extends ListEntry {
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly task: ToolTask | undefined;
  /** Arguments that the client repeats in header fields. */
  readonly headerParameters: readonly HeaderParameter[];
  run(input: unknown, context: CallContext): unknown;
}

export interface CompiledResource extends ListEntry {
  readonly definition: ResourceDefinition;
}

export interface CompiledTemplate extends ListEntry {
  readonly definition: ResourceTemplateDefinition;
}

export interface CompiledPrompt extends ListEntry {
  readonly definition: PromptDefinition;
}

/** What clients read once, when they connect. So what was offered stays, even if it is empty later. */
export interface Offers {
  /** The lists that the server offers, perhaps empty ones. */
  readonly offers: Readonly<Record<"tools" | "resources" | "prompts", boolean>>;
  /** Whether an argument or variable has a completion function. */
  readonly completes: boolean;
  readonly hasTasks: boolean;
}

export interface Registry extends Offers {
  readonly tools: ReadonlyMap<string, CompiledTool>;
  readonly resources: ReadonlyMap<string, CompiledResource>;
  readonly templates: readonly CompiledTemplate[];
  readonly prompts: ReadonlyMap<string, CompiledPrompt>;
}

/** For a server whose definitions of any kind may come later. */
export const ALL_LISTS: Offers = {
  offers: { tools: true, resources: true, prompts: true },
  completes: false,
  hasTasks: false,
};

const TASK_NAMES: Names<ToolTask> = {
  support: "unknown",
  start: "unknown",
  restart: "boolean",
  ttl: "number",
  pollInterval: "number",
  statusMessage: "string",
};

/** The schema that MCP 2025-11-25 (tools, data types) recommends for tools without arguments. */
const NO_INPUT = { type: "object", additionalProperties: false };

/**
 * Compiles the definitions of a server.
 * @param convert for Standard Schemas that do not make JSON Schema themselves
 * @param before what is offered also without definitions
 * @throws {TypeError} naming the invalid definition: an invalid or duplicate name, or an invalid schema
 */
export function compileRegistry(
  definitions: readonly Definition[],
  convert: ConvertSchema,
  before?: Offers,
): Registry {
  const tools = new Map<string, CompiledTool>();
  const resources = new Map<string, CompiledResource>();
  const templates = new Map<string, CompiledTemplate>();
  const prompts = new Map<string, CompiledPrompt>();
  for (const definition of definitions) {
    switch (definition?.kind) {
      case "tool":
        add(tools, checkName(definition.name), compileTool(definition, convert));
        break;
      case "resource":
        add(resources, definition.uri, compileResource(definition.uri, definition));
        break;
      case "resource_template":
        add(templates, definition.uriTemplate, compileResource(definition.uriTemplate, definition));
        break;
      case "prompt":
        add(prompts, checkName(definition.name), compilePrompt(definition));
        break;
      default:
        throw new TypeError(
          "Invalid definition: expected tool(), resource(), resourceTemplate() or prompt(), but got " +
            String((definition as Definition | undefined)?.name ?? definition).slice(0, 100),
        );
    }
  }
  return {
    tools,
    resources,
    templates: [...templates.values()],
    prompts,
    offers: {
      tools: before?.offers.tools || tools.size > 0,
      resources: before?.offers.resources || resources.size + templates.size > 0,
      prompts: before?.offers.prompts || prompts.size > 0,
    },
    completes: before?.completes || [...templates.values()].some(({ definition }) => definition.complete) ||
      [...prompts.values()].some(({ definition }) => definition.arguments?.some((each) => each.complete)),
    hasTasks: before?.hasTasks || [...tools.values()].some((tool) => tool.task),
  };
}

function compileTool(definition: ToolDefinition, convert: ConvertSchema): CompiledTool {
  const { name, title, description, input, output, scopes = [], annotations, icons, _meta } = definition;
  checkHandler(name, definition.run, "run");
  const compiledInput = compileAnySchema(input ?? NO_INPUT, name, "input", convert);
  const compiledOutput = output && compileAnySchema(output, name, "output", convert);
  const members = {
    name,
    title,
    description,
    inputSchema: compiledInput.jsonSchema,
    outputSchema: compiledOutput?.jsonSchema,
    annotations,
    icons,
    _meta,
  };
  const task = typeof definition.task === "string" ? { support: definition.task } : definition.task;
  if (task) {
    checkNames("task", task, TASK_NAMES);
    checkTaskTimes(name, task);
  }
  return {
    name,
    scopes,
    input: compiledInput,
    output: compiledOutput,
    task,
    headerParameters: headerParameters(compiledInput.jsonSchema, name),
    run: (given, context) => definition.run(given, context),
    describe: (revision) => toolMembersFor(revision, members),
  };
}

type Readable = Partial<ResourceDefinition | ResourceTemplateDefinition> & {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly size?: number | undefined;
};

/** @param place its URI or URI template */
function compileResource<Compiled extends ResourceDefinition | ResourceTemplateDefinition>(
  place: string,
  definition: Compiled,
): ListEntry & { readonly definition: Compiled } {
  const { uri, uriTemplate, name, title, description, mimeType, size }: Readable = definition;
  const { annotations, icons, _meta, scopes = [], ttl = 0, read }: Readable = definition;
  if (typeof place !== "string" || uri !== undefined && !URL.canParse(uri)) {
    throw cannotDefine(place ?? name, "uri must be a URI");
  }
  if (typeof name !== "string" || name === "") {
    throw cannotDefine(place, "name must be a non-empty string");
  }
  if (!Number.isSafeInteger(ttl) || ttl < 0) {
    throw cannotDefine(place, "ttl must be a non-negative integer (milliseconds)");
  }
  checkHandler(place, read, "read");
  const members = { uri, uriTemplate, name, title, description, mimeType, size, annotations, icons, _meta };
  return { name: place, scopes, definition, describe: (revision) => membersFor(revision, members) };
}

function compilePrompt(definition: PromptDefinition): CompiledPrompt {
  const { name, title, description, icons, _meta, scopes = [], arguments: variables = [] } = definition;
  checkHandler(name, definition.get, "get");
  if (new Set(variables.map((each) => each.name)).size < variables.length) {
    throw cannotDefine(name, "argument names must be unique");
  }
  const describe = (revision: string): Record<string, unknown> =>
    membersFor(revision, {
      name,
      title,
      description,
      arguments: definition.arguments?.map(({ complete: _, ...argument }) => membersFor(revision, argument)),
      icons,
      _meta,
    });
  return { name, scopes, definition, describe };
}

// MCP 2025-11-25, tools: 1 to 128 of these characters.
function checkName(name: unknown): string {
  if (typeof name !== "string" || !/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
    throw cannotDefine(name, 'name must be 1 to 128 characters of A-Z, a-z, 0-9, "_", "." and "-"');
  }
  return name;
}

/** JavaScript authors may forget the handler: an error at start is better than an error in a call. */
function checkHandler(name: string, handler: unknown, member: "run" | "read" | "get"): void {
  if (typeof handler !== "function") {
    throw cannotDefine(name, `"${member}" must be a function`);
  }
}

function add<Entry>(map: Map<string, Entry>, name: string, entry: Entry): void {
  if (map.has(name)) throw new TypeError(`Cannot define "${name}" twice`);
  map.set(name, entry);
}

/**
 * Checks that each entry can be listed. Not a part of compiling, which a gateway does for each view.
 * @throws {TypeError} for one that is no JSON, or has a member of another type: its whole list would fail
 */
export function checkEntries({ tools, resources, templates, prompts }: Registry): void {
  for (const entries of [tools.values(), resources.values(), templates, prompts.values()]) {
    for (const { name, scopes, describe } of entries) {
      try {
        // As clients get it: without members that are undefined.
        const wrong = findWrongMember(JSON.parse(toJson({ ...describe(MODERN), scopes })!));
        if (wrong) throw new TypeError(wrong.slice(1));
      } catch (cause) {
        throw cannotDefine(name, (cause as Error).message, { cause });
      }
    }
  }
}
