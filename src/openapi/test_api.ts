/**
 * Test kit of this folder: a description of a pet shop, a fake server that records requests, and a function that calls a
 * tool.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";
import type { CallContext } from "../mcp/context.ts";
import type { ToolResult } from "../mcp/definition/content.ts";
import type { ToolDefinition } from "../mcp/definition/definition.ts";
import { openApi, type OpenApiOptions, type OpenApiTools } from "./open_api.ts";

const ok = { description: "Done" };
const json = (schema: unknown) => ({ "application/json": { schema } });
const idParameter = { name: "petId", in: "path", required: true, schema: { type: "string" } };

interface Shop {
  readonly [member: string]: unknown;
  readonly paths: Readonly<Record<string, object>>;
}

/** Has one operation of each kind that the tests need. */
export const PET_SHOP: Shop = {
  openapi: "3.1.0",
  info: { title: "Pet Shop", version: "1" },
  servers: [{ url: "https://{region}.pets.example/v1", variables: { region: { default: "eu" } } }],
  security: [{ token: [] }],
  paths: {
    "/pets": {
      get: {
        operationId: "listPets",
        summary: "List pets",
        tags: ["pets"],
        parameters: [
          { name: "limit", in: "query", schema: { type: "integer", maximum: 100 } },
          { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } } },
          { name: "X-Trace", in: "header", schema: { type: "string" } },
          { name: "session", in: "cookie", schema: { type: "string" } },
        ],
        responses: {
          200: { ...ok, content: json({ type: "array", items: { $ref: "#/components/schemas/Pet" } }) },
        },
      },
      post: {
        operationId: "createPet",
        tags: ["pets"],
        requestBody: { required: true, content: json({ $ref: "#/components/schemas/Pet" }) },
        responses: { 201: ok },
      },
    },
    "/pets/{petId}": {
      parameters: [idParameter],
      get: {
        operationId: "pets/get-one",
        tags: ["pets"],
        description: "Returns a pet.",
        responses: { 200: { ...ok, content: json({ $ref: "#/components/schemas/Pet" }) } },
      },
      delete: { deprecated: true, responses: { 204: ok } },
    },
    "/public": { get: { operationId: "getPublic", security: [], responses: { 200: ok } } },
  },
  components: {
    schemas: {
      Pet: {
        type: "object",
        required: ["id", "name"],
        properties: {
          id: { type: "string", readOnly: true },
          name: { type: "string" },
          parent: { $ref: "#/components/schemas/Pet" },
        },
      },
    },
    securitySchemes: { token: { type: "http", scheme: "bearer" } },
  },
};

/** A document with one operation, `op`, and anything beside it. */
export function oneOperation(
  operation: object,
  path = "/things",
  method = "get",
  others: object = {},
): object {
  return {
    openapi: "3.1.0",
    info: { title: "One", version: "1" },
    servers: [{ url: "https://api.example/base" }],
    paths: { [path]: { [method]: { operationId: "op", responses: { 200: ok }, ...operation } } },
    ...others,
  };
}

export interface Recorded {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly redirect: string | undefined;
}

export interface TestApi {
  readonly tools: OpenApiTools;
  /** What the fake server got. */
  readonly requests: Recorded[];
  tool(name: string): ToolDefinition;
  call(name: string, input?: object, context?: Partial<CallContext>): Promise<ToolResult>;
  read(uri: string, context?: Partial<CallContext>): Promise<unknown>;
}

/** @param answer makes the answer of the fake server. @default `{}` */
export function newApi(
  options: Partial<OpenApiOptions> = {},
  answer: (request: Recorded) => Response | Promise<Response> = () => Response.json({}),
): TestApi {
  const requests: Recorded[] = [];
  const tools = openApi({
    document: PET_SHOP,
    select: "all",
    async fetch(url, { method = "GET", headers, body, redirect }) {
      const request = { url, method, headers: new Headers(headers), body, redirect };
      requests.push(request);
      return await answer(request);
    },
    ...options,
  });
  const find = (name: string) => {
    const found = tools.current().find((each) => each.kind === "tool" && each.name === name);
    if (!found) throw new Error(`no tool ${name}`);
    return found as ToolDefinition;
  };
  return {
    tools,
    requests,
    tool: find,
    async call(name, input = {}, context = {}) {
      return await find(name).run(input, newContext(context)) as ToolResult;
    },
    async read(uri, context = {}) {
      const template = tools.current().find((each) => each.kind === "resource_template");
      if (template?.kind !== "resource_template") throw new Error("no template");
      return await template.read({ id: uri.slice(uri.lastIndexOf("/") + 1) }, newContext(context), uri);
    },
  };
}

/** A context with what tools of this folder use. */
export function newContext(given: Partial<CallContext> = {}): CallContext {
  return {
    principal: undefined,
    signal: new AbortController().signal,
    can: () => false,
    ...given,
  } as CallContext;
}

export function user(subject: string): Principal {
  return { subject, scopes: new Set(), workspace: "w" };
}

/** The message of what a function throws. */
export async function errorOf(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it did not throw");
}
