/**
 * Notifies clients of changed lists, changes within a short time together.
 *
 * @module
 */
import type { ToolServer } from "../mcp/tool_server.ts";

export const LISTS = ["tools", "resources", "prompts"] as const;

/** Changes within this time are one notification. */
const NOTIFY_AFTER_MS = 200;

export class ListNotifier {
  readonly #server: Pick<ToolServer, "listChanged">;
  readonly #onFault: (error: unknown) => void;
  readonly #changed = new Set<typeof LISTS[number]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(server: Pick<ToolServer, "listChanged">, onFault: (error: unknown) => void) {
    this.#server = server;
    this.#onFault = onFault;
  }

  notify(lists: Iterable<typeof LISTS[number]>): void {
    for (const each of lists) this.#changed.add(each);
    // A timer that runs is kept: upstreams that change all the time must not hold back the others.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const kind of this.#changed) this.#server.listChanged(kind).catch(this.#onFault);
      this.#changed.clear();
    }, NOTIFY_AFTER_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
