/**
 * What a user of the tool server writes: tools, resources, resource templates, prompts
 * (https://modelcontextprotocol.io/specification/2025-11-25/server). Plain values; `registry.ts` compiles them.
 *
 * @module
 */
import type { Principal } from "../http/bearer.ts";
import type { AnySchema, Parsed } from "./standard_schema.ts";

/** What a handler is told of the call beside its arguments. */
export interface CallContext {
  /** Who calls; `undefined` for an anonymous caller. */
  readonly principal: Principal | undefined;
}

export type ContentItem =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "resource"; readonly resource: ResourceContents }
  | {
    readonly type: "resource_link";
    readonly uri: string;
    readonly name: string;
    readonly mimeType?: string;
  };

export interface ToolResult {
  readonly content: readonly ContentItem[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export type ResourceContents =
  | { readonly uri: string; readonly mimeType?: string; readonly text: string }
  | { readonly uri: string; readonly mimeType?: string; readonly blob: string };

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentItem;
}

/** A failure whose message the model may read and act on. Other errors reach it only as "the tool failed". */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

export interface ToolDefinition {
  readonly kind: "tool";
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly input?: AnySchema | undefined;
  readonly output?: AnySchema | undefined;
  /** What the caller's token must hold; callers without it neither see nor call the tool. */
  readonly scopes?: readonly string[] | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  run(input: unknown, context: CallContext): unknown;
}

export interface ResourceDefinition {
  readonly kind: "resource";
  readonly uri: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly read: (context: CallContext) => ReadResult | Promise<ReadResult>;
}

export interface ResourceTemplateDefinition {
  readonly kind: "resource_template";
  /** RFC 6570 with `{name}` (one segment) and `{+name}` (any path). */
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  /** Resources of this kind that a caller may find in the list. */
  readonly list?: ((context: CallContext) => Promise<readonly ListedResource[]>) | undefined;
  /** `undefined` when there is no such resource. */
  readonly read: (
    variables: Readonly<Record<string, string>>,
    context: CallContext,
  ) => ReadResult | undefined | Promise<ReadResult | undefined>;
}

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** Text, bytes, or either with a media type of its own. */
export type ReadResult = string | Uint8Array | {
  readonly content: string | Uint8Array;
  readonly mimeType: string;
};

export interface PromptDefinition {
  readonly kind: "prompt";
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required?: boolean;
  }[];
  readonly get: (
    values: Readonly<Record<string, string>>,
    context: CallContext,
  ) => string | readonly PromptMessage[] | Promise<string | readonly PromptMessage[]>;
}

export type Definition = ToolDefinition | ResourceDefinition | ResourceTemplateDefinition | PromptDefinition;

/**
 * A tool. `run` gets the arguments as the schema gives them and returns text, a {@linkcode ToolResult}, or any
 * JSON value (which becomes text, and structured content when there is an `output` schema).
 */
export function tool<const Input extends AnySchema>(
  definition: Omit<ToolDefinition, "kind" | "run" | "input"> & {
    readonly input?: Input;
    readonly run: (input: Parsed<Input>, context: CallContext) => unknown;
  },
): ToolDefinition {
  return { kind: "tool", ...definition };
}

/** A resource with a fixed URI. */
export function resource(definition: Omit<ResourceDefinition, "kind">): ResourceDefinition {
  return { kind: "resource", ...definition };
}

/** A family of resources. */
export function resourceTemplate(
  definition: Omit<ResourceTemplateDefinition, "kind">,
): ResourceTemplateDefinition {
  return { kind: "resource_template", ...definition };
}

/** A prompt: text for one user message, or a list of messages. */
export function prompt(definition: Omit<PromptDefinition, "kind">): PromptDefinition {
  return { kind: "prompt", ...definition };
}
