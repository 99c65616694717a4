/**
 * The tasks extension, `io.modelcontextprotocol/tasks`
 * (https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md): tool calls that are answered
 * with a handle, and asked for later, from any instance. A task that waits for its client holds nothing but its record:
 * the tool runs again when the answers have come.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { Method } from "../../jsonrpc/dispatch.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import { randomSecret } from "../../crypto/secret.ts";
import { Call, type CallHost } from "../call.ts";
import { requiredCapabilities } from "../input/client_feature.ts";
import type { InputRequired } from "../input/input_required.ts";
import type { TaskOptions } from "../context.ts";
import { MODERN_ERA } from "../era.ts";
import { MissingCapabilityError } from "../error.ts";
import { Inputs, readResponses } from "../input/inputs.ts";
import { requireObject, requireString } from "../schema/params.ts";
import type { CompiledTool } from "../definition/registry.ts";
import { patiently } from "../session/patiently.ts";
import { principalKey } from "../session/principal_key.ts";
import { recordBytes, type StorageAllowance } from "../session/storage_limits.ts";
import { checkTaskTimes, type Outcome, toKept, toTaskError } from "./task_outcome.ts";
import { asGone, isOver, revive, type TaskRecord, type TaskStore, toTask } from "./task_store.ts";

export interface TasksOptions {
  readonly store: TaskStore;
  readonly host: CallHost;
  readonly inputRequired: InputRequired;
  /** Runs a tool; throws as `runTool` does. */
  readonly runTool: (tool: CompiledTool, input: unknown, call: Call) => Promise<unknown>;
  /** The tool as it is now. */
  readonly findTool: (name: string) => CompiledTool | undefined;
  readonly observe: Observe;
  readonly now: () => number;
  readonly storage: StorageAllowance;
}

const HOUR = 3_600_000;

export class Tasks {
  readonly #options: TasksOptions;

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /**
   * Runs a tool for a caller that knows tasks: the result, questions, or the task that the call became. `given` are
   * the arguments as they came, `input` as the schema gives them.
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
      this.#go(record, tool, input, call);
      return { resultType: "task", ...toTask(record) };
    }
    return await new Promise((resolve, reject) => {
      let record: TaskRecord | undefined;
      call.begin = async (options) => {
        record = await this.#create(tool, given, call, { ...task, ...options });
        this.#attach(record, call);
        resolve({ resultType: "task", ...toTask(record) });
        return true;
      };
      const work = runTool(tool, input, call);
      const settled = work.then(
        (result) => record ? this.#settle(record, call, { result }) : undefined,
        (error) => record ? this.#settle(record, call, { error }) : undefined,
      );
      call.waitUntil(settled);
      settled.then(() => record ? undefined : inputRequired.run(call, "tools/call", params, () => work)).then(
        resolve,
        reject,
      );
    });
  }

  /** `tasks/get`, `tasks/update`, `tasks/cancel`. */
  methods(): [string, Method<Call>][] {
    const { store } = this.#options;
    return [
      ["tasks/get", async (params, call) => toTask(await this.find(params, call))],
      ["tasks/update", async (params, call) => {
        const record = await this.find(params, call);
        const responses = readResponses(requireObject(params).inputResponses);
        this.#options.storage.take(call, recordBytes(responses), record.ttl);
        await this.#answer(record, responses, call);
        return {};
      }],
      ["tasks/cancel", async (params, call) => {
        const record = await this.find(params, call);
        await store.change(record.id, (now) => isOver(now) ? undefined : { ...now, status: "cancelled" });
        return {};
      }],
    ];
  }

  /**
   * The task that a request names, as it is now: one whose instance is gone has failed, or runs again.
   * @throws {RpcError} -32021 without the extension, -32602 when there is none, or it is somebody else's
   */
  async find(params: unknown, call: Call): Promise<TaskRecord> {
    if (!call.can("tasks")) throw new MissingCapabilityError(requiredCapabilities("tasks"));
    const id = requireString(requireObject(params as never), "taskId");
    const record = await this.look(id, call);
    if (!record) {
      throw new RpcError(INVALID_PARAMS, "Invalid params: task not found or expired");
    }
    return record;
  }

  /** As {@linkcode find}, for an id alone. */
  async look(id: string, call: Call): Promise<TaskRecord | undefined> {
    const { store, findTool } = this.#options;
    const record = await store.get(id);
    if (!record || record.owner !== principalKey(call.principal)) return undefined;
    if (record.status !== "working" || !await store.isGone(id)) return record;
    const tool = findTool(record.tool);
    if (record.restart && tool) {
      const taken = await store.takeOver(id);
      if (taken) await this.#again(taken, tool, call);
      return taken ?? await store.get(id);
    }
    const failed = await store.change(id, (now) => now.status === "working" ? asGone(now) : undefined);
    return failed ?? await store.get(id);
  }

