/**
 * `openApi()`: tools of the operations that an OpenAPI document describes, as a source of definitions.
 *
 * @module
 */
import { defaultFetch, type Fetch } from "../http/network/default_fetch.ts";
import { createConfiguredFetch } from "../http/network/public_fetch.ts";
import type { Definition } from "../mcp/definition/definition.ts";
import { resourceTemplate } from "../mcp/definition/define.ts";
import type { DefinitionSource } from "../mcp/definition/definition_source.ts";
import { checkNames, checkOneOf, checkWhole, type Names } from "../options/option_check.ts";
import { timerDelay, unrefTimer } from "../timer.ts";
import { type ApiAccess, type Authorize, checkAccess, type Credential } from "./access.ts";
import { toApiTool } from "./api_tool.ts";
import { objectOf, type OpenApiDocument, OpenApiError, parseText, readDocument } from "./document.ts";
import { type AnswerStore, keepAnswers, ownerOf } from "./kept_answers.ts";
import { listOperations, type Operation, reasonOf, type SkippedOperation } from "./operation.ts";
import { checkSelect, type Select, selectOperations } from "./select.ts";
import { readAddress } from "./server_address.ts";

/** Options of {@linkcode openApi}. */
export interface OpenApiOptions {
  /** The document: an object, its text, or the https URL from which it is loaded. */
  readonly document: object | string | URL;
  /** Parses text that is not JSON, such as `parse` of the package `yaml`. @default text must be JSON */
  readonly parse?: (text: string) => unknown;
  /** The address of the API. @default the first server of the document, if it is where the document was loaded from */
  readonly server?: string | URL;
  /** Values of the variables in the address of the document's server. @default their defaults */
  readonly serverVariables?: Readonly<Record<string, string>>;
  /** Allows http to a server that is not on loopback. @default false */
  readonly allowHttp?: boolean;
  /** Which operations become tools. @default "safe": those that only read (GET and HEAD) */
  readonly select?: Select;
  /** Prepended to the names of tools. @default none */
  readonly prefix?: string;
  /** The scopes that an operation's tool requires of the access token for this server. @default none */
  readonly scopes?: (operation: Operation) => readonly string[];
  /** The name of this API in the URIs of large answers: letters, digits and "-". @default from its title */
  readonly name?: string;
  /** The credentials of the caller: a function that returns header fields, or an object that keeps credentials. */
  readonly authorize?: Authorize | ApiAccess;
  /** Credentials by the names of the document's security schemes; each goes where its scheme says. */
  readonly credentials?: Readonly<Record<string, Credential>>;
  /**
   * `document`: only operations with a security requirement get credentials. `always`: all get them, for documents that do
   * not describe security.
   * @default "document"
   */
  readonly security?: "document" | "always";
  /** Header fields of every request. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** @default the platform's `fetch` */
  readonly fetch?: Fetch;
  /** Milliseconds that a request and its answer may take. @default 30000 */
  readonly timeout?: number;
  /** Bytes of an answer that is sent as a whole; larger ones are cut, and linked as a resource. @default 65536 */
  readonly answerLimit?: number;
  /** Bytes of an answer that is read at all. @default 8388608 */
  readonly downloadLimit?: number;
  /** Where large answers are kept for their caller. @default `keepAnswers()`, the same for all: 64 MB in memory, for 10 minutes */
  readonly answers?: AnswerStore;
  /** Characters of a tool's input schema, and of its output schema. What does not fit is replaced by wider schemas. @default 16384 */
  readonly schemaLimit?: number;
  /** Publishes output schemas, where the answer is an object. @default true */
  readonly outputSchemas?: boolean;
  /** Gets the error of a document that could not be loaded; it is loaded again after a while. */
  readonly onProblem?: (problem: Error) => void;
}

const NAMES: Names<OpenApiOptions> = {
  document: "unknown",
  parse: "function",
  server: "unknown",
  serverVariables: "object",
  allowHttp: "boolean",
  select: "unknown",
  prefix: "string",
  scopes: "function",
  name: "string",
  authorize: "unknown",
  credentials: "object",
  security: "unknown",
  headers: "object",
  fetch: "function",
  timeout: "number",
  answerLimit: "number",
  downloadLimit: "number",
  answers: "object",
  schemaLimit: "number",
  outputSchemas: "boolean",
  onProblem: "function",
};

/** The tools of a document: pass it to the option `sources` of the tool server, or its `current()` to `tools`. */
export interface OpenApiTools extends DefinitionSource {
  /** The tools, and a resource template for large answers. */
  current(): Definition[];
  ready(): Promise<void>;
  /** Loads the document again from its URL. @throws {OpenApiError} and keeps the earlier tools */
  reload(): Promise<void>;
  /** The selected operations of which no tool was made, with the reason. */
  skipped(): readonly SkippedOperation[];
  /** The names of tools whose schemas did not fit in `schemaLimit`. */
  widened(): readonly string[];
  /** Ends loading. */
  close(): void;
}

interface Built {
  readonly definitions: Definition[];
  readonly skipped: readonly SkippedOperation[];
  readonly widened: readonly string[];
}

/** A cache: one for all, so that the same API may be there twice. */
const ANSWERS = keepAnswers();

const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;
const MIN_RETRY_MS = 5000;
const MAX_RETRY_MS = 300_000;

/**
 * Makes tools of the operations of an OpenAPI document (3.0, 3.1).
 * @throws {OpenApiError | RangeError | TypeError} for a document or an option that cannot be used. Of a document that is
 *   loaded from a URL, the problem goes to `onProblem`
 */
