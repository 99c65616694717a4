/**
 * `elicitation/create`: a form or a URL for the user (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
 *
 * @module
 */
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import type { FormAnswer, FormRequest, UrlAnswer, UrlRequest } from "../context.ts";
import { toFormSchema } from "../schema/form_schema.ts";
import type { ConvertSchema } from "../schema/convert_schema.ts";
import { type AnySchema, compileAnySchema, type CompiledSchema } from "../schema/standard_schema.ts";

/** By the schema object that the handler passes: most handlers pass the same one in each call. */
const compiledSchemas = new WeakMap<object, CompiledSchema>();

/**
 * The parameters of `elicitation/create` in the revision, and the schema of the content that comes back.
 * @throws {TypeError} for a schema that a form cannot have
 */
export function writeElicitation(
  request: FormRequest | UrlRequest,
  revision: string,
  makeId: () => string,
  convert: ConvertSchema,
): { readonly params: Record<string, unknown>; readonly schema: CompiledSchema | undefined } {
  const { message } = request;
  if (request.mode === "url") {
    const { url, elicitationId = makeId() } = request;
    // 2026-07-28 removed the id.
    const id = revision === "2025-11-25" ? { elicitationId } : {};
    return { params: { mode: "url", message, url, ...id }, schema: undefined };
  }
  let schema = compiledSchemas.get(request.schema);
  if (!schema) {
    schema = compileAnySchema(request.schema, "elicitation", "input", convert);
    compiledSchemas.set(request.schema, schema);
  }
  const mode = revision >= "2025-11-25" ? { mode: "form" } : {};
  return { params: { ...mode, message, requestedSchema: toFormSchema(schema.jsonSchema, revision) }, schema };
}

/** The client's result, checked. @throws {RpcError} -32602 for an unknown action, or content that does not match */
export async function readElicitation(
  answer: object,
  schema: CompiledSchema | undefined,
): Promise<FormAnswer<AnySchema> | UrlAnswer> {
  const { action, content } = answer as { action?: unknown; content?: unknown };
  if (action === "decline" || action === "cancel" || action === "accept" && !schema) return { action };
  if (action !== "accept") {
    throw new RpcError(
      INVALID_PARAMS,
      "Invalid result of elicitation/create: action must be accept, decline or cancel",
    );
  }
  const parsed = await schema!.parse(content ?? {});
  if ("problems" in parsed) {
    throw new RpcError(
      INVALID_PARAMS,
      `Invalid result of elicitation/create: content does not match the requested schema: ${
        parsed.problems.join("; ")
      }`,
    );
  }
  return { action, content: parsed.value as never };
}
