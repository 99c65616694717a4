/**
 * Makes the result of a call of the API's answer: JSON as structured content, text as text, images as images; errors as
 * results that the model sees.
 *
 * @module
 */
import { mediaType, mediaTypeParameter } from "../http/body/media_type.ts";
import { isObject } from "../json_schema/value.ts";
import { encodeBase64 } from "../crypto/base64.ts";
import type { ContentItem, ToolResult } from "../mcp/definition/content.ts";
import { isTextual } from "./body.ts";
import type { KeptAnswer } from "./kept_answers.ts";

export interface Answer extends KeptAnswer {
  readonly status: number;
  readonly headers: Headers;
}

export interface AnswerOptions {
  /** Bytes of an answer that is sent as a whole; of a longer one the beginning is sent. */
  readonly answerLimit: number;
  /** Whether the tool has an output schema: its results must then have an object as structured content. */
  readonly isStructured: boolean;
  /** Keeps an answer, and returns its URI; `undefined` when it cannot be kept. */
  readonly keep: (answer: KeptAnswer) => Promise<string | undefined>;
}

/** Characters of the body of an error, and of the beginning of a large answer. */
const MAX_ERROR_CHARACTERS = 4096;
const MAX_BEGINNING_CHARACTERS = 4096;
const MAX_LINK_CHARACTERS = 2000;

export async function toToolResult(answer: Answer, options: AnswerOptions): Promise<ToolResult> {
  const { status, bytes, headers } = answer;
  if (status >= 400) return toError(answer);
  const type = mediaType(answer.mimeType);
  const notes = describePages(headers);
  if (bytes.length === 0) return withNotice(`Status ${status}, without content.`, [], options, notes);
  if (bytes.length > options.answerLimit) return await cut(answer, type, options);
  if (/^image\/(png|jpeg|gif|webp|avif|bmp)$|^audio\//.test(type)) {
    const kind = type.startsWith("image/") ? "image" : "audio";
    const media = { type: kind, data: encodeBase64(bytes), mimeType: type } as const;
    return withNotice(`An answer of ${type}.`, [media], options, notes);
  }
  const text = decodeText(answer, type);
  if (text === undefined) {
    const resource = await link(answer, options);
    const what = `An answer of ${type || "unknown type"}, ${bytes.length} bytes`;
    if (!resource) return withNotice(`${what}, which could not be kept.`, [], options, notes);
    const notice = `${what}: read it as a resource.`;
    return withNotice(notice, [resource], options, [notice, ...notes]);
  }
  const json = isJson(type) ? parseJson(text) : undefined;
  const content = [{ type: "text", text } as const];
  if (json === undefined) return withNotice("The answer is text: see the content.", content, options, notes);
  if (!isObject(json.value) && options.isStructured) {
    return result(content, { value: json.value }, notes);
  }
  return result(content, json.value, notes);
}

/** Structured content is required where the tool has an output schema. */
function withNotice(
  notice: string,
  content: readonly ContentItem[],
  { isStructured }: AnswerOptions,
  notes: readonly string[],
): ToolResult {
  const shown = content.length > 0 ? content : [{ type: "text", text: notice } as const];
  return isStructured ? result(shown, { notice }, notes) : { content: [...shown, ...notes.map(toText)] };
}

function result(
  content: readonly ContentItem[],
  structuredContent: unknown,
  notes: readonly string[],
): ToolResult {
  return { content: [...content, ...notes.map(toText)], structuredContent };
}

function toText(text: string): ContentItem {
  return { type: "text", text };
}

/** The beginning of a large answer, and a link to the whole. */
async function cut(answer: Answer, type: string, options: AnswerOptions): Promise<ToolResult> {
  const { length } = answer.bytes;
  const resource = await link(answer, options);
  const notice =
    `The answer has ${length} bytes, more than the ${options.answerLimit} that are sent at once: ` +
    (resource
      ? `ask for less, or read the whole at ${resource.uri} within some minutes.`
      : "ask for less. The whole could not be kept.");
  const beginning = decodeText(answer, type)?.slice(0, MAX_BEGINNING_CHARACTERS).toWellFormed();
  const content = [
    toText(notice),
    ...(beginning === undefined ? [] : [toText(`It begins with:\n${beginning}`)]),
    ...(resource ? [resource] : []),
  ];
  const notes = describePages(answer.headers);
  return options.isStructured
    ? result(content, { notice, ...(resource && { uri: resource.uri }) }, notes)
    : { content: [...content, ...notes.map(toText)] };
}

async function link(
  answer: Answer,
  { keep }: AnswerOptions,
): Promise<ContentItem & { readonly uri: string } | undefined> {
  const { bytes, mimeType } = answer;
  const uri = await keep({ bytes, mimeType });
  if (uri === undefined) return undefined;
  return {
    type: "resource_link",
    uri,
    name: "answer",
    size: bytes.length,
    ...(mimeType !== "" && { mimeType }),
  };
}

function toError(answer: Answer): ToolResult {
  const { status, headers } = answer;
  const text = decodeText(answer, mediaType(answer.mimeType))?.slice(0, MAX_ERROR_CHARACTERS).toWellFormed();
  const body = text?.trim() ? `\n${text}` : "";
  return { content: [toText(`${describeError(status, headers)}${body}`)], isError: true };
}

function describeError(status: number, headers: Headers): string {
  switch (status) {
    case 401:
      return "The API refused the credentials of this call (status 401).";
    case 403:
      return "The API does not allow this call with the credentials it got (status 403).";
    case 404:
      return "The API found nothing there (status 404).";
    case 429:
    case 503: {
      const seconds = retryAfter(headers);
      const wait = seconds === undefined ? "later" : `after ${seconds} seconds`;
      return status === 429
        ? `The API got too many requests (status 429): call again ${wait}.`
        : `The API is not available (status 503): call again ${wait}.`;
    }
    default:
      return `The API returned an error (status ${status}).`;
  }
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function retryAfter(headers: Headers): number | undefined {
  const field = headers.get("retry-after") ?? "";
  if (/^\d{1,9}$/.test(field)) return Number(field);
  const date = Date.parse(field);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000));
}

/** RFC 8288: many services name the next page here. */
function describePages(headers: Headers): string[] {
  const field = headers.get("link");
  return field && /rel="?(next|prev|last|first)/.test(field)
    ? [`Link: ${field.slice(0, MAX_LINK_CHARACTERS)}`]
    : [];
}

function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The text of an answer; `undefined` for bytes. Without a media type it is text if it is UTF-8. */
function decodeText({ bytes, mimeType }: KeptAnswer, type: string): string | undefined {
  const declared = isJson(type) || isTextual(type) || type === "application/x-www-form-urlencoded" ||
    type === "image/svg+xml";
  if (!declared && type !== "") return undefined;
  const charset = mediaTypeParameter(mimeType, "charset") ?? "utf-8";
  try {
    return new TextDecoder(charset, { fatal: !declared }).decode(bytes);
  } catch {
    return declared ? new TextDecoder().decode(bytes) : undefined;
  }
}
