/**
 * The OpenAPI 3.1 description of the administration (https://spec.openapis.org/oas/v3.1.1.html), made from the operations.
 *
 * @module
 */
import type { AdminOperation, Schema } from "./operation.ts";
import { ADMIN_OPERATIONS } from "./operations.ts";
import { object, text } from "./schema.ts";
import { VERSION } from "../version.ts";

/** The document. @param issuer the address of the server */
export function describeApi(issuer: string): object {
  const place = issuer.replace(/\/$/, "");
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of Object.values(ADMIN_OPERATIONS)) {
    const path = operation.path.replace(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Trivet administration",
      version: VERSION,
      description: "Users, clients, providers, keys and what happened on a server.",
    },
    servers: [{ url: `${place}/admin` }],
    security: [{ oauth: ["admin"] }, { key: [] }],
    paths,
    components: {
      schemas: { Error: ERROR },
      responses: {
        Error: {
          description: "A refusal",
          content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
        },
      },
      securitySchemes: {
        oauth: {
          type: "oauth2",
          description: `An access token for the resource ${place}/admin, of a user with the role admin`,
          flows: {
            authorizationCode: {
              authorizationUrl: `${place}/oauth/authorize`,
              tokenUrl: `${place}/oauth/token`,
              scopes: { admin: "Administer this server" },
            },
          },
        },
        key: {
          type: "http",
          scheme: "bearer",
          description: "An API key with the scope admin",
        },
      },
    },
  };
}

const ERROR: Schema = object({
  type: { const: "error" },
  error: object({
    type: {
      enum: [
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "not_found_error",
        "conflict_error",
        "request_too_large",
        "rate_limit_error",
        "api_error",
        "overloaded_error",
      ],
    },
    message: { type: "string" },
  }),
  request_id: text("names the request"),
});

function describeOperation({ name, method, path, summary, input, output }: AdminOperation): object {
  const properties = input.properties as Readonly<Record<string, Schema>>;
  const required = (input.required ?? []) as readonly string[];
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, each]) => each!);
  const others = Object.entries(properties).filter(([each]) => !inPath.includes(each));
  const hasBody = (method === "POST" || method === "PATCH") && others.length > 0;
  const parameters = [
    ...inPath.map((each) => ({ name: each, in: "path", required: true, schema: properties[each] })),
    ...(hasBody ? [] : others.map(([each, schema]) => ({
      name: each,
      in: "query",
      required: required.includes(each),
      schema,
    }))),
  ];
  const members = required.filter((each) => !inPath.includes(each));
  const body = {
    type: "object",
    properties: Object.fromEntries(others),
    required: members,
    additionalProperties: false,
  };
  return {
    operationId: name,
    summary,
    tags: [path.split("/")[1]],
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody && {
      requestBody: { required: members.length > 0, content: { "application/json": { schema: body } } },
    }),
    responses: {
      ...(output
        ? { 200: { description: "Done", content: { "application/json": { schema: output } } } }
        : { 204: { description: "Done" } }),
      default: { $ref: "#/components/responses/Error" },
    },
  };
}
