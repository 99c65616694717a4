/**
 * The tasks extension (https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md): tool
 * calls that are answered with a task, whose result the client gets later from any instance. A task that waits for input
 * of the client is only a record in the store: the tool runs again when the responses have come.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { Method } from "../../jsonrpc/dispatch.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import { randomSecret } from "../../crypto/secret.ts";
import { Call, type CallHost } from "../call.ts";
import { NO_REQUEST } from "../call_request.ts";
import { NO_CONNECTION } from "../connection.ts";
import { requiredCapabilities } from "../input/client_feature.ts";
import type { InputRequired } from "../input/input_required.ts";
import type { TaskOptions } from "../context.ts";
import { MODERN_ERA } from "../era.ts";
import { MissingCapabilityError } from "../error.ts";
import { Inputs, readResponses } from "../input/inputs.ts";
import { requireObject, requireString } from "../schema/params.ts";
import type { CompiledTool } from "../definition/registry.ts";
import { retryWhileUnavailable } from "../../store/retry.ts";
import { principalKey } from "../session/principal_key.ts";
import { recordBytes, type StorageAllowance } from "../session/storage_limits.ts";
import { type Outcome, toSettled, toStorable } from "./task_outcome.ts";
import { createNotes } from "./task_notes.ts";
import { checkTaskTimes } from "./task_times.ts";
import { isTerminal, type TaskRecord, type TaskStore, toFailed, toPrincipal, toTask } from "./task_store.ts";

export interface TasksOptions {
  readonly store: TaskStore;
  readonly host: CallHost;
  readonly inputRequired: InputRequired;
  /** Runs a tool; throws as `runTool` does. */
  readonly runTool: (tool: CompiledTool, input: unknown, call: Call) => Promise<unknown>;
  /** The current definition of the tool, if the caller is offered it. */
  readonly findTool: (name: string, call: Call) => Promise<CompiledTool | undefined>;
  readonly observe: Observe;
  readonly now: () => number;
  readonly storage: StorageAllowance;
}

const DEFAULT_TTL_MS = 3_600_000;
const DEFAULT_POLL_INTERVAL_MS = 1_000;

export class Tasks {
  readonly #options: TasksOptions;

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /**
   * Runs a tool for a client with the tasks extension. Resolves to the result, an `InputRequiredResult`, or the task that
   * the call became. `given` are the arguments of the request, `input` is what the schema made of them.
   */
  async run(
    tool: CompiledTool,
    given: Readonly<Record<string, unknown>>,
    input: unknown,
    call: Call,
    params: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    const { inputRequired, runTool } = this.#options;
    const task = tool.task!;
    if (task.start !== "by_run") {
      const record = await this.#create(tool, given, call, task);
      this.#runAsTask(record, tool, input, call);
      return { resultType: "task", ...toTask(record) };
    }
    return await new Promise((resolve, reject) => {
      let record: TaskRecord | undefined;
      let beginning: Promise<boolean> | undefined;
      const begin = async (options: TaskOptions): Promise<boolean> => {
        record = await this.#create(tool, given, call, { ...task, ...options });
        this.#attach(record, call);
        resolve({ resultType: "task", ...toTask(record) });
        return true;
      };
      // A call becomes one task, also when its tool starts it twice at once.
      call.begin = (options) =>
        beginning ??= begin(options).catch((error) => {
          beginning = undefined;
          throw error;
        });
      const settle = async (outcome: Outcome): Promise<void> => {
        call.begin = undefined;
        // The tool may have ended without waiting for its task.
        await beginning?.catch(() => {});
        if (record) await this.#settle(record, call, outcome);
      };
      const work = runTool(tool, input, call);
      const settled = work.then((result) => settle({ result }), (error) => settle({ error }));
      call.waitUntil(settled);
      settled.then(() => record ? undefined : inputRequired.run(call, "tools/call", params, () => work)).then(
        resolve,
        reject,
      );
    });
  }

