/**
 * Definitions compiled once at start: schemas, list entries as JSON text, tables by name. A call then looks up and
 * runs; nothing is converted again.
 *
 * @module
 */
import type {
  CallContext,
  Definition,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from "./definition.ts";
import { compileAnySchema, type CompiledSchema } from "./standard_schema.ts";
import { compileUriTemplate } from "./uri_template.ts";

export interface CompiledTool {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  run(input: unknown, context: CallContext): unknown;
  /** Its entry in `tools/list`, as JSON text. */
  readonly entry: string;
}

export interface CompiledTemplate {
  readonly definition: ResourceTemplateDefinition;
  readonly match: (uri: string) => Record<string, string> | undefined;
  readonly entry: string;
}

export interface Registry {
  readonly tools: ReadonlyMap<string, CompiledTool>;
  /** `tools/list` for callers who hold no scope, and for those who hold all that any tool asks. */
  readonly toolsForAnonymous: string;
  readonly toolsForAll: string;
  readonly resources: ReadonlyMap<string, ResourceDefinition>;
  readonly resourceEntries: readonly string[];
  readonly templates: readonly CompiledTemplate[];
  readonly prompts: ReadonlyMap<string, PromptDefinition>;
  readonly promptsList: string;
}

/** A schema for tools that take no arguments. */
const NO_INPUT = '{"type":"object","properties":{}}';

/**
 * Compiles what a server offers.
 * @throws {TypeError} naming the definition that cannot stand: a bad or double name, a schema that cannot be compiled
 */
export function compileRegistry(definitions: readonly Definition[]): Registry {
  const tools = new Map<string, CompiledTool>();
  const resources = new Map<string, ResourceDefinition>();
  const templates: CompiledTemplate[] = [];
  const prompts = new Map<string, PromptDefinition>();
  for (const definition of definitions) {
    switch (definition.kind) {
      case "tool":
        add(tools, checkName(definition.name), compileTool(definition));
        break;
      case "resource":
        if (!URL.canParse(definition.uri)) {
          throw new TypeError(`Cannot define resource "${definition.uri}": it must be a URI`);
        }
        add(resources, definition.uri, definition);
        break;
      case "resource_template": {
        const match = compileUriTemplate(definition.uriTemplate);
        const { uriTemplate, name, title, description, mimeType } = definition;
        templates.push({
          definition,
          match,
          entry: JSON.stringify({ uriTemplate, name, title, description, mimeType }),
        });
        break;
      }
      case "prompt":
        add(prompts, checkName(definition.name), definition);
        break;
    }
  }
  const entries = (list: readonly CompiledTool[]) =>
    `{"tools":[${list.map((each) => each.entry).join(",")}]}`;
  const all = [...tools.values()];
  return {
    tools,
    toolsForAnonymous: entries(all.filter((each) => each.scopes.length === 0)),
    toolsForAll: entries(all),
    resources,
    resourceEntries: [...resources.values()].map(({ uri, name, title, description, mimeType }) =>
      JSON.stringify({ uri, name, title, description, mimeType })
    ),
    templates,
    prompts,
    promptsList: JSON.stringify({
      prompts: [...prompts.values()].map(({ name, title, description, arguments: args }) => ({
        name,
        title,
        description,
        arguments: args,
      })),
    }),
  };
}

function compileTool(
  { name, title, description, input, output, scopes = [], annotations, run }: ToolDefinition,
): CompiledTool {
  const compiledInput = input && compileAnySchema(input, name);
  const compiledOutput = output && compileAnySchema(output, name);
  const head = JSON.stringify({ name, title, description }).slice(0, -1);
  const inputSchema = compiledInput ? JSON.stringify(compiledInput.jsonSchema) : NO_INPUT;
  const more = (compiledOutput ? `,"outputSchema":${JSON.stringify(compiledOutput.jsonSchema)}` : "") +
    (annotations ? `,"annotations":${JSON.stringify(annotations)}` : "");
  return {
    name,
    scopes,
    input: compiledInput,
    output: compiledOutput,
    run,
    entry: `${head},"inputSchema":${inputSchema}${more}}`,
  };
}

// MCP 2025-11-25, tools: 1 to 128 of these characters.
function checkName(name: string): string {
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
    throw new TypeError(
      `Cannot define "${name}": a name must be 1 to 128 of A-Z, a-z, 0-9, "_", "." and "-"`,
    );
  }
  return name;
}

function add<Value>(map: Map<string, Value>, name: string, value: Value): void {
  if (map.has(name)) throw new TypeError(`Cannot define "${name}" twice`);
  map.set(name, value);
}
