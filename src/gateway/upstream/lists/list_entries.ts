/**
 * Reads the entries of an upstream's lists. An upstream may send anything: what cannot be offered is left out with a reason,
 * and what is too long is shortened, so that the other entries stay.
 *
 * @module
 */
import { compileForeignSchema } from "../../../json_schema/foreign_schema.ts";
import { isObject } from "../../../json_schema/value.ts";
import type { ToolAnnotations } from "../../../mcp/definition/definition.ts";
import { findWrongMember } from "../../../mcp/definition/entry_members.ts";
import { parseUriTemplate } from "../../../mcp/definition/uri/uri_expression.ts";
import { headerParameters } from "../../../mcp/http/header_parameters.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";

/** Members that entries of all kinds have. */
interface Entry {
  readonly name: string;
  readonly title?: string;
  readonly icons?: readonly unknown[];
  readonly _meta?: JsonObject;
}

export interface ToolEntry extends Entry {
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** A tool of 2025-11-25 that runs as a task only. */
  readonly requiresTask: boolean;
}

export interface ResourceEntry extends Entry {
  /** The URI of a resource, the URI template of a template. */
  readonly uri: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations?: JsonObject;
}

export interface PromptEntry extends Entry {
  readonly description?: string;
  readonly arguments: readonly PromptArgumentEntry[] | undefined;
}

export interface PromptArgumentEntry {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

const MAX_NAME_CHARACTERS = 1000;
const MAX_URI_CHARACTERS = 4000;
/** The time of one match grows with the characters and variables of the template. */
const MAX_TEMPLATE_CHARACTERS = 500;
const MAX_TEMPLATE_VARIABLES = 16;
const MAX_TITLE_CHARACTERS = 500;
const MAX_DESCRIPTION_CHARACTERS = 16_384;
/** Characters of JSON. */
const MAX_SCHEMA_CHARACTERS = 262_144;
const MAX_EXTRA_CHARACTERS = 65_536;
const MAX_PROMPT_ARGUMENTS = 200;
/** The dialects that are compiled; of others, only the references are checked. */
const DIALECTS = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft-07)\/schema#?$/;

/** @throws {Error} saying why the tool is not offered */
export function readTool(value: JsonObject): ToolEntry {
  const { inputSchema, outputSchema, annotations, execution, description } = value;
  const head = readHead(value);
  const input = checkSchema("inputSchema", inputSchema);
  if (input.type !== "object") throw new Error('inputSchema must have "type": "object"');
  headerParameters(input, head.name.slice(0, 100));
  const output = outputSchema === undefined || outputSchema === null
    ? undefined
    : checkSchema("outputSchema", outputSchema);
  return {
    ...head,
    description: readText(description, MAX_DESCRIPTION_CHARACTERS) ?? "",
    inputSchema: input,
    ...(output && { outputSchema: output }),
    ...(isSmallObject(annotations) && isValid({ annotations }) && {
      annotations: annotations as ToolAnnotations,
    }),
    requiresTask: isObject(execution) && execution.taskSupport === "required",
  };
}

/** @throws {Error} */
export function readResource(value: JsonObject, member: "uri" | "uriTemplate"): ResourceEntry {
  const { description, mimeType, size, annotations } = value;
  const uri = value[member];
  if (typeof uri !== "string" || uri === "" || uri.length > MAX_URI_CHARACTERS || /\p{Cc}/u.test(uri)) {
    throw new Error(`${member} must be a URI of at most ${MAX_URI_CHARACTERS} characters`);
  }
  if (member === "uriTemplate") checkTemplate(uri);
  else if (!URL.canParse(uri)) throw new Error("uri must be a URI");
  const described = readText(description, MAX_DESCRIPTION_CHARACTERS);
  const type = readText(mimeType, MAX_TITLE_CHARACTERS);
  return {
    ...readHead({ ...value, name: typeof value.name === "string" && value.name !== "" ? value.name : uri }),
    uri,
    ...(described !== undefined && { description: described }),
    ...(type !== undefined && { mimeType: type }),
    ...(Number.isSafeInteger(size) && { size: size as number }),
    ...(isSmallObject(annotations) && isValid({ annotations }) && { annotations }),
  };
}