  /** `tasks/get`, `tasks/update`, `tasks/cancel`. */
  methods(): [string, Method<Call>][] {
    const { store, findTool } = this.#options;
    return [
      ["tasks/get", async (params, call) => toTask(await this.find(params, call))],
      ["tasks/update", async (params, call) => {
        const record = await this.find(params, call);
        const responses = readResponses(requireObject(params).inputResponses);
        this.#options.storage.take(call, recordBytes(responses), record.ttl);
        await this.#acceptResponses(record, responses, call);
        return {};
      }],
      ["tasks/cancel", async (params, call) => {
        const { id } = await this.find(params, call);
        let isWaiting = false;
        const record = await store.change(id, (now) => {
          isWaiting = now.status === "input_required";
          return isTerminal(now) ? undefined : { ...now, status: "cancelled" };
        }, true);
        const tool = isWaiting && record ? await findTool(record.tool, call) : undefined;
        // A run that is cancelled from its start, since the tool may have begun what only it can cancel.
        if (tool?.task?.start === "by_run") await this.#runAgain(record!, tool, call);
        return {};
      }],
    ];
  }

  /**
   * The current record of the task that a request names. A task whose instance stopped has failed, or runs again.
   * @throws {RpcError} -32021 without the extension, -32602 when the task is unknown, expired or another caller's
   */
  async find(params: unknown, call: Call): Promise<TaskRecord> {
    if (!call.can("tasks")) throw new MissingCapabilityError(requiredCapabilities("tasks"));
    const id = requireString(requireObject(params as never), "taskId");
    const record = await this.findById(id, call);
    if (!record) {
      throw new RpcError(INVALID_PARAMS, "Invalid params: task not found or expired");
    }
    return record;
  }

  /** The current record of a task of this caller. As in {@linkcode find}, a task whose instance stopped has failed. */
  async findById(id: string, call: Call): Promise<TaskRecord | undefined> {
    const { store, findTool } = this.#options;
    const record = await store.get(id);
    if (!record || record.owner !== principalKey(call.principal)) return undefined;
    if (record.status !== "working" || !await store.isAbandoned(id)) return record;
    const tool = await findTool(record.tool, call);
    if (record.restart && tool) {
      const taken = await store.takeOver(id);
      if (taken) await this.#runAgain(taken, tool, call);
      return taken ?? await store.get(id);
    }
    const failed = await store.change(id, (now) => now.status === "working" ? toFailed(now) : undefined);
    return failed ?? await store.get(id);
  }

