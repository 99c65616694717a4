/**
 * Writes the status messages of a task: one write at a time, and of the messages that come meanwhile only the last.
 *
 * @module
 */
import type { Call } from "../call.ts";
import type { TaskRecord, TaskStore } from "./task_store.ts";

/** The function that sets the status message of a task while it is working. */
export function createNotes(store: TaskStore, { id }: TaskRecord, call: Call): (message: string) => void {
  let unwritten: string | undefined;
  let isWriting = false;
  const write = async (): Promise<void> => {
    isWriting = true;
    while (unwritten !== undefined) {
      const message = unwritten;
      unwritten = undefined;
      const note = (now: TaskRecord) =>
        now.status === "working" && !call.isCancelled ? { ...now, statusMessage: message } : undefined;
      await store.change(id, note).catch(() => {});
    }
    isWriting = false;
  };
  return (message) => {
    unwritten = message;
    if (!isWriting) write();
  };
}
