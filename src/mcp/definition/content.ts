/**
 * What tools, resources and prompts give to a client: content blocks and results
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result). Plain values, the same in every
 * revision; `revision_shape.ts` says what an older client gets in place of what it does not know.
 *
 * @module
 */

/** Hints about content: whom it is for, and how much it matters, from 0 to 1. */
export interface Annotations {
  readonly audience?: readonly ("user" | "assistant")[];
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** A picture for user interfaces (2025-11-25). */
export interface Icon {
  /** https or data URI. */
  readonly src: string;
  readonly mimeType?: string;
  /** `48x48`, or `any`. */
  readonly sizes?: readonly string[];
  readonly theme?: "light" | "dark";
}

/** Metadata under names with a prefix, such as `com.example/trace`. */
export type Meta = Readonly<Record<string, unknown>>;

interface Marked {
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface TextContent extends Marked {
  readonly type: "text";
  readonly text: string;
}

/** `data` is base64. Audio came with 2025-03-26. */
export interface MediaContent extends Marked {
  readonly type: "image" | "audio";
  readonly data: string;
  readonly mimeType: string;
}

export interface EmbeddedResource extends Marked {
  readonly type: "resource";
  readonly resource: ResourceContents;
}

/** A resource that the client may read (2025-06-18). */
export interface ResourceLink extends Marked {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes. */
  readonly size?: number;
  readonly icons?: readonly Icon[];
}

export type ContentItem = TextContent | MediaContent | EmbeddedResource | ResourceLink;

export interface ToolResult {
  readonly content: readonly ContentItem[];
  /** Any JSON in 2026-07-28; an object in 2025-06-18 and 2025-11-25. */
  readonly structuredContent?: unknown;
  /** The tool failed in a way that the model may mend. */
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

export type ResourceContents =
  & { readonly uri: string; readonly mimeType?: string; readonly _meta?: Meta }
  & ({ readonly text: string } | { readonly blob: string });

/** Text, bytes, either with a media type of its own, or contents in full (several for a folder, say). */
export type ReadResult =
  | string
  | Uint8Array
  | { readonly content: string | Uint8Array; readonly mimeType: string }
  | { readonly contents: readonly ResourceContents[] };

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentItem;
}

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: Meta;
}

const CHUNK = 0x6000;

/** base64 with padding, as MCP has its bytes; in pieces, because a call takes only so many arguments. */
export function encodeBase64(bytes: Uint8Array): string {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + CHUNK))));
  }
  return pieces.join("");
}

/** Contents of a resource: text as it is, bytes as base64. */
export function toContents(
  uri: string,
  declared: string | undefined,
  result: Exclude<ReadResult, { readonly contents: unknown }>,
): ResourceContents {
  const { content, mimeType } = typeof result === "string" || result instanceof Uint8Array
    ? { content: result, mimeType: declared }
    : result;
  const head = { uri, ...(mimeType !== undefined && { mimeType }) };
  return typeof content === "string" ? { ...head, text: content } : { ...head, blob: encodeBase64(content) };
}