  async #create(
    tool: CompiledTool,
    given: Readonly<Record<string, unknown>>,
    call: Call,
    { ttl = DEFAULT_TTL_MS, pollInterval = DEFAULT_POLL_INTERVAL_MS, statusMessage, restart = false }:
      & TaskOptions
      & { restart?: boolean },
  ): Promise<TaskRecord> {
    checkTaskTimes(tool.name, { ttl, pollInterval });
    const now = this.#options.now();
    const record: TaskRecord = {
      // 256 bits: for an anonymous caller the id is the only proof that the task is theirs.
      id: randomSecret(""),
      owner: principalKey(call.principal),
      principal: call.principal && { ...call.principal, scopes: [...call.principal.scopes] },
      capabilities: call.capabilities,
      tool: tool.name,
      arguments: given,
      restart,
      status: "working",
      statusMessage,
      createdAt: now,
      updatedAt: now,
      ttl,
      pollInterval,
      answers: { ...call.inputs?.answers },
      kept: { ...call.inputs?.kept },
    };
    this.#options.storage.take(call, recordBytes([given, call.capabilities, record.answers]), ttl);
    await this.#options.store.create(record);
    return record;
  }

  /** Connects the call to the task instead of its connection, which may close; `tasks/cancel` cancels it. */
  #attach(record: TaskRecord, call: Call): void {
    const { store } = this.#options;
    call.detach();
    call.inputs ??= new Inputs({ ...record.answers }, { ...record.kept });
    const end = store.holdLease(
      record,
      () => call.cancel("The task was cancelled, or another instance took it over"),
    );
    call.task = { id: record.id, note: createNotes(store, record, call), end };
  }

  #runAsTask(record: TaskRecord, tool: CompiledTool, input: unknown, call: Call): void {
    this.#attach(record, call);
    const work = this.#options.runTool(tool, input, call).then(
      (result) => this.#settle(record, call, { result }),
      (error) => this.#settle(record, call, { error }),
    );
    call.waitUntil(work);
  }

  /** Stores the outcome of a run, unless the task has a terminal status. */
  async #settle(record: TaskRecord, call: Call, settled: Outcome): Promise<void> {
    const { store, observe } = this.#options;
    const { id } = record;
    const inputs = call.inputs!;
    const outcome = this.#chargeResult(record, call, toStorable(settled));
    await Promise.allSettled(call.asking ?? []);
    await inputs.settled();
    // Cancelled, or another instance took it over.
    const change = (now: TaskRecord) => call.isCancelled ? undefined : toSettled(now, inputs, outcome);
    if (inputs.pending.size === 0 && "error" in outcome && !(outcome.error instanceof RpcError)) {
      observe({ type: "fault", where: "task", error: outcome.error });
    }
    try {
      await retryWhileUnavailable(() => store.change(id, change));
    } catch (error) {
      observe({ type: "fault", where: "task", error });
    } finally {
      call.task?.end();
      call.task = undefined;
      call.end();
    }
  }

  /** Counts the result against the storage limit of an anonymous caller; beyond it, the task fails. */
  #chargeResult({ ttl }: TaskRecord, call: Call, outcome: Outcome): Outcome {
    const { storage } = this.#options;
    if (call.principal || !("result" in outcome)) return outcome;
    try {
      storage.take(call, recordBytes(outcome.result), ttl);
      return outcome;
    } catch (error) {
      return { error };
    }
  }

  /** Stores responses. When no response is missing any more, the tool runs again on this instance. */
  async #acceptResponses(record: TaskRecord, responses: Record<string, unknown>, call: Call): Promise<void> {
    const { store, findTool } = this.#options;
    const changed = await store.change(record.id, (now) => {
      const pending = now.inputRequests ?? {};
      const accepted = Object.keys(responses).filter((key) => Object.hasOwn(pending, key));
      if (now.status !== "input_required" || accepted.length === 0) return undefined;
      const inputRequests = Object.fromEntries(
        Object.entries(pending).filter(([key]) => !accepted.includes(key)),
      );
      const answers = { ...now.answers, ...Object.fromEntries(accepted.map((key) => [key, responses[key]])) };
      return Object.keys(inputRequests).length > 0
        ? { ...now, answers, inputRequests }
        : { ...now, answers, inputRequests: undefined, status: "working" };
    }, true);
    if (changed?.status !== "working") return;
    const tool = await findTool(changed.tool, call);
    if (tool) await this.#runAgain(changed, tool, call);
  }

  async #runAgain(record: TaskRecord, tool: CompiledTool, from: Call): Promise<void> {
    const sender = { principal: toPrincipal(record.principal), session: undefined, runtime: from.runtime };
    const request = { ...NO_REQUEST, ...sender, era: MODERN_ERA, capabilities: record.capabilities };
    const call = new Call(this.#options.host, request, NO_CONNECTION);
    call.inputs = new Inputs({ ...record.answers }, { ...record.kept });
    if (record.status === "cancelled") call.cancel("The task was cancelled");
    const parsed = await tool.input.parse(record.arguments);
    if ("problems" in parsed) {
      // The definition of the tool was replaced since the task was created.
      this.#attach(record, call);
      await this.#settle(record, call, {
        error: new RpcError(
          INVALID_PARAMS,
          `Invalid arguments: the input schema of the tool has changed: ${parsed.problems.join("; ")}`,
        ),
      });
      return;
    }
    this.#runAsTask(record, tool, parsed.value, call);
  }
}
