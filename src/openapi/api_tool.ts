/**
 * The tool of an operation: its description, schemas and annotations, and how a call runs.
 *
 * @module
 */
import { compileSchema } from "../json_schema/compile.ts";
import { isObject } from "../json_schema/value.ts";
import { truncate } from "../json_schema/message_text.ts";
import { mediaType } from "../http/body/media_type.ts";
import type { CallContext } from "../mcp/context.ts";
import { tool } from "../mcp/definition/define.ts";
import type { ToolAnnotations, ToolDefinition } from "../mcp/definition/definition.ts";
import { type AccessOptions, type ApiRequest, collectCredentials, handleRefusal } from "./access.ts";
import { toToolResult } from "./answer.ts";
import { readBody, type RequestBody } from "./body.ts";
import { objectOf, type OpenApiDocument, OpenApiError, resolve, textOf } from "./document.ts";
import { type AnswerStore, ownerOf } from "./kept_answers.ts";
import type { DescribedOperation, Operation } from "./operation.ts";
import { BODY_ARGUMENT, type Parameter, readContent, readParameters } from "./parameter.ts";
import { redact } from "./redact.ts";
import { planRequest, type RequestPlan } from "./request.ts";
import { SchemaBundle } from "./schema_bundle.ts";
import { readSecurity, type Requirement, reservedPlaces } from "./security.ts";
import { fetchAnswer, type SendOptions } from "./send.ts";
import { addressOf, type AddressOptions } from "./server_address.ts";

export interface ApiToolOptions extends AccessOptions, SendOptions {
  readonly document: OpenApiDocument;
  /** The address of the document's servers. */
  readonly address: URL;
  readonly addressOptions: AddressOptions;
  /** Whether credentials are also asked for operations without a security requirement. */
  readonly alwaysAuthorizes: boolean;
  /** Characters of the input schema, and of the output schema. */
  readonly schemaLimit: number;
  readonly hasOutputSchemas: boolean;
  readonly answerLimit: number;
  readonly answers: AnswerStore;
  /** Before the names of tools. */
  readonly prefix: string;
  readonly scopes: (operation: Operation) => readonly string[];
  /** The URI of a kept answer. */
  readonly answerUri: (id: string) => string;
}

export interface ApiTool {
  readonly definition: ToolDefinition;
  /** Whether a schema was replaced by a wider one, to stay within the limit. */
  readonly isWidened: boolean;
}

const MAX_DESCRIPTION_CHARACTERS = 1000;
const MAX_TITLE_CHARACTERS = 120;

/** @throws {OpenApiError} naming what of the operation is not supported */
export function toApiTool(operation: DescribedOperation, options: ApiToolOptions): ApiTool {
  const { document, schemaLimit } = options;
  const security = readSecurity(document, operation.source.security);
  const fixed = Object.keys(options.headers).map((name) => `header ${name.toLowerCase()}`);
  const reserved = new Set([...reservedPlaces(security), ...fixed]);
  const parameters = readParameters(document, operation, reserved);
  const body = readBody(document, operation.source.requestBody, operation.method);
  const responses = successResponses(document, operation);
  const input = new SchemaBundle(document, "request", schemaLimit);
  const inputSchema = toInputSchema(input, parameters, body);
  const output = new SchemaBundle(document, "response", schemaLimit);
  const outputSchema = options.hasOutputSchemas && operation.method !== "HEAD"
    ? toOutputSchema(document, output, responses)
    : undefined;
  for (const schema of [inputSchema, outputSchema]) {
    if (schema) checkSchema(schema);
  }
  const plan: RequestPlan = {
    method: operation.method,
    path: operation.path,
    address: addressOf(options.address, operation.servers, options.addressOptions),
    parameters,
    takenQueryNames: new Set(
      [...reserved, ...parameters.map(({ place, name }) => `${place} ${name}`)]
        .filter((each) => each.startsWith("query ")).map((each) => each.slice(6).toLowerCase()),
    ),
    body,
    accept: toAccept(responses),
  };
  const title = textOf(operation.source.summary);
  const described = toOperation(operation);
  const scopes = options.scopes(described);
  const call = { plan, security, operation: described, isStructured: outputSchema !== undefined };
  return {
    isWidened: input.isWidened || output.isWidened,
    definition: tool({
      name: options.prefix + operation.name,
      ...(scopes.length > 0 && { scopes }),
      ...(title !== undefined && { title: truncate(title, MAX_TITLE_CHARACTERS) }),
      description: describe(operation),
      input: inputSchema,
      ...(outputSchema && { output: outputSchema }),
      annotations: annotate(operation.method),
      run: (input, context) => run(call, input as Record<string, unknown>, context, options),
    }) as ToolDefinition,
  };
}

interface ApiCall {
  readonly plan: RequestPlan;
  readonly security: readonly Requirement[];
  readonly operation: Operation;
  readonly isStructured: boolean;
}

