/**
 * `subscriptions/listen`: sends the changes that a client subscribed to
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/subscriptions).
 *
 * @module
 */
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import { type Params } from "../../jsonrpc/message.ts";
import { writeNotification } from "../../jsonrpc/server_message.ts";
import type { Call } from "../call.ts";
import { type Change, type Changes, isFor, type LoggedChange } from "../definition/changes.ts";
import { requiredCapabilities } from "../input/client_feature.ts";
import { MissingCapabilityError } from "../error.ts";
import type { ModernWriter } from "../modern.ts";
import { optionalObject, requireObject } from "../schema/params.ts";
import type { Principal } from "../../http/principal.ts";
import { WorkSlice } from "../../http/work_slice.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import type { Registry } from "../definition/registry.ts";
import { type OnSubscribed, REPEAT_SUBSCRIBED_MS } from "../session/session_changes.ts";
import { requireResource } from "../session/subscriptions.ts";
import { listenToTasks, type TaskListenOptions } from "../tasks/task_listen.ts";

export interface ListenOptions extends TaskListenOptions {
  /** What the caller is offered. */
  readonly registryOf: (principal: Principal | undefined) => Promise<Registry>;
  readonly onSubscribed?: OnSubscribed | undefined;
  readonly changes: Changes;
  readonly writer: ModernWriter;
}

/** Limits of one stream: each URI is matched with every template, each task is read from the store. */
const MAX_LISTEN_URIS = 1000;
const MAX_LISTEN_TASKS = 100;
/** URIs of templates without `exists`, which must be read. */
const MAX_LISTEN_READS = 100;
/** Characters of all URIs and task ids together. */
const MAX_LISTEN_CHARACTERS = 65_536;

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

/** The lists of a filter, and the maximum of each. */
const LISTED = [["resourceSubscriptions", MAX_LISTEN_URIS], ["taskIds", MAX_LISTEN_TASKS]] as const;

/** A running subscription. */
export interface Listening {
  /** JSON text of the response, sent when the server ends the stream. */
  readonly finalResult: string;
  stop(): void;
}

/**
 * Sends the acknowledgment, then notifications of the accepted filter until it is stopped.
 * @throws {RpcError} -32602 for an invalid filter, -32021 for tasks without their extension
 */
export async function startListening(
  options: ListenOptions,
  call: Call,
  params: Params,
  send: (json: string) => void,
): Promise<Listening> {
  const { registryOf, changes, writer, onSubscribed } = options;
  const requested = parseFilter(optionalObject(requireObject(params), "notifications"));
  if (requested.taskIds && !call.can("tasks")) {
    throw new MissingCapabilityError(requiredCapabilities("tasks"));
  }
  const accepted = await acceptFilter(requested, await registryOf(call.principal), call);
  const _meta = { "io.modelcontextprotocol/subscriptionId": call.request.id };
  const notify = (method: string, members: Record<string, unknown> = {}): void =>
    send(writeNotification(method, { ...members, _meta }));

  // Changes may come while tasks are read, but the acknowledgment must be first.
  let delayed: (() => void)[] | undefined = [];
  const afterAcknowledgment = (send: () => void): void => void (delayed ? delayed.push(send) : send());
  const uris = new Set(accepted.resourceSubscriptions);
  const stops: (() => void)[] = [];
  if (Object.keys(accepted).length > 0) {
    // Read first, so that no change after the acknowledgment is missed.
    const position = await changes.latestPosition();
    const onChange = ({ change }: LoggedChange): void => {
      const { kind } = change;
      const isAccepted = kind === "resource" ? uris.has(change.uri) : accepted[LISTS[kind]];
      if (isAccepted && isFor(change, call.principal)) {
        afterAcknowledgment(() => notify(...notificationOf(change)));
      }
    };
    stops.push(changes.listen(onChange, position));
    if (onSubscribed && uris.size > 0) {
      const tell = (): void => onSubscribed(uris, call.principal);
      tell();
      const repeating = setInterval(tell, REPEAT_SUBSCRIBED_MS);
      stops.push(() => clearInterval(repeating));
    }
  }
  let taskIds: readonly string[] | undefined;
  try {
    if (requested.taskIds) {
      const onTask = (task: Record<string, unknown>): void =>
        afterAcknowledgment(() => notify("notifications/tasks", task));
      const listening = await listenToTasks(options, requested.taskIds, call, onTask);
      taskIds = listening.taskIds;
      stops.push(listening.stop);
    }
  } catch (error) {
    for (const stop of stops) stop();
    throw error;
  }
  notify("notifications/subscriptions/acknowledged", {
    notifications: { ...accepted, ...(taskIds && { taskIds }) },
  });
  for (const send of delayed) send();
  delayed = undefined;
  return {
    finalResult: writer.write({ id: call.request.id, result: { _meta } }),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

/** Method and params of the notification of a change, the same in every revision. */
export function notificationOf(change: Change): [method: string, params?: Record<string, unknown>] {
  return change.kind === "resource"
    ? ["notifications/resources/updated", { uri: change.uri }]
    : [`notifications/${change.kind}/list_changed`];
}

/** @throws {RpcError} -32602 */
function parseFilter(given: Readonly<Record<string, unknown>>): Filter {
  const filter: Record<string, unknown> = {};
  for (const name of Object.values(LISTS)) {
    const value = given[name];
    if (value !== undefined && typeof value !== "boolean") throw invalidFilter(`${name} must be a boolean`);
    if (value) filter[name] = true;
  }
  let characters = 0;
  for (const [name, max] of LISTED) {
    const value = given[name];
    if (value === undefined) continue;
    if (!Array.isArray(value) || value.length > max || !value.every((each) => typeof each === "string")) {
      throw invalidFilter(`${name} must be a list of at most ${max} strings`);
    }
    for (const { length } of value as string[]) characters += length;
    if (characters > MAX_LISTEN_CHARACTERS) {
      throw invalidFilter(
        `${name} has too many characters. Maximum: ${MAX_LISTEN_CHARACTERS} in all lists together`,
      );
    }
    filter[name] = value;
  }
  return filter;
}

function invalidFilter(reason: string): RpcError {
  return new RpcError(INVALID_PARAMS, `Invalid params: notifications.${reason}`);
}

/** The part of a filter that the server has definitions for, and resources that the caller may read. */
async function acceptFilter(
  { taskIds: _, ...requested }: Filter,
  registry: Registry,
  call: Call,
): Promise<Filter> {
  const { offers } = registry;
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = requested;
  return {
    ...(toolsListChanged && offers.tools && { toolsListChanged }),
    ...(promptsListChanged && offers.prompts && { promptsListChanged }),
    ...(resourcesListChanged && offers.resources && { resourcesListChanged }),
    ...(resourceSubscriptions && offers.resources && {
      resourceSubscriptions: await readableUris(resourceSubscriptions, registry, call),
    }),
  };
}

/**
 * As `resources/subscribe`: the updates of a resource are only for those who may read it.
 * @throws {StoreUnavailableError} the client asks again: the updates of a resource that was left out would not reach it
 */
async function readableUris(uris: readonly string[], registry: Registry, call: Call): Promise<string[]> {
  const reads = { left: MAX_LISTEN_READS };
  const slice = new WorkSlice();
  const readable: string[] = [];
  // One after another: the handlers of a server must not run a thousand times at once.
  for (const uri of new Set(uris)) {
    if (slice.isOver) await slice.yield();
    if (call.isCancelled) break;
    try {
      await requireResource(registry, uri, call, reads);
      readable.push(uri);
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
    }
  }
  return readable;
}
