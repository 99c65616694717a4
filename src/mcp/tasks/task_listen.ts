/**
 * `notifications/tasks`: what becomes of tasks, told to whoever asked for it
 * (https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md#task-status-notifications).
 *
 * @module
 */
import type { Call } from "../call.ts";
import { isOver, type TaskRecord, type TaskStore, toTask } from "./task_store.ts";
import type { Tasks } from "./tasks.ts";

export interface TaskListenOptions {
  readonly tasks: Tasks;
  readonly taskStore: TaskStore;
}

/** How often to look whether a task lives whose instance says nothing, in milliseconds. */
const LOOK_EVERY = 10_000;

/**
 * Tells of each change of these tasks until they are over. One that waits for its client, or is over already, is told
 * at once: nothing else might come. Gives the tasks that the caller may hear of, and the function that ends it.
 * @throws what the store throws
 */
export async function listenToTasks(
  { tasks, taskStore }: TaskListenOptions,
  ids: readonly string[],
  call: Call,
  tell: (task: Record<string, unknown>) => void,
): Promise<{ readonly taskIds: readonly string[]; stop(): void }> {
  const open = new Map<string, () => void>();
  const taskIds: string[] = [];

  function close(id: string): void {
    open.get(id)?.();
    open.delete(id);
    if (open.size === 0) clearInterval(timer);
  }

  function hear(id: string, first: TaskRecord): void {
    let told = first.status === "working" ? JSON.stringify(toTask(first)) : "";
    const say = (record: TaskRecord | undefined): void => {
      if (!record || !open.has(id)) return;
      const task = toTask(record);
      const text = JSON.stringify(task);
      if (text !== told) tell(task);
      told = text;
      if (isOver(record)) close(id);
    };
    // One look at a time: what is told last is what is so.
    let looking: Promise<unknown> = Promise.resolve();
    const look = (): void => {
      looking = looking.then(() => taskStore.get(id)).then(say).catch(() => {});
    };
    open.set(id, taskStore.listen(id, look));
    look();
  }

  const timer = setInterval(async () => {
    for (const id of open.keys()) await tasks.look(id, call).catch(() => {});
  }, LOOK_EVERY);
  const stop = (): void => {
    for (const id of [...open.keys()]) close(id);
    clearInterval(timer);
  };
  try {
    for (const id of new Set(ids)) {
      const record = await tasks.look(id, call);
      if (!record) continue;
      taskIds.push(id);
      hear(id, record);
    }
  } catch (error) {
    stop();
    throw error;
  }
  if (open.size === 0) stop();
  return { taskIds, stop };
}