export function openApi(options: OpenApiOptions): OpenApiTools {
  checkNames("openApi", options, NAMES);
  const { document, onProblem = () => {} } = options;
  const build = builder(options);
  const url = document instanceof URL || typeof document === "string" && /^https?:\/\/\S+$/.test(document)
    ? String(document)
    : undefined;
  const watchers: (() => void)[] = [];
  let built: Built = { definitions: [], skipped: [], widened: [] };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  /** The number of loads that began, and that of the one whose document is in use. */
  let begun = 0;
  let used = 0;

  async function load(): Promise<void> {
    if (url === undefined) return;
    const own = ++begun;
    const fetchDocument = createConfiguredFetch({
      connect: options.fetch ?? defaultFetch,
      limit: MAX_DOCUMENT_BYTES,
      timeout: options.timeout ?? 30_000,
    });
    const headers = { accept: "application/json, application/yaml;q=0.9, */*;q=0.1" };
    const { text } = await fetchDocument(url, { headers });
    const next = build(parseText(text, options.parse), url);
    // The document of a slower load that began earlier may be older.
    if (own < used) return;
    used = own;
    built = next;
    for (const onChange of watchers) onChange();
  }

  async function loadUntilLoaded(delay: number): Promise<void> {
    try {
      await load();
    } catch (error) {
      onProblem(error as Error);
      if (isClosed) return;
      timer = setTimeout(
        () => void loadUntilLoaded(Math.min(2 * delay, MAX_RETRY_MS)),
        timerDelay(delay),
      );
      unrefTimer(timer);
    }
  }

  if (url === undefined) {
    const root = typeof document === "string" ? parseText(document, options.parse) : document;
    built = build(root, undefined);
  }
  let first: Promise<void> | undefined;
  return {
    current: () => built.definitions,
    watch: (onChange) => void watchers.push(onChange),
    ready: () => first ??= loadUntilLoaded(MIN_RETRY_MS),
    reload: load,
    skipped: () => built.skipped,
    widened: () => built.widened,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** A function that makes the definitions of a parsed document, with the checked options. */
function builder(options: OpenApiOptions): (root: unknown, documentUrl: string | undefined) => Built {
  const limit = (name: "timeout" | "answerLimit" | "downloadLimit" | "schemaLimit", standard: number) =>
    checkWhole(`openApi.${name}`, options[name] ?? standard, 1);
  const { answers = ANSWERS, name, prefix: namePrefix = "" } = options;
  if (name !== undefined && !/^[A-Za-z0-9-]{1,64}$/.test(name)) {
    throw new OpenApiError('"name" must be 1 to 64 letters, digits and "-"');
  }
  if (!/^[A-Za-z0-9_-]{0,60}$/.test(namePrefix)) {
    throw new OpenApiError('"prefix" must be at most 60 letters, digits, "_" and "-"');
  }
  checkSelect(options.select);
  checkAccess(options);
  const shared = {
    authorize: options.authorize,
    credentials: options.credentials ?? {},
    prefix: namePrefix,
    scopes: options.scopes ?? (() => []),
    alwaysAuthorizes: checkOneOf("openApi.security", options.security, "document", "always") === "always",
    headers: options.headers ?? {},
    fetch: options.fetch ?? defaultFetch,
    timeout: limit("timeout", 30_000),
    answerLimit: limit("answerLimit", 65_536),
    downloadLimit: limit("downloadLimit", 8 * 1024 * 1024),
    schemaLimit: limit("schemaLimit", 16_384),
    hasOutputSchemas: options.outputSchemas ?? true,
    answers,
  };
  return (root, documentUrl) => {
    const document = readDocument(root);
    checkCredentials(document, shared.credentials);
    const addressOptions = {
      server: options.server,
      variables: options.serverVariables ?? {},
      allowHttp: options.allowHttp ?? false,
      documentUrl,
    };
    const address = readAddress(document.root.servers, addressOptions);
    const prefix = `openapi://${name ?? toHost(document.title)}/answers/`;
    const { operations, skipped: unreadable } = listOperations(document);
    const skipped = [...unreadable];
    const widened: string[] = [];
    const definitions: Definition[] = [];
    for (const operation of selectOperations(operations, options.select ?? "safe")) {
      const { method, path } = operation;
      try {
        const { definition, isWidened } = toApiTool(operation, {
          ...shared,
          document,
          address,
          addressOptions,
          answerUri: (id) => prefix + id,
        });
        definitions.push(definition);
        if (isWidened) widened.push(definition.name);
      } catch (error) {
        skipped.push({ method, path, reason: reasonOf(error) });
      }
    }
    if (definitions.length > 0) definitions.push(answerTemplate(prefix, document.title, answers));
    return { definitions, skipped, widened };
  };
}

/** A misspelled name would be noticed by a refused call only. @throws {OpenApiError} */
function checkCredentials(document: OpenApiDocument, credentials: object): void {
  const schemes = objectOf(objectOf(document.root.components).securitySchemes);
  const unknown = Object.keys(credentials).find((name) => !Object.hasOwn(schemes, name));
  if (unknown === undefined) return;
  throw new OpenApiError(
    `The document has no security scheme "${unknown}", which "credentials" names. It has: ${
      Object.keys(schemes).join(", ").slice(0, 500) || "none"
    }`,
  );
}

function answerTemplate(prefix: string, title: string, answers: AnswerStore): Definition {
  return resourceTemplate({
    uriTemplate: `${prefix}{id}`,
    name: `answers of ${title.slice(0, 80)}`,
    isListed: false,
    async read({ id }, { principal }) {
      const found = await answers.get([ownerOf(principal), id!]);
      if (!found) return undefined;
      const text = toText(found.bytes);
      return { content: text ?? found.bytes, mimeType: found.mimeType || "application/octet-stream" };
    },
  });
}

function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function toHost(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64) || "api";
}
