/**
 * The types of content blocks and results of tools, resources and prompts
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result). They are the same in every
 * revision; `revision_shape.ts` replaces what an older client does not know.
 *
 * @module
 */
import { encodeBase64 } from "../../crypto/base64.ts";

/** Hints about content: its audience, and its priority from 0 to 1. */
export interface Annotations {
  readonly audience?: readonly ("user" | "assistant")[];
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

/** An icon for user interfaces (2025-11-25). */
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

/** `data` is base64. Audio exists since 2025-03-26. */
export interface MediaContent extends Marked {
  readonly type: "image" | "audio";
  readonly data: string;
  readonly mimeType: string;
}

export interface EmbeddedResource extends Marked {
  readonly type: "resource";
  readonly resource: ResourceContents;
}

/** A reference to a resource that the client may read (2025-06-18). */
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

/** One item of a result (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result). */
export type ContentItem = TextContent | MediaContent | EmbeddedResource | ResourceLink;

/** The result of a tool, as the protocol has it. */
export interface ToolResult {
  readonly content: readonly ContentItem[];
  /** Any JSON in 2026-07-28; an object in 2025-06-18 and 2025-11-25. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed. The model sees the content and may correct its call. */
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

export type ResourceContents =
  & { readonly uri: string; readonly mimeType?: string; readonly _meta?: Meta }
  & ({ readonly text: string } | { readonly blob: string });

/** As {@linkcode ResourceContents}, with bytes. */
export interface BytesContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly _meta?: Meta;
  readonly blob: Uint8Array;
}

/** Text or bytes, either of them with a media type, or complete contents (for example several, for a folder). */
export type ReadResult =
  | string
  | Uint8Array
  | { readonly content: string | Uint8Array; readonly mimeType: string }
  | FullReadResult;

/** Complete contents; a `blob` of bytes is sent as base64. `ttl` replaces that of the definition, in milliseconds. */
export interface FullReadResult {
  readonly contents: readonly (ResourceContents | BytesContents)[];
  readonly ttl?: number;
  readonly _meta?: Meta;
}

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentItem;
}

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: Meta;
}

/**
 * `ResourceContents` of text (`text`) or bytes (`blob`, base64).
 * @throws {TypeError} for anything else
 */
export function toContents(
  uri: string,
  declared: string | undefined,
  result: Exclude<ReadResult, { readonly contents: unknown }>,
): ResourceContents {
  const { content, mimeType } = typeof result === "string" || result instanceof Uint8Array
    ? { content: result, mimeType: declared }
    : Object(result) as Exclude<typeof result, string | Uint8Array>;
  if (typeof content !== "string" && !(content instanceof Uint8Array)) {
    throw invalidResult(uri, "return text, bytes, { content, mimeType } or { contents }");
  }
  const head = { uri, ...(mimeType !== undefined && { mimeType }) };
  return typeof content === "string" ? { ...head, text: content } : { ...head, blob: encodeBase64(content) };
}

/**
 * Complete contents as they are sent.
 * @throws {TypeError} for contents without a URI, or without text and blob: authors without types may return anything
 */
export function toAllContents(uri: string, contents: FullReadResult["contents"]): ResourceContents[] {
  return contents.map((each) => {
    const { text, blob } = Object(each) as { text?: unknown; blob?: unknown };
    const hasContent = text === undefined
      ? typeof blob === "string" || blob instanceof Uint8Array
      : typeof text === "string";
    if (!hasContent || typeof each.uri !== "string") {
      throw invalidResult(uri, "each of the contents must have a uri, and a text or a blob");
    }
    return blob instanceof Uint8Array ? { ...each, blob: encodeBase64(blob) } : each as ResourceContents;
  });
}

function invalidResult(uri: string, rule: string): TypeError {
  return new TypeError(`Invalid result of resource "${uri.slice(0, 500)}": ${rule}`);
}