  async #create(
    tool: CompiledTool,
    given: Readonly<Record<string, unknown>>,
    call: Call,
    { ttl = HOUR, pollInterval = 1000, statusMessage, restart = false }: TaskOptions & { restart?: boolean },
  ): Promise<TaskRecord> {
    checkTaskTimes(tool.name, { ttl, pollInterval });
    const now = this.#options.now();
    const record: TaskRecord = {
      // 256 bits: whoever is anonymous proves by the id that the task is theirs.
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

  /** Makes the call the task's: its connection no longer matters, its cancellation comes from elsewhere. */
  #attach(record: TaskRecord, call: Call): void {
    const { store } = this.#options;
    call.detach();
    call.inputs ??= new Inputs({ ...record.answers }, { ...record.kept });
    const end = store.keep(
      record,
      () => call.cancel("The task was cancelled, or another instance took it over"),
    );
    let noted: string | undefined;
    let writing = false;
    const write = async (): Promise<void> => {
      writing = true;
      while (noted !== undefined) {
        const message = noted;
        noted = undefined;
        await store.change(
          record.id,
          (now) => now.status === "working" ? { ...now, statusMessage: message } : undefined,
        )
          .catch(() => {});
      }
      writing = false;
    };
    call.task = {
      note: (message) => {
        noted = message;
        if (!writing) write();
      },
      end,
    };
  }

  #go(record: TaskRecord, tool: CompiledTool, input: unknown, call: Call): void {
    this.#attach(record, call);
    const work = this.#options.runTool(tool, input, call).then(
      (result) => this.#settle(record, call, { result }),
      (error) => this.#settle(record, call, { error }),
    );
    call.waitUntil(work);
  }

  /** Writes how a run ended, unless the task was over before. */
  async #settle(record: TaskRecord, call: Call, settled: Outcome): Promise<void> {
    const { store, observe } = this.#options;
    const { id } = record;
    const inputs = call.inputs!;
    const outcome = this.#afford(record, call, toKept(settled));
    await inputs.settled();
    const change = (now: TaskRecord): TaskRecord | undefined => {
      if (isOver(now)) return undefined;
      const { kept } = inputs;
      if (inputs.pending.size > 0) {
        return { ...now, status: "input_required", kept, inputRequests: Object.fromEntries(inputs.pending) };
      }
      if ("result" in outcome) return { ...now, status: "completed", result: outcome.result };
      const error = toTaskError(outcome.error);
      return { ...now, status: "failed", statusMessage: error.message, error };
    };
    if (inputs.pending.size === 0 && "error" in outcome && !(outcome.error instanceof RpcError)) {
      observe({ type: "fault", where: "task", error: outcome.error });
    }
    try {
      await patiently(() => store.change(id, change));
    } catch (error) {
      observe({ type: "fault", where: "task", error });
    } finally {
      call.task?.end();
      call.task = undefined;
      call.end();
    }
  }

  /** A result that an anonymous caller has no room for fails the task. */
  #afford({ ttl }: TaskRecord, call: Call, outcome: Outcome): Outcome {
    const { storage } = this.#options;
    if (call.principal || !("result" in outcome)) return outcome;
    try {
      storage.take(call, recordBytes(outcome.result), ttl);
      return outcome;
    } catch (error) {
      return { error };
    }
  }

  /** Takes answers; when none is missing any more, the tool runs again, here. */
  async #answer(record: TaskRecord, responses: Record<string, unknown>, call: Call): Promise<void> {
    const { store, findTool } = this.#options;
    const changed = await store.change(record.id, (now) => {
      const asked = now.inputRequests ?? {};
      const taken = Object.keys(responses).filter((key) => Object.hasOwn(asked, key));
      if (now.status !== "input_required" || taken.length === 0) return undefined;
      const inputRequests = Object.fromEntries(Object.entries(asked).filter(([key]) => !taken.includes(key)));
      const answers = { ...now.answers, ...Object.fromEntries(taken.map((key) => [key, responses[key]])) };
      return Object.keys(inputRequests).length > 0
        ? { ...now, answers, inputRequests }
        : { ...now, answers, inputRequests: undefined, status: "working" };
    }, true);
    if (changed?.status !== "working") return;
    const tool = findTool(changed.tool);
    if (tool) await this.#again(changed, tool, call);
  }

  async #again(record: TaskRecord, tool: CompiledTool, asked: Call): Promise<void> {
    const call = new Call(this.#options.host, revive(record.principal), MODERN_ERA);
    call.capabilities = record.capabilities;
    call.runtime = asked.runtime;
    call.inputs = new Inputs({ ...record.answers }, { ...record.kept });
    const parsed = await tool.input.parse(record.arguments);
    if ("problems" in parsed) {
      // The tool was replaced meanwhile.
      this.#attach(record, call);
      await this.#settle(record, call, {
        error: new RpcError(
          INVALID_PARAMS,
          `Invalid arguments: the input schema of the tool has changed: ${parsed.problems.join("; ")}`,
        ),
      });
      return;
    }
    this.#go(record, tool, parsed.value, call);
  }
}
