/**
 * `notifications/tasks`: sends the changes of tasks to the clients that subscribed to them
 * (https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-status-notifications).
 *
 * @module
 */
import type { Call } from "../call.ts";
import { isTerminal, type TaskRecord, type TaskStore, toTask } from "./task_store.ts";
import type { Tasks } from "./tasks.ts";

export interface TaskListenOptions {
  readonly tasks: Tasks;
  readonly taskStore: TaskStore;
}

/** How often to read the tasks, beside when the store reports a change, and to check that their instances still run. */
const CHECK_INTERVAL_MS = 10_000;

/**
 * Calls `notify` with each change of these tasks until their status is terminal; for a task that is not `working` also
 * at once, because no change may follow. Returns the ids of the tasks that belong to the caller, and the function that ends
 * this.
 * @throws {StoreUnavailableError}
 */
export async function listenToTasks(
  { tasks, taskStore }: TaskListenOptions,
  ids: readonly string[],
  call: Call,
  notify: (task: Record<string, unknown>) => void,
): Promise<{ readonly taskIds: readonly string[]; stop(): void }> {
  const open = new Map<string, { read(): void; stop(): void }>();
  const taskIds: string[] = [];
  let timer: ReturnType<typeof setInterval> | undefined;

  function close(id: string): void {
    open.get(id)?.stop();
    open.delete(id);
    if (open.size === 0) clearInterval(timer);
  }

  function listen(id: string, first: TaskRecord): void {
    let sent = first.status === "working" ? JSON.stringify(toTask(first)) : "";
    const send = (record: TaskRecord | undefined): void => {
      if (!record || !open.has(id)) return;
      const task = toTask(record);
      const text = JSON.stringify(task);
      if (text !== sent) notify(task);
      sent = text;
      if (isTerminal(record)) close(id);
    };
    // One read at a time, so that the last notification has the latest status. One that waits will find the latest.
    let reading: Promise<unknown> = Promise.resolve();
    let isWaiting = false;
    const read = (): void => {
      if (isWaiting) return;
      isWaiting = true;
      reading = reading.then(() => {
        isWaiting = false;
        return taskStore.get(id);
      }).then(send).catch(() => {});
    };
    open.set(id, { read, stop: taskStore.listen(id, read) });
    read();
  }

  const stop = (): void => {
    for (const id of [...open.keys()]) close(id);
    clearInterval(timer);
  };
  try {
    for (const id of new Set(ids)) {
      const record = await tasks.findById(id, call);
      if (!record) continue;
      taskIds.push(id);
      listen(id, record);
    }
  } catch (error) {
    stop();
    throw error;
  }
  // The last of them may have ended meanwhile.
  if (open.size > 0) {
    timer = setInterval(async () => {
      for (const [id, { read }] of open) {
        await tasks.findById(id, call).catch(() => {});
        read();
      }
    }, CHECK_INTERVAL_MS);
  }
  return { taskIds, stop };
}