/** @throws {Error} */
function checkTemplate(template: string): void {
  if (template.length > MAX_TEMPLATE_CHARACTERS) {
    throw new Error(`uriTemplate has more than ${MAX_TEMPLATE_CHARACTERS} characters`);
  }
  const variables = parseUriTemplate(template).flatMap((part) =>
    typeof part === "string" ? [] : part.variables
  );
  if (variables.length > MAX_TEMPLATE_VARIABLES) {
    throw new Error(`uriTemplate has more than ${MAX_TEMPLATE_VARIABLES} variables`);
  }
}

/** @throws {Error} */
export function readPrompt(value: JsonObject): PromptEntry {
  const description = readText(value.description, MAX_DESCRIPTION_CHARACTERS);
  return {
    ...readHead(value),
    ...(description !== undefined && { description }),
    arguments: value.arguments === undefined ? undefined : readArguments(value.arguments),
  };
}

function readArguments(value: unknown): PromptArgumentEntry[] {
  if (!Array.isArray(value) || value.length > MAX_PROMPT_ARGUMENTS) {
    throw new Error(`arguments must be a list of at most ${MAX_PROMPT_ARGUMENTS}`);
  }
  const names = new Set<string>();
  return value.map((each): PromptArgumentEntry => {
    const { name, title, description, required } = (isObject(each) ? each : {}) as JsonObject;
    if (typeof name !== "string" || name === "" || name.length > MAX_NAME_CHARACTERS || names.has(name)) {
      throw new Error("every argument must have a unique name");
    }
    names.add(name);
    const shown = readText(title, MAX_TITLE_CHARACTERS);
    const described = readText(description, MAX_DESCRIPTION_CHARACTERS);
    return {
      name,
      ...(shown !== undefined && { title: shown }),
      ...(described !== undefined && { description: described }),
      ...(required === true && { required }),
    };
  });
}

function readHead({ name, title, icons, _meta }: JsonObject): Entry {
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_CHARACTERS) {
    throw new Error(`name must have 1 to ${MAX_NAME_CHARACTERS} characters`);
  }
  const shown = readText(title, MAX_TITLE_CHARACTERS);
  return {
    name,
    ...(shown !== undefined && { title: shown }),
    ...(Array.isArray(icons) && isSmall(icons) && isValid({ icons }) && { icons }),
    ...(isSmallObject(_meta) && { _meta }),
  };
}

/** A text, shortened; `undefined` for another value. */
function readText(value: unknown, limit: number): string | undefined {
  if (typeof value !== "string") return undefined;
  return value.length <= limit ? value : `${value.slice(0, limit)}… (shortened)`;
}

/** Whether strict clients accept a list with these members. */
function isValid(members: JsonObject): boolean {
  return findWrongMember(members) === undefined;
}

function isSmallObject(value: unknown): value is JsonObject {
  return isObject(value) && isSmall(value);
}

function isSmall(value: object): boolean {
  return JSON.stringify(value).length <= MAX_EXTRA_CHARACTERS;
}

/** @throws {Error} for a schema that is too large, cannot be compiled, or refers to the network */
function checkSchema(member: string, schema: unknown): JsonObject {
  if (!isObject(schema)) throw new Error(`${member} must be an object`);
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARACTERS) {
    throw new Error(`${member} has more than ${MAX_SCHEMA_CHARACTERS} characters`);
  }
  const { $schema } = schema;
  if ($schema === undefined || typeof $schema === "string" && DIALECTS.test($schema)) {
    try {
      if (!compileForeignSchema(schema)) refuseNetworkReferences(member, schema, 0);
    } catch (error) {
      throw new Error(`${member}: ${(error as Error).message}`, { cause: error });
    }
  } else refuseNetworkReferences(member, schema, 0);
  return schema;
}

function refuseNetworkReferences(member: string, value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > 128) throw new Error(`${member} is too deep`);
  for (const [key, each] of Object.entries(value)) {
    if (key === "$ref" && (typeof each !== "string" || !each.startsWith("#"))) {
      throw new Error(`${member} has a reference outside itself`);
    }
    refuseNetworkReferences(member, each, depth + 1);
  }
}
