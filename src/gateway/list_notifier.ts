/**
 * Notifies clients of changed lists, changes within a short time together: all clients, or those of one user.
 *
 * @module
 */
import type { ChangedFor } from "../mcp/definition/changes.ts";
import { userKey } from "../mcp/session/principal_key.ts";
import type { ToolServer } from "../mcp/tool_server.ts";

export const LISTS = ["tools", "resources", "prompts"] as const;
type List = typeof LISTS[number];

interface Changed {
  readonly lists: Set<List>;
  readonly changedFor: ChangedFor | undefined;
}

/** Changes within this time are one notification. */
const NOTIFY_AFTER_MS = 200;

export class ListNotifier {
  readonly #server: Pick<ToolServer, "listChanged">;
  readonly #onFault: (error: unknown) => void;
  /** By user; `undefined` is for all. */
  readonly #changed = new Map<string | undefined, Changed>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(server: Pick<ToolServer, "listChanged">, onFault: (error: unknown) => void) {
    this.#server = server;
    this.#onFault = onFault;
  }

  notify(lists: Iterable<List>, changedFor?: ChangedFor): void {
    const user = changedFor && userKey(changedFor.user);
    let changed = this.#changed.get(user);
    if (!changed) this.#changed.set(user, changed = { lists: new Set(), changedFor });
    for (const each of lists) changed.lists.add(each);
    // A timer that runs is kept: upstreams that change all the time must not hold back the others.
    this.#timer ??= setTimeout(() => this.#send(), NOTIFY_AFTER_MS);
  }

  #send(): void {
    this.#timer = undefined;
    for (const { lists, changedFor } of this.#changed.values()) {
      for (const list of lists) this.#server.listChanged(list, changedFor).catch(this.#onFault);
    }
    this.#changed.clear();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
