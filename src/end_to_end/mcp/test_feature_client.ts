/**
 * One interface for both generations of the official client, over each of their transports. Only tests import this.
 *
 * @module
 */
import {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as HttpV2,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.d.ts"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/sse.d.ts"
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.d.ts"
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/client/streamableHttp.d.ts"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="../../../node_modules/@modelcontextprotocol/sdk/dist/esm/types.d.ts"
import * as schemasV1 from "@modelcontextprotocol/sdk/types.js";
import { NotificationLog } from "./test_notification_log.ts";
import { RecordingFetch } from "./test_recording_fetch.ts";

/** A message whose members the tests check one by one. */
// deno-lint-ignore no-explicit-any
export type Loose = any;

/** How a client reaches the server: a URL, or a command. */
export type ServerAddress = { readonly url: string } | { readonly command: string; readonly args: string[] };

export interface FeatureClientOptions {
  readonly generation: 1 | 2;
  readonly transport: "http" | "stdio" | "sse";
  /** What client 2.x negotiates; client 1.x has no modern era. @default "legacy" */
  readonly mode?: VersionNegotiationMode;
  /** The client reads changed lists again; each is logged as a notification `refreshed`. */
  readonly refreshesLists?: boolean;
  /** The number of instances of the server. @default 1 */
  readonly instances?: number;
}

export interface CallOptions {
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly signal?: AbortSignal;
  readonly onresumptiontoken?: (token: string) => void;
}

/** Results of requests to the client; the steps set them. */
export interface Answers {
  elicit: (params: Loose) => Loose;
  sample: (params: Loose) => Loose;
  roots: () => Loose;
}

export interface FeatureClient {
  readonly instances: number;
  readonly generation: 1 | 2;
  readonly era: "modern" | "legacy";
  readonly revision: string;
  readonly info: { readonly server: Loose; readonly capabilities: Loose; readonly instructions: unknown };
  readonly notifications: NotificationLog;
  readonly answers: Answers;
  /** The requests over HTTP. */
  readonly wire: RecordingFetch;
  /** Errors that the client reported. */
  readonly errors: Error[];
  readonly sessionId: () => string | undefined;
  ping(): Promise<unknown>;
  /** All entries, and the number of pages unless the client reads all pages itself. */
  list(
    what: "tools" | "resources" | "resourceTemplates" | "prompts",
  ): Promise<{ all: Loose[]; pages?: number }>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions, meta?: Loose): Promise<Loose>;
  read(uri: string): Promise<Loose>;
  prompt(name: string, args?: Record<string, string>): Promise<Loose>;
  complete(params: Loose): Promise<Loose>;
  setLevel(level: "debug" | "info" | "warning" | "error"): Promise<unknown>;
  /** Subscribes to these resources and to lists. Returns the function that unsubscribes from one resource. */
  subscribe(uris: string[]): Promise<(uri: string) => Promise<void>>;
  /** Notifies the server that the roots changed; the modern revision has no such notification. */
  rootsChanged(): Promise<void>;
  terminate(): Promise<void>;
  close(): Promise<void>;
}

