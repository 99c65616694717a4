/**
 * `elicitation/create`: a form or a URL for the user (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation).
 *
 * @module
 */
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import type { FormAnswer, FormRequest, UrlAnswer, UrlRequest } from "../context.ts";
import { toFormSchema } from "../schema/form_schema.ts";
import { type AnySchema, compileAnySchema, type CompiledSchema } from "../schema/standard_schema.ts";

/** Schemas are written once in a program and used in many calls. */
const compiled = new WeakMap<object, CompiledSchema>();

/**
 * The parameters as the revision has them, and the schema of the answer's content.
 * @throws {TypeError} for a schema that is none of a form
 */
export function writeElicitation(
  request: FormRequest | UrlRequest,
  revision: string,
  makeId: () => string,
): { readonly params: Record<string, unknown>; readonly schema: CompiledSchema | undefined } {
  const { message } = request;
  if (request.mode === "url") {
    const { url, elicitationId = makeId() } = request;
    // The id went with 2026-07-28.
    const id = revision === "2025-11-25" ? { elicitationId } : {};
    return { params: { mode: "url", message, url, ...id }, schema: undefined };
  }
  let schema = compiled.get(request.schema);
  if (!schema) compiled.set(request.schema, schema = compileAnySchema(request.schema, "elicitation"));
  const mode = revision >= "2025-11-25" ? { mode: "form" } : {};
  return { params: { ...mode, message, requestedSchema: toFormSchema(schema.jsonSchema, revision) }, schema };
}

/** The user's answer, checked. @throws {RpcError} -32602 when it is none, or does not fit the form */
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
