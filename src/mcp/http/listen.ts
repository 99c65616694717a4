/**
 * `subscriptions/listen`: one stream of the changes that a client asked for
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/subscriptions).
 *
 * @module
 */
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import type { Params } from "../../jsonrpc/message.ts";
import type { Call } from "../call.ts";
import type { Change, Changes, PlacedChange } from "../definition/changes.ts";
import { requiredCapabilities } from "../input/client_feature.ts";
import { MissingCapabilityError } from "../error.ts";
import type { ModernWriter } from "../modern.ts";
import { optionalObject, requireObject } from "../schema/params.ts";
import type { Registry } from "../definition/registry.ts";
import { scopesOf } from "../session/subscriptions.ts";
import { listenToTasks, type TaskListenOptions } from "../tasks/task_listen.ts";

export interface ListenOptions extends TaskListenOptions {
  /** What is offered now. */
  readonly registry: () => Registry;
  readonly changes: Changes;
  readonly writer: ModernWriter;
}

/** What one stream may name: each resource is matched with every template, each task is looked up. */
export const MAX_LISTEN_URIS = 1000;
export const MAX_LISTEN_TASKS = 100;
/** Characters of all names together. */
export const MAX_LISTEN_CHARACTERS = 65_536;

interface Filter {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
  readonly taskIds?: readonly string[];
}

const LISTS = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

/** The lists of names, and how many each may have. */
const NAMING = [["resourceSubscriptions", MAX_LISTEN_URIS], ["taskIds", MAX_LISTEN_TASKS]] as const;

/** What a stream needs to say when it ends by the server's wish, and how to end it otherwise. */
export interface Listening {
  /** JSON text of the result that ends the stream in good order. */
  readonly farewell: string;
  stop(): void;
}

/**
 * Begins: sends the acknowledgment, then what was asked for, until it is stopped.
 * @throws {RpcError} -32602 for a filter that is none, -32021 for tasks without their extension
 */
export async function startListening(
  options: ListenOptions,
  call: Call,
  params: Params,
  send: (json: string) => void,
): Promise<Listening> {
  const { registry, changes, writer } = options;
  const asked = readFilter(optionalObject(requireObject(params), "notifications"));
  if (asked.taskIds && !call.can("tasks")) throw new MissingCapabilityError(requiredCapabilities("tasks"));
  const honoured = honour(asked, registry(), call);
  const _meta = { "io.modelcontextprotocol/subscriptionId": call.id };
  const notify = (method: string, members: Record<string, unknown> = {}): void =>
    send(JSON.stringify({ jsonrpc: "2.0", method, params: { ...members, _meta } }));

  // Changes may come while tasks are looked up: nothing may go out before the acknowledgment.
  let early: (() => void)[] | undefined = [];
  const tell = (say: () => void): void => void (early ? early.push(say) : say());
  const uris = new Set(honoured.resourceSubscriptions);
  const stops: (() => void)[] = [];
  if (Object.keys(honoured).length > 0) {
    // Read first: what is acknowledged is told from then on, and not only once a watch has begun.
    const place = await changes.place();
    const hear = ({ change }: PlacedChange): void => {
      const { kind } = change;
      if (kind === "resource" ? uris.has(change.uri) : honoured[LISTS[kind]]) {
        tell(() => notify(...notificationOf(change)));
      }
    };
    stops.push(changes.listen(hear, place));
  }
  let taskIds: readonly string[] | undefined;
  try {
    if (asked.taskIds) {
      const say = (task: Record<string, unknown>): void => tell(() => notify("notifications/tasks", task));
      const heard = await listenToTasks(options, asked.taskIds, call, say);
      taskIds = heard.taskIds;
      stops.push(heard.stop);
    }
  } catch (error) {
    for (const stop of stops) stop();
    throw error;
  }
  notify("notifications/subscriptions/acknowledged", {
    notifications: { ...honoured, ...(taskIds && { taskIds }) },
  });
  for (const say of early) say();
  early = undefined;
  return {
    farewell: writer.write({ id: call.id, result: { _meta } }),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

/** The notification of a change, the same in every revision. */
export function notificationOf(change: Change): [method: string, params?: Record<string, unknown>] {
  return change.kind === "resource"
    ? ["notifications/resources/updated", { uri: change.uri }]
    : [`notifications/${change.kind}/list_changed`];
}

/** @throws {RpcError} -32602 */
function readFilter(given: Readonly<Record<string, unknown>>): Filter {
  const filter: Record<string, unknown> = {};
  for (const name of Object.values(LISTS)) {
    const value = given[name];
    if (value !== undefined && typeof value !== "boolean") throw bad(`${name} must be a boolean`);
    if (value) filter[name] = true;
  }
  let characters = 0;
  for (const [name, most] of NAMING) {
    const value = given[name];
    if (value === undefined) continue;
    if (!Array.isArray(value) || value.length > most || !value.every((each) => typeof each === "string")) {
      throw bad(`${name} must be a list of at most ${most} strings`);
    }
    for (const { length } of value as string[]) characters += length;
    if (characters > MAX_LISTEN_CHARACTERS) {
      throw bad(`${name} has too many characters. Maximum: ${MAX_LISTEN_CHARACTERS} in all lists together`);
    }
    filter[name] = value;
  }
  return filter;
}

function bad(reason: string): RpcError {
  return new RpcError(INVALID_PARAMS, `Invalid params: notifications.${reason}`);
}

/** The part that the server offers anything of, and that the caller may read. */
function honour({ taskIds: _, ...asked }: Filter, registry: Registry, { host, principal }: Call): Filter {
  const { tools, prompts, resources, templates } = registry;
  const may = (uri: string): boolean =>
    scopesOf(registry, uri)?.every((scope) => host.holds(principal, scope)) ?? true;
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = asked;
  const hasResources = resources.size + templates.length > 0;
  return {
    ...(toolsListChanged && tools.size > 0 && { toolsListChanged }),
    ...(promptsListChanged && prompts.size > 0 && { promptsListChanged }),
    ...(resourcesListChanged && hasResources && { resourcesListChanged }),
    ...(resourceSubscriptions && hasResources &&
      { resourceSubscriptions: resourceSubscriptions.filter(may) }),
  };
}