const INFO = { name: "tourist", version: "1.0.0", title: "A tourist" };
const CAPABILITIES = {
  elicitation: { form: { applyDefaults: true }, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
};
const RECONNECTION = {
  initialReconnectionDelay: 10,
  maxReconnectionDelay: 100,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 5,
};

/** Connects a client of this generation. */
export function connectFeatures(
  options: FeatureClientOptions,
  address: ServerAddress,
): Promise<FeatureClient> {
  return options.generation === 1 ? connectV1(options, address) : connectV2(options, address);
}

/** The option `listChanged` of a client. */
function listRefreshers(notifications: NotificationLog): Loose {
  const refresher = (list: string): Loose => ({
    debounceMs: 0,
    onChanged: (error: unknown, entries: Loose[] | null) =>
      notifications.add("refreshed", { list, error, entries }),
  });
  return { tools: refresher("tools"), prompts: refresher("prompts"), resources: refresher("resources") };
}

function newAnswers(): Answers {
  return {
    elicit: () => ({ action: "cancel" }),
    sample: () => ({ role: "assistant", content: { type: "text", text: "words" }, model: "test" }),
    roots: () => ({ roots: [{ uri: "file:///home/tourist", name: "home" }] }),
  };
}

async function connectV1(
  { transport: kind, instances = 1, refreshesLists = false }: FeatureClientOptions,
  address: ServerAddress,
): Promise<FeatureClient> {
  const wire = new RecordingFetch();
  const notifications = new NotificationLog();
  const answers = newAnswers();
  const errors: Error[] = [];
  const client = new ClientV1(INFO, {
    capabilities: CAPABILITIES,
    ...(refreshesLists && { listChanged: listRefreshers(notifications) }),
  });
  client.onerror = (error) => void errors.push(error);
  client.fallbackNotificationHandler = (each) => Promise.resolve(notifications.add(each.method, each.params));
  client.setRequestHandler(schemasV1.ElicitRequestSchema, ({ params }: Loose) => answers.elicit(params));
  client.setRequestHandler(
    schemasV1.CreateMessageRequestSchema,
    ({ params }: Loose) => answers.sample(params),
  );
  client.setRequestHandler(schemasV1.ListRootsRequestSchema, () => answers.roots());
  const transport = "command" in address
    ? new StdioV1({ ...address, stderr: "inherit" })
    : kind === "sse"
    ? new SseV1(new URL(address.url + "/mcp/sse"), { fetch: wire.fetch })
    : new HttpV1(new URL(address.url + "/mcp"), { fetch: wire.fetch, reconnectionOptions: RECONNECTION });
  let revision = "";
  if (transport instanceof HttpV1 || transport instanceof SseV1) {
    const set = transport.setProtocolVersion.bind(transport);
    transport.setProtocolVersion = (version) => set(revision = version);
  }
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  if (kind === "http") await wire.listening;
  const pages = {
    tools: (cursor: Loose) => client.listTools(cursor),
    resources: (cursor: Loose) => client.listResources(cursor),
    resourceTemplates: (cursor: Loose) => client.listResourceTemplates(cursor),
    prompts: (cursor: Loose) => client.listPrompts(cursor),
  };
  return {
    instances,
    generation: 1,
    era: "legacy",
    revision: revision || schemasV1.LATEST_PROTOCOL_VERSION,
    info: {
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    notifications,
    answers,
    wire,
    errors,
    sessionId: () => transport instanceof HttpV1 ? transport.sessionId : undefined,
    ping: () => client.ping(),
    async list(what) {
      const all: Loose[] = [];
      let count = 0;
      let cursor: string | undefined;
      do {
        const page: Loose = await pages[what](cursor === undefined ? undefined : { cursor });
        all.push(...page[what]);
        count++;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return { all, pages: count };
    },
    call: (name, args, options, meta) =>
      client.callTool(
        { name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) },
        undefined,
        options as Loose,
      ),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, ...(args && { arguments: args }) }),
    complete: (params) => client.complete(params),
    setLevel: (level) => client.setLoggingLevel(level),
    async subscribe(uris) {
      for (const uri of uris) await client.subscribeResource({ uri });
      return async (uri) => void await client.unsubscribeResource({ uri });
    },
    rootsChanged: () => client.sendRootsListChanged(),
    terminate: () => (transport as HttpV1).terminateSession(),
    close: () => client.close(),
  };
}

async function connectV2(
  { transport: kind, mode = "legacy", instances = 1, refreshesLists = false }: FeatureClientOptions,
  address: ServerAddress,
): Promise<FeatureClient> {
  const wire = new RecordingFetch();
  const notifications = new NotificationLog();
  const answers = newAnswers();
  const errors: Error[] = [];
  const client = new ClientV2(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode },
    ...(refreshesLists && { listChanged: listRefreshers(notifications) }),
  });
  client.onerror = (error) => void errors.push(error);
  client.fallbackNotificationHandler = (each) => Promise.resolve(notifications.add(each.method, each.params));
  client.setRequestHandler("elicitation/create", ({ params }: Loose) => answers.elicit(params));
  client.setRequestHandler("sampling/createMessage", ({ params }: Loose) => answers.sample(params));
  client.setRequestHandler("roots/list", () => answers.roots());
  const transport = "command" in address
    ? new StdioV2({ ...address, stderr: "inherit" })
    : kind === "sse"
    ? new SseV2(new URL(address.url + "/mcp/sse"), { fetch: wire.fetch })
    : new HttpV2(new URL(address.url + "/mcp"), { fetch: wire.fetch, reconnectionOptions: RECONNECTION });
  await client.connect(transport);
  const era = client.getProtocolEra()!;
  if (kind === "http" && era === "legacy") await wire.listening;
  const lists = {
    tools: () => client.listTools(),
    resources: () => client.listResources(),
    resourceTemplates: () => client.listResourceTemplates(),
    prompts: () => client.listPrompts(),
  };
  return {
    instances,
    generation: 2,
    era,
    revision: client.getNegotiatedProtocolVersion()!,
    info: {
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
    notifications,
    answers,
    wire,
    errors,
    sessionId: () => transport instanceof HttpV2 ? transport.sessionId : undefined,
    ping: () => client.ping(),
    list: async (what) => ({ all: (await lists[what]() as Loose)[what] }),
    call: (name, args, options, meta) =>
      client.callTool(
        { name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) },
        options as Loose,
      ),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, ...(args && { arguments: args }) }),
    complete: (params) => client.complete(params),
    setLevel: (level) => client.setLoggingLevel(level),
    async subscribe(uris) {
      if (era === "legacy") {
        for (const uri of uris) await client.subscribeResource({ uri });
        return async (uri) => void await client.unsubscribeResource({ uri });
      }
      const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      const changes = await client.listen(lists);
      const streams = new Map<string, Awaited<ReturnType<typeof client.listen>>>();
      for (const uri of uris) streams.set(uri, await client.listen({ resourceSubscriptions: [uri] }));
      notifications.add("acknowledged", changes.honoredFilter);
      changes.closed.then((reason) => notifications.add("closed", reason));
      return async (uri) => {
        await streams.get(uri)!.close();
        await streams.get(uri)!.closed;
      };
    },
    rootsChanged: () => client.sendRootsListChanged(),
    terminate: () => (transport as HttpV2).terminateSession(),
    close: () => client.close(),
  };
}