async function run(
  { plan, security, operation, isStructured }: ApiCall,
  input: Record<string, unknown>,
  context: CallContext,
  options: ApiToolOptions,
): Promise<unknown> {
  const planned = planRequest(plan, input);
  const request: ApiRequest = {
    operation,
    url: planned.url.href,
    security,
    signal: context.signal,
  };
  const isAuthorized = security.length > 0 || options.alwaysAuthorizes;
  const attempt = async () => {
    const { credentials, used } = isAuthorized
      ? await collectCredentials(options, request, context)
      : { credentials: { headers: {}, query: [], cookies: [] }, used: {} };
    const answer = await fetchAnswer(planned, credentials, context.signal, options);
    return { answer: await redact(answer, credentials, options.headers), used };
  };
  let { answer, used } = await attempt();
  const isRefused = isAuthorized && (answer.status === 401 || answer.status === 403);
  if (isRefused && await handleRefusal(options, request, answer, used, context)) {
    ({ answer } = await attempt());
  }
  return await toToolResult(answer, {
    answerLimit: options.answerLimit,
    isStructured,
    async keep(kept) {
      const id = crypto.randomUUID();
      try {
        await options.answers.set([ownerOf(context.principal), id], kept);
      } catch {
        // The API has done what was asked, and a model repeats a call that failed.
        return undefined;
      }
      return options.answerUri(id);
    },
  });
}

function toOperation({ name, id, method, path, tags, isDeprecated }: Operation): Operation {
  return { name, id, method, path, tags, isDeprecated };
}

function describe({ source, method, path, isDeprecated }: DescribedOperation): string {
  const summary = textOf(source.summary);
  const description = textOf(source.description);
  const text = description === undefined || summary === undefined || description.startsWith(summary)
    ? description ?? summary ?? `${method} ${path}`
    : `${summary}\n\n${description}`;
  return truncate(isDeprecated ? `Deprecated. ${text}` : text, MAX_DESCRIPTION_CHARACTERS).toWellFormed();
}

/** By the semantics of methods (RFC 9110 section 9.2). What POST and PATCH do is not known. */
function annotate(method: string): ToolAnnotations {
  switch (method) {
    case "GET":
    case "HEAD":
      return { readOnlyHint: true, openWorldHint: true };
    case "PUT":
      return { readOnlyHint: false, idempotentHint: true, openWorldHint: true };
    case "DELETE":
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true };
    default:
      return { readOnlyHint: false, openWorldHint: true };
  }
}

function toInputSchema(
  bundle: SchemaBundle,
  parameters: readonly Parameter[],
  body: RequestBody | undefined,
): Record<string, unknown> {
  const properties: [string, unknown][] = parameters.map(({ argument, schema, description }) => [
    argument,
    withDescription(bundle.add(schema), description),
  ]);
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ argument }) => argument);
  if (body) {
    properties.push([BODY_ARGUMENT, withDescription(bundle.add(body.schema), body.description)]);
    if (body.isRequired) required.push(BODY_ARGUMENT);
  }
  const $defs = bundle.definitions();
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...($defs && { $defs }),
  };
}

function withDescription(
  schema: Record<string, unknown>,
  description: string | undefined,
): Record<string, unknown> {
  return description === undefined
    ? schema
    : { ...schema, description: truncate(description, MAX_DESCRIPTION_CHARACTERS) };
}

/** Status codes and responses of success, the most specific ones first. */
function successResponses(
  document: OpenApiDocument,
  { source }: DescribedOperation,
): readonly Record<string, unknown>[] {
  return Object.entries(objectOf(source.responses))
    .filter(([status]) => /^2(\d\d|XX)$/i.test(status))
    .sort(([a], [b]) => a < b ? -1 : 1)
    .map(([, response]) => resolve(document, response));
}

/**
 * The schema of the JSON object of success. Services answer other things than they describe, and a large answer is cut, so
 * each object is allowed: a client gets what came, and the schema tells what to expect.
 */
function toOutputSchema(
  document: OpenApiDocument,
  bundle: SchemaBundle,
  responses: readonly Record<string, unknown>[],
): Record<string, unknown> | undefined {
  for (const { content } of responses) {
    const [, media] = readContent(document, content)
      .find(([type]) => /^application\/json$|\+json$/.test(mediaType(type))) ?? [];
    if (!media) continue;
    if (!isObject(media.schema) || !isObjectSchema(resolve(document, media.schema))) return undefined;
    const schema = bundle.add(media.schema);
    const $defs = bundle.definitions();
    // Without types: members of the answer may have these names, and other values than it describes.
    const other = {
      type: "object",
      properties: {
        notice: { description: "Why the answer is not here." },
        uri: { description: "The resource that has the whole answer." },
      },
    };
    return { type: "object", anyOf: [schema, other], ...($defs && { $defs }) };
  }
  return undefined;
}

function isObjectSchema({ type, properties, allOf }: Readonly<Record<string, unknown>>): boolean {
  return type === "object" || type === undefined && (isObject(properties) || Array.isArray(allOf));
}

/** @throws {OpenApiError} for a schema that the validator refuses: it would stop the whole server */
function checkSchema(schema: Record<string, unknown>): void {
  try {
    compileSchema(schema);
  } catch (cause) {
    throw new OpenApiError(`Invalid schema: ${(cause as Error).message}`, { cause });
  }
}

function toAccept(responses: readonly Record<string, unknown>[]): string {
  const types = responses.flatMap(({ content }) => Object.keys(objectOf(content)))
    .filter((type) => /^[\w.+*-]+\/[\w.+*-]+(; ?[\w.+-]+=[\w.+-]+)*$/.test(type)).slice(0, 5);
  const sorted = [...new Set(types)].sort((a, b) => Number(/json/.test(b)) - Number(/json/.test(a)));
  return [...sorted, ...(sorted.length === 0 ? ["application/json"] : []), "*/*;q=0.1"].join(", ");
}
